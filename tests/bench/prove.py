"""Proving in figures: the whole command on small specs, the examples of [Laurent], structural abstraction, both models.

    python tests/bench/prove.py

Wall and CPU seconds of the command with everything it starts, the best of five; ratios within one run.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COMMAND = str(Path(sys.executable).parent / "streamcheck")

TRIVIAL = """
from streamcheck import *
x = extern("x", Bool)
spec = Spec("trivial")
spec.prop("p", x | ~x)
"""

IRRELEVANT = """
from streamcheck import *
xs = [extern(f"x{{i}}", Word32) for i in range(4)]
noise = xs[0]
definitions = []
for i in range({count}):
    noise = (noise * xs[i % 4] + i) ^ (noise >> 3)
    definitions.append(noise)
busy = noise % 7 == 3
level = stream(Word32, lambda level: [0] ++ mux(busy, minimum(level, 9) + 1, level))
spec = Spec("irrelevant")
spec.prop("bounded", level <= 10)
"""

VOTE = """
from streamcheck import *
votes = [extern(f"v{{i}}", {type}) for i in range(5)]
winner = voting.majority(votes)
spec = Spec("vote")
spec.prop("right", forall({type}, lambda v: implies(v != winner, ~voting.has_majority(v, votes))))
"""


def timed(*args):
    """(wall, CPU of the command and its children, output)."""
    best = None
    for _ in range(5):
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        environment = os.environ | {"STREAMCHECK_NO_CACHE": "1"}
        done = subprocess.run([COMMAND, *map(str, args)], capture_output=True, text=True, env=environment)
        wall, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        row = (wall, cpu, done.stdout)
        best = row if best is None or wall < best[0] else best
    return best


def show(what, wall, cpu, more=""):
    print(f"{what:52} {wall:7.3f} s wall {cpu:7.3f} s CPU  {more}")


def rows(out):
    data = json.loads(out)
    for answer in data if isinstance(data, list) else [data]:
        for row in answer["properties"]:
            yield answer["spec"], row


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "spec.py"
        path.write_text(TRIVIAL)
        wall, cpu, _ = timed("prove", path)
        show("the trivial spec, certificate checked", wall, cpu, "target 0.25 s wall")
        for name in sorted(Path("specs").glob("*.py")):
            if "spec.prop" in name.read_text() or ".prop(" in name.read_text():
                wall, cpu, out = timed("prove", name, "--json", "--timeout", "3")
                verdicts = "; ".join(
                    f"{spec}.{r['name']} {r['verdict']} {r.get('engine', '')} {r.get('k', '')} {r['seconds']} s"
                    for spec, r in rows(out)
                )
                show(str(name), wall, cpu, verdicts)
        for count in (100, 300):
            path.write_text(IRRELEVANT.format(count=count))
            for engine in ("structural", "k-induction"):
                wall, cpu, out = timed("prove", path, "--json", "--engine", engine, "--timeout", "20")
                verdict = next(rows(out))[1]["verdict"]
                show(f"{count} irrelevant definitions, {engine}", wall, cpu, verdict)
        for kind in ("Word8", "Word32", "Word64"):
            path.write_text(VOTE.format(type=kind))
            wall, cpu, out = timed("prove", path, "--json", "--timeout", "20")
            _, row = next(rows(out))
            show(f"majority of five {kind}", wall, cpu, f"{row['verdict']} {row.get('model', '')}")


if __name__ == "__main__":
    main()
