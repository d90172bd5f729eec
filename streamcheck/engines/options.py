"""The options of engines: for each a frozen dataclass, each field with a default and a line of documentation.

Here are those of the engines of this folder; `engines.ic3`, `engines.cfa` and `invariants` have `options` of their own.
They live apart from the engines, because an engine loads its solver and the command does not; and in several modules,
because the first worker of a run needs few of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Options:
    """No options."""


def switch(summary: str) -> Any:
    """A field that is on by default."""
    return choice(True, summary)


def number(value: int, least: int, summary: str) -> Any:
    """A field with this number by default, and the least one that it may have."""
    return choice(value, summary, least=least)


def choice(value: bool | int | str, summary: str, **more: int) -> Any:
    """A field with this value by default."""
    return field(default=value, metadata={"summary": summary, **more})


@dataclass(frozen=True, slots=True)
class BmcOptions(Options):
    """The options of `engines.bmc`."""

    together: bool = switch("Ask about all properties of a step at once, instead of one after another.")
    named: int = number(8, 0, "Steps after which the Bool state gets names in the solver; 0: never.")


@dataclass(frozen=True, slots=True)
class KInductionOptions(Options):
    """The options of `engines.kinduction`."""

    compression: bool = switch("Path compression: the states of a run differ, and only the first is initial.")
    together: bool = switch("Look for properties that are inductive together, not only for each alone.")


@dataclass(frozen=True, slots=True)
class CompletenessOptions(Options):
    """The options of `engines.completeness`."""

    stride: int = number(16, 1, "Depth up to which every step is tested; from there on ever fewer are.")


@dataclass(frozen=True, slots=True)
class StructuralOptions(Options):
    """The options of `engines.structural`."""

    refine: Literal["deepest", "shallowest", "all"] = choice(
        "deepest", "Which candidates of the unsatisfiable core a refinement keeps, by depth in the dependency graph."
    )
    proof: Literal["ic3", "induction"] = choice("ic3", "How the abstract system is proved: by IC3, or by k-induction.")
    wires: bool = switch("A kept definition brings the definitions it is made of, if they are no state variables.")


@dataclass(frozen=True, slots=True)
class BitPdrOptions(Options):
    """The options of `engines.bit_pdr`."""

    ternary: bool = switch("Shrink predecessors by ternary simulation.")
    tighten: bool = switch("Shrink clauses by unsatisfiable cores, then literal by literal.")
    widen: bool = switch("Move bounds of floats to the numbers that the system speaks of.")
    inductive: bool = switch("Ask if a state is reached from another one.")
    push: bool = switch("Try a new clause at the next frames at once.")
    propagate: bool = switch("Move clauses to the next frame if they hold there.")
    forward: bool = switch("Block a blocked state at the next frame too.")


@dataclass(frozen=True, slots=True)
class SpacerOptions(Options):
    """The options of `engines.spacer`."""

    guidance: bool = switch("Global guidance: generalise over several lemmas [KVGG20].")
    seed: int = number(0, 0, "Random seed of the first turn; an odd one also reverses the relation's arguments.")


@dataclass(frozen=True, slots=True)
class SimulationOptions(Options):
    """The options of `engines.simulation`."""

    seed: int = number(1, 0, "Random seed of the runs.")


@dataclass(frozen=True, slots=True)
class LongRunsOptions(Options):
    """The options of `engines.long_runs`."""

    seed: int = number(1, 0, "Random seed of the patterns.")
    steps: int = number(400_000, 1, "Steps that are taken one by one, in all runs together.")
