"""From Python all that the command does: options, runs over data, pictures for notebooks, and the notebook itself."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from importlib import import_module
from itertools import islice
from pathlib import Path

import pandas
import pytest

import streamcheck as sc
from streamcheck import *
from streamcheck import SpecError
from streamcheck.api.commands import Commands
from streamcheck.report.graph_svg import MOST_NODES
from streamcheck.report.timeline import MOST_STEPS, TimeRow, timeline

COMMAND = Path(sys.executable).parent / "streamcheck"
NOTEBOOK = Path("docs/tour.ipynb")
SHOWN_ONLY = {"as_json", "as_events", "quiet", "color", "verbose", "full", "rows", "steps", "no_validate"}
RENAMED = {"settings": "options", "no_cache": "cache"}
ELSEWHERE = {"file", "files", "integers", "predicates", "expressions", "directory"}  # of `load`, or the first argument
ELSEWHERE |= {"data_model", "link"}  # of `load`
ELSEWHERE |= {"suite", "resume", "deadline"}  # of folders: `Spec` is one


def counting(name="counting"):
    go = extern("go", Bool, samples=[True, True, False, True])

    @stream(Word8)
    def n():
        return [0] + +mux(go & (n < 9), n + 1, n)

    spec = Spec(name)
    spec.trigger("call <b>", n == 2, {"n": n})
    spec.observer("n", n)
    spec.observer("a < b", n < 2)
    spec.prop("small", n < 3)
    spec.prop("single", n <= 9)
    return spec


@pytest.mark.parametrize("command", ["prove", "compile", "show"])
def test_every_option_of_the_command_is_a_parameter(command):
    options = {p.name for p in import_module(f"streamcheck.cli.{command}").command.params if p.expose_value}
    left = ELSEWHERE | (SHOWN_ONLY - {"steps"} if command == "show" else SHOWN_ONLY)
    if command == "show":
        options = {"blocks" if name == "blocks" else name for name in options}
    wanted = {RENAMED.get(name, name) for name in options - left}
    assert wanted <= set(inspect.signature(getattr(Commands, command)).parameters)


def test_certificates_and_traces_are_written_and_checked(tmp_path):
    path = tmp_path / "counting.py"
    source = inspect.getsource(counting).replace("def counting(name", "def made(name")
    path.write_text(f"from streamcheck import *\n{source}\nspec = made()\n")
    sc.load(str(path)).prove(certificates=str(tmp_path / "saved"), traces=[("csv", str(tmp_path / "runs"))])
    saved = sorted((tmp_path / "saved").iterdir())
    assert len(saved) == 2 and all(sc.check(str(file)).ok for file in saved)
    single = next(file for file in saved if "single" in file.name)
    single.write_text(single.read_text().replace('"k": 1', '"k": 7').replace('"k": 2', '"k": 7'))
    checked = sc.check(str(single))
    assert checked.ok or checked.why
    assert (tmp_path / "runs" / "counting.counting.small.csv").read_text().startswith("step,go\n0,true\n")


def test_engines_are_listed():
    engines = sc.list_engines()
    printed = subprocess.run([COMMAND, "engines"], capture_output=True, text=True).stdout
    assert "\n".join(map(str, engines)) + "\n" == printed and "'" not in repr(engines[0])
    (ic3,) = sc.list_engines("ic3")
    assert ic3.name == "ic3" and ic3.options["ic3.tighten"] is True and ic3.to_json()["summary"] == ic3.summary
    assert counting().prove(props=["single"], engines=["ic3"], options=dict.fromkeys(list(ic3.options)[:1], False)).ok


def test_a_file_is_watched(tmp_path):
    path = tmp_path / "counting.py"
    source = inspect.getsource(counting).replace("def counting(name", "def made(name")
    good = f"from streamcheck import *\n{source}\nspec = made()\n"
    path.write_text(good)
    news = sc.watch(path, props=["s*"], cache=tmp_path / "cache")
    assert [r.verdict for r in next(news)] == ["falsified", "proved"]
    path.write_text(good.replace("n < 3", "n < 11"))
    assert [(r.verdict, r.kept) for r in next(news)] == [("proved", False), ("proved", True)]
    path.write_text(good.replace("n < 3", "m < 3"))
    mistake = next(news)
    assert isinstance(mistake, SpecError) and "name 'm' is not defined" in str(mistake)
    path.write_text(good)
    assert not next(news).ok


def test_stages_are_shown():
    assert "n : Word8" in counting().show() and counting().show("graph").startswith("digraph")
    assert "check-sat" in counting().show("smt2", steps=2)
    with pytest.raises(SpecError, match="only programs"):
        counting().show("aut")


def test_choices_are_checked(tmp_path):
    spec = counting()
    for call in (
        lambda: spec.show("picture"),
        lambda: spec.prove(traces=[("xml", str(tmp_path))]),
        lambda: spec.compile(str(tmp_path), abi="rust"),
        lambda: spec.compile(str(tmp_path), optimize="both"),
    ):
        with pytest.raises(SpecError, match="one of '"):
            call()


def test_compilation_has_the_text_of_the_command(tmp_path):
    go = extern("go", Bool)
    spec = Spec("goes")
    spec.trigger("gone", ~go)
    done = spec.compile(str(tmp_path))
    assert repr(done) == "<goes: compiled>" and "the C is proved equal to the spec" in str(done)
    spec.prop("always", go)
    refused = spec.compile(str(tmp_path))
    assert repr(refused) == "<goes: not compiled>" and "not compiled: a property is not proved" in str(refused)


def test_a_result_explains_itself():
    results = counting().prove(props=["small", "single"])
    small, single = results["small"].explain(), results["single"].explain()
    assert "how the run breaks it, from the end:" in small and small.startswith("  falsified")
    assert "every step keeps it" in single


def test_a_spec_runs_over_rows_and_data_frames():
    rows = [{"go": True}, {"go": False}, {"go": True}]
    spec = counting()
    for given in (rows, pandas.DataFrame(rows), iter(rows)):
        assert [step.observers["n"] for step in spec.run(inputs=given)] == [0, 1, 1]
    assert len(list(spec.run(2, rows))) == 2
    assert [step.observers["n"] for step in spec.run(3, {"go": [False, True, True]})] == [0, 0, 1]


def test_a_run_is_a_data_frame_too():
    frame = counting().run(4).to_pandas()
    assert frame["n"].tolist() == [0, 1, 2, 2] and frame.index.tolist() == [0, 1, 2, 3]
    assert frame["call <b>"].tolist() == [None, None, (2,), (2,)]


def test_a_picture_of_a_run_takes_no_steps_from_it():
    run = counting().run(4)
    next(run)
    texts = drawn(run._repr_html_())
    assert {"n", "a < b", "call <b>", "2", "(2)"} <= texts and "0" not in texts
    assert [step.step for step in run] == [1, 2, 3]
    endless = counting().run(10**9, {"go": lambda step: True})
    drawn(endless._repr_html_())
    assert [step.step for step in islice(endless, 3)] == [0, 1, 2]


def test_the_text_of_a_run_is_what_the_command_prints(tmp_path):
    path = tmp_path / "counting.py"
    source = inspect.getsource(counting).replace("def counting(name", "def made(name")
    path.write_text(f"from streamcheck import *\n{source}\nspec = made()\n")
    run = sc.load(path).run()
    assert str(run) + "\n" == subprocess.run([COMMAND, "run", path], capture_output=True, text=True).stdout
    assert repr(run) == "<run of counting; the next step is 0>" and next(run).step == 0
    assert repr(run) == "<run of counting; the next step is 1>" and str(run).splitlines()[1].split()[0] == "1"
    assert "has no sample for step 4" in str(counting().run(5))


def test_a_notebook_shows_the_message_of_an_error():
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    cells = ["from streamcheck import *", "spec = Spec('s')\nspec.prove(timout=3)"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(notebook, timeout=120, allow_errors=True).execute()
    (output,) = notebook.cells[1]["outputs"]
    shown = "\n".join(output["traceback"])
    assert "unknown option 'timout'. Did you mean: 'timeout'?" in shown and "spec.prove(timout=3)" in shown
    assert "arguments.py" not in shown and "Traceback" not in shown


def test_a_run_that_fails_is_drawn_up_to_there():
    run = counting().run(9)
    picture, _, note = run._repr_html_().partition("<pre>")
    drawn(picture)
    assert "has no sample for step 4" in note
    assert [next(run).step for _ in range(4)] == [0, 1, 2, 3]
    with pytest.raises(SpecError, match="no sample for step 4"):
        next(run)


def test_a_counterexample_is_a_timeline():
    run = counting().prove(props=["small"])["small"].counterexample
    texts = drawn(run._repr_html_())
    assert {"go", "n", "small", "0", "3"} <= texts and "single" not in texts


def test_pictures_are_escaped_and_need_nothing_else():
    spec = counting('<script>alert("x")</script>')
    for picture in (spec._repr_html_(), spec.run(4)._repr_html_(), spec.prove()["small"].counterexample._repr_html_()):
        assert "<script" not in picture and "href" not in picture and "src=" not in picture
        drawn(picture)


def test_a_graph_has_a_node_for_each_name():
    texts = drawn(counting()._repr_html_())
    assert {"go", "n", "call <b>", "small", "single", "a < b"} <= texts


def test_an_edge_passes_behind_no_node():
    """`far` is read two columns further right: its edge has a lane, beside the nodes of the column between."""
    far, near = extern("far", Bool), extern("near", Bool)
    middle = near ^ pre(False, near)
    later = middle & near
    spec = Spec("wide")
    spec.prop("p", later | far)
    picture = spec._repr_html_()
    boxes = [
        tuple(map(int, box)) for box in re.findall(r'<rect x="(\d+)" y="(\d+)" width="(\d+)" height="(\d+)"', picture)
    ]
    paths = re.findall(r'class="edge"[^>]* d="([^"]*)"', picture)
    lanes = [tuple(map(int, lane)) for path in paths for lane in re.findall(r"(\d+) (\d+) H(\d+)", path)]
    assert len(lanes) == 2 and len(boxes) == 4
    for begin, height, end in lanes:
        assert not any(x < end and begin < x + w and y <= height <= y + h for x, y, w, h in boxes)


def test_a_large_spec_has_no_picture():
    spec = Spec("large")
    for i in range(MOST_NODES + 1):
        spec.prop(f"p{i}", extern(f"x{i}", Bool))
    assert "too many for a picture" in spec._repr_html_()


def test_long_timelines_show_the_last_steps():
    rows = [TimeRow("x", "values", [str(i) for i in range(MOST_STEPS + 50)]), TimeRow("empty", "events", [])]
    picture = timeline("long", rows, range(MOST_STEPS + 50))
    titles = {e.text for e in ElementTree.fromstring(picture).iter() if e.tag.endswith("title")}
    assert str(MOST_STEPS + 49) in titles and "49" not in titles and "50" in titles


def drawn(picture):
    """The texts of a well-formed SVG."""
    root = ElementTree.fromstring(picture)
    assert root.tag.endswith("svg") and float(root.attrib["width"]) > 0
    return {element.text for element in root.iter() if element.text and element.text.strip()}


def test_the_notebook_runs():
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    assert all(not cell.get("outputs") for cell in notebook.cells)
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": "docs"}}).execute()
    pictures = [
        output["data"]["text/html"]
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        if "text/html" in output.get("data", {})
    ]
    assert sum("<svg" in picture for picture in pictures) >= 3 and any("<table" in picture for picture in pictures)
    text = "".join(output.get("text", "") for cell in notebook.cells for output in cell.get("outputs", ()))
    assert "never_long" in text and "how the run breaks it" in text
    assert "how the program gets there" in text and "Did you mean: 'timeout'?" in text
