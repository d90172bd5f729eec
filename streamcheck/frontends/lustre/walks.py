"""All expressions of a declaration, and the names and calls in them. Expressions are deep: no recursion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from streamcheck.frontends.lustre.syntax import Activation, Contract, ExpressionText, NodeText, TypeText

# The operators with memory, and their names in messages
MEMORY = {"pre": "`pre`", "arrow": "`->`", "current": "`current`"}
CLOCKED = frozenset(("when", "current", "merge"))  # whose operands are on another clock, in Lustre V6


def subexpressions(root: ExpressionText) -> Iterator[ExpressionText]:
    """The expression and all in it: arguments, clocks and defaults of calls too, the clocks of `when` not."""
    stack = [root]
    while stack:
        e = stack.pop()
        yield e
        if e.op == "when":
            stack.append(e.args[0])
            continue
        stack += e.args
        if e.op == "call":
            stack += activation_parts(e.value)


def activation_parts(activation: Activation) -> list[ExpressionText]:
    parts = [e for e in (activation.clock, activation.restart) if e is not None]
    return parts + list(activation.defaults or ())


def has_steps(root: ExpressionText) -> bool:
    """True if it depends on the steps before, calls a node, has a value that the file leaves open, or claims that a
    value has a type."""
    return any(e.op in MEMORY or e.op in ("call", "any", "ascribe") for e in subexpressions(root))


def conditions(type: TypeText, named: Mapping[str, TypeText] | None = None) -> Iterator[tuple[str, ExpressionText]]:
    """The conditions and bounds in a type as it is written, each with the name of what has the type; with those of the
    types that it names, if these are given."""
    stack, seen = [type], set[str]()
    while stack:
        text = stack.pop()
        match text.kind:
            case "refinement":
                name, base, condition = text.value
                yield name, condition
                stack.append(base)
            case "subrange":
                yield from (("", bound) for bound in text.value if bound is not None)
            case "array":
                stack.append(text.value[0])
            case "record":
                stack += (field for _, field in text.value)
            case "tuple" | "set" | "map":
                stack += text.value
            case "union":
                stack += (field for constructor in text.value for _, field in constructor.fields)
            case "applied":
                name, arguments = text.value
                stack += arguments
                if named is not None and name in named and name not in seen:
                    seen.add(name)
                    stack.append(named[name])
            case "name" if named is not None and text.value in named and text.value not in seen:
                seen.add(text.value)
                stack.append(named[text.value])


def types_in(e: ExpressionText) -> list[TypeText]:
    """The types that the expression names itself, of values that depend on whether they meet the types' conditions."""
    match e.op:
        case "forall" | "exists":
            return [v.type for v in e.value]
        case "any":
            return [e.value.type]
    return []


def contract_expressions(contract: Contract) -> Iterator[ExpressionText]:
    yield from (c.value for c in contract.constants if c.value is not None)
    yield from (equation.value for equation in contract.equations)
    yield from (clause.value for clause in (*contract.assumes, *contract.guarantees))
    yield from contract.decreases
    for mode in contract.modes:
        yield from (clause.value for clause in (*mode.requires, *mode.ensures))
    for imported in contract.imports:
        yield from imported.inputs


def node_expressions(node: NodeText) -> Iterator[ExpressionText]:
    """The expressions of the body."""
    yield from (c.value for c in node.constants if c.value is not None)
    yield from (equation.value for equation in node.equations)
    yield from (clause.value for clause in node.asserts)
    for p in node.properties:
        yield p.value
        if p.provided is not None:
            yield p.provided


def all_expressions(node: NodeText) -> Iterator[ExpressionText]:
    """The expressions of the body and of the contract."""
    yield from node_expressions(node)
    if node.contract is not None:
        yield from contract_expressions(node.contract)


def unguarded_pres(root: ExpressionText, *, is_v6: bool) -> Iterator[ExpressionText]:
    """The `pre` that no `->` of the expression guards: the operand of a `pre` and arguments of calls begin anew; in
    Lustre V6 also what is on another clock."""
    anew = {"pre", "call"} | (CLOCKED if is_v6 else frozenset())
    stack = [(root, False)]
    while stack:
        e, guarded = stack.pop()
        if e.op == "pre" and not guarded:
            yield e
        if e.op == "arrow":
            stack += ((e.args[0], guarded), (e.args[1], True))
        else:
            guarded = guarded and e.op not in anew
            stack += ((a, guarded) for a in e.args)
