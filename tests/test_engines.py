"""Engines against explicit search, and the checker against mutated certificates: no disagreement, ever."""

from __future__ import annotations

from dataclasses import replace

import pytest
from finite import HERE, INT, W8, Explicit, systems
from hypothesis import HealthCheck, given, settings
from judging import check

from streamcheck import Bool, Double, Float, Int, Int16, Real, Spec, Word8, Word16, extern, implies, mux, stream
from streamcheck.certify.check import Checker
from streamcheck.certify.replay import replay
from streamcheck.core.term import FALSE, constant, term, variable
from streamcheck.core.types import BOOL
from streamcheck.engines.protocol import Task
from streamcheck.engines.settings import options_of
from streamcheck.lang.flatten import flatten
from streamcheck.problem.claim import Claim
from streamcheck.problem.problem import claim_named
from streamcheck.problem.transition import Definition, State, TransitionSystem
from streamcheck.problem.verdict import Certificate, Falsified, Proved
from streamcheck.run.registry import ENGINES as ENGINE_ROWS
from streamcheck.run.registry import build, options_from
from streamcheck.run.workers import Turns
from streamcheck.transform.integers import SystemIntegers
from streamcheck.transform.reduce import Reduction
from streamcheck.transform.views import views

QUIET = {"deadline": None, "database": None, "suppress_health_check": list(HealthCheck)}


def verdicts(system, engines, rounds=60, options=None):
    """What the engines say in turns, by property; and every event. Options are for each engine that has them."""
    found, events = {}, []

    def tell(engine, event):
        events.append((engine, event))
        if isinstance(event, Proved | Falsified):
            found.setdefault(event.prop, (engine, event))

    known = {name: {o.name for o in options_of(ENGINE_ROWS[name].options)} for name in engines}
    own = options_from({f"{n}.{o}": value for n in engines for o, value in (options or {}).items() if o in known[n]})
    turns = Turns(lambda: build(engines, own), Task(system))
    for _ in range(rounds):
        if turns.round(tell) or not turns.running or len(found) == len(system.properties):
            break
    return found, events


def judge(system, back, found, exact_length):
    explicit = Explicit(system)
    for claim in system.properties:
        if claim.name not in found:
            continue
        engine, verdict = found[claim.name]
        truth = explicit.shortest_violation(claim)
        if isinstance(verdict, Proved):
            assert truth is None, (engine, claim, truth)
            certificate = back(verdict.certificate)
            assert check(system, claim, certificate) is None, (engine, certificate)
        else:
            assert truth is not None, (engine, claim)
            if exact_length:
                assert verdict.trace.length == truth + 1


ENGINES = [("bmc",), ("bmc", "k-induction"), ("bmc", "completeness"), ("structural",), ("ic3",), ("spacer",)]
ENGINES += [("predicates",), ("predicates-path",), ("bmc", "templates", "polynomial")]
ENGINES += [("bit-bmc",), ("bit-bmc", "bit-induction")]
ENGINES += [("bmc", "delays"), ("ic3", "templates", "bmc", "k-induction"), ("spacer-local",), ("bmc", "simulation")]
ENGINES += [("bmc", "long-runs"), ("bmc", "equals")]


@pytest.mark.parametrize("engines", [*ENGINES, ("bmc", "k-induction", "completeness")], ids="+".join)
def test_engines_agree_with_explicit_search(engines):
    decided = []

    @settings(max_examples=60, **QUIET)
    @given(systems(W8 if engines[0] == "bit-bmc" else INT))
    def run(system):
        reduced = Reduction(system)
        bounded = engines[0] in ("bmc", "bit-bmc")
        few = bounded or engines[0] == "structural"
        found, _ = verdicts(reduced.problem, engines, rounds=25 if few else 400, options={"steps": 5000})
        decided.append(len(found) / len(system.properties))
        judge(system, reduced.back, found, exact_length=bounded and engines[-1] not in ("simulation", "long-runs"))

    run()
    assert sum(decided) / len(decided) > 0.3  # they do decide things


