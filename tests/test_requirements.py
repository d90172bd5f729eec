"""Requirements in restricted English: every template against its definition by intervals and its published formula."""

from __future__ import annotations

import itertools
import json
import os
import random
import re
import subprocess
from pathlib import Path

import pytest

from streamcheck import *
from streamcheck.api.files import load
from streamcheck.core.errors import SpecError
from streamcheck.lang.requirements.sentence import Condition, Scope, Timing, read_sentence

SCOPES = {
    Scope.ALL: "",
    Scope.IN: "in m mode,",
    Scope.NOT_IN: "unless in m",
    Scope.BEFORE: "before m",
    Scope.AFTER: "after mode m,",
    Scope.ONLY_IN: "only during m",
    Scope.ONLY_BEFORE: "only before m",
    Scope.ONLY_AFTER: "only after m",
}
CONDITIONS = {Condition.NONE: "", Condition.BECOMES: "upon c", Condition.HOLDS: "whenever c"}
TIMINGS = {
    Timing.IMMEDIATELY: "immediately",
    Timing.NEXT: "at the next timepoint",
    Timing.FINALLY: "finally",
    Timing.ALWAYS: "always",
    Timing.EVENTUALLY: "",
    Timing.NEVER: "never",
    Timing.WITHIN: "within {n} ticks",
    Timing.FOR: "for {n} ticks",
    Timing.AFTER: "after {n} ticks",
    Timing.UNTIL: "until s",
    Timing.BEFORE: "before s",
}
TEMPLATES = list(itertools.product(Scope, Condition, Timing))
ONLY = (Scope.ONLY_IN, Scope.ONLY_BEFORE, Scope.ONLY_AFTER)
NAMES = ("m", "c", "s", "r")


def sentence(scope: Scope, condition: Condition, timing: Timing, n: int) -> str:
    return f"{SCOPES[scope]} {CONDITIONS[condition]} the box shall {TIMINGS[timing].format(n=n)} satisfy r"


def traces(count: int, length: int, seed: str) -> list[dict[str, list[bool]]]:
    chance = random.Random(seed)
    made = []
    for _ in range(count):
        stays = {name: chance.choice((0.3, 0.5, 0.8)) for name in NAMES}
        made.append({name: [chance.random() < stays[name] for _ in range(length)] for name in NAMES})
    return made


# The definition, by intervals of a finite run.


def runs_of(truths: list[bool]) -> list[tuple[int, int]]:
    """The longest intervals of steps that are true, with their last steps."""
    found, begin = [], None
    for i, holds in enumerate([*truths, False]):
        if holds and begin is None:
            begin = i
        elif not holds and begin is not None:
            found.append((begin, i - 1))
            begin = None
    return found


def intervals(scope: Scope, m: list[bool]) -> list[tuple[int, int]]:
    last = len(m) - 1
    modes = runs_of(m)
    left = next((end + 1 for _, end in modes if end < last), None)  # the first step after the mode has been left
    match scope:
        case Scope.ALL:
            return [(0, last)]
        case Scope.IN:
            return modes
        case Scope.NOT_IN | Scope.ONLY_IN:
            return runs_of([not x for x in m])
        case Scope.BEFORE:
            pieces = [(0, modes[0][0] - 1 if modes else last)]
        case Scope.ONLY_BEFORE:
            pieces = [(modes[0][0], last)] if modes else []
        case Scope.AFTER:
            pieces = [] if left is None else [(left, last)]
        case Scope.ONLY_AFTER:
            pieces = [(0, last if left is None else left - 1)]
    return [(a, b) for a, b in pieces if a <= b]


def triggers(condition: Condition, c: list[bool], a: int, b: int) -> list[int]:
    match condition:
        case Condition.NONE:
            return [a]
        case Condition.HOLDS:
            return [p for p in range(a, b + 1) if c[p]]
        case Condition.BECOMES:
            return [p for p in range(a, b + 1) if c[p] and (p == a or not c[p - 1])]


