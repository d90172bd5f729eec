"""A small part of `python -m tests.trust`, and that its evaluator and its search see what is wrong."""

from __future__ import annotations

import itertools
import random
import re
import signal
import subprocess
import sys
from dataclasses import replace

import pytest
from c_harness import expected, have
from random_specs import random_equations, random_rows
from test_realizable import component_wins
from trust import board, c, decided, deterministic, families, figures, pages, questions, records, regressions, solvers
from trust.faults import lie
from trust.figure import Figure
from trust.processes import HARD, SPEC, Started
from trust.programs import small_program
from trust.regressions import FOUND
from trust.signals import half_written
from trust.states import TooMany, first_violations
from trust.table import TABLE
from trust.values import any_value

from streamcheck import *
from streamcheck.certify.composition import Conclusions
from streamcheck.certify.judge import Rejected
from streamcheck.codegen.unit import CodeOptions, generate
from streamcheck.core import code_lines
from streamcheck.core.term import term
from streamcheck.core.types import BOOL
from streamcheck.lang.flatten import flatten
from streamcheck.problem.specification_json import to_plain
from streamcheck.run import certificates

SEED = 7_000
OTHER_SEEDS = {"deterministic": 7_001}  # two of whose specs are proved beside busy processes; 7000 takes 40 s


@pytest.mark.parametrize("name", TABLE)
def test_nothing_disagrees(name):
    row = TABLE[name]
    if row.needs_linux and sys.platform != "linux":
        pytest.skip("reads /proc")
    figure = row.figure(name, row.in_tests, OTHER_SEEDS.get(name, SEED))
    assert figure.wrong == [] and sum(figure.tried.values()) > 5


@pytest.mark.parametrize("found", FOUND, ids=lambda found: f"{found[1]}-{found.day}")
def test_what_was_found_stays_mended(found):
    assert found.wrong() == []


def test_a_regression_can_fail(monkeypatch):
    monkeypatch.setattr(regressions, "is_good", lambda kind, answer: False)
    assert FOUND[0].wrong()
    monkeypatch.setattr(figures, "first_difference", lambda equations, rows: "step 0")
    assert regressions.Seed("2026-11-19", "runs", 3).wrong() == ["seed 3: step 0"]


def test_a_wrong_operator_is_seen(monkeypatch):
    monkeypatch.setattr(figures, "meaning", lambda node: lambda *values: values[0])
    assert len(figures.operators(4_000, 1).wrong) > 100


def test_a_changed_spec_is_seen(monkeypatch):
    given = [e for e in map(random_equations, range(40)) if any(o.term.type is BOOL for o in e.observers)]
    assert len(given) > 10
    for equations in given:
        rows = random_rows(3, equations, 20)
        bools = {o for o in equations.observers if o.term.type is BOOL}
        opposite = [replace(o, term=term("not", o.term)) if o in bools else o for o in equations.observers]
        changed = to_plain(replace(equations, observers=tuple(opposite)))
        assert figures.first_difference(equations, rows) is None
        with monkeypatch.context() as patch:
            patch.setattr(figures, "to_plain", lambda _, changed=changed: changed)
            assert "shown" in figures.first_difference(equations, rows)


@pytest.mark.parametrize(("name", "seed"), [("certificates", 7_001), ("traces", 7_001), ("forged", 7_002)])
def test_a_check_that_accepts_everything_is_seen(name, seed, monkeypatch):
    monkeypatch.setattr(certificates.Checker, "check", lambda *_: None)
    monkeypatch.setattr(certificates, "replay", lambda *_: None)
    monkeypatch.setattr(certificates, "check_composition", lambda *_: None)
    assert len(TABLE[name].figure(name, 40, seed).wrong) > 3


def test_a_composition_that_is_believed_is_seen(monkeypatch):
    """Its parts are proved, and what they prove of the whole is not compared."""
    monkeypatch.setattr(Conclusions, "add", lambda self, *_: self.proved.update(self._claims))
    assert len(TABLE["forged"].figure("forged", 60, 7_002).wrong) > 3


def test_a_solver_that_is_believed_is_seen(monkeypatch):
    monkeypatch.setattr(certificates.Checker, "check", lambda *_: None)
    figure = Figure("lies")
    assert any(lie(figure, number) or figure.wrong for number in range(7_000, 7_040))


