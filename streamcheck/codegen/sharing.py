"""Components as functions of the C: which instances are calls, and the equations that are left beside them.

    sensor, sensor_2        calls of one function, each with a state of its own
    their outputs           variables, in the terms that are left: what the calls return
    their cells             no cells any more, unless something else reads them

An instance is a call if the body of its component lies in the equations at its place (`transform.embedding`). It is
not if a reset or a clock is around it, or if an input of it depends at the same step on one of its own outputs: one
function cannot return the output before it gets the input. Then its equations stand at its place, as if it were no
component, and the instances inside of it become calls. Two instances with equal inputs are one call.

Nothing here has to be right for the proof of the C, which compares it with the equations as they were.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from streamcheck.core.location import Location
from streamcheck.core.names import FreshNames
from streamcheck.core.term import Term, constant, substitute, variable
from streamcheck.core.types import default
from streamcheck.problem.fingerprints import components
from streamcheck.problem.specification import ComponentInstance, Input, Named, Specification
from streamcheck.transform.embedding import Embedder, Images

ALONE = "out"  # an output without a name of its own


@dataclass(frozen=True, slots=True)
class SharedCall:
    """An instance as a call of its component's function: the terms of the arguments, the variables of the results, in
    the function's order. `images` are the terms that the body's variables stand for, before anything is a call."""

    instance: str
    component: str
    where: Location | None
    args: tuple[Term, ...]
    results: tuple[Term, ...]
    images: Images

    def with_images(self, image: Mapping[Term, Term]) -> SharedCall:
        return replace(self, args=tuple(image[a] for a in self.args))


@dataclass(frozen=True, slots=True)
class SharedEquations:
    """A specification, or the body of a component, with calls. `inlined` are instances that are none."""

    specification: Specification
    calls: tuple[SharedCall, ...] = ()  # each after those whose results it needs
    inlined: tuple[str, ...] = ()
    cone: Set[Term] = frozenset()  # the terms of the equations before


@dataclass(frozen=True, slots=True)
class SharedFunction:
    """The function of a component. Its outputs are the observers of its equations."""

    component: str
    inputs: tuple[Input, ...]
    equations: SharedEquations


@dataclass(frozen=True, slots=True)
class Shared:
    """The equations of the step, and the functions that it calls, each after those that it calls itself."""

    top: SharedEquations
    functions: tuple[SharedFunction, ...]


def without_calls(specification: Specification) -> Shared:
    return Shared(SharedEquations(specification), ())


def share(specification: Specification, roots: Sequence[Term]) -> Shared:
    """The equations that compute these terms, with components as functions."""
    if not specification.components:
        return without_calls(specification)
    return _Sharing(specification, roots).result()


@dataclass(slots=True)
class _Body:
    """A component: the outputs that some instance uses, and the inputs that these need."""

    body: Specification
    outputs: tuple[Named, ...] = ()
    inputs: tuple[Input, ...] = ()

    def use(self, names: Collection[str]) -> None:
        """Sets the outputs to those with these names. One that is an input, or constant, is no result of a call."""
        own = next((i for i in self.body.instances if not i.name), None)
        chosen = set(self.body.choices())
        outputs = own.outputs if own is not None else ()
        self.outputs = tuple(o for o in outputs if o.name in names and o.term not in chosen and not o.term.is_const)
        needed = self.body.needed_by(o.term for o in self.outputs)
        self.inputs = tuple(i for i in self.body.inputs if i.extern and i.var in needed)


class _Sharing:
    def __init__(self, whole: Specification, roots: Sequence[Term]) -> None:
        self.whole = whole
        self.roots = list(roots)
        self.bodies = {c.name: _Body(c.body) for c in whole.components}
        self.order = _callers_first(whole)
        self._find_uses()

    def _find_uses(self) -> None:
        used: dict[str, set[str]] = {name: set() for name in self.bodies}
        self._note_uses(self.whole, self.roots, used)
        for name in self.order:
            body = self.bodies[name]
            body.use(used[name])
            self._note_uses(body.body, [o.term for o in body.outputs], used)

    @staticmethod
    def _note_uses(level: Specification, roots: Iterable[Term], used: dict[str, set[str]]) -> None:
        cone = level.needed_by(roots)
        for instance in level.instances:
            if instance.name and instance.component in used:
                used[instance.component].update(o.name for o in instance.outputs if o.term in cone)

    def result(self) -> Shared:
        top = self._equations(self.whole, self.roots)
        needed = {call.component for call in top.calls}
        functions: list[SharedFunction] = []
        for name in self.order:
            if name in needed:
                body = self.bodies[name]
                alone = replace(body.body, triggers=(), observers=body.outputs, properties=(), assumptions=())
                equations = self._equations(alone, [o.term for o in body.outputs])
                needed.update(call.component for call in equations.calls)
                functions.append(SharedFunction(name, body.inputs, equations))
        return Shared(top, tuple(reversed(functions)))

    def _equations(self, level: Specification, roots: Sequence[Term]) -> SharedEquations:
        """The equations of a level with calls, which no cycle of instances needs."""
        embedder, cone = Embedder(level), level.needed_by(roots)
        images: dict[str, Images | None] = {}
        inlined: set[str] = set()
        while True:
            chosen = list(_outermost([i for i in level.instances if i.name and i.name not in inlined]))
            for instance in chosen:
                if instance.name not in images:
                    images[instance.name] = self._images(embedder, instance)
            more = {i.name for i in chosen if images[i.name] is None}
            if not more:
                calls = _Calls(level, cone, chosen, images, self.bodies)
                more = calls.on_cycles()
                if not more:
                    used = [i for i in level.instances if i.name in inlined and any(o.term in cone for o in i.outputs)]
                    shown = tuple(i.name for i in used if self._has_results(i))
                    return replace(calls.equations(roots), inlined=shown, cone=cone)
            inlined |= more

    def _images(self, embedder: Embedder, instance: ComponentInstance) -> Images | None:
        body = self.bodies.get(instance.component)
        return embedder.images(body.body, instance) if body is not None and body.outputs else None

    def _has_results(self, instance: ComponentInstance) -> bool:
        body = self.bodies.get(instance.component)
        return body is not None and bool(body.outputs)


class _Calls:
    """Instances of a level as calls."""

    def __init__(
        self,
        level: Specification,
        cone: set[Term],
        instances: Sequence[ComponentInstance],
        images: Mapping[str, Images | None],
        bodies: Mapping[str, _Body],
    ) -> None:
        self.level = level
        self.replacement: dict[Term, Term] = {}
        self.made: list[SharedCall] = []
        names = FreshNames([str(v.payload) for v in level.variables()])
        arguments: list[tuple[Term, ...]] = []
        for instance in instances:
            body, found = bodies[instance.component], images[instance.name]
            there = {n.name: n.term for n in instance.outputs}
            if found is None or not any(there.get(o.name) in cone for o in body.outputs):
                continue
            # What no needed value depends on has a type and no more: it may read inputs that the C does not have.
            given = (found[i.var] for i in body.inputs)
            arguments.append(tuple(a if a in cone else constant(a.type, default(a.type)) for a in given))
            results = []
            for output in body.outputs:
                wish = instance.name if output.name == ALONE else f"{instance.name}.{output.name}"
                result = variable(names.fresh(wish), output.term.type)
                results.append(result)
                if output.name in there:
                    self.replacement.setdefault(there[output.name], result)
            self.made.append(SharedCall(instance.name, instance.component, instance.where, (), tuple(results), found))
        image = substitute([a for args in arguments for a in args], self.replacement)
        self.made = [
            replace(call, args=tuple(image[a] for a in args)) for call, args in zip(self.made, arguments, strict=True)
        ]
        self.caller = {result: call for call in self.made for result in call.results}
        self.components = list(components(self.caller, self._needs))

    def _needs(self, node: Term) -> tuple[Term, ...]:
        """The terms that a term is computed from at the same step."""
        call = self.caller.get(node)
        return node.args if call is None else call.args

    def on_cycles(self) -> set[str]:
        """The instances of which an input depends on an output at the same step."""
        cyclic = [c for c in self.components if len(c) > 1 or c[0] in self._needs(c[0])]
        return {self.caller[node].instance for c in cyclic for node in c if node in self.caller}

    def equations(self, roots: Sequence[Term]) -> SharedEquations:
        level = self.level
        nexts = [c.next for c in level.cells]
        image = substitute([*roots, *nexts, *level.roots(), *(w.term for w in level.wires)], self.replacement)
        cells = tuple(replace(c, next=image[c.next]) for c in level.cells)
        results = [Input(str(r.payload), r.type, False, "", "", None) for call in self.made for r in call.results]
        cut = replace(
            level,
            inputs=(*level.inputs, *results),
            cells=cells,
            triggers=tuple(
                replace(t, guard=image[t.guard], args=tuple((n, image[a]) for n, a in t.args)) for t in level.triggers
            ),
            observers=tuple(replace(o, term=image[o.term]) for o in level.observers),
            properties=(),
            assumptions=(),
            fairness=(),
            instances=(),
            components=(),
            calls=(),
        )
        ordered = [self.caller[n] for component in self.components for n in component if n in self.caller]
        calls = tuple({call.instance: call for call in ordered}.values())
        called = {call.instance for call in calls}
        needed = cut.needed_by([*(image[r] for r in roots), *(a for call in calls for a in call.args)])
        inside = {w.name for w in level.wires for i, c in enumerate(w.name) if c == "." and w.name[:i] in called}
        wires = (replace(w, term=image[w.term]) for w in level.wires if w.name not in inside)
        cut = replace(
            cut, wires=tuple(w for w in wires if w.term in needed), cells=tuple(c for c in cells if c.var in needed)
        )
        return SharedEquations(cut, calls)


def _outermost(instances: Sequence[ComponentInstance]) -> Iterator[ComponentInstance]:
    """Those that lie in no other one."""
    names = {i.name for i in instances}
    for instance in instances:
        if not any(instance.name[:i] in names for i, c in enumerate(instance.name) if c == "."):
            yield instance


def _callers_first(whole: Specification) -> list[str]:
    """The components, each before those inside of it."""
    inside = {
        c.name: [i.component for i in c.body.instances if i.name and i.component != c.name] for c in whole.components
    }
    done: dict[str, None] = {}
    stack = [(name, False) for name in inside]
    while stack:
        name, ready = stack.pop()
        if ready:
            done.setdefault(name)
        elif name in inside and name not in done:
            stack += [(name, True), *((n, False) for n in inside[name] if n not in done)]
    return list(reversed(done))
