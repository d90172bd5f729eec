"""`explain` of C programs and automata: conditions at lines, the statements that an error depends on, what is known."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import streamcheck as sc
from streamcheck import *
from streamcheck.certify.check import Checker
from streamcheck.core.conjuncts import conjuncts
from streamcheck.core.simplify import conjunction
from streamcheck.problem.verdict import BlockCertificate, LocationInvariants
from streamcheck.run.smallest_proof import location_proof, smallest_location_proof

COMMAND = Path(sys.executable).parent / "streamcheck"
SUMS = """\
void reach_error(void);
extern int nondet_int(void);
int main(void) {
  int i = 0, s = 0, noise = 3;
  int n = nondet_int();
  if (n < 0 || n > 1000) return 0;
  while (i < n) {
    i++;
    s += 2;
    noise = noise * 5 % 17;
  }
  if (s != 2 * i) reach_error();
  if (s == 14) reach_error();
  return 0;
}
"""
ARRAY = """\
void reach_error(void);
extern int nondet_int(void);
int a[3];
int main(void) {
  int unused = nondet_int();
  for (int i = 0; i < 3; i++) a[i] = i + 4;
  int k = a[1];
  if (unused > 3) unused = 0;
  if (k == 5) reach_error();
  return 0;
}
"""
LONG = """\
void reach_error(void);
int main(void) { unsigned i = 0, j = 7;
  while (i < 1000000) { i++; j += 2; }
  if (j == 2000007) reach_error(); return 0; }
