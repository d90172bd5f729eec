"""The terminal during a proof of thirty seconds, recorded with tmux.

    python tests/bench/terminal.py [WIDTH…] > docs/terminal.md        (60, 80 and 200 columns)

For each width: what is on the screen at some moments, then all that the command has left there. On the way the
terminal of 80 columns is made narrower, and wide again. A line may be cut at the width, but never wrapped by the
progress, of which there is one region, at the bottom.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COMMAND = Path(sys.executable).parent / "streamcheck"
SPEC = """\
from streamcheck import *

n, m = extern("n", Word32), extern("m", Word32)
seed = stream(Word32, lambda x: [1] ++ (x * 1103515245 + 12345))
uv = stream(Word32, lambda uv: [0] ++ mux(seed > n, uv + 10, uv))
timer = stream(Word8, lambda t: [0] ++ mux((t < 100) & (n > 7), t + 1, 0))
product = cast(Word64, n) * cast(Word64, m)

spec = Spec("demo")
spec.prop("the timer is bounded", timer <= 100)
spec.prop("a prime, which no engine knows to be one, is no product", (n < 2) | (m < 2) | (product != 2**62 - 57))
spec.prop("never_three", timer < 3)
spec.prop("tens", uv % 10 == 0)
"""
SECONDS = 30
MOMENTS = (1, 15)
RESIZED = {80: {4: 60, 6: 80}}  # by width: the width from these seconds on
HEIGHT, HISTORY = 24, 2000
HEAD = f"""\
# A proof on the terminal

`python tests/bench/terminal.py > docs/terminal.md` writes this page: what tmux shows while the command below works for
{SECONDS} seconds, at three widths, and all that it leaves. The terminal of 80 columns has 60 from second 4 to second 6.

```py
{SPEC}```
"""


class Terminal:
    """A tmux server of its own with one window. Use as a context manager."""

    def __init__(self, width: int, folder: str) -> None:
        self.name = f"streamcheck-{os.getpid()}-{width}"
        self.width = width
        self.folder = folder

    def __enter__(self) -> Terminal:
        size = ["-x", str(self.width), "-y", str(HEIGHT)]
        self.tmux("-f", "/dev/null", "new-session", "-d", *size, "-c", self.folder, "env PS1='$ ' sh")
        self.tmux("set-option", "-g", "history-limit", str(HISTORY))
        self.tmux("set-option", "-g", "status", "off")
        return self

    def __exit__(self, *_: object) -> None:
        self.tmux("kill-server")

    def tmux(self, *args: str) -> str:
        return subprocess.run(["tmux", "-L", self.name, *args], capture_output=True, text=True, check=False).stdout

    def resize(self, width: int) -> None:
        self.tmux("resize-window", "-x", str(width), "-y", str(HEIGHT))

    def type(self, text: str) -> None:
        self.tmux("send-keys", text, "Enter")

    def wait_for(self, text: str, until: float) -> None:
        """On a machine that is busy, things take longer."""
        while text not in self.screen() and time.monotonic() < until:
            time.sleep(0.1)

    def screen(self, *, whole: bool = False) -> str:
        history = ["-S", f"-{HISTORY}"] if whole else []
        lines = self.tmux("capture-pane", "-p", *history).rstrip().splitlines()
        return "\n".join(line.rstrip() for line in lines)


def record(width: int, seconds: int = SECONDS) -> list[tuple[str, str]]:
    """The screens by their captions."""
    with tempfile.TemporaryDirectory() as folder, Terminal(width, folder) as terminal:
        Path(folder, "demo.py").write_text(SPEC)
        time.sleep(0.5)
        terminal.type("clear")
        began = time.monotonic()
        terminal.type(f"PATH={COMMAND.parent}:$PATH; clear; streamcheck prove demo.py --no-cache --timeout {seconds}")
        screens = []
        for moment in sorted({*MOMENTS, *RESIZED.get(width, {})}):
            if moment >= seconds:
                break
            time.sleep(max(0.0, began + moment - time.monotonic()))
            if moment in RESIZED.get(width, {}):
                terminal.resize(RESIZED[width][moment])
                time.sleep(1.0)
                screens.append((f"made {RESIZED[width][moment]} columns wide", terminal.screen()))
            else:
                terminal.wait_for(" properties open", began + seconds)
                screens.append((f"after {moment} s", terminal.screen()))
        while "$" not in (terminal.screen().splitlines() or [""])[-1]:
            if time.monotonic() > began + 2 * seconds + 30:
                raise SystemExit("the command does not end")
            time.sleep(0.2)
        return [*screens, ("all that is left", terminal.screen(whole=True).removesuffix("$").rstrip())]


def main() -> None:
    if shutil.which("tmux") is None:
        raise SystemExit("tmux is needed to record a terminal, and is not there")
    widths = [int(text) for text in sys.argv[1:]] or [60, 80, 200]
    print(HEAD)
    for width in widths:
        print(f"## {width} columns\n")
        for caption, text in record(width):
            print(f"{caption[0].upper()}{caption[1:]}:\n\n```\n{text}\n```\n")


if __name__ == "__main__":
    main()
