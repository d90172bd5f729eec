"""Lustre types."""

from __future__ import annotations

from streamcheck.core.notation import LUSTRE_WORD_TYPES
from streamcheck.frontends.lustre.cursor import Cursor
from streamcheck.frontends.lustre.expressions import ExpressionParser
from streamcheck.frontends.lustre.syntax import Constructor, ExpressionText, TypeText
from streamcheck.frontends.lustre.walks import subexpressions

UNSUPPORTED_TYPES = {  # the word: (the kind of type, what to write instead)
    "history": ("history", "registers, with `pre`"),
}
AFTER_SIZE = frozenset(("^", "=", "when", ">"))  # what may follow an array's size, and is no part of it


class TypeParser:
    def __init__(self, cursor: Cursor, expressions: ExpressionParser) -> None:
        self.cursor = cursor
        self.expressions = expressions
        expressions.type_arguments = self.arguments
        expressions.binders.type = self.type

    def type(self) -> TypeText:
        at = self.cursor.at
        word = self.cursor.next()
        if word in ("bool", "int", "real"):
            type = TypeText(word, None, at)
        elif word in LUSTRE_WORD_TYPES:
            type = TypeText("machine", LUSTRE_WORD_TYPES[word], at)
        elif word in ("sint", "uint") and self.cursor.take("<"):
            if not self.cursor.word.isdigit() or not int(self.cursor.word):
                self.cursor.fail("a width")
            width = int(self.cursor.next())
            self.cursor.expect(">")
            type = TypeText("machine", (width, word == "sint"), at)
        elif word == "subrange":
            type = self._subrange(at)
        elif word == "subtype":
            type = self._refinement(at)
        elif word == "enum":
            self.cursor.expect("{")
            type = TypeText("enum", tuple(self.cursor.names()), at)
            self.cursor.expect("}")
        elif word in ("struct", "{"):
            if word == "struct":
                self.cursor.expect("{")
            type = self._record(at)
        elif word == "[":
            items = [self.type()]
            while self.cursor.take(","):
                items.append(self.type())
            self.cursor.expect("]")
            type = TypeText("tuple", tuple(items), at)
        elif word in ("set", "map") and self.cursor.word == "<":
            types = self.arguments()
            if len(types) != (1 if word == "set" else 2):
                raise self.cursor.error(at, "write set<T> or map<K, V>")
            type = TypeText(word, types, at)
        elif word in UNSUPPORTED_TYPES and self.cursor.word in ("<", "("):
            what, write = UNSUPPORTED_TYPES[word]
            raise self.cursor.error(at, f"{what} types are not supported", write=write)
        else:
            self.cursor.at = at
            name = self.cursor.name()
            self.expressions.type_names.add(name)
            arguments = self.arguments() if self.cursor.word == "<" else ()
            type = TypeText("applied", (name, arguments), at) if arguments else TypeText("name", name, at)
        while self.cursor.take("^"):
            size = self.expressions.expression(AFTER_SIZE)
            call = next((e for e in subexpressions(size) if e.op == "call"), None)
            if call is not None:
                text = f"the size of an array has a call of {call.value.node} in it"
                raise self.cursor.error(call.at, text, write="its value")
            type = TypeText("array", (type, size), at)
        while self.cursor.word == "[" and self.cursor.after.isdigit():  # JKind's `int[3]`
            self.cursor.is_jkind = True
            self.cursor.next()
            size = ExpressionText("number", (), self.cursor.next(), self.cursor.at - 1)
            self.cursor.expect("]")
            type = TypeText("array", (type, size), at)
        return type

    def arguments(self) -> tuple[TypeText, ...]:
        """`<T, U>`, the arguments of a type, a node or a constructor."""
        self.cursor.expect("<")
        types = [self.type()]
        while self.cursor.take(",") or self.cursor.take(";"):
            types.append(self.type())
        self.cursor.expect(">")
        return tuple(types)

    def parameters(self) -> tuple[str, ...]:
        """`<T; U>` after a declared name, if it is there."""
        if not self.cursor.take("<"):
            return ()
        names = [self.cursor.name()]
        while self.cursor.take(",") or self.cursor.take(";"):
            names.append(self.cursor.name())
        self.cursor.expect(">")
        return tuple(names)

    def union(self) -> TypeText:
        """The constructors of an algebraic data type."""
        at = self.cursor.at
        self.cursor.take("|")
        constructors = [self._constructor()]
        while self.cursor.take("|"):
            constructors.append(self._constructor())
        return TypeText("union", tuple(constructors), at)

    def _constructor(self) -> Constructor:
        at = self.cursor.at
        name = self.cursor.name()
        fields: list[tuple[str, TypeText]] = []
        if self.cursor.take("("):
            while True:
                field = self.cursor.name()
                self.cursor.expect(":")
                if field in dict(fields):
                    raise self.cursor.error(at, f"{name} has two fields {field}")
                fields.append((field, self.type()))
                if not self.cursor.take(","):
                    break
            self.cursor.expect(")")
        return Constructor(name, tuple(fields), at)

    def _subrange(self, at: int) -> TypeText:
        self.cursor.expect("[")
        low = None if self.cursor.take("*") else self.expressions.expression()
        self.cursor.expect(",")
        high = None if self.cursor.take("*") else self.expressions.expression()
        self.cursor.expect("]")
        self.cursor.expect("of")
        self.cursor.expect("int")
        return TypeText("subrange", (low, high), at)

    def _refinement(self, at: int) -> TypeText:
        """`subtype { x: T | condition of x }`."""
        self.cursor.expect("{")
        name = self.cursor.name()
        self.cursor.expect(":")
        base = self.type()
        if self.cursor.word != "|":
            self.cursor.fail("`|` and the condition of the type")
        type = self.with_condition(name, base, at)
        self.cursor.expect("}")
        return type

    def with_condition(self, name: str, base: TypeText, at: int) -> TypeText:
        """The type with its condition about `name`, which comes next; the type itself if there is none."""
        if not self.cursor.take("|"):
            return base
        condition = self.expressions.binders.condition(name)
        self.expressions.conditions.append(condition)
        return TypeText("refinement", (name, base, condition), at)

    def _record(self, at: int) -> TypeText:
        fields: list[tuple[str, TypeText]] = []
        while not self.cursor.take("}"):
            names = self.cursor.names()
            self.cursor.expect(":")
            field_type = self.type()
            fields += [(name, field_type) for name in names]
            if not self.cursor.take(";") and not self.cursor.take(","):
                self.cursor.expect("}")
                break
        return TypeText("record", tuple(fields), at)
