"""The options of the engines for programs. Apart from the engines, because these load their solver."""

from __future__ import annotations

from dataclasses import dataclass

from streamcheck.engines.options import Options, switch


@dataclass(frozen=True, slots=True)
class LiftedPdrOptions(Options):
    """The options of `engines.cfa.lifted_pdr`."""

    cubes: bool = switch("Obligations are cubes of the weakest precondition, not the whole formula.")
    tighten: bool = switch("Shrink lemmas by unsatisfiable cores, then literal by literal.")
    split: bool = switch("Treat equalities as two inequalities while a cube shrinks.")
    inductive: bool = switch("Ask about a loop at a single location from outside the cube.")
    turns: bool = switch("A level is a turn of a loop, not an edge.")
    propagate: bool = switch("Move lemmas to the next level if they hold there.")
    forward: bool = switch("Block a blocked cube at the next level too.")


@dataclass(frozen=True, slots=True)
class PredicateReachOptions(Options):
    """The options of `engines.cfa.predicate_reach`."""

    refine: bool = switch("Refine the abstraction; otherwise only the predicates given by --predicate are used.")
