"""The clocks of Lustre V6: a flow has values at the steps of its clock only, and is used on that clock only.

    x when c       x, at the steps at which c holds; x and c are on one clock
    current x      x, on the clock of x's condition: the value that x had last, any value before the first
    merge c (…)    each branch is on the clock that chooses it, the whole on that of c
    f(x)           takes steps with the clock of x; inputs and outputs that are declared on others of f are on the
                   clocks of the values that are given for these
    pre x, a -> b  refer to the steps of their clock

Clocks are declared, so they are checked, not inferred: only constants, and calls without inputs, are on any clock. What
the check finds is left in the file: the clock of each expression that is on another one than the expression around it.

Operands that are evaluated in scopes of their own (branches of `when … then`, cases, quantifiers) have one clock.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from streamcheck.frontends.lustre.syntax import (
    Clock,
    ClockText,
    Contract,
    ExpressionText,
    LustreFile,
    NodeText,
    TypeText,
    Variable,
)
from streamcheck.frontends.lustre.tokens import Tokens
from streamcheck.frontends.lustre.walks import (
    CLOCKED,
    activation_parts,
    conditions,
    subexpressions,
    types_in,
)

INNER = frozenset(("lazy", "match", "forall", "exists", "any"))
SEVERAL = frozenset(("if", "lazy", "arrow", "pre", "match"))  # operations that have as many values as an operand


class AnyClock:
    """The clock of a constant, until something else is on the same one."""

    __slots__ = ("same",)

    def __init__(self) -> None:
        self.same: Known | None = None


Known = Clock | AnyClock


def _resolve(clock: Known) -> Known:
    while isinstance(clock, AnyClock) and clock.same is not None:
        clock = clock.same
    return clock


def check_clocks(file: LustreFile, tokens: Tokens) -> None:
    """Check that every flow is used on its clock, and note the clocks of expressions and variables in the file."""
    for root in (*file.conditions, *(c.value for c in file.constants.values() if c.value is not None)):
        refuse_clocks(root, tokens, "a type or a constant")
    signatures = {name: _Signature(node, tokens) for name, node in file.nodes.items()}
    for contract in file.contracts.values():
        NodeClocks(file, tokens, _Signature(contract, tokens), signatures).check()
    for signature in signatures.values():
        NodeClocks(file, tokens, signature, signatures).check()


def _clock_text(clock: Clock) -> str:
    return " when ".join(map(str, reversed(clock))) if clock else "the base clock"


class _Signature:
    """The declared clocks of a node's variables."""

    def __init__(self, node: NodeText, tokens: Tokens) -> None:
        self.node = node
        self.tokens = tokens
        self.variables = {v.name: v for v in (*node.inputs, *node.outputs, *node.locals) if not v.constant}
        self.clocks: dict[str, Clock] = {}
        for v in self.variables.values():
            self._add(v, ())
        inputs = {v.name for v in node.inputs}
        for v in (*node.inputs, *node.outputs):
            hidden = {c.name for c in self.clocks.get(v.name, ())} - inputs
            if hidden - {o.name for o in node.outputs} or (hidden and v.name in inputs):
                text = f"a caller of {node.name} cannot see {min(hidden)}, the clock of {v.name}"
                raise tokens.error(v.at, text, write="an input as clock, or an output for outputs")

    def _add(self, v: Variable, path: tuple[str, ...]) -> Clock:
        if v.clock is None:
            self.clocks[v.name] = ()
        elif v.name not in self.clocks:
            if v.name in path:
                raise self.tokens.error(v.at, f"{v.name} is on its own clock")
            owner = self.variables.get(v.clock.name)
            if owner is None:
                text = f"the clock {v.clock.name} is not a variable of {self.node.name}"
                raise self.tokens.error(v.clock.at, text, write="an input, an output or a local variable")
            self.clocks[v.name] = (*self._add(owner, (*path, v.name)), v.clock)
        return self.clocks[v.name]


