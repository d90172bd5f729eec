"""A monitor compiled by the C compiler of this machine and loaded into this process, with the arrays that it reads and
writes: the inputs of some steps, what they show, the state."""

from __future__ import annotations

import ctypes
import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

from streamcheck.core.errors import SpecError
from streamcheck.core.types import (
    EnumType,
    FloatType,
    MachineType,
    Type,
    Value,
    assemble,
    default,
    part_names,
    scalar_parts,
)
from streamcheck.deliver.compilers import SECONDS, compiler
from streamcheck.deliver.native_code import ArrayColumn, native_code
from streamcheck.interpret.chunks import Chunk
from streamcheck.interpret.data import CsvForm
from streamcheck.interpret.log_text import LogText
from streamcheck.interpret.present import presenter
from streamcheck.interpret.python_code import Plan, RunState, initial_state

MOST = 16384  # steps at a time
FLAGS = "-std=c99 -O2 -w -ffp-contract=off -fno-builtin -fPIC -shared".split()
LEFT_OUT, INTEGER, BOOL, FLOAT, ENUM = range(5)  # kinds of fields; the numbers are those of rows.c
MORE = 0  # the reader of rows stopped at the end of the text


class _Field(ctypes.Structure):
    _fields_ = [
        ("kind", ctypes.c_int32),
        ("width", ctypes.c_int32),
        ("most", ctypes.c_uint64),
        ("most_below", ctypes.c_uint64),
        ("names", ctypes.c_char_p),
        ("codes", ctypes.c_void_p),
        ("column", ctypes.c_void_p),
        ("texts", ctypes.c_void_p),
        ("length", ctypes.c_int64),
    ]


class _RowPlace(ctypes.Structure):
    _fields_ = [("used", ctypes.c_int64), ("lines", ctypes.c_int64), ("row", ctypes.c_int64)]


def _element(type: Type) -> tuple[Any, str]:
    """The type of an array's elements, for ctypes and for memoryview."""
    match type:
        case MachineType(width=width, signed=signed):
            formats = "bhiq" if signed else "BHIQ"
            return getattr(ctypes, f"c_{'' if signed else 'u'}int{width}"), formats[width.bit_length() - 4]
        case FloatType(width=width):
            return (ctypes.c_float, "f") if width == 32 else (ctypes.c_double, "d")
        case EnumType():
            return ctypes.c_int32, "i"
    return ctypes.c_bool, "?"


class _Array:
    """An array of the C."""

    def __init__(self, column: ArrayColumn) -> None:
        self.type = column.type
        made, format = _element(column.type)
        self.memory = (made * (column.length or MOST))()
        self.view: memoryview[Any] = memoryview(self.memory).cast("B").cast(format)  # type: ignore[call-overload]
        first = default(column.type)
        for i in range(len(self.view) if first else 0):  # every value is one of the type, also if it is not written
            self.view[i] = first

    def list(self, count: int) -> list[Any]:
        values: list[Any] = self.view[:count].tolist()
        return values


class NativeMonitor:
    """The compiled monitor in its state. A batch of steps is written to the inputs, run, and read as a chunk."""

    def __init__(self, planned: Plan) -> None:
        self.planned = planned
        self.code = native_code(planned)
        arrays: list[_Array] = []

        def allocate(columns: Sequence[ArrayColumn]) -> list[_Array]:
            here = [_Array(c) for c in columns]
            arrays.extend(here)
            return here

        self.inputs = [allocate(group) for group in self.code.inputs]
        self._fired = allocate(self.code.fired)
        self._args = [[allocate(group) for group in groups] for groups in self.code.args]
        self._observers = [allocate(group) for group in self.code.observers]
        self._claims = allocate(self.code.claims)
        self._state = [allocate(group) for group in self.code.state]
        self._library = _load(self.code.files)
        self._library.sc_bind((ctypes.c_void_p * max(1, len(arrays)))(*(ctypes.addressof(a.memory) for a in arrays)))
        self._library.sc_start()
        self._initial = initial_state(planned)
        self.step = 0

    def write(self, row: int, values: Sequence[Value]) -> None:
        """The inputs of one step of the batch."""
        for arrays, value in zip(self.inputs, values, strict=True):
            for array, part in zip(arrays, scalar_parts(value), strict=True):
                array.view[row] = part

    def read_inputs(self, count: int) -> list[list[Any]]:
        """The first inputs of the batch, by the scalar parts of the inputs."""
        return [array.list(count) for arrays in self.inputs for array in arrays]

    def run(self, count: int, kept: Sequence[Sequence[str]]) -> Chunk:
        """So many steps, with these texts."""
        self._library.sc_steps(ctypes.c_int64(0), ctypes.c_int64(count))
        first, self.step = self.step, self.step + count
        truths = [bytes(a.view[:count].cast("B")) for a in self._claims]
        properties = len(self.planned.properties)
        triggers, observers = self.planned.specification.triggers, self.planned.specification.observers
        return Chunk(
            range(first, self.step),
            kept,
            [a.list(count) for a in self._fired],
            [
                [_values(arg.type, arrays, count) for (_, arg), arrays in zip(t.args, groups, strict=True)]
                for t, groups in zip(triggers, self._args, strict=True)
            ],
            [_values(o.term.type, arrays, count) for o, arrays in zip(observers, self._observers, strict=True)],
            truths[:properties],
            truths[properties:],
        )

    def state(self) -> RunState:
        """The values of the plan's cells. One that the C does without has its initial value: it keeps that, or nothing
        that is shown depends on it. Those of a window may be others that have the same extremes."""
        self._library.sc_state()
        groups = [[a.list(len(a.view)) for a in arrays] for arrays in self._state]
        values = list(self._initial)
        for i, place in enumerate(self.code.cells):
            if place is not None:
                group, element = place
                type = self.planned.cells[i].initial.type
                values[i] = assemble(type, iter([part[element] for part in groups[group]]))
        return tuple(values)

    def reader(self, form: CsvForm) -> RowReader:
        return RowReader(self, self._library, form)