@pytest.mark.parametrize("model", ["bits", "integers"])
def test_both_integer_models_agree_with_explicit_search(model):
    @settings(max_examples=40, **QUIET)
    @given(systems(number=W8))
    def run(system):
        integers = SystemIntegers(system) if model == "integers" else None
        reduced = Reduction(integers.problem if integers else system)
        found, _ = verdicts(reduced.problem, ("bmc", "k-induction", "completeness"), rounds=25)
        explicit = Explicit(system)
        for claim in system.properties:
            if claim.name in found:
                _, verdict = found[claim.name]
                truth = explicit.shortest_violation(claim)
                assert isinstance(verdict, Proved) == (truth is None)
                if isinstance(verdict, Proved):
                    certificate = reduced.back(verdict.certificate)
                    certificate = integers.back(certificate) if integers else certificate
                    assert check(system, claim, certificate) is None
                else:
                    assert verdict.trace.length == truth + 1

    run()


def test_reduction_changes_no_answer():
    @settings(max_examples=60, **QUIET)
    @given(systems())
    def run(system):
        reduced = Reduction(system).problem
        for claim, own in zip(system.properties, reduced.properties, strict=True):
            smaller = replace(reduced, inputs=tuple(dict.fromkeys([*reduced.inputs, *system.inputs])))
            assert Explicit(system).shortest_violation(claim) == Explicit(smaller).shortest_violation(own)

    run()


# Certificates: what brute force over all states calls invalid is rejected.


def is_proof(system, claim, certificate):
    """The conditions of an inductive certificate, by enumerating states."""
    explicit = Explicit(system)
    claims = [Claim(f"i{n}", t, None) for n, t in enumerate(certificate.invariants)]
    probe = replace(system, properties=(claim, *claims))
    explicit.system = probe
    holds = {}

    def good(values):
        return all(values[t] for t in certificate.invariants)

    import itertools

    from finite import domain

    states = list(itertools.product(*map(domain, explicit.state)))
    for state in states:
        holds[state] = [(good(values), values[claim.term], after) for values, after in explicit.moves(state)]
    if any(j and not p for moves in holds.values() for j, p, _ in moves):
        return False
    frontier = {explicit.initial}
    for _ in range(certificate.k):
        if any(not j for s in frontier for j, _, _ in holds[s]):
            return False
        frontier = {after for s in frontier for _, _, after in holds[s]}
    after_k = set(states)
    for _ in range(certificate.k):
        after_k = {after for s in after_k for j, _, after in holds[s] if j}
    return all(j for s in after_k for j, _, _ in holds[s])


def closed(system):
    """With every number's range assumed, so that brute force over 0 … 4 sees all states."""
    five = constant(INT, 5)
    numbers = [s.var for s in system.state if s.var.type is INT]
    ranges = [Claim("range", term("and", term("ge", v, constant(INT, 0)), term("lt", v, five)), HERE) for v in numbers]
    return replace(system, assumptions=(*system.assumptions, *ranges))


def mutants(certificate, system):
    for i in range(len(certificate.invariants)):
        others = certificate.invariants[:i] + certificate.invariants[i + 1 :]
        yield replace(certificate, invariants=others)
        yield replace(certificate, invariants=(term("not", certificate.invariants[i]), *others))
    if certificate.k > 1:
        yield replace(certificate, k=certificate.k - 1)
    for s in system.state:
        if s.var.type is BOOL:
            yield replace(certificate, invariants=(*certificate.invariants, s.var))


def test_mutated_certificates_are_judged_as_brute_force_judges_them():
    rejected = []

    @settings(max_examples=150, **QUIET)
    @given(systems())
    def run(system):
        system = closed(system)
        found, _ = verdicts(system, ("bmc", "k-induction"), rounds=12, options={"compression": False})
        for claim in system.properties:
            if claim.name in found and isinstance(found[claim.name][1], Proved):
                certificate = found[claim.name][1].certificate
                if certificate.kind != "inductive":
                    continue
                for mutant in [certificate, *mutants(certificate, system)]:
                    valid = is_proof(system, claim, mutant)
                    assert (check(system, claim, mutant) is None) == valid, mutant
                    rejected.append(not valid)

    run()
    assert rejected.count(True) > 10 and rejected.count(False) > 10


