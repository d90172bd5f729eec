"""The call of a function that is being read, with the targets of its jumps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

from streamcheck.c.declarations import Function, PointerVariable
from streamcheck.c.lvalues import Lvalue
from streamcheck.frontends.minic.lifetimes import Lifetime

Visible: TypeAlias = dict[int, tuple[str, "Lvalue | PointerVariable"]]  # local variables, by identity


@dataclass(frozen=True, slots=True)
class JumpEnd:
    """The start or the end of a jump: the blocks around it, and their variables."""

    visible: Visible
    blocks: tuple[Lifetime, ...]


@dataclass(slots=True)
class Inlining:
    """The function being inlined, and the targets of its jumps."""

    function: Function
    result: Lvalue | PointerVariable | None
    leave: str
    outermost: bool
    breaks: list[str] = field(default_factory=list)
    continues: list[str] = field(default_factory=list)
    cases: list[tuple[dict[int, str], JumpEnd]] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)
    placed: dict[str, JumpEnd] = field(default_factory=dict)
    waiting: dict[str, list[tuple[str, JumpEnd]]] = field(default_factory=dict)  # jumps to labels further on
    wanted: dict[str, Any] = field(default_factory=dict)
    straight: bool = True  # nothing so far can run twice
    begins: tuple[str, int] = ("", 0)  # the place, and how many edges were before
    wanted_result: bool = False  # the caller uses the value
    jumps: bool = False  # a jump may lead to code that has been read
