"""The language server, by a client over its pipes: what an editor sees, and that nothing is left running."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("pygls", reason="the language server needs the extra streamcheck[lsp]")

from lsp_client import COMMAND, Client

ENGINE = re.search(r"```python\n(.*?)```", Path("README.md").read_text(), re.S)[1]
LUSTRE = """\
node counter(reset: bool) returns (n: int);
let
  n = 0 -> if reset then 0 else pre n + 1;
  --%PROPERTY n >= 0;
tel
"""
PROGRAM = """\
void assert(int);
int __VERIFIER_nondet_int(void);
int main(void)
{
    unsigned i = 0, n = 0;
    while (__VERIFIER_nondet_int())
        i++, n++;
    assert(i == n);
    return 0;
}
"""
HARD = """\
from streamcheck import *

a, b = extern("a", Word64), extern("b", Word64)
spec = Spec("hard")
spec.prop("prime", implies((a > 1) & (b > 1) & (a < 2**32) & (b < 2**32), a * b != 9633832748884915969))
"""  # the product of two primes, 2860486313 and 3367900313: found by none of the engines in the time
needs_proc = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="no list of processes in /proc")


@pytest.fixture
def session(tmp_path):
    """Begin a session in a folder with these files."""
    begun = []

    def begin(files, *options):
        for name, text in files.items():
            (tmp_path / name).write_text(text)
        begun.append(Client(tmp_path, *options))
        return begun[-1]

    yield begin
    for client in begun:
        client.kill()


def messages(client, name):
    return {row["range"]["start"]["line"] + 1: row["message"] for row in client.diagnostics.get(name, [])}


def settled(client, name):
    """The hints by line, once nothing is being proved."""
    while not (hints := client.hints(name)) or any("proving" in text for text in hints.values()):
        client.read()
    return {line + 1: text for line, text in hints.items()}


def line_of(text, part):
    return next(i for i, line in enumerate(text.splitlines(), 1) if part in line)


def test_a_session_with_a_spec(session):
    client = session({"engine.py": ENGINE}, "--timeout", "300")
    text = client.open("engine.py")
    proved, falsified = line_of(text, '"cool_again"'), line_of(text, '"never_long"')
    hints = settled(client, "engine.py")
    assert hints[proved].startswith("proved (k-induction") and hints[falsified].startswith("falsified (bmc, step 3")
    shown = messages(client, "engine.py")
    assert set(shown) == {falsified} and "since_hot      0      1*     2*      3*" in shown[falsified]
    assert "workspace/codeLens/refresh" in client.heard and "workspace/inlayHint/refresh" in client.heard

    definition = line_of(text, "since_hot = stream")
    use = text.splitlines()[proved - 1].index("since_hot")
    hover = client.at("hover", "engine.py", proved - 1, use + 2)["contents"]["value"]
    assert "`since_hot: Word8` (stream)" in hover and "state: 1 byte" in hover
    assert "proved at every step" in hover and "pre(false, hot)" in hover
    (place,) = client.at("definition", "engine.py", proved - 1, use + 2)
    assert place["uri"] == client.uri("engine.py") and place["range"]["start"]["line"] + 1 == definition
    property_name = text.splitlines()[falsified - 1].index("never_long")
    assert "falsified" in client.at("hover", "engine.py", falsified - 1, property_name)["contents"]["value"]
    assert client.at("hover", "engine.py", 0, 0) is None and client.at("definition", "engine.py", 1, 0) == []

    lenses = client.lenses("engine.py")
    assert {title for line, title in lenses if line + 1 == proved} == {"prove cool_again", "explain"}
    assert {title for line, title in lenses if line + 1 == falsified} == {"prove never_long", "explain", "show trace"}
    trace = client.execute(lenses[falsified - 1, "show trace"])
    assert "never_long  true   true   true   false*" in trace
    client.wait(lambda: len(client.shown) == 1)
    assert Path(client.shown[0].removeprefix("file://")).read_text() == trace
    explained = client.execute(lenses[proved - 1, "explain"])
    assert explained.startswith("  proved") and "it is an invariant by itself" in explained
    client.execute(lenses[falsified - 1, "prove never_long"])
    assert settled(client, "engine.py")[falsified].startswith("falsified")
    assert client.close() == 0
    assert not Path(client.shown[0].removeprefix("file://")).exists()


def test_mistakes_while_typing(session):
    """The unsaved text counts; a proof of an older text is gone with it."""
    client = session({"engine.py": ENGINE}, "--timeout", "300")
    text = client.open("engine.py")
    settled(client, "engine.py")
    wrong = text.replace("[0] ++ mux(hot, n + 1, 0)", "[0] ++ n + 1")
    client.change("engine.py", wrong)
    client.wait(lambda: "without parentheses" in messages(client, "engine.py").get(line_of(wrong, "++ n + 1"), ""))
    assert "write: [0] ++ (n + 1)" in messages(client, "engine.py")[line_of(wrong, "++ n + 1")]
    assert client.hints("engine.py") == {} and (client.folder / "engine.py").read_text() == text
    half = text.replace("hot = probe > 250", "hot = probe > 25e  # 🙂")
    client.change("engine.py", half)
    client.wait(lambda: "Python cannot read this" in messages(client, "engine.py").get(line_of(half, "25e"), ""))
    (row,) = client.diagnostics["engine.py"]
    assert row["range"]["end"]["character"] == len("hot = probe > 25e  # 🙂".encode("utf-16-le")) // 2
    client.change("engine.py", "# 🙂\n" + text)
    client.wait(lambda: client.diagnostics["engine.py"] == [])
    client.save("engine.py")
    assert settled(client, "engine.py")[line_of(text, '"never_long"') + 1].startswith("falsified")
    assert client.close() == 0


def test_lustre_programs_and_what_is_neither(session):
    files = {"counter.lus": LUSTRE, "loop.c": PROGRAM, "plain.py": "import os\nx = 1 +\n", "plain.c": "int f(\n"}
    client = session(files, "--timeout", "300")
    client.open("plain.py"), client.open("plain.c")
    client.open("counter.lus")
    assert settled(client, "counter.lus")[4].startswith("proved")
    assert "`n: Int`" in client.at("hover", "counter.lus", 2, 2)["contents"]["value"]
    client.change("counter.lus", LUSTRE.replace("pre n + 1", "pre m + 1"))
    client.wait(lambda: "m" in messages(client, "counter.lus").get(3, ""))
    client.open("loop.c")
    assert settled(client, "loop.c")[8].startswith("proved")
    hover = client.at("hover", "loop.c", 5, 8)
    assert hover["contents"]["value"] == "proved at line 6:\n```text\ni == n\n```"
    assert "`n: Word32` (variable)" in client.at("hover", "loop.c", 7, 16)["contents"]["value"]
    (place,) = client.at("definition", "loop.c", 7, 11)
    assert place["range"]["start"]["line"] == 4
    client.change("loop.c", PROGRAM.replace("i == n", "i == n + 1"))
    client.save("loop.c")
    client.wait(lambda: "falsified" in messages(client, "loop.c").get(8, ""))
    assert client.diagnostics["plain.py"] == [] and client.diagnostics["plain.c"] == []
    client.tell("textDocument/didClose", textDocument={"uri": client.uri("loop.c")})
    client.wait(lambda: client.diagnostics["loop.c"] == [])
    assert client.close() == 0


def test_a_text_does_nothing_to_the_server(session):
    """It may end its process, print, and try to write: what it does stays in a process of its own."""
    lines = {"import os; os._exit(0)": "the process ended before it was done"}
    lines["print('Content-Length: 2'); x = 1 / 0"] = "division by zero"
    if can_confine():
        lines["open('written', 'w')"] = "written"
    texts = [f"from streamcheck import *\nspec = Spec('s')\n{line}\n" for line in lines]
    client = session({f"bad{i}.py": text for i, text in enumerate(texts)})
    for i, message in enumerate(lines.values()):
        client.open(f"bad{i}.py")
        client.wait(lambda: client.diagnostics.get(f"bad{i}.py"))  # noqa: B023
        (row,) = client.diagnostics[f"bad{i}.py"]
        assert message in row["message"]
        assert row["range"]["start"]["line"] == (0 if "_exit" in texts[i] else 2)
    assert not (client.folder / "written").exists()
    assert client.close() == 0


def can_confine():
    from streamcheck.core.errors import SpecError
    from streamcheck.run.confine import require_confinement

    try:
        require_confinement()
    except SpecError:
        return False
    return True


def ended(client, remaining):
    """Wait until only so many processes of the session are left; a machine may be slow."""
    until = time.monotonic() + 120
    while len(found := client.processes()) > remaining and time.monotonic() < until:
        time.sleep(0.05)
    return len(found) == remaining


@needs_proc
def test_a_change_cancels_the_proof(session):
    client = session({"hard.py": HARD}, "--timeout", "3000")
    text = client.open("hard.py")
    client.wait(lambda: "proving" in client.hints("hard.py").get(4, ""))
    while len(client.processes()) < 3:  # the server, the analysis and its workers
        time.sleep(0.05)
    client.change("hard.py", text + "\n")
    assert ended(client, 1) and client.hints("hard.py") == {}
    client.save("hard.py")
    client.wait(lambda: "proving" in client.hints("hard.py").get(4, ""))
    client.tell("textDocument/didClose", textDocument={"uri": client.uri("hard.py")})
    assert ended(client, 1)
    assert client.close() == 0


@needs_proc
@pytest.mark.parametrize("way", ["exit", "end of input", "SIGTERM", "SIGKILL"])
def test_nothing_runs_after_the_end(session, way):
    client = session({"hard.py": HARD}, "--timeout", "3000")
    client.open("hard.py")
    client.wait(lambda: "proving" in client.hints("hard.py").get(4, ""))
    if way == "exit":
        assert client.close() == 0
    elif way == "end of input":  # the client has died
        client.process.stdout.close()
        client.process.stdin.close()
        client.process.wait()
    else:
        os.kill(client.process.pid, signal.Signals[way])
        assert client.process.wait() in (143, -signal.SIGKILL)
    assert ended(client, 0)


def test_without_pygls_the_message_says_what_to_install():
    code = "import sys; sys.modules['pygls'] = None\nfrom streamcheck.__main__ import main\nmain()"
    done = subprocess.run([sys.executable, "-c", code, "lsp"], capture_output=True, text=True)
    assert done.returncode == 2 and "write: pip install 'streamcheck[lsp]'" in done.stderr


def test_the_rest_of_the_command_does_not_load_it():
    unwanted = "{'pygls', 'lsprotocol', 'asyncio', 'streamcheck.lsp'}"
    code = f"import sys, streamcheck.cli, streamcheck.cli.prove\nassert not {unwanted} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert "lsp" in subprocess.run([COMMAND, "--help"], capture_output=True, text=True).stdout
