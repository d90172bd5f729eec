"""Every identifier of the generated C. Names that users of the C see are the spec's, changed if they mean
something else in C (`core.c_names`); others get a number if they clash."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from streamcheck.codegen.text import enum_constant
from streamcheck.core.c_names import SUFFIX, c_file_name, c_name, is_identifier, member_name
from streamcheck.core.errors import SpecError
from streamcheck.core.location import Location
from streamcheck.core.names import FreshNames
from streamcheck.core.term import walk_cone
from streamcheck.core.types import ArrayType, EnumType, StructType, Type
from streamcheck.problem.places import Handlers
from streamcheck.problem.specification import Input, Specification


class FileScope:
    """The identifiers at file scope, and all others of the file, which no later one at file scope may be."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.every: set[str] = set()


class LocalNames:
    """The identifiers of one function: none is a name at file scope, so nothing hides anything."""

    copilot = False  # the state and the inputs are variables of the file
    state: str  # the parameters
    inputs: str

    def __init__(self, file: FileScope, spec: str, reserved: Iterable[str] = ()) -> None:
        self.file = file
        self.spec = spec  # what the names at file scope that other files see begin with
        self.links: list[str] = []  # the pointers in the state
        self._locals = FreshNames(reserved)

    def extern(self, name: str) -> str:
        return name

    def trigger(self, name: str) -> str:
        return name

    def observer(self, name: str) -> str:
        return name

    def call(self, trigger: str) -> tuple[str, list[str]]:
        """The function that the step calls, and its arguments before the spec's."""
        return self.trigger(trigger), []

    def fresh(self, wish: str) -> str:
        """An identifier like the wish that is not taken."""
        return self._next(_identifier(wish), self.file.names)

    def fresh_at_file(self, wish: str) -> str:
        """An identifier like the wish at file scope, which no function of the file has for something else."""
        name = self._next(_identifier(wish), self.file.every)
        self.file.names.add(name)
        return name

    def fresh_state(self, wish: str) -> str:
        """A name for a piece of the state: a member of the struct, or a variable of the file."""
        return self.fresh_at_file(wish) if self.copilot else self.fresh(wish)

    def _next(self, wish: str, taken: Collection[str]) -> str:
        name = self._locals.fresh(wish)
        while name in taken:
            name = self._locals.fresh(wish)
        self.file.every.add(name)
        return name


