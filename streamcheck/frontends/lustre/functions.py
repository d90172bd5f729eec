"""Imported functions: equal inputs give equal outputs, at two calls, and at the step before.

The outputs of an imported function are unknowns, and these assumptions relate them. A function has the same outputs at
all steps, which no finite number of registers can hold: the last step of each call is compared, and the present step of
all calls. So a proof is a proof for every function. A counterexample with different outputs for inputs that come again
after other inputs is none: replay finds out, from the calls of the specification.
"""

from __future__ import annotations

from itertools import combinations

from streamcheck.core.simplify import choice, conjunction
from streamcheck.core.term import FALSE, TRUE, Term, constant, variable
from streamcheck.core.types import default
from streamcheck.frontends.lustre.claims import Claims
from streamcheck.frontends.lustre.evaluator import NodeEvaluator
from streamcheck.frontends.lustre.scopes import LustreScope
from streamcheck.frontends.lustre.syntax import NodeText, Variable, name_expression
from streamcheck.frontends.operations import canonical, has_function, logic
from streamcheck.problem.claim import IMPLIED
from streamcheck.problem.specification import FunctionCall

MOST_CALLS = 12  # of one function whose last steps are compared with those of all others (heuristic)


def assume_congruence(evaluator: NodeEvaluator, claims: Claims) -> None:
    """Assume of each imported function, and of each `choose`, that it is a function, and record its calls."""
    for scopes in evaluator.instances.functions.values():
        node = scopes[0].node
        assert node is not None
        if not node.outputs or (claims.is_named and scopes == [claims.top]):
            continue  # a contract that is asked about: it has no state, so its answers are a function of the inputs
        calls = [_call(evaluator, node, scope) for scope in scopes]
        calls_with_paths = [(scope.path, call) for scope, call in zip(scopes, calls, strict=True)]
        _assume_function(evaluator, claims, calls_with_paths, node.at)
    for chosen in evaluator.any_values.calls.values():
        _assume_function(evaluator, claims, [(path, call) for path, call, _ in chosen], chosen[0][2])


def _assume_function(
    evaluator: NodeEvaluator, claims: Claims, calls_with_paths: list[tuple[str, FunctionCall]], at: int
) -> None:
    calls = [call for _, call in calls_with_paths]
    if any(has_function(t.type) for t in (*calls[0].inputs, *calls[0].outputs)):
        for output in (o for call in calls for o in call.outputs if not has_function(o.type)):
            evaluator.declarations.containers.not_tracked(output, f"the result of {calls[0].function}")
    else:
        evaluator.variables.calls += calls
    for a, b in combinations(calls, 2):
        _assume_equal(claims, a, b, at)
    before = [_last_step(evaluator, path, call) for path, call in calls_with_paths]
    for i, now in enumerate(calls):
        for last in before if len(calls) <= MOST_CALLS else before[i : i + 1]:
            _assume_equal(claims, now, last, at)


def _call(evaluator: NodeEvaluator, node: NodeText, scope: LustreScope) -> FunctionCall:
    def values(variables: list[Variable]) -> tuple[Term, ...]:
        return tuple(canonical(evaluator.term(name_expression(v.name, v.at), scope)) for v in variables)

    return FunctionCall(node.name, scope.context.tick, values(node.inputs), values(node.outputs))


def _last_step(evaluator: NodeEvaluator, path: str, call: FunctionCall) -> FunctionCall:
    """The call as it was when it was evaluated last."""
    variables = evaluator.variables

    def memory(wish: str, value: Term, initial: Term) -> Term:
        var = variable(variables.fresh(f"{path}{wish} before"), value.type)
        variables.cells.append((var, initial, choice(call.tick, value, var)))
        return var

    def any_first(wish: str, value: Term) -> Term:
        return memory(wish, value, constant(value.type, default(value.type)))

    return FunctionCall(
        call.function,
        memory("evaluated", TRUE, FALSE),
        tuple(any_first("input", value) for value in call.inputs),
        tuple(any_first("output", value) for value in call.outputs),
    )


def _assume_equal(claims: Claims, a: FunctionCall, b: FunctionCall, at: int) -> None:
    equal = claims.evaluator.declarations.containers.equal
    same = conjunction(a.tick, b.tick, *(equal(x, y) for x, y in zip(a.inputs, b.inputs, strict=True)))
    equal_outputs = conjunction(*(equal(x, y) for x, y in zip(a.outputs, b.outputs, strict=True)))
    claims.assume(f"{a.function} is a function", logic("implies", same, equal_outputs), at, origin=IMPLIED)
