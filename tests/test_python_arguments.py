"""The functions and methods for Python programs, called with arguments that do not fit: the user's line and words,
never Python's exception from inside. And all values that do fit, those of numpy and pandas too."""

from __future__ import annotations

import ast
import enum
import inspect
import re
import traceback
from pathlib import Path

import numpy
import pandas
import pytest

import streamcheck as sc
from streamcheck import *
from streamcheck import SpecError
from streamcheck.api.commands import Commands
from streamcheck.api.engines import EngineInfo
from streamcheck.api.mutants import MutantsAnswer
from streamcheck.api.needs import NeedsAnswer
from streamcheck.api.questions import Questions
from streamcheck.api.results import PropertyResult, RecordedPath, RecordedRun, Results
from streamcheck.api.runs import InterpretedRun
from streamcheck.api.suite import SuiteAnswer
from streamcheck.api.wording import in_python

STRANGE = (object(), b"s", [object()], {"s": object()}, float("nan"))  # none of them fits any option
METHODS = {
    Commands: ("prove", "run", "show", "realizable", "compile"),
    Questions: ("why", "cuts", "tests", "mutants"),
    NeedsAnswer: ("runs", "to_json"),
    SuiteAnswer: ("to_json",),
    MutantsAnswer: ("to_json",),
    Results: ("to_json",),
    PropertyResult: ("explain",),
    RecordedRun: ("table", "to_csv", "to_pandas"),
    RecordedPath: ("table", "to_csv", "to_pandas"),
    InterpretedRun: ("to_pandas",),
    EngineInfo: ("to_json",),
}
FUNCTIONS = [sc.load, sc.load_all, sc.check, sc.watch, sc.list_engines, sc.equal]
PUBLIC = {f.__name__: f for f in FUNCTIONS}
PUBLIC |= {f"{c.__name__}.{name}": getattr(c, name) for c, names in METHODS.items() for name in names}
NUMPY = [numpy.int64(3), numpy.uint8(3), numpy.array(3)]


def counting():
    go = extern("go", Bool, samples=[True, True, False, True])
    pace = extern("pace", Word8, samples=[1, 1, 2, 3])

    @stream(Word8)
    def n():
        return [0] + +mux(go & (n < 9), n + pace, n)

    spec = Spec("counting")
    spec.observer("n", n)
    spec.prop("small", n < 3)
    return spec


def test_every_public_method_is_listed():
    for owner, names in METHODS.items():
        own = {n for n, f in vars(owner).items() if inspect.isfunction(f) and not n.startswith("_")}
        assert own - {"of"} == set(names), owner


@pytest.mark.parametrize("name", PUBLIC)
def test_options_of_other_names_are_refused(name):
    function = PUBLIC[name]
    options = [p.name for p in inspect.signature(function).parameters.values() if p.name != "self" and p.kind != 2]
    first = () if name.partition(".")[2] == "" else (None,)
    with pytest.raises(SpecError, match=f"{function.__name__}: unknown option 'colour'") as refused:
        function(*first, colour=3)
    assert refused.value.where.file == __file__ and f"write: {function.__name__}(" in str(refused.value)
    for option in options:
        mistyped = option[:-1] + "z" if len(option) > 3 else option + "s"
        with pytest.raises(SpecError, match=f"unknown option '{mistyped}'. Did you mean: '{option}'"):
            function(*first, **{mistyped: 3})


@pytest.mark.parametrize("name", PUBLIC)
def test_values_that_do_not_fit_are_refused(name):
    function = PUBLIC[name]
    parameters = inspect.signature(function).parameters
    required = {p.name: None if p.name == "self" else "nothing.py" for p in parameters.values() if p.default is p.empty}
    for option in [p.name for p in parameters.values() if p.name not in ("self", "inputs") and p.kind != 2]:
        for value in STRANGE:
            with pytest.raises(SpecError, match=re.escape(f"{function.__name__}({option}=…): expected")) as refused:
                function(**required | {option: value})
            assert refused.value.where.file == __file__ and "\n" not in refused.value.message


