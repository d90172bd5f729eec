"""The options of IC3. Apart from the engines, because these load their solver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from streamcheck.engines.options import Options, choice, switch


@dataclass(frozen=True, slots=True)
class PdrOptions(Options):
    """The options of the search `engines.ic3.pdr`."""

    tighten: bool = switch("Shrink blocked cubes by unsatisfiable cores, then literal by literal.")
    split: bool = switch("Treat equalities as two inequalities while a cube shrinks.")
    box: bool = switch("Try the axis-aligned bounding box of a cube in its place.")
    widen: bool = switch("Move bounds of a cube as far as the initial states allow.")
    inductive: bool = switch("Ask if a cube is reached from outside the cube.")
    push: bool = switch("Try a new lemma at the next frames at once.")
    propagate: bool = switch("Move lemmas to the next frame if they hold there.")
    forward: bool = switch("Block a blocked cube at the next frame too.")
    incremental: bool = switch("One solver for all queries; otherwise a new one for each.")


@dataclass(frozen=True, slots=True)
class Ic3Options(PdrOptions):
    """The options of `engines.ic3.cooper_ic3`."""

    predecessors: Literal["implicant", "exact", "ternary", "values"] = choice(
        "implicant",
        "An obligation is what a step needs, its inputs eliminated as a model shows, or by Cooper exactly; or the "
        "values that ternary simulation needs; or one state.",
    )


@dataclass(frozen=True, slots=True)
class PredicatesOptions(PdrOptions):
    """The options of `engines.ic3.implicit_abstraction`."""

    generalize: bool = switch("Leave out of an abstract state what a step into the obligation does not depend on.")
    locations: bool = switch("Of programs: frames and predicates for each location, not the location as a variable.")
    refine: bool = switch("Refine the abstraction; otherwise only the predicates at hand are used.")
    refute: Literal["all-paths", "path"] = choice(
        "all-paths", "What a refinement refutes: every path of the length of the spurious counterexample, or that path."
    )
