"""The rules of Lustre that each declaration has to keep, whether something calls it or not.

Names are declared once and defined once; constants are constant; functions have no memory; nothing contains itself.
Types and causality are found out when a node is evaluated (`evaluator`, and `uncalled` for what nothing calls).
"""

from __future__ import annotations

from collections.abc import Iterable

from streamcheck.core.errors import SpecError
from streamcheck.frontends.lustre.dependence import Dependence
from streamcheck.frontends.lustre.recursion_rules import check_recursion
from streamcheck.frontends.lustre.syntax import ConstantText, Contract, ExpressionText, LustreFile, NodeText
from streamcheck.frontends.lustre.tokens import Tokens
from streamcheck.frontends.lustre.walks import (
    MEMORY,
    activation_parts,
    all_expressions,
    conditions,
    contract_expressions,
    node_expressions,
    subexpressions,
    types_in,
)

LAZY = {"lazy and": "`and then`", "lazy or": "`or else`", "lazy implies": "`==>`"}


def check_file(file: LustreFile, tokens: Tokens) -> None:
    """Check every declaration of the file."""
    checks = DeclarationRules(file, tokens)
    for c in file.constants.values():
        checks.check_constant(c, checks.constants)
    for node in (*file.contracts.values(), *file.nodes.values()):
        checks.check_node(node)
    checks.check_conditions()
    checks.check_circles()
    check_recursion(file, tokens)


def check_dependence(file: LustreFile, tokens: Tokens) -> None:
    """Check that no equation depends on itself, and no assumption on the present value of an output."""
    dependence = dependence_of(file, tokens)
    for node in (*file.contracts.values(), *file.nodes.values()):
        _check_assumptions(node, node.contract or Contract(node.at), dependence, tokens)


def dependence_of(file: LustreFile, tokens: Tokens) -> Dependence:
    """The inputs that each output in the file depends on. Checks that no equation depends on itself."""
    dependence = Dependence(file, tokens)
    for node in DeclarationRules(file, tokens).check_circles():
        dependence.add(node)
    return dependence


def _check_assumptions(node: NodeText, contract: Contract, dependence: Dependence, tokens: Tokens) -> None:
    bits = {v.name: 1 for v in node.outputs}
    behind = dependence.names_behind(contract.equations, (), bits)
    hidden = {v.name for v in node.locals}
    for v in (*node.inputs, *node.outputs):
        for own, condition in conditions(v.type):
            unseen = hidden & {e.value for e in subexpressions(condition) if e.op == "name"} - {own}
            if unseen:
                text = f"the type of {v.name} depends on {min(unseen)}, which a caller cannot see"
                raise tokens.error(condition.at, text, write="inputs, outputs and constants only")
            if v in node.inputs and bits.keys() & set(dependence.names_in(condition)) - {own}:
                text = f"the type of input {v.name} is about the present value of an output: no caller can grant it"
                raise tokens.error(condition.at, text, write="`pre` of the output, or a guarantee")

    def has_output(e: ExpressionText) -> bool:
        return any(behind.get(name, 0) for name in dependence.names_in(e))

    for clause in contract.assumes:
        if has_output(clause.value):
            text = f"this assumption is about the present value of an output of {node.name}: no caller can grant it"
            raise tokens.error(clause.at, text, write="`pre` of the output, or a guarantee")
    for imported in contract.imports:
        for e in imported.inputs:
            if has_output(e):
                text = f"an input of contract {imported.contract} depends on the present value of an output"
                raise tokens.error(e.at, text, write="`pre` of the output")


