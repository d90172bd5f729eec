"""States from which open properties fail: sought while the engines work, so that each has one, or a reason in words."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from streamcheck import *
from streamcheck.lang.flatten import flatten
from streamcheck.run.explain import NO_STATE, NOT_FOUND, Explainer
from streamcheck.run.failing_states import FailingStates, _failures
from streamcheck.run.prove import Settings, prove
from streamcheck.run.undecided import FINISHED, WAITING, Undecided
from streamcheck.transform.induction import with_any_start

COMMAND = Path(sys.executable).parent / "streamcheck"
SPEC = """
from streamcheck import *
adc = extern("adc", Word16)
uv = stream(Word32, lambda n: [0] ++ mux(adc == unsafe_cast(Word16, n // 10 * 7919), n + 10, n))
@stream(Word32)
def shifted():
    a = shifted ^ (shifted << 13)
    b = a ^ (a >> 17)
    return [2463534242] ++ (b ^ (b << 5))
logistic = stream(Double, lambda v: [0.3] ++ (3.99 * v * (1.0 - v)))
congruent = stream(Word32, lambda v: [1] ++ (v * 1664525 + 1013904223))
go = extern("go", Bool)
timer = stream(Word8, lambda t: [0] ++ mux(go & (t < 100), t + 1, 0))
spec = Spec("open")
spec.prop("timer", timer <= 100)
spec.prop("tens", uv % 10 == 0)
spec.prop("xorshift", shifted != 12345)
spec.prop("chaos", logistic < 0.99751)
spec.prop("multiples", congruent != 77)
"""


@pytest.fixture
def spec(tmp_path):
    path = tmp_path / "open.py"
    path.write_text(SPEC)
    return path


def parts_of(text):
    """The lines below each property."""
    found, lines = {}, []
    for line in text.splitlines():
        if re.match(r"  \w", line):
            found[line.split()[1]] = lines = []
        lines.append(line)
    return found


@pytest.mark.parametrize("seconds", [4, 8])
def test_every_open_property_has_its_failing_state_or_a_reason(spec, seconds):
    done = subprocess.run([COMMAND, "prove", spec, "--no-cache", "--timeout", str(seconds)], capture_output=True)
    parts = parts_of(done.stdout.decode())
    assert done.returncode == 3 and len(parts) == 5 and parts.pop("timer")[0].startswith("  proved")
    for name, lines in parts.items():
        assert f"timed out after {seconds} s; true up to step " in lines[0]
        failing = [line for line in lines if line.startswith("    not inductive: after 1 step from a state")]
        assert bool(failing) == (name != "chaos"), lines
        searched = [line for line in lines if line.startswith(f"    {NOT_FOUND.partition('{')[0]}")]
        assert failing or (searched and float(re.search(r"in (\S+) s:", searched[0])[1]) > 1.0), lines
    rows = {line.split()[0]: line.split()[1:] for line in parts["tens"] if line.startswith("      ")}
    assert (int(rows["uv"][0]) + 10) % 2**32 == int(rows["uv"][1].strip("*")) and rows["tens"] == ["true", "false*"]
    assert any("wraps around at step 0: uv + 10" in line for line in parts["tens"])
    assert any("such as a bound on uv; more time" in line for line in parts["tens"])


def test_the_failing_state_is_told_after_an_interruption(spec):
    command = [COMMAND, "prove", spec, "--no-cache", "--timeout", "14", "--prop", "tens", "--json"]
    prove = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(11)
    began = time.monotonic()
    prove.send_signal(signal.SIGINT)
    out, err = prove.communicate(timeout=20)
    assert time.monotonic() - began < 1.0 and prove.returncode == 130 and "Traceback" not in err
    (row,) = json.loads(out)["properties"]
    assert [step["streams"]["tens"] for step in row["not_inductive"]["steps"]] == [True, False]


def test_a_property_that_every_step_keeps_has_no_failing_state():
    n = stream(Word8, lambda n: [0] + +mux(n < 9, n + 1, 0))
    spec = Spec("steady")
    spec.prop("low", n < 10)
    spec.prop("odd", n != 7)
    flat = flatten(spec)
    found = dict(_failures({name: with_any_start(flat, [name], 1, []) for name in ("low", "odd")}))
    assert found["low"] is None and found["odd"].length == 2
    beside = FailingStates(flat, 1.0, {"odd": found["odd"]}, {"low"})
    unknown = [r for r in prove(flat, Settings(timeout=0.0)).results if not r.prop.is_implied]
    low, odd = Explainer(flat, Settings(timeout=0.0), 0.0, [], beside=beside).explain(unknown)
    assert low.explanation.missing == NO_STATE and low.explanation.fails is None
    assert odd.explanation.missing == "" and len(odd.explanation.fails.steps) == 2


def test_the_reason_is_of_the_engine_nearest_to_an_answer():
    undecided = Undecided()
    undecided.add_reason(["p"], "delays", FINISHED)
    undecided.add_reason(["p"], "templates", WAITING)
    undecided.add_reason(["p"], "ic3", "a query took too long")
    unknown = undecided.verdict("p", ["bmc"], "")
    assert list(unknown.reasons) == ["ic3", "templates", "delays"] and unknown.reason == "ic3: a query took too long"
