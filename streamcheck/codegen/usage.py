"""Facts about the terms of a step: how often and where they are used, and what of the inputs is read."""

from __future__ import annotations

from collections import Counter

from streamcheck.codegen import text
from streamcheck.codegen.expression import Hole, is_repeated, parse_form
from streamcheck.codegen.lower import Lowered
from streamcheck.core.operators import OPERATORS, c_type
from streamcheck.core.term import Term, walk
from streamcheck.core.types import ArrayType, MachineType


def usage(lowered: Lowered) -> tuple[Counter[Term], dict[Term, int]]:
    """The number of uses of each node, and its sites: bit 2i for the guard of trigger i, 2i + 1 for its
    arguments, then one each for observers, next values, and loops with calls of components."""
    triggers = lowered.triggers
    roots: list[list[Term]] = []
    for trigger in triggers:
        roots += [[trigger.guard], [arg for _, arg in trigger.args]]
    roots += [
        [o.term for o in lowered.observers],
        [*lowered.nexts(), *([lowered.toggle.condition] if lowered.toggle else [])],
    ]
    uses: Counter[Term] = Counter(term for site in roots for term in site)
    in_loops = [*lowered.arguments(), *(t for loop in lowered.loops() for t in loop.terms())]
    uses.update(in_loops)
    roots.append([*in_loops, *(t for loop in lowered.loops() for t in loop.needs())])
    sites: dict[Term, int] = {}
    for number, site in enumerate(roots):
        for node in walk(site):
            sites[node] = sites.get(node, 0) | 1 << number
    for node in walk(lowered.all_roots()):
        uses.update(node.args)
    return uses, sites


def repeats_operand(node: Term, name: str) -> bool:
    row = OPERATORS.get(node.op)
    if row is None or row.c is None or (node.op == "index" and constant_index(node) is not None):
        return node.op == "update" and name == "b"
    form = parse_form(row.c_form(node.signature))
    return not isinstance(form, Hole) and is_repeated(form, name)


def is_suspect(node: Term, operand: Term) -> bool:
    """True if compilers warn: C promotes a short word before it complements it, which surprises in comparisons."""
    short = operand.type.kind == "unsigned" and operand.op in ("bitnot", "bitxor")
    return short and (OPERATORS[node.op].is_comparison or node.op in ("min", "max", "floordiv", "mod", "quot", "rem"))


def constant_index(node: Term) -> int | None:
    array, index = node.args[0].type, node.args[1]
    assert isinstance(array, ArrayType)
    return min(max(int(index.payload), 0), array.length - 1) if index.is_const else None


def is_all_constant(node: Term) -> bool:
    return all(n.is_const or n.op in ("array", "struct") for n in walk([node]))


def sampled_paths(lowered: Lowered) -> tuple[set[Term], list[Term]]:
    """For composite inputs: the parts that are needed as a whole, and all parts that are read, in order."""
    variables = {i.var for i in lowered.inputs if text.is_composite(i.type)}
    paths: dict[Term, None] = dict.fromkeys(variables)
    roots = set(lowered.all_roots())
    whole: set[Term] = roots & variables
    arrays = [f.terms[0].args[0] for loop in lowered.loops() for f in loop.families if f.terms[0].op == "index"]
    for node in walk([*lowered.all_roots(), *arrays]):
        inside = bool(node.args) and node.args[0] in paths
        if inside and (node.op == "field" or (node.op == "index" and node.args[1].is_const)):
            paths[node] = None
            if node in roots and text.is_composite(node.type):
                whole.add(node)
            continue
        whole.update(a for a in node.args if a in paths and text.is_composite(a.type))
    for node in list(paths):
        if node.args and node.args[0] in whole:
            whole.add(node)
    return whole, list(paths)


def plain_shift(node: Term) -> str | None:
    """The C form of a shift of a word by a constant below its width, which needs no `sc_…` function; else None."""
    if node.op not in ("shl", "shr") or not isinstance(node.type, MachineType) or node.type.signed:
        return None
    amount = node.args[1]
    if not amount.is_const or not 0 <= amount.payload < node.type.width:
        return None
    facts = f"({c_type(node.type)})"
    wide = "uint64_t" if node.type.width == 64 else "uint32_t"
    moved = f"(({wide})a << {amount.payload}u)" if node.op == "shl" else f"(a >> {amount.payload}u)"
    return facts + moved
