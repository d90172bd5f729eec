"""Two loops that visit the elements of a ring from the oldest to the newest.

    for (uint32_t k = at; k < n; k++) { … }
    for (uint32_t k = 0u; k < at; k++) { … }

with equal bodies do the same as one loop over d = 0 … n - 1 with k = (at + d) mod n, if `at` is below n and the bodies
change neither `at` nor k. How many rounds each loop has depends on `at`; how many they have together does not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from streamcheck.c.syntax import form, text_of
from streamcheck.c.terms import recast
from streamcheck.core.term import Term, constant, term
from streamcheck.core.types import machine

WORD = machine(32, signed=False)


@dataclass(frozen=True, slots=True)
class RingWalk:
    """The parts of the two loops: the declaration of the counter, the bound of each, the body of both."""

    counter: Any
    length: Any
    at: Any
    body: Any


def ring_walk(first: Any, second: Any) -> RingWalk | None:
    """The walk that two statements are, or None."""
    one, two = count_of(first), count_of(second)
    if one is None or two is None:
        return None
    (counter, length, body), (other, at, body_again) = one, two
    start = other.init
    same = counter.name == other.name and text_of(counter.type) == text_of(other.type)
    begins = form(start) == "Constant" and start.value in ("0", "0u")
    if not same or not begins or text_of(body) != text_of(body_again) or text_of(counter.init) != text_of(at):
        return None
    return RingWalk(counter, length, at, body)


def count_of(node: Any) -> tuple[Any, Any, Any] | None:
    """The declaration of the counter, the bound and the body of `for (T k = …; k < bound; k++)`."""
    if form(node) != "For" or form(node.init) != "DeclList" or len(node.init.decls) != 1:
        return None
    counter, test, next = node.init.decls[0], node.cond, node.next
    name = counter.name
    if form(test) != "BinaryOp" or test.op != "<" or getattr(test.left, "name", None) != name:
        return None
    if form(next) != "UnaryOp" or next.op != "p++" or getattr(next.expr, "name", None) != name:
        return None
    if counter.init is None or counter.storage or counter.quals:
        return None
    if name in re.findall(r"\w+", f"{text_of(counter.init)} {text_of(test.right)}"):  # in its own scope
        return None
    return counter, test.right, node.stmt


def index_after(index: Term, distance: int, length: int) -> Term:
    """(index + distance) mod length, for an index below the length, which is far from 2^32."""
    if distance == 0:
        return index
    over = term("ge", index, constant(WORD, length - distance))
    back = term("sub", index, constant(WORD, length - distance))
    return term("mux", over, back, term("add", index, constant(WORD, distance)))


def is_moved(at: Term, index: Term, distance: int, length: int) -> Term:
    """at == (index + distance) mod length, for an index below the length (both far from 2^32)."""
    wide = machine(64, signed=False)
    moved = term("add", recast(index, wide), constant(wide, distance))
    over = term("ge", moved, constant(wide, length))
    wrapped = term("mux", over, term("sub", moved, constant(wide, length)), moved)
    return term("eq", recast(at, wide), wrapped)