"""
AUTOMATON = """\
Count { var x, y; initial q; final bad;
  from q | x := 0 --> loop;
  from loop | x < 5 --> more; | x == LAST --> bad;
  from more | x := x + 1 --> loop;
}
"""


def explained(path, text, *options):
    path.write_text(text)
    done = subprocess.run([COMMAND, "explain", "--no-cache", path, *options], capture_output=True, text=True)
    assert done.stderr == "", done.stderr
    return done


def after(text, head):
    """The lines below the one that has this."""
    lines = text.splitlines()
    begin = next(i for i, line in enumerate(lines) if head in line)
    return [line.split(None) for line in lines[begin + 1 :]]


def test_a_proof_is_conditions_at_lines(tmp_path):
    done = explained(tmp_path / "sums.c", SUMS, "--prop", "reach_error, line 12", "--timeout", "30")
    assert done.returncode == 0 and "exclude the error:" in done.stdout
    text = done.stdout.partition("exclude the error:")[2].partition("warning")[0]
    assert "loop at line 7: " in text and {"i", "s"} == set(re.findall(r"\b[a-z]\b", text))  # not n, nor noise


def test_a_violation_is_the_statements_that_it_depends_on(tmp_path):
    done = explained(tmp_path / "sums.c", SUMS, "--prop", "reach_error, line 13", "--timeout", "30")
    assert done.returncode == 1
    rows = after(done.stdout, "how the program gets there")
    text = [" ".join(row) for row in rows]
    assert text[0] == "line 13 s == 14 s = 14" and not any("noise" in line for line in text)
    assert "line 9 s += 2 s = 14, before: 12, 10, 8, 6, 4, 2" in text
    assert "line 7 i < n i = 6, n = 7 (the last of 7 times)" in text
    assert "line 5 int n = nondet_int() n = 7" in text


def test_elements_of_arrays_are_followed_to_the_statement_that_wrote_them(tmp_path):
    done = explained(tmp_path / "array.c", ARRAY, "--prop", "reach_error*", "--timeout", "30")
    text = [" ".join(row) for row in after(done.stdout, "how the program gets there")]
    assert text[:2] == ["line 9 k == 5 k = 5", "line 8 !(unused > 3) unused = 0"]
    assert "line 7 int k = a[1] k = 5" in text and "line 6 a[i] = i + 4 a[1] = 5" in text


def test_rounds_that_were_not_followed_one_by_one(tmp_path):
    done = explained(tmp_path / "long.c", LONG, "--prop", "reach_error*", "--timeout", "30")
    text = [" ".join(row) for row in after(done.stdout, "how the program gets there")]
    assert "line 3 j += 2 j = 2000007 (the last of 1,000,000 times)" in text
    assert text[-1] == "line 2 unsigned i = 0 i = 0"


def test_an_open_property_has_what_is_known(tmp_path):
    path = tmp_path / "open.c"
    hard = {
        "if (s == 14)": "if (noise == 77777)",
        "int i = 0, s = 0, noise = 3;": "unsigned noise = 3; int i = 0, s = 0;",
        "noise * 5 % 17": "noise * noise + (unsigned)nondet_int() % 3",
    }
    text = SUMS
    for easy, wanted in hard.items():
        assert easy in text
        text = text.replace(easy, wanted)
    path.write_text(text)
    results = sc.load(path).prove(timeout=8, props=["reach_error*"])
    proved, unknown = results["reach_error, line 12"], results["reach_error, line 13"]
    assert proved.proved and unknown.verdict == "unknown"
    text = unknown.explain()
    assert "known from the proofs of other properties" in text and "to try: " in text
    for condition in re.sub(r"line \d+: ", "", proved.invariants[-1]).split(" && "):
        assert condition in text


def test_more_time_is_no_advice_where_it_does_not_help(tmp_path):
    text = "struct s { int x; };\nvoid fill(struct s *);\nint main(void) { struct s a; fill(&a); return 0; }\n"
    done = explained(tmp_path / "fill.c", text)
    assert done.returncode == 3 and "has no body" in done.stdout and "to try" not in done.stdout


def test_a_proof_is_made_small_and_stays_one(tmp_path):
    path = tmp_path / "sums.c"
    path.write_text(SUMS)
    program = sc.load(path)
    (result,) = program.prove(props=["reach_error, line 12"], engines=["ic3"])
    assert isinstance(result.certificate, LocationInvariants)
    more = conjunction(*(t for _, invariant in result.certificate.at for t in conjuncts(invariant)))
    larger = LocationInvariants(tuple((place, conjunction(t, more)) for place, t in result.certificate.at))
    smallest = smallest_location_proof(program.problem, result.name, result.certificate, 20.0)
    assert Checker(program.problem).check(result.name, smallest) is None
    assert sum(len(conjuncts(t)) for _, t in smallest.at) <= sum(len(conjuncts(t)) for _, t in larger.at)
    assert smallest_location_proof(program.problem, result.name, smallest, 20.0) == smallest


def test_a_proof_about_blocks_is_told_in_words():
    program = sc.load("specs/programs/handler.c")
    result = program.prove(engines=["k-induction"], timeout=30)[0]
    assert isinstance(result.certificate, BlockCertificate)
    assert {place for place, _ in location_proof(result.certificate).at} <= set(program.problem.locations)
    assert f"induction over {result.k} steps" in result.explain() or "no invariant is needed" in result.explain()


def test_automata_are_explained(tmp_path):
    proved = explained(tmp_path / "proved.aut", AUTOMATON.replace("LAST", "7"), "--timeout", "30")
    assert proved.returncode == 0 and len(proved.stdout.splitlines()) >= 3
    falsified = explained(tmp_path / "falsified.aut", AUTOMATON.replace("LAST", "2"), "--timeout", "30")
    assert falsified.returncode == 1 and "how the program gets there, from the end:" in falsified.stdout
    assert "x = 2" in falsified.stdout


def counter(last):
    return stream(Word8, lambda n: [0] + +mux(n == last, 0, n + 1))


def test_a_proof_by_all_states_is_told_in_words_and_has_an_invariant_too():
    n = counter(40)
    spec = Spec("counts")
    spec.prop("never", n != 77)
    text = spec.prove(engines=["completeness"])["never"].explain(seconds=10)
    assert "it holds at the first 41 steps, and no run has more than 41 different states" in text
    assert "it is an invariant by itself" not in text and "it has an invariant too:" in text
    assert 'spec.prop("never_invariant' in text


def test_a_proof_about_runs_that_end():
    n = counter(9)
    spec = Spec("ends")
    spec.assume("short", n < 5)
    spec.prop("never", n != 77)
    text = spec.prove(engines=["bmc"])["never"].explain()
    assert "it holds at the first 5 steps, and no run is longer" in text


@pytest.mark.parametrize("option", [["--int", "math"], ["--no-blocks"]])
def test_options_of_programs(tmp_path, option):
    done = explained(tmp_path / "sums.c", SUMS, "--prop", "reach_error, line 12", "--timeout", "30", *option)
    assert done.returncode == 0 and "loop at line 7: " in done.stdout
    assert ("mathematical integers" in done.stdout) == (option[0] == "--int")
