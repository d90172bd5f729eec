"""`explain` of C programs and automata: conditions at lines, the statements that an error depends on, what is known."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import streamcheck as sc
from streamcheck import *
from streamcheck.certify.check import Checker
from streamcheck.core.conjuncts import conjuncts
from streamcheck.core.simplify import conjunction, negation
from streamcheck.core.term import constant, term, variable
from streamcheck.problem.verdict import BlockCertificate, LocationInvariants
from streamcheck.report.c_text import conditions
from streamcheck.run.small_conditions import small_conditions, without_implied
from streamcheck.run.smallest_proof import location_proof, smallest_block_proof, smallest_location_proof
from streamcheck.smt.bit_solver import BitSolver, is_expressible

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


DOUBLE = """\
void reach_error(void);
int main(void) {
  int s = 0, i = 0;
  while (i < 10) { i++; s += 2; }
  if (s != 20) reach_error();
  return 0;
}
"""
EVEN = """\
void reach_error(void);
extern int nondet_int(void);
int main(void) {
  int s = 0;
  while (nondet_int()) {
    if (s < 20) s += 2;
    if (s == 20 && nondet_int()) s = 0;
  }
  if (s > 20) reach_error();
  return 0;
}
"""


def test_a_loop_that_was_followed_to_its_end_has_an_invariant_too(tmp_path):
    path = tmp_path / "double.c"
    path.write_text(DOUBLE)
    (result,) = sc.load(path).prove(engines=["completeness"], props=["reach_error*"])
    text = result.explain(seconds=20)
    assert result.proved and result.kind == "complete" and "every run was followed for" in text
    shown = [line.strip() for line in text.partition("it has an invariant too:")[2].splitlines()[2:]]
    assert shown in (["loop at line 4: 2 * i == s", bound] for bound in ("s <= 20", "i <= 10"))


def test_an_invariant_that_is_not_found_in_time_is_told(tmp_path):
    path = tmp_path / "double.c"
    path.write_text(DOUBLE)
    (result,) = sc.load(path).prove(engines=["completeness"], props=["reach_error*"])
    text = result.explain(seconds=0.01)
    assert "an invariant was looked for, and none was found in 0.01 s" in text and "invariant too" not in text
    n = counter(40)
    spec = Spec("counts")
    spec.prop("never", n != 77)
    text = spec.prove(engines=["completeness"])["never"].explain(seconds=0.01)
    assert "an invariant was looked for, and none was found in 0.01 s" in text


def test_invariants_of_a_program_say_nothing_twice(tmp_path):
    """Each place has no condition that the others imply, as a solver of another family judges, and none that is 1."""
    for name, text in {"double.c": DOUBLE, "even.c": EVEN}.items():
        path = tmp_path / name
        path.write_text(text)
        (result,) = sc.load(path).prove(engines=["templates"], props=["reach_error*"])
        assert result.proved and result.invariants and not any(row.endswith(": 1") for row in result.invariants)
        for invariant in small_conditions(dict(result.certificate.at)).values():
            parts = conjuncts(invariant)
            for part in parts:
                solver = BitSolver()
                others = [t for t in parts if t is not part]
                if is_expressible([*others, part]):
                    assert solver.check(*others, negation(part)) is True
    (invariant,) = result.invariants  # there may be more in it, if there was no time to make it small
    assert invariant.startswith("line 5: s <= 20 && s % 2 == 0")


def test_a_proof_with_many_conditions_is_replaced_by_a_short_one(tmp_path):
    path = tmp_path / "even.c"
    path.write_text(EVEN)
    (result,) = sc.load(path).prove(engines=["ic3"], props=["reach_error*"], timeout=20)
    text = result.explain(seconds=20)
    assert result.proved and re.search(r"its invariant has \d+ conditions, and another one has fewer:", text)
    assert [line.strip() for line in text.splitlines()[-2:]] == ["loop at line 5: s <= 20", "s % 2 == 0"]


def test_a_proof_about_blocks_is_made_small():
    program = sc.load("specs/programs/handler.c")
    result = program.prove(engines=["k-induction"], timeout=30)[0]
    proof = result.certificate
    v = next(v for v in proof.blocks.variables if v.type.is_number)
    bound = constant(v.type, 5)
    needless = term("or", term("lt", v, bound), term("ge", v, bound))
    larger = replace(
        proof, certificate=replace(proof.certificate, invariants=(*proof.certificate.invariants, needless))
    )
    assert Checker(program.problem).check(result.name, larger) is None
    smallest = smallest_block_proof(program.problem, result.name, larger, 20.0)
    assert Checker(program.problem).check(result.name, smallest) is None
    assert needless not in smallest.certificate.invariants
    assert not any(needless in conjuncts(t) for _, t in location_proof(larger).at)


RING = """\
#include <assert.h>
extern int nondet_int(void);
int buf[8], head = 0, count = 0;
int main(void) {
  while (nondet_int()) {
    if (nondet_int() && count < 8) { buf[(head + count) % 8] = 1; count++; }
    else if (count > 0) { head = (head + 1) % 8; count--; }
    assert(count >= 0 && count <= 8);
  }
  return 0;
}
"""


def test_an_induction_over_several_steps_has_an_invariant_too_if_one_is_found_at_once(tmp_path):
    path = tmp_path / "ring.c"
    path.write_text(RING)
    (result,) = sc.load(path).prove(engines=["k-induction"], props=["assert*"], timeout=20)
    assert result.proved and result.k > 1
    text = result.explain(seconds=10)
    assert "no run gets to the error in 2 steps, and after 2 steps that keep away from it, so does the next" in text
    shown = [line.strip() for line in text.partition("it has an invariant too:")[2].splitlines()[2:]]
    assert sorted(line.removeprefix("loop at line 5: ") for line in shown) == ["count <= 8", "count >= 0"]


def test_conditions_that_others_imply_go():
    x, y = variable("x", Word8.core), variable("y", Word8.core)
    ten, twenty = constant(x.type, 10), constant(x.type, 20)
    least, loose, same = term("le", x, ten), term("le", x, twenty), term("lt", x, constant(x.type, 11))
    other, always = term("eq", y, x), term("ge", y, constant(y.type, 0))
    assert without_implied([loose, least, other, always]) == [least, other]
    assert len(without_implied([least, same])) == 1
    assert without_implied([]) == [] and without_implied([always]) == []
    assert small_conditions({"a": conjunction(least, loose), "b": always}) == {"a": least}


@pytest.mark.parametrize(
    ("text", "make"),
    [
        ("x % 3 == 0", lambda x, y: term("eq", term("mod", x, number(3)), number(0))),
        ("((x % 3 + 3) % 3) == 1", lambda x, y: term("eq", term("mod", x, number(3)), number(1))),
        ("x - y + 2 * x <= -1", lambda x, y: term("le", minus_and_plus(x, y), number(-1))),
        ("x == y", lambda x, y: term("eq", term("sub", x, y), number(0))),
        ("x - y >= 0", lambda x, y: term("ge", term("sub", x, y), number(0))),  # it may wrap around
        ("x >= y", lambda x, y: term("ge", term("sub", whole(x), whole(y)), constant(Int.core, 0))),
        ("x - (y - x) >= 0", lambda x, y: term("ge", term("sub", x, term("sub", y, x)), number(0))),
        ("(x & y) == 0", lambda x, y: term("eq", term("bitand", x, y), number(0))),
        ("(x != 3) || (y == 3)", lambda x, y: term("or", negated("eq", x), negated("ne", y))),
        ("x * (-2) == y", lambda x, y: term("eq", term("mul", x, number(-2)), y)),
    ],
)
def test_conditions_in_c_have_few_parentheses(text, make):
    x, y = variable("x", Int32.core), variable("y", Int32.core)
    assert list(conditions(make(x, y))) == [text]


def whole(x):
    return term("cast", x, payload=Int.core)


def number(value):
    return constant(Int32.core, value)


def negated(op, x):
    return term("not", term(op, x, number(3)))


def minus_and_plus(x, y):
    return term("add", term("sub", x, y), term("mul", number(2), x))


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
