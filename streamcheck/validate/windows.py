"""Windows of which only the largest or the smallest value is read: the proof that their two functions do that.

The array holds extremes instead of values (`problem.places.Window`). For every index k below the length n the functions
are executed from the array that k stands for, with a variable for each value of the window: `best` returns the extreme
of all n, `push` leaves the array of index (k + 1) mod n for the window without its oldest and with its new value, and
nothing else changes. A step may then use the functions, and nothing else of the array: `best` is the extreme of the
cells, and `push` moves them on.

A term is the extreme of the values below it if it is built from them by `max` (or `min`) alone, or by its choices
a < b ? b : a. Such terms are equal if they are built from the same values, because an order of integers is total. A set
of values is a number with a bit for each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from streamcheck.c.arithmetic import CValue
from streamcheck.c.declarations import CResult, Pointee
from streamcheck.c.kinds import Array, Integer
from streamcheck.c.lvalues import Lvalue
from streamcheck.core.errors import SpecError
from streamcheck.core.simplify import conjunction
from streamcheck.core.term import Term, constant, term, variable, walk
from streamcheck.core.types import MachineType, Type
from streamcheck.problem.places import Place, Window
from streamcheck.problem.specification import Cell
from streamcheck.validate.execution import Execution

LONGEST = 1024


@dataclass(frozen=True, slots=True)
class KeptWindow:
    """The cells of a window, oldest first, and where they are."""

    cells: tuple[Cell, ...]
    variable: str
    place: Window

    @property
    def type(self) -> MachineType:
        type = self.cells[0].var.type
        if not isinstance(type, MachineType):
            raise SpecError(f"the window {self.variable} does not hold integers")
        return type

    @property
    def neutral(self) -> Term:
        return constant(self.type, self.type.low if self.place.operator == "max" else self.type.high)

    @property
    def best(self) -> Term:
        """The extreme of the cells."""
        result = self.cells[0].var
        for cell in self.cells[1:]:
            result = term(self.place.operator, result, cell.var)
        return result

    def contents(self, values: Sequence[Term], index: int) -> tuple[list[Term], Term]:
        """The array and the recent extreme that stand for values, oldest first, at an index."""
        op, kept = self.place.operator, list(values[: len(values) - index])
        for i in range(len(kept) - 2, -1, -1):
            kept[i] = term(op, kept[i], kept[i + 1])
        newest = list(values[len(values) - index :])
        recent = self.neutral
        for value in newest:
            recent = value if recent is self.neutral else term(op, recent, value)
        return newest + kept, recent


def kept_windows(kept: Sequence[tuple[Cell, Place]]) -> list[KeptWindow]:
    """The windows that the places of the cells name."""
    members: dict[tuple[str, Window], dict[int, Cell]] = {}
    lengths: dict[str, int] = {}
    for cell, place in kept:
        if place.window is not None:
            members.setdefault((place.variable, place.window), {})[place.position] = cell
            lengths[place.variable] = place.length
            if not 0 <= place.position < place.length <= LONGEST:
                raise SpecError(f"the window {place.variable} has no position {place.position}")
    windows = []
    for (name, window), by_position in members.items():
        ordered = tuple(by_position[i] for i in sorted(by_position))
        if len(ordered) != lengths[name] or any(c.var.type is not ordered[0].var.type for c in ordered):
            raise SpecError(f"the window {name} has other cells")
        windows.append(KeptWindow(ordered, name, window))
    names = [n for w in windows for n in (w.variable, w.place.index, w.place.recent, w.place.best, w.place.push)]
    if len(set(names)) < len(names):
        raise SpecError("two windows share a variable or a function")
    return windows


@dataclass(slots=True)
class WindowUse:
    """A window while a step is executed: its functions are not, they do what is proved of them."""

    window: KeptWindow
    state: Lvalue | None
    untouched: dict[Any, Term]  # the parts of its array
    pushed: list[tuple[Term, Term]] = field(default_factory=list)  # conditions and values

    def functions(self) -> dict[str, Any]:
        return {self.window.place.best: self._best, self.window.place.push: self._push}

    def _best(self, run: Execution, arguments: list[CResult]) -> CValue:
        self._check_state(run, arguments, 0)
        if self.pushed:
            raise SpecError(f"{self.window.place.best} is called after {self.window.place.push}")
        return CValue(run.functions[self.window.place.best].result, self.window.best)  # type: ignore[arg-type]

    def _push(self, run: Execution, arguments: list[CResult]) -> None:
        (_, kind) = run.functions[self.window.place.push].parameters[-1]
        self._check_state(run, arguments, 1)
        if run.memory.frozen:
            raise SpecError(f"{self.window.place.push} is called inside an expression")
        value = arguments[-1]
        if not isinstance(value, CValue):
            raise SpecError(f"{self.window.place.push} gets no number")
        new = run.settle(run.arithmetic.convert(value, kind).term)
        self.pushed.append((conjunction(run.path, run.live()), new))

    def _check_state(self, run: Execution, arguments: list[CResult], others: int) -> None:
        own = [] if self.state is None else [self.state]
        given = arguments[: len(own)]
        fits = all(isinstance(a, Pointee) and a.offset is None and _is_whole(a.lvalue, own[0]) for a in given)
        if len(arguments) != len(own) + others or not fits:
            raise SpecError("a function of a window is not called with the state of the step")

    def is_untouched(self, run: Execution) -> bool:
        return all(run.memory.parts[part] is value for part, value in self.untouched.items())


def _is_whole(lvalue: Lvalue, object: Lvalue) -> bool:
    return lvalue.object is object.object and not lvalue.fields and not lvalue.indices


class WindowProof:
    """The proof about the functions of one window, for a run from any state."""

    def __init__(self, window: KeptWindow) -> None:
        self.window = window
        self.new = variable("the new value of a window", window.type)
        self.bits = {c.var: 1 << i for i, c in enumerate(window.cells)} | {self.new: 1 << len(window.cells)}
        self.bits[window.neutral] = 0
        self.masks: dict[Term, int | None] = {}
        self.seen: set[Term] = set()

    def check(self, run: Execution, places: dict[str, Lvalue], arguments: list[CResult]) -> Iterator[tuple[Term, Term]]:
        """The claims that remain, each with its path; SpecError if a function does something else. `places`: the
        array, the index and the recent extreme."""
        cells, window = [c.var for c in self.window.cells], self.window
        for index in range(len(cells)):
            run.checks_unreachable = index == 0
            self.put(run, places, cells, index)
            before = dict(run.memory.parts)
            best = self._run(run, window.place.best, arguments)
            if best is None or best.term.type is not window.type or self.mask(best.term) != (1 << len(cells)) - 1:
                raise SpecError(f"{window.place.best} is not the {window.place.operator} of the window")
            if any(run.memory.parts[part] is not value for part, value in before.items()):
                raise SpecError(f"{window.place.best} changes something")
            kind = run.functions[window.place.push].parameters[-1][1]
            if not isinstance(kind, Integer) or run.types_of(kind) != [window.type]:
                raise SpecError(f"{window.place.push} takes no integer")
            if self._run(run, window.place.push, [*arguments, CValue(kind, self.new)]) is not None:
                raise SpecError(f"{window.place.push} returns something")
            self._compare(run, places, (index + 1) % len(cells), before)
        run.checks_unreachable = True
        if run.calls:
            raise SpecError("a function of a window calls a handler")
        yield from ((d.path, d.claim) for d in run.demands)

    def put(self, run: Execution, places: dict[str, Lvalue], values: Sequence[Term], index: int) -> None:
        array, recent = self.window.contents(values, index)
        at = constant(run.types_of(places["index"].kind)[0], index)
        for name, parts in (("array", array), ("index", [at]), ("recent", [recent])):
            (object, first), kind = run.memory.span(places[name])
            if run.types_of(kind) != [p.type for p in parts]:
                raise SpecError(f"the window {self.window.variable} has another type")
            run.memory.parts.update({(object, first + i): part for i, part in enumerate(parts)})

    @staticmethod
    def _run(run: Execution, name: str, arguments: list[CResult]) -> CValue | None:
        function = run.functions.get(name)
        if function is None or function.body is None or not function.static:
            raise SpecError(f"no function {name} for a window")
        return run.execute(function, arguments, function.body)

    def _compare(self, run: Execution, places: dict[str, Lvalue], index: int, before: dict[Any, Term]) -> None:
        after = [*(c.var for c in self.window.cells[1:]), self.new]
        array, recent = self.window.contents(after, index)
        actual = [*run.memory.read(places["array"]), *run.memory.read(places["recent"])]
        masks = [self.mask(t) for t in actual]
        if None in masks or masks != [self.mask(t) for t in (*array, recent)]:
            raise SpecError(f"{self.window.place.push} does not leave the extremes of the window")
        (at,) = run.memory.read(places["index"])
        if not at.is_const or at.payload != index:
            raise SpecError(f"{self.window.place.push} does not move the index")
        own = {part for lvalue in places.values() for part in parts_of(run, lvalue)}
        if any(run.memory.parts[part] is not value for part, value in before.items() if part not in own):
            raise SpecError(f"{self.window.place.push} changes something else")

    def mask(self, root: Term) -> int | None:
        """The values that a term is the extreme of; None if it may be something else."""
        for node in walk([root], self.seen):
            self.masks[node] = self._mask(node)
        return self.masks[root]

    def _mask(self, node: Term) -> int | None:
        if node in self.bits:
            return self.bits[node]
        if node.is_const:  # of a wider type
            return 0 if node.type.is_integer and node.payload == self.window.neutral.payload else None
        if node.op == "cast":
            return self.masks[node.args[0]] if self._holds_values(node.type) else None
        if node.op == self.window.place.operator:
            a, b = (self.masks[x] for x in node.args)
            return None if a is None or b is None else a | b
        return self._mask_of_choice(node)

    def _holds_values(self, type: Type) -> bool:
        """True if the type holds all values of the window, so that a conversion of their extreme to it keeps it."""
        own = self.window.type
        return isinstance(type, MachineType) and type.low <= own.low and own.high <= type.high

    def _mask_of_choice(self, node: Term) -> int | None:
        """Of `a < b ? b : a`, where conversions may be around each."""
        if node.op != "mux" or node.args[0].op not in ("lt", "le", "gt", "ge"):
            return None
        test, yes, no = node.args
        first, second = (self.masks[x] for x in (test.args if test.op in ("lt", "le") else test.args[::-1]))
        if self.window.place.operator == "min":
            yes, no = no, yes
        if first is None or second is None or (first, second) != (self.masks[no], self.masks[yes]):
            return None
        return first | second


def parts_of(run: Execution, lvalue: Lvalue) -> Iterator[Any]:
    """The scalars of a part that is known."""
    (object, first), kind = run.memory.span(lvalue)
    yield from ((object, first + i) for i in range(run.memory.width(kind)))


def places_of(variables: Mapping[str, Lvalue], window: KeptWindow) -> dict[str, Lvalue]:
    """The array, the index and the recent extreme, if they are of these kinds."""
    array = variables["array"]
    if not isinstance(array.kind, Array) or array.kind.length != len(window.cells):
        raise SpecError(f"the window {window.variable} has another length")
    return dict(variables)


def is_moved_on(window: KeptWindow) -> bool:
    """True if each cell takes over the value of the next one."""
    return all(a.next is b.var for a, b in zip(window.cells, window.cells[1:], strict=False))


def when_pushed(use: WindowUse) -> tuple[Term, Term]:
    """The condition and the value of the one push of a step."""
    if len(use.pushed) != 1:
        raise SpecError(f"{use.window.place.push} is called {len(use.pushed)} times")
    return use.pushed[0]