def answered(timing: Timing, p: int, b: int, n: int, r: list[bool], s: list[bool], negated: bool) -> bool:
    """If the trigger at p in an interval that ends at b has its response; or, negated, has it not."""
    inside = r[p : b + 1]
    stop = next((q for q in range(p, b + 1) if s[q]), None)
    complete = p + n <= b  # the duration ends inside the interval
    window = r[p : min(p + n, b) + 1]
    match timing:
        case Timing.IMMEDIATELY:
            return r[p] != negated
        case Timing.NEXT:
            return p == b or r[p + 1] != negated
        case Timing.FINALLY:
            return r[b] != negated
        case Timing.ALWAYS:
            return all(inside) != negated
        case Timing.EVENTUALLY:
            return any(inside) != negated
        case Timing.NEVER:
            return (not any(inside)) != negated
        case Timing.WITHIN:
            return not any(window) if negated else any(window) or not complete
        case Timing.FOR:
            return not all(window) or not complete if negated else all(window)
        case Timing.AFTER:
            if p + n + 1 > b:
                return negated or not any(window)
            return (any(window) or not r[p + n + 1]) if negated else (not any(window) and r[p + n + 1])
        case Timing.UNTIL:
            until = all(r[p:stop] if stop is not None else inside)
            return (stop is None or not until) if negated else until
        case Timing.BEFORE:
            if stop is None:
                return not any(inside) if negated else True
            return any(r[p:stop]) != negated


def holds(scope: Scope, condition: Condition, timing: Timing, n: int, run: dict[str, list[bool]]) -> bool:
    return all(
        answered(timing, p, b, n, run["r"], run["s"], scope in ONLY)
        for a, b in intervals(scope, run["m"])
        for p in triggers(condition, run["c"], a, b)
    )


def meanings(texts: dict[str, str], run: dict[str, list[bool]]) -> dict[str, list[bool]]:
    """The values of requirements over one run, by the interpreter."""
    names = {name: extern(name, Bool, run[name]) for name in NAMES}
    spec = Spec("templates")
    for key, text in texts.items():
        spec.observer(key, requirement(text, names))
    steps = list(spec.run(steps=len(run["m"])))
    return {key: [bool(step.observers[key]) for step in steps] for key in texts}


@pytest.mark.parametrize("scope", Scope)
def test_every_template_has_its_meaning_by_intervals(scope: Scope) -> None:
    templates = [t for t in TEMPLATES if t[0] is scope]
    for n in (0, 1, 3):
        texts = {f"{c.value} {t.value}": sentence(scope, c, t, n) for _, c, t in templates}
        for run in traces(8, 14, f"{scope} {n}"):
            values = meanings(texts, run)
            for _, c, t in templates:
                for step in range(14):
                    prefix = {name: values_of[: step + 1] for name, values_of in run.items()}
                    expected = holds(scope, c, t, n, prefix)
                    assert values[f"{c.value} {t.value}"][step] == expected, (scope, c, t, n, step, run)


# The published formulas of the past, if the repository of FRET is there: FRET=FOLDER, a clone or a bare repository.

FRET = os.environ.get("FRET", "")
SEMANTICS = "fret-electron/app/parser/semantics.json"
WORDS = re.compile(r"\$\w+\$\+1|\$\w+\$|[A-Z]+|->|<=|[=<()\[\]!&|]")
VARIABLES = {"scope_mode": "m", "regular_condition": "c", "stop_condition": "s", "post_condition": "r"}


def published(path: str) -> object:
    if not FRET:
        pytest.skip("FRET: the folder of its repository is not given")
    done = subprocess.run(["git", "-C", FRET, "show", f"HEAD:{path}"], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"FRET's repository has no {path}")
    return json.loads(done.stdout)


