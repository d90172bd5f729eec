"""Checks in the C that members of a struct follow each other without padding, which no standard promises.

    typedef char beat0_dense[(offsetof(T, beat9) == (offsetof(T, beat0) + (9u * sizeof(bool)))) ? 1 : -1];

A compiler that pads these members does not accept the file. Loops read members by their distance only where such a
check stands.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from streamcheck.c import kinds, pointers
from streamcheck.c.kinds import AnyKind, Pointer, Struct
from streamcheck.c.lvalues import Lvalue
from streamcheck.c.syntax import form, text_of

if TYPE_CHECKING:
    from streamcheck.validate.execution import Execution

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

    def members(self, fields: Sequence[Field]) -> Sequence[Field]:
        """The members, of all that the struct has; none if they are not as the check says."""
        at = next((i for i, (name, _) in enumerate(fields) if name == self.first), len(fields))
        dense = fields[at : at + self.distance + 1]
        return dense if len(dense) == self.distance + 1 and dense[-1][0] == self.last else ()


def dense_members(node: Any) -> DenseMembers | None:
    """The members that a type definition checks, if it is such a check."""
    if form(node.type) != "ArrayDecl" or node.type.dim is None or text_of(node.type.type) != "char":
        return None
    found = CHECK.fullmatch(text_of(node.type.dim))
    if found is None:
        return None
    start = node.type.dim.cond.right  # offsetof(T, first) + (distance * sizeof(K))
    return DenseMembers(start.left.args.exprs[0], start.right.right.expr, found[3], found[2], int(found[4]))


def member_at(run: Execution, node: Any) -> Lvalue:
    """The member that `(const K *)((const uint8_t *)p + offsetof(T, first) + i * sizeof(K))` points to: `i` members
    after the first of the struct that p points to. All are of kind K, and the file checks that there is no padding
    between them. If `i` is not known, it is an index into them, as into an array."""
    start, further = node.expr.left, node.expr.right
    shapes = [form(start), form(further), form(getattr(further, "right", None))]
    if shapes != ["BinaryOp", "BinaryOp", "UnaryOp"] or [node.expr.op, start.op, further.op] != ["+", "+", "*"]:
        raise run.error(f"{run.text(node)}: a pointer of this form is not supported", node)
    target, base = _bytes_of(run, start.left)
    wanted = run.declarations.kind_of(node.to_type, run.scope)
    index, size, offset = run.scalar(further.left), further.right, start.right
    if (
        not isinstance(wanted, Pointer)
        or not wanted.constant
        or size.op != "sizeof"
        or form(size.expr) != "Typename"
        or run.declarations.kind_of(size.expr, run.scope) != wanted.target
        or form(offset) != "FuncCall"
        or getattr(offset.name, "name", "") != "offsetof"
        or run.scope.meaning("offsetof") is not None
        or run.declarations.kind_of(offset.args.exprs[0], run.scope) != target
    ):
        raise run.error(f"{run.text(node)}: a pointer of this form is not supported", node)
    first = offset.args.exprs[1].name
    members = _dense_run(run, target, first, wanted.target)
    if not index.term.is_const and members and base.object.constant:
        run.arithmetic.index(index, len(members))
        return replace(base.field(first, wanted.target), indices=(*base.indices, index.term))
    if not index.term.is_const or not 0 <= index.term.payload < len(members):
        raise run.error(f"{run.text(node)}: the file checks {len(members)} members of one type for padding", node)
    return base.field(members[int(index.term.payload)][0], wanted.target)


def _dense_run(run: Execution, struct: Struct, first: str, kind: AnyKind) -> Sequence[Field]:
    """The most members of a kind, the first first, that the file checks to follow each other."""
    checks = [check for of, each, check in run.dense if of == struct and each == kind and check.first == first]
    members = [check.members(struct.fields) for check in checks]
    return max((m for m in members if all(each == kind for _, each in m)), key=len, default=())


def _bytes_of(run: Execution, node: Any) -> tuple[Struct, Lvalue]:
    """The struct whose bytes `(const uint8_t *)p` points to."""
    if form(node) == "Cast":
        pointer = run.declarations.kind_of(node.to_type, run.scope)
        base = pointers.pointee_of(run.value(node.expr), run, node)
        is_bytes = isinstance(pointer, Pointer) and pointer.target == kinds.UCHAR and pointer.constant
        if is_bytes and base.offset is None and isinstance(base.lvalue.kind, Struct):
            return base.lvalue.kind, base.lvalue
    raise run.error(f"{run.text(node)}: a pointer of this form is not supported", node)
