"""The shapes of certificates and runs in files (`certificate_json`). What fits can be read; it may still be wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, get_args

from streamcheck.core.errors import SpecError
from streamcheck.core.operators import OPERATORS, TypeRule
from streamcheck.core.term import Term
from streamcheck.core.types import (
    BOOL,
    ArrayType,
    BoolType,
    EnumType,
    FloatType,
    IntegerType,
    MachineType,
    Misfit,
    RealType,
    StructForm,
    StructType,
    Type,
)
from streamcheck.core.wire import TermReader
from streamcheck.problem.automaton_json import automaton_from_plain
from streamcheck.problem.shapes import (
    DataPlace,
    DataShape,
    any_value,
    is_whole,
    list_of,
    map_of,
    maybe,
    name,
    number_of,
    one_of,
    record,
    refuse,
    refuse_value,
    row_of,
    text,
    truth,
    whole,
)

MOST_LENGTH = 1 << 20  # of an array
INTEGERS = one_of("c", "math")
COMPARED = record(
    {
        "file": name,
        "spec": name,
        "outputs": list_of(name),
        "renames": list_of(row_of(name, name)),
        "refines": truth,
    }
)
PROGRAM = record(
    {"function": maybe(name), "integers": INTEGERS, "data_model": name, "linked": list_of(name)},
    optional=("data_model", "linked"),
)
HEAD = record(
    {
        "file": name,
        "spec": name,
        "property": name,
        "claim": one_of("proved", "falsified"),
        "program": maybe(PROGRAM),
        "bound": maybe(whole(1)),
        "compared": maybe(COMPARED),
        "infinite": maybe(name),
    },
    optional=("program", "bound", "compared", "infinite"),
)
WHERE = maybe(row_of(name, whole(0)))


def require_proof_shape(data: dict[str, Any]) -> None:
    """Damage if the evidence of a proof cannot be read."""
    kinds = [key for key in ("locations", "blocks") if key in data]
    if kinds == ["locations"]:
        terms = _reader(data, ()).terms
        row = row_of(text, _term("a term", terms, of_type=BOOL))
        chosen = list_of(_term("a variable", terms, op="var"))
        record({"locations": list_of(row), "any": chosen, "rounds": whole(1)}, optional=("any", "rounds"))(data, ())
    elif kinds == ["blocks"]:
        reader = _reader(data, ())
        record({"blocks": _blocks(reader.terms), "certificate": any_value})(data, ())
        try:
            automaton_from_plain(data["blocks"], reader)
        except SpecError as why:
            refuse(("blocks",), why.message)
        except ValueError as why:
            refuse(("blocks",), str(why))
        _require_certificate(data["certificate"], ("certificate",))
    elif kinds:
        refuse((), "it has `locations` and `blocks`; a proof has one of them")
    else:
        _require_certificate(data, ())


def _require_certificate(data: Any, place: DataPlace) -> None:
    terms = _reader(data, place).terms
    condition = _term("a term", terms, of_type=BOOL)
    record(
        {
            "kind": one_of("inductive", "compressed", "complete", "ended"),
            "k": whole(1),
            "invariants": list_of(condition),
            "equalities": list_of(condition),
            "free": list_of(text),
            "prover": one_of("z3", "bitwuzla"),
        },
        optional=("prover",),
    )(data, place)
    for i, number in enumerate(data["equalities"]):
        if terms[number].op != "same" or terms[number].args[0].op != "var":
            refuse((*place, "equalities", i), "expected a term that says what a variable is")
    if data["free"] and data["kind"] != "inductive":
        refuse((*place, "free"), f"nothing is free in a proof of the kind {data['kind']}")


def _blocks(terms: list[Term]) -> DataShape:
    term, condition = _term("a term", terms), _term("a term", terms, of_type=BOOL)
    variable = _term("a variable", terms, op="var")
    limit = maybe(row_of(text, list_of(text)))
    edge = row_of(text, text, condition, list_of(row_of(variable, term)), list_of(variable), text, WHERE)
    return record(
        {
            "name": text,
            "variables": list_of(variable),
            "locations": list_of(text),
            "entry": text,
            "errors": list_of(row_of(text, text, WHERE, truth, limit)),
            "edges": list_of(edge),
            "lines": map_of(WHERE),
            "loops": list_of(text),
        }
    )


def _term(what: str, terms: list[Term], *, of_type: Type | None = None, op: str | None = None) -> DataShape:
    """The number of a term of this kind."""
    number = number_of(what, len(terms))

    def check(value: Any, place: DataPlace) -> None:
        number(value, place)
        if of_type is not None and terms[value].type is not of_type:
            refuse(place, f"expected a {of_type}, and term {value} is a {terms[value].type}")
        if op is not None and terms[value].op != op:
            refuse(place, f"expected {what}, and term {value} is none")

    return check


def _reader(data: Any, place: DataPlace) -> TermReader:
    """The types and terms of two tables, each of whose rows mentions earlier ones."""
    record({"types": list_of(any_value), "terms": list_of(list_of(any_value))})(data, place)
    reader = TermReader([], [])
    for i, row in enumerate(data["types"]):
        _type_shape(len(reader.types))(row, (*place, "types", i))
        try:
            reader.add_type(row)
        except (KeyError, ValueError, TypeError):
            refuse_value((*place, "types", i), "a type", row)
    for i, row in enumerate(data["terms"]):
        where = (*place, "terms", i)
        _require_term_row(row, where, reader)
        try:
            reader.add_term(row)
        except (TypeRule, Misfit) as why:
            refuse(where, f"no term: {why}")
        except (ValueError, TypeError, LookupError, AttributeError, OverflowError):
            refuse_value(where, "an operation on terms that fit it", row)
    return reader


def _type_shape(count: int) -> DataShape:
    earlier = number_of("an earlier type", count)
    array = record({"array": earlier, "length": whole(0, MOST_LENGTH)})
    form = one_of(*get_args(StructForm))
    struct = record({"struct": text, "fields": list_of(row_of(text, earlier)), "form": form}, optional=("form",))
    enum = record({"enum": text, "members": list_of(row_of(text, whole(-(1 << 63), (1 << 64) - 1)))})

    def check(value: Any, place: DataPlace) -> None:
        if isinstance(value, dict):
            (array if "array" in value else struct if "struct" in value else enum)(value, place)
        else:
            text(value, place)

    return check


def _require_term_row(row: list[Any], place: DataPlace, reader: TermReader) -> None:
    if not row or not isinstance(row[0], str) or row[0] not in (*OPERATORS, "const", "var"):
        refuse_value((*place, 0) if row else place, "the name of an operator", row[0] if row else row)
    type_, earlier = number_of("a type", len(reader.types)), number_of("an earlier term", len(reader.terms))
    match row[0]:
        case "const":
            row_of(text, type_, any_value)(row, place)
            require_value(reader.types[row[1]], row[2], (*place, 2))
            return
        case "var":
            row_of(text, type_, text)(row, place)
            return
        case "cast" | "array" | "struct":
            first: list[DataShape] = [type_]
        case "field" | "with_field":
            first = [text]
        case _:
            first = []
    row_of(text, *first, *[earlier] * max(0, len(row) - 1 - len(first)))(row, place)


def require_value(type_: Type, value: Any, place: DataPlace) -> None:
    """Damage if the plain value is none of the type."""
    match type_:
        case ArrayType():
            row_of(*[_value_of(type_.element)] * type_.length)(value, place)
        case StructType():
            row_of(*(_value_of(t) for _, t in type_.fields))(value, place)
        case BoolType():
            truth(value, place)
        case _ if not _is_number(type_, value):
            refuse_value(place, f"a value of {type_}", value)


def _value_of(type_: Type) -> DataShape:
    return lambda value, place: require_value(type_, value, place)


def _is_number(type_: Type, value: Any) -> bool:
    match type_:
        case MachineType():
            return is_whole(value, type_.low, type_.high)
        case IntegerType():
            return is_whole(value, value if isinstance(value, int) else 0)
        case EnumType():
            return is_whole(value, value if isinstance(value, int) else 0) and value in type_.codes
        case FloatType():
            return isinstance(value, float) or value in ("NaN", "Infinity", "-Infinity")
        case RealType():
            return isinstance(value, str) and re.fullmatch(r"-?\d+(/0*[1-9]\d*)?", value) is not None
    return False


def require_trace_shape(row: dict[str, Any], types: Mapping[str, Type]) -> None:
    """Damage if a run of a spec cannot be read; `types` are those of its variables."""
    values = _values(types)
    record({"constants": values, "inputs": list_of(values), "loop": maybe(whole(0))}, optional=("loop",))(row, ())
    if row.get("loop") is not None and row["loop"] >= len(row["inputs"]):
        refuse(("loop",), f"expected the number of a step below {len(row['inputs'])}, found {row['loop']}")


def require_path_shape(row: dict[str, Any], types: Mapping[str, Type], edges: int) -> None:
    """The same of a program with so many edges."""
    values = _values(types)
    rounds = row_of(whole(0), whole(0), whole(0), values)
    taken = list_of(row_of(number_of("an edge", edges), values))
    record({"initial": values, "edges": taken, "rounds": list_of(rounds)}, optional=("rounds",))(row, ())


def _values(types: Mapping[str, Type]) -> DataShape:
    """Values by name. Those of unknown variables may be anything."""

    def check(value: Any, place: DataPlace) -> None:
        map_of(any_value)(value, place)
        for var, part in value.items():
            if var in types:
                require_value(types[var], part, (*place, var))

    return check