class DeclarationRules:
    def __init__(self, file: LustreFile, tokens: Tokens) -> None:
        self.file = file
        self.tokens = tokens
        self.members = {m for t in file.types.values() if t.kind == "enum" for m in t.value} | file.constructors.keys()
        self.constants = self.members | file.constants.keys()

    def check_node(self, node: NodeText) -> None:
        constants = self._check_names(node)
        for c in node.constants:
            self.check_constant(c, constants)
        self._check_definitions(node)
        self._check_calls(all_expressions(node), constants)
        self._check_lazy(all_expressions(node))
        if node.contract is not None:
            self._check_contract(node, node.contract, constants)
        if node.kind == "function":
            self._check_function(node)

    def check_conditions(self) -> None:
        """Check the calls in the conditions of types. A `const` input there may be any constant of the file."""
        own = {c.name for n in self.file.nodes.values() for c in n.constants}
        own |= {v.name for n in self.file.nodes.values() for v in n.inputs if v.constant}
        self._check_calls(self.file.conditions, self.constants | own)
        self._check_lazy(self.file.conditions)

    # Names

    def _check_names(self, node: NodeText) -> set[str]:
        """Check that no name is declared twice. Returns the constants of the node."""
        seen: dict[str, int] = {}
        for v in (*node.inputs, *node.outputs, *node.locals):
            self._declare(v.name, v.at, seen)
        for c in node.constants:
            self._declare(c.name, c.at, seen)
        own = {c.name for c in node.constants} | {v.name for v in node.inputs if v.constant}
        if node.contract is not None:
            if "in" in seen:
                text = "`in` is a word of Kind 2, which has contracts: it asks for membership in a set"
                raise self.tokens.error(seen["in"], text, write="another name")
            local = {v.name for v in node.locals} | {c.name for c in node.constants}
            seen = {name: at for name, at in seen.items() if name not in local}
            contract = node.contract
            declared = [(own.name, own.at) for own in contract.constants] + [(g.name, g.at) for g in contract.ghosts]
            declared += [(mode.name, mode.at) for mode in contract.modes if node.kind != "contract"]
            for name, at in declared:
                self._declare(name, at, seen)
        return self.constants | own

    def _declare(self, name: str, at: int, seen: dict[str, int]) -> None:
        if name in seen:
            also = (("the first declaration", self.tokens.where(seen[name])),)
            raise SpecError(f"{name} is declared twice", self.tokens.where(at), also=also)
        if name in self.constants:
            what = "a constant of the file"
            if name in self.members:
                what = "a constructor" if name in self.file.constructors else "a member of an enum"
            raise self.tokens.error(at, f"{name} is declared twice: it is {what}", write="another name")
        seen[name] = at

    def _check_definitions(self, node: NodeText) -> None:
        """Check that each output and local variable has an equation."""
        if node.imported or node.kind == "contract":
            return
        defined: set[str] = set()
        definable = {v.name for v in (*node.outputs, *node.locals)}
        for equation in node.equations:
            for name in equation.names:
                if name not in definable:
                    text = f"{name} is not an output or local variable here"
                    raise self.tokens.error(equation.at, text)
            if len(set(equation.names)) < len(equation.names):
                twice = next(n for n in equation.names if equation.names.count(n) > 1)
                raise self.tokens.error(equation.at, f"{twice} is on the left of this equation twice")
            defined.update(equation.names)
        for v in (*node.outputs, *node.locals):
            if v.name not in defined:
                text = f"{v.name} has no equation"
                raise self.tokens.error(
                    v.at, text, write=f"{v.name} = …; or an input of the main node, which may have any value"
                )

    # Constants

    def check_constant(self, c: ConstantText, constants: set[str]) -> None:
        if c.type is not None:
            for own, condition in conditions(c.type, self.file.types):
                self._require_constant(condition, constants | {own}, f"the type of constant {c.name}")
        if c.value is not None:
            self._require_constant(c.value, constants, f"constant {c.name}")

    def _require_constant(self, root: ExpressionText, constants: set[str], what: str) -> None:
        for e in subexpressions(root):
            if e.op in MEMORY:
                raise self.tokens.error(e.at, f"{what} has {MEMORY[e.op]} in it: it changes from step to step")
            if e.op == "call":
                raise self.tokens.error(e.at, f"{what} has a call of {e.value.node} in it", write="its value")
            if e.op == "any":
                raise self.tokens.error(e.at, f"{what} has `any` or `choose` in it", write="a constant without a value")
            if e.op == "name" and e.value not in constants:
                why = "it is not declared" if e.value not in self.file.nodes else "it is a node"
                raise self.tokens.error(e.at, f"{what} has {e.value} in it: {why}", write="constants only")

    # Calls

    def _check_calls(self, roots: Iterable[ExpressionText], constants: set[str]) -> None:
        for root in roots:
            for e in subexpressions(root):
                if e.op != "call":
                    continue
                node = self.file.nodes.get(e.value.node)
                if node is None:
                    raise self.tokens.error(e.at, f"node {e.value.node} is not declared")
                if len(e.args) == len(node.inputs):
                    for argument, parameter in zip(e.args, node.inputs, strict=True):
                        if parameter.constant:
                            what = f"the value of `const {parameter.name}` of {node.name}"
                            self._require_constant(argument, constants, what)

    def _check_lazy(self, roots: Iterable[ExpressionText]) -> None:
        """Check that the operands of `and then`, `or else` and `==>` have no memory and call functions only."""
        stack = list(roots)
        while stack:
            e = stack.pop()
            if e.op == "lazy" and e.value in LAZY:
                self._require_no_memory(e, LAZY[e.value])
                continue
            stack += e.args
            if e.op == "call":
                stack += activation_parts(e.value)

    def _require_no_memory(self, lazy: ExpressionText, operator: str) -> None:
        for e in subexpressions(lazy):
            called = self.file.nodes.get(e.value.node) if e.op == "call" else None
            if e.op in MEMORY or (called is not None and called.kind == "node"):
                what = f"{MEMORY[e.op]} in it" if called is None else f"a call of {called.name} in it, which is a node"
                text = f"an operand of {operator} has {what}: these operands have no memory"
                raise self.tokens.error(e.at, text, write="a variable with an equation of its own, or and, or, =>")

    # Functions

    def _check_function(self, node: NodeText) -> None:
        self._require_function(node_expressions(node), f"function {node.name}")
        for v in (*node.inputs, *node.outputs, *node.locals):
            of_type = (condition for _, condition in conditions(v.type, self.file.types))
            self._require_function(of_type, f"the type of {v.name} in function {node.name}")
        if node.contract is not None:
            self._require_function_contract(node.contract, f"the contract of function {node.name}", set())

    def _require_function_contract(self, contract: Contract, what: str, seen: set[str]) -> None:
        self._require_function(contract_expressions(contract), what)
        for imported in contract.imports:
            node = self.file.contracts.get(imported.contract)
            if node is not None and node.contract is not None and node.name not in seen:
                seen.add(node.name)
                self._require_function_contract(node.contract, f"contract {node.name} of a function", seen)

    def _require_function(self, roots: Iterable[ExpressionText], what: str) -> None:
        for root in roots:
            for e in subexpressions(root):
                if e.op in MEMORY:
                    text = f"{what} has {MEMORY[e.op]} in it: functions have no memory"
                    raise self.tokens.error(e.at, text, write="`node` instead of `function`")
                if e.op == "any" and not e.value.is_functional:
                    raise self.tokens.error(e.at, f"{what} has `any` in it, which may change", write="choose")
                of_types = (c for type in types_in(e) for _, c in conditions(type, self.file.types))
                self._require_function(of_types, f"a type in {what}")
                called = self.file.nodes.get(e.value.node) if e.op == "call" else None
                if called is not None and called.kind == "node":
                    text = f"{what} calls {called.name}, which is a node"
                    raise self.tokens.error(e.at, text, write="`node` instead of `function`")

    # Contracts

    def _check_contract(self, node: NodeText, contract: Contract, constants: set[str]) -> None:
        for c in contract.constants:
            self.check_constant(c, constants | {c.name for c in contract.constants})
        own = {g.name for g in contract.ghosts} | {c.name for c in contract.constants}
        hidden = {v.name for v in node.locals} - own
        for root in contract_expressions(contract):
            for e in subexpressions(root):
                if e.op == "name" and e.value in hidden:
                    text = f"{e.value} is a local variable: a contract is about inputs and outputs"
                    raise self.tokens.error(e.at, text, write="a ghost variable of the contract")

    # Circles

    def check_circles(self) -> list[NodeText]:
        """Check that no node, function or contract needs itself. Returns them, each after those that it needs."""
        nodes = {**{f"contract {n}": d for n, d in self.file.contracts.items()}, **self.file.nodes}
        done: dict[str, NodeText] = {}
        for root in nodes:
            path: list[str] = []
            stack: list[tuple[str, bool]] = [(root, True)]
            while stack:
                name, enter = stack.pop()
                if not enter:
                    path.pop()
                    done[name] = nodes[name]
                elif name in path and all(
                    n in self.file.nodes and nodes[n].recursive for n in path[path.index(name) :]
                ):
                    continue  # with a measure that decreases (`recursion_rules`)
                elif name in path:
                    circle = " → ".join([*path[path.index(name) :], name])
                    text = f"{name} needs itself: {circle}"
                    write = "`pre`, or `function rec` with a measure that decreases"
                    raise self.tokens.error(nodes[name].at, text, write=write)
                elif name in nodes and name not in done:
                    path.append(name)
                    stack.append((name, False))
                    stack += ((n, True) for n in _names_in_need(nodes[name]))
        return list(done.values())


def _names_in_need(node: NodeText) -> list[str]:
    imports = [] if node.contract is None else [f"contract {i.contract}" for i in node.contract.imports]
    return [*node.calls, *imports]
