"""Witnesses that the command writes, judged by the validator, which shares no code with the writer."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = str(Path(sys.executable).parent / "streamcheck")
VALIDATOR = str(Path(__file__).parent.parent / "tools" / "witness_validator.py")
pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
HEAD = """extern void abort(void);
extern int __VERIFIER_nondet_int(void); extern unsigned char __VERIFIER_nondet_uchar(void);
void reach_error(void) { }
void __VERIFIER_assert(int cond) {
  if (!cond) {
    reach_error(); abort();
  }
}
static int read(int most) { int v = __VERIFIER_nondet_int(); if (v < 0 || v > most) abort(); return v; }
"""
FALSE = {
    "one input": "int main(void) { int n = __VERIFIER_nondet_int();\n int x = 0;\n if (n < 0 || n > 9) return 0;\n"
    " while (x < n) x++;\n __VERIFIER_assert(x != 3);\n}",
    "an inner block, and a call for each round": "int main(void) { unsigned s = 0;\n for (int i = 0; i < 3; i++) {\n"
    "  unsigned char v = __VERIFIER_nondet_uchar();\n  s = s * 10 + v;\n  if (v > 9) return 0;\n }\n"
    " __VERIFIER_assert(s != 427);\n}",
    "an inlined function": "int main(void) {\n int a = read(50);\n int b = read(50);\n"
    " __VERIFIER_assert(a * b != 989);\n}",
    "a union": "union u { float f; unsigned i; };\nint main(void) {\n union u x;\n int n = __VERIFIER_nondet_int();\n"
    " x.f = n;\n n = x.i >> 16;\n __VERIFIER_assert(n != 0x4100 || x.i % 65536);\n}",
    "a union, and 128 bits": "int main(void) {\n union { unsigned char c[4]; unsigned i; } x;\n"
    " unsigned __int128 w = 1;\n x.i = 7; x.c[0] = __VERIFIER_nondet_uchar();\n"
    " w = (w << 100) + __VERIFIER_nondet_uchar();\n while (x.c[1] < 2) x.c[1]++;\n"
    " __VERIFIER_assert(x.i != 512 || w % 256 != 0);\n}",
    "no input": "int main(void) {\n int k = 0;\n do k += 3; while (k < 20);\n __VERIFIER_assert(k == 20);\n}",
}
TRUE = HEAD + (
    "int main(void) {\n int n = __VERIFIER_nondet_int(), x = 0;\n if (n < 0 || n > 9) return 0;\n"
    " for (; x < n; x++)\n  ;\n __VERIFIER_assert(x == n);\n}"
)


def validate(program, witness, *options):
    command = [sys.executable, VALIDATOR, str(program), str(witness), "--seconds", "60", *options]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stderr == ""
    return done.returncode, done.stdout.strip()


def witnessed(folder, text, *options):
    program, witness = folder / "p.c", folder / "w.yml"
    program.write_text(text)
    subprocess.run([COMMAND, "prove", program, "--prop", "assert*", "--witness", witness, *options], cwd=folder)
    return program, witness


@pytest.mark.parametrize("body", FALSE.values(), ids=FALSE)
def test_violations_are_executed_along_the_witness(tmp_path, body):
    program, witness = witnessed(tmp_path, HEAD + body)
    assert re.search(r"type: target\n.*\n.*\n.*\n +line: 6\n", witness.read_text())  # of the call of reach_error
    status, said = validate(program, witness)
    assert (status, said.split(":")[0]) == (0, "confirmed")
    if "== 23" in witness.read_text():  # the factors of 989 are 23 and 43
        witness.write_text(witness.read_text().replace("== 23", "== 22"))
        assert validate(program, witness)[0] == 3


def test_the_values_of_the_witness_matter(tmp_path):
    program, witness = witnessed(tmp_path, HEAD + FALSE["an inner block, and a call for each round"])
    values = [int(v) for v in re.findall(r"result == (\d+)", witness.read_text())]
    assert values == [4, 2, 7]
    witness.write_text(witness.read_text().replace("result == 7", "result == 8"))
    assert validate(program, witness)[0] == 3


def test_invariants_are_tested_and_proved(tmp_path):
    program, witness = witnessed(tmp_path, TRUE, "--engine", "ic3")
    assert validate(program, witness, "--runs", "9")[1].startswith("not refuted: 1 invariants")
    prover = f"{COMMAND} prove --json --no-cache --prop assert*"
    assert validate(program, witness, "--runs", "3", "--prover", prover)[1].startswith("confirmed")
    witness.write_text(re.sub(r'value: ".*"', 'value: "x < n"', witness.read_text()))
    assert validate(program, witness)[0] == 4


def test_a_proof_without_invariants_is_a_witness_too(tmp_path):
    program, witness = witnessed(tmp_path, HEAD + "int main(void) {\n int n = read(3);\n __VERIFIER_assert(n <= 3);\n}")
    assert validate(program, witness, "--runs", "5") == (0, "not refuted: 0 invariants were true in 5 runs")


@pytest.mark.parametrize(("line", "status"), [(11, 3), (12, 0)])
def test_the_error_must_be_at_the_target(tmp_path, line, status):
    program, witness = tmp_path / "p.c", tmp_path / "w.yml"
    program.write_text(HEAD + "int main(void) {\n __VERIFIER_assert(1);\n if (1) __VERIFIER_assert(0);\n}")
    text = WITNESS.format(digest=hashlib.sha256(program.read_bytes()).hexdigest())
    witness.write_text(text.replace("line: 6", f"line: {line}"))
    assert validate(program, witness)[0] == status


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('format_version: "2.0"', 'format_version: "1.0"', "another version"),
        ("uuid: ", "uuid: x", "not of the format"),
        ('"p.c": ', '"p.c": 0', "the program is not the one of the witness"),
        ("type: target", "type: avoid", "waypoints of type avoid"),
        ("line: 6", "line: 600", "there is no line 600"),
        ("line: 6", "line: 11", "no error function is called at line 11"),
        ("  content:", "  contents:", "not of the format"),
    ],
)
def test_what_is_no_witness_is_not_read(tmp_path, old, new, said):
    program, witness = tmp_path / "p.c", tmp_path / "w.yml"
    program.write_text(HEAD + FALSE["no input"])
    witness.write_text(WITNESS.format(digest=hashlib.sha256(program.read_bytes()).hexdigest()))
    if old == "uuid: ":
        assert validate(program, witness)[0] == 0
    witness.write_text(witness.read_text().replace(old, new))
    status, answer = validate(program, witness)
    assert status == 2 and said in answer


WITNESS = """- entry_type: violation_sequence
  metadata:
    format_version: "2.0"
    uuid: 91023a0f-9f45-4385-88c4-1152ade45537
    creation_time: 2026-05-05T15:18:43+02:00
    producer: {{ name: someone, version: "1" }}
    task:
      input_files: ["p.c"]
      input_file_hashes: {{ "p.c": {digest} }}
      specification: "CHECK( init(main()), LTL(G ! call(reach_error())) )"
      data_model: LP64
      language: C
  content:
  - segment:
    - waypoint:
        type: target
        action: follow
        location: {{ file_name: "p.c", line: 6 }}
"""
