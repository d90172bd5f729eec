"""Many specs, one pool: easy ones first, fair shares, each verdict in the journal as it falls.

Each spec has turns (`scale.foreman`), of which several run side by side, and the policy says whose turn is next and how
long it is: a file that nobody has read yet, or a spec with open properties. A spec has `timeout` seconds in all; if
there is a deadline, its end is the end of every turn. A file that cannot be read, or whose process dies, is an error of
that file; the others go on.
"""

from __future__ import annotations

import base64
import math
import select
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from streamcheck.run.child import Child, Ended, Forged
from streamcheck.run.stop import Stopped
from streamcheck.scale.broker import Broker, Wanted
from streamcheck.scale.foreman import ProofWay, Turn, take_turn
from streamcheck.scale.journal import DECIDED, Journal, source_of
from streamcheck.scale.policy import Budgets, Candidate, Policy

BUDGETS = Budgets(first=2.0, growth=4.0, most=4 * 3600.0)
FAR_BUDGETS = Budgets(first=30.0, growth=4.0, most=4 * 3600.0)  # of turns that wait for workers elsewhere
NEW = 4  # properties that a file has that nobody has read, more or less
BESIDE = 2  # processors that a turn uses: the engines' and the checker's
MOST_TURNS = 32  # side by side
LATE = 20.0  # seconds after which a turn that does not end is ended
UNFINISHED = "the run that decided it was ended before its warnings; a suite from the beginning shows them"


@dataclass(eq=False, slots=True)
class SpecState:
    """The state of a spec."""

    file: str
    name: str
    source: str
    properties: list[str]
    problem: bytes | None = None  # None: it has to be read again
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)  # the last one by property
    warnings: dict[str, None] = field(default_factory=dict)
    alarms: dict[str, None] = field(default_factory=dict)
    status: int = 3
    seconds: float = 0.0
    error: str = ""

    @property
    def title(self) -> str:
        return f"{self.file.partition('::')[0]}::{self.name}"

    @property
    def verdicts(self) -> dict[str, str]:
        return {name: row["verdict"] for name, row in self.rows.items() if row["verdict"] in DECIDED}

    @property
    def open(self) -> list[str]:
        return [p for p in self.properties if p not in self.verdicts]


@dataclass(eq=False, slots=True)
class Running:
    """A turn that goes on: of a file, or of one of its specs."""

    key: str
    turn: Turn
    child: Child
    began: float
    specs: list[SpecState]
    problems: dict[str, bytes] = field(default_factory=dict)  # of its units, by digest
    units: set[str] = field(default_factory=set)
    fallen: int = 0  # verdicts


