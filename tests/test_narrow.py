"""Properties that depend on little of a system: narrow parts, and parts that are alike."""

from __future__ import annotations

from dataclasses import replace

from streamcheck import Bool, Int, Spec, extern, mux, stream
from streamcheck.certify.check import Checker
from streamcheck.engines.protocol import Progress, Settled, Task
from streamcheck.lang.flatten import flatten
from streamcheck.problem.verdict import Proved
from streamcheck.run import workers
from streamcheck.run.registry import build
from streamcheck.transform.alike import alike
from streamcheck.transform.reduce import clusters, narrow_parts
from streamcheck.transform.views import views


def lifts(*tops):
    """Lifts of so many floors each, and a property of all of them, which makes them one cluster."""
    spec, floors = Spec("lifts"), []
    for i, top in enumerate(tops):
        up, late = extern(f"up{i}", Bool), stream(Int, lambda late: [0] + +(late + 1))
        floor = stream(Int, lambda n, up=up, top=top: [0] + +mux(up & (n < top), n + 1, mux(n > 0, n - 1, n)))
        spec.prop(f"top {i}", (floor <= top) | (late < 0))
        floors.append(floor)
    spec.prop("all", sum(floors[1:], floors[0]) <= sum(tops))
    spec.assume("rarely all at the top", sum(floors[1:], floors[0]) < sum(tops))
    return flatten(spec)


def names(system):
    return [p.name for p in system.properties]


def test_a_narrow_part_has_neither_the_other_state_nor_assumptions_about_it():
    (system,) = clusters(views(lifts(3, 3, 5, 3))[0].system)
    parts = narrow_parts(system)
    assert sorted(map(names, parts)) == [["top 0"], ["top 1"], ["top 2"], ["top 3"]]
    assert all(2 * len(part.state) <= len(system.state) and not part.assumptions for part in parts)


def test_a_property_that_depends_on_most_of_the_state_has_no_narrow_part():
    system = views(lifts(3, 3))[0].system
    assert "all" in names(system) and not any("all" in names(part) for part in narrow_parts(system))
    (alone,) = (replace(system, properties=(p,)) for p in system.properties if p.name == "all")
    assert narrow_parts(alone) == []


def test_parts_are_alike_if_they_differ_in_names_alone():
    parts = narrow_parts(views(lifts(3, 3, 5, 3))[0].system)
    kinds = {tuple(names(first)): [dict(c.properties) for c in copies] for first, copies in alike(parts)}
    assert kinds == {("top 0",): [{"top 0": "top 1"}, {"top 0": "top 3"}], ("top 2",): []}


def test_what_is_found_for_one_is_proved_of_all_that_are_alike():
    problem = lifts(3, 3, 5, 3)
    view = views(problem)[0]
    turns = workers.Turns(lambda: build(["templates"]), Task(view.system))
    proved = {}
    while turns.running and len(proved) < 5:
        turns.round(lambda engine, e: proved.setdefault(e.prop, e.certificate) if isinstance(e, Proved) else None)
    assert proved.keys() >= {"top 0", "top 1", "top 2", "top 3"}
    checker = Checker(problem)
    assert all(checker.check(name, view.back(certificate)) is None for name, certificate in proved.items())
    assert checker.check("top 1", view.back(proved["top 0"])) is not None  # it is of its own variables


def test_a_property_is_left_when_it_is_decided_of_all_that_are_alike():
    (first, copies), *_ = alike(narrow_parts(views(lifts(3, 3, 3))[0].system))
    heard = []

    class Listening:
        name = "templates"

        def run(self, problem, inbox):
            while True:
                heard.append(inbox())
                yield Progress(0)

    box = []

    def inbox():
        facts = list(box)
        box.clear()
        return facts

    events = workers.ForCopies(Listening(), copies).run(Task(first), inbox)
    for name in ("top 0", "top 2", "top 1"):
        box.append(Settled(name))
        next(events)
    assert heard == [[], [], [Settled("top 0")]]