class Formula:
    """A past-time formula in brackets, evaluated at each step of a run."""

    def __init__(self, text: str, n: int, run: dict[str, list[bool]]) -> None:
        self.words, self.n, self.run = WORDS.findall(text), n, run
        self.length = len(run["m"])
        self.value = self.chain()
        assert not self.words

    def chain(self) -> list[bool]:
        left = self.part()
        while self.words and self.words[0] != ")":
            op, right = self.words.pop(0), self.part()
            match op:
                case "&":
                    left = [a and b for a, b in zip(left, right, strict=True)]
                case "|":
                    left = [a or b for a, b in zip(left, right, strict=True)]
                case "->":
                    left = [not a or b for a, b in zip(left, right, strict=True)]
                case "S":
                    pairs = range(self.length)
                    left = [any(right[k] and all(left[k + 1 : i + 1]) for k in range(i + 1)) for i in pairs]
                case _:
                    raise AssertionError(op)
        return left

    def part(self) -> list[bool]:
        word = self.words.pop(0)
        steps = range(self.length)
        if word == "(":
            inner = self.chain()
            assert self.words.pop(0) == ")"
            return inner
        if word.startswith("$"):
            return self.run[VARIABLES[word.strip("$")]]
        if word in ("TRUE", "FALSE"):
            return [word == "TRUE"] * self.length
        bounds = self.bounds() if self.words[0] == "[" else None
        p = self.part()
        match word:
            case "!":
                return [not x for x in p]
            case "Y" | "Z":
                return [word == "Z", *p[:-1]]
            case "H":
                return [all(p[: i + 1]) for i in steps]
            case "O" if bounds is None:
                return [any(p[: i + 1]) for i in steps]
            case "O":
                return [any(p[i - k] for k in bounds if k <= i) for i in steps]
        raise AssertionError(word)

    def bounds(self) -> range:
        assert self.words.pop(0) == "["
        sign, number = self.words.pop(0), self.words.pop(0)
        assert self.words.pop(0) == "]"
        n = self.n + number.endswith("+1")
        return {"=": range(n, n + 1), "<": range(n), "<=": range(n + 1)}[sign]


def test_the_definition_by_intervals_is_the_published_one() -> None:
    templates = published(SEMANTICS)
    assert isinstance(templates, dict)
    compared = 0
    for scope, condition, timing in TEMPLATES:
        text = templates[f"{scope.value},{condition.value},{timing.value},satisfaction"]["ptExpanded"]
        for n in (0, 1, 2):
            for run in traces(12, 10, f"{scope} {condition} {timing} {n}"):
                by_formula = Formula(text, n, run).value
                by_intervals = [
                    holds(scope, condition, timing, n, {k: v[: i + 1] for k, v in run.items()}) for i in range(10)
                ]
                assert by_formula == by_intervals, (scope, condition, timing, n, run)
                compared += 1
    assert compared == len(TEMPLATES) * 36