def test_a_certificate_over_unknown_variables_is_rejected():
    x = variable("x", BOOL)
    system = TransitionSystem("s", (State(x, constant(BOOL, True), x),), (), (), (), (Claim("p", x, None),))
    stray = Certificate("inductive", 1, (x, variable("y", BOOL)))
    assert "variables" in check(system, system.properties[0], stray).why
    assert check(system, system.properties[0], Certificate("inductive", 1, (x,))) is None
    assert check(system, Claim("q", FALSE, None), Certificate("inductive", 1, (x,))).why == "implication does not hold"


# [Laurent]


def counter_system(next_of, init, claim_of, number=INT):
    x = variable("x", number)
    state, claim = State(x, constant(number, init), next_of(x)), Claim("p", claim_of(x), None)
    return TransitionSystem("s", (state,), (), (), (), (claim,))


def period_counter():
    ten, two, zero = (constant(INT, v) for v in (10, 2, 0))
    return counter_system(
        lambda x: term("mux", term("eq", x, ten), zero, term("add", x, two)),
        4,
        lambda x: term("lt", x, constant(INT, 11)),
    )


def test_period_counter_by_completeness_at_6_and_nothing_else():
    found, _ = verdicts(period_counter(), ("bmc", "completeness"))
    assert found["p"][0] == "completeness" and found["p"][1].certificate.k == 6
    for engines in (("bmc", "k-induction"), ("bmc",), ("structural",)):
        assert verdicts(period_counter(), engines, rounds=15, options={"proof": "induction"})[0] == {}


def swapping_pair():
    x, y = variable("x", INT), variable("y", INT)
    one, zero = constant(INT, 1), constant(INT, 0)
    ok = term("or", term("eq", x, zero), term("eq", x, one))
    return TransitionSystem("s", (State(x, one, y), State(y, zero, x)), (), (), (), (Claim("ok", ok, None),))


def test_swapping_pair_at_k_2_with_the_slides_counterexample_at_1():
    from streamcheck.smt.solver import Solver
    from streamcheck.smt.unroll import Chained, at

    found, _ = verdicts(swapping_pair(), ("bmc", "k-induction"))
    assert found["ok"][1].certificate.k == 2 and found["ok"][1].certificate.kind == "inductive"
    system = swapping_pair()
    chain, solver = Chained(system), Solver()
    claim = system.properties[0].term
    solver.add(*chain.equations(0), chain.image(claim, 0), term("not", chain.image(claim, 1)))
    x, y = (s.var for s in system.state)
    fixed = [term("eq", at(x, 0), constant(INT, 0)), term("eq", at(y, 0), constant(INT, 2))]
    assert solver.check(*fixed) is True
    assert solver.values([at(x, 1), at(y, 1)]) == {at(x, 1): 2, at(y, 1): 0}


def test_path_compression_is_needed_and_named():
    # x toggles between 0 and 1 while b holds; from 7 it stays at 7 until b falls, then breaks the property: a path
    # that lingers at 7 is as long as one likes, unless its states must differ.
    x, b = variable("x", INT), variable("b", BOOL)
    seven, eight, one = (constant(INT, v) for v in (7, 8, 1))
    after = term("mux", term("eq", x, seven), term("mux", b, seven, eight), term("sub", one, x))
    system = TransitionSystem(
        "s", (State(x, constant(INT, 0), after),), (b,), (), (), (Claim("p", term("ne", x, eight), None),)
    )
    found, _ = verdicts(system, ("bmc", "k-induction"), rounds=20)
    certificate = found["p"][1].certificate
    assert certificate.kind == "compressed" and check(system, system.properties[0], certificate) is None
    assert verdicts(system, ("bmc", "k-induction"), rounds=15, options={"compression": False})[0] == {}
    assert check(system, system.properties[0], replace(certificate, kind="inductive")) is not None


def test_no_run_is_a_proof():
    x = variable("x", INT)
    small = Claim("small", term("lt", x, constant(INT, 3)), HERE)
    after = term("add", x, constant(INT, 1))
    claim = Claim("p", term("ne", x, constant(INT, 7)), None)
    system = TransitionSystem("s", (State(x, constant(INT, 0), after),), (), (), (small,), (claim,))
    found, _ = verdicts(system, ("bmc",))
    assert check(system, claim, found["p"][1].certificate) is None


# Structural abstraction