def test_a_wrong_value_is_seen_by_solvers_and_c(monkeypatch):
    monkeypatch.setattr(solvers, "evaluated", lambda node, operands, values: any_value(random.Random(3), node.type))
    figure = solvers.solvers(60, 3)
    assert len(figure.wrong) > 100 and len({line.partition(":")[0] for line in figure.wrong}) >= 6
    monkeypatch.setattr(c, "first_difference", lambda equations, rows: "step 0")
    assert len(c.c(1, 3).wrong) == 2


@pytest.mark.skipif(not have("clang", "ld.lld", "qemu-system-arm"), reason="no clang, lld or qemu-system-arm here")
def test_other_code_is_seen_on_the_board(tmp_path):
    equations = random_equations(8)
    code, rows = generate(equations, CodeOptions(observers=True)).code, random_rows(8, equations, 30)
    wanted = expected(equations, rows, observers=True)
    c.write_program(tmp_path, [c.Unit("seed 8", code, rows, wanted)])
    assert c.other_line(board.output(tmp_path, 1, "-O3").splitlines()[1:], wanted) is None
    path = tmp_path / f"{code.base}.c"
    path.write_text(re.sub(r"(state->observed\.\w+ = )([^;]*);", r"\1!(\2);", path.read_text()))
    assert "interpreter" in c.other_line(board.output(tmp_path, 1, "-O3").splitlines()[1:], wanted)
    assert c.other_line(wanted[1:], wanted) and c.other_line([], wanted)


def test_a_unit_that_prints_something_else_is_seen(tmp_path):
    figure, wanted = Figure("units"), [["-"], ["=x 01", "-"]]
    units = [c.Unit(f"unit {i}", None, [], lines) for i, lines in enumerate(wanted)]
    c.judge(figure, "by cc", "cc", units, lambda: "# 00\n-\n# 01\n=x 01\n-\n")
    assert figure.wrong == []
    c.judge(figure, "by cc", "cc", units, lambda: "# 00\n-\n# 01\n=x 00\n-\n")
    c.judge(figure, "by cc", "cc", units, lambda: "# 00\n-\n")
    c.judge(figure, "by cc", "cc", units, lambda: c.run(["false"], tmp_path))
    assert [line.partition(": ")[0] for line in figure.wrong] == ["unit 1, cc", "cc", "cc"]


def test_a_line_that_is_shown_as_it_is_is_seen(monkeypatch, tmp_path):
    monkeypatch.setattr(code_lines, "visible", lambda text: text)
    monkeypatch.setattr(pages, "COMMANDS", (("prove", "--no-cache --html p.html"),))
    figure = Figure("pages")
    pages.one(figure, 4, tmp_path)
    assert [line.partition(": ")[0] for line in figure.wrong] == ["seed 4, py, ('.html', 0)"]


def test_a_family_that_rejects_a_proof_is_seen(monkeypatch):
    monkeypatch.setattr(families, "judged_by", lambda family, *_: Rejected("no") if family == "cvc5" else None)
    tried, wrong = families.judgements(7_004)
    assert tried["proofs"] > 0 and len(wrong) == tried["proofs"] and "accepted by cvc5 alone" not in tried


@pytest.mark.parametrize("text", ["</p><b>", "<!-- -->", "<![CDATA[x]]>", '<i onload="x">', "<script>x</script>"])
def test_another_shape_is_seen(text, tmp_path):
    shapes = []
    for shown in ("plain", text):
        (tmp_path / "p.html").write_text(f"<p>{shown}</p>")
        shapes.append(pages.shape_of(tmp_path / "p.html"))
    assert shapes[0] != shapes[1]
    assert pages.without_texts('f("a"); /* b */') == pages.without_texts('f("*/"); /* \\ */')
    assert pages.without_texts("f(); /* b */") != pages.without_texts("f(); /* */ g(); /* */")