@pytest.mark.parametrize(
    ("text", "scope", "condition", "timing"),
    [
        ("the box shall satisfy r", "null", "null", "eventually"),
        ("shall the box always satisfy r.", "null", "null", "always"),
        ("BEFORE MODE m, IF c THE box SHALL, WITHIN 3 TICKS, SATISFY r", "before", "regular", "within"),
        ("only when in m the box shall initially satisfy r", "onlyIn", "null", "immediately"),
        ("when not in m mode box shall never satisfy r", "notin", "null", "never"),
        ("except while (m & s), whenever c, and whenever s box shall finally satisfy r", "notin", "holding", "finally"),
        ("while m when c is false, or if s, box shall before s satisfy r", "in", "regular", "before"),
        ("after m whenever c, when s the box shall at the last timepoint satisfy r", "after", "regular", "finally"),
        ("only after m, unless c box shall until s satisfy r", "onlyAfter", "regular", "until"),
    ],
)
def test_the_sentence_chooses_the_template(text: str, scope: str, condition: str, timing: str) -> None:
    found = read_sentence(text)
    assert (found.scope.value, found.condition.value, found.timing.value) == (scope, condition, timing)
    assert found.component == "box"


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("if c then r | s & m", "implies(c, r | (s & m))"),
        ("!c & r -> s xor m", "implies(~c & r, s ^ m)"),
        ("x + 2 * y - 1 <= 3 & !x = y", "(x + 2 * y - 1 <= 3) & ~(x == y)"),
        ("-x ^ 2 < absInt(y) mod 3", "-(x * x) < abs(y) % 3"),
        ("preBool(true, c) <=> FTP", "pre(True, c) == first"),
        ("preInt(x, y) = maxInt(x, 1)", "then(x, pre(0, y)) == maximum(x, 1)"),
        ("at the previous occurrence of c, r", "first | ptltl.previous(implies(seen(c), seen(c & r)))"),
        ("persisted(2, c)", "mtl.always_been(0, 2, c) & ~first & ~pre(True, first)"),
        ("occurred(1, 2, c)", "pre(False, c) | pre(False, pre(False, c))"),
    ],
)
def test_expressions_mean_what_python_writes(text: str, same: str) -> None:
    c, r, s, m = (extern(name, Bool) for name in "crsm")
    x, y = extern("x", Int), extern("y", Int)

    def seen(q: Stream) -> Stream:
        """The last c that was, in the run so far, was one at which q held."""
        return ptltl.since(~first & ~c, q)

    spec = Spec("same")
    meant = eval(same, {**globals(), **locals()})
    spec.prop("same", requirement(f"box shall always satisfy {text}") == ptltl.always_been(meant))
    assert spec.prove(timeout=30).ok, text


def test_persistence_counts_from_the_start_of_the_interval() -> None:
    bits = {"m": "011101111", "c": "111111101"}
    names = {name: extern(name, Bool, [x == "1" for x in values]) for name, values in bits.items()}
    spec = Spec("persistence")
    spec.observer("both", requirement("in m box shall always satisfy !persisted(2, c)", names))
    spec.observer("late", requirement("after m box shall always satisfy !occurred(1, 3, c)", names))
    values = [(step.observers["both"], step.observers["late"]) for step in spec.run(steps=9)]
    assert values == [*[(True, True)] * 3, (False, True), (False, True), *[(False, False)] * 4]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("box satisfy r", 'expected `shall` after "box", found `satisfy`'),
        ("box shall satisfy", 'expected an expression after "box shall satisfy", found the end'),
        ("box shall within 2 seconds satisfy r", "expected `ticks`"),
        ("box shall within x ticks satisfy r", "expected a whole number of ticks"),
        ("box shall satisfy c => r => s", "write: (a => b) => c"),
        ("box shall satisfy x < y < 3", "write: a < b & b < c"),
        ("box shall satisfy other", "no stream `other` here"),
        ("box shall satisfy x + 1", "expected a Bool"),
        ("box shall satisfy occurs(3, r)", "later steps, which are not known yet"),
        ("box shall satisfy at the next occurrence of c, r", "what comes later is not known yet"),
        ("box shall with probability > 0.5 satisfy r", "a requirement without a probability"),
        ("box shall satisfy c ; r", "`;` is no word or sign"),
        ("only box shall satisfy r", "expected `in`, `during`, `while`, `before` or `after`"),
        ("box shall satisfy r r", "expected an operator, or the end"),
        ("box shall satisfy f(1)", "no function `f` of 1 arguments"),
    ],
)
def test_a_mistake_is_shown_in_the_sentence(text: str, message: str) -> None:
    c, r, s, x, y = (extern(name, Bool if name in "crs" else Int) for name in "crsxy")
    with pytest.raises(SpecError) as caught:
        requirement(text)
    assert message in str(caught.value)
    assert "requirement(text)" in str(caught.value)  # the user's line
    del c, r, s, x, y


