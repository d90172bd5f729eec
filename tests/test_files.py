"""Files are written whole or not at all."""

from __future__ import annotations

import errno
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from streamcheck.core import files
from streamcheck.core.files import write_whole
from streamcheck.run.stop import Stopped

SPEC = """
from streamcheck import *
n = stream(Word8, lambda n: [0] ++ (n + 1))
spec = Spec("s")
spec.prop("small", n < 9)
spec.trigger("t", n == 3, [n])
"""


@pytest.mark.parametrize("stop", [OSError(errno.ENOSPC, "no space"), Stopped("interrupted", 130)])
def test_none_is_written_if_one_cannot_be(tmp_path, monkeypatch, stop):
    def fail(path, text):
        real(path, text[:3])
        if "second" in path:
            raise stop

    real = files._write
    (tmp_path / "first").write_text("before")
    monkeypatch.setattr(files, "_write", fail)
    with pytest.raises(type(stop)):
        write_whole({str(tmp_path / name): "the whole text" for name in ("first", "second", "third")})
    assert {p.name: p.read_text() for p in tmp_path.iterdir()} == {"first": "before"}


def test_links_and_devices_stay(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "file")
    write_whole({str(tmp_path / "link"): "text", os.devnull: "text"})
    assert (tmp_path / "link").is_symlink() and (tmp_path / "file").read_text() == "text"
    assert not Path(os.devnull).is_file()


@pytest.mark.parametrize("options", [("prove", "--certificates", "out"), ("prove", "--trace", "json", "out")])
def test_a_full_disk_leaves_no_file(tmp_path, options):
    (tmp_path / "s.py").write_text(SPEC)
    name, *more = options
    done = subprocess.run(
        [sys.executable, "-m", "streamcheck", name, "s.py", *more],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (60, 60)),
    )
    assert done.returncode == 2 and "out: File too large" in done.stderr and "Traceback" not in done.stderr
    assert [*(tmp_path / "out").iterdir()] == []


def test_no_verdict_leaves_no_witness(tmp_path):
    (tmp_path / "p.c").write_text("int main(void) { return 0; }")
    (tmp_path / "w.yml").write_text("before")
    command = [sys.executable, "-m", "streamcheck", "prove", "p.c", "--witness", "w.yml"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2 and (tmp_path / "w.yml").read_text() == "before"