def test_another_answer_is_seen(monkeypatch):
    numbers = itertools.count()
    shown = lambda *given, **named: {"shown": {"properties": [], "number": next(numbers)}}
    monkeypatch.setattr(deterministic, "answer", shown)
    assert len(deterministic.deterministic(2, 5).wrong) == 4
    assert deterministic.untimed({"a": [{"seconds": 3, "b": 1}], "seconds": 2}) == {"a": [{"b": 1}]}


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_what_signals_leave_behind_is_seen(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a.c").write_text("int")
    (tmp_path / "out" / "b.c.12.part").write_text("int")
    found = half_written(tmp_path / "out", "compile", {"a.c": "int x;", "b.c": "int y;"}, signal.SIGINT)
    assert len([*found]) == 3 and not (tmp_path / "out").exists()
    (tmp_path / "s.py").write_text(SPEC + HARD)
    command = Started("watch", "s.py", folder=tmp_path)
    while len(command.running()) < 3:
        assert command.wait(0.01) is None
    command.close()
    assert not command.running()


def test_programs_are_followed_to_all_their_values():
    found = [small_program(seed) for seed in range(40)]
    assert 8 < sum(holds for _, holds in found) < 32 and small_program(5) == small_program(5)


def counter(most):
    go = extern("go", Bool)
    n = stream(Word8, lambda n: [0] + +mux(go & (n < most), n + 1, n))
    spec = Spec("counter")
    spec.prop("below", n < 7)
    spec.exists("five", n == 5)
    spec.prop("bounded", n <= most)
    return to_plain(flatten(spec))


def test_the_search_finds_the_first_step():
    assert first_violations(counter(9), {"go": (False, True)}) == {"below": 7, "five": 5, "bounded": None}
    assert first_violations(counter(4), {"go": (False, True)}) == {"below": None, "five": None, "bounded": None}


def test_the_search_gives_up_on_many_states():
    x = extern("x", Word16)
    spec = Spec("many")
    spec.prop("p", ([0] + +x) >= 0)
    with pytest.raises(TooMany):
        first_violations(to_plain(flatten(spec)), {"x": tuple(range(5_000))})


def test_the_command_has_the_table():
    done = subprocess.run(
        [sys.executable, "-m", "tests.trust", "--seed", "3", "nothing"], capture_output=True, text=True
    )
    assert done.returncode == 2 and "there are operators, runs, states, families, certificates" in done.stderr


def test_a_wrong_truth_is_seen_by_engines_and_the_command(monkeypatch):
    monkeypatch.setattr(
        decided, "first_violations",
        lambda *given: {name: 1 if first is None else None for name, first in first_violations(*given).items()},
    )  # fmt: skip
    wrong = decided.states(6, 7_010).wrong
    assert any("the command" in line for line in wrong) and any(" over " in line for line in wrong)


def test_wrong_answers_to_questions_are_seen(monkeypatch):
    monkeypatch.setattr(questions, "component_wins", lambda game: not component_wins(game))
    monkeypatch.setattr(questions, "first_differences", lambda first, *_: {o["name"]: 99 for o in first["observers"]})
    wrong = questions.questions(6, 7_040).wrong
    assert any("wins" in line for line in wrong) and any("differ first at 99" in line for line in wrong)


def test_records_that_are_believed_are_seen(monkeypatch, tmp_path):
    figure = Figure("records")
    monkeypatch.setattr(records, "VERDICTS", {"small": "falsified"})
    with records.in_folder(tmp_path):
        kept = records.a_suite(tmp_path)
        records.again(figure, "as it was", tmp_path, kept)
    assert [line.partition(": ")[0] for line in figure.wrong] == ["as it was"]
    monkeypatch.setattr(certificates.Checker, "check", lambda *_: None)
    monkeypatch.setattr(records, "Lying", lambda rng: Believed())
    with records.in_folder(tmp_path):
        for number in range(7_000, 7_006):
            records.answers_of_workers(figure, number, tmp_path, kept)
    assert any("answers of workers" in line for line in figure.wrong)


class Believed(records.Lying):
    """Of every property it says that it is proved."""

    def __init__(self):
        super().__init__(random.Random(1))
        self.first = 1

    def _changed(self, data):
        row = records.open_sealed(data)
        proofs = [{**part, "prop": f"p{i}"} for part in row["rows"] if "proved" in part for i in range(4)]
        return records.seal({**row, "rows": [part for part in row["rows"] if "falsified" not in part] + proofs})