@dataclass(slots=True)
class Suite:
    """`ways` has, for each target, how it is read and proved. `show` is told of what is new."""

    targets: Sequence[str]
    ways: Callable[[str], ProofWay]
    jobs: int
    journal: Journal
    timeout: float = math.inf  # seconds for each spec
    deadline: float = math.inf  # seconds for all
    broker: Broker | None = None
    show: Callable[[str, SpecState | str], None] = lambda _, __: None
    policy: Policy = field(init=False)
    specs: dict[str, SpecState] = field(default_factory=dict)  # by title
    errors: dict[str, str] = field(default_factory=dict)  # by target
    stopped: Stopped | None = None
    _running: list[Running] = field(default_factory=list)
    _began: float = field(default_factory=time.monotonic)
    _of_file: dict[str, list[str]] = field(default_factory=dict)  # titles, by target

    def __post_init__(self) -> None:
        self.policy = Policy(BUDGETS if self.broker is None else FAR_BUDGETS)

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self._began

    def run(self) -> None:
        """Decide what can be decided."""
        try:
            self._begin()
            while self._running or (self.elapsed < self.deadline and len(self.policy)):
                self._start_turns()
                if not self._running:
                    return
                self._listen()
        except Stopped as stopped:
            self.stopped = stopped
        finally:
            for running in self._running:
                running.child.kill()
            for running in self._running:
                running.child.end()

    # Turns

    def _begin(self) -> None:
        known = _states_in(self.journal.rows)
        for target in self.targets:
            source = source_of(target.partition("::")[0], _question_of(self.ways(target)))
            states = known.get((target, source))
            if states is None:
                self.policy.add(Candidate(target, target, _kind(target), NEW))
                continue
            self._of_file[target] = [s.title for s in states]
            for state in states:
                self.specs[state.title] = state
                self.show("resumed", state)
            if any(state.open for state in states):
                self.policy.add(Candidate(target, target, _kind(target), NEW))  # its equations are read again

    def _start_turns(self) -> None:
        room = max(1, self.jobs // BESIDE) if self.broker is None else min(MOST_TURNS, max(8, self.broker.places))
        while len(self._running) < room:
            chosen = self.policy.next(self.deadline - self.elapsed)
            if chosen is None:
                return
            candidate, budget = chosen
            budget = min(budget, self.timeout - candidate.spent)
            if budget <= 0.01:
                self.policy.remove(candidate.key)
                continue
            self._start(candidate.key, budget)

    def _start(self, key: str, budget: float) -> None:
        state = self.specs.get(key)
        target, way = (state.file, self.ways(state.file)) if state else (key, self.ways(key))
        problem = state.problem if state else None
        states = [state] if state else [self.specs[title] for title in self._of_file.get(key, ())]
        decided = {s.name: s.verdicts for s in states if s.verdicts}
        turn = Turn(target, way, budget, problem, decided, self.broker is not None)
        child = Child(lambda channel: take_turn(turn, channel))
        self._running.append(Running(key, turn, child, self.elapsed, [state] if state else []))

    def _listen(self) -> None:
        sources = {r.child.channel.read: r for r in self._running}
        broker = [self.broker.read] if self.broker else []
        unsent = {r.child.channel.write: r for r in self._running if r.child.channel.unsent}
        ready, room, _ = select.select([*sources, *broker], list(unsent), [], 0.1)
        for fd in room:
            unsent[fd].child.channel.flush()
        for fd in ready:
            if fd in sources:
                self._drain(sources[fd])
        if self.broker:
            for key, answer in self.broker.pump():
                for running in self._running:
                    if key in running.units:
                        running.child.channel.post({"key": key, "answer": answer})
        for running in [r for r in self._running if self.elapsed - r.began > _longest(r) + LATE]:
            self._end(running, "its process did not end in time")

    def _drain(self, running: Running) -> None:
        try:
            records = running.child.channel.available()
        except Ended:
            how = running.child.end(silent=True)
            self._end(running, "" if how in ("", "ended with status 0") else f"its process died ({how})")
            return
        except Forged:
            self._end(running, "its process wrote no record")
            return
        running.child.channel.logged.clear()
        for record in records:
            self._take(running, record)

    def _take(self, running: Running, record: Mapping[str, Any]) -> None:
        match record:
            case {"specs": [*rows]}:
                self._add_specs(running, rows)
            case {"verdict": row, "spec": str(name)}:
                self._add_verdict(running, self._spec(running, name), row)
            case {"done": row, "status": int(status)}:
                self._finish(running, self._spec(running, row["spec"]), row, status)
            case {"error": str(why), **rest}:
                self._fail(running, why, rest.get("spec"))
            case {"alarm": str(why), "spec": str(name)}:
                state = self._spec(running, name)
                state.alarms[why], state.status = None, 4
                self.journal.add({"event": "alarm", "file": state.file, "source": state.source, "spec": name,
                                  "alarm": why})  # fmt: skip
                self.show("alarm", state)
            case {"want": row} if self.broker is not None:
                self._want(self.broker, running, row)
            case {"drop": str(key)} if self.broker is not None:
                running.units.discard(key)
                self.broker.drop(key)

    def _want(self, broker: Broker, running: Running, row: dict[str, Any]) -> None:
        if "new" in row:
            running.problems[row["problem"]] = base64.b64decode(row.pop("new"))
        running.units.add(row["key"])
        broker.want(Wanted(**{**row, "problem": running.problems[row["problem"]]}))

    def _spec(self, running: Running, name: str) -> SpecState:
        return next(state for state in running.specs if state.name == name)

    def _add_specs(self, running: Running, rows: Sequence[Mapping[str, Any]]) -> None:
        target = running.turn.target
        path = target.partition("::")[0]
        source = source_of(path, _question_of(running.turn.way))
        is_new = False
        for row in rows:
            title = f"{path}::{row['spec']}"
            state = self.specs.get(title)
            if state is None or state.source != source or state.properties != row["properties"]:
                is_new = True
                state = self.specs[title] = SpecState(target, row["spec"], source, list(row["properties"]))
            state.problem = base64.b64decode(row["problem"])
            running.specs.append(state)
        if is_new:  # in one line: a file is known wholly or not at all
            specs = {row["spec"]: row["properties"] for row in rows}
            self.journal.add({"event": "specs", "file": target, "source": source, "specs": specs})

    def _add_verdict(self, running: Running, state: SpecState, row: dict[str, Any]) -> None:
        name = str(row["name"])
        if name in state.verdicts:
            return
        state.rows[name] = row
        running.fallen += 1
        self.journal.add({"event": "verdict", "file": state.file, "source": state.source, "spec": state.name,
                          "property": row})  # fmt: skip
        self.show("verdict", state)

    def _finish(self, running: Running, state: SpecState, row: dict[str, Any], status: int) -> None:
        state.seconds += row["seconds"]
        state.warnings |= dict.fromkeys(row["warnings"])
        state.alarms |= dict.fromkeys(row["alarms"])
        for result in row["properties"]:
            if result["verdict"] in DECIDED:
                known = state.rows.get(result["name"])
                if known is not None and known["verdict"] in DECIDED:
                    state.rows[result["name"]] = {**known, "certificate": result.get("certificate")}
                else:
                    self._add_verdict(running, state, result)
            elif result["name"] not in state.verdicts:
                state.rows[result["name"]] = result
        state.status = 4 if state.alarms else _status(state, status)
        self.journal.add({"event": "turn", "file": state.file, "source": state.source, "spec": state.name,
                          "warnings": row["warnings"], "alarms": row["alarms"], "status": state.status,
                          "seconds": row["seconds"]})  # fmt: skip
        self.show("turn", state)

    def _fail(self, running: Running, why: str, name: object) -> None:
        state = next((s for s in running.specs if s.name == name), None)
        if state is None:
            self.errors[running.turn.target] = why
        else:
            state.error = why
        self.journal.add({"event": "error", "file": running.turn.target, "error": why, "spec": name})
        self.show("error", state or f"{running.turn.target}: {why}")

    def _end(self, running: Running, why: str) -> None:
        """The turn is over; its specs that are open wait for the next one."""
        self._running.remove(running)
        running.child.end()
        spent = self.elapsed - running.began
        for key in running.units:
            assert self.broker is not None
            self.broker.drop(key)
        if why:
            self._fail(running, why, running.specs[0].name if len(running.specs) == 1 else None)
        self.policy.came_back(running.key, spent, running.fallen)
        if running.key in self.specs:
            state = self.specs[running.key]
            if state.open and not why and not state.error:
                self.policy.wait(running.key, len(state.open))
            else:
                self.policy.remove(running.key)
            return
        self.policy.remove(running.key)
        self._of_file[running.key] = [s.title for s in running.specs]
        for state in running.specs:
            if state.open and not why and not state.error:
                target = state.file
                first = Candidate(state.title, target, _kind(target), len(state.open), spent=spent, turns=1)
                self.policy.add(first)


def _kind(target: str) -> str:
    return target.partition("::")[0].rpartition(".")[2]


def _longest(running: Running) -> float:
    """The seconds that its turn may take: a file may have several specs, and has to be read."""
    return 60 + max(1, len(running.specs)) * (running.turn.seconds * 1.5 + 5)


def _status(state: SpecState, last: int) -> int:
    """The exit status of `prove` for the spec, with the verdicts of all its turns."""
    verdicts = {row["verdict"] for row in state.rows.values()}
    if last == 2 and "falsified" not in verdicts:
        return 2
    return 1 if "falsified" in verdicts else 3 if state.open else 5 if "bounded" in verdicts else 0


def _question_of(way: ProofWay) -> dict[str, Any]:
    """The question to a file, as far as verdicts depend on it."""
    settings = way.settings
    return {
        "props": list(settings.props),
        "bound": settings.bound,
        "blocks": settings.blocks,
        "strict": settings.strict,
        "reading": [way.reading.integers, list(way.reading.expressions)],
        "compositional": way.compositional,
        "reachable": way.reachable,
    }


def _states_in(rows: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], list[SpecState]]:
    """The specs of a journal, by their targets and sources."""
    found: dict[tuple[str, str], list[SpecState]] = {}
    unfinished: dict[str, SpecState] = {}  # by title: a verdict has fallen, and its turn is not over
    for row in rows:
        if row["event"] == "specs":
            specs = row["specs"].items()
            found[row["file"], row["source"]] = [SpecState(row["file"], n, row["source"], ps) for n, ps in specs]
        elif row["event"] in ("verdict", "turn", "alarm"):
            for state in _states_of(found, row):
                _take_event(state, row)
                if row["event"] == "turn":
                    unfinished.pop(state.title, None)
                else:
                    unfinished[state.title] = state
    for state in unfinished.values():
        state.status = 4 if state.alarms else _status(state, state.status)
        state.warnings[UNFINISHED] = None
    return found


def _take_event(state: SpecState, row: Mapping[str, Any]) -> None:
    match row["event"]:
        case "verdict":
            state.rows[row["property"]["name"]] = dict(row["property"])
        case "alarm":
            state.alarms[row["alarm"]] = None
        case _:
            state.warnings |= dict.fromkeys(row["warnings"])
            state.alarms |= dict.fromkeys(row["alarms"])
            state.seconds += row["seconds"]
            state.status = row["status"]


def _states_of(found: Mapping[tuple[str, str], list[SpecState]], row: Mapping[str, Any]) -> Iterator[SpecState]:
    return (s for s in found.get((row["file"], row["source"]), ()) if s.name == row["spec"])
