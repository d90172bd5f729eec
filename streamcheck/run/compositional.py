"""Modular proofs: each component once against its contract, bottom-up; whoever uses it sees the contract instead.

    bodies      each component by itself: its inputs free, its assumptions assumed, the components inside of it cut out
    the spec    its properties, and the assumptions of the instances in it, with all instances cut out
    inside      what components owe to those inside of them, at each instance, now that their own assumptions are proved

If a claim stays open with instances cut out, the bodies of some join: first those whose outputs differ, in the spurious
run, from what their bodies compute. Claims that no part proves are proved of the whole, as ever.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial

from streamcheck.certify.checker import SpecificationChecker, operands_of
from streamcheck.certify.replay import replay, run_of
from streamcheck.core.errors import SpecError
from streamcheck.core.term import Term, substitute, walk
from streamcheck.core.types import part_names
from streamcheck.problem.claim import Claim, Goal, OfContract
from streamcheck.problem.problem import Problem, with_properties
from streamcheck.problem.result import Replay, Result, Verdicts
from streamcheck.problem.specification import Component, ComponentInstance, Specification
from streamcheck.problem.verdict import Certificate, Trace
from streamcheck.run.composer import Composer
from streamcheck.run.limits import OutOfTime
from streamcheck.run.near_proofs import near_proofs
from streamcheck.run.parts import Joined, Level, Proposer, ProvedPart, notes, part_of_cut
from streamcheck.run.prove import NOBODY, Audience, Hearing, Settings, prove, select, with_infinite_runs
from streamcheck.run.sandbox import Sandbox, Send
from streamcheck.run.standby import Standby
from streamcheck.transform.cut import CutProblem, Cutting, cut_out
from streamcheck.transform.embedding import Embedder, Images
from streamcheck.transform.integers import is_machine

MOST_PROPOSING = 5.0  # seconds for guarantees that were missing
RESERVED = 0.25  # of the time, for what no part proves
SHARE = 0.5  # of the time that is left, for each proof of a part
SECONDS_NEAR = 10.0  # at most, for a few claims with what is near them
ENGINES_QUICK = ("bmc", "k-induction")  # for these, and for what many instances assume together
OPTIONS_QUICK = {"k-induction.compression": "off"}  # a proof by induction alone is one of the whole, too
MANY = 16  # instances in a level: from here on, claims are first proved by what is near them


def prove_by_parts(
    whole: Problem, settings: Settings, audience: Audience = NOBODY, standby: Standby | None = None
) -> Verdicts:
    """The verdicts on a spec, each component proved by itself."""
    if not isinstance(whole, Specification):
        raise SpecError(f"{whole.name}: --compositional is for specs with components, and this is a program")
    if settings.bound is not None:
        raise SpecError(f"{whole.name}: --bound and --compositional exclude each other")
    chosen = select(whole, settings.props)
    assert isinstance(chosen, Specification)
    if any(p.is_about_infinite_runs for p in chosen.properties):
        return with_infinite_runs(chosen, settings, audience, standby, partial(_steps_by_parts, whole))
    return Modular(whole.about_steps(), settings, standby).verdicts(audience)


def _steps_by_parts(
    whole: Specification, steps: Problem, settings: Settings, audience: Audience, standby: Standby | None
) -> Verdicts:
    """The verdicts on those claims of the whole that are about steps."""
    if not steps.properties:
        return prove(steps, settings, audience, standby)
    names = [p.name for p in steps.properties]
    return Modular(whole.about_steps(), replace(settings, props=names), standby).verdicts(audience)


class Modular:
    def __init__(self, whole: Specification, settings: Settings, standby: Standby | None) -> None:
        self.whole = whole
        self.settings = settings
        self.standby = standby
        self.end = time.monotonic() + settings.timeout
        self.parts_end = self.end - RESERVED * settings.timeout
        self.stopped = 0
        self.alarms: list[str] = []
        self.machine = any(is_machine(node.type) for node in walk(whole.roots()))
        self.composer = Composer(whole)
        self.heard: set[str] = set()
        self.bodies: dict[str, Level] = {}
        self.images: dict[str, Images] = {}  # of the bodies, by the instance of the whole

    def verdicts(self, audience: Audience) -> Verdicts:
        began = time.monotonic()
        chosen = self._select_claims()
        hearing = Hearing(audience, chosen)
        hearing.begin(chosen, machine=self.machine, bound=None)
        embedder = Embedder(self.whole)
        for component in _bottom_up(self.whole.components):
            self._prove_body(component)
            self._compose_body(component.name, embedder)
            self._tell(chosen, hearing)
        top = self._top(chosen)
        self._prove_level(top)
        self._compose_whole(top)
        self._tell(chosen, hearing)
        results = self._results(chosen, top, hearing)
        seconds = time.monotonic() - began
        warnings = [*self.whole.warnings, *self._warnings(top)]
        strict, alarms = self.settings.strict, [*self.alarms, *self.composer.alarms]
        return Verdicts(
            chosen, results, seconds, warnings, self.machine, None, alarms, self.stopped, strict, self._notes(top)
        )

    def _tell(self, chosen: Specification, audience: Audience) -> None:
        """Tell what is concluded and has not been told."""
        composition = self.composer.composition
        for claim in chosen.properties:
            if claim.name in self.composer.found.keys() - self.heard:
                self.heard.add(claim.name)
                result = self.composer.found[claim.name]
                audience.hear(replace(result, prop=claim, composition=composition))

    # Levels

    def _select_claims(self) -> Specification:
        chosen = select(self.whole, self.settings.props)
        assert isinstance(chosen, Specification)
        return chosen

    def _prove_body(self, component: Component) -> None:
        always = {p.name for p in component.body.properties if p.goal is Goal.ALWAYS}
        level, embedder = Level(component.name, component.body, always), Embedder(component.body)
        for instance in component.body.instances:
            body = self.bodies.get(instance.component) if instance.name else None
            images = None if body is None else embedder.images(body.problem, instance)
            if body is not None and images is not None:
                _use_body(level, instance, body, images)
        self._prove_level(level)
        self.bodies[component.name] = level

    def _top(self, chosen: Specification) -> Level:
        owed = {
            p.name for p in self.whole.properties if isinstance(p.origin, OfContract) and p.origin.role == "assumption"
        }
        level = Level(self.whole.name, self.whole, {p.name for p in chosen.properties} | owed)
        for instance in self.whole.instances:
            if instance.name in self.images:
                _use_body(level, instance, self.bodies[instance.component], self.images[instance.name])
        return level

    def _prove_level(self, level: Level) -> None:
        """Prove the open claims with instances cut out; those whose contracts allow too much join."""
        began = time.monotonic()
        joined: set[str] = set()
        if level.problem is self.whole and len(_outermost(level.nested)) >= MANY and level.open:
            self._prove_many(level, _outermost(level.nested))
        while not self.stopped:
            cut_names = _outermost(set(level.nested) - joined)
            due = level.open - level.broken.keys()
            left = self.parts_end - time.monotonic()
            if not due or left <= 0:
                break
            cut = self._cut_out(level, cut_names, due)
            results = self._prove(cut, left * SHARE, level)
            proofs = [r for r in results if isinstance(r.evidence, Certificate) and r.name in level.open]
            self._keep(level, part_of_cut(cut, proofs))
            more: list[Joined] = []
            for result in results:
                if result.name in level.open:
                    names = dict.fromkeys(self._to_join(level, cut, cut_names, result))
                    more += [Joined(n, level.nested[n].component, result.name) for n in names]
            if not more:
                break
            level.joined += more
            joined |= {instance.instance for instance in more}
        level.seconds = time.monotonic() - began

    def _prove_many(self, level: Level, names: list[str]) -> None:
        """Prove the claims of the whole for which that is enough by what is near them, and assumptions that need each
        other together. In a body such proofs may have hypotheses that are shown later, of what is inside of it."""
        self._prove_near(level, names)
        owed = {
            p.name
            for p in level.problem.properties
            if p.name in level.open and isinstance(p.origin, OfContract) and p.origin.role == "assumption"
        }
        if owed and not self.stopped:
            cut = self._cut_out(level, names, owed)
            joint, *others = cut.problem.properties
            if joint.name == cut.joint:
                (result,) = self._results_by_steps(replace(cut.problem, properties=(joint,)), self.parts_end, level)
                self._keep(level, part_of_cut(cut, self._implied_by(cut, others, result)))
                self._prove_near(level, names)
        if not level.open and not self.stopped:  # nobody else asks if there are runs
            for alone in Cutting(level.problem, (), (), ()).own_assumptions():
                seconds = min(SECONDS_NEAR, SHARE * (self.parts_end - time.monotonic()))
                self._results_on(alone, replace(self.settings, timeout=seconds), level, lemmas=True)

    def _prove_near(self, level: Level, names: list[str]) -> None:
        usable = _claims_of(level.problem, level.usable, names)
        cutting = Cutting(level.problem, [level.nested[n] for n in names], usable, level.open)

        def results(problem: Specification) -> list[Result]:
            return self._results_by_steps(problem, time.monotonic() + SECONDS_NEAR, level)

        for part in near_proofs(cutting, level.nested, results, self.parts_end):
            self._keep(level, part)

    def _keep(self, level: Level, part: ProvedPart) -> None:
        proved = {r.name for r in part.results}
        level.parts.append(part)
        level.open -= proved
        if level.problem is self.whole:
            level.usable |= {
                p.name for p in level.problem.properties if p.name in proved and isinstance(p.origin, OfContract)
            }

    def _cut_out(self, level: Level, names: Collection[str], claims: Collection[str]) -> CutProblem:
        usable = _claims_of(level.problem, level.usable, names)
        return cut_out(level.problem, [level.nested[n] for n in names], usable, claims)

    def _results_by_steps(self, problem: Specification, end: float, level: Level) -> list[Result]:
        """The results of a quick attempt, without questions about the assumptions, which are claims that are proved."""
        seconds = min(end - time.monotonic(), SHARE * (self.parts_end - time.monotonic()))
        settings = replace(self.settings, timeout=seconds, only_lemmas=True)
        if not settings.engines:
            options = {**OPTIONS_QUICK, **settings.options}
            settings = replace(settings, engines=ENGINES_QUICK, options=options, jobs=1)
        return self._results_on(problem, settings, level, lemmas=True)

    def _prove(self, cut: CutProblem, seconds: float, level: Level) -> list[Result]:
        """The results on a part. What its instances assume is proved together, if it can be."""
        end = time.monotonic() + seconds
        properties = cut.problem.properties
        owed = [p for p in properties if isinstance(p.origin, OfContract) and p.origin.role == "assumption"]
        if not cut.joint:
            return self._prove_claims(cut, properties, seconds, level)
        names = {p.name for p in owed}
        first, *others = self._prove_claims(cut, tuple(p for p in properties if p.name not in names), seconds, level)
        proved = self._implied_by(cut, owed, first)
        names -= {r.name for r in proved}
        left = tuple(p for p in owed if p.name in names)
        if left:
            others += self._prove_claims(cut, left, max(0.0, end - time.monotonic()), level)
        return [*proved, *others]

    def _prove_claims(self, cut: CutProblem, claims: tuple[Claim, ...], seconds: float, level: Level) -> list[Result]:
        settings = replace(self.settings, timeout=seconds)
        return self._results_on(replace(cut.problem, properties=claims), settings, level, lemmas=cut.has_lemmas)

    def _results_on(self, problem: Specification, settings: Settings, level: Level, *, lemmas: bool) -> list[Result]:
        lemmas = lemmas or level.problem is not self.whole
        settings = replace(settings, props=(), explain=0.0, promised=None, lemmas=lemmas)
        verdicts = prove(problem, settings, NOBODY, self.standby)
        self.stopped = self.stopped or verdicts.stopped
        self.alarms += verdicts.alarms
        level.warnings += [w for w in verdicts.warnings if w not in level.warnings]
        return verdicts.results

    def _implied_by(self, cut: CutProblem, owed: list[Claim], joint: Result) -> list[Result]:
        """Results for the assumptions that the joint certificate proves: those that it is a conjunction of, since the
        checker has accepted it; the checker judges each of the others."""
        certificate = joint.evidence
        if not isinstance(certificate, Certificate):
            return []
        operands = operands_of(certificate.invariants)
        names = {p.name for p in owed if operands_of([p.invariant]) <= operands}
        left = [p for p in owed if p.name not in names]

        def work(send: Send) -> None:
            checker = SpecificationChecker(replace(cut.problem, properties=tuple(left)))
            send([p.name for p in left if checker.check(p, certificate) is None])

        limit = max(0.0, self.parts_end - time.monotonic())
        if left and limit:
            with suppress(OutOfTime), Sandbox(work, seconds=limit, doing=f"checking {cut.problem.name}") as child:
                names |= set(child.receive())
        return [replace(joint, prop=p) for p in owed if p.name in names]

    def _to_join(self, level: Level, cut: CutProblem, cut_names: Collection[str], result: Result) -> list[str]:
        """The instances whose bodies the claim needs, by its spurious run, if it has one; none if the run is real."""
        if not cut.outputs:  # no instance matters to the open claims
            if isinstance(result.evidence, Trace):
                self._break(level, result)
            return []
        owners: dict[Term, list[str]] = defaultdict(list)
        for name in cut_names:
            for o in level.nested[name].outputs:
                owners[o.term].append(name)
        if isinstance(result.evidence, Trace):
            if self._break(level, result):
                return []
            others = self._outputs_that_differ(level, cut, result)
            if others:
                return [n for t in others for n in owners[t]]
        claim = next(p for p in cut.problem.properties if p.name == result.name)
        needed = cut.problem.needed_by([claim.term])
        return [n for var, t in cut.outputs.items() if var in needed for n in owners[t]]

    def _break(self, level: Level, result: Result) -> bool:
        """True if the run breaks the claim of the level too, which then has it."""
        claim = next(p for p in level.problem.properties if p.name == result.name)
        trace = _trace_of(level.problem, result.evidence)
        run = replay(level.problem, claim, trace)
        if isinstance(run, Replay):
            level.broken[result.name] = replace(result, prop=claim, evidence=trace, replay=run)
        return isinstance(run, Replay)

    def _outputs_that_differ(self, level: Level, cut: CutProblem, result: Result) -> list[Term]:
        """The outputs that differ, at the first step at which some do, from what their bodies compute in that run."""
        if not isinstance(result.replay, Replay):
            return []
        steps = run_of(level.problem, _trace_of(level.problem, result.evidence))
        for spurious, real in zip(result.replay.steps, steps, strict=False):
            outputs = cut.outputs.items()
            differing = [t for v, t in outputs if v in spurious and t in real and spurious[v] != real[t]]
            if differing:
                return differing
        return []

    # The whole

    def _compose_body(self, name: str, embedder: Embedder) -> None:
        """Conclude what the component promises, at each instance."""
        body = self.bodies[name]
        instances = [i for i in self.whole.instances if i.component == name and i.name]
        for instance in instances:
            images = embedder.images(body.problem, instance)
            if images is not None:
                self.images[instance.name] = images
        claims = {i.name: _claims_at(self.whole, body, i, own=True) for i in instances if self._is_part(i, body)}
        for part in body.parts:
            self.composer.add(part, ((self.images[i], names) for i, names in claims.items()))

    def _compose_whole(self, top: Level) -> None:
        """Conclude what the parts of the whole prove, and now that assumptions hold, what bodies owe inside."""
        composer = self.composer
        for part in top.parts:
            composer.add(part, [(None, {r.name: r.name for r in part.results})])
        for instance in sorted(self.whole.instances, key=lambda i: i.name.count(".")):
            there = self.bodies.get(instance.component)
            if there is None or not self._is_part(instance, there):
                continue
            if _assumption_claims(self.whole, instance.name) <= composer.conclusions.proved:
                images = self.images[instance.name]
                inside = _claims_at(self.whole, there, instance, own=False, images=images)
                for part in there.parts if inside else ():
                    composer.add(part, [(images, inside)])

    def _is_part(self, instance: ComponentInstance, body: Level) -> bool:
        """True if the body lies in the whole at the instance, with all that is cut out of it."""
        names = (f"{instance.name}.{inside}" for inside in body.nested)
        return instance.name in self.images and all(name in self.images for name in names)

    def _results(self, chosen: Specification, top: Level, audience: Audience) -> list[Result]:
        results: dict[str, Result] = {}
        proved, composition = self.composer.found, self.composer.composition
        for claim in chosen.properties:
            if claim.name in proved:
                results[claim.name] = replace(proved[claim.name], prop=claim, composition=composition)
            elif claim.name in top.broken:
                results[claim.name] = top.broken[claim.name]
                audience.hear(results[claim.name])
        rest = {p.name for p in chosen.properties} - results.keys()
        if rest:  # as ever, on the whole
            seconds = max(0.0, self.end - time.monotonic())
            settings = replace(self.settings, timeout=seconds, props=(), promised=self.settings.timeout)
            verdicts = prove(with_properties(self.whole, rest), settings, audience, self.standby)
            self.stopped = self.stopped or verdicts.stopped
            self.alarms += verdicts.alarms
            results |= {r.name: r for r in verdicts.results}
        return [results[p.name] for p in chosen.properties]

    def _warnings(self, top: Level) -> Iterator[str]:
        for level in self.bodies.values():
            yield from (f"component {level.title}: {warning}" for warning in level.warnings)
        yield from top.warnings

    def _notes(self, top: Level) -> tuple[str, ...]:
        seconds = min(MOST_PROPOSING, self.end - time.monotonic())
        ask = replace(self.settings, props=(), explain=0.0, promised=None, lemmas=True)
        return tuple(notes(self.whole, self.bodies, top, self.images.keys(), Proposer(ask, seconds)))


def _use_body(level: Level, instance: ComponentInstance, body: Level, images: Images) -> None:
    """Leave to the body what it proves of an instance."""
    level.nested[instance.name] = instance
    done = {r.name for part in body.parts for r in part.results}
    own = _claims_at(level.problem, body, instance, own=True)
    inside = _claims_at(level.problem, body, instance, own=False, images=images)
    proved = {claim for p, claim in own.items() if p in done}
    level.usable |= proved
    level.open -= proved | {claim for p, claim in inside.items() if p in done}


def _claims_at(
    problem: Specification, body: Level, instance: ComponentInstance, *, own: bool, images: Images | None = None
) -> dict[str, str]:
    """The claims of the problem that are those of the body at an instance: what its own contract promises, or the
    others, which are about what is inside of it."""
    names, found = {p.name for p in problem.properties}, dict[str, str]()
    others: list[Claim] = []
    for p in body.problem.properties:
        if isinstance(p.origin, OfContract):
            name = f"{instance.name}.{p.name}"
            if own is (not p.origin.instance) and name in names:
                found[p.name] = name
        else:
            others.append(p)
    if not own and images is not None and others:
        there = {(p.term, p.goal): p.name for p in problem.properties}
        replaced = substitute([p.term for p in others], images)
        for p in others:
            name = there.get((replaced[p.term], p.goal), "")
            found |= {p.name: name} if name else {}
    return found


def _assumption_claims(problem: Specification, instance: str) -> set[str]:
    owed = OfContract("assumption", instance)
    return {p.name for p in problem.properties if p.origin == owed}


def _claims_of(problem: Specification, claims: Collection[str], instances: Collection[str]) -> list[str]:
    """Those of the claims that belong to the contracts of these instances."""
    chosen = set(instances)
    origins = ((p.name, p.origin) for p in problem.properties if p.name in claims)
    return [name for name, origin in origins if isinstance(origin, OfContract) and origin.instance in chosen]


def _outermost(names: Collection[str]) -> list[str]:
    """Those that lie in no other one."""
    chosen = set(names)
    return [n for n in names if not any(n[:i] in chosen for i, c in enumerate(n) if c == ".")]


def _trace_of(problem: Specification, trace: object) -> Trace:
    """The run of the level with the same inputs."""
    assert isinstance(trace, Trace)
    inputs = {name for i in problem.inputs for name, _ in part_names(i.name, i.type)}
    chosen = [*(c.var for c in problem.constants), *(c.var for c in problem.cells if c.free)]
    constants = {name for v in chosen for name, _ in part_names(str(v.payload), v.type)}
    return Trace(
        {n: v for n, v in trace.constants.items() if n in constants},
        tuple({n: v for n, v in step.items() if n in inputs} for step in trace.inputs),
    )


def _bottom_up(components: tuple[Component, ...]) -> list[Component]:
    """Each behind those that it uses."""
    by_name, done = {c.name: c for c in components}, dict[str, Component]()
    stack = [(c.name, False) for c in reversed(components)]
    while stack:
        name, ready = stack.pop()
        if ready:
            done.setdefault(name, by_name[name])
        elif name not in done:
            stack.append((name, True))
            used = [i.component for i in by_name[name].body.instances if i.name and i.component in by_name]
            stack.extend((n, False) for n in used if n not in done)
    return list(done.values())
