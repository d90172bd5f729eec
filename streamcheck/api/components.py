"""Components and contracts as users have them: they can be proved, run, shown and compiled like specs."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

from streamcheck.api.commands import Commands
from streamcheck.api.runs import RunSource
from streamcheck.core.errors import SpecError
from streamcheck.core.location import here
from streamcheck.lang.component import ComponentBase, ContractBase, alone, fixed_defaults

if TYPE_CHECKING:
    from streamcheck.lang.instances import BodySpec
    from streamcheck.problem.contract import OpenContract
    from streamcheck.problem.specification import Specification


F = TypeVar("F", bound=Callable[..., Any])


class AloneCommands(Commands):
    """The commands of what is a spec when it stands alone."""

    function: Callable[..., Any]

    def _body(self) -> BodySpec:
        from streamcheck.lang.instances import BodySpec

        assert isinstance(self, ComponentBase | ContractBase)
        fixed = fixed_defaults(self)
        if fixed is None:
            raise SpecError(f"{self.name} has parameters that are no streams, without defaults", self.where)
        return BodySpec(alone(self, fixed))

    def _problem(self) -> Specification:
        from streamcheck.lang.flatten import flatten
        from streamcheck.problem.specification_json import from_plain, to_plain

        return from_plain(to_plain(flatten(self._body())))

    def _file(self) -> str:
        return self.function.__code__.co_filename

    def _run_source(self, expressions: tuple[str, ...]) -> RunSource:
        from streamcheck.api import SpecSource

        return SpecSource(self._body(), expressions)

    @property
    def contract(self) -> OpenContract:
        """The contract over the inputs and outputs alone."""
        from streamcheck.problem.contract import contract_of

        return contract_of(self._problem())


class ComponentFunction(ComponentBase, AloneCommands):
    """A function of streams, and the contracts that it implements."""


class ContractFunction(ContractBase, AloneCommands):
    """Assumptions, guarantees and modes of inputs and outputs, which components implement."""


@overload
def component(function: F) -> F: ...
@overload
def component(*, implements: object) -> Callable[[F], F]: ...
def component(function: Any = None, *, implements: object = ()) -> Any:
    """Make a component of a function whose parameters and result have types of streams. Parameters of other types are
    fixed for each call. `implements` is a contract, or several; clauses may stand in the function too."""
    contracts = implements if isinstance(implements, list | tuple) else (implements,)
    for contract in contracts:
        if not isinstance(contract, ContractBase):
            raise SpecError(f"@component: expected a contract, found {contract!r}", here(), write="@contract above it")
    if function is None:
        return lambda decorated: _make(ComponentFunction, decorated, contracts)
    return _make(ComponentFunction, function, contracts)


def contract(function: Callable[..., Any]) -> ContractFunction:
    """Make a contract of a function: its parameters are inputs, and after a `*` outputs. It calls `assume`, `guarantee`
    and `contract_mode`."""
    return cast(ContractFunction, _make(ContractFunction, function))


def _make(kind: Callable[..., Any], function: object, *more: Any) -> Any:
    if not inspect.isfunction(function):
        raise SpecError(f"expected a function, found {function!r}", here(), write="@component above a def")
    return kind(function, *more)
