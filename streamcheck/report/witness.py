"""SV-COMP witnesses, YAML format 2.0: loop invariants of a proof, the assumptions along a violation.

Evidence for other validators. Of a proof: the invariants that C can express; of a violation: the value of each
unknown input, and the line of the error. An input is an assumption after the statement that read it; if C cannot name
its variable there (it is one of an inner block or of another function), it is what the call on that line returns.
"""

from __future__ import annotations

import hashlib
import os
import re
import uuid
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise

from streamcheck.core.conjuncts import conjuncts
from streamcheck.core.errors import SpecError, refuse_unwritable
from streamcheck.core.files import write_whole
from streamcheck.core.location import Location
from streamcheck.core.term import Term, variables
from streamcheck.core.types import MachineType
from streamcheck.problem.automaton import Automaton, Edge, Executed
from streamcheck.problem.result import Result, Verdicts
from streamcheck.problem.specification import Specification
from streamcheck.report.c_text import conditions, variable_text
from streamcheck.report.values import as_text

ERROR_CALL = re.compile(r"\breach_error\s*\(\s*\)\s*;")
ERROR_DECLARED = re.compile(r"\bvoid\s+reach_error\b")


def witness(verdicts: Verdicts, path: str) -> Iterator[str]:
    program = verdicts.problem
    if isinstance(program, Specification) or not path.endswith((".c", ".i")):
        raise SpecError(f"{path}: witnesses are for C programs only")
    broken = next((r for r in verdicts.results if r.path is not None and not r.prop.is_implied), None)
    if broken is not None:
        yield from _head("violation_sequence", path, program.data_model)
        yield from _violation(program, broken, path)
        return
    asserted = [r for r in verdicts.results if not r.prop.is_implied]
    if not asserted or any(r.verdict != "proved" for r in asserted):
        raise SpecError(f"{path}: no verdict, so no witness", write="a longer `--timeout`")
    yield from _head("invariant_set", path, program.data_model)
    yield from _invariants(program, asserted, path)


def write_witness(verdicts: Verdicts, path: str, file: str) -> None:
    """Write the witness to a file."""
    with refuse_unwritable(file):
        write_whole({file: "".join(f"{line}\n" for line in witness(verdicts, path))})


