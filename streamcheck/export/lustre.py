"""A system as one Lustre node that Kind 2 reads.

A state variable is `init -> pre next`; one that may start anywhere begins with an input of its own, read at the first
step. Names that Lustre does not allow are spelled with underscores; properties keep theirs, as strings.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from streamcheck.core.errors import SpecError
from streamcheck.core.names import FreshNames
from streamcheck.core.notation import LUSTRE_RESERVED, LUSTRE_RESERVED_LATER
from streamcheck.core.term import Term, walk
from streamcheck.core.types import EnumType, FloatType, Type, Value
from streamcheck.export.lustre_terms import literal, operation, type_name
from streamcheck.export.smt_text import one_line
from streamcheck.problem.claim import Goal
from streamcheck.problem.transition import TransitionSystem

DEEPEST = 12  # operations inside each other, before one of them gets a name


class Identifiers:
    """Different identifiers of Lustre for different wishes."""

    def __init__(self) -> None:
        self._names = FreshNames(LUSTRE_RESERVED | LUSTRE_RESERVED_LATER)

    def fresh(self, wish: str) -> str:
        base = re.sub(r"[^A-Za-z0-9_]+", "_", wish).strip("_") or "x"
        return self._names.fresh(base if base[0].isalpha() else f"x{base}")


def write_lustre(system: TransitionSystem) -> str:
    return "\n".join(LustreWriter(system).lines()) + "\n"


class LustreWriter:
    def __init__(self, system: TransitionSystem) -> None:
        self.system = system
        self.names = Identifiers()
        self.node = self.names.fresh(system.name)
        self.enums: dict[Type, str] = {}
        self.members: dict[tuple[Type, Value], str] = {}
        nodes = list(walk(system.roots()))
        for node in nodes:
            self._declare_enum(node.type)
        self.texts: dict[Term, str] = {v: self.names.fresh(v.payload) for v in system.inputs}
        self.texts |= {s.var: self.names.fresh(s.var.payload) for s in system.state}
        self.firsts = {s.var: self.names.fresh(f"{s.var.payload}_first") for s in system.state if s.init is None}
        self.locals: list[tuple[str, Term, str]] = []
        self._write(nodes)

    def _declare_enum(self, type: Type) -> None:
        if isinstance(type, FloatType):
            raise SpecError(
                f"{self.system.name}: floats cannot be written in Lustre", write="--as json, which has everything"
            )
        if isinstance(type, EnumType) and type not in self.enums:
            self.enums[type] = self.names.fresh(type.name)
            for member, code in type.members:
                self.members[(type, code)] = self.names.fresh(f"{type.name}_{member}")

    def _write(self, nodes: Iterable[Term]) -> None:
        wishes = {d.term: d.name for d in reversed(self.system.definitions)}
        uses: Counter[Term] = Counter(self.system.roots())
        nodes = list(nodes)
        for node in nodes:
            uses.update(node.args)
        depths: dict[Term, int] = {}
        for node in nodes:
            depths[node] = 1 + max((depths[a] for a in node.args), default=0)
            if node.op == "const":
                self.texts[node] = literal(node.type, node.payload, self.members)
            elif node.args:
                text = operation(node, [self.texts[a] for a in node.args], self.members)
                if node in wishes or uses[node] > 1 or depths[node] > DEEPEST or len(text) > 300:
                    name = self.names.fresh(wishes.get(node, "t"))
                    self.locals.append((name, node, text))
                    text, depths[node] = name, 0
                self.texts[node] = text

    def lines(self) -> Iterator[str]:
        system = self.system
        for type, name in self.enums.items():
            assert isinstance(type, EnumType)
            yield f"type {name} = enum {{ {', '.join(self.members[(type, code)] for code in type.codes)} }};"
        inputs = [(self.texts[v], v.type) for v in system.inputs]
        inputs += [(name, v.type) for v, name in self.firsts.items()]
        claims = [self.names.fresh(f"claim_{i + 1}") for i, _ in enumerate(system.properties)]
        outputs = [f"{claim}: bool" for claim in claims] or [f"{self.names.fresh('nothing')}: bool"]
        yield f"node {self.node} ({'; '.join(f'{n}: {self._type(t)}' for n, t in inputs)})"
        yield f"returns ({'; '.join(outputs)});"
        locals = [(self.texts[s.var], s.var.type) for s in system.state] + [(n, t.type) for n, t, _ in self.locals]
        if locals:
            yield "var"
            yield from (f"  {name}: {self._type(type)};" for name, type in locals)
        yield "let"
        for s in system.state:
            first = self.texts[s.init] if s.init is not None else self.firsts[s.var]
            yield f"  {self.texts[s.var]} = {first} -> pre {self.texts[s.next]};"
        yield from (f"  {name} = {text};" for name, _, text in self.locals)
        for a in system.assumptions:
            yield f"  assert {self.texts[a.term]};"
        for claim, p in zip(claims, system.properties, strict=True):
            kind = "reachable " if p.goal is Goal.REACHABLE else ""
            name = one_line(p.name).replace('"', "'")
            yield f"  {claim} = {self.texts[p.term]};"
            yield f'  check {kind}"{name}" {claim};' if kind else f'  --%PROPERTY "{name}" {claim};'
        if not claims:
            yield f"  {outputs[0].split(':')[0]} = true;"
        yield "  --%MAIN;"
        yield "tel"

    def _type(self, type: Type) -> str:
        return type_name(type, self.enums)