class NodeClocks:
    """The clocks of one node, or contract."""

    def __init__(self, file: LustreFile, tokens: Tokens, own: _Signature, signatures: dict[str, _Signature]) -> None:
        self.file = file
        self.tokens = tokens
        self.node = own.node
        self.signatures = signatures
        self.clocks: dict[str, Clock] = dict(own.clocks)
        self.known: dict[int, list[Known]] = {}  # the clocks of the values of each expression
        self.bases: dict[int, Known] = {}  # of each call: the clock of its node
        self.targets: dict[int, tuple[str, ...]] = {}  # of each call that is a whole equation: the variables
        self.places: list[tuple[ExpressionText, Known, Known]] = []  # expressions, their clocks, those around

    def check(self) -> None:
        contract = self.node.contract or Contract(self.node.at)
        self.clocks |= {ghost.name: () for ghost in contract.ghosts}
        self._check_signature()
        for equation in (*contract.equations, *self.node.equations):
            if equation.indices:
                self._check_elements(equation.names[0], equation.value)
                continue
            if equation.value.op == "call":
                self.targets[id(equation.value)] = equation.names
            found = self._clocks_of(equation.value)
            if len(found) == len(equation.names):  # if not, the evaluator reports it
                for name, clock in zip(equation.names, found, strict=True):
                    self._unify(self.clocks.get(name, ()), clock, equation.at, f"{name} = …")
            self._place(equation.value, ())
        for clause in self.node.asserts:
            self._one_clock(clause.value)
        for p in self.node.properties:
            clock = self._one_clock(p.value)
            if p.provided is not None:
                self._unify(clock, self._one_clock(p.provided), p.at, "`provided`")
        self._check_contract(contract)
        self._note()

    def _note(self) -> None:
        for e, clock, around in self.places:
            own, other = _resolve(clock), _resolve(around)
            if not isinstance(own, AnyClock) and own != (() if isinstance(other, AnyClock) else other):
                self.file.clocks[id(e)] = own
        for v in _variables(self.node):
            if self.clocks.get(v.name):
                self.file.clocks[id(v)] = self.clocks[v.name]

    # What clocks have no part in

    def _check_signature(self) -> None:
        node = self.node
        for c in node.constants:
            if c.value is not None:
                refuse_clocks(c.value, self.tokens, "a constant")
        for v in _variables(node):
            clock = self.clocks.get(v.name, ())
            if clock and node.kind == "function" and node.imported:
                text = f"{v.name} of imported function {node.name} is on a clock: this is not supported"
                raise self.tokens.error(v.at, text, write="`node imported`")
            self._check_type(v.type, clock, f"the type of {v.name}")

    def _check_type(self, type: TypeText, clock: Known, what: str) -> None:
        """Check that the conditions of a type speak of flows on the clock of what has it."""
        for _, condition in conditions(type):
            for other in self._clocks_of(condition):
                self._unify(clock, other, condition.at, what)

    def _check_elements(self, name: str, value: ExpressionText) -> None:
        self._refuse_inside(value, "an equation for the elements of an array")
        for clock in (self.clocks.get(name, ()), *self._clocks_of(value)):
            self._unify((), clock, value.at, "an equation for the elements of an array")

    def _check_contract(self, contract: Contract) -> None:
        clauses = [*contract.assumes, *contract.guarantees]
        clauses += [c for mode in contract.modes for c in (*mode.requires, *mode.ensures)]
        roots = [clause.value for clause in clauses] + list(contract.decreases)
        roots += [e for imported in contract.imports for e in imported.inputs]
        for e in roots:
            self._unify((), self._one_clock(e), e.at, "a contract")
        for imported in contract.imports:
            for name in imported.outputs:
                self._unify((), self.clocks.get(name, ()), imported.at, "a contract")

    def _refuse_inside(self, root: ExpressionText, what: str) -> None:
        refuse_clocks(root, self.tokens, what)
        for e in subexpressions(root):
            if e.op == "call" and self._has_clocks(e.value.node):
                text = f"{what} has a call of {e.value.node} in it, which has variables on clocks"
                raise self.tokens.error(e.at, text, write="a variable with its own equation")

    def _has_clocks(self, name: str) -> bool:
        signature = self.signatures.get(name)
        if signature is None:
            return False
        return any(signature.clocks.get(v.name) for v in (*signature.node.inputs, *signature.node.outputs))

    # Expressions

    def _one_clock(self, root: ExpressionText) -> Known:
        """The one clock of an expression that is read on the base clock."""
        found = self._clocks_of(root)
        for other in found[1:]:
            self._unify(found[0], other, root.at, "this expression")
        self._place(root, ())
        return found[0] if found else ()

    def _clocks_of(self, root: ExpressionText) -> list[Known]:
        stack = [(root, False)]
        while stack:
            e, ready = stack.pop()
            if ready:
                self.known[id(e)] = self._apply(e)
            elif id(e) not in self.known:
                stack.append((e, True))
                stack += ((a, False) for a in e.args)
                if e.op == "call":
                    stack += ((a, False) for a in activation_parts(e.value))
        return self.known[id(root)]

    def _apply(self, e: ExpressionText) -> list[Known]:
        """The clocks of the values of an expression for those of its operands."""
        match e.op:
            case "name":
                return [self._of_name(e)]
            case "when":
                return self._when(e)
            case "current":
                return self._current(e)
            case "merge":
                return self._merge(e)
            case "call":
                return self._call(e)
            case "tuple":
                return [clock for a in e.args for clock in self.known[id(a)]]
            case "mode":
                return [()]
        if e.op in INNER:
            for a in e.args:
                self._refuse_inside(a, "what is evaluated at some of the steps, or for each value,")
        operands = [clock for a in e.args for clock in self.known[id(a)]]
        clock: Known = operands[0] if operands else AnyClock()
        for other in operands[1:]:
            self._unify(clock, other, e.at, self.tokens.token_text(e.at))
        for type in (e.value,) if e.op == "ascribe" else types_in(e):
            self._check_type(type, clock, "this type")
        count = max((len(self.known[id(a)]) for a in e.args), default=1) if e.op in SEVERAL else 1
        return [clock] * count

    def _of_name(self, e: ExpressionText) -> Known:
        clock = self.clocks.get(e.value)
        if clock is not None:
            return clock
        return AnyClock()  # a constant, or what an expression around it binds; the evaluator reports others

    def _clock_where(self, condition: ClockText) -> Clock:
        """The clock of what has values when the condition holds."""
        owner = self.clocks.get(condition.name)
        if owner is None:
            text = f"the clock {condition.name} is not a variable of {self.node.name}"
            raise self.tokens.error(condition.at, text, write="an input, an output or a local variable")
        return (*owner, condition)

    def _when(self, e: ExpressionText) -> list[Known]:
        sampled = self._clock_where(e.value)
        operand = e.args[0]
        for clock in self.known[id(operand)]:
            self._unify(sampled[:-1], clock, e.at, f"what is sampled by {e.value.name}")
        self._place(operand, sampled, sampled[:-1])
        return [sampled] * len(self.known[id(operand)])

    def _current(self, e: ExpressionText) -> list[Known]:
        operand = e.args[0]
        clock = _resolve(self.known[id(operand)][0])
        for other in self.known[id(operand)][1:]:
            self._unify(clock, other, e.at, "the operand of `current`")
        if isinstance(clock, AnyClock) or not clock:
            text = "the operand of `current` is on the base clock: it has a value at each step"
            if isinstance(clock, AnyClock):
                text = "the operand of `current` is constant"
            raise self.tokens.error(e.at, text, write="the operand alone")
        self._place(operand, clock[:-1], clock)
        self.file.held[id(e)] = clock[-1]
        return [clock[:-1]] * len(self.known[id(operand)])

    def _merge(self, e: ExpressionText) -> list[Known]:
        clock = e.args[0]
        if clock.op != "name":
            raise self.tokens.error(e.at, "the clock of a merge must be a variable", write="an equation for it")
        for branch, member in zip(e.args[1:], e.value, strict=True):
            value = {"true": True, "false": False}.get(member, member)
            chosen = self._clock_where(ClockText(clock.value, value, clock.at))
            for own in self.known[id(branch)]:
                self._unify(chosen, own, branch.at, f"the branch of `{member}`")
            self._place(branch, chosen[:-1], chosen)
        return [self._clock_where(ClockText(clock.value, True, clock.at))[:-1]] * len(self.known[id(e.args[1])])

    # Calls

    def _call(self, e: ExpressionText) -> list[Known]:
        signature = self.signatures[e.value.node]
        node = signature.node
        given = [(clock, a) for a in e.args for clock in self.known[id(a)]]
        base: Known = AnyClock()
        for part in activation_parts(e.value):
            for clock in self.known[id(part)]:
                self._unify(base, clock, part.at, f"the call of {node.name}")
        if len(given) != len(node.inputs):
            return [AnyClock()] * len(node.outputs)  # the evaluator reports it
        names = {v.name: a.value for v, (_, a) in zip(node.inputs, given, strict=True) if a.op == "name"}
        names |= dict(zip((v.name for v in node.outputs), self.targets.get(id(e), ()), strict=False))
        pairs = [(v, *one) for v, one in zip(node.inputs, given, strict=True) if not v.constant]
        for v, clock, a in sorted(pairs, key=lambda pair: len(signature.clocks[pair[0].name])):
            self._unify(self._inside(signature, v, base, names, e), clock, a.at, f"{v.name} of {node.name}")
        self.bases[id(e)] = base
        outputs = [self._inside(signature, v, base, names, e) for v in node.outputs]
        if self._has_clocks(node.name):
            if activation_parts(e.value):
                text = f"{node.name} has variables on clocks: it cannot be activated or restarted"
                raise self.tokens.error(e.at, text, write=f"{node.name}(… when c)")
            self.places.append((e, base, (ClockText("", "", e.at),)))
        for a in e.args:
            self._place(a, base)
        return outputs

    def _inside(
        self, signature: _Signature, v: Variable, base: Known, names: dict[str, str], call: ExpressionText
    ) -> Known:
        """The clock, among the caller's, of a variable of a called node on the clock `base`."""
        declared, base = signature.clocks.get(v.name, ()), _resolve(base)
        if not declared:
            return base
        condition = declared[-1]
        given = names.get(condition.name)
        if given is None or given not in self.clocks:
            text = f"{condition.name} is the clock of {v.name} of {signature.node.name}: it needs a variable here"
            raise self.tokens.error(call.at, text, write=f"{condition.name} = …, as an equation of its own")
        owner = self._inside(signature, signature.variables[condition.name], base, names, call)
        self._unify(owner, self.clocks[given], call.at, f"{condition.name} of {signature.node.name}")
        return (*self.clocks[given], replace(condition, name=given))

    # Places

    def _place(self, root: ExpressionText, around: Known, clock: Known | None = None) -> None:
        """Note that an expression, with this clock or its own, is read in one that is on the clock `around`."""
        stack = [root]
        while stack:
            e = stack.pop()
            if e.op == "tuple":
                stack += e.args
            elif id(e) in self.bases:
                self.places.append((e, self.bases[id(e)], around))
            elif clock is not None:
                self.places.append((e, clock, around))
            elif self.known[id(e)]:
                self.places.append((e, self.known[id(e)][0], around))

    def _unify(self, wanted: Known, found: Known, at: int, what: str) -> None:
        wanted, found = _resolve(wanted), _resolve(found)
        if wanted is found or wanted == found:
            return
        if isinstance(found, AnyClock):
            found.same = wanted
        elif isinstance(wanted, AnyClock):
            wanted.same = found
        else:
            text = f"{what}: expected a flow on {_clock_text(wanted)}, found one on {_clock_text(found)}"
            write = "`when`, `current` or `merge`, to go from one clock to another"
            raise self.tokens.error(at, text, write=write)


def refuse_clocks(root: ExpressionText, tokens: Tokens, what: str) -> None:
    """Refuse what goes from one clock to another."""
    for e in subexpressions(root):
        if e.op in CLOCKED:
            raise tokens.error(e.at, f"{what} has `{e.op}` in it", write="a variable with its own equation")


def _variables(node: NodeText) -> Iterable[Variable]:
    """The variables of a node that have a clock."""
    return (v for v in (*node.inputs, *node.outputs, *node.locals) if not v.constant)
