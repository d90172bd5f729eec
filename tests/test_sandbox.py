"""`--sandbox`: what a hostile spec tries is refused, and what an honest one needs works."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import streamcheck
from streamcheck.core.errors import SpecError
from streamcheck.run import confine
from streamcheck.run.sandbox import Sandbox
from streamcheck.run.source import Target, read

COMMAND = Path(sys.executable).parent / "streamcheck"
HONEST = """from streamcheck import *
x = extern("x", Word8, samples=[1, 2, 3])
spec = Spec("s")
spec.prop("p", x >= 0)
spec.trigger("t", x > 2, {"x": x})
"""
try:
    confine.require_confinement()
    MISSING = ""
except SpecError as why:
    MISSING = str(why)
needs_kernel = pytest.mark.skipif(bool(MISSING), reason=MISSING or "there")


def command(folder, name, *arguments, **environment):
    return subprocess.run(
        [COMMAND, name, *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=120,
        check=False,
        env={**os.environ, **environment},
    )


MMAP = "import ctypes; mmap = ctypes.CDLL(None).mmap; mmap.restype = ctypes.c_void_p; mmap.argtypes = "
MMAP += "[ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]; "
HOSTILE = {
    "socket": ("import socket; socket.socket()", "PermissionError"),
    "udp": ("import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM)", "PermissionError"),
    "unix socket": ("import socket; socket.socket(socket.AF_UNIX)", "PermissionError"),
    "name lookup": ("import socket; socket.create_connection(('localhost', 80))", "error"),
    "write beside the spec": ("open('evil', 'w')", "PermissionError"),
    "append to the spec": ("open(__file__, 'a')", "PermissionError"),
    "write in /tmp": ("open('/tmp/streamcheck-evil', 'w')", "PermissionError"),
    "remove": ("import os; os.unlink(__file__)", "PermissionError"),
    "rename": ("import os; os.rename(__file__, __file__ + '2')", "PermissionError"),
    "folder": ("import os; os.mkdir('evil')", "PermissionError"),
    "link": ("import os; os.symlink('/etc', 'evil')", "PermissionError"),
    "mode": ("import os; os.chmod(__file__, 0o777)", "PermissionError"),
    "times": ("import os; os.utime(__file__)", "PermissionError"),
    "secret": ("open('.secret').read()", "PermissionError"),
    "home": ("open(home + '/.ssh/id_rsa').read()", "PermissionError"),
    "list of home": ("import os; os.listdir(home)", "PermissionError"),
    "memory of the command": ("import os; open(f'/proc/{os.getppid()}/mem', 'rb')", "PermissionError"),
    "environment of the command": ("import os; open(f'/proc/{os.getppid()}/environ', 'rb')", "PermissionError"),
    "terminal": ("open('/dev/tty', 'w')", "PermissionError"),
    "fork": ("import os; os.fork()", "PermissionError"),
    "program": ("import subprocess; subprocess.run(['true'])", "PermissionError"),
    "shell": ("import os; assert os.system('true') == 0", "AssertionError"),
    "replace itself": ("import os; os.execv('/bin/true', ['true'])", "PermissionError"),
    "processes": ("import multiprocessing as m; m.Process(target=print).start()", "PermissionError"),
    "kill": ("import os; os.kill(os.getppid(), 9)", "PermissionError"),
    "kill all": ("import os; os.kill(-1, 9)", "PermissionError"),
    "more memory": ("import resource as r; r.setrlimit(r.RLIMIT_DATA, (-1, -1))", "ValueError"),
    "out of the namespace": (
        "import ctypes, os; assert ctypes.CDLL(None).unshare(0x10000000) == 0",
        "AssertionError",
    ),
    "socket pair": ("import socket; socket.socketpair()", "PermissionError"),
    "memory that is shared": ("import mmap; mmap.mmap(-1, 4 << 30)", "PermissionError"),
    "memory like a stack": (f"{MMAP}assert mmap(None, 8 << 30, 3, 0x122, -1, 0) is None, 'refused'", "refused"),
    "memory in a file": ("import os; os.memfd_create('m')", "PermissionError"),
    "a signal": ("import fcntl, os; fcntl.fcntl(os.pipe()[0], fcntl.F_SETOWN, os.getppid())", "PermissionError"),
    "which signal": ("import fcntl, os; fcntl.fcntl(os.pipe()[0], 10, 9)", "PermissionError"),
    "shared memory of others": ("import ctypes; assert ctypes.CDLL(None).shmctl(0, 13, None) >= 0", "AssertionError"),
    "queues of others": ("import ctypes; assert ctypes.CDLL(None).mq_unlink(b'/q') >= 0", "AssertionError"),
    "scheduling of the command": (
        "import os; os.sched_setscheduler(os.getppid(), os.SCHED_IDLE, os.sched_param(0))",
        "PermissionError",
    ),
    "emptied": ("import os; os.open(__file__, os.O_RDONLY | os.O_TRUNC)", "Operation not permitted"),
    "flags of a file": ("import fcntl; fcntl.ioctl(open(__file__), 0x40086602, bytes(8))", "PermissionError"),
    "attributes of a file": ("import os; os.listxattr('/etc')", "PermissionError"),
    "watch of a folder": ("import ctypes; assert ctypes.CDLL(None).inotify_init1(0) >= 0", "AssertionError"),
    "a system call": ("import ctypes; assert ctypes.CDLL(None).syscall(41, 2, 1, 0) >= 0", "AssertionError"),
}


@needs_kernel
@pytest.mark.parametrize("what", HOSTILE)
def test_what_a_hostile_spec_tries_is_refused(what, tmp_path):
    code, refusal = HOSTILE[what]
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh" / "id_rsa").write_text("secret")
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / ".secret").write_text("secret")
    spec = folder / "s.py"
    spec.write_text(f"home = {str(home)!r}\n{code}\n{HONEST}")
    done = command(folder, "prove", "s.py", "--sandbox")
    assert done.returncode == 2 and refusal.lower() in done.stderr.lower(), done.stderr
    assert {p.name for p in folder.iterdir()} <= {"s.py", ".secret", ".streamcheck"}
    assert spec.read_text().endswith(HONEST)
    assert "Traceback" not in done.stdout and not Path("/tmp/streamcheck-evil").exists()


@needs_kernel
def test_without_it_the_same_is_possible(tmp_path):
    (tmp_path / "s.py").write_text("open('evil', 'w').close()\n" + HONEST)
    assert command(tmp_path, "prove", "s.py").returncode == 0 and (tmp_path / "evil").exists()


@needs_kernel
@pytest.mark.parametrize(
    "arguments",
    [
        ("prove", "s.py"),
        ("explain", "s.py"),
        ("run", "s.py"),
        ("show", "s.py"),
        ("compile", "s.py", "-o", "out", "--with", "test"),
    ],
)
def test_every_command_that_loads_a_spec_has_it(arguments, tmp_path):
    (tmp_path / "part.py").write_text("limit = 3\n")
    (tmp_path / "s.py").write_text("from part import limit\nimport numpy, math, threading\n" + HONEST)
    done = command(tmp_path, *arguments, "--sandbox")
    assert done.returncode == 0, done.stderr
    (tmp_path / "s.py").write_text("import socket\nsocket.socket()\n" + HONEST)
    done = command(tmp_path, *arguments, STREAMCHECK_SANDBOX="1")
    assert done.returncode == 2 and "PermissionError" in done.stderr


@needs_kernel
def test_check_and_the_library_have_it(tmp_path):
    (tmp_path / "s.py").write_text(HONEST)
    command(tmp_path, "prove", "s.py", "--certificates", "saved")
    assert command(tmp_path, "check", "saved/s.s.p.json", "--sandbox").returncode == 0
    (tmp_path / "s.py").write_text(HONEST + "open('evil', 'w')\n")
    assert command(tmp_path, "check", "saved/s.s.p.json", "--sandbox").returncode == 2
    with pytest.raises(SpecError, match="PermissionError"):
        streamcheck.load(tmp_path / "s.py", sandbox=True)
    assert not (tmp_path / "evil").exists()


@needs_kernel
def test_loops_and_memory_have_an_end(tmp_path):
    (tmp_path / "s.py").write_text("data = []\nwhile True: data.append(bytearray(10**8))\n" + HONEST)
    done = command(tmp_path, "prove", "s.py", "--sandbox")
    assert done.returncode == 2 and "the memory limit of 2000 MB is too small" in done.stderr
    (tmp_path / "s.py").write_text("while True: pass\n" + HONEST)
    began = time.monotonic()
    done = command(tmp_path, "prove", "s.py", "--sandbox", "--timeout", "1")
    assert done.returncode == 2 and "timed out" in done.stderr and time.monotonic() - began < 20


@needs_kernel
def test_threads_end_with_their_memory(tmp_path):
    (tmp_path / "s.py").write_text(
        "import threading\nstop = threading.Event()\n"
        "for _ in range(10**6): threading.Thread(target=stop.wait).start()\n"
    )
    done = command(tmp_path, "prove", "s.py", "--sandbox", "--timeout", "5")
    assert done.returncode == 2


@needs_kernel
def test_what_a_spec_prints_is_not_shown(tmp_path):
    (tmp_path / "s.py").write_text("print('\\x1b]0;evil\\x07')\n" + HONEST)
    done = command(tmp_path, "prove", "s.py", "--sandbox")
    assert done.returncode == 0 and "evil" not in done.stdout + done.stderr


@needs_kernel
@pytest.mark.parametrize(
    "sent",
    ['{"value": 1}', '{"value": {"specs": [{}], "left out": []}}', "[1]", '{"error": 5}', "{", "[" * 100_000],
)
def test_forged_records_are_an_error_of_the_spec(sent, tmp_path):
    """A spec can find the channel of its process, and say what it likes."""
    (tmp_path / "s.py").write_text(
        f"import gc, os\nfrom streamcheck.run.child import HEAD, Channel\n"
        f"channel = next(o for o in gc.get_objects() if type(o) is Channel)\n"
        f"data = {sent!r}.encode()\nos.write(channel.write, HEAD.pack(channel.token, len(data)) + data)\nos._exit(0)\n"
    )
    for name in ("prove", "run"):
        done = command(tmp_path, name, "s.py", "--sandbox")
        assert done.returncode == 2 and "Traceback" not in done.stderr, done.stderr


OF_ITS_PROCESS = """import signal, sys, time
frame = sys._getframe()
while "channel" not in frame.f_locals:
    frame = frame.f_back
