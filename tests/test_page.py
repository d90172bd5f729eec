"""Pages: what they contain, and how they behave in a browser."""

import html
import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

import streamcheck as sc
from streamcheck import *

COMMAND = str(Path(sys.executable).parent / "streamcheck")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
SPEC = """from streamcheck import *
import enum

class Mode(enum.Enum):
    IDLE = 0
    STOP = 1

probe = extern("probe", Word8, samples=[240, 252, 255, 251, 90])
other = extern("other", Word8, samples=[1, 2, 3, 4, 5])
hot = probe > 250
since = stream(Word8, lambda n: [0] ++ mux(hot, n + 1, 0))
mode = stream(EnumOf(Mode), lambda m: [Mode.IDLE] ++ mux(hot, Mode.STOP, m))
spec = Spec("engine")
spec.trigger("shutoff", hot, {"probe": probe})
spec.observer("mode", mode)
spec.observer("other</script><b>", other)
spec.prop("never_long", since < 4)
spec.prop("cool", implies(~hot & (since > 0), pre(False, hot)))
spec.prop("stays", implies(since > 0, mode == Mode.STOP))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A page of each command."""
    where = tmp_path_factory.mktemp("pages")
    (where / "engine.py").write_text(SPEC)
    for words in (
        "prove engine.py --no-cache --certificates c --html prove.html",
        "run engine.py --html run.html",
        "compile engine.py -o out --unproven --no-cache --html code.html",
    ):
        done = subprocess.run([COMMAND, *words.split()], cwd=where, capture_output=True, text=True)
        assert done.returncode in (0, 1), done.stderr
    saved = sorted(str(f.relative_to(where)) for f in (where / "c").iterdir())
    subprocess.run([COMMAND, "check", *saved, "--html", "check.html"], cwd=where, capture_output=True, check=True)
    return where


def data_of(path):
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', path.read_text(), re.S)
    return json.loads(found[1])


class Outside(HTMLParser):
    """Collects what a page would load, and checks that its elements nest."""

    VOID = {"meta", "input", "rect", "path", "br"}

    def __init__(self):
        super().__init__()
        self.loads, self.stack, self.wrong = [], [], []

    def handle_starttag(self, tag, attrs):
        self.loads += [v for k, v in attrs if k in ("src", "href") and not (v or "").startswith("#")]
        if tag not in self.VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        if tag in self.VOID:
            return
        if not self.stack or self.stack.pop() != tag:
            self.wrong.append((tag, self.getpos()))


@pytest.mark.parametrize("name", ["prove", "run", "code", "check"])
def test_a_page_needs_nothing_else_and_nests(folder, name):
    reader = Outside()
    text = (folder / f"{name}.html").read_text()
    reader.feed(text)
    assert not reader.loads and not reader.wrong and not reader.stack
    assert "http" not in re.sub(r'xmlns="http://www.w3.org/2000/svg"', "", text)


def test_the_timeline_of_a_counterexample_has_its_values(folder):
    data = data_of(folder / "prove.html")
    (timeline,) = data["timelines"]
    assert timeline["bad"] == 4 and timeline["numbers"] == [0, 5]
    signals = {s["name"]: s for s in timeline["signals"]}
    assert signals["since"]["runs"] == [[str(i), 1] for i in range(5)] and signals["since"]["kind"] == "number"
    assert signals["never_long"]["claim"] and signals["never_long"]["runs"] == [["true", 4], ["false", 1]]
    assert signals["other"]["aside"] and "aside" not in signals["probe"]
    assert 4 in signals["probe"]["free"]  # at the last step any value will do
    file, line = signals["since"]["at"]
    assert data["sources"][file]["name"].endswith("engine.py")
    assert dict(map(tuple, data["sources"][file]["lines"]))[line].startswith("since = stream(")
    assert signals["mode"]["kind"] == "text" and signals["hot"]["kind"] == "bool"


def test_the_page_says_how_and_why_and_names_the_files(folder):
    text = (folder / "prove.html").read_text()
    assert text.count("SHA-256") >= 4  # of the spec and of three certificates
    assert "an invariant" in html.unescape(text) and "since = stream" in html.unescape(text)
    assert "<b>other" not in text and "other&lt;/script&gt;&lt;b&gt;" in text
    assert "never_long" in text and "bmc, step 4" in text


