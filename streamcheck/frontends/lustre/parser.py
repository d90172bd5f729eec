"""Declarations: types, constants, nodes, functions, contracts."""

from __future__ import annotations

from streamcheck.frontends.lustre.syntax import (
    Clause,
    ConstantText,
    Contract,
    Equation,
    Import,
    Mode,
    NodeText,
    Program,
    PropertyText,
    Variable,
)
from streamcheck.frontends.lustre.tokens import END, Tokens
from streamcheck.frontends.lustre.type_parser import TypeParser

BLOCKS = {"if": "`if` blocks", "frame": "`frame` blocks", "cond": "`cond` blocks"}


def parse(text: str, file: str) -> tuple[Program, Tokens]:
    tokens = Tokens(text, file)
    return Parser(tokens).program(), tokens


class Parser(TypeParser):
    def program(self) -> Program:
        program = Program()
        while self.texts[self.at] != END:
            self._declaration(program)
        return program

    def _declaration(self, program: Program) -> None:
        at = self.at
        while self.texts[self.at] in ("opaque", "transparent"):
            self.at += 1
        word = self.texts[self.at]
        self.at += 1
        if word == "type":
            self._types(program)
        elif word in ("const", "param"):
            for constant in self._constants():
                self._once(program.constants, constant.name, constant.at)
                program.constants[constant.name] = constant
        elif word in ("node", "function"):
            node = self._node(word, at)
            self._once(program.nodes, node.name, at)
            program.nodes[node.name] = node
        elif word == "contract":
            node = self._contract_node(at)
            self._once(program.contracts, node.name, at)
            program.contracts[node.name] = node
        else:
            self.at -= 1
            self.fail("`node`, `function`, `const`, `type` or `contract`")

    def _once(self, known: object, name: str, at: int) -> None:
        if name in known:  # type: ignore[operator]
            raise self.tokens.error(at, f"{name} is declared a second time")

    def _types(self, program: Program) -> None:
        while True:
            at = self.at
            names = self.separated()
            if self.texts[self.at] == "<":
                raise self.tokens.error(at, "type parameters are not supported")
            if not self.take("="):
                raise self.tokens.error(at, f"type {names[0]} has no definition: abstract types are not supported")
            found = self.type()
            self.expect(";")
            for name in names:
                self._once(program.types, name, at)
                program.types[name] = found
            if self.texts[self.at + 1] not in ("=", ","):
                return

    def _constants(self) -> list[ConstantText]:
        """After `const`: one or more, each with its own semicolon."""
        found: list[ConstantText] = []
        while True:
            at = self.at
            names = self.separated()
            type = self.type() if self.take(":") else None
            value = self.expression() if self.take("=") else None
            self.expect(";")
            if type is None and value is None:
                raise self.tokens.error(at, f"constant {names[0]} has neither type nor value")
            found += [ConstantText(name, type, value, at) for name in names]
            if self.texts[self.at + 1] not in (":", ",", "="):
                return found

    # Nodes

    def _node(self, kind: str, at: int) -> NodeText:
        imported = self.take("imported")
        name = self.name()
        if self.texts[self.at] in ("<", "<<", "="):
            raise self.tokens.error(self.at, "nodes with static parameters are not supported")
        inputs, outputs = self._signature()
        node = NodeText(name, kind, at, inputs, outputs, imported)
        self.calls = node.calls
        self.take(";")
        while self.texts[self.at] in ("(%contract", "con"):
            node.contract = self._inline_contract(node.contract)
            self.take(";")
        if not imported:
            self._body(node)
        return node

    def _signature(self) -> tuple[list[Variable], list[Variable]]:
        inputs = self._parameters()
        self.expect("returns")
        return inputs, self._parameters()

    def _parameters(self) -> list[Variable]:
        self.expect("(")
        found: list[Variable] = []
        while not self.take(")"):
            constant = self.take("const")
            found += self._variables(constant=constant)
            if not self.take(";"):
                self.expect(")")
                break
        return found

    def _variables(self, *, constant: bool = False) -> list[Variable]:
        """`a, b: type`."""
        if self.texts[self.at] == "(":
            raise self.tokens.error(self.at, "variables on a clock are not supported")
        first = self.at
        names = self.separated()
        self.expect(":")
        type = self.type()
        if self.texts[self.at] == "when":
            raise self.tokens.error(self.at, "variables on a clock are not supported")
        if self.texts[self.at] == "|":
            raise self.tokens.error(self.at, "refinement types are not supported")
        return [Variable(name, type, first + 2 * i, constant) for i, name in enumerate(names)]

    def _body(self, node: NodeText) -> None:
        while not self.take("let"):
            if self.take("var"):
                self._locals(node)
            elif self.take("const"):
                node.constants += self._constants()
            else:
                self.fail("`var` or `let`")
        while not self.take("tel"):
            self._item(node)
        if not self.take("."):
            self.take(";")

    def _locals(self, node: NodeText) -> None:
        while self.texts[self.at] not in ("var", "let", "const"):
            node.locals += self._variables()
            self.expect(";")

    def _item(self, node: NodeText) -> None:
        word = self.texts[self.at]
        if word == "assert":
            self.at += 1
            node.asserts.append(self._clause())
        elif word in ("--%MAIN", "(%MAIN"):
            self._main(node, word)
        elif word in ("--%PROPERTY", "(%PROPERTY") or (word == "check" and not self._defined_here()):
            self.at += 1
            node.properties.append(self._property(block=word.startswith("(")))
        elif (word in BLOCKS or word == "when") and not self._defined_here():
            raise self.tokens.error(self.at, f"{BLOCKS.get(word, '`when` blocks')} are not supported")
        else:
            node.equations.append(self._equation())

    def _defined_here(self) -> bool:
        """Whether the next word is a variable of that name, and this its equation."""
        return self.texts[self.at + 1] in ("=", ",", "[")

    def _main(self, node: NodeText, word: str) -> None:
        self.at += 1
        node.main = True
        if self.take(":"):
            node.main = self.texts[self.at] == "true"
            self.at += 1
        self.take(";")
        if word.startswith("("):
            self._end_of_block()

    def _end_of_block(self) -> None:
        if not self.take("*)") and not self.take("*/"):
            self.fail("`*)`")

    def _property(self, *, block: bool) -> PropertyText:
        reachable = self.take("reachable")
        if not reachable and self.texts[self.at + 1] != ";":
            self.take("invariant")
        self.take(":")
        name = self.string()
        self.take(":")
        at = self.at
        value = self.expression()
        last = self.at
        provided = self.expression() if self.take("provided") else None
        first = within = None
        while reachable and (word := self.texts[self.at]) in ("from", "within", "at"):
            bound = self.texts[self.at + 1]
            self.at += 2
            if not bound.isdigit():
                raise self.tokens.error(self.at - 1, "a number of steps is due")
            first = int(bound) if word in ("from", "at") else first
            within = int(bound) if word in ("within", "at") else within
        self.expect(";")
        if block:
            self._end_of_block()
        return PropertyText(name, value, at, last, reachable, provided, first, within)

    def _clause(self) -> Clause:
        name = self.string()
        at = self.at
        value = self.expression()
        last = self.expect(";")
        return Clause(name, value, at, last)

    def _equation(self) -> Equation:
        at = self.at
        names: list[str] = []
        indices: list[str] = []
        bracketed = self.take("(")
        while self.texts[self.at] != ")" and self.texts[self.at] != "=":
            names.append(self.name())
            while self.take("["):
                indices.append(self.name())
                self.expect("]")
            if not self.take(","):
                break
        if bracketed:
            self.expect(")")
        if indices and len(names) > 1:
            raise self.tokens.error(at, "an equation for an array's elements defines one array")
        self.expect("=")
        value = self.expression()
        self.expect(";")
        return Equation(tuple(names), tuple(indices), value, at)

    # Contracts

    def _inline_contract(self, contract: Contract | None) -> Contract:
        contract = contract or Contract(self.at)
        closers = ("noc",) if self.texts[self.at] == "con" else ("*)", "*/")
        self.at += 1
        while self.texts[self.at] not in closers:
            self._contract_item(contract)
        self.at += 1
        return contract

    def _contract_node(self, at: int) -> NodeText:
        name = self.name()
        inputs, outputs = self._signature()
        node = NodeText(name, "contract", at, inputs, outputs, contract=Contract(at))
        self.calls = node.calls
        self.take(";")
        self.expect("let")
        assert node.contract is not None
        while not self.take("tel"):
            self._contract_item(node.contract)
        if not self.take("."):
            self.take(";")
        return node

    def _contract_item(self, contract: Contract) -> None:
        self.take("weakly")
        word, at = self.texts[self.at], self.at
        self.at += 1
        if word == "assume":
            contract.assumes.append(self._clause())
        elif word == "guarantee":
            contract.guarantees.append(self._clause())
        elif word == "const":
            contract.constants += self._constants()
        elif word == "var":
            self._ghost(contract)
        elif word == "mode":
            contract.modes.append(self._mode(at))
        elif word == "import":
            contract.imports.append(self._import(at))
        elif word == "assumption_vars":
            raise self.tokens.error(at, "`assumption_vars` is not supported")
        else:
            self.at = at
            self.fail("`assume`, `guarantee`, `mode`, `var`, `const` or `import`")

    def _ghost(self, contract: Contract) -> None:
        ghosts = self._variables()
        at = self.expect("=")
        contract.ghosts += ghosts
        contract.equations.append(Equation(tuple(g.name for g in ghosts), (), self.expression(), at))
        self.expect(";")

    def _mode(self, at: int) -> Mode:
        name = self.name()
        self.expect("(")
        clauses: dict[str, list[Clause]] = {"require": [], "ensure": []}
        while not self.take(")"):
            word = self.texts[self.at]
            if word not in clauses:
                self.fail("`require` or `ensure`")
            self.at += 1
            clauses[word].append(self._clause())
        self.expect(";")
        return Mode(name, tuple(clauses["require"]), tuple(clauses["ensure"]), at)

    def _import(self, at: int) -> Import:
        contract = self.name()
        inputs = self._arguments()
        self.expect("returns")
        self.expect("(")
        outputs = [] if self.texts[self.at] == ")" else self.separated()
        self.expect(")")
        self.expect(";")
        return Import(contract, inputs, tuple(outputs), at)
