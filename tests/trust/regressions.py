"""What the figures have found, mended since: each with its day, and with its seed or the file itself.

A disagreement that a seed brings about is run again with that seed (`Seed`). Of a damaged file the text is kept
(`Text`), since a seed draws other texts once the project's own files change. Most were found before seeds were noted.
"""

import json
import tempfile
from pathlib import Path
from typing import NamedTuple

from trust.malformed import is_good, prepare, reader
from trust.seeds import SEEDS
from trust.small_specs import small_spec
from trust.table import TABLE

from streamcheck.lang.flatten import flatten
from streamcheck.problem.specification_json import to_plain


class Text(NamedTuple):
    """A damaged file that ended in a traceback, or without an end."""

    day: str
    kind: str  # how its name ends
    text: str

    def wrong(self):
        with tempfile.TemporaryDirectory() as folder:
            prepare(Path(folder))
            answer = reader(self.kind, Path(folder))(self.text)
        return [] if is_good(self.kind, answer) else [str(answer)]


class Seed(NamedTuple):
    """A figure whose item of this seed disagreed."""

    day: str
    figure: str
    seed: int

    def wrong(self):
        return TABLE[self.figure].figure(self.figure, 1, self.seed).wrong


def equations(row):
    """Equations of which one term is replaced."""
    plain = to_plain(flatten(small_spec(1)[0]))
    return json.dumps({**plain, "terms": [*plain["terms"][:2], row, *plain["terms"][3:]]})


def with_a_wire(name):
    """Equations with a wire of this name."""
    plain = to_plain(flatten(small_spec(1)[0]))
    return json.dumps({**plain, "wires": [{"name": name, "term": 0, "at": None}]})


def placed_at(file):
    return json.dumps({**to_plain(flatten(small_spec(1)[0])), "at": [file, 1]})


def with_a_type(row):
    plain = to_plain(flatten(small_spec(1)[0]))
    return json.dumps({**plain, "types": [*plain["types"], row], "terms": [*plain["terms"], with_zero(plain)]})


def with_zero(plain):
    """A term that is zero in the type after the last."""
    return ["const", len(plain["types"]), 0]


def export(**fields):
    """An export of FRET, of which a variable has other fields."""
    data = json.loads(next(SEEDS["fret"]()))
    data["variables"][-1] |= fields
    return json.dumps(data)


FOUND = (
    Text("2026-11-20", "json", with_a_wire(None)),
    Text("2026-11-20", "json", placed_at("a\0.py")),
    Text("2026-11-20", "json", placed_at("\ud800.py")),
    Text("2026-11-20", "json", with_a_type("Word21474836484")),  # it hung
    Text("2026-11-20", "fret", export(dataType=[])),
    Text("2026-11-20", "fret", export(assignment={"a": 1})),
    Text("2026-11-20", "fret", export(variable_name=["x"])),
    *(Text("2026-11-19", "json", equations(row)) for row in (["and", 0, 1], ["not"], ["cast", 0], [{}, 0], "var", 7)),
    Text("2026-11-19", "c", "int f {\n}\nint main(void) { return 0; }"),
    Text("2026-11-19", "c", "int main(void) {\nr#else\n}"),
    Text("2026-11-19", "c", "struct s { int a; } mk(void);\nint main(void) { return mk().a(); }"),
    Text("2026-11-19", "c", "struct s { int b __attribute__((aligned(8"),
    Text("2026-11-19", "c", '#define A "b\0h"\n#include A\n'),
    Text("2026-11-19", "lus", "node top() returns (y: int);\nlet\n  y = 0x;\ntel\n"),
    Text("2026-11-19", "btor2", "1 sort bitvec 0\n"),
    Text("2026-11-19", "btor2", "1 sort bitvec 1100000000000000000000\n2 zero 1\n"),
    Text("2026-11-19", "vmt", f"(declare-fun x () (_ BitVec {10**30}))\n"),
    Seed("2026-11-20", "killed", 901066),  # CPython has no memory for an exception
    Seed("2026-11-20", "killed", 901116),  # the command has none for the words of an error
    Seed("2026-11-20", "killed", 210168),  # that no assumption ends every run, of a state that has a struct
    Seed("2026-11-20", "killed", 211071),  # the loader has no memory for its modules
    Text("2026-11-19", "vmt", f"(define-fun p () Bool (= (_ bv1 {10**30}) 0))\n"),
)
