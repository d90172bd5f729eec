"""The levels of a modular proof, and the report on them: what was proved where, and which guarantees were missing."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

from streamcheck.core.conjuncts import conjuncts
from streamcheck.core.printer import one_line
from streamcheck.core.term import Term, substitute, variable, variables
from streamcheck.core.types import BOOL, plural
from streamcheck.problem.claim import Claim
from streamcheck.problem.result import Result
from streamcheck.problem.specification import Cell, ComponentInstance, Specification
from streamcheck.problem.verdict import Certificate
from streamcheck.run.prove import Settings, prove
from streamcheck.transform.cut import CutProblem

MOST_CANDIDATES = 8  # guarantees that are tried for one instance


@dataclass(frozen=True, slots=True)
class ProvedPlace:
    """Where a part stands in its level: the terms there of its variables, and pairs of a property of the part and the
    claim of the level that it proves."""

    images: Mapping[str, Term]
    claims: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ProvedPart:
    """A part with proofs of its properties, and its places in a level. `results` are about claims of the level;
    `outputs` are the terms there that the inputs of the part stand for."""

    problem: Specification
    proofs: Mapping[str, Certificate]
    places: list[ProvedPlace]
    results: list[Result]
    outputs: Mapping[Term, Term] = field(default_factory=dict)


def part_of_cut(cut: CutProblem, results: list[Result]) -> ProvedPart:
    """The part that a level is without some instances."""
    images = {str(v.payload): cut.outputs.get(v, v) for v in cut.problem.variables()}
    proofs = {r.name: r.evidence for r in results if isinstance(r.evidence, Certificate)}
    place = ProvedPlace(images, tuple((name, name) for name in proofs))
    return ProvedPart(cut.problem, proofs, [place], results, cut.outputs)


@dataclass(slots=True)
class Level:
    """A specification with instances: the whole, or the body of a component. `parts` have proved claims of it."""

    title: str
    problem: Specification
    open: set[str]  # claims that nothing has proved
    usable: set[str] = field(default_factory=set)  # guarantees of instances that are proved, or will be
    cut: dict[str, ComponentInstance] = field(default_factory=dict)  # the outermost instances that are parts
    nested: dict[str, ComponentInstance] = field(default_factory=dict)  # all that are
    parts: list[ProvedPart] = field(default_factory=list)
    broken: dict[str, Result] = field(default_factory=dict)  # claims with a run of the whole level that breaks them
    joined: list[Joined] = field(default_factory=list)
    seconds: float = 0.0
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Joined:
    """An instance whose body a claim needed, since the contract allows too much."""

    instance: str
    component: str
    claim: str


def notes(
    whole: Specification, bodies: Mapping[str, Level], top: Level, embedded: Collection[str], proposer: Proposer
) -> Iterator[str]:
    """The proof part by part, in words."""
    for level in (*bodies.values(), top):
        proved = sum(len(part.results) for part in level.parts)
        claims = plural(proved + len(level.open), "claim")
        if level is top:
            yield f"{level.title}, its components by their contracts: {proved} of {claims}, {level.seconds:.2f} s"
        else:
            count = plural(sum(i.component == level.title for i in whole.instances), "instance")
            yield f"component {level.title} ({count}): {proved} of {claims}, {level.seconds:.2f} s"
            yield from (f"component {level.title} by itself does not keep: {claim}" for claim in level.broken)
        for joined in level.joined:
            yield f"the body of {joined.instance} was used: its contract allows too much for {joined.claim}"
            body = bodies[joined.component]
            for text in proposer.guarantees(level, joined, body.problem):
                yield f"to add to {joined.component}: {text}"
    missing = [i.name for i in whole.instances if i.name and i.name not in embedded]
    if missing:
        yield f"by their bodies, which are no copies of their components: {', '.join(missing)}"


class Proposer:
    """Finds guarantees that a contract could have: conditions on inputs and outputs, of the claim or of the invariant
    that proves it with the body, which the component keeps by itself."""

    def __init__(self, settings: Settings, seconds: float) -> None:
        self.settings = settings
        self.left = seconds

    def guarantees(self, level: Level, joined: Joined, body: Specification) -> Iterator[str]:
        own = next((i for i in body.instances if not i.name), None)
        found = [(part, r) for part in level.parts for r in part.results if r.name == joined.claim]
        if own is None or not found or self.left <= 0:
            return
        candidates, cells = _candidates(*found[0], level.nested[joined.instance])
        if not candidates:
            return
        ports = {variable(n.name, n.term.type): n.term for n in (*own.inputs, *own.outputs)}
        image = substitute([*candidates, *(c.next for c in cells)], ports)
        claims = tuple(Claim(f"candidate {n}", image[c]) for n, c in enumerate(candidates))
        before = tuple(replace(c, next=image[c.next]) for c in cells)
        alone = replace(body, properties=claims, cells=(*body.cells, *before), wires=(), observers=(), triggers=())
        verdicts = prove(alone, replace(self.settings, timeout=self.left))
        self.left -= verdicts.seconds
        for candidate, result in zip(candidates, verdicts.results, strict=True):
            if result.verdict == "proved":
                yield f'guarantee("…", {one_line(candidate)})'


def _candidates(part: ProvedPart, result: Result, instance: ComponentInstance) -> tuple[list[Term], list[Cell]]:
    """Conditions on the instance's inputs and outputs alone, now and at the step before, over the names that these have
    in the component; and the cells for the step before."""
    outside = {t: v for v, t in part.outputs.items()}
    ports = {n.term: n.name for n in (*instance.inputs, *instance.outputs) if n.term.op != "const"}
    names = substitute(ports, outside)
    images = {names[t]: variable(name, t.type) for t, name in ports.items()}
    cells: dict[Term, Cell] = {}
    for cell in part.problem.cells:
        if cell.next in images and cell.var not in images and not cell.free:
            initial = str(cell.initial.payload) if cell.initial.type is BOOL else one_line(cell.initial)
            name = f"pre({initial}, {images[cell.next].payload})"
            before = Cell(name, cell.initial, images[cell.next], None, named=False)
            cells[cell.var] = before
            images[cell.var] = before.var
    allowed, outputs = set(images.values()), {images[names[o.term]] for o in instance.outputs if o.term in ports}
    outputs |= {c.var for c in cells.values() if c.next in outputs}
    claim = next(p.term for p in part.problem.properties if p.name == result.name)
    invariants = result.evidence.invariants if isinstance(result.evidence, Certificate) else ()
    parts = dict.fromkeys(part for t in (claim, *invariants) for part in conjuncts(t))
    replaced = dict.fromkeys(substitute(parts, images)[part] for part in parts)
    found = [p for p in replaced if outputs.intersection(variables([p])) and allowed.issuperset(variables([p]))]
    return found[:MOST_CANDIDATES], list({c.name: c for c in cells.values()}.values())