def test_the_run_has_inputs_triggers_and_the_first_violation(folder):
    (timeline,) = data_of(folder / "run.html")["timelines"]
    signals = {s["name"]: s for s in timeline["signals"]}
    assert [text for text, _ in signals["probe"]["runs"]] == ["240", "252", "255", "251", "90"]
    assert signals["shutoff"]["kind"] == "event" and signals["shutoff"]["runs"][1] == ["(252)", 1]
    assert timeline["bad"] is None


def test_the_first_violation_of_a_run_is_marked(tmp_path):
    (tmp_path / "log.csv").write_text("x\n1\n2\n9\n3\n9\n")
    (tmp_path / "s.py").write_text(
        'from streamcheck import *\nx = extern("x", Word8)\nspec = Spec("s")\nspec.observer("x2", x)\n'
        'spec.prop("low", x < 5)\n'
    )
    words = [COMMAND, "run", "s.py", "--input", "log.csv", "--html", "r.html", "--violations"]
    assert subprocess.run(words, cwd=tmp_path, capture_output=True).returncode == 0
    (timeline,) = data_of(tmp_path / "r.html")["timelines"]
    assert timeline["numbers"] == {"each": [2, 4]} and timeline["bad"] == 0
    assert {s["name"]: s["runs"] for s in timeline["signals"]}["x"] == [["9", 2]]


def test_lines_of_c_and_spec_name_each_other(folder):
    text = (folder / "code.html").read_text()
    rows = dict(re.findall(r'<tr data-key="([^"]+)" tabindex="0" data-with="([^"]+)">', text))
    assert all(key in rows[partner].split() for key, partners in rows.items() for partner in partners.split())
    assert any(key.startswith("c-") for key in rows) and any(key.startswith("s0-") for key in rows)
    assert "the C is proved equal to the spec" in text


def test_checked_evidence_is_a_table_with_hashes(folder):
    text = (folder / "check.html").read_text()
    assert text.count('class="holds"') == 3 and len(re.findall(r"<code>[0-9a-f]{64}</code>", text)) == 3


