"""Recorded inputs read directly: values, names, places in messages; logs in pieces of any size; runs in chunks."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest

from streamcheck import *
from streamcheck.core.errors import SpecError
from streamcheck.core.term import constant, term, variable
from streamcheck.core.types import BOOL, FLOAT, INT, REAL, EnumType, StructType, array_of, machine
from streamcheck.interpret.chunks import Chunk, interpret, interpret_from, interpret_steps, steps_of
from streamcheck.interpret.data import DataColumns, NamedRows, read_form, read_rows
from streamcheck.interpret.log_text import LogText
from streamcheck.interpret.parquet import read_parquet
from streamcheck.interpret.python_code import plan, stepper
from streamcheck.interpret.samples import OutOfSamples, feed, given_values, rows
from streamcheck.problem.claim import Claim, Goal
from streamcheck.problem.specification import Cell, Constant, Input, Named, Specification, Trigger

WORD, COLOUR = machine(8, signed=False), EnumType("Colour", (("red", 0), ("blue", 4)))
PAIR = StructType("Pair", (("x", WORD), ("y", REAL)))
W, B, R, C, F = (variable(n, t) for n, t in zip("wbrcf", (WORD, BOOL, REAL, COLOUR, FLOAT), strict=True))
P, A = variable("p", PAIR), variable("a", array_of(WORD, 2))


def columns(*needed, known=(), **more):
    return DataColumns(needed, [*(v.payload for v in needed), *known], **more)


def csv_rows(text, read):
    found = read_rows(iter(text.splitlines(keepends=True)), "log.csv", read, "csv")
    return found, list(found.rows)


def json_rows(text, read):
    found = read_rows(iter(text.splitlines(keepends=True)), "log.json", read, "json")
    return found, list(found.rows)


def test_values_of_each_type_in_csv():
    head = "\ufeffw, b,r,c,f,p.x,p.y,a.0,a.1\n"
    first = " 7 ,TRUE,1/3,Colour.blue,0.5,0,1e2,255,3\n"
    found, values = csv_rows(head + first + "\n" + "0,0,-2,red,-inf,255,0.1,0,0\n", columns(W, B, R, C, F, P, A))
    assert found.columns == ("w", "b", "r", "c", "f", "p.x", "p.y", "a.0", "a.1") and found.kept == ()
    assert values[0] == (7, True, Fraction(1, 3), 4, 0.5, (0, Fraction(100)), (255, 3))
    assert values[1] == (0, False, Fraction(-2), 0, float("-inf"), (255, Fraction(1, 10)), (0, 0))
    assert [type(v) for v in values[0][:3]] == [int, bool, Fraction]


def test_columns_beside_the_inputs():
    read = columns(B, known=["other"], unused=("spare",), keep=("note",))
    found, values = csv_rows("step,note,Time,b,other,spare,spare.x\n9,hello,12:00,false,,,\n", read)
    assert found.kept == ("note", "Time") and values == [(False, "hello", "12:00")]
    found, values = csv_rows("b,time\n1,x\n", columns(B, known=["time"]))
    assert found.kept == () and values == [(True,)]
    read = columns(W, P, optional=frozenset([P]))
    assert csv_rows("w\n3\n", read)[1] == [(3, (0, Fraction(0)))]
    assert csv_rows("w,p.y,p.x\n3,1,2\n", read)[1] == [(3, (2, Fraction(1)))]
    assert csv_rows("zzz,b\n1,1\n", columns(B, ignore_extra=True))[1] == [(True,)]


WRONG_CSV = {
    "": ":1: no header: the first row names the inputs, w, b",
    "w;b\n1;2\n": ":1: the values are separated by ';'; CSV has commas",
    "z;y\n1;2\n": ":1: column 'z;y' is not an input of this spec; the inputs are b, w",
    "w,w,b\n": ":1: column w appears twice",
    "w\n1\n": ":1: no column for b",
    "w,b,ww\n": "column 'ww' is not an input of this spec; is 'w' meant?",
    "w,b\n1,1\n\n1\n": ":4: this row has 1 value, the header has 2 columns",
    "w,b\n1,1\n256,1\n": ":3: column w: ",
    "w,b\n-1,1\n": ":2: column w: ",
    "w,b\n1.5,1\n": ":2: column w: '1.5' is not a Word8",
    "w,b\n1,2\n": ":2: column b: '2' is not a Bool: true or false",
    "w,b\n ,1\n": ":2: column w: empty; a Word8 is needed",
}


@pytest.mark.parametrize("text", WRONG_CSV)
def test_what_is_wrong_in_csv(text):
    with pytest.raises(SpecError) as raised:
        csv_rows(text, columns(W, B))
    assert WRONG_CSV[text] in str(raised.value) and str(raised.value).startswith("log.csv")


def test_numbers_that_are_too_long_and_other_corners():
    with pytest.raises(SpecError, match="the exponent of '1e-10000' is too large"):
        csv_rows("r\n1e-10000\n", columns(R))
    assert csv_rows("r\n1e-9999\n", columns(R))[1] == [(Fraction(1, 10**9999),)]
    with pytest.raises(SpecError, match=r"log.csv:2: column p.y: '1/0' is not a Real"):
        csv_rows("p.x,p.y\n1,1/0\n", columns(P))
    with pytest.raises(SpecError, match=r":1: no header: the first row names the inputs, or is `step`"):
        csv_rows("", columns())
    with pytest.raises(SpecError, match=r"no column 'no' to keep; there are w"):
        csv_rows("w\n1\n", columns(W, keep=("no",)))
    with pytest.raises(SpecError, match="not CSV"):
        csv_rows('w\n"' + "x" * 200_000, columns(W))


def test_values_in_json_lines():
    text = '{"r": 0.1, "p": {"x": 1, "y": "1/3"}, "time": 5}\n\n{"p": {"x": 2, "y": 3}, "r": "2/7", "time": null}\n'
    read = columns(R, W, optional=frozenset([W]))
    with pytest.raises(SpecError, match="'p' is not an input of this spec"):
        json_rows(text, read)
    text = text.replace('"p": {"x": 1, "y": "1/3"}, ', "").replace('"p": {"x": 2, "y": 3}, ', "")
    found, values = json_rows(text, read)
    assert found.columns == ("r", "time") and found.kept == ("time",)
    assert values == [(Fraction(1, 10), 0, "5"), (Fraction(2, 7), 0, "")]
    assert json_rows("", read)[1] == []


WRONG_JSON = {
    '{"w": 1}\n\n{"w": 256}\n': "log.json:3: column w: ",
    '{"w": "1"}\n': "log.json:1: column w: '1' is not a number",
    '{"v": 1}\n': "log.json:1: 'v' is not an input of this spec",
    '{"w": 1}\n{}\n': "log.json:2: no value for w",
    "[1]\n": "log.json:1: not a JSON object",
    "{w}\n": "log.json:1: not a JSON object: ",
    "{\n}\n": "log.json: neither JSON lines nor a run",
    '{\n"inputs": ["w"], "rows": {"w": [1]}, "length": 2}\n': "log.json: neither JSON lines nor a run",
    '{\n"inputs": ["w"], "rows": {"w": [1, 300]}, "length": 2}\n': "log.json: step 1: column w: ",
}


@pytest.mark.parametrize("text", WRONG_JSON)
def test_what_is_wrong_in_json_lines(text):
    with pytest.raises(SpecError) as raised:
        json_rows(text, columns(W))
    assert WRONG_JSON[text] in str(raised.value)


def test_the_inputs_of_a_recorded_run():
    text = '{\n"inputs": ["w"], "rows": {"w": [1, 30], "n": [4, 5]}, "length": 2}\n'
    assert json_rows(text, columns(W))[1] == [(1,), (30,)]


def test_rows_by_names():
    read = columns(P, W, B, optional=frozenset([B]))
    form = NamedRows.of(["w", "p.y", "p.x", "Date"], "rows", read)
    assert form.spread == (P,) and form.kept == ("Date",)
    assert form.columns_read() == ["w", "p.x", "p.y", "Date"]
    row = {"w": 3, "p.x": 1, "p.y": Fraction(1, 2), "Date": None}
    assert form.values(row, "row 1") == ((1, Fraction(1, 2)), 3, False, "")
    assert NamedRows.of(["p", "w", "b"], "rows", read).spread == ()
    with pytest.raises(SpecError, match=r"rows: no column for p\.y"):
        NamedRows.of(["w", "p.x"], "rows", read)
    with pytest.raises(SpecError, match="rows: column 'v' is not an input"):
        NamedRows.of(["w", "p", "v"], "rows", read)


TEXT = b"w,b\n\n1,true\r\nlast \xc3\xa4\rx\r\r\nend"
LINES = ["w,b\n", "\n", "1,true\r\n", "last ä\r", "x\r", "\r\n", "end"]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 100])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_a_log_in_pieces(size, mark):
    def text_of(data):
        pieces = iter([data[i : i + size] for i in range(0, len(data), size)])
        return LogText(lambda: next(pieces, b""))

    text = text_of(mark + TEXT)
    assert text.begins_with("w") and [*text] == LINES and text.lines == len(LINES)
    text = text_of(mark + b" \n  {")
    assert text.begins_with("{") and not text.begins_with("{{") and [*text] == [" \n", "  {"]
    text = text_of(mark + TEXT)
    next(text)
    text.record()
    assert [next(text), next(text)] == LINES[1:3] and text.take_record() == "".join(LINES[1:3])
    assert next(text) == LINES[3] and [*text_of(mark)] == []
    assert [*text_of(mark + b"\rx\n")] == ["\r", "x\n"]


def test_samples_end_with_the_step():
    values = feed("w", WORD, [1, 2, 256], None)
    assert [next(values), next(values)] == [1, 2]
    with pytest.raises(SpecError, match='the sample of extern "w" at step 2: '):
        next(values)
    with pytest.raises(OutOfSamples, match='extern "w" has no sample for step 1'):
        [*feed("w", WORD, [7], None)]
    with pytest.raises(OutOfSamples, match=r"inputs\['w'\] has no value for step 0"):
        [*given_values("w", WORD, [])]
    with pytest.raises(SpecError, match='the samples of extern "w": expected a value for each step, found 3'):
        feed("w", WORD, 3, None)
    assert [*itertools.islice(feed("w", WORD, lambda step: 2 * step, None), 4)] == [0, 2, 4, 6]
    assert [*itertools.islice(feed("w", WORD, [True, 0, 255, -1], None), 0)] == []
    for wrong in (True, -1, 256):
        with pytest.raises(SpecError, match="at step 0"):
            next(feed("w", WORD, [wrong], None))


def test_rows_of_samples():
    inputs = [("w", WORD, None), ("b", BOOL, None)]
    assert [*itertools.islice(rows(inputs, {"w": [1, 2], "b": itertools.repeat(True)}), 2)] == [(1, True), (2, True)]
    assert [*itertools.islice(rows([], {}), 3)] == [(), (), ()]
    with pytest.raises(SpecError, match='input "b" has no samples'):
        rows(inputs, {"w": [1]})


def counting(*, properties=(), assumptions=()):
    """A counter of Bools that are read, with a trigger at even counts."""
    one, two = constant(INT, 1), constant(INT, 2)
    count, even = variable("n", INT), term("eq", term("mod", variable("n", INT), two), constant(INT, 0))
    free, hidden, any_value = variable("free", INT), variable("hidden", BOOL), variable("any", INT)
    named = {
        "small": term("lt", count, two),
        "free": term("eq", free, one),
        "late": term("eq", variable("l", INT), one),
    }
    named |= {"hidden": hidden, "any": term("eq", any_value, one), "b": B}
    cells = [
        Cell("n", constant(INT, 0), term("mux", B, term("add", count, one), count), None),
        Cell("free", constant(INT, 0), free, None, free=True),
        Cell("l", constant(INT, 1), free, None),
        Cell("idle", constant(INT, 5), variable("idle", INT), None),
    ]
    return plan(Specification(
        "counting", (Input("b", BOOL, True, "", "", None), Input("hidden", BOOL, False, "", "", None)),
        (Constant("any", INT, None, "any"),), tuple(cells), (),
        (Trigger("even", even, ((None, count), (None, B)), None),), (Named("n", count, None),),
        (*(Claim(name, named[name]) for name in properties), Claim("met", named["b"], None, Goal.REACHABLE)),
        tuple(Claim(name, named[name]) for name in assumptions), None,
    ))  # fmt: skip


def test_what_a_run_computes_and_decides():
    every = ["small", "free", "late", "hidden", "any", "b"]
    planned = counting(properties=every, assumptions=every)
    assert [name for name, _ in planned.properties] == ["small", "b"] == [name for name, _ in planned.assumptions]
    assert [c.name for c in planned.cells] == ["n"] and planned.inputs == [B]


def test_steps_and_chunks_are_the_same():
    planned = counting(properties=["small"], assumptions=["b"])
    data = [(n % 3 != 1, str(n)) for n in range(40)]
    steps = [*stepper(planned)([row[:1] for row in data])]
    count = 0
    for number, (step, (b, _)) in enumerate(zip(steps, data, strict=True)):
        assert step.step == number and step.observers == {"n": count}
        assert step.triggers == ({"even": (count, b)} if count % 2 == 0 else {})
        assert step.broken == (() if count < 2 else ("small",)) and step.unmet == (() if b else ("b",))
        count += b
    chunks = [*interpret(planned, iter(data), live=False)]
    assert [len(c.steps) for c in chunks] == [16, 24]
    assert [len(c.steps) for c in interpret(planned, iter(data[:16]), live=False)] == [16]
    assert [len(c.steps) for c in interpret(planned, iter(data[:3]), live=True)] == [1, 1, 1]
    again = [step for chunk in chunks for step in steps_of(planned, chunk, ["number"])]
    assert [step._replace(kept={}) for step in again] == steps
    assert [step.kept for step in again] == [{"number": text} for _, text in data]
    assert [*interpret_steps(planned, iter(data), ["number"])] == again
    assert [*interpret_steps(planned, iter([row[:1] for row in data]), [])] == steps
    wrong = [step for chunk in chunks for step in steps_of(planned, chunk.violations(), ["number"])]
    assert wrong == [step for step in again if step.broken or step.unmet] and 0 < len(wrong) < 40
    assert [*steps_of(planned, Chunk([1], [], [[0]], [[[0], [0]]], [[3]], [b"\1"], [b"\1"]).violations(), [])] == []


def test_a_run_goes_on_from_a_state():
    planned = counting(properties=["small"])
    data = [(n % 3 != 1,) for n in range(9)]
    first, state = interpret_from(planned, stepper(planned), data[:5], (0,))
    second, state = interpret_from(planned, stepper(planned), data[5:], state)
    assert first.observers[0] + second.observers[0] == [s.observers["n"] for s in stepper(planned)(data)]
    assert state == (6,) and [*second.steps] == [0, 1, 2, 3] and second.kept == []


def test_a_run_that_fails_shows_its_rows_first():
    def data():
        yield from [(True,)] * 3
        raise ValueError("row 3")

    shown = []
    with pytest.raises(ValueError, match="row 3"):
        for chunk in interpret(counting(), data(), live=False):
            shown += chunk.steps
    assert shown == [0, 1, 2]


def test_a_form_is_read_from_the_header_alone():
    pieces = iter([b"b,w\n1,2\n"])
    text = LogText(lambda: next(pieces, b""))
    form = read_form(text, "log.csv", columns(W, B))
    assert form.header == ("b", "w") and [read(["true", "9"]) for read in form.readers] == [9, True]
    assert next(text) == "1,2\n" and form.absent == frozenset()


def test_a_feed_is_not_read_further_than_asked():
    """Who waits for more bytes than it needs shows a row of a live feed late."""
    asked = []

    def text_of(*pieces):
        left = iter(pieces)
        asked.clear()
        return LogText(lambda: asked.append(1) or next(left, b""))

    text = text_of(b"b\n1", b"\n0\n")
    assert len(asked) == 1 and next(text) == "b\n" and len(asked) == 1 and next(text) == "1\n" and len(asked) == 2
    assert next(text) == "0\n" and len(asked) == 2
    assert text_of(b"\xef\xbb", b"\xbf", b"x").at == 3 and len(asked) == 2
    assert text_of(b" {", b"x").begins_with("{") and len(asked) == 2  # fewer bytes than the mark has
    assert text_of(b"\n {}", b"x").begins_with("{") and len(asked) == 1


def test_rows_of_parquet_have_numbers(tmp_path):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = str(tmp_path / "log.parquet")
    parquet.write_table(pyarrow.table({"w": [1, 2, 300], "b": [True, False, True]}), path)
    read = read_parquet(path, columns(W, B))
    assert read.columns == ("w", "b") and [next(read.rows), next(read.rows)] == [(1, True), (2, False)]
    with pytest.raises(SpecError, match=r"log\.parquet: row 3: column w: "):
        next(read.rows)
    with pytest.raises(SpecError, match="no such file"):
        read_parquet(str(tmp_path / "other.parquet"), columns(W))
