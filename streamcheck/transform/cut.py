"""A specification without the bodies of some instances: their outputs are any that their guarantees allow.

    output of an instance     a new input
    its guarantees            assumptions: `held & A implies G`, as they are claims of the specification

Every run of the specification is one of the result, with the outputs as they are. So proofs hold; a run of the result
may be spurious. That the assumptions of all instances hold, and have held, is a property too, the first: together they
are inductive, and proofs of others need it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from streamcheck.core.names import FreshNames
from streamcheck.core.simplify import conjunction
from streamcheck.core.term import Term, substitute, walk
from streamcheck.problem.claim import IMPLIED, WRITTEN, Claim, OfContract
from streamcheck.problem.specification import ComponentInstance, Input, Specification


@dataclass(frozen=True, slots=True)
class CutProblem:
    """`outputs` are the terms of the specification that the new inputs stand for."""

    problem: Specification
    outputs: dict[Term, Term]
    has_lemmas: bool
    joint: str  # the name of the property that all assumptions hold


def cut_out(
    specification: Specification,
    instances: Collection[ComponentInstance],
    lemmas: Collection[str],
    claims: Collection[str],
) -> CutProblem:
    """The specification without these instances, with these claims of it as assumptions and these as properties."""
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
    owed = {p.origin.instance for p in due if isinstance(p.origin, OfContract) and p.origin.role == "assumption"}
    kept_so_far = [t for i in instances if i.name in owed and i.held.op == "var" for t in (i.held, i.assumes)]
    joint = ""
    if kept_so_far:
        joint = FreshNames(p.name for p in specification.properties).fresh("what instances assume holds")
        due.insert(0, Claim(joint, conjunction(*kept_so_far), specification.where, origin=IMPLIED))
    roots = [c.term for c in (*given, *due, *specification.assumptions)] + [c.next for c in specification.cells]
    image = substitute(roots, replacement)
    nexts = {c.var: image[c.next] for c in specification.cells}
    properties = tuple(replace(p, term=image[p.term]) for p in due)
    assumptions = [replace(a, term=image[a.term]) for a in specification.assumptions]
    of_instance: dict[str, list[Claim]] = defaultdict(list)
    for claim in given:
        assert isinstance(claim.origin, OfContract)
        of_instance[claim.origin.instance].append(replace(claim, term=image[claim.term], origin=WRITTEN))
    owners = defaultdict[Term, set[str]](set)
    for instance in instances:
        for o in instance.outputs:
            if o.term in replacement:
                owners[replacement[o.term]].add(instance.name)
    roots = [c.term for c in (*properties, *assumptions)]
    needed, lemmas_needed = _cone_with_lemmas(roots, nexts, owners, of_instance)
    numbered = FreshNames(a.name for a in assumptions)
    assumptions += [replace(claim, name=numbered.fresh(claim.name, "{} ({})")) for claim in lemmas_needed]
    problem = Specification(
        specification.name,
        tuple(i for i in (*specification.inputs, *inputs.values()) if i.var in needed),
        tuple(c for c in specification.constants if c.var in needed),
        tuple(replace(c, next=nexts[c.var]) for c in specification.cells if c.var in needed),
        (),
        (),
        (),
        properties,
        tuple(assumptions),
        specification.where,
        calls=(),
    )
    return CutProblem(problem, {i.var: t for t, i in inputs.items() if i.var in needed}, bool(lemmas_needed), joint)


def _cone_with_lemmas(
    roots: list[Term],
    nexts: Mapping[Term, Term],
    owners: Mapping[Term, set[str]],
    lemmas: Mapping[str, list[Claim]],
) -> tuple[set[Term], list[Claim]]:
    """The cone of the roots, and the guarantees of the instances whose outputs are in it, which belong to it."""
    done: set[Term] = set()
    instances: dict[str, None] = {}
    pending = roots
    while pending:
        following: list[Term] = []
        for node in walk(pending, done):
            if node in nexts:
                following.append(nexts[node])
            for name in owners.get(node, ()):
                if name not in instances:
                    instances[name] = None
                    following += [claim.term for claim in lemmas.get(name, ())]
        pending = following
    return done, [claim for name in instances for claim in lemmas.get(name, ())]