@pytest.mark.parametrize(
    "words", ["prove engine.py", "run engine.py", "compile engine.py -o o --unproven", "check c/engine.cool_again.json"]
)
def test_a_file_that_cannot_be_written_is_named(folder, words):
    words = words.replace("c/engine.cool_again.json", str(min((folder / "c").iterdir())))
    words = [COMMAND, *words.split(), "--html", "none/x.html"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.endswith("error: none/x.html: No such file or directory\n")


@pytest.mark.parametrize(
    "words",
    [
        "prove engine.py --html engine.py",
        "prove engine.py --output junit a.xml --output sarif ./a.xml",
        "run engine.py --html engine.py",
        "compile engine.py -o o --html engine.py",
    ],
)
def test_results_are_not_written_over_what_is_read_or_other_results(folder, words):
    done = subprocess.run([COMMAND, *words.split()], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 2 and "this file is read, or has other results; give another one" in done.stderr
    assert (folder / "engine.py").read_text() == SPEC and not (folder / "a.xml").exists()


def test_devices_may_have_several_results(folder):
    words = [COMMAND, *"prove engine.py --output junit /dev/null --output sarif /dev/null".split()]
    assert subprocess.run(words, cwd=folder, capture_output=True).returncode == 1


def test_pages_from_python(tmp_path):
    x = extern("x", Array(Word8, 2))
    spec = Spec("pairs")
    spec.observer("sum", x[0] + x[1])
    spec.prop("small", x[0] + x[1] < 200)
    spec.prove(html=tmp_path / "p.html", reports=[("junit", tmp_path / "p.xml")])
    (timeline,) = data_of(tmp_path / "p.html")["timelines"]
    assert {"x.0", "x.1", "sum", "small"} <= {s["name"] for s in timeline["signals"]}
    assert (tmp_path / "p.xml").read_text().count("<failure") == 1


def test_a_run_from_python_is_written_at_its_end(tmp_path):
    x = extern("x", Word8, samples=[1, 9, 2])
    spec = Spec("low")
    spec.observer("twice", x * 2)
    spec.prop("low", x < 5)
    run = spec.run(html=tmp_path / "r.html")
    next(run)
    assert not (tmp_path / "r.html").exists()
    assert len(list(run)) == 2
    (timeline,) = data_of(tmp_path / "r.html")["timelines"]
    signals = {s["name"]: [text for text, _ in s["runs"]] for s in timeline["signals"]}
    assert signals["x"] == ["1", "9", "2"] and signals["twice"] == ["2", "18", "4"] and timeline["bad"] == 1


def test_a_program_shows_its_lines(tmp_path):
    source = "int main(void) {\n  int x = 0;\n  while (x < 3)\n    x = x + 1;\n  assert(x < 3);\n}\n"
    (tmp_path / "p.c").write_text("#include <assert.h>\n" + source)
    sc.load(str(tmp_path / "p.c")).prove(html=tmp_path / "p.html")
    data = data_of(tmp_path / "p.html")
    (timeline,) = data["timelines"]
    assert timeline["step"] == "statement"
    executed = [line[1] for line in timeline["lines"] if line]
    assert executed[-1] == 6 and executed.count(5) == 3  # the assertion, and three rounds of the body


# In a browser


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium")
    with playwright.sync_playwright() as engine:
        running = engine.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def opened(browser):
    """Opens a page; at the end it must have written nothing to the console."""
    problems, tabs = [], []

    def open_page(path, **context):
        tab = browser.new_page(**({"viewport": {"width": 1300, "height": 900}} | context))
        tab.on("console", lambda message: problems.append(message.text))
        tab.on("pageerror", lambda error: problems.append(str(error)))
        tab.goto(path.as_uri())
        tabs.append(tab)
        return tab

    yield open_page
    for tab in tabs:
        tab.close()
    assert not problems


def test_steps_are_chosen_and_values_follow(folder, opened):
    tab = opened(folder / "prove.html")
    lane = tab.locator(".lane", has_text=re.compile("^since"))
    assert lane.locator(".value").inner_text() == "4"
    assert "the property is false" in tab.locator("[aria-live]").inner_text()
    tab.locator(".scroll").focus()
    tab.keyboard.press("ArrowLeft")
    tab.keyboard.press("ArrowLeft")
    assert lane.locator(".value").inner_text() == "2"
    assert "since = 2" in tab.locator(".source tr", has_text="since = stream").inner_text()
    tab.keyboard.press("Home")
    assert lane.locator(".value").inner_text() == "0"
    tab.get_by_role("button", name="violation").click()
    assert lane.locator(".value").inner_text() == "4"


def test_hovering_shows_the_value(folder, opened):
    tab = opened(folder / "prove.html")
    box = tab.locator("canvas").bounding_box()
    wide = box["width"] / 5
    tab.mouse.move(box["x"] + 2.5 * wide, box["y"] + 26 + 13)
    assert tab.locator(".tip").inner_text().startswith("probe, step 2: ")
    tab.mouse.move(box["x"] + 4.5 * wide, box["y"] + 26 + 13)
    assert "any value will do" in tab.locator(".tip").inner_text()
    tab.mouse.click(box["x"] + 1.5 * wide, box["y"] + 26 + 13)
    assert tab.locator("[aria-live]").inner_text().startswith("step 1 of 4")
    tab.mouse.move(5, 5)
    assert tab.locator(".tip").is_hidden()


def test_rows_are_filtered(folder, opened):
    tab = opened(folder / "prove.html")
    names = tab.locator(".names .lane span:first-child")
    assert names.all_inner_texts() == ["probe", "since", "hot", "never_long"]
    tab.locator(".tools select").select_option("all")
    assert {"other", "mode"} <= set(names.all_inner_texts())
    tab.locator(".tools input[type=checkbox]").check()
    assert "other" not in names.all_inner_texts()
    tab.locator(".tools input[type=search]").fill("SIN")
    assert names.all_inner_texts() == ["since"]


def test_the_cone_of_a_property_is_marked(folder, opened):
    tab = opened(folder / "prove.html")
    tab.locator("summary", has_text="Dataflow").click()
    tab.locator(".graph select").select_option("never_long")
    on = set(tab.locator(".graph .node.on text").all_text_contents())
    assert {"probe", "hot", "since", "never_long"} <= on and not {"other", "mode", "cool"} & on


def test_a_line_of_c_marks_those_of_the_spec(folder, opened):
    tab = opened(folder / "code.html")
    tab.locator(".both .source").nth(1).locator("tr[data-with]", has_text="250").first.hover()
    marked = tab.locator(".both .source").nth(0).locator("tr.match").all_inner_texts()
    assert any("probe > 250" in text for text in marked)


def test_the_page_follows_the_colours_of_the_reader(folder, opened):
    def back(tab):
        tab.wait_for_timeout(50)
        picture = tab.locator("canvas").evaluate("c => c.toDataURL()")
        return tab.evaluate("getComputedStyle(document.body).backgroundColor"), picture

    light, drawn = back(opened(folder / "prove.html", color_scheme="light"))
    tab = opened(folder / "prove.html", color_scheme="dark")
    dark, drawn_dark = back(tab)
    assert light == "rgb(255, 255, 255)" and dark != light and drawn_dark != drawn
    tab.emulate_media(color_scheme="light")
    assert back(tab) == (light, drawn)


def test_a_narrow_window_and_paper_lose_nothing(folder, opened):
    tab = opened(folder / "prove.html", viewport={"width": 360, "height": 700})
    tab.locator(".facts").first.evaluate("line => line.textContent = '/a_long_name'.repeat(9)")
    assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert tab.locator("canvas").is_visible() and tab.locator(".source").is_visible()
    tab.emulate_media(media="print")
    assert tab.locator(".tools").is_hidden() and tab.locator("canvas").is_visible()


def test_on_paper_proofs_are_open_and_colours_light(folder, opened):
    tab = opened(folder / "prove.html", color_scheme="dark")
    why = tab.locator("pre", has_text="an invariant").first
    assert why.is_hidden()
    tab.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert why.is_visible()
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    tab.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert why.is_hidden()
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"


def test_a_screen_reader_has_headings_tables_and_the_chosen_step(folder, opened):
    tab = opened(folder / "prove.html")
    assert [h.inner_text() for h in tab.get_by_role("heading", level=3).all()] == ["never_long", "cool", "stays"]
    assert tab.get_by_role("table", name="Verdicts").get_by_role("row").count() == 4
    values = tab.get_by_role("table", name="values at the chosen step")
    assert values.get_by_role("row").nth(2).get_by_role("rowheader").inner_text() == "since"
    for name in ("the step before", "the next step", "wider steps"):
        assert tab.locator(f"button[title='{name}']").count() == 1
    unnamed = "[...document.querySelectorAll('input, select')].filter((e) => !e.labels.length).length"
    assert tab.evaluate(unnamed) == 0
    reached = set()
    for _ in range(20):
        tab.keyboard.press("Tab")
        reached.add(tab.evaluate("document.activeElement.className || document.activeElement.tagName"))
    assert {"skip", "scroll", "source", "SUMMARY", "SELECT"} <= reached


def test_lines_of_c_are_reached_by_the_keyboard(folder, opened):
    tab = opened(folder / "code.html")
    tab.locator(".both tr[data-with]", has_text="hot = probe > 250").first.focus()
    partners = tab.locator(".partners").inner_text()
    assert re.fullmatch(r"engine\.py:\d+ belongs to engine\.c:\d+(, engine\.c:\d+)*", partners)


def test_a_thousand_steps_of_a_hundred_signals_stay_fluid(tmp_path, opened):
    lines = ["from streamcheck import *", 'go = extern("go", Bool)', 'spec = Spec("many")']
    for i in range(100):
        lines.append(f"s{i} = stream(Word16, lambda n: [{i}] ++ mux(go, n + {i + 1}, n))")
        lines.append(f'spec.observer("row_{i}", s{i} * 3)')
    (tmp_path / "many.py").write_text("\n".join(lines) + "\n")
    (tmp_path / "log.csv").write_text("go\n" + "".join(f"{str(i % 3 != 0).lower()}\n" for i in range(1000)))
    words = [COMMAND, "run", "many.py", "--input", "log.csv", "--html", "many.html"]
    assert subprocess.run(words, cwd=tmp_path, capture_output=True).returncode == 0
    assert (tmp_path / "many.html").stat().st_size < 3_000_000
    tab = opened(tmp_path / "many.html")
    assert tab.locator(".names .lane").count() == 101
    drawn = tab.evaluate(
        """async () => {
          let calls = 0;
          const draw = CanvasRenderingContext2D.prototype.lineTo;
          CanvasRenderingContext2D.prototype.lineTo = function (...at) { calls++; return draw.apply(this, at); };
          const scroll = document.querySelector(".scroll");
          for (let i = 0; i < 4; i++) document.querySelector("button[title='wider steps']").click();
          await new Promise(requestAnimationFrame);
          calls = 0;
          scroll.scrollLeft += 400; scroll.scrollTop += 200;
          await new Promise(requestAnimationFrame);
          await new Promise(requestAnimationFrame);
          return calls;
        }"""
    )
    assert 0 < drawn < 20_000  # only what can be seen is drawn, of 200,000 ends of segments
