"""`--bound K`: runs of at most K steps, a third answer beside proved and falsified."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from streamcheck import Bool, Int, Spec, Word8, extern, mux, stream
from streamcheck.certify.check import Checker
from streamcheck.cli import check as cli_check
from streamcheck.cli import prove as cli_prove
from streamcheck.core.errors import SpecError
from streamcheck.problem.verdict import Certificate

COUNTER = """
from streamcheck import *
up = extern("up", Bool)
n = stream(Word8, lambda n: [0] ++ mux(up, n + 1, n))
spec = Spec("counter")
spec.prop("small", n < 20)
spec.exists("thirty", n == 30)
"""


def command(module, *arguments):
    return CliRunner().invoke(module.command, [*map(str, arguments)], standalone_mode=False)


def counter(kind=Word8):
    up = extern("up", Bool)
    n = stream(kind, lambda n: [0] + +mux(up, n + 1, n))
    spec = Spec("counter")
    spec.prop("small", n < 20)
    spec.prop("grows", n >= 0)
    spec.exists("thirty", n == 30)
    return spec


@pytest.mark.parametrize("kind", [Word8, Int])
@pytest.mark.parametrize(
    ("steps", "small", "thirty"), [(1, True, False), (20, True, False), (21, False, False), (31, False, True)]
)
def test_runs_of_so_many_steps(kind, steps, small, thirty):
    """Step 20 is the first at which the counter is 20, and a run of 21 steps is the first that has it."""
    verdicts = counter(kind).prove(bound=steps, timeout=30)
    by_name = {r.name: r.verdict for r in verdicts.results}
    assert by_name["small"] == ("bounded" if small else "falsified")
    assert by_name["grows"] == "bounded"
    assert by_name["thirty"] == ("proved" if thirty else "bounded")
    assert verdicts.status == (5 if small else 1) and verdicts.warnings == []


def test_the_command_and_its_certificates(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "counter.py").write_text(COUNTER)
    # Of k-induction: a false count of all states, which `completeness` gives, is undecided and not refuted.
    told = command(cli_prove, "counter.py", "--bound", 20, "--certificates", "saved", "--engine", "k-induction")
    assert told.return_value == 5 and "no run of at most 20 steps breaks it" in told.stdout
    assert "no run of at most 20 steps reaches it" in told.stdout
    checked = command(cli_check, *(tmp_path / "saved").iterdir())
    assert checked.return_value == 0 and checked.stdout.count("in runs of at most 20 steps: holds") == 2
    for bound, status in ((19, 0), (21, 4), (None, 4)):  # fewer steps are fewer runs; more were not asked about
        data = json.loads((tmp_path / "saved" / "counter.counter.small.json").read_text()) | {"bound": bound}
        (tmp_path / "saved" / "other.json").write_text(json.dumps(data))
        assert command(cli_check, "saved/other.json").return_value == status
    row = json.loads(command(cli_prove, "counter.py", "--bound", 20, "--json").stdout)
    assert row["bound"] == 20 and {p["verdict"] for p in row["properties"]} == {"bounded"}


def test_short_bounds_make_no_proof_vacuous():
    x = extern("x", Word8)
    spec = Spec("assuming")
    spec.assume("low", x < 5)
    spec.prop("ok", x < 6)
    verdicts = spec.prove(bound=3)
    assert (verdicts.status, verdicts.warnings) == (5, [])


def test_programs_have_no_steps(tmp_path):
    (tmp_path / "p.aut").write_text("A { var x; initial q; final b; from q | x < 1 --> b; }")
    told = command(cli_prove, tmp_path / "p.aut", "--bound", 3)
    assert isinstance(told.exception, SpecError) and "counts the steps of a spec" in str(told.exception)


def test_a_run_that_goes_on_refutes_that_all_end():
    """The checker follows the runs: with a limit at 5, none has a sixth state, but there is one with five."""
    n = stream(Word8, lambda n: [0] + +(n + 1))
    spec = Spec("ends")
    spec.assume("short", n < 5)
    spec.prop("low", n < 7)
    specification = spec.prove(timeout=20).problem
    claim = specification.properties[0]
    checker = Checker(specification)
    assert checker.check("low", Certificate("ended", 5, (claim.term,))) is None
    assert checker.check("low", Certificate("ended", 4, (claim.term,))) is not None
