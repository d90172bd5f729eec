"""A specification without the bodies of some instances: their outputs are any that their guarantees allow.

    output of an instance     a new input
    its guarantees            assumptions: `held & A implies G`, as they are claims of the specification

Every run of the specification is one of the result, with the outputs as they are. So proofs hold; a run of the result
may be spurious. That the assumptions of all instances hold, and have held, is a property too, the first: together they
are inductive, and proofs of others need it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Set
from dataclasses import dataclass, replace

from streamcheck.core.names import FreshNames
from streamcheck.core.simplify import conjunction
from streamcheck.core.term import Term, cone, substitute, walk
from streamcheck.problem.claim import IMPLIED, WRITTEN, Claim, OfContract
from streamcheck.problem.specification import ComponentInstance, Input, Specification


@dataclass(frozen=True, slots=True)
class CutProblem:
    """`outputs` are the terms of the specification that the new inputs stand for."""

    problem: Specification
    outputs: dict[Term, Term]
    has_lemmas: bool
    joint: str  # the name of the property that all assumptions hold


class Cutting:
    """A specification in which instances have become inputs, with these claims of it as lemmas and these as
    properties: everything in terms of the new inputs."""

    def __init__(
        self,
        specification: Specification,
        instances: Collection[ComponentInstance],
        lemmas: Collection[str],
        claims: Collection[str],
    ) -> None:
        self.specification = specification
        names = FreshNames(str(v.payload) for v in specification.variables())
        kept, inputs = set(specification.choices()), dict[Term, Input]()
        for instance in instances:
            for o in instance.outputs:
                if o.term.op != "const" and o.term not in kept and o.term not in inputs:
                    wish = f"{instance.name}.{o.name}"
                    inputs[o.term] = Input(names.fresh(wish), o.term.type, False, "", "", instance.where)
        replacement = {t: i.var for t, i in inputs.items()}
        given = [p for p in specification.properties if p.name in lemmas]
        due = [p for p in specification.properties if p.name in claims]
        clauses = [p.origin for p in (*given, *due) if isinstance(p.origin, OfContract)]
        owed = {origin.instance for origin in clauses if origin.role == "assumption"}
        held_so_far = [t for i in instances if i.name in owed and i.held.op == "var" for t in (i.held, i.assumes)]
        self.joint = ""
        if held_so_far:
            self.joint = FreshNames(p.name for p in specification.properties).fresh("what instances assume holds")
            due.insert(0, Claim(self.joint, conjunction(*held_so_far), specification.where, origin=IMPLIED))
        roots = [c.term for c in (*given, *due, *specification.assumptions)] + [c.next for c in specification.cells]
        image = substitute(roots, replacement)
        self.nexts = {c.var: image[c.next] for c in specification.cells}
        self.properties = tuple(replace(p, term=image[p.term]) for p in due)
        self.assumptions = [replace(a, term=image[a.term]) for a in specification.assumptions]
        self.lemmas: dict[str, list[Claim]] = defaultdict(list)
        for claim in given:
            assert isinstance(claim.origin, OfContract)
            self.lemmas[claim.origin.instance].append(replace(claim, term=image[claim.term], origin=WRITTEN))
        self.owners = defaultdict[Term, dict[str, None]](dict)  # the instances of an output
        for instance in instances:
            for o in instance.outputs:
                if o.term in replacement:
                    self.owners[replacement[o.term]][instance.name] = None
        self.inputs = tuple(inputs.values())
        self.outputs = {i.var: t for t, i in inputs.items()}

    def part(self, properties: tuple[Claim, ...], assumptions: tuple[Claim, ...], needed: Set[Term]) -> Specification:
        """The specification of these claims over the variables that they need."""
        where = self.specification
        return Specification(
            where.name,
            tuple(i for i in (*where.inputs, *self.inputs) if i.var in needed),
            tuple(c for c in where.constants if c.var in needed),
            tuple(replace(c, next=self.nexts[c.var]) for c in where.cells if c.var in needed),
            (),
            (),
            (),
            properties,
            assumptions,
            where.where,
            calls=(),
        )

    def own_assumptions(self) -> list[Specification]:
        """The specification without any claim, if it assumes something itself."""
        needed = cone([a.term for a in self.assumptions], self.nexts)
        return [self.part((), tuple(self.assumptions), needed)] if self.assumptions else []


def cut_out(
    specification: Specification,
    instances: Collection[ComponentInstance],
    lemmas: Collection[str],
    claims: Collection[str],
) -> CutProblem:
    """The specification without these instances, with these claims of it as assumptions and these as properties."""
    cutting = Cutting(specification, instances, lemmas, claims)
    needed, used = _cone_with_lemmas(cutting)
    numbered = FreshNames(a.name for a in cutting.assumptions)
    given = [replace(claim, name=numbered.fresh(claim.name, "{} ({})")) for claim in used]
    problem = cutting.part(cutting.properties, (*cutting.assumptions, *given), needed)
    outputs = {v: t for v, t in cutting.outputs.items() if v in needed}
    return CutProblem(problem, outputs, bool(used), cutting.joint)


def _cone_with_lemmas(cutting: Cutting) -> tuple[set[Term], list[Claim]]:
    """The cone of the claims, and the guarantees of the instances whose outputs are in it, which belong to it."""
    done: set[Term] = set()
    instances: dict[str, None] = {}
    pending = [c.term for c in (*cutting.properties, *cutting.assumptions)]
    while pending:
        following: list[Term] = []
        for node in walk(pending, done):
            if node in cutting.nexts:
                following.append(cutting.nexts[node])
            for name in cutting.owners.get(node, ()):
                if name not in instances:
                    instances[name] = None
                    following += [claim.term for claim in cutting.lemmas.get(name, ())]
        pending = following
    return done, [claim for name in instances for claim in cutting.lemmas.get(name, ())]