def slides_definitions(claim):
    d, j, e, g = (variable(n, INT) for n in "djeg")
    zero, one, minus = constant(INT, 0), constant(INT, 1), constant(INT, -1)
    k = term("neg", j)
    h = term("add", k, one)  # i is the same term: equal definitions are one here
    f = term("mux", term("eq", h, term("add", k, one)), minus, one)
    c = term("add", term("add", e, f), one)
    b = term("mux", term("le", d, zero), zero, d)
    a = term("or", term("eq", b, zero), term("eq", c, one))
    names = {"a": a, "b": b, "c": c, "f": f, "h": h, "k": k}
    definitions = tuple(Definition(name, t) for name, t in names.items())
    state = (State(e, zero, g), State(g, zero, e))
    claims = {"a": a, "c is 0": term("eq", c, zero), "b not negative": term("ge", b, zero)}
    return TransitionSystem("slides", state, (d, j), definitions, (), (Claim("p", claims[claim], None),))


def kept_after(claim):
    (engine,) = build(["structural"])
    system = slides_definitions(claim)
    for event in engine.run(Task(system), list):
        if isinstance(event, Proved | Falsified):
            return engine.kept["p"], event, system
    return None


def test_the_slides_eleven_definitions():
    # c == 0 needs c, what c adds up (e, f, and g behind e), and not b, d, j, k: f's test is true whatever h is.
    kept, verdict, system = kept_after("c is 0")
    assert isinstance(verdict, Proved) and check(system, system.properties[0], verdict.certificate) is None
    assert {"c", "e", "f", "g"} <= kept and not kept & {"a", "b", "k"}
    kept, verdict, system = kept_after("b not negative")
    assert isinstance(verdict, Proved) and kept == {"b"}
    assert set(verdict.certificate.free) <= {"c", "e", "f", "g", "h", "k"}
    assert check(system, system.properties[0], verdict.certificate) is None
    kept, verdict, system = kept_after("a")
    assert isinstance(verdict, Falsified) and verdict.trace.length == 1 and verdict.trace.inputs[0]["d"] > 0


def irrelevant(count):
    """A level that a condition raises up to 10; the condition comes from a chain of hard definitions."""
    level, x = variable("level", W8), [variable(f"x{i}", W8) for i in range(3)]
    noise, definitions = x[0], []
    for i in range(count):
        mixed = term("bitxor", term("mul", noise, x[i % 3]), term("add", noise, constant(W8, i % 251)))
        noise = mixed
        definitions.append(Definition(f"noise{i}", noise))
    busy = term("eq", term("mod", noise, constant(W8, 7)), constant(W8, 3))
    raised = term("add", term("min", level, constant(W8, 9)), constant(W8, 1))
    after = term("mux", busy, raised, level)
    claim = Claim("p", term("le", level, constant(W8, 10)), None)
    return TransitionSystem("s", (State(level, constant(W8, 0), after),), tuple(x), tuple(definitions), (), (claim,))


def test_hundreds_of_irrelevant_definitions_are_left_free():
    system = irrelevant(300)
    found, _ = verdicts(system, ("structural",))
    certificate = found["p"][1].certificate
    assert len(certificate.free) >= 1 and check(system, system.properties[0], certificate) is None
    assert check(system, system.properties[0], replace(certificate, free=("level",))) is not None


def test_what_is_shown_early_strengthens_what_needs_more_steps():
    # a stays 0 (k = 1). b takes 5 and then c, one step later each, from a: b <= 4 needs a's zero and three steps.
    zero = constant(INT, 0)
    a, b, c, d = (variable(n, INT) for n in "abcd")
    state = (State(a, zero, a), State(b, zero, a), State(c, zero, b), State(d, zero, c))
    init = variable("free start", INT)
    claims = (Claim("a is 0", term("eq", a, zero), None), Claim("d is small", term("le", d, constant(INT, 4)), None))
    system = TransitionSystem("s", (*state, State(init, None, init)), (), (), (), claims)
    found, _ = verdicts(system, ("bmc", "k-induction"), options={"compression": False})
    assert {name: v.certificate.k for name, (_, v) in found.items()} == {"a is 0": 1, "d is small": 3}
    for claim in claims:
        assert check(system, claim, found[claim.name][1].certificate) is None
    alone = replace(system, properties=claims[1:])
    found, _ = verdicts(alone, ("bmc", "k-induction"), options={"compression": False})
    assert found["d is small"][1].certificate.k == 4