channel = frame.f_locals["channel"]
"""


@needs_kernel
def test_forged_log_records_command_no_terminal(tmp_path):
    """They ended in an internal error, or were written as they are (2026-11-20)."""
    evil = '"\\x1b]0;evil\\x07 %s"'
    rows = [f"['streamcheck.run.' + {evil}, 50, 1e400, {evil}]", f"[{evil}, 50, -1e400, {evil}]"]
    sent = "".join(f"channel.send({{'log': {row}}})\n" for row in rows)
    (tmp_path / "s.py").write_text(OF_ITS_PROCESS + sent + HONEST)
    done = command(tmp_path, "prove", "s.py", "--sandbox", "-v")
    assert done.returncode == 0 and "\\x1b]0;evil" in done.stderr
    assert "\x1b" not in done.stderr and "Traceback" not in done.stderr
    (tmp_path / "s.py").write_text(OF_ITS_PROCESS + "channel.send({'log': [5, 'x', {}, []]})\n" + HONEST)
    done = command(tmp_path, "prove", "s.py", "--sandbox")
    assert done.returncode == 2 and "a channel that is not its own" in done.stderr


@needs_kernel
@pytest.mark.parametrize("sent", ["5", "['/etc/shadow', 'x']", "[[], 1]"])
def test_a_forged_line_at_work_is_none(sent, tmp_path):
    (tmp_path / "s.py").write_text(OF_ITS_PROCESS + f"answer = {{'at': {sent}}}\n")
    with (tmp_path / "s.py").open("a") as file:
        file.write("signal.signal(signal.SIGUSR1, lambda *_: channel.send(answer))\ntime.sleep(60)\n")
    with pytest.raises(SpecError, match="timed out after 1 s"):
        read(Target(str(tmp_path / "s.py"), None, confined=True), 1.0)


SECRET = "token = 'secret'"


def page_of(folder, file, *arguments):
    done = command(folder, "prove", file, "--no-cache", "--html", "page.html", *arguments)
    assert done.returncode == 1 and "secret" not in done.stdout + done.stderr, done.stderr
    return (folder / "page.html").read_text()


@needs_kernel
@pytest.mark.parametrize("name", ["other/key.py", "other/key", "work/.hidden/key.py"])
def test_a_page_has_no_lines_of_files_that_the_spec_could_not_read(name, tmp_path):
    """A place is data: who wrote the spec chose its file (2026-11-20: a page had the lines of any file)."""
    folder, secret = tmp_path / "work", tmp_path / name
    folder.mkdir()
    secret.parent.mkdir(exist_ok=True)
    secret.write_text(SECRET)
    claim = f"exec(compile(\"spec.prop('q', x > 3)\", {str(secret)!r}, 'exec'))\n"
    (folder / "s.py").write_text(HONEST + claim)
    assert "secret" not in page_of(folder, "s.py", "--sandbox")
    shown = command(folder, "show", "s.py", "--as", "json")
    (folder / "s.json").write_text(shown.stdout)
    assert str(secret) in shown.stdout and "secret'" not in page_of(folder, "s.json")


@needs_kernel
def test_a_page_has_the_lines_of_the_spec(tmp_path):
    (tmp_path / "s.py").write_text(HONEST + "spec.prop('q', x > 3)\n")
    assert "samples=[1, 2, 3]" in page_of(tmp_path, "s.py", "--sandbox")


@pytest.mark.parametrize(
    ("owner", "name", "value"),
    [(confine.platform, "machine", lambda: "riscv64"), (confine, "_landlock_version", lambda: -1)],
)
def test_a_machine_that_cannot_is_told_so(owner, name, value, tmp_path, monkeypatch):
    monkeypatch.setattr(owner, name, value)
    (tmp_path / "s.py").write_text(HONEST)
    with pytest.raises(SpecError, match="--sandbox needs Linux"):
        read(Target(str(tmp_path / "s.py"), None, confined=True))
    assert read(Target(str(tmp_path / "s.py"), None))


def test_a_child_ends_no_other_child_of_its_parent():
    """What the parent has left to the garbage collector is collected in its children too."""
    with Sandbox(lambda send: send(os.getpid()) or time.sleep(60), seconds=60, doing="waiting") as first:
        pid = first.receive()
        with Sandbox(lambda send: send(first.close()), seconds=60, doing="closing") as second:
            assert second.receive() is None
        os.kill(pid, 0)
