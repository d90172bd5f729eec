"""`Spec`: the declarations over streams. Nothing is evaluated here; `elaborate` does that."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from streamcheck.core.errors import SpecError
from streamcheck.core.location import Location, here, user_frame
from streamcheck.core.types import BOOL, without_numpy
from streamcheck.lang import infinite
from streamcheck.lang.apply import apply
from streamcheck.lang.node import Node, current_call
from streamcheck.lang.stream import BoolOperand, Operand, Stream, make, node_of
from streamcheck.problem.claim import WRITTEN, Origin

if TYPE_CHECKING:
    from streamcheck.lang.component import ComponentCall
    from streamcheck.lang.types import Bool


@dataclass(frozen=True, slots=True)
class Declaration:
    """A property, assumption, observer or trigger. `args`: a trigger's arguments, each with the user's name or None."""

    name: str
    node: Node
    where: Location
    args: tuple[tuple[str | None, Node], ...] = ()
    origin: Origin = WRITTEN


# The specs made since a file began to load, so that none is lost in silence.
specs_made: ContextVar[list[SpecBase] | None] = ContextVar("specs_made", default=None)


@contextmanager
def record_specs() -> Iterator[list[SpecBase]]:
    """The list to which every spec that is made inside is added."""
    made: list[SpecBase] = []
    token = specs_made.set(made)
    try:
        yield made
    finally:
        specs_made.reset(token)


class SpecBase:
    """The declarations of one spec, in the order they were made. `namespace` is the module it was made in, whose
    names for streams the reports use."""

    def __init__(self, name: str) -> None:
        if not isinstance(name, str) or not name:
            raise SpecError(f"Spec: expected a name, found {name!r}", here(), write='Spec("engine")')
        self.name = name
        self.where = here()
        self.namespace: Mapping[str, Any] = user_frame().f_globals
        self.triggers: dict[str, Declaration] = {}
        self.observers: dict[str, Declaration] = {}
        self.properties: dict[str, Declaration] = {}
        self.witnesses: dict[str, Declaration] = {}
        self.recurring: dict[str, Declaration] = {}
        self.assumptions: dict[str, Declaration] = {}
        self.main: ComponentCall | None = None  # the component that it is the body of
        self.fairness: dict[str, Declaration] = {}
        made = specs_made.get()
        if made is not None:
            made.append(self)

    def __repr__(self) -> str:
        return f"<Spec {self.name!r}>"

    def __dir__(self) -> list[str]:
        """The public names."""
        return [name for name in super().__dir__() if not name.startswith("_")]

    def prop(self, name: str, stream: Bool, *, provided: Bool | None = None) -> None:
        """`stream` must be true at every step, or at those where `provided` is true: then some run has such a step,
        which is a property of its own, the condition of this one."""
        _check_order("spec.prop", name, stream)
        node = _claim("prop", stream)
        if provided is not None:
            node = apply("implies", _claim("prop", provided), node)
            self._add("property", self.witnesses, f"condition of {name}", node.args[0])
        self._add("property", self.properties, name, node)

    def exists(self, name: str, stream: Bool) -> None:
        """`stream` is true at some step of some run."""
        _check_order("spec.exists", name, stream)
        self._add("property", self.witnesses, name, _claim("exists", stream))

    def infinitely_often(self, name: str, stream: Bool) -> None:
        """`stream` is true infinitely often in every infinite run that is fair."""
        self._recur("infinitely_often", name, lambda p: p, stream)

    def eventually(self, name: str, stream: Bool) -> None:
        """`stream` is true at some step of every infinite run that is fair."""
        self._recur("eventually", name, infinite.has_been, stream)

    def until(self, name: str, p: Bool, q: Bool) -> None:
        """In every infinite run that is fair, `q` is true at some step, and `p` at all steps before the first one."""
        self._recur("until", name, infinite.is_over, p, q)

    def responds(self, name: str, p: Bool, q: Bool) -> None:
        """In every infinite run that is fair, `q` is true whenever `p` is, or at some later step."""
        self._recur("responds", name, infinite.is_quiet, p, q)

    def fair(self, name: str, stream: Bool) -> None:
        """Of infinite runs consider only those in which `stream` is true infinitely often."""
        _check_order("spec.fair", name, stream)
        self._add("fairness", self.fairness, name, _claim("fair", stream))

    def _recur(self, call: str, name: str, monitor: Callable[..., Stream], *streams: object) -> None:
        """Declare that the monitor of these streams is true infinitely often."""
        _check_order(f"spec.{call}", name, streams[0])
        watched = monitor(*(make(_claim(call, s)) for s in streams))
        self._add("property", self.recurring, name, watched._node)

    def assume(self, name: str, stream: Bool) -> None:
        """Consider only runs in which `stream` has been true at every step so far."""
        _check_order("spec.assume", name, stream)
        self._add("assumption", self.assumptions, name, _claim("assume", stream))

    def observer(self, name: str, stream: object) -> None:
        """Show `stream` in runs and counterexamples."""
        _check_order("spec.observer", name, stream)
        # `object`: what mypy makes of the streams in a list of several types.
        self._add("observer", self.observers, name, node_of(stream))

    def trigger(
        self, name: str, guard: BoolOperand, args: Operand | Sequence[Operand] | Mapping[str, Operand] = ()
    ) -> None:
        """ComponentCall the C function `name` at each step where `guard` is true, with these arguments."""
        _check_order("spec.trigger", name, guard)
        node = node_of(guard, BOOL)
        if node.type is not BOOL:
            raise SpecError(f'trigger "{name}": the guard: expected Bool, found {node.type}', here())
        self._add("trigger", self.triggers, name, node, _arguments(args))

    def _add(
        self,
        kind: str,
        table: dict[str, Declaration],
        name: str,
        node: Node,
        args: tuple[tuple[str | None, Node], ...] = (),
    ) -> None:
        if not isinstance(name, str) or not name:
            raise SpecError(f"the first argument: expected the name of the {kind}, found {name!r}", here())
        around = current_call.get()
        if around is not None:
            text = (
                f"a {kind} in the function of {around.title}, which belongs to no spec: it is evaluated for each call"
            )
            write = "guarantee(name, s)" if kind == "property" else f"the {kind} behind the call, of what it returns"
            raise SpecError(text, here(), write=write)
        tables = (self.properties, self.witnesses, self.recurring) if kind == "property" else (table,)
        for other in tables:
            if name in other:
                raise SpecError(f'a second {kind} named "{name}"', here(), also=(("the first", other[name].where),))
        table[name] = Declaration(name, node, here(), args)


def _check_order(call: str, name: object, stream: object) -> None:
    """SpecError if the name and the stream are swapped."""
    if isinstance(name, Stream) and isinstance(stream, str):
        raise SpecError(f"{call}: the name comes first, then the stream", here(), write=f'{call}("{stream}", …)')


def _claim(call: str, stream: object) -> Node:
    stream = without_numpy(stream)
    if isinstance(stream, bool):
        raise SpecError(
            f"`{call}`: expected a Bool stream, found Python's {stream}: Python evaluated something while loading, "
            "such as `in`, `and` or a comparison of Python values",
            here(),
            write=f"Bool({stream}), if a constant is meant",
        )
    node = node_of(stream, BOOL)
    if node.type is not BOOL:
        raise SpecError(f"`{call}`: expected a Bool stream, found {node.type}", here())
    return node


def _arguments(args: object) -> tuple[tuple[str | None, Node], ...]:
    if isinstance(args, Mapping):
        for name in args:
            if not isinstance(name, str):
                raise SpecError(f"the name of a trigger argument: expected a string, found {name!r}", here())
        return tuple((name, node_of(arg)) for name, arg in args.items())
    if isinstance(args, Stream) or not isinstance(args, Sequence) or isinstance(args, str):
        return ((None, node_of(args)),)
    return tuple((None, node_of(arg)) for arg in args)