def modelled(*definitions):
    spec = Spec("s")
    for name, stream_ in definitions:
        spec.prop(name, stream_)
    claims = flatten(spec)
    return claims, views(claims)[0]


def test_deep_violations_behind_a_history_are_found_and_replay():
    x, y = extern("x", Bool), extern("y", Int)
    small = stream(Bool, lambda small: [True] + +(small & (y <= 3)))
    run = stream(Int, lambda run: [0] + +mux(x, run + 1, 0))
    claims, model = modelled(("short", implies(small, run < 150)), ("never", implies(run > 20, ~small)))
    found, _ = verdicts(model.system, ("bmc",), rounds=200)
    assert {name: v.trace.length for name, (_, v) in found.items()} == {"short": 151, "never": 22}
    for name, (_, verdict) in found.items():
        assert not isinstance(replay(claims, claim_named(claims, name), verdict.trace), str)


def test_a_long_period_is_seen_whole_though_not_every_depth_is_tested():
    t = stream(Int, lambda t: [0] + +mux(t == 49, 0, t + 1))
    claims, model = modelled(("small", t * t < 2500))
    found, _ = verdicts(model.system, ("bmc", "completeness"), rounds=200)
    _, proved = found["small"]
    assert proved.certificate.kind == "complete" and 50 <= proved.certificate.k <= 54
    assert Checker(claims).check("small", model.back(proved.certificate)) is None


def test_violations_of_random_runs_are_cut_down():
    """To one step if the property has no state, to as many presses as a counter needs, and to the simplest inputs."""
    a, b, c = (extern(n, Float) for n in "abc")
    go, byte = extern("go", Bool), extern("byte", Word8)
    spec = Spec("noisy")
    pressed = stream(Word16, lambda t: [0] + +mux(go, t + 1, t))
    spec.prop("associative", ((a + b) + c) == (a + (b + c)))
    spec.prop("pressed", pressed < 30)
    spec.prop("odd", byte != 7)
    (model,) = [m for m in views(flatten(spec)) if m.model == "bits"]
    said, _ = verdicts(model.system, ("simulation",), rounds=1000)
    found = {name: verdict for name, (_, verdict) in said.items()}
    lengths = {name: verdict.trace.length for name, verdict in found.items()}
    assert lengths == {"associative": 1, "pressed": 31, "odd": 1}
    (row,) = found["odd"].trace.inputs
    assert row == {"byte": 7}
    assert [step["go"] for step in found["pressed"].trace.inputs] == [True] * 30 + [False]


def test_a_timer_that_runs_out_late_is_found_by_a_long_run():
    press, heat = extern("press", Bool), extern("heat", Int)
    left = stream(Int, lambda left: [700] + +mux(press, 700, mux(left > 0, left - 1, 0)))
    spec = Spec("timer")
    spec.prop("in time", left > 0)
    spec.assume("warm", heat > 100)
    claims = flatten(spec)
    model = views(claims)[0]
    found, events = verdicts(model.system, ("simulation",), rounds=1000)
    assert found.keys() == {"in time"} and found["in time"][1].trace.length == 701
    assert not isinstance(replay(claims, claim_named(claims, "in time"), found["in time"][1].trace), str)
    lengths = [e.trace.length for _, e in events if isinstance(e, Falsified)]
    assert lengths == sorted(set(lengths), reverse=True)  # each shorter than the one before
    again, _ = verdicts(model.system, ("simulation",), rounds=1000)
    assert again == found


@pytest.mark.parametrize("type_", [Float, Double, Word8, Int16, Real])
def test_long_runs_take_values_of_the_inputs_types(type_):
    a, b = extern("a", type_), extern("b", type_)
    spec = Spec("s")
    spec.prop("equal", a == b)
    claims = flatten(spec)
    for model in views(claims):
        found, _ = verdicts(model.system, ("simulation",), rounds=50)
        assert not isinstance(replay(claims, claim_named(claims, "equal"), found["equal"][1].trace), str)
