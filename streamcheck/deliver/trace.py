"""The trace of a compilation as JSON: which line of the C comes from which stream and line of the spec, which
properties cover it, how each was proved, and the hashes of all files.

A property covers a statement if its verdict depends on the stream that the statement computes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from streamcheck import __version__
from streamcheck.codegen.unit import Unit
from streamcheck.core.location import Location
from streamcheck.core.term import Term
from streamcheck.problem.places import Place
from streamcheck.problem.result import Result, Verdicts
from streamcheck.problem.specification import Specification
from streamcheck.validate.bisimulation import Outcome

FORMAT = "streamcheck trace 1"
NAME = re.compile(r"[A-Za-z_]\w*")
LOCAL = re.compile(r"(?:const )?(?:struct )?\w+ (\w+)(?:\[\d+\])*(?: SC_TABLE)?(?: =|;)")
ASSIGNED = re.compile(
    r"(?:\(void\)mem(?:cpy|set)\(|\+\+)?(\w+)(?:[.\[][^=,]*)?(?: [-+&|^]?= |, )"
)  # a local, or a variable of the file
FUNCTION = re.compile(r"[\w ]+ \**(\w+)\([^;]*$")
CODE_LINE = re.compile(r"(?!/\*|#|\}|\{|return;|\(void\)\w+;).*[;{]$")


@dataclass(frozen=True, slots=True)
class TracedStream:
    """Something that the user named: a stream, an extern, a trigger or an observer."""

    name: str
    kind: str
    where: Location | None
    terms: tuple[Term, ...]  # a property whose cone has one of them covers it


@dataclass(slots=True)
class TracedLine:
    number: int
    text: str
    streams: dict[str, None] = field(default_factory=dict)  # keys of streams
    function: str = ""
    defines: str = ""  # a local variable
    reads: frozenset[str] = frozenset()
    inside: list[TracedLine] = field(default_factory=list)  # of a block that this line opens


def trace(
    unit: Unit,
    verdicts: Verdicts,
    outcome: Outcome | None,
    files: Mapping[str, str],
    certificates: Mapping[str, tuple[str, str]],
) -> dict[str, Any]:
    """The trace. `files`: all that were written; `certificates`: name and text of the one for each property."""
    problem = verdicts.problem
    assert isinstance(problem, Specification)
    streams = named_streams(unit.code.specification, unit.code.places)
    cones = {r.name: problem.needed_by([r.prop.term]) for r in verdicts.results}
    covered = {
        key: [
            name
            for name, cone in cones.items()  # all verdicts rest on the assumptions
            if stream.name == unit.code.held or any(t in cone for t in stream.terms)
        ]
        for key, stream in streams.items()
    }
    file = f"{unit.code.base}.c"
    lines = list(traced_lines(unit, streams, unit.code.files[file]))
    statements = [
        {
            "file": file,
            "line": line.number,
            "text": line.text,
            "streams": list(line.streams),
            "properties": sorted({name for key in line.streams for name in covered[key]}),
        }
        for line in lines
    ]
    return {
        "format": FORMAT,
        "tool": {"name": "streamcheck", "version": __version__},
        "spec": {"name": problem.name, **_place(problem.where), "sha256": _hash_of_file(problem.where)},
        "files": {name: _hash(text) for name, text in files.items()},
        "c_proof": None if outcome is None else {"proved": outcome.is_proved, "claims": outcome.claims},
        "properties": [_property(r, certificates, statements) for r in verdicts.results],
        "assumptions": [{"name": a.name, **_place(a.where)} for a in problem.assumptions],
        "streams": {
            key: {"kind": s.kind, **_place(s.where), "properties": covered[key]}
            | {"c_lines": [line.number for line in lines if key in line.streams]}
            for key, s in streams.items()
        },
        "statements": statements,
    }


def _property(
    result: Result, certificates: Mapping[str, tuple[str, str]], statements: Iterable[Mapping[str, Any]]
) -> dict[str, Any]:
    made = certificates.get(result.name)
    proof = {"engine": result.engine, "model": result.model, "k": result.k, "kind": result.kind}
    return {
        "name": result.name,
        **_place(result.prop.where),
        "goal": result.prop.goal.value,
        "verdict": result.verdict,
        "reason": result.reason,
        "proof": proof if result.verdict != "unknown" else None,
        "certificate": None if made is None else {"file": made[0], "sha256": _hash(made[1])},
        "c_lines": [s["line"] for s in statements if result.name in s["properties"]],
    }


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _hash_of_file(where: Location | None) -> str | None:
    try:
        with open(where.file if where else "", "rb") as file:
            return sha256(file.read()).hexdigest()
    except OSError:
        return None


def _place(where: Location | None) -> dict[str, Any]:
    if where is None:
        return {"file": None, "line": None, "source": ""}
    return {"file": str(where).rpartition(":")[0], "line": where.line, "source": where.text}


def named_streams(problem: Specification, places: Mapping[str, Sequence[Place]]) -> dict[str, TracedStream]:
    """All that has a name, by a key: the name, or the kind and the name if that is taken. A cell without a name of the
    user's has its variable's in the C."""
    named: dict[tuple[str, str], TracedStream] = {}
    for cell in problem.cells:
        place = next(iter(places.get(cell.name, ())), None)
        if cell.named or place is not None:
            kind, name = ("stream", cell.name) if cell.named else ("state", "")
            if place is not None and (place.ring or place.window or not cell.named):
                name = place.variable  # one for all the cells of a ring
            before = named[kind, name].terms if (kind, name) in named else ()
            named[kind, name] = TracedStream(name, kind, cell.where, (*before, cell.var))
    for wire in problem.wires:
        named.setdefault(("stream", wire.name), TracedStream(wire.name, "stream", wire.where, (wire.term,)))
    others = [TracedStream(i.name, "extern", i.where, (i.var,)) for i in problem.inputs]
    others += [TracedStream(t.name, "trigger", t.where, (t.guard,)) for t in problem.triggers]
    others += [TracedStream(o.name, "observer", o.where, (o.term,)) for o in problem.observers]
    named |= {(s.kind, s.name): s for s in others}
    streams: dict[str, TracedStream] = {}
    for stream in named.values():
        streams[stream.name if stream.name not in streams else f"{stream.kind} {stream.name}"] = stream
    return streams


def traced_lines(unit: Unit, streams: Mapping[str, TracedStream], text: str) -> Iterator[TracedLine]:
    """The statements with the streams that they compute, in the order of the file."""
    lines = list(_statements(text))
    keys = _Keys(unit, streams)
    for line in lines:
        line.streams.update(dict.fromkeys(keys.of(line)))
    readers: dict[tuple[str, str], list[TracedLine]] = {}
    for line in lines:
        for name in line.reads:
            for function in {line.function, ""}:  # a name of the file is one in all functions
                readers.setdefault((function, name), []).append(line)
    for line in reversed(lines):  # what has no name of the user's serves the streams of the lines that read it
        if not line.streams:
            for other in (*line.inside, *(readers.get((line.function, line.defines), ()) if line.defines else ())):
                line.streams.update(other.streams)
            if not line.streams:
                line.streams.update(dict.fromkeys(keys.read_on(line)))
    yield from lines


def _statements(text: str) -> Iterator[TracedLine]:
    """The lines with code of the functions of the monitor and of its variables, those of a block also in the one that
    opens it."""
    stack: list[TracedLine | None] = []
    helper, function = False, ""
    for number, written in enumerate(text.split("\n"), 1):
        line = written.strip()
        if not stack:
            head = FUNCTION.match(line)
            function = head[1] if head else function
            helper = (helper and line != "") or line.startswith("static inline")
        if line.startswith("}"):
            if stack:
                stack.pop()
            if not line.endswith("{"):
                continue
        is_code = bool(CODE_LINE.match(line)) and not helper and (bool(stack) or line.startswith("static "))
        traced = _traced_line(number, line, function if stack else "") if is_code else None
        if traced is not None:
            for outer in stack:
                if outer is not None:
                    outer.inside.append(traced)
            yield traced
        if line.endswith("{"):
            stack.append(traced)


def _traced_line(number: int, line: str, function: str) -> TracedLine:
    local = LOCAL.match(line.removeprefix("static ")) or ASSIGNED.match(line)
    defines = local[1] if local else ""
    return TracedLine(number, line, {}, function, defines, frozenset(NAME.findall(line)) - {defines})


class _Keys:
    """The streams that a line of C computes, by the names on it."""

    def __init__(self, unit: Unit, streams: Mapping[str, TracedStream]) -> None:
        self.code = unit.code
        kinds = {(s.kind, s.name): key for key, s in streams.items()}
        self.state: dict[tuple[str, str], list[str]] = {}  # by the function, if it is a component's, and the name
        for cell, place in ((c, p) for c, found in unit.code.places.items() for p in found):
            names = [("stream", cell), ("stream", place.variable), ("state", place.variable)]
            shared = place.ring or place.window
            key = next((kinds[name] for name in (names[1:] if shared else names) if name in kinds), None)
            window = place.window
            also = (window.index, window.recent, window.best, window.push) if window else ()
            for variable in (place.variable, place.ring, *also):
                if variable and key:
                    self._add_state(unit, variable, key)
        self.components = {f for functions in unit.instances.values() for f in functions} | unit.locals.keys()
        self.components.discard(unit.code.step)
        self.locals = {
            (function, c): [kinds["stream", name] for name in sorted(names) if ("stream", name) in kinds]
            for function, found in unit.locals.items()
            for c, names in found.items()
        }
        externs = [(unit.code.c_name("extern", n), key) for (kind, n), key in kinds.items() if kind == "extern"]
        self.externs = dict(externs)
        self.triggers = {unit.code.c_name("trigger", n): key for (kind, n), key in kinds.items() if kind == "trigger"}
        self.observers = {
            unit.code.c_name("observer", n): key for (kind, n), key in kinds.items() if kind == "observer"
        }

    def _add_state(self, unit: Unit, variable: str, key: str) -> None:
        """The stream is in the variable, and in the state of each instance around it."""
        path = variable.split(".")
        for i, name in enumerate(path):
            for function in unit.instances[".".join(path[:i])] if i else ("",):
                keys = self.state.setdefault((function, name), [])
                if key not in keys:
                    keys.append(key)

    def _state(self, line: TracedLine, name: str) -> Iterable[str]:
        return self.state.get((line.function if line.function in self.components else "", name), ())

    def of(self, line: TracedLine) -> Iterator[str]:
        left, assigned, right = line.text.partition(" = ")
        if line.text.startswith("(void)memset("):  # of the whole state
            own = line.function if line.function in self.components else ""
            yield from (key for (function, _), keys in self.state.items() if function == own for key in keys)
            return
        is_copy = line.text.startswith("(void)memcpy(")
        to, source = line.text.split("(")[2].split(", ")[:2] if is_copy else (left, right.removesuffix(";"))
        if (line.function, line.defines) in self.locals:
            yield from self.locals[line.function, line.defines]
        elif line.defines and line.text.startswith("static "):
            yield from self._state(line, line.defines)
        elif assigned or is_copy:
            yield from list(self._place(line, to)) or self._externs(source)
        else:
            for called in re.findall(r"(\w+)\(", line.text):
                if called in self.triggers:
                    yield self.triggers[called]
                yield from self._state(line, called)
        for instance in re.findall(r"&(?:\w+->)?(\w+)", line.text):  # which the function of its component changes
            yield from self._state(line, instance)

    def read_on(self, line: TracedLine) -> Iterator[str]:
        """The state and the inputs that a line mentions."""
        for name in NAME.findall(line.text):
            if not self.code.copilot and f"->{name}" not in line.text:
                continue
            yield from self._state(line, name)
            if name in self.externs and line.function not in self.components:
                yield self.externs[name]

    def _place(self, line: TracedLine, place: str) -> Iterator[str]:
        names = NAME.findall(re.sub(r"\[.*", "", place))
        if names and ("observed" in names[:-1] or names[0].endswith("_observed")):
            at = names.index("observed") + 1 if "observed" in names else 1
            if names[at] in self.observers:
                yield self.observers[names[at]]
        elif names:
            for name in names[:2]:
                yield from self._state(line, name)

    def _externs(self, right: str) -> Iterator[str]:
        """A local variable that holds an input."""
        place = re.fullmatch(r"(?:\w+->)?(\w+)(?:[.\[][\w.\[\]]*)?", right)
        if place and place[1] in self.externs and (self.code.copilot or "->" in right):
            yield self.externs[place[1]]