def test_a_traceback_shows_the_users_call_alone():
    spec = counting()
    for call in (lambda: spec.prove(timout=3), lambda: spec.prove(props=["absent"]), lambda: sc.load("a.b")):
        with pytest.raises(SpecError) as refused:
            call()
        files = [Path(frame.filename).name for frame in traceback.extract_tb(refused.value.__traceback__)]
        assert set(files[:-1]) == {Path(__file__).name} and files[-1] == "arguments.py"
        assert refused.value.__suppress_context__


def test_names_of_engines_are_strings():
    message = "list_engines(*names): expected a string each; found 3"
    with pytest.raises(SpecError, match=re.escape(message)):
        sc.list_engines("bmc", 3)
    with pytest.raises(SpecError, match=r"unknown engine 'bmcc'\. Did you mean: 'bmc'\?"):
        sc.list_engines("bmcc")


def test_better_calls_are_suggested():
    spec = counting()
    for call, write in (
        (lambda: spec.prove(engines="bmc"), "write: prove(engines=['bmc'])"),
        (lambda: spec.prove(props="small"), "write: prove(props=['small'])"),
        (lambda: spec.run([{"go": True}]), "write: run(inputs=…)"),
        (lambda: sc.load(), "write: load(path, *, integers='c', predicates=(), expressions=())"),
        (lambda: spec.show(1), "write: show(steps=…)"),
        (lambda: sc.list_engines(["bmc"]), "write: list_engines(*names)"),
    ):
        with pytest.raises(SpecError, match=re.escape(write)):
            call()


def test_the_rows_of_a_run_are_checked():
    spec = counting()
    row = {"go": True, "pace": 1}
    for call, text in (
        (lambda: spec.run([row]), "run(steps=…): expected an integer of at least 0 or None; found [{'go': True"),
        (lambda: spec.run(inputs=5), "run(inputs=…): expected a dictionary or rows or a path or None; found 5"),
        (lambda: spec.run(inputs=[1]), "row 0 of the inputs: expected a dictionary of inputs and their values, f"),
        (lambda: spec.run(inputs="absent.csv"), "absent.csv: No such file or directory"),
        (lambda: spec.run(inputs=[row, {"go": True}]), "row 1 of the inputs: no column for pace"),
        (lambda: spec.run(inputs=[row, row | {"pace": 300}]), "row 1 of the inputs: column pace: 300 does not fit"),
        (lambda: spec.run(inputs=[row | {"spin": 3}]), "row 0 of the inputs: column 'spin' is not an input of this"),
        (lambda: spec.run(inputs=[{1: 3}]), "row 0 of the inputs: expected a dictionary of inputs and their"),
        (lambda: spec.run(inputs={"spin": [3]}), 'counting has no input named "spin"; it has go, pace'),
        (lambda: spec.run(inputs={"pac": [3]}), "counting has no input named \"pac\". Did you mean: 'pace'?"),
        (lambda: spec.run(inputs={"pace": 3}), "inputs['pace']: expected a value for each step, found 3"),
        (lambda: spec.run(inputs={"pace": [3, 300]}), "inputs['pace'] at step 1: 300 does not fit Word8"),
        (lambda: spec.run(3, {"pace": [3, 3]}), "inputs['pace'] has no value for step 2"),
    ):
        with pytest.raises(SpecError, match=re.escape(text)):
            list(call())


def test_columns_of_a_data_frame_are_inputs():
    spec = counting()
    frame = pandas.DataFrame({"time": ["a", "b"], "go": [True, False], "pace": [1, 2]})
    assert [s.observers["n"] for s in spec.run(inputs=frame)] == [0, 1]
    with pytest.raises(SpecError, match=r"column 'spin' is not an input .*ignore_extra=True leaves it out"):
        spec.run(inputs=frame.assign(spin=3))
    assert len(list(spec.run(inputs=frame.assign(spin=3), ignore_extra=True))) == 2
    with pytest.raises(SpecError, match="the DataFrame: no column for pace"):
        spec.run(inputs=frame.drop(columns="pace"))
    with pytest.raises(SpecError, match="row 1 of the DataFrame: column pace: -1 does not fit Word8"):
        list(spec.run(inputs=frame.assign(pace=[1, -1])))
    with pytest.raises(SpecError, match=r"row 0 of the DataFrame: column pace: 1\.0 is a decimal number"):
        list(spec.run(inputs=frame.assign(pace=[1, None])))


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_a_log_is_read_as_the_command_does(tmp_path, ending):
    spec, frame = counting(), pandas.DataFrame({"time": ["a", "b"], "go": [True, False], "pace": [1, 2]})
    path = tmp_path / f"log.{ending}"
    write = {"csv": lambda f, p: f.to_csv(p, index=False), "parquet": lambda f, p: f.to_parquet(p)}
    write["jsonl"] = lambda f, p: f.to_json(p, orient="records", lines=True)
    write[ending](frame, path)
    assert [s.observers["n"] for s in spec.run(inputs=path)] == [0, 1]
    assert len(list(spec.run(1, str(path)))) == 1
    write[ending](frame.assign(spin=3), path)
    with pytest.raises(SpecError, match=r"'spin' is not an input .*ignore_extra=True leaves it out"):
        list(spec.run(inputs=path))
    assert len(list(spec.run(inputs=path, ignore_extra=True))) == 2


