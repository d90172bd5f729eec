"""Compiling a spec: files are written only if the properties and the C are proved, or the user chose otherwise.

In order: the C is generated (a mistake in the interface should not wait for proofs); the properties are proved; if
requested, ranges for Int streams are proved, and the C is generated from the narrowed specification; the C is read back
and proved equal to the specification; the files are written, all of them or none.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from streamcheck import __version__
from streamcheck.c.arithmetic import EXACT_FUNCTIONS, FUNCTIONS
from streamcheck.codegen.rust import rust_crate
from streamcheck.codegen.text import source
from streamcheck.codegen.unit import CodeOptions, Unit, generate, remark_line
from streamcheck.core.errors import SpecError, refuse_unwritable
from streamcheck.core.files import write_whole
from streamcheck.core.option_words import COMMAND, PYTHON, OptionWords
from streamcheck.core.term import Term
from streamcheck.deliver.compilers import Compilation, compile_once
from streamcheck.deliver.last_bits import LastBits, machine_measured, measure_last_bits
from streamcheck.deliver.narrow import narrow
from streamcheck.deliver.replays import Row, TestRun, random_run, replay_data, runs_to_replay
from streamcheck.deliver.templates import wrap
from streamcheck.deliver.trace import trace
from streamcheck.problem.claim import Goal
from streamcheck.problem.places import Code
from streamcheck.problem.result import Verdicts
from streamcheck.problem.specification import Specification
from streamcheck.run.evidence_files import certificate_files
from streamcheck.run.prove import NOBODY, Audience, Settings, prove
from streamcheck.run.sandbox import Sandbox, Send
from streamcheck.validate.bisimulation import Outcome, validate


@dataclass(frozen=True, slots=True)
class CompileRequest:
    options: CodeOptions = field(default_factory=CodeOptions)
    unproven: bool = False
    validate: bool = True
    narrow: bool = False
    strict_math: bool = False
    measure_math: bool = False  # how this machine's functions of math.h round
    extras: tuple[str, ...] = ()  # wrappers, by name or folder
    samples: Sequence[Row] = ()  # the inputs of the run that the spec shows, for its test
    settings: Settings = field(default_factory=Settings)


@dataclass(frozen=True, slots=True, repr=False)
class CompileResult:
    """The verdicts and the C. `unit` is None if a property is not proved, `outcome` if validation was not requested.
    The files may be written if `ready`."""

    verdicts: Verdicts
    unit: Unit | None
    outcome: Outcome | None
    request: CompileRequest
    compilation: Compilation | None = None  # None if no compiler is at hand
    extras: Mapping[str, str] = field(default_factory=dict)  # files beside the C, not proved
    last_bits: Sequence[LastBits] = ()  # if it was requested

    @property
    def ready(self) -> bool:
        if self.unit is None or (self.compilation and not self.compilation.is_accepted):
            return False
        return self.outcome.is_proved if self.outcome else not self.request.validate

    def summary(self, paths: Sequence[str] = (), words: OptionWords = COMMAND) -> Iterator[str]:
        """The lines that the command prints: what the C is, and why it is not written if it is not. `paths` have been
        written."""
        if self.unit is None:
            why = f"a property is not proved ({words.unproven} compiles it anyway)"
            if self.verdicts.alarms:
                why = "streamcheck contradicts itself"
            yield f"  not compiled: {'interrupted' if self.verdicts.stopped else why}"
            return
        outcome = self.outcome
        if outcome is None:
            yield f"  the C was NOT proved equal to the spec ({words.no_validate})"
        elif outcome.is_proved:
            yield f"  the C is proved equal to the spec: {outcome.claims} claims, {outcome.seconds:.2f} s"
        else:
            yield "  not written: the C could not be proved equal to the spec, which is an error in streamcheck:"
            yield from (f"    {failure}" for failure in outcome.failures)
        if self.compilation is None:
            yield "  not compiled by a C compiler: none is at hand"
        elif self.compilation.is_accepted:
            warnings = len(self.compilation.messages)
            yield f"  compiled with {warnings or 'no'} warning{'s' * (warnings != 1)}: {self.compilation.command}"
        else:
            yield f"  not written: {self.compilation.command} does not accept the C, which is an error in streamcheck:"
            yield from (f"    {line}" for line in self.compilation.messages)
        yield from (f"  {line}" for line in self.unit.figures.lines())
        yield from (f"  {machine_measured()}: {measured.line()}" for measured in self.last_bits)
        if self.request.measure_math and not self.last_bits:
            yield "  nothing to measure: the C calls no function of math.h whose last bit is open"
        if paths:
            yield f"  written: {', '.join(paths)}"

    def __str__(self) -> str:
        return "\n".join(self.summary(words=PYTHON))

    def __repr__(self) -> str:
        return f"<{self.verdicts.problem.name}: {'compiled' if self.ready else 'not compiled'}>"


def compile_spec(whole: Specification, request: CompileRequest, audience: Audience = NOBODY) -> CompileResult:
    specification = whole.about_steps()
    if not specification.triggers and not (request.options.observers and specification.observers):
        raise SpecError(
            f"{specification.name} has no trigger, so its C would do nothing",
            specification.where,
            write="--observers" if specification.observers else 'spec.trigger("name", guard, args)',
        )
    if request.narrow and request.options.assumptions:
        raise SpecError(
            "an assumption about an Int is checked before its range is known",
            specification.where,
            write="machine types in the spec, or no --narrow, or no --assumptions",
        )
    unit = None if request.narrow else generate(specification, request.options)
    if unit is not None:  # mistakes that need no proof
        _extra_files(unit, request, [random_run(specification)])
    computed = list(specification.outputs(observers=request.options.observers))
    computed += [a.term for a in specification.assumptions if request.options.assumptions]
    trusted = trusted_functions(specification, computed)
    if trusted and request.strict_math:
        raise SpecError(
            f"the C would call {', '.join(trusted)} of math.h, whose last bit no standard promises",
            specification.where,
            write="+ - * / sqrt, abs, floor and ceil, or no --strict-math",
        )
    verdicts = prove(whole, request.settings, audience)
    if verdicts.alarms or verdicts.stopped or (verdicts.status and not request.unproven):
        return CompileResult(verdicts, None, None, request)
    ranges: list[str] = []
    proved = [r.prop for r in verdicts.results if r.verdict == "proved" and r.prop.goal is Goal.ALWAYS]
    if unit is not None:
        unit = generate(specification, request.options, proved)
    else:
        machine, ranges = narrow(specification, [p.term for p in proved], request.settings)
        unit = generate(machine, request.options)
    last_bits = measure_last_bits(trusted) if request.measure_math else []
    remarks = [*_proof_remarks(verdicts), *ranges, *_assumption_remarks(specification)]
    remarks += _trust_remarks(unit, trusted, last_bits)
    unit = unit.with_remarks([*remarks, "", NOT_VALIDATED, ""])
    outcome = _validate_in_sandbox(unit.code) if request.validate else None
    unit = _marked_as_validated(unit) if outcome and outcome.is_proved else unit
    extras = _extra_files(unit, request, runs_to_replay(verdicts, request.samples, unit.code.specification))
    return CompileResult(verdicts, unit, outcome, request, compile_once(unit, extras), extras, last_bits)


def _extra_files(unit: Unit, request: CompileRequest, runs: list[TestRun]) -> dict[str, str]:
    headers = [{"name": name} for name in unit.code.files if name.endswith(".h")]
    data = {**unit.interface, "version": __version__, "headers": headers}
    if "test" in request.extras:
        data |= replay_data(unit.code, runs, [given["name"] for given in unit.interface["inputs"]])
    made: dict[str, str] = {}
    for wrapper in (name for name in request.extras if name != "trace"):
        if wrapper == "rust":
            crate = rust_crate(unit.code, __version__)
            made |= {os.path.join("rust", name): text for name, text in crate.items()}
            continue
        made.update(wrap(wrapper, data, unit.code.files))
    return made


def trusted_functions(specification: Specification, computed: Sequence[Term]) -> list[str]:
    """The functions of math.h that the C calls and the proof takes on trust."""
    inexact = set(FUNCTIONS) - set(EXACT_FUNCTIONS)
    needed = specification.needed_by(computed)
    names = {node.op + ("f" if str(node.type) == "Float" else "") for node in needed if node.op in inexact}
    return sorted(names)


VALIDATED = "This C was read back and proved equal to the spec, for all inputs and all time."
NOT_VALIDATED = "THIS C WAS NOT PROVED EQUAL TO THE SPEC (--no-validate)."


def _validate_in_sandbox(code: Code) -> Outcome:
    """`validate` in a separate process, so that an interrupt ends it even if its solver is busy."""

    def work(send: Send) -> None:
        send(asdict(validate(code)))

    doing = "proving the C equal to the spec"
    began = time.monotonic()
    with Sandbox(work, seconds=None, doing=doing) as child:
        try:
            row = child.receive()
        except SpecError as why:
            return Outcome((str(why),), 0, 0, time.monotonic() - began)
    return Outcome(tuple(row["failures"]), row["claims"], row["questions"], row["seconds"])


def _proof_remarks(verdicts: Verdicts) -> Iterator[str]:
    good = [r.name for r in verdicts.results if r.verdict == "proved" and r.prop.goal is Goal.ALWAYS]
    reached = [r.name for r in verdicts.results if r.verdict == "proved" and r.prop.goal is Goal.REACHABLE]
    if isinstance(verdicts.problem, Specification) and verdicts.problem.where is not None:
        yield f"from {source(verdicts.problem.where)}"
    if good:
        yield f"proved for all inputs and all time: {', '.join(good)}"
    again = [r.name for r in verdicts.results if r.verdict == "proved" and r.prop.is_about_infinite_runs]
    if again:
        yield f"proved of all infinite runs that are fair (the C does not check it): {', '.join(again)}"
    if reached:
        yield f"shown to be possible, in at least one run: {', '.join(reached)}"
    for result in verdicts.results:
        if result.verdict != "proved":
            why = f"false at step {result.k}" if result.run is not None else result.reason or "no run reaches it"
            if result.run is not None and result.run.loop is not None:
                why = "a run that goes on forever breaks it"
            yield f"NOT PROVED: {result.name} ({result.verdict}: {why})"


def _trust_remarks(unit: Unit, trusted: list[str], last_bits: Sequence[LastBits]) -> Iterator[str]:
    """Remarks on what the proof of the C takes on trust, beside the compiler."""
    if trusted:
        yield f"trusted, not proved: {', '.join(trusted)} of math.h (no standard promises their last bit)"
    yield from (f"{machine_measured()}: {measured.line()}" for measured in last_bits)
    if unit.has_floats:
        yield "compile with -ffp-contract=off and without -ffast-math: the proof rounds every operation on floats"


def _assumption_remarks(specification: Specification) -> Iterator[str]:
    """The assumptions, which the environment must satisfy for the proofs to apply."""
    for claim in specification.assumptions:
        yield f"assumed at every step: {claim.name}  {source(claim.where)}"


def _marked_as_validated(unit: Unit) -> Unit:
    """The same C; one comment line changes."""
    before, after = (remark_line(remark) + "\n" for remark in (NOT_VALIDATED, VALIDATED))
    files = {name: text.replace(before, after) for name, text in unit.code.files.items()}
    return replace(unit, code=replace(unit.code, files=files))


def write(result: CompileResult, directory: str) -> list[str]:
    """Write all files or none; their paths."""
    if result.unit is None or not result.ready:
        raise AssertionError("nothing to write")
    files = {**result.unit.code.files, **result.extras}
    if "trace" in result.request.extras:
        files |= _trace_files(result, files, directory)
    with refuse_unwritable(directory):
        whole = {os.path.join(directory, name): text for name, text in files.items()}
        for path in whole:
            os.makedirs(os.path.dirname(path), exist_ok=True)
        write_whole(whole)
    return list(whole)


CERTIFICATES = "certificates"  # the folder for them, beside the C


def _trace_files(result: CompileResult, files: Mapping[str, str], directory: str) -> dict[str, str]:
    """The trace, and the certificates that it names."""
    unit, problem = result.unit, result.verdicts.problem
    assert unit is not None and isinstance(problem, Specification)
    made: dict[str, tuple[str, str]] = {}
    if problem.where is not None:
        found = certificate_files(result.verdicts, problem.where.file, os.path.join(directory, CERTIFICATES))
        made = {prop: (os.path.join(CERTIFICATES, name), text) for prop, (name, text) in found.items()}
    row = trace(unit, result.verdicts, result.outcome, files, made)
    text = json.dumps(row, indent=1, ensure_ascii=False) + "\n"
    return {f"{unit.code.base}.trace.json": text, **dict(made.values())}