def _head(kind: str, path: str, data_model: str) -> Iterator[str]:
    from importlib.metadata import version

    name = _text(os.path.basename(path))
    with open(path, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    yield f"- entry_type: {kind}"
    yield "  metadata:"
    yield '    format_version: "2.0"'
    yield f"    uuid: {uuid.uuid4()}"
    yield f"    creation_time: {datetime.now(UTC).isoformat(timespec='seconds')}"
    yield "    producer:"
    yield "      name: streamcheck"
    yield f'      version: "{version("streamcheck")}"'
    yield "    task:"
    yield f"      input_files: [{name}]"
    yield "      input_file_hashes:"
    yield f"        {name}: {digest}"
    yield '      specification: "CHECK( init(main()), LTL(G ! call(reach_error())) )"'
    yield f"      data_model: {data_model}"
    yield "      language: C"
    yield "  content:"


def _invariants(program: Automaton, results: list[Result], path: str) -> Iterator[str]:
    """The invariants of loops that a line identifies; a loop of an inlined function has one for each call."""
    source = program
    lines = [source.lines[q].line for q in source.loops if q in source.lines]
    invariants: dict[Location, list[Term]] = {}
    for result in results:
        for location, term in (result.at_locations or {}).items():
            where = source.lines.get(location)
            plain = where is not None and ":" not in location and lines.count(where.line) == 1
            if where is not None and plain and location in source.loops:
                invariants.setdefault(where, []).append(term)
    if not invariants:
        yield "    []"
    for where, terms in invariants.items():
        parts = [part for t in terms for part in conjuncts(t) if _in_scope(source, [part], where)]
        texts = dict.fromkeys(c for part in parts for c in conditions(part, wide=True))
        value = " && ".join(f"({c})" for c in texts) or "1"
        yield "  - invariant:"
        yield "      type: loop_invariant"
        yield from _location(Location(path, where.line), _function(program), "      ")
        yield f"      value: {_text(value)}"
        yield "      format: c_expression"


def _in_scope(source: Automaton, terms: list[Term], where: Location) -> bool:
    """True if C can name their variables there: in the function itself and after their declarations."""
    for v in variables(terms):
        declared = source.source_names.get(str(v.payload).split(".")[0])
        if declared is None or declared.line >= where.line:
            return False
    return True


def _function(program: Automaton) -> str:
    return program.function or "main"


def _violation(program: Automaton, result: Result, path: str) -> Iterator[str]:
    """The segments of a violation. Rounds of a loop are left out but for the first: there may be millions."""
    assert result.path is not None
    statements = [step for step in result.path.statements if isinstance(step, Executed)]
    with open(path, encoding="utf-8", errors="replace") as file:
        lines = file.read().split("\n")
    for step, following in pairwise(statements):
        where = following.edge.where
        for v, new in step.edge.updates if step.edge.choices else ():
            if isinstance(v.type, MachineType) and v.type.width > 64:
                continue  # a literal of C has at most 64 bits
            value = as_text(v.type, step.values[v])
            if where is not None and ":" not in following.edge.source and _in_scope(program, [v], where):
                yield from _waypoint("assumption", where, _function(program))
                yield from _constraint(f"{variable_text(v.payload)} == {value}", "c_expression")
            elif new in step.edge.choices and "()" in str(new.payload) and v.type.kind in ("signed", "unsigned"):
                yield from _result_of_call(program, step.edge, value, path, lines)
    target = result.prop.where or statements[-1].edge.where or Location(path, 1)
    yield from _waypoint("target", _call_of_error(target, lines), None)


def _call_of_error(assertion: Location, lines: list[str]) -> Location:
    """The error is the call of `reach_error` in the function of an assertion, if the file has one such call."""
    calls = [i for i, text in enumerate(lines, 1) if ERROR_CALL.search(text) and not ERROR_DECLARED.search(text)]
    return replace(assertion, line=calls[0]) if len(calls) == 1 else assertion


def _result_of_call(program: Automaton, edge: Edge, value: str, path: str, lines: list[str]) -> Iterator[str]:
    """A waypoint for the result of the only call in a statement, if its line has no other call of that function."""
    called = re.findall(r"(\w+)\(\)", edge.text)
    where = edge.where
    if where is None or os.path.basename(where.file) != os.path.basename(path) or len(called) != 1:
        return
    text = lines[where.line - 1] if where.line <= len(lines) else ""
    calls = list(re.finditer(rf"\b{called[0]}\s*\(\s*\)", text))
    if len(calls) == 1:
        inlined = edge.source.split(":")[0] if ":" in edge.source else _function(program)
        yield from _waypoint("function_return", where, inlined, calls[0].end())
        yield from _constraint(f"\\result == {value}", "acsl_expression")


def _waypoint(kind: str, where: Location, function: str | None, column: int | None = None) -> Iterator[str]:
    yield "  - segment:"
    yield "    - waypoint:"
    yield f"        type: {kind}"
    yield "        action: follow"
    yield from _location(where, function, "        ", column)


def _constraint(text: str, format: str) -> Iterator[str]:
    yield "        constraint:"
    yield f"          value: {_text(text)}"
    yield f"          format: {format}"


def _location(where: Location, function: str | None, indent: str, column: int | None = None) -> Iterator[str]:
    yield f"{indent}location:"
    yield f"{indent}  file_name: {_text(os.path.basename(where.file))}"
    yield f"{indent}  line: {where.line}"
    if column is not None:
        yield f"{indent}  column: {column}"
    if function is not None:
        yield f"{indent}  function: {function}"


def _text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
