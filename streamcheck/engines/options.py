"""The options of each engine: a frozen dataclass, each field with a default and a line of documentation.

The type of a field gives its values: `bool` is switched on and off, `int` is a whole number with a least value,
`Literal[…]` a choice. `--set ENGINE.OPTION=VALUE` and `spec.prove(options={"ENGINE.OPTION": VALUE})` set them, and
`streamcheck engines` lists them; an underscore in a field's name is written as a hyphen there.

They live apart from the engines, because an engine loads its solver and the command does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields, replace
from typing import Any, Literal, TypeAlias, TypeVar, assert_never, get_args, get_origin, get_type_hints

from streamcheck.core.errors import SpecError

Setting: TypeAlias = bool | int | str
AnyOptions = TypeVar("AnyOptions", bound="Options")


@dataclass(frozen=True, slots=True)
class Options:
    """No options."""


@dataclass(frozen=True, slots=True)
class Switch:
    """on or off"""


@dataclass(frozen=True, slots=True)
class Number:
    least: int


@dataclass(frozen=True, slots=True)
class Choice:
    values: tuple[str, ...]


OptionKind: TypeAlias = Switch | Number | Choice


@dataclass(frozen=True, slots=True)
class Option:
    """One field of an engine's options, as users see it."""

    name: str
    kind: OptionKind
    default: Setting
    summary: str

    @property
    def values(self) -> str:
        """The values that it may have, in words."""
        match self.kind:
            case Switch():
                return "on or off"
            case Number(least):
                return f"a whole number, at least {least}"
            case Choice(values):
                return " or ".join(values)
            case kind:
                assert_never(kind)

    def parse(self, given: Setting) -> Setting:
        """The value of the field that a user's value stands for. ValueError if there is none."""
        match self.kind:
            case Switch():
                if isinstance(given, bool):
                    return given
                if given in ("on", "off"):
                    return given == "on"
            case Number(least):
                number = None if isinstance(given, bool) else _whole(given)
                if number is not None and number >= least:
                    return number
            case Choice(values):
                if given in values:
                    return given
            case kind:
                assert_never(kind)
        raise ValueError(f"must be {self.values}, found {shown(given)}")


def _whole(given: Setting) -> int | None:
    try:
        return int(given)
    except ValueError:
        return None


def shown(value: Setting) -> str:
    """A value as `--set` takes it."""
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)


def options_of(options: Options) -> list[Option]:
    """Every option, with the value it has here as its default."""
    hints = get_type_hints(type(options))
    return [
        Option(f.name.replace("_", "-"), _kind(hints[f.name], f), getattr(options, f.name), f.metadata["summary"])
        for f in fields(options)
    ]


def _kind(hint: Any, of: Field[Any]) -> OptionKind:
    if hint is bool:
        return Switch()
    if get_origin(hint) is Literal:
        return Choice(get_args(hint))
    assert hint is int, f"{of.name}: an option is a bool, an int or a Literal"
    return Number(of.metadata["least"])


def with_settings(options: AnyOptions, engine: str, settings: Mapping[str, Setting]) -> AnyOptions:
    """The options with these values in place of the defaults. SpecError if a name or a value is wrong."""
    known = {option.name: option for option in options_of(options)}
    values: dict[str, Setting] = {}
    for name, given in settings.items():
        if name not in known:
            has = f"no option {name!r}; its options are {', '.join(known)}" if known else "no options"
            raise SpecError(f"{engine} has {has}")
        try:
            values[name.replace("-", "_")] = known[name].parse(given)
        except ValueError as why:
            raise SpecError(f"{engine}.{name} {why}") from None
    return replace(options, **values)


def _on(summary: str) -> Any:
    return _default(True, summary)


def _number(value: int, least: int, summary: str) -> Any:
    return _default(value, summary, least=least)


def _default(value: Setting, summary: str, **more: int) -> Any:
    return field(default=value, metadata={"summary": summary, **more})


# Engines for every transition system


@dataclass(frozen=True, slots=True)
class BmcOptions(Options):
    """The options of `engines.bmc`."""

    together: bool = _on("Ask about all properties of a step at once, instead of one after another.")
    named: int = _number(8, 0, "Steps after which the Bool state gets names in the solver; 0: never.")


@dataclass(frozen=True, slots=True)
class KInductionOptions(Options):
    """The options of `engines.kinduction`."""

    compression: bool = _on("Path compression: the states of a run differ, and only the first is initial.")
    together: bool = _on("Look for properties that are inductive together, not only for each alone.")