# FRET's own examples, with their published template keys.

EXAMPLES = {
    "caseStudies/LiquidMixer/LM_reqts_and_vars.json": (12, 0),
    "caseStudies/FiniteStateMachine/fsm_reqts_and_vars.json": (13, 0),
    "caseStudies/LMCPS/LM_requirements.json": (94, 3),  # three of them count seconds
    "caseStudies/LiftPlusCruise/LPC_full_reqts_and_vars.json": (57, 0),
}


@pytest.mark.parametrize("path", EXAMPLES)
def test_the_published_examples_are_read_as_published(path: str) -> None:
    data = published(path)
    assert isinstance(data, dict)
    read, refused = 0, 0
    for row in data["requirements"]:
        try:
            found = read_sentence(row["fulltext"])
        except SpecError as why:
            refused += "expected `ticks`" in why.message
            continue
        key = row["semantics"]
        condition = {"noTrigger": "holding"}.get(key["condition"], key["condition"])  # its earlier name
        expected = (key["scope"]["type"], condition, key["timing"])
        assert (found.scope.value, found.condition.value, found.timing.value) == expected, row["reqid"]
        read += 1
    assert (read, refused) == EXAMPLES[path]


MIXER = {
    "requirements": [
        {"reqid": "M-1", "fulltext": "when button mixer shall immediately satisfy !motor"},
        {"reqid": "M-2", "fulltext": "when level > full, the mixer shall until button satisfy motor"},
        {"reqid": "M-3", "fulltext": "a sentence that is none"},
        {"reqid": "M-4", "fulltext": "mixer shall always satisfy missing"},
        {"reqid": "M-assumption", "fulltext": "mixer shall always satisfy level >= 0.0"},
    ],
    "variables": [
        {"component_name": "mixer", "variable_name": "button", "idType": "Input", "dataType": "boolean"},
        {
            "component_name": "mixer",
            "variable_name": "level",
            "idType": "Input",
            "dataType": "double",
            "description": "of the tank",
        },
        {"component_name": "mixer", "variable_name": "motor", "idType": "Output", "dataType": "boolean"},
        {
            "component_name": "mixer",
            "variable_name": "full",
            "idType": "Internal",
            "dataType": "double",
            "assignment": "2.5 * unit",
        },
        {
            "component_name": "mixer",
            "variable_name": "unit",
            "idType": "Internal",
            "dataType": "double",
            "assignment": "2.0",
        },
    ],
}


@pytest.mark.parametrize("field", ["variable_name", "component_name", "idType", "dataType", "assignment"])
@pytest.mark.parametrize("value", [["x"], {"a": 1}, 7])
def test_an_export_with_a_field_that_is_no_text_is_refused(tmp_path: Path, field: str, value: object) -> None:
    path = tmp_path / "mixer.json"
    variables = [{**MIXER["variables"][-1], field: value}, *MIXER["variables"]]
    path.write_text(json.dumps({**MIXER, "variables": variables}))
    with pytest.raises(SpecError, match=f"the `{field}` of a variable is no text"):
        load(path)


def test_an_export_becomes_a_spec(tmp_path: Path) -> None:
    path = tmp_path / "mixer.json"
    path.write_text(json.dumps(MIXER, indent=2))
    loaded = load(path)
    assert loaded.name == "mixer" and loaded.properties == ["M-1", "M-2"]
    problem = loaded.problem
    assert [(i.name, i.extern, i.doc) for i in problem.inputs] == [
        ("button", True, ""),
        ("level", True, "of the tank"),
        ("motor", False, ""),
    ]
    assert [a.name for a in problem.assumptions] == ["M-assumption"]
    assert [w.partition(":")[0] for w in problem.warnings] == ["M-3 is left out", "M-4 is left out"]
    lines = path.read_text().splitlines()
    assert all("fulltext" in lines[p.where.line - 1] for p in problem.properties)
    verdicts = loaded.prove(timeout=30)
    assert [v.name for v in verdicts.falsified] == ["M-1", "M-2"]