class CNames(LocalNames):
    """The identifiers of one compiled spec, and of its step."""

    def __init__(
        self,
        specification: Specification,
        externs: Iterable[Input],
        *,
        copilot: bool,
        observers: bool,
        handlers: Handlers = "functions",
        prefix: str = "",
    ) -> None:
        self.specification = specification
        self.externs = tuple(externs)
        self.copilot = copilot
        self.handlers = handlers
        self.prefix = prefix
        self.renamed: dict[tuple[str, str], str] = {}
        self._must_be_identifier("the spec", specification.name, specification.where)
        # of the files, and what the names of the interface begin with
        self.spec = c_file_name(prefix + specification.name)
        self._note("spec", specification.name, self.spec)
        self.step = f"{prefix}step" if copilot else f"{self.spec}_step"
        suffixes = ["state", "inputs", "init", "step", "inputs_valid", "observers", "observed", "handlers"]
        suffixes.append("assumptions_hold")
        self.generated = {f"{self.spec}_{suffix}" for suffix in suffixes} | {self.step}
        # Ordinary identifiers at file scope, each with its meaning.
        self.public = dict.fromkeys(sorted(self.generated), "a name of the generated code")
        self.types = _structs_and_enums(specification, self.externs, observers=observers)
        self._declare_interface(observers)
        links = {"functions": [], "context": ["user"], "table": ["handlers", "user"]}
        reserved = {*self.public, "observed", "step", *links[handlers]}
        super().__init__(FileScope(), self.spec, reserved)
        self.links = links[handlers]  # which NAME_init gets as parameters
        self.file.names |= self.public.keys()
        self.file.every |= reserved
        self.state = self.fresh("state")  # the parameters of the step function
        self.inputs = self.fresh("inputs")

    def extern(self, name: str) -> str:
        return self.renamed.get(("extern", name), name)

    def trigger(self, name: str) -> str:
        return self.renamed.get(("trigger", name), name)

    def observer(self, name: str) -> str:
        return self.renamed.get(("observer", name), name)

    def call(self, trigger: str) -> tuple[str, list[str]]:
        """The function that the step calls, and its arguments before the spec's."""
        function = self.trigger(trigger)
        if self.handlers == "table":
            function = f"{self.state}->handlers->{function}"
        return function, [] if self.handlers == "functions" else [f"{self.state}->user"]

    def remarks(self) -> Iterator[str]:
        """The user's names that are different in C, but for the prefix."""
        if self.prefix:
            yield f"every name that other files see begins with {self.prefix}"
        if self.links:
            yield f"the state has {' and '.join(self.links)}, pointers that count as 8 bytes each here"
        for (role, name), chosen in self.renamed.items():
            if chosen == self.prefix + name:
                continue
            yield f"the {role} `{name}` is called {chosen} here: C has another meaning for {name}"
        for trigger in self.specification.triggers if not self.copilot else ():
            for (wish, _), chosen in zip(trigger.args, self.parameters(trigger.name), strict=True):
                if wish not in (None, chosen):
                    why = f"{wish} means something else in this C"
                    yield f"the parameter `{wish}` of {trigger.name} is called {chosen} here: {why}"

    def _must_be_identifier(self, what: str, name: str, where: Location | None) -> None:
        if not is_identifier(name):
            why = "is not an identifier in C (letters A-Z, digits, underscore)"
            raise SpecError(f"{what} is called `{name}`, which {why}", where, write="another name")

    def _note(self, role: str, name: str, chosen: str) -> str:
        if chosen != name:
            self.renamed[role, name] = chosen
        return chosen

    def _declare_interface(self, observers: bool) -> None:
        specification = self.specification
        members: dict[str, str] = {}
        for given in self.externs:
            chosen = self._chosen_name("extern", given.name, given.where, external=self.copilot)
            meaning = f"the extern `{given.name}`"
            self._declare(self.public if self.copilot else members, chosen, meaning, given.where)
        for trigger in specification.triggers:
            chosen = self._chosen_name("trigger", trigger.name, trigger.where, external=True)
            self._declare(self.public, chosen, f"the trigger `{trigger.name}`", trigger.where)
            for name, _ in trigger.args:
                if name is not None:
                    self._must_be_identifier(f"a parameter of {trigger.name}", name, trigger.where)
        shown: dict[str, str] = {}
        for observer in specification.observers if observers else ():
            chosen = self._chosen_name("observer", observer.name, observer.where, external=False)
            self._declare(shown, chosen, f"the observer `{observer.name}`", observer.where)
        for type in self.types:
            self._declare_type(type)

    def _declare_type(self, type: Type) -> None:
        where = self.specification.where
        match type:
            case StructType(name=name, fields=fields):
                chosen = self._chosen_name("struct", name, where, external=False)
                if chosen in self.generated:  # a tag is an ordinary name in C++
                    self._declare(self.public, chosen, f"the struct {name}", where)
                members: dict[str, str] = {}
                for field, _ in fields:
                    self._must_be_identifier(f"a field of {name}", field, where)
                    chosen = self._note("field", f"{name}.{field}", f"{name}.{member_name(field)}")
                    self._declare(members, chosen, f"the field `{name}.{field}`", where)
            case EnumType(name=name, members=codes):
                for member, code in codes:
                    self._must_be_identifier(f"a member of {name}", f"{name}_{member}", where)
                    chosen = self._note("constant", f"{name}_{member}", enum_constant(type, code))
                    self._declare(self.public, chosen, f"the member `{member}` of {name}", where)

    def _chosen_name(self, role: str, name: str, where: Location | None, *, external: bool) -> str:
        self._must_be_identifier(f"{'an' if role[0] in 'aeiou' else 'a'} {role}", name, where)
        chosen = c_name(self.prefix + name) if external else c_name(name) if role == "struct" else member_name(name)
        if external and chosen in self.generated:
            chosen += SUFFIX
        return self._note(role, name, chosen)

    def _declare(self, taken: dict[str, str], name: str, what: str, where: Location | None) -> None:
        if taken.get(name, what) != what:
            raise SpecError(f"{what} and {taken[name]} would both be `{name}` in the C", where, write="another name")
        taken[name] = what

    def parameters(self, trigger: str) -> list[str]:
        """The parameter names of a handler: the user's, or those of the streams that are passed."""
        args = next(t.args for t in self.specification.triggers if t.name == trigger)
        known = {w.term: w.name for w in self.specification.wires}
        nameless = {c.var for c in self.specification.cells if not c.named}
        if self.copilot:
            return [f"{self.trigger(trigger)}_arg{i}" for i in range(len(args))]
        chosen = [] if self.handlers == "functions" else ["user"]
        first = len(chosen)
        for i, (name, arg) in enumerate(args):
            wish = name or known.get(arg) or (str(arg.payload) if arg.op == "var" and arg not in nameless else "")
            wish = c_name(wish) if is_identifier(wish) else ""
            usable = wish and wish not in self.public and wish not in chosen
            chosen.append(wish if usable else f"arg{i}")
        return chosen[first:]


def _identifier(wish: str) -> str:
    base = re.sub(r"\W", "_", re.sub(r"\W+\Z", "", wish), flags=re.ASCII)
    return c_name(base if is_identifier(base) else f"s_{base.lstrip('_')}")


def _structs_and_enums(specification: Specification, externs: Iterable[Input], *, observers: bool) -> list[Type]:
    """The structs and enums of the compiled streams, parts before the types that contain them."""
    nodes = walk_cone(specification.outputs(observers=observers), {c.var: (c.next,) for c in specification.cells})
    types: dict[Type, None] = {}
    for type in dict.fromkeys([*(i.type for i in externs), *(node.type for node in nodes)]):
        types.update(dict.fromkeys(_parts(type)))
    return [t for t in types if isinstance(t, StructType | EnumType)]


def _parts(type: Type) -> Iterator[Type]:
    match type:
        case ArrayType():
            yield from _parts(type.element)
        case StructType():
            for _, t in type.fields:
                yield from _parts(t)
    yield type
