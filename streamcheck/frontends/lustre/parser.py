"""Declarations: types, constants, nodes, functions, contracts."""

from __future__ import annotations

from dataclasses import replace

from streamcheck.frontends.lustre.blocks import BlockParser
from streamcheck.frontends.lustre.cursor import Cursor, WrittenForV6, is_name
from streamcheck.frontends.lustre.expressions import ExpressionParser
from streamcheck.frontends.lustre.frames import FrameParser
from streamcheck.frontends.lustre.lemmas import LemmaParser
from streamcheck.frontends.lustre.syntax import (
    Clause,
    ConstantText,
    Contract,
    Equation,
    Import,
    LustreFile,
    Mode,
    NodeText,
    PropertyText,
    TypeText,
    Variable,
)
from streamcheck.frontends.lustre.tokens import END, Tokens
from streamcheck.frontends.lustre.type_parser import TypeParser

FLOOR = "\nfunction floor(x: real) returns (y: int); let y = int x; tel"  # an operator of JKind


def parse(text: str, file: str) -> tuple[LustreFile, Tokens]:
    tokens = Tokens(text, file)
    try:
        lustre = Parser(tokens).file()
    except WrittenForV6:
        lustre = Parser(tokens, is_v6=True).file()
    if "floor" not in lustre.nodes and any("floor" in node.calls for node in lustre.nodes.values()):
        return parse(text + FLOOR, file)
    return lustre, tokens


def constructors_in(texts: list[str]) -> frozenset[str]:
    """The constructors of the file's algebraic data types, which are told from variables before they are declared."""
    names: set[str] = set()
    at = texts.index("datatype") if "datatype" in texts else len(texts)
    while at < len(texts):
        is_declaration = texts[at] == "datatype" and is_name(texts[at + 1])
        at += 1
        while is_declaration and texts[at] not in ("=", ";", END):
            at += 1
        depth = 0
        while is_declaration and texts[at] not in (";", END):
            if texts[at] in ("=", "|") and not depth and (name := texts[at + 1]) != "|":
                names.add(name)
            depth += {"(": 1, ")": -1}.get(texts[at], 0)
            at += 1
    return frozenset(names)


