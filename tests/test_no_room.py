"""No room in memory or on the disk, and records that are none: the command says so, and ends as it should."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from test_files import SPEC

from streamcheck import *
from streamcheck.lang.flatten import flatten
from streamcheck.run.child import Channel, Child, Ended
from streamcheck.run.prove import Settings, prove

COMMAND = [sys.executable, "-m", "streamcheck"]
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="needs /dev/full")


@LINUX
@pytest.mark.parametrize("command", ["prove s.py", "prove s.py --json", "show s.py", "run s.py --steps 9999", "--help"])
def test_a_full_disk_is_named(tmp_path, command):
    (tmp_path / "s.py").write_text(SPEC)
    with open("/dev/full", "w") as full:
        words = [*COMMAND, *command.split()]
        done = subprocess.run(words, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2 and done.stderr.endswith("error: standard output: No space left on device\n")
    assert "Traceback" not in done.stderr


def test_no_memory_is_named():
    code = "import streamcheck.cli as c\ndef fail(**_): raise MemoryError\nc.cli.main = fail\nc.main(0.0)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, "error: out of memory\n")


def limited(code):
    """Run it in a process whose data may have 1 GB."""
    begin = "import resource; resource.setrlimit(resource.RLIMIT_DATA, (1 << 30, 1 << 30))\n"
    done = subprocess.run([sys.executable, "-c", begin + code], capture_output=True, text=True)
    return done.returncode, done.stderr


@LINUX
@pytest.mark.parametrize(
    ("error", "is_named"),
    [
        ("SystemError('error return without exception set')", True),
        ("SystemError('<function f> returned NULL without setting an exception')", True),  # 2026-11-20, killed 902651
        ("SystemError('bad argument to internal function')", False),
        ("__import__('z3').Z3Exception('libz3.so.4 not found.')", True),
        ("__import__('z3').Z3Exception('sorts differ')", False),
    ],
)
def test_an_error_that_hides_a_lack_of_memory_is_named(error, is_named):
    code = f"import streamcheck.cli as c\ndef fail(**_): raise {error}\nc.cli.main = fail\nc.main(0.0)"
    status, shown = limited(code)
    assert (status, shown) == (2, "error: out of memory\n") if is_named else status == 4 and "internal error" in shown


@LINUX
@pytest.mark.parametrize("error", ["MemoryError", "SystemError('error return without exception set')"])
def test_no_memory_for_the_words_is_named(error):
    code = "import streamcheck.cli as c\nimport streamcheck.__main__ as m\n"
    code += f"def fail(_): raise {error}\nc.main = fail\nm.main()"
    assert limited(code) == (2, "error: out of memory\n")


def test_a_process_without_memory_says_so_when_it_ends(capfd):
    def work(channel):
        raise MemoryError

    child = Child(work)
    with pytest.raises(Ended):
        child.channel.receive(20)
    assert child.end(silent=True) == "out of memory" and capfd.readouterr().err == ""


@pytest.mark.parametrize("record", [{"value": None}, [], {"engine": "bmc", "proved": {}, "prop": "p"}, {"accepted": 0}])
def test_a_record_that_is_none_ends_its_process(monkeypatch, record):
    """Of the workers and the checker alike."""
    here, send = os.getpid(), Channel.send
    monkeypatch.setattr(Channel, "send", lambda self, value: send(self, value if os.getpid() == here else record))
    n = stream(Word8, lambda n: [0] + +mux(n < 9, n + 1, n))
    spec = Spec("s")
    spec.prop("p", n < 10)
    done = prove(flatten(spec), Settings(timeout=2.0, jobs=1))
    assert [r.verdict for r in done.results] == ["unknown"] and "died" in str(done.warnings), done
