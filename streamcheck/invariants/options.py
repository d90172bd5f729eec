"""The options of the engines that only find invariants. Apart from the engines, because these load their solver."""

from __future__ import annotations

from dataclasses import dataclass

from streamcheck.engines.options import Options, switch


@dataclass(frozen=True, slots=True)
class TemplatesOptions(Options):
    """The options of `invariants.templates`; bounds on single variables are always candidates."""

    pairs: bool = switch("Bounds on sums and differences of two numbers, and on the sum of all.")
    sums: bool = switch("Bounds on sums and differences of three numbers and more.")
    widening: bool = switch("Bounds that are raised from threshold to threshold until they are inductive.")
    conditions: bool = switch("Implications between two conditions, and groups of which one always holds.")
    conditional: bool = switch("Bounds and equalities under a condition.")


@dataclass(frozen=True, slots=True)
class PolynomialOptions(Options):
    """The options of `invariants.polynomial`."""

    recurrences: bool = switch("Solve recurrences in closed form.")
    null_spaces: bool = switch("Compute null spaces of the monomials' values in random runs.")