class Parser:
    def __init__(self, tokens: Tokens, *, is_v6: bool = False) -> None:
        self.cursor = Cursor(tokens, is_v6=is_v6)
        self.expressions = ExpressionParser(self.cursor, constructors_in(tokens.texts))
        self.types = TypeParser(self.cursor, self.expressions)
        self.expressions.binders.variables = self._variables
        self.blocks = BlockParser(self.cursor, self.expressions, self._equation, self._is_variable)
        self.frames = FrameParser(self.cursor, self.expressions, self.blocks, self._equation)
        self.needs: dict[str, tuple[set[str], set[str]]] = {}  # the calls and the names in each type
        self.lemmas = LemmaParser(self.cursor, self.expressions, self._parameters, self._contracts)

    def file(self) -> LustreFile:
        file = LustreFile(unguarded=self.expressions.unguarded)
        while self.cursor.word != END:
            self._begin_declaration()
            self._declaration(file)
            if self.expressions.samples:
                self.cursor.require_v6()
        file.is_v6 = self.cursor.is_v6
        file.is_jkind = self.cursor.is_jkind
        file.conditions = self.expressions.conditions
        for node in (*file.nodes.values(), *file.contracts.values()):
            node.calls |= self._calls_of_types(node.types)
        return file

    def _begin_declaration(self) -> None:
        self.expressions.calls, self.expressions.type_names = set(), set()

    def _calls_of_types(self, names: set[str]) -> set[str]:
        """The nodes that the conditions of these types call, and those of the types in them."""
        calls: set[str] = set()
        stack, seen = list(names), set[str]()
        while stack:
            name = stack.pop()
            if name in self.needs and name not in seen:
                seen.add(name)
                calls |= self.needs[name][0]
                stack += self.needs[name][1]
        return calls

    def _declaration(self, file: LustreFile) -> None:
        at = self.cursor.at
        opacity = self.cursor.next() if self.cursor.word in ("opaque", "transparent") else ""
        word = self.cursor.next()
        if word == "type":
            self._types(file)
        elif word == "datatype":
            self._datatypes(file)
        elif word in ("const", "param"):
            for constant in self._constants():
                self._once(file.constants, constant.name, constant.at)
                file.constants[constant.name] = constant
        elif word in ("node", "function"):
            node = self._node(word, at)
            self._check_opacity(opacity, node)
            self._once(file.nodes, node.name, at)
            file.nodes[node.name] = node
        elif word == "lemma":
            node = self.lemmas.lemma(at)
            self._once(file.nodes, node.name, at)
            file.nodes[node.name] = node
        elif word == "contract":
            node = self._contract_node(at)
            self._once(file.contracts, node.name, at)
            file.contracts[node.name] = node
        else:
            self.cursor.at -= 1
            self.cursor.fail("`node`, `function`, `const`, `type` or `contract`")

    def _check_opacity(self, opacity: str, node: NodeText) -> None:
        if opacity == "opaque" and node.contract is None:
            raise self.cursor.error(node.at, f"{node.name} is opaque and has no contract", write="a contract")
        if opacity == "transparent" and node.imported:
            raise self.cursor.error(node.at, f"{node.name} is transparent and imported: it has no body to look into")

    def _once(self, known: object, name: str, at: int) -> None:
        if name in known:  # type: ignore[operator]
            raise self.cursor.error(at, f"{name} is declared twice")

    def _types(self, file: LustreFile) -> None:
        while True:
            at = self.cursor.at
            names, parameters = self.cursor.names(), self.types.parameters()
            if self.cursor.word == ";" and not parameters:
                type = TypeText("abstract", None, at)
            else:
                self.cursor.expect("=")
                type = self.types.type()
            self.cursor.expect(";")
            self._add_types(file, names, parameters, type, at)
            if self.cursor.after not in ("=", ","):
                return
            self._begin_declaration()

    def _datatypes(self, file: LustreFile) -> None:
        at = self.cursor.at
        names, parameters = self.cursor.names(), self.types.parameters()
        self.cursor.expect("=")
        type = self.types.union()
        self.cursor.expect(";")
        self._add_types(file, names, parameters, type, at)
        for constructor in type.value:
            self._once(file.constructors, constructor.name, constructor.at)
            file.constructors[constructor.name] = names[0]

    def _add_types(
        self, file: LustreFile, names: list[str], parameters: tuple[str, ...], type: TypeText, at: int
    ) -> None:
        for name in names:
            self._once(file.types, name, at)
            file.types[name] = type
            self.needs[name] = (self.expressions.calls, self.expressions.type_names)
            if parameters:
                file.parameters[name] = parameters

    def _constants(self) -> list[ConstantText]:
        """After `const`: one declaration or more, each with its own semicolon."""
        constants: list[ConstantText] = []
        while True:
            at = self.cursor.at
            names = self.cursor.names()
            type = self.types.type() if self.cursor.take(":") else None
            if type is not None and len(names) == 1:
                type = self.types.with_condition(names[0], type, at)
            value = self.expressions.expression() if self.cursor.take("=") else None
            self.cursor.expect(";")
            if type is None and value is None:
                raise self.cursor.error(at, f"constant {names[0]} has neither type nor value")
            constants += [ConstantText(name, type, value, at) for name in names]
            if self.cursor.after not in (":", ",", "="):
                return constants

    # Nodes

    def _node(self, kind: str, at: int) -> NodeText:
        imported = self.cursor.take("imported")
        recursive = kind == "function" and is_name(self.cursor.after) and self.cursor.take("rec")
        outside = set(self.cursor.compound)
        name = self.cursor.new_name()
        parameters = self._type_parameters("nodes")
        inputs, outputs = self._signature()
        node = NodeText(name, kind, at, inputs, outputs, imported, parameters, recursive)
        node.calls, node.types = self.expressions.calls, self.expressions.type_names
        self.cursor.take(";")
        self._contracts(node)
        node.imported = imported or (kind == "function" and node.contract is None and not self._has_body())
        if not node.imported:
            self._body(node)
        elif not imported:
            self.cursor.is_jkind = True
        self.cursor.compound = outside | ({name} & self.cursor.compound)
        return node

    def _contracts(self, node: NodeText) -> None:
        """The contracts between the signature and the body."""
        while self.cursor.word in ("(%contract", "con"):
            node.contract = self._inline_contract(node.contract)
            self.cursor.take(";")

    def _has_body(self) -> bool:
        """False if the next declaration begins before a body does: JKind's functions have none."""
        ahead = self.cursor.at
        while self.cursor.texts[ahead] not in ("let", "node", "function", "type", END):
            ahead += 1
        return self.cursor.texts[ahead] == "let"

    def _type_parameters(self, what: str) -> tuple[str, ...]:
        if self.cursor.word == "=" or (self.cursor.word == self.cursor.after == "<"):
            text = f"{what} with static parameters are not supported"
            raise self.cursor.error(self.cursor.at, text, write="type parameters `<T>`, or an input `const n: int`")
        return self.types.parameters()

    def _signature(self) -> tuple[list[Variable], list[Variable]]:
        inputs = self._parameters()
        self.cursor.expect("returns")
        return inputs, self._parameters()

    def _parameters(self) -> list[Variable]:
        self.cursor.expect("(")
        variables: list[Variable] = []
        while not self.cursor.take(")"):
            constant = self.cursor.take("const")
            variables += self._clocked_variables(constant=constant)
            if not self.cursor.take(";"):
                self.cursor.expect(")")
                break
        return variables

    def _clocked_variables(self, *, constant: bool = False) -> list[Variable]:
        """`a, b: type`, `a, b: type when clock`, or `(a: type; b: type) when clock`."""
        if self.cursor.take("("):
            self.cursor.require_v6()
            variables = self._variables()
            while self.cursor.take(";"):
                variables += self._variables()
            self.cursor.expect(")")
        else:
            variables = self._variables(constant=constant)
        if self.cursor.word != "when":
            return variables
        self.cursor.require_v6()
        self.cursor.next()
        if constant:
            raise self.cursor.error(self.cursor.at, "a constant has no clock")
        clock = self.expressions.clock()
        return [replace(v, clock=clock) for v in variables]

    def _variables(self, *, constant: bool = False) -> list[Variable]:
        """`a, b: type`."""
        first = self.cursor.at
        names = [(self.cursor.new_name(), first)]
        while self.cursor.take(","):
            at = self.cursor.at
            names.append((self.cursor.new_name(), at))
        self.cursor.expect(":")
        type = self.types.type()
        if self.cursor.word == "|" and len(names) > 1:
            raise self.cursor.error(self.cursor.at, "this condition is of one variable", write=f"{names[0][0]}: …; …")
        type = self.types.with_condition(names[0][0], type, first)
        return [Variable(name, type, at, constant) for name, at in names]

    def _body(self, node: NodeText) -> None:
        while not self.cursor.take("let"):
            if self.cursor.take("var"):
                self._locals(node)
            elif self.cursor.take("const"):
                node.constants += self._constants()
            else:
                self.cursor.fail("`var` or `let`")
        while not self.cursor.take("tel"):
            self._item(node)
        node.locals += self.blocks.conditions
        node.equations += self.blocks.condition_equations
        self.blocks.conditions, self.blocks.condition_equations = [], []
        if not self.cursor.take("."):
            self.cursor.take(";")

    def _locals(self, node: NodeText) -> None:
        while self.cursor.word not in ("var", "let", "const"):
            node.locals += self._clocked_variables()
            self.cursor.expect(";")

    def _item(self, node: NodeText) -> None:
        word = self.cursor.word
        if self.cursor.take("assert"):
            node.asserts.append(self._clause())
        elif word in ("--%MAIN", "(%MAIN"):
            self._main(node, word)
        elif word == "--%REALIZABLE":
            self._realizable(node)
        elif word in ("--%PROPERTY", "(%PROPERTY") or (word == "check" and not self._is_variable()):
            self.cursor.next()
            node.properties.append(self._property(block=word.startswith("(")))
        elif word == "frame" and not self._is_variable():
            self.frames.add(node)
        elif is_name(word) and self.cursor.after == "(":
            self.lemmas.add_statement(node)
        elif self.blocks.begins():
            node.equations += self.blocks.equations()
        else:
            node.equations.append(self._equation())

    def _is_variable(self) -> bool:
        """True if the next word is a variable, and this its equation."""
        return self.cursor.after in ("=", ",", "[")

    def _main(self, node: NodeText, word: str) -> None:
        self.cursor.next()
        node.main = not self.cursor.take(":") or self.cursor.next() == "true"
        self.cursor.take(";")
        if word.startswith("("):
            self._end_of_block()

    def _realizable(self, node: NodeText) -> None:
        """The inputs that the environment chooses; the component chooses the others."""
        self.cursor.next()
        node.chosen = node.chosen or set()
        while self.cursor.word != ";":
            at, name = self.cursor.at, self.cursor.next()
            if name not in {v.name for v in node.inputs}:
                raise self.cursor.error(at, f"{name} is no input of {node.name}")
            node.chosen.add(name)
            if not self.cursor.take(","):
                break
        self.cursor.expect(";")

    def _end_of_block(self) -> None:
        if not self.cursor.take("*)") and not self.cursor.take("*/"):
            self.cursor.fail("`*)`")

    def _property(self, *, block: bool) -> PropertyText:
        reachable = self.cursor.take("reachable")
        if not reachable and self.cursor.after != ";":
            self.cursor.take("invariant")
        self.cursor.take(":")
        name = self.cursor.string()
        self.cursor.take(":")
        at = self.cursor.at
        value = self.expressions.expression()
        last = self.cursor.at
        provided = self.expressions.expression() if self.cursor.take("provided") else None
        first = within = None
        while reachable and (word := self.cursor.word) in ("from", "within", "at"):
            self.cursor.next()
            bound = self.cursor.next()
            if not bound.isdigit():
                raise self.cursor.error(self.cursor.at - 1, "expected a number of steps")
            first = int(bound) if word in ("from", "at") else first
            within = int(bound) if word in ("within", "at") else within
        self.cursor.expect(";")
        if block:
            self._end_of_block()
        return PropertyText(name, value, at, last, reachable, provided, first, within)

    def _clause(self) -> Clause:
        name = self.cursor.string()
        at = self.cursor.at
        value = self.expressions.expression()
        last = self.cursor.expect(";")
        return Clause(name, value, at, last)

    def _equation(self) -> Equation:
        at = self.cursor.at
        names: list[str] = []
        indices: list[str] = []
        bracketed = self.cursor.take("(")
        while self.cursor.word != ")" and self.cursor.word != "=":
            names.append(self.cursor.known_name())
            while self.cursor.take("["):
                indices.append(self.cursor.name())
                self.cursor.expect("]")
            if not self.cursor.take(","):
                break
        if bracketed:
            self.cursor.expect(")")
        if indices and len(names) > 1:
            raise self.cursor.error(at, "an equation for an array's elements defines one array")
        self.cursor.expect("=")
        value = self.expressions.expression()
        self.cursor.expect(";")
        return Equation(tuple(names), tuple(indices), value, at)

    # Contracts

    def _inline_contract(self, contract: Contract | None) -> Contract:
        contract = contract or Contract(self.cursor.at)
        closers = ("noc",) if self.cursor.next() == "con" else ("*)", "*/")
        while self.cursor.word not in closers:
            self._contract_item(contract)
        self.cursor.next()
        return contract

    def _contract_node(self, at: int) -> NodeText:
        name = self.cursor.name()
        parameters = self._type_parameters("contracts")
        inputs, outputs = self._signature()
        node = NodeText(name, "contract", at, inputs, outputs, parameters=parameters, contract=Contract(at))
        node.calls, node.types = self.expressions.calls, self.expressions.type_names
        self.cursor.take(";")
        self.cursor.expect("let")
        assert node.contract is not None
        while not self.cursor.take("tel"):
            self._contract_item(node.contract)
        if not self.cursor.take("."):
            self.cursor.take(";")
        return node

    def _contract_item(self, contract: Contract) -> None:
        self.cursor.take("weakly")
        at, word = self.cursor.at, self.cursor.next()
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
        elif word == "decreases":
            contract.decreases = self.expressions.expressions()
            self.cursor.expect(";")
        elif word == "assumption_vars":
            raise self.cursor.error(at, "`assumption_vars` is not supported", write="the contract without it")
        else:
            self.cursor.at = at
            self.cursor.fail("`assume`, `guarantee`, `mode`, `var`, `const` or `import`")

    def _ghost(self, contract: Contract) -> None:
        ghosts = self._variables()
        while self.cursor.take(","):
            ghosts += self._variables()
        at = self.cursor.expect("=")
        contract.ghosts += ghosts
        contract.equations.append(Equation(tuple(g.name for g in ghosts), (), self.expressions.expression(), at))
        self.cursor.expect(";")

    def _mode(self, at: int) -> Mode:
        name = self.cursor.name()
        self.cursor.expect("(")
        clauses: dict[str, list[Clause]] = {"require": [], "ensure": []}
        while not self.cursor.take(")"):
            if self.cursor.word not in clauses:
                self.cursor.fail("`require` or `ensure`")
            clauses[self.cursor.next()].append(self._clause())
        self.cursor.expect(";")
        return Mode(name, tuple(clauses["require"]), tuple(clauses["ensure"]), at)

    def _import(self, at: int) -> Import:
        contract, types = self.cursor.name(), self.expressions.applied_types()
        inputs = self.expressions.arguments()
        self.cursor.expect("returns")
        self.cursor.expect("(")
        outputs = [] if self.cursor.word == ")" else self.cursor.names()
        self.cursor.expect(")")
        self.cursor.expect(";")
        return Import(contract, inputs, tuple(outputs), at, types)
