"""Every identifier of the generated C. Names that users of the C see are the spec's, and an error if C cannot have
them; others get a number if they clash."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from streamcheck.core.errors import SpecError
from streamcheck.core.location import Location
from streamcheck.core.names import FreshNames
from streamcheck.core.term import walk_cone
from streamcheck.core.types import ArrayType, EnumType, StructType, Type
from streamcheck.problem.specification import Input, Specification

KEYWORDS = frozenset(
    "auto break case char const continue default do double else enum extern float for goto if inline int long register "
    "restrict return short signed sizeof static struct switch typedef union unsigned void volatile while "
    "bool true false asm typeof".split()
)
MATH = "acos asin atan atan2 ceil cos cosh exp fabs floor fmod frexp ldexp log log10 modf pow sin sinh sqrt tan tanh"
OTHERS = (
    "memcpy memset memcmp memmove main abort exit malloc free calloc realloc printf puts abs labs div NULL NAN "
    "INFINITY errno assert signal raise time clock remove rename read write open close y0 y1 yn j0 j1 jn gamma index "
    "log2 exp2 round trunc stdin stdout"
)
STANDARD = frozenset([*MATH.split(), *(f + "f" for f in MATH.split()), *OTHERS.split()])
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
RESERVED = re.compile(r"(_[A-Z_]|sc_|SC_|U?INT\d+_|(u?int\d+|size|ptrdiff)_t\Z)")


def why_not(name: str, *, external: bool) -> str | None:
    """The reason why C cannot have this identifier; None if it can."""
    if not IDENTIFIER.match(name):
        return "is not an identifier in C (letters A-Z, digits, underscore)"
    if name in KEYWORDS:
        return "is a keyword of C"
    if RESERVED.match(name):
        return "is reserved in C, or for the generated code"
    if external and name in STANDARD:
        return "is a name of C's own library"
    return None


class CNames:
    """The identifiers of one compiled spec."""

    def __init__(
        self, specification: Specification, externs: Iterable[Input], *, copilot: bool, observers: bool
    ) -> None:
        self.specification = specification
        self.externs = tuple(externs)
        self.spec = specification.name
        self.copilot = copilot
        self._must_be_name("the spec", self.spec, specification.where, external=True)
        self.public: dict[str, str] = {}  # ordinary identifiers at file scope, each with its meaning
        for suffix in ("state", "inputs", "init", "step", "inputs_valid", "observers"):
            self.public[f"{self.spec}_{suffix}"] = "a name of the generated code"
        if copilot:
            self.public["step"] = "the step function"
        self.types = _structs_and_enums(specification, self.externs, observers=observers)
        self._check_interface(observers)
        self._locals = FreshNames({*self.public, *KEYWORDS, *STANDARD, "state", "inputs", "initial", "step"})

    def _must_be_name(self, what: str, name: str, where: Location | None, *, external: bool = False) -> None:
        why = why_not(name, external=external)
        if why is not None:
            raise SpecError(f"{what} is called `{name}`, which {why}", where, write="another name")

    def _check_interface(self, observers: bool) -> None:
        specification = self.specification
        for given in self.externs:
            self._must_be_name("an extern", given.name, given.where, external=self.copilot)
            if self.copilot:
                self._declare(given.name, f"the extern `{given.name}`", given.where)
        for trigger in specification.triggers:
            self._must_be_name("a trigger", trigger.name, trigger.where, external=True)
            self._declare(trigger.name, f"the trigger `{trigger.name}`", trigger.where)
            for name, _ in trigger.args:
                if name is not None:
                    self._must_be_name(f"a parameter of {trigger.name}", name, trigger.where)
        for shown in specification.observers if observers else ():
            self._must_be_name("an observer", shown.name, shown.where)
        for type in self.types:
            match type:
                case StructType(name=name, fields=fields):
                    for part in (name, *(field for field, _ in fields)):
                        self._must_be_name(f"the struct {name}, or a field of it,", part, specification.where)
                case EnumType(name=name, members=members):
                    for member, _ in members:
                        self._must_be_name(f"a member of {name}", f"{name}_{member}", specification.where)
                        self._declare(f"{name}_{member}", f"a member of {name}", specification.where)

    def _declare(self, name: str, what: str, where: Location | None) -> None:
        if name in self.public and self.public[name] != what:
            raise SpecError(
                f"{what} and {self.public[name]} would both be `{name}` in the C", where, write="another name"
            )
        self.public[name] = what

    def fresh(self, wish: str) -> str:
        """An identifier like the wish that is not taken."""
        base = re.sub(r"\W", "_", wish, flags=re.ASCII)
        if not IDENTIFIER.match(base) or RESERVED.match(base):
            base = f"s_{base.lstrip('_')}"
        return self._locals.fresh(base)

    def parameters(self, trigger: str) -> list[str]:
        """The parameter names of a handler: the user's, or those of the streams that are passed."""
        args = next(t.args for t in self.specification.triggers if t.name == trigger)
        known = {w.term: w.name for w in self.specification.wires}
        chosen: list[str] = []
        for i, (name, arg) in enumerate(args):
            if self.copilot:
                chosen.append(f"{trigger}_arg{i}")
                continue
            wish = name or known.get(arg) or (str(arg.payload) if arg.op == "var" else f"arg{i}")
            usable = why_not(wish, external=True) is None and wish not in self.public and wish not in chosen
            chosen.append(wish if usable else f"arg{i}")
        return chosen


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
