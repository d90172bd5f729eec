"""Two specifications as one, which says that their outputs are the same.

A and B are executed side by side on the same inputs. Each keeps its cells, under the names `n (A)` and `n (B)`. For
each output there is a claim:

    observer n          A and B show the same value (bit by bit: NaN is NaN, and -0.0 is not 0.0)
    trigger t           A and B call t at the same steps, with the same arguments

With a and b for "all assumptions of A (of B) have been true at every step so far, this one included":

    A refines B         b implies a, and b implies that each output of B is the same output of A
    A equals B          a is b, and a implies that each output of either is the same output of the other

So what equals another has the same runs; what refines another may take its place, as it asks for no more and does the
same. Inputs go together by name and type; an input that one side alone reads is free for the other. An `unknown`, and
the first value of a cell that has any, are each side's own: the outputs are the same whatever they are.

Assumptions that both sides make with the same term are assumptions of the product. So are B's if A refines B. For the
others there are cells, `A's assumptions held` and `B's assumptions held`, whose values are premises of the claims.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import reduce
from typing import TypeAlias, TypeVar

from streamcheck.core.errors import SpecError
from streamcheck.core.likeness import mean_or_choose
from streamcheck.core.location import Location
from streamcheck.core.term import TRUE, Term, constant, substitute, term, variable, variables
from streamcheck.core.types import BOOL, INT, ArrayType, StructType, plural
from streamcheck.problem.claim import COMPARED, Claim, Goal
from streamcheck.problem.problem import Problem
from streamcheck.problem.specification import Cell, Named, Specification, Trigger
from streamcheck.transform.fresh import fresh_name

A, B = "A", "B"
MOST_NAMED = 8  # outputs in a message
Output: TypeAlias = Named | Trigger


@dataclass(frozen=True, slots=True)
class Comparison:
    """The question: which outputs (patterns of names; all if there are none), which names of A have another one in B,
    and if A has to refine B only."""

    outputs: tuple[str, ...] = ()
    renames: tuple[tuple[str, str], ...] = ()
    refines: bool = False


def product(a: Specification, b: Specification, comparison: Comparison) -> Specification:
    """The specification whose properties say that A and B are equal, or that A refines B. SpecError if they do not fit
    together."""
    b = _with_names_of(a, b, comparison.renames)
    _require_same_types(a, b)
    left, right = _side(a, A), _side(b, B)
    pairs = _pairs(left, right, comparison)
    assumed, held, premise, claims = _assumptions(left, right, refines=comparison.refines)
    conditions = [p for side in (left, right) for p in side.properties]
    claims += [replace(p, term=p.term if premise is TRUE else term("implies", premise, p.term)) for p in conditions]
    for pair in pairs:
        same = _same_output(pair.first, pair.second)
        claims.append(Claim(pair.title, same if premise is TRUE else term("implies", premise, same), pair.first.where))
    warnings = (*a.warnings, *b.warnings, *_lonely_inputs(left, right))
    return Specification(
        f"{a.name} {'refines' if comparison.refines else 'equals'} {b.name}",
        tuple({i.name: i for i in (*right.inputs, *left.inputs)}.values()),
        (),
        (*_in_turns(left.cells, right.cells), *held),
        _in_turns(left.wires, right.wires),
        (),
        tuple(_compared_values(pairs)),
        tuple(_named_apart(claims)),
        assumed,
        a.where,
        tuple(dict.fromkeys(warnings)),
        (*left.calls, *right.calls),
    )


def require_specification(problem: Problem) -> Specification:
    """The problem, if it is a specification. SpecError if it is a program."""
    if not isinstance(problem, Specification):
        raise SpecError(f"{problem.name} is a program; specs are compared, and step functions in C of a file")
    return problem


# The two sides


def _with_names_of(a: Specification, b: Specification, renames: Sequence[tuple[str, str]]) -> Specification:
    """B with the names that A has for the same inputs and outputs."""
    for mine, its in renames:
        for spec, name in ((a, mine), (b, its)):
            if name not in _names(spec):
                hint = mean_or_choose(name, _names(spec), "it has") if _names(spec) else ""
                raise SpecError(f"rename {mine}={its}: {spec.name} has no input or output named {name!r}{hint}")
    names = {its: mine for mine, its in renames}
    image = {i.var: variable(names.get(i.name, i.name), i.type) for i in b.inputs if i.extern}
    renamed = _with_variables(_without_claims(b), image)
    return replace(
        renamed,
        triggers=tuple(replace(t, name=names.get(t.name, t.name)) for t in renamed.triggers),
        observers=tuple(replace(o, name=names.get(o.name, o.name)) for o in renamed.observers),
    )


def _names(spec: Specification) -> list[str]:
    inputs = [i.name for i in spec.inputs if i.extern]
    return [*inputs, *(t.name for t in spec.triggers), *(o.name for o in spec.observers)]


def _require_same_types(a: Specification, b: Specification) -> None:
    known = {i.name: i for i in a.inputs if i.extern}
    for i in b.inputs:
        other = known.get(i.name)
        if i.extern and other is not None and other.type is not i.type:
            message = f"input {i.name!r}: {other.type} in {a.name} (A), {i.type} in {b.name} (B)"
            raise SpecError(message, other.where, also=(("B", i.where),))


def _side(spec: Specification, side: str) -> Specification:
    """The specification with the name of its side behind those of cells, `unknown`s, wires and assumptions."""
    spec = _without_claims(spec)
    image = {c.var: variable(_of(c.name, side), c.var.type) for c in spec.cells}
    image |= {i.var: variable(_of(i.name, side), i.type) for i in spec.inputs if not i.extern}
    renamed = _with_variables(spec, image)
    return replace(
        renamed,
        wires=tuple(replace(w, name=_of(w.name, side)) for w in renamed.wires),
        assumptions=tuple(replace(c, name=_of(c.name, side)) for c in renamed.assumptions),
    )


def _of(name: str, side: str) -> str:
    return f"{name} ({side})"


def _without_claims(spec: Specification) -> Specification:
    """The part that the outputs and the assumptions depend on, without claims but those that a comparison needs."""
    conditions = tuple(p for p in spec.properties if p.origin == COMPARED)  # of C: every operation is defined
    asked = [c.term for c in (*spec.assumptions, *conditions)]
    needed = spec.needed_by([*spec.outputs(), *asked, *spec.call_terms()])
    cells = tuple(c for c in spec.cells if c.var in needed)
    inputs = tuple(i for i in spec.inputs if i.var in needed)
    known = {*(c.var for c in cells), *(i.var for i in inputs)}
    wires = tuple(w for w in spec.wires if known.issuperset(variables([w.term])))
    kept = replace(spec, inputs=inputs, constants=(), cells=cells, wires=wires, properties=conditions, fairness=())
    return replace(kept, instances=(), components=())


def _with_variables(spec: Specification, image: Mapping[Term, Term]) -> Specification:
    """The specification with other variables for some inputs and cells, under their names."""
    new = substitute([*spec.variables(), *spec.roots(), *spec.call_terms(), *(w.term for w in spec.wires)], image)
    return replace(
        spec,
        inputs=tuple(replace(i, name=str(new[i.var].payload)) for i in spec.inputs),
        cells=tuple(replace(c, name=str(new[c.var].payload), next=new[c.next]) for c in spec.cells),
        wires=tuple(replace(w, term=new[w.term]) for w in spec.wires),
        triggers=tuple(
            replace(t, guard=new[t.guard], args=tuple((name, new[arg]) for name, arg in t.args)) for t in spec.triggers
        ),
        observers=tuple(replace(o, term=new[o.term]) for o in spec.observers),
        properties=tuple(replace(p, term=new[p.term]) for p in spec.properties),
        assumptions=tuple(replace(c, term=new[c.term]) for c in spec.assumptions),
        calls=tuple(c.with_images(new) for c in spec.calls),
    )


# The assumptions


def _assumptions(
    left: Specification, right: Specification, *, refines: bool
) -> tuple[tuple[Claim, ...], list[Cell], Term, list[Claim]]:
    """The assumptions of the product, its cells for others, the premise of the claims about outputs, and the claims
    about assumptions."""
    if refines:
        given = {c.term for c in right.assumptions}
        return right.assumptions, [], TRUE, [c for c in left.assumptions if c.term not in given]
    in_both = {c.term for c in left.assumptions} & {c.term for c in right.assumptions}
    assumed = tuple(c for c in left.assumptions if c.term in in_both)
    own = {side: [c for c in spec.assumptions if c.term not in in_both] for side, spec in ((A, left), (B, right))}
    if not own[A] and not own[B]:
        return assumed, [], TRUE, []
    taken = {str(v.payload) for spec in (left, right) for v in spec.variables()}
    held = {side: _held_cell(fresh_name(f"{side}'s assumptions held", taken), own[side]) for side in (A, B)}
    claims = [replace(c, term=term("implies", held[B].next, c.term)) for c in own[A]]
    claims += [replace(c, term=term("implies", held[A].next, c.term)) for c in own[B]]
    return assumed, list(held.values()), held[A].next, claims


def _held_cell(name: str, assumptions: Sequence[Claim]) -> Cell:
    """The cell that is true if all of these have been true at the steps before; its next value is the same of now."""
    now = variable(name, BOOL)
    for claim in assumptions:
        now = term("and", now, claim.term)
    return Cell(name, TRUE, now, None, named=False)


# The outputs


@dataclass(frozen=True, slots=True)
class OutputPair:
    """The same output of both sides."""

    title: str
    first: Output
    second: Output


def _pairs(left: Specification, right: Specification, comparison: Comparison) -> list[OutputPair]:
    """The outputs that are compared. SpecError if one side alone has one of them, or if there are none."""
    mine, its = _outputs(left, comparison), _outputs(right, comparison)
    for pattern in comparison.outputs:
        if not any(fnmatchcase(name, pattern) for _, name in (*mine, *its)):
            known = dict.fromkeys(name for spec in (left, right) for _, name in _outputs(spec, Comparison()))
            raise SpecError(f"no output is called {pattern!r}{mean_or_choose(pattern, known, 'there are')}")
    alone = [(B, key) for key in its if key not in mine]
    alone += [] if comparison.refines else [(A, key) for key in mine if key not in its]
    if alone:
        more = f" and {len(alone) - MOST_NAMED} more" if len(alone) > MOST_NAMED else ""
        only = ", ".join(f"{kind} {name!r} ({side})" for side, (kind, name) in alone[:MOST_NAMED]) + more
        hint = "a rename if they have two names, or the outputs to compare"
        raise SpecError(f"outputs of one side only: {only}", write=hint)
    if not its:
        raise SpecError("there is nothing to compare: no trigger and no observer", write='spec.observer("x", x)')
    names = [name for _, name in its]
    return [
        OutputPair(name if names.count(name) == 1 else f"{kind} {name}", mine[kind, name], output)
        for (kind, name), output in its.items()
    ]


def _outputs(spec: Specification, comparison: Comparison) -> dict[tuple[str, str], Output]:
    """The outputs that were chosen, by kind and name."""
    every: dict[tuple[str, str], Output] = {("trigger", t.name): t for t in spec.triggers}
    every |= {("observer", o.name): o for o in spec.observers}
    chosen = comparison.outputs or ("*",)
    return {key: o for key, o in every.items() if any(fnmatchcase(key[1], pattern) for pattern in chosen)}


def _same_output(first: Output, second: Output) -> Term:
    """True at the steps at which the outputs are the same."""
    if not isinstance(first, Trigger) or not isinstance(second, Trigger):
        assert isinstance(first, Named) and isinstance(second, Named)
        _require_one_type(f"observer {first.name!r}", first.term, second.term, first.where, second.where)
        return same_value(first.term, second.term)
    if len(first.args) != len(second.args):
        counts = f"{plural(len(first.args), 'argument')} in A, {len(second.args)} in B"
        raise SpecError(f"trigger {first.name!r}: {counts}", first.where, also=(("B", second.where),))
    same = TRUE
    for i, ((_, one), (_, other)) in enumerate(zip(first.args, second.args, strict=True)):
        _require_one_type(f"argument {i} of trigger {first.name!r}", one, other, first.where, second.where)
        part = same_value(one, other)
        same = part if same is TRUE else term("and", same, part)
    guards = term("same", first.guard, second.guard)
    called = term("and", first.guard, second.guard)  # of both sides, so that a run shows both
    return guards if same is TRUE else term("and", guards, term("implies", called, same))


def _require_one_type(what: str, one: Term, other: Term, where: Location | None, there: Location | None) -> None:
    if one.type is not other.type:
        raise SpecError(f"{what}: {one.type} in A, {other.type} in B", where, also=(("B", there),))


def same_value(one: Term, other: Term) -> Term:
    """Equality of every scalar, as bits."""
    match one.type:
        case ArrayType(length=length):
            indices = [constant(INT, i) for i in range(length)]
            parts = [same_value(term("index", one, i), term("index", other, i)) for i in indices]
        case StructType(fields=fields):
            places = range(len(fields))
            parts = [same_value(term("field", one, payload=i), term("field", other, payload=i)) for i in places]
        case _:
            return term("same", one, other)
    return reduce(lambda x, y: term("and", x, y), parts)


def _compared_values(pairs: Iterable[OutputPair]) -> Iterator[Named]:
    """Every value that is compared as an observer, A's and B's side by side."""
    for pair in pairs:
        for one, other in zip(_values(pair.title, pair.first), _values(pair.title, pair.second), strict=True):
            yield from (replace(one, name=_of(one.name, A)), replace(other, name=_of(one.name, B)))


def _values(title: str, output: Output) -> Iterator[Named]:
    if isinstance(output, Named):
        yield replace(output, name=title)
        return
    yield Named(title, output.guard, output.where)
    for i, (name, arg) in enumerate(output.args):
        yield Named(f"{title}.{name or i}", arg, output.where)


def _lonely_inputs(left: Specification, right: Specification) -> Iterator[str]:
    """A warning if each side has inputs that the other has not: they may be the same under two names."""
    mine, its = ({i.name for i in side.inputs if i.extern} for side in (left, right))
    if mine - its and its - mine:
        alone = (f"{', '.join(sorted(names))} ({side})" for side, names in ((A, mine - its), (B, its - mine)))
        yield f"inputs of one side only: {' and '.join(alone)}; they are taken as different inputs"


Record = TypeVar("Record", Cell, Named)


def _in_turns(left: Sequence[Record], right: Sequence[Record]) -> tuple[Record, ...]:
    """Both, those of one name side by side."""
    rest: dict[str, Record] = {c.name.removesuffix(_of("", B)): c for c in right}
    found: list[Record] = []
    for record in left:
        found.append(record)
        other = rest.pop(record.name.removesuffix(_of("", A)), None)
        found += [] if other is None else [other]
    found += rest.values()
    return tuple(found)


def _named_apart(claims: Iterable[Claim]) -> Iterator[Claim]:
    taken: set[str] = set()
    for claim in claims:
        name = fresh_name(claim.name, taken)
        taken.add(name)
        yield replace(claim, name=name, goal=Goal.ALWAYS, origin=COMPARED)