def _values(type: Type, arrays: Sequence[_Array], count: int) -> list[Any]:
    """As the interpreter shows them."""
    convert = presenter(type)
    parts = [a.list(count) for a in arrays]
    if type.kind not in ("array", "struct"):
        return parts[0] if convert is None else list(map(convert, parts[0]))
    whole = [assemble(type, iter(row)) for row in zip(*parts, strict=True)]
    return whole if convert is None else list(map(convert, whole))


def _load(files: dict[str, str]) -> ctypes.CDLL:
    name = compiler()
    if name is None:
        raise SpecError("--native needs a C compiler: there is no cc, gcc or clang", write="run without --native")
    with tempfile.TemporaryDirectory() as folder:
        for file, text in files.items():
            with open(os.path.join(folder, file), "w", encoding="utf-8") as output:
                output.write(text)
        made = os.path.join(folder, "run.so")
        try:
            done = subprocess.run(
                [name, *FLAGS, "run.c", "-o", made, "-lm"], cwd=folder, capture_output=True, text=True, timeout=SECONDS
            )
        except subprocess.TimeoutExpired:
            raise SpecError(f"{name} takes more than {SECONDS:g} s", write="run without --native") from None
        if done.returncode:
            raise SpecError(f"{name} does not compile the monitor:\n{done.stderr}", write="run without --native")
        return ctypes.CDLL(made)


class RowReader:
    """Reads rows of CSV into the inputs of a machine, as far as they are plain."""

    def __init__(self, machine: NativeMonitor, library: ctypes.CDLL, form: CsvForm) -> None:
        self._read = library.sc_read
        self._read.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p, ctypes.c_int32, ctypes.c_int64]
        self._read.argtypes += [ctypes.POINTER(_RowPlace)]
        self._fields = (_Field * len(form.header))()
        self._kept = [self._fields[form.header.index(name)] for name in form.kept]
        self._texts: list[Any] = []
        self._codes: list[Any] = []
        named = dict(_input_arrays(machine, form))
        for name, field in zip(form.header, self._fields, strict=True):
            if name in named:
                self._fill(field, named[name])

    def _fill(self, field: _Field, array: _Array) -> None:
        field.width, field.column = ctypes.sizeof(array.memory._type_), ctypes.addressof(array.memory)
        match array.type:
            case MachineType(low=low, high=high):
                field.kind, field.most, field.most_below = INTEGER, high, -low
            case FloatType():
                field.kind = FLOAT
            case EnumType(members=members):
                codes = (ctypes.c_int32 * len(members))(*(code for _, code in members))
                self._codes.append(codes)
                field.names = b"".join(name.encode() + b"\0" for name, _ in members)
                field.kind, field.most, field.codes = ENUM, len(members), ctypes.addressof(codes)
            case _:
                field.kind = BOOL

    def read(self, text: LogText, row: int, most: int) -> tuple[int, int, list[list[str]]]:
        """Rows from the beginning of the text into the batch from `row` up to `most`: why that stopped, the next row,
        and the kept texts."""
        size = len(text.buffer) - text.at
        self._make_room(size)
        place = _RowPlace(0, 0, row)
        whole = ctypes.c_char_p(text.buffer)
        start = (ctypes.cast(whole, ctypes.c_void_p).value or 0) + text.at
        why = self._read(start, size, self._fields, len(self._fields), most, ctypes.byref(place))
        text.use(place.used, place.lines)
        kept = [t[: f.length].decode().split("\n")[:-1] for f, t in zip(self._kept, self._texts, strict=True)]
        return why, place.row, kept

    def _make_room(self, size: int) -> None:
        """For texts of a buffer of that size."""
        if self._kept and (not self._texts or len(self._texts[0]) <= size):
            self._texts = [ctypes.create_string_buffer(2 * size + 1) for _ in self._kept]
            for field, made in zip(self._kept, self._texts, strict=True):
                field.texts = ctypes.addressof(made)
        for field in self._kept:
            field.length = 0


def _input_arrays(machine: NativeMonitor, form: CsvForm) -> Iterator[tuple[str, _Array]]:
    for var, arrays in zip(machine.planned.inputs, machine.inputs, strict=True):
        if var not in form.absent:
            yield from zip((name for name, _ in part_names(str(var.payload), var.type)), arrays, strict=True)
