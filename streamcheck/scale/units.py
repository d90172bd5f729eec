"""A unit of work as a message, and its answer: plain values, sealed, so that one that was cut is found.

    problem   {"system": …, "program": …, "predicates": …}: of a spec in one integer model, the same for all its units
    unit      {"format": …, "key": …, "engines": […], "options": …, "claims": […], "patience": …, "known": [fact, …],
               "new": [fact, …], "facts": the number of all, "leave": […], "budget": seconds, "memory": bytes}
    answer    {"format": …, "key": …, "rows": [event, …], "state": …, "spent": seconds, "heard": facts}

Specs travel as equations: a worker runs none of the user's code. The state is `open` (the budget is used), `idle` (all
engines wait for facts), `ended` (nothing is left to try), `failed` or `refused`, the last two with the reason in
`why`. A sealed message is the digest of what follows, and JSON, compressed.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from math import inf
from typing import Any, Generic, TypeVar, assert_never

from streamcheck import __version__
from streamcheck.core.term import Term, variables
from streamcheck.core.wire import TermReader, TermWriter
from streamcheck.engines.options import Options
from streamcheck.engines.protocol import Fact, Invariants, Settled, Task, TrueUpTo
from streamcheck.problem.automaton_json import automaton_from_plain, automaton_to_plain
from streamcheck.problem.system_json import system_from_plain, system_to_plain
from streamcheck.problem.transition import TransitionSystem
from streamcheck.problem.verdict import Falsified, Proved

FORMAT = f"streamcheck {__version__} units 2"
ABOUT_CLAIMS = {"proved", "falsified", "falsified along", "unknown", "true up to"}  # events that name one
DIGEST = 16  # bytes
LARGEST = 1 << 31  # bytes of an opened message


class Damaged(ValueError):
    """The message was cut, or is none."""


T = TypeVar("T")
MOST_PROBLEMS = 8  # that a host keeps


class Recent(Generic[T]):
    """The values that were used last, by key. A host and the worker that talks to it each have one, used in the same
    order, so that the worker knows which problems the host still has."""

    def __init__(self) -> None:
        self._values: dict[str, T | None] = {}

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def get(self, key: str) -> T | None:
        return self._values.get(key)

    def use(self, key: str, value: T | None) -> None:
        self._values.pop(key, None)
        self._values[key] = value
        if len(self._values) > MOST_PROBLEMS:
            del self._values[next(iter(self._values))]


def seal(value: Any) -> bytes:
    data = zlib.compress(json.dumps(value, separators=(",", ":")).encode(), 1)
    return digest_of(data) + data


def open_sealed(data: bytes) -> Any:
    """The value in a message. Damaged if it is not whole."""
    seal_of, content = data[:DIGEST], data[DIGEST:]
    if digest_of(content) != seal_of:
        raise Damaged("a message was cut or changed on its way")
    try:
        reader = zlib.decompressobj()
        text = reader.decompress(content, LARGEST)
        return json.loads(text)
    except (zlib.error, ValueError, RecursionError) as why:
        raise Damaged(f"a message is no record: {why}") from None


def digest_of(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=DIGEST).digest()


def problem_message(task: Task) -> bytes:
    """The problem that the units of a lane share."""
    row: dict[str, Any] = {"system": system_to_plain(task.system)}
    if task.program is not None or task.predicates:
        w = TermWriter()
        program = None if task.program is None else automaton_to_plain(task.program, w)
        predicates = [w.term(p) for p in task.predicates]
        row |= {"program": program, "predicates": predicates, "types": w.types, "terms": w.terms}
    return seal(row)


def task_of(problem: Mapping[str, Any], claims: Iterable[str], patience: int | None) -> Task:
    """The task of a unit: the problem, with these claims."""
    from dataclasses import replace

    system, wanted = system_from_plain(problem["system"]), set(claims)
    system = replace(system, properties=tuple(p for p in system.properties if p.name in wanted))
    if "terms" not in problem:
        return Task(system, patience)
    r = TermReader(problem["types"], problem["terms"])
    program = None if problem["program"] is None else automaton_from_plain(problem["program"], r)
    return Task(system, patience, program, tuple(r.terms[i] for i in problem["predicates"]))


def options_to_plain(options: Mapping[str, Options], engines: Sequence[str]) -> dict[str, dict[str, Any]]:
    return {name: asdict(options[name]) for name in engines if name in options}


def answer_of(data: bytes) -> dict[str, Any]:
    """The answer in a message. Damaged if it is none."""
    match open_sealed(data):
        case {
            "format": str(),
            "key": str(),
            "rows": [*rows],
            "state": "open" | "idle" | "ended" | "failed" | "refused",
            "spent": int(spent) | float(spent),
            "heard": int(heard),
            "why": str(),
        } as row if 0 <= spent < inf and heard >= 0 and all(map(_is_event, rows)):
            return dict(row)
    raise Damaged("a message is no answer")


def _is_event(row: object) -> bool:
    """True if it has a form, and names a property if it needs one; the director looks at the rest."""
    return isinstance(row, dict) and (isinstance(row.get("prop"), str) or ABOUT_CLAIMS.isdisjoint(row))


def compact(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The events without those that a later one makes superfluous: how far an engine is, and a property holds."""
    last: dict[tuple[str, str, str], dict[str, Any]] = {}
    kept: list[dict[str, Any]] = []
    for row in rows:
        match row:
            case {"engine": str(engine), "depth": _}:
                last["depth", engine, ""] = dict(row)
            case {"engine": str(engine), "true up to": int(), "prop": str(prop)}:
                last["true", engine, prop] = dict(row)
            case _:
                kept.append(dict(row))
    return [*last.values(), *kept]


def usable(facts: Iterable[Fact], system: TransitionSystem, claims: Iterable[str]) -> Iterator[Fact]:
    """The facts that work on these claims of a system can use: those about its variables, and about the claims."""
    own, known = set(claims), {*system.inputs, *(s.var for s in system.state)}
    for fact in facts:
        match fact:
            case TrueUpTo() | Settled() | Falsified():
                is_of_use = fact.prop in own
            case Proved():
                is_of_use = fact.prop in own or known.issuperset(_variables(fact.certificate.invariants))
            case Invariants():
                is_of_use = not known.isdisjoint(_variables(fact.certificate.invariants))
            case _:
                assert_never(fact)
        if is_of_use:
            yield fact


def _variables(terms: Sequence[Term]) -> set[Term]:
    return set(variables(terms))