@dataclass(frozen=True, slots=True)
class CompletenessOptions(Options):
    """The options of `engines.completeness`."""

    stride: int = _number(16, 1, "Depth up to which every step is tested; from there on ever fewer are.")


@dataclass(frozen=True, slots=True)
class StructuralOptions(Options):
    """The options of `engines.structural`."""

    refine: Literal["deepest", "shallowest", "all"] = _default(
        "deepest", "Which candidates of the unsatisfiable core a refinement keeps, by depth in the dependency graph."
    )
    wires: bool = _on("A kept definition brings the definitions it is made of, if they are no state variables.")


@dataclass(frozen=True, slots=True)
class PdrOptions(Options):
    """The options of the search `engines.ic3.pdr`."""

    tighten: bool = _on("Shrink blocked cubes by unsatisfiable cores, then literal by literal.")
    split: bool = _on("Treat equalities as two inequalities while a cube shrinks.")
    box: bool = _on("Try the axis-aligned bounding box of a cube in its place.")
    widen: bool = _on("Move bounds of a cube as far as the initial states allow.")
    inductive: bool = _on("Ask if a cube is reached from outside the cube.")
    push: bool = _on("Try a new lemma at the next frames at once.")
    propagate: bool = _on("Move lemmas to the next frame if they hold there.")
    forward: bool = _on("Block a blocked cube at the next frame too.")


@dataclass(frozen=True, slots=True)
class Ic3Options(PdrOptions):
    """The options of `engines.ic3.cooper_ic3`."""

    generalize: bool = _on("Generalise predecessors by Cooper's elimination; otherwise an obligation is one state.")


@dataclass(frozen=True, slots=True)
class PredicatesOptions(PdrOptions):
    """The options of `engines.ic3.implicit_abstraction`."""

    refute: Literal["all-paths", "path"] = _default(
        "all-paths", "What a refinement refutes: every path of the length of the spurious counterexample, or that path."
    )


@dataclass(frozen=True, slots=True)
class BitPdrOptions(Options):
    """The options of `engines.bit_pdr`."""

    ternary: bool = _on("Shrink predecessors by ternary simulation.")
    tighten: bool = _on("Shrink clauses by unsatisfiable cores, then literal by literal.")
    inductive: bool = _on("Ask if a state is reached from another one.")
    push: bool = _on("Try a new clause at the next frames at once.")
    propagate: bool = _on("Move clauses to the next frame if they hold there.")
    forward: bool = _on("Block a blocked state at the next frame too.")


@dataclass(frozen=True, slots=True)
class SpacerOptions(Options):
    """The options of `engines.spacer`."""

    guidance: bool = _on("Global guidance: generalise over several lemmas [KVGG20].")
    seed: int = _number(0, 0, "Random seed of the first turn; an odd one also reverses the relation's arguments.")


@dataclass(frozen=True, slots=True)
class SimulationOptions(Options):
    """The options of `engines.simulation`."""

    seed: int = _number(1, 0, "Random seed of the runs.")


@dataclass(frozen=True, slots=True)
class TemplatesOptions(Options):
    """The options of `invariants.templates`; bounds on single variables are always candidates."""

    pairs: bool = _on("Bounds on sums and differences of two numbers, and on the sum of all.")
    conditions: bool = _on("Implications between two conditions, and groups of which one always holds.")
    conditional: bool = _on("Bounds and equalities under a condition.")


@dataclass(frozen=True, slots=True)
class PolynomialOptions(Options):
    """The options of `invariants.polynomial`."""

    recurrences: bool = _on("Solve recurrences in closed form.")
    null_spaces: bool = _on("Compute null spaces of the monomials' values in random runs.")


# Engines for programs


@dataclass(frozen=True, slots=True)
class LiftedPdrOptions(Options):
    """The options of `engines.cfa.lifted_pdr`."""

    cubes: bool = _on("Obligations are cubes of the weakest precondition, not the whole formula.")
    tighten: bool = _on("Shrink lemmas by unsatisfiable cores, then literal by literal.")
    split: bool = _on("Treat equalities as two inequalities while a cube shrinks.")
    inductive: bool = _on("Ask about a loop at a single location from outside the cube.")
    turns: bool = _on("A level is a turn of a loop, not an edge.")
    propagate: bool = _on("Move lemmas to the next level if they hold there.")
    forward: bool = _on("Block a blocked cube at the next level too.")


@dataclass(frozen=True, slots=True)
class PredicateReachOptions(Options):
    """The options of `engines.cfa.predicate_reach`."""

    refine: bool = _on("Refine the abstraction; otherwise only the predicates given by --predicate are used.")
