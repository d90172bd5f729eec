"""The needs of each property of a specification, and its cuts, within a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import permutations
from typing import Literal, TypeAlias

from streamcheck.core.errors import SpecError
from streamcheck.core.likeness import mean_or_choose
from streamcheck.core.simplify import conjunction
from streamcheck.problem.claim import Claim, OfContract
from streamcheck.problem.needs import AllNeeds, Core, Element, Needs
from streamcheck.problem.result import Result
from streamcheck.problem.specification import Specification
from streamcheck.problem.verdict import Certificate
from streamcheck.run.cores import CoreQuestions, Enumeration
from streamcheck.run.prove import Settings, about_steps_only, prove
from streamcheck.transform.weaken import elements_of, equations_alone

PROOFS = 0.5  # the share of the time for deciding the properties
MOST_COMPARED = 6  # cores of assumptions: each with each other
COMPARISON = 2.0  # seconds, at most
Over: TypeAlias = Literal["all", "equations", "assumptions"]
Wish: TypeAlias = Literal["one", "minimal", "all", "cuts"]


@dataclass(frozen=True, slots=True)
class Wishes:
    """`one` core, a `minimal` one, `all` minimal cores and cuts, or the minimal `cuts` of at most `most` elements; over
    the elements of these kinds and names: the others are kept."""

    wish: Wish = "one"
    over: Over = "all"
    only: Sequence[str] = ()
    most: int | None = None


def nobody(_: Needs) -> None: ...


def needs_of(
    specification: Specification, settings: Settings, wishes: Wishes, hear: Callable[[Needs], None] = nobody
) -> AllNeeds:
    """The needs of the chosen properties (if none is named, of those that the spec states, else of what contracts
    promise). `hear` gets them one by one."""
    began = time.monotonic()
    deadline = began + settings.timeout
    specification = about_steps_only(specification, settings.props, "what a property needs")
    specification = equations_alone(specification)
    elements = chosen_elements(specification, wishes)
    if not settings.props:
        stated = [p for p in specification.properties if not p.is_implied]
        own = [p for p in stated if not isinstance(p.origin, OfContract) or not p.origin.instance]
        written = tuple(p.name for p in own or stated)
        if not written:
            raise SpecError(
                f"{specification.name} has no property about steps of its own; --prop chooses an implied one"
            )
        settings = replace(settings, props=written)
    verdicts = prove(specification, replace(settings, timeout=settings.timeout * PROOFS, promised=settings.timeout))
    found: list[Needs] = []
    for i, result in enumerate(verdicts.results):
        share = (deadline - time.monotonic()) / (len(verdicts.results) - i)
        needs = _needs(specification, result, elements, replace(settings, cache=None), time.monotonic() + share, wishes)
        hear(needs)
        found.append(needs)
    return AllNeeds(specification, elements, tuple(found), time.monotonic() - began)


def chosen_elements(specification: Specification, wishes: Wishes) -> tuple[Element, ...]:
    """The elements of the wanted kinds and names."""
    every = elements_of(specification)
    of_kind = [e for e in every if wishes.over == "all" or (e.kind == "assumption") == (wishes.over == "assumptions")]
    for pattern in wishes.only:
        if not any(_fits(e, pattern) for e in of_kind):
            names = [name for e in of_kind for name in e.names]
            others = mean_or_choose(pattern, names, "it has") if names else ", it has none"
            raise SpecError(f'{specification.name} has no equation or assumption named "{pattern}"{others}')
    return tuple(e for e in of_kind if not wishes.only or any(_fits(e, pattern) for pattern in wishes.only))


def _fits(element: Element, pattern: str) -> bool:
    return any(name == pattern or fnmatchcase(name, pattern) for name in element.names)


def _needs(
    specification: Specification,
    result: Result,
    elements: Sequence[Element],
    settings: Settings,
    deadline: float,
    wishes: Wishes,
) -> Needs:
    if not isinstance(result.proof, Certificate):
        return Needs(result.prop, result.verdict, result.reason or _why_none(result))
    questions = CoreQuestions(specification, result.prop, elements, result.proof, settings, deadline)
    core = questions.first_core()
    if core is None:
        return Needs(result.prop, result.verdict, "no core was found in the time")
    if wishes.wish in ("minimal", "all"):
        core = questions.minimal(core)
    if wishes.wish in ("one", "minimal"):
        return Needs(result.prop, result.verdict, cores=(core,), open=len(questions.open))
    search = Enumeration(questions, [], [core])
    search.run(most=wishes.most)
    cores = tuple(search.cores)
    weaker = tuple(_weaker(specification, elements, cores, settings, deadline)) if search.complete else ()
    return Needs(
        result.prop,
        result.verdict,
        "",
        cores,
        tuple(search.cuts),
        search.complete,
        search.all_cuts,
        len(questions.open),
        weaker,
    )


def _weaker(
    specification: Specification,
    elements: Sequence[Element],
    cores: Sequence[Core],
    settings: Settings,
    deadline: float,
) -> Iterator[tuple[int, int]]:
    """Pairs of cores of assumptions, of which the first follows from the second, as far as the time goes."""
    if len(cores) > MOST_COMPARED or any(e.kind != "assumption" for e in elements):
        return
    chosen = {t for e in elements for t in e.terms}
    follows: dict[tuple[int, int], bool | None] = {}
    for i, j in permutations(range(len(cores)), 2):
        seconds = min(COMPARISON, deadline - time.monotonic())
        if seconds > 0:
            due = Claim("follows", conjunction(*(t for e in cores[i].elements for t in e.terms)))
            stronger = {t for e in cores[j].elements for t in e.terms}
            kept = tuple(a for a in specification.assumptions if a.term not in chosen or a.term in stronger)
            given = replace(specification, properties=(due,), assumptions=kept)
            (result,) = prove(given, replace(settings, timeout=seconds, props=())).results
            follows[i, j] = {"proved": True, "falsified": False}.get(result.verdict)
    yield from ((i, j) for i, j in follows if follows[i, j] is True and follows.get((j, i)) is False)


def _why_none(result: Result) -> str:
    return "a run reaches it: there is nothing to prove" if result.verdict == "proved" else "a run breaks it"