def test_parts_of_arrays_may_be_columns():
    pair = extern("pair", Array(Word8, 2))
    spec = Spec("pairs")
    spec.observer("sum", pair[0] + pair[1])
    frame = pandas.DataFrame({"pair.0": [1, 2], "pair.1": [3, 4]})
    assert [s.observers["sum"] for s in spec.run(inputs=frame)] == [4, 6]
    assert [s.observers["sum"] for s in spec.run(inputs=frame.to_dict("records"))] == [4, 6]
    assert [s.observers["sum"] for s in spec.run(inputs=[{"pair": numpy.array([1, 2])}, {"pair": (5, 6)}])] == [3, 11]


@pytest.mark.parametrize("three", NUMPY, ids=repr)
def test_numbers_of_numpy_are_numbers(three):
    x = extern("x", Word8, samples=numpy.array([1, 3], dtype=numpy.uint8))
    f = extern("f", Float, samples=pandas.Series([0.5, 1.5], dtype="float32"))
    b = extern("b", Bool, samples=pandas.Series([True, False]))
    spec = Spec("numbers")
    for i, s in enumerate((x + three, three + x, mux(x == three, three, x), Word8(three), x << three, three - x)):
        spec.observer(f"x{i}", s)
    spec.observer("f", f * numpy.float32(2) + numpy.float64(1))
    spec.observer("b", b | numpy.bool_(False))
    spec.observer("a", Array(Word8, 2)(numpy.array([4, 5]))[three - 2])
    spec.observer("r", Real(numpy.float64(0.1)) * 10)
    first, second = spec.run(2)
    assert list(first.observers.values()) == [4, 4, 1, 3, 8, 2, 2.0, True, 5, 1]
    assert list(second.observers.values()) == [6, 6, 3, 3, 24, 0, 4.0, False, 5, 1]


def test_members_of_enums_are_values_of_loaded_specs_too(tmp_path):
    class Mode(enum.Enum):
        OFF = 0
        ON = 1

    path = tmp_path / "modes.py"
    path.write_text(
        "from streamcheck import *\nimport enum\nclass Mode(enum.Enum):\n    OFF = 0\n    ON = 1\n"
        "spec = Spec('modes')\nspec.observer('on', extern('mode', EnumOf(Mode)) == Mode.ON)\n"
    )
    assert [s.observers["on"] for s in sc.load(path).run(inputs={"mode": [Mode.ON, "OFF", Mode.OFF]})] == [1, 0, 0]
    Mode.__name__ = "Other"
    with pytest.raises(SpecError, match="is not a member of Mode"):
        list(sc.load(path).run(inputs={"mode": [Mode.ON]}))


def test_a_claim_of_numpy_is_no_stream():
    with pytest.raises(SpecError, match="expected a Bool stream, found Python's True"):
        Spec("s").prop("p", numpy.bool_(True))


@pytest.mark.parametrize("kind", ["spec", "file"])
def test_samples_and_given_values_together(kind, tmp_path):
    spec = counting()
    if kind == "file":
        path = tmp_path / "counting.py"
        path.write_text(f"from streamcheck import *\n{inspect.getsource(counting)}\nspec = counting()\n")
        spec = sc.load(path)

    def shown(**options):
        return [step.observers["n"] for step in spec.run(**options)]

    assert shown() == [0, 1, 2, 2] and shown(steps=2) == [0, 1]  # to the end of the shortest list
    assert shown(inputs={"pace": [5, 5, 5]}) == [0, 5, 10]
    assert shown(inputs={"pace": lambda step: step, "go": [True] * 4}) == [0, 0, 1, 3]
    assert len(shown(inputs={"pace": lambda step: 0, "go": lambda step: True})) == 10
    with pytest.raises(SpecError, match=r"extern .go. has no sample for step 4"):
        shown(steps=5, inputs={"pace": [1] * 9})


