"""The mutants of `trust.mutation`: which there are, and how they end; and that the list of equivalents is current."""

from __future__ import annotations

import ast
import contextlib
import sys

import pytest
from trust import mutation
from trust.mutants import Module

SOURCE = '''
"""About x < y."""
from a import b
LIMIT = 3
SEEN: dict[str, int] = {}

@cache(2)
def clamp(x: int | None, low=1) -> bool:
    """Not 4 < 5."""
    assert x > 0
    LOG.info("at %d", 7)
    if x < low and not low:
        raise ValueError(f"{x + 1} is low")
    for part in f(x, low):
        if part is None:
            continue
        SEEN[part] = x
    match part:
        case "and" | "or" if x:
            return term("and", x)
    return all(part)

def text(a: str) -> str:
    return f"(bvult {a} x)"
'''
CHANGES = """
1 → 2
1 → 0
if x < low and (not low): … → dropped
x < low and (not low) → not (x < low and (not low))
x < low and (not low) → x < low or not low
x < low and (not low) → not low
x < low and (not low) → x < low
x < low → x <= low
not low → low
f(x, low) → f(low, x)
if part is None: … → dropped
part is None → part is not None
continue → dropped
SEEN[part] = x → dropped
without 'and'
without 'or'
x → not x
term('and', x) → True
term('and', x) → False
'and' → 'or'
all(part) → True
all(part) → False
all(part) → any(part)
f'(bvult {a} x)' → ''
'(bvult ' → '(bvule '
"""


def test_the_mutants_of_a_module():
    module = Module("m.py", SOURCE, ["LIMIT"])
    assert [m.change for m in module.mutants] == CHANGES.strip().splitlines()
    guard = module.mutants[2]
    assert guard.scope == "clamp" and guard.text == "if x < low and not low:" and guard.statement == (12, 4)
    assert module.mutants[0].statement is None  # a default is computed at the import
    before = ast.dump(module.tree)
    texts = {ast.unparse(module.tree_of(mutant)) for mutant in module.mutants}
    assert len(texts) == len(module.mutants) and ast.unparse(module.tree) not in texts
    assert ast.dump(module.tree) == before


def test_each_mutant_is_python():
    for path in ("streamcheck/core/intervals.py", "streamcheck/certify/logic.py"):
        module = mutation.module_at(path)
        assert len(module.mutants) > 60
        for mutant in module.mutants[::7]:
            compile(module.tree_of(mutant), path, "exec")


def test_what_is_listed_is_still_there():
    rows = mutation.rows_of_list()
    mutants = {m.key for path in {row["module"] for row in rows} for m in mutation.module_at(path).mutants}
    keys = [(row["module"], row["in"], row["line"], row["change"]) for row in rows]
    assert len(set(keys)) == len(keys)
    assert [key for key in keys if key not in mutants] == []
    assert {row["class"] for row in rows} <= set(mutation.CLASSES) and all(len(row["why"]) > 10 for row in rows)


def test_survivors_are_seen(monkeypatch):
    monkeypatch.setattr(mutation, "Host", contextlib.nullcontext)
    monkeypatch.setattr(mutation, "Reaching", lambda host, tests: Survivors())
    figure = mutation.mutation(8, 3)
    assert len(figure.wrong) == 8 and "simplify.py:" in "".join(figure.wrong)


class Survivors:
    def ending(self, mutant):
        return "survived", ""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_mutants_end_as_their_tests_do():
    module = mutation.module_at("streamcheck/core/euclidean.py")
    (wrong,) = (m for m in module.mutants if m.change == "'mod' → 'rem'")
    here = {"mutant": mutation.code_of(wrong), "files": ["tests/test_terms.py"], "seconds": 60}
    division, cone = (f"tests/test_terms.py::test_{name}" for name in (
        "euclidean_division_has_a_remainder_that_is_not_negative",
        "the_cone_goes_through_next_values",
    ))  # fmt: skip
    with mutation.Host() as host:
        seen = host(**here, tests=[division], patience=300)
        unseen = host(**here, tests=[cone], patience=300)
        late = host(**here, tests=[division], patience=0)
        modules = [module.path, "streamcheck/core/types.py"]
        (imported, *reached, _) = host(files=here["files"], modules=modules, slow=60, patience=300)
    assert [row["outcome"] for row in seen if "test" in row] == ["failed"] and seen[-1] == {"status": 1}
    assert [row["outcome"] for row in unseen if "test" in row] == ["passed"] and unseen[-1] == {"status": 0}
    assert late == []
    own = range(len(module.places))
    assert {row["test"] for row in reached if not {*own}.isdisjoint(row["reached"])} == {division}
    assert {*own}.isdisjoint(imported["imported"]) and len(imported["imported"]) > 3  # types are made by the import
