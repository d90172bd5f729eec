"""Programs through the command: what is printed, saved, drawn and witnessed, and what is refused."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from vcd.reader import TokenKind, tokenize

COMMAND = str(Path(sys.executable).parent / "streamcheck")
SPECS = Path(__file__).parent.parent / "specs" / "programs"
COUNT = """\
int main(void) {
    int x = 0, n = __VERIFIER_nondet_int();
    if (n < 0 || n > 10)
        return 0;
    while (x < n)
        x++;
    __VERIFIER_assert(x == n);
    __VERIFIER_assert(x != 3);
    return 0;
}
"""


def streamcheck(*args, cwd=None):
    return subprocess.run([COMMAND, *map(str, args)], capture_output=True, text=True, cwd=cwd, timeout=60)


@pytest.fixture
def count(tmp_path):
    path = tmp_path / "count.c"
    path.write_text(COUNT)
    return path


def test_the_rows_and_statements_of_a_path_that_are_asked_for(count):
    def rows(*options):
        done = streamcheck("prove", count, "--prop", "assert, line 8", *options)
        return [line.split() for line in done.stdout.splitlines() if line.startswith("      ")]

    whole = rows("--full")
    assert [row[:3] for row in rows("--steps", "5-6")] == [[n, *whole[int(n) - 1][:2]] for n in ("5", "6")]
    assert " ".join(rows("--steps", "90-99")[0]) == "the run has 12 statements, none of them in --steps 90-99"
    assert all("n" not in row for row in rows("--rows", "x")) and len(rows("--rows", "x")) == 4
    done = streamcheck("prove", count, "--rows", "y")
    assert done.returncode == 2 and done.stderr == "error: --rows y: no row of this name; there are x, n\n"


LONG = """\
int main(void) {
    unsigned char a[3] = {1, 2, 3};
    _Bool odd = 0;
    double half = 0.5;
    for (int i = 0; i < 30; i++) { a[i % 3] += i; odd = !odd; half *= 2; }
    __VERIFIER_assert(a[1] < 100);
    return 0;
}
"""


def test_the_runs_of_programs_in_files(tmp_path):
    (tmp_path / "long.c").write_text(LONG)
    shapes = [word for shape in ("csv", "json", "vcd", "html") for word in ("--trace", shape, tmp_path / "runs")]
    done = streamcheck("prove", tmp_path / "long.c", "--prop", "assert*", "--json", *shapes)
    path = json.loads(done.stdout)["properties"][0]["counterexample"]["path"]
    files = {file.suffix: file.read_text() for file in (tmp_path / "runs").iterdir()}
    assert files.keys() == {".csv", ".json", ".vcd", ".html"}
    rows = list(csv.DictReader(io.StringIO(files[".csv"])))
    assert [row["statement"] for row in rows[1:]] == [step["statement"] for step in path]
    assert [int(row["step"]) for row in rows] == list(range(len(path) + 1))
    assert rows[-1]["a[1]"] == str(sum(range(1, 30, 3), 2)) and rows[-1]["i"] == "30" and rows[-1]["line"] == "6"
    assert rows[1]["half"] == "" and rows[-1]["half"] == f"{0.5 * 2**30:.1f}" and rows[-1]["odd"] == "false"
    whole = json.loads(files[".json"])
    assert whole["path"] == path and whole["length"] == len(path) and whole["property"] == "assert, line 6"
    values = final_values(tmp_path / "runs" / "long.long.assert_line_6.vcd")
    assert values == {"line": 6, "a.0": 136, "a.1": 147, "a.2": 158, "odd": "0", "half": 0.5 * 2**30, "i": 30}
    assert files[".html"].count("<tr>") == len(rows) + 1 and "http" not in files[".html"]


def final_values(file):
    """The last value of each signal of a value change dump."""
    names, values = {}, {}
    with file.open("rb") as source:
        for token in tokenize(source):
            if token.kind is TokenKind.VAR:
                names[token.data.id_code] = token.data.reference
            elif token.kind in (TokenKind.CHANGE_SCALAR, TokenKind.CHANGE_VECTOR, TokenKind.CHANGE_REAL):
                values[names[token.data.id_code]] = token.data.value
    return values


def test_the_run_of_an_automaton_in_a_file(tmp_path):
    (tmp_path / "two.aut").write_text(
        "two { var x; initial a; final b; from a | x := 2 --> c; from c | x >= 2 --> b; | x < 2 --> a; }"
    )
    streamcheck("prove", tmp_path / "two.aut", "--trace", "csv", tmp_path, "--trace", "vcd", tmp_path)
    rows = list(csv.DictReader((tmp_path / "two.two.b.csv").open()))
    assert [row["x"] for row in rows] == ["", "2", "2"]
    assert "s2 " in (tmp_path / "two.two.b.vcd").read_text()


def test_a_counterexample_is_a_path_with_lines_and_values(count):
    done = streamcheck("prove", count)
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "count (integers as C has them)"
    verdicts = {m[2]: m[1] for m in (re.match(r"  (\w+) +(.+?)  +\S", line) for line in lines) if m}
    assert verdicts == {"no overflow, line 6": "proved", "assert, line 7": "proved", "assert, line 8": "falsified"}
    path = [line.split() for line in lines if line.startswith("      line")]
    assert [row[1] for row in path] == ["2", "2", "3", "5", "6", "5", "6", "5", "6", "5", "7", "8"]
    assert path[-1][2:] == ["!(x", "!=", "3)"]
    assert sum("x = 3" in line for line in lines) == 1


@pytest.mark.parametrize("how", [[], ["--int", "math"], ["--no-blocks"], ["--engine", "lifted-pdr"]], ids=str)
def test_the_json_holds_path_invariants_and_integers(count, how):
    done = streamcheck("prove", count, "--json", *how)
    answer = json.loads(done.stdout)
    assert answer["integers"] == ("math" if "math" in how else "c")
    found = {p["name"]: p for p in answer["properties"]}
    assert found["assert, line 7"]["verdict"] == "proved"
    path = found["assert, line 8"]["counterexample"]["path"]
    written = [step["values"]["x"] for step in path if step["statement"] in ("x++", "x = x + 1")]
    assert written == [1, 2, 3] and path[-1]["line"] == 8
    if "--engine" in how:
        said = found["assert, line 7"]["invariants"]
        assert any(re.search(r"\bx\b.*\bn\b|\bn\b.*\bx\b", row["invariant"]) for row in said)


def test_certificates_of_programs_are_checked_again(count, tmp_path):
    for how in ([], ["--int", "math", "--no-blocks"]):
        saved = tmp_path / "-".join(["saved", *how])
        assert streamcheck("prove", count, *how, "--certificates", saved).returncode == 1
        files = sorted(saved.iterdir())
        done = streamcheck("check", *files)
        assert done.returncode == 0 and done.stdout.count(": holds") == len(files), done
        assert done.stdout.count("mathematical integers") == ("math" in how) * len(files)
    count.write_text(COUNT.replace("x++", "x += 2"))
    assert streamcheck("check", *files).returncode == 4
    data = json.loads(files[0].read_text())
    for program in ({"integers": "saturating", "function": None}, {"integers": "c", "function": 7}, [], {}):
        files[0].write_text(json.dumps({**data, "program": program}))
        assert streamcheck("check", files[0]).returncode == 2


def test_names_may_have_a_star(count):
    answer = json.loads(streamcheck("prove", count, "--json", "--prop", "assert*").stdout)
    assert [p["name"] for p in answer["properties"]] == ["assert, line 7", "assert, line 8"]
    assert "has no property named" in streamcheck("prove", count, "--prop", "bssert*").stderr


def test_witnesses(count, tmp_path):
    target = tmp_path / "w.yml"
    streamcheck("prove", count, "--witness", target)
    text = target.read_text()
    assert "entry_type: violation_sequence" in text and '"n == 3"' in text
    assert re.search(r"type: target\n +action: follow\n +location:\n +file_name: \"count.c\"\n +line: 8\n", text)
    count.write_text(COUNT.replace("    __VERIFIER_assert(x != 3);\n", ""))
    streamcheck("prove", count, "--witness", target, "--engine", "templates", "--engine", "ic3")
    text = target.read_text()
    assert "entry_type: invariant_set" in text and "type: loop_invariant" in text and "line: 5" in text
    values = re.findall(r"value: \"(.*)\"", text)
    assert len(values) == 1 and "x" in values[0]


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_witness_invariants_hold_when_the_program_runs(count, tmp_path):
    """Compiled into the loop they are true at every round, whatever the input."""
    count.write_text(COUNT.replace("    __VERIFIER_assert(x != 3);\n", ""))
    target = tmp_path / "w.yml"
    streamcheck("prove", count, "--witness", target, "--engine", "ic3")
    (value,) = re.findall(r"value: \"(.*)\"", target.read_text())
    body = COUNT.replace("while (x < n)", f"while (({value}) || (abort(), 0), x < n)").replace("x != 3", "1")
    head = "#include <stdlib.h>\n#define __VERIFIER_assert(c) if (!(c)) abort()\n"
    source = tmp_path / "run.c"
    for n in (0, 1, 3, 10, 11, -1):
        source.write_text(head + f"int __VERIFIER_nondet_int(void) {{ return {n}; }}\n" + body)
        subprocess.run(["gcc", "-w", "-o", tmp_path / "run", source], check=True)
        assert subprocess.run([tmp_path / "run"]).returncode == 0, (n, value)


def test_the_automaton_is_drawn(count):
    small = streamcheck("show", count, "--as", "graph").stdout
    large = streamcheck("show", count, "--as", "graph", "--no-blocks").stdout
    assert small.startswith("digraph") and "doubleoctagon" in small
    assert large.count("->") > small.count("->") >= 4 and '"5: x < n"' in large


def test_predicates_of_the_user(count):
    done = streamcheck("prove", count, "--engine", "predicate-reach", "--predicate", "x <= n", "--prop", "*line 7")
    assert done.returncode == 0 and "predicate-reach" in done.stdout
    wrong = streamcheck("prove", count, "--predicate", "x <= m")
    assert wrong.returncode == 2 and "m is not declared" in wrong.stderr and "variables: x, n" in wrong.stderr


@pytest.mark.parametrize("engine", ["predicate-reach", "predicates"])
def test_the_predicates_of_the_user_alone_decide_or_a_path_stands(count, engine):
    alone = ["prove", count, "--engine", engine, "--set", f"{engine}.refine=off", "--prop", "*line 7"]
    decided = streamcheck(*alone, "--predicate", "x <= n")
    assert decided.returncode == 0 and engine in decided.stdout
    stands = streamcheck(*alone)
    assert stands.returncode == 3 and "the predicates do not exclude the path along lines " in stands.stdout


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["run", "count.c"], "count.c is a program; only `prove`, `explain` and `show` support programs"),
        (["compile", "count.c", "-o", "out"], "count.c is a program"),
        (["prove", "count.c", "--witness", "w.yml", "--engine", "polynomial"], "no verdict, so no witness"),
        (["prove", "spec.py", "--int", "math"], "--int is for programs"),
        (["prove", "count.c::f"], "has no function named f, it has main"),
    ],
    ids=str,
)
def test_what_is_not_possible_is_said(count, args, said):
    (count.parent / "spec.py").write_text("from streamcheck import *\nspec = Spec('s')\n")
    done = streamcheck(*args, cwd=count.parent)
    assert done.returncode == 2 and said in done.stderr, done


def test_the_examples():
    lock = json.loads(streamcheck("prove", SPECS / "lock.c", "--json").stdout)
    assert {p["verdict"] for p in lock["properties"]} == {"proved"}
    handler = json.loads(streamcheck("prove", SPECS / "handler.c", "--json").stdout)
    assert {p["verdict"] for p in handler["properties"]} == {"proved"}
    mean = streamcheck("prove", SPECS / "average.c").stdout
    assert "falsified  no overflow, line 5" in mean and re.search(r"at the beginning +a = -?\d+, b = -?\d+", mean)


def test_proofs_say_where_undefined_operations_end_them():
    text = streamcheck("prove", SPECS / "average.c").stdout
    assert "warning: C does not define what happens after a failure of no overflow, line 5" in text


def test_what_was_not_looked_at_is_said(count):
    asked = json.loads(streamcheck("prove", count, "--prop", "assert*", "--json").stdout)
    assert any("no overflow, line 6 (not checked)" in warning for warning in asked["warnings"])
    assert json.loads(streamcheck("prove", count, "--json").stdout)["warnings"] == []


def test_of_a_large_array_the_first_elements_are_shown(tmp_path):
    path = tmp_path / "a.c"
    path.write_text("int a[50];\nint main(void) { a[7] = nondet_int(); assert(a[7] != 5); }\n")
    shown = streamcheck("prove", path).stdout
    assert "a[0] = 0, a[1] = 0, a[2] = 0, … 47 more" in shown and "a[7] = 5" in shown


def test_what_nothing_depends_on_need_have_no_form_over_the_integers(tmp_path):
    """The blocks lack it, so they are proved over the integers; the program as it is written has it."""
    path = tmp_path / "dead.c"
    path.write_text(
        "int main(void) {\n"
        "    int n = 0, flags = nondet_int(), low = 3;\n"
        "    while (nondet_bool()) {\n"
        "        flags = flags | n;\n"
        "        if (n < (low | 4)) n++;\n"
        "        assert(n <= 7);\n"
        "        low = 3;\n"
        "    }\n"
        "}\n"
    )
    for more in ([], ["--no-blocks"], ["--engine", "templates"]):
        done = streamcheck("prove", path, "--json", "--timeout", "10", *more)
        found = json.loads(done.stdout)
        assert {p["verdict"] for p in found["properties"]} == {"proved"} and not found["warnings"], done


def test_a_longest_path_may_end_in_an_error_of_another_claim(tmp_path):
    path = tmp_path / "ends.c"
    path.write_text(
        "int main(void) {\n"
        "    int i = 0, y = nondet_int();\n"
        "    while (i < 2) {\n"
        "        i = i + 1;\n"
        "        assert(i != 5);\n"
        "    }\n"
        "    assert(y != 5);\n"
        "}\n"
    )
    for engine in ("dfs-bmc", "dfs-bmc-backward", "global-bmc", "global-bmc-backward"):
        done = streamcheck("prove", path, "--engine", engine, "--json", "--timeout", "10")
        found = [p["verdict"] for p in json.loads(done.stdout)["properties"]]
        assert found == ["proved", "proved", "falsified"], (engine, done)


NAMED = """\
int calls;
int f(int a) { int b = nondet_int(); calls++; return a + (b & 3); }
int main(void) {
    int y = f(1), n = 0;
    for (int y = 0; y < 5; y++)
        n = n + f(2), n -= f(2);
    for (n = 0; n < 9; n++)
        calls = n;
    int z = nondet_int();
    if (nondet_bool()) {
        int y = nondet_short();
        if (y < -3 && z == 77)
            assert(n != 9);
    }
}
"""


def test_witnesses_name_what_c_can_name(tmp_path):
    """Neither `f.b` of an inlined function, nor `y_2` of an inner block, nor a name that an inner one may hide."""
    path, out = tmp_path / "named.c", tmp_path / "out.yml"
    path.write_text(NAMED)
    streamcheck("prove", path, "--prop", "assert*", "--witness", out, "--timeout", "20")
    found = re.findall(r'value: "(.*)"\n +format: (\w+)', out.read_text())
    assert [value for value, format in found if format == "c_expression"] == ["z == 77"]
    results = {value for value, format in found if format == "acsl_expression"}
    assert results and all(re.fullmatch(r"\\\\result == -?\d+", value) for value in results)
    path.write_text(NAMED.replace("n != 9", "n == 9"))
    streamcheck("prove", path, "--prop", "assert*", "--witness", out, "--timeout", "20", "--engine", "ic3")
    said = set(re.findall(r"[a-z]\w*(?:\.\w+)?", " ".join(re.findall(r'value: "(.*)"', out.read_text()))))
    assert said - {"long"} <= {"calls", "n"}


def test_a_loop_that_leads_nowhere_is_not_followed(tmp_path):
    path = tmp_path / "aside.aut"
    path.write_text(
        "p {\n var x, y;\n initial s; final bad;\n from s | x := 0 --> l0;\n from l0 | x < 1 --> l1;\n"
        "         | y > 7 --> bad;\n from l1 | x := x + 1 --> l1;\n}\n"
    )
    done = streamcheck("prove", path, "--timeout", "10")
    assert done.returncode == 1 and "y > 7" in done.stdout, done


def test_what_depends_on_a_function_without_a_model_is_unknown(tmp_path):
    """Only that: what is proved before the call stays proved, a violation stays one, and a call that no run reaches
    leaves nothing open."""
    path = tmp_path / "sine.c"
    path.write_text(
        "double sin(double);\nint main(void) {\n double x = nondet_double();\n int n = 3;\n assert(n == 3);\n"
        " assert(x < 1e300);\n if (n == 4) frob();\n assert(n < 9);\n x = sin(x);\n assert(x <= 1.0);\n}\n"
    )
    done = streamcheck("prove", path, "--json", "--timeout", 20)
    rows = {row["name"]: row for row in json.loads(done.stdout)["properties"]}
    assert {name: row["verdict"] for name, row in rows.items()} == {
        "assert, line 5": "proved",
        "assert, line 6": "falsified",
        "no call of frob, line 7": "proved",
        "assert, line 8": "proved",
        "no call of sin, line 9": "unknown",
        "assert, line 10": "unknown",
    }
    why = "sin is a function of the standard library without an exact model"
    assert rows["assert, line 10"]["reason"] == f"not known after the call of sin, line 9: {why}"
    assert rows["no call of sin, line 9"]["reason"] == why and done.returncode == 1
    last = streamcheck("prove", path, "--json", "--prop", "assert, line 10", "--timeout", 20)
    assert {row["verdict"] for row in json.loads(last.stdout)["properties"]} <= {"unknown", "proved"}
    assert last.returncode == 3


def test_arrays_of_a_million_elements_are_decided_at_once(tmp_path):
    """The elements are no variables of their own, neither for engines nor for checker and replay."""
    path = tmp_path / "large.c"
    path.write_text(
        "int a[1000000];\nint main(void) {\n int i = nondet_int();\n if (i < 0 || i > 999999) return 0;\n"
        " a[i] = 1;\n assert(a[i] == 1);\n assert(a[7] != 0);\n}\n"
    )
    done = streamcheck("prove", path, "--json", "--timeout", 60)
    found = {row["name"]: row["verdict"] for row in json.loads(done.stdout)["properties"]}
    assert found.pop("assert, line 7") == "falsified"
    assert "assert, line 6" in found and set(found.values()) == {"proved"}


def test_the_time_limit_holds_while_a_program_is_read_and_encoded(tmp_path):
    """A file of 30,000 lines."""
    path = tmp_path / "large.c"
    began = time.monotonic()
    path.write_text("int x;\nint main(void) {\n" + " x = x * 3 + (x > 2);\n" * 30_000 + "}\n")
    done = streamcheck("prove", path, "--timeout", 1)
    assert done.returncode == 2 and "reading" in done.stderr and "timed out after 1 s" in done.stderr
    assert time.monotonic() - began < 40


def test_a_preprocessed_file_is_a_program(tmp_path):
    path = tmp_path / "a.i"
    path.write_text('# 1 "a.c"\n# 1 "/usr/include/assert.h" 1 3 4\nint x;\nint main(void) {\n assert(x == 0);\n}\n')
    done = streamcheck("prove", path)
    assert done.returncode == 0 and "proved     assert, line 5" in done.stdout


def test_a_violation_with_not_a_number_is_replayed(tmp_path):
    """Infinity minus infinity is no number, and equals nothing, not even the value that the replay has there."""
    path = tmp_path / "nan.c"
    path.write_text(
        "double __VERIFIER_nondet_double(void);\nextern void reach_error(void);\n"
        "int main(void) {\n  double a = __VERIFIER_nondet_double();\n"
        "  for (int i = 0; i < 3; i++) a = a - a;\n  if (!(a < 1)) reach_error();\n}\n"
    )
    done = streamcheck("prove", str(path), "--timeout", "20")
    assert done.returncode == 1 and "ALARM" not in done.stderr, done.stderr