def test_a_file_that_has_changed_is_not_run_on_its_samples(tmp_path):
    path = tmp_path / "counting.py"
    path.write_text(f"from streamcheck import *\n{inspect.getsource(counting)}\nspec = counting()\n")
    spec = sc.load(path)
    path.write_text(path.read_text().replace("n < 9", "n < 8"))
    with pytest.raises(SpecError, match="is not as it was when it was loaded"):
        spec.run()
    assert len(list(spec.run(inputs=[{"go": True, "pace": 1}]))) == 1


def test_inputs_that_the_spec_does_not_use_are_accepted(tmp_path):
    path = tmp_path / "one.py"
    text = "from streamcheck import *\nx, y = extern('x', Word8), extern('y', Word8)\nspec = Spec('one')\n"
    path.write_text(text + "spec.observer('x', x)\n")
    spec = sc.load(path)
    assert len(list(spec.run(inputs=pandas.DataFrame({"x": [1], "y": [2]})))) == 1
    with pytest.raises(SpecError, match="no values for x"):
        spec.run()


def test_columns_of_a_run_have_names_of_their_own():
    x = extern("x", Word8, samples=[1, 2])
    spec = Spec("names")
    spec.trigger("x", x > 1, [x])
    spec.observer("x", x + 1)
    spec.prop("x", x < 2)
    spec.assume("x", x < 9)
    frame = spec.run().to_pandas()
    assert list(frame.columns) == ["x", "x (observer)", "x (property)", "x (assumption)"]
    assert frame["x"].tolist() == [None, (2,)] and frame["x (observer)"].tolist() == [2, 3]
    assert frame["x (property)"].tolist() == [True, False] and frame["x (assumption)"].tolist() == [True, True]
    run = spec.prove(props=["x"])["x"].counterexample
    assert len(set(run.names)) == len(run.names) == 3 and run.to_pandas()["observer x"].tolist()[-1] > run["x"][-1]


def test_a_file_with_several_specs(tmp_path):
    path = tmp_path / "two.py"
    specs = "a, b = Spec('a'), Spec('b')\nfor s in (a, b): s.prop('p', Bool(True))\n"
    path.write_text(f"from streamcheck import *\n{specs}")
    with pytest.raises(SpecError) as several:
        sc.load(path)
    assert f'write: load("{path}::a") or load("{path}::b"); load_all has all of them' in str(several.value)
    assert sc.load(f"{path}::b").name == "b" and [s.name for s in sc.load_all(path)] == ["a", "b"]
    assert all(s.prove().ok for s in sc.load_all(path))