def test_an_export_without_a_meaning_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "none.json"
    path.write_text(json.dumps({"requirements": [{"reqid": "R", "fulltext": "nothing"}]}))
    with pytest.raises(SpecError, match="no requirement has a meaning"):
        load(path)


@pytest.mark.parametrize("data", [{"requirements": 3}, {"requirements": [3]}, {"requirements": [{"reqid": "R"}]}])
def test_another_json_is_refused(data: object, tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text(json.dumps(data))
    with pytest.raises(SpecError, match="not an export of FRET"):
        load(path)


# Times, and many sentences


def spec_of(sentence, **options):
    spec = Spec("timed")
    spec.observer("kept", requirement(sentence, {"p": extern("p", Bool), "q": extern("q", Bool)}, **options))
    return spec


def kept_in(spec, inputs):
    rows = [dict(zip(inputs, row, strict=True)) for row in zip(*inputs.values(), strict=True)]
    return [step.observers["kept"] for step in spec.run(inputs=rows)]


def test_times_are_steps_if_a_step_has_a_length():
    inputs = {"p": [i == 1 for i in range(8)], "q": [i == 4 for i in range(8)]}
    for time_, step, ticks in (
        ("3 milliseconds", "1 millisecond", 3),
        ("0.5 seconds", "250 milliseconds", 2),
        ("1 minute", "30 secs", 2),
        ("3 ticks", "1 hour", 3),
    ):
        for timing in ("within", "for", "after"):
            timed = spec_of(f"when p the pump shall {timing} {time_} satisfy q", step=step)
            ticked = spec_of(f"when p the pump shall {timing} {ticks} ticks satisfy q")
            assert kept_in(timed, inputs) == kept_in(ticked, inputs)


@pytest.mark.parametrize(
    ("sentence", "options", "message"),
    [
        ("the pump shall within 2 seconds satisfy p", {}, r'step="10 milliseconds"\)'),
        ("the pump shall within 0.3 seconds satisfy p", {"step": "200 milliseconds"}, "whole number of steps"),
        ("the pump shall within 1.5 ticks satisfy p", {}, "`ticks`, after a whole number"),
        ("the pump shall within 1 tick satisfy p", {"step": "2 steps"}, "step is a time"),
        ("the pump shall within 1 tick satisfy p", {"step": 2}, "a time for step"),
    ],
)
def test_times_that_are_no_steps_are_refused(sentence, options, message):
    with pytest.raises(SpecError, match=message):
        spec_of(sentence, **options)


def test_a_text_of_requirements_has_their_names():
    streams = {"p": extern("p", Bool), "q": extern("q", Bool)}
    text = """
        # two ways to write a name
        R-1: whenever p the pump shall immediately satisfy
            p | q
        [R-2] the pump shall never satisfy q  # as always
        R-3:
            the pump shall always satisfy p | !p
    """
    found = requirements(text, streams)
    assert list(found) == ["R-1", "R-2", "R-3"]
    del found["R-3"]
    spec = Spec("both")
    for name, kept in found.items():
        spec.prop(name, kept)
    assert {r.name: r.verdict for r in spec.prove(timeout=30)} == {"R-1": "proved", "R-2": "falsified"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("the pump shall never satisfy p", "expected a name before the sentence"),
        ("A: the pump shall never satisfy p\nA: the pump shall always satisfy p", "two sentences are called A"),
        ("A: the pump shall never satisfy p\nB: the pump shall newer satisfy p", "B: requirement: expected"),
        ("A:\nB: the pump shall always satisfy p", "A: requirement: expected the component"),
        (7, "expected a text, found 7"),
    ],
)
def test_texts_that_are_no_requirements_are_refused(text, message):
    with pytest.raises(SpecError, match=message):
        requirements(text, {"p": extern("p", Bool)})
