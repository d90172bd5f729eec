"""Checks in the C that members of a struct follow each other without padding, which no standard promises.

    typedef char beat0_dense[(offsetof(T, beat9) == (offsetof(T, beat0) + (9u * sizeof(bool)))) ? 1 : -1];

A compiler that pads these members does not accept the file. Loops read members by their distance only where such a
check stands.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from streamcheck.c.kinds import AnyKind
from streamcheck.c.syntax import form, text_of

Field = tuple[str, AnyKind]
CHECK = re.compile(
    r"\(offsetof\((\w+), (\w+)\) == \(offsetof\(\1, (\w+)\) \+ \((\d+)u \* \(sizeof\((\w+)\)\)\)\)\) \? \(1\) : \(-1\)"
)


@dataclass(frozen=True, slots=True)
class DenseMembers:
    """A check: from the member `first` of a struct to the member `last` it is as far as `distance` values of a kind."""

    struct: Any  # nodes of the syntax
    kind: Any
    first: str
    last: str
    distance: int

    def includes(self, fields: Sequence[Field], kind: AnyKind, members: Sequence[Field]) -> bool:
        """True if `members`, of that kind, are the first ones of those checked. `fields` are all of the struct."""
        at = next((i for i, (name, _) in enumerate(fields) if name == self.first), None)
        if at is None:
            return False
        dense = fields[at : at + self.distance + 1]
        ends = len(dense) == self.distance + 1 and dense[-1][0] == self.last
        return ends and list(members) == list(dense[: len(members)]) and all(each == kind for _, each in dense)


def dense_members(node: Any) -> DenseMembers | None:
    """The members that a type definition checks, if it is such a check."""
    if form(node.type) != "ArrayDecl" or node.type.dim is None or text_of(node.type.type) != "char":
        return None
    found = CHECK.fullmatch(text_of(node.type.dim))
    if found is None:
        return None
    start = node.type.dim.cond.right  # offsetof(T, first) + (distance * sizeof(K))
    return DenseMembers(start.left.args.exprs[0], start.right.right.expr, found[3], found[2], int(found[4]))