MISTAKES = {
    'spec.prove(engines=["bmcc"])': "unknown engine 'bmcc'. Did you mean: 'bmc'?",
    'spec.prove(engines=["fast"])': "unknown engine 'fast'; choose from bmc, ",
    'spec.prove(props=["smal"])': "counting has no property named \"smal\". Did you mean: 'small'?",
    'spec.prove(props=["x"])': 'counting has no property named "x"; it has small',
    'spec.prove(options={"ic3.tigten": False})': "ic3 has no option 'tigten'. Did you mean: 'tighten'?",
    'spec.prove(options={"ic3.tighten": 7})': "ic3.tighten must be on or off (True or False), found 7",
    'spec.prove(options={"tighten": True})': "'tighten' names no option; write ENGINE.OPTION, as in ic3.tighten",
    'spec.run(inputs={"pace": 5})': "inputs['pace']: expected a value for each step, found 5",
    'spec.prove(certificates="/proc/x")': "/proc/x: this folder cannot be made",
    "spec.prove(certificates=__file__)": f"{__file__} is a file; give a folder",
    'spec.prove(cache="/proc/nope")': "/proc/nope: this folder cannot be made",
    'spec.prove(traces=[("csv", "/proc/x")])': "/proc/x: this folder cannot be made",
    'spec.compile("out", cache="/proc/nope")': "/proc/nope: this folder cannot be made",
    'sc.watch(__file__, cache="/proc/nope")': "/proc/nope: this folder cannot be made",
    'spec.prove(predicates=["x < 3"])': "unknown option 'predicates'\nwrite: load(\"lock.c\", predicates=",
    'spec.prove(eval=["n"])': "unknown option 'eval'\nwrite: spec.observer(",
    'spec.run(eval=["n"])': "run: unknown option 'eval'. Did you mean: 'expressions'?",
    'spec.prove(set={"ic3.tighten": True})': "prove: unknown option 'set'. Did you mean: 'options'?",
    "spec.prove(json=True)": "unknown option 'json'\nwrite: to_json() of the results",
    "spec.prove(memory=1)": "the memory limit of 1 MB is too small\nwrite: a larger memory=",
    "spec.prove(bound=0)": "prove(bound=…): expected an integer of at least 1 or None; found 0",
    "spec.prove(blocks=False)": "counting: blocks=False is for programs (.c, .aut)",
    'spec.compile("out", prefix="3x", observers=True)': "is no beginning of a name in C\nwrite: prefix='fsw_'",
    'spec.run(5, [{"go": True, "pace": 1}])': "inputs=… has 1 row, but steps is 5\nwrite: steps=1, or more rows",
    'spec.run(keep=["time"])': "keep=['time']: samples have no columns to keep\nwrite: inputs=…, rows or a log",
    'sc.load(here / "spec.py", integers="math")': "spec.py: integers= is for programs (.c, .aut)",
    'sc.load(here / "spec.py", predicates=["x"])': "spec.py: predicates= is for programs (.c, .aut)",
    'sc.load(here / "spec.json", expressions=["x"])': "spec.json: expressions= is for specs in Python",
    'sc.load(here / "spec.py").show("aut")': "only programs (.c, .aut) can be exported as automata",
}


@pytest.mark.parametrize("call", MISTAKES)
def test_a_mistake_has_the_users_line_and_words(call, tmp_path, monkeypatch):
    (tmp_path / "spec.py").write_text("from streamcheck import *\nspec = Spec('s')\nspec.prop('p', Bool(True))\n")
    (tmp_path / "spec.json").write_text("{}")
    names = {"spec": counting(), "sc": sc, "here": tmp_path, "__file__": __file__}
    path = tmp_path / "user.py"
    path.write_text(f"\n\nlist({call})\n")
    with pytest.raises(SpecError) as refused:
        exec(compile(path.read_text(), str(path), "exec"), names)
    text = re.sub(r"\n +", "\n", str(refused.value))
    for part in MISTAKES[call].split("\nwrite: "):
        assert part in text
    assert "user.py:3: " in text and f"\nlist({call})" in text and not re.search(r"(?<!\w)--[a-z]", text)
    assert text.count("\nwrite: ") >= MISTAKES[call].count("\nwrite: ") and not (tmp_path / "out").exists()


def texts_below_the_command():
    """The strings of the package that mention an option of the command, but for docstrings; 3 is in the place of every
    value that they show."""
    for path in Path("streamcheck").rglob("*.py"):
        tree = ast.parse(path.read_text())
        left_out = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
        left_out |= {id(part) for n in ast.walk(tree) if isinstance(n, ast.JoinedStr) for part in n.values}
        for node in ast.walk(tree):
            parts = node.values if isinstance(node, ast.JoinedStr) else [node]
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "3" for part in parts)
            is_text = isinstance(node, ast.JoinedStr | ast.Constant) and id(node) not in left_out
            if is_text and re.search(r"(?<![\w-])--[a-z]", text) and path.parts[1] not in ("cli", "api", "testing"):
                yield f"{path}:{node.lineno}", text


def test_every_option_in_a_message_has_a_name_in_python():
    texts = dict(texts_below_the_command())
    assert len(texts) > 20
    for place, text in texts.items():
        assert "streamcheck/report/" not in place or "witness" in place, f"{place}: its words are those of `options`"
        text = text.replace("--include", "").replace("--reference", "")  # of a program
        if "core/option_words" not in place:
            assert not re.search(r"(?<![\w-])--[a-z]", in_python(text)), (place, in_python(text))
