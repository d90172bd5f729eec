"""The cost of many properties: processor seconds of the command as their number grows.

    python tests/bench/many.py [--numbers 125 250 500 1000] [--seconds 60]

Each kind is one spec: `easy`, each property of a counter of its own; `clusters`, ten of each counter; `one hard`, the
first with a property among them that nobody decides, for which the command has 4 seconds in all. A cost that is linear
has the same milliseconds for each property in a row.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from generators import counters
from lustre import measured

COMMAND = str(Path(sys.executable).parent / "streamcheck")
KINDS = {"easy": (1, False), "clusters": (10, False), "one hard": (1, True)}
HARD_SECONDS = 4.0


def cost(number, kind, seconds):
    """The properties proved, and the processor seconds."""
    size, hard = KINDS[kind]
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "many.py"
        path.write_text(counters(number, size, hard=hard))
        limit = HARD_SECONDS + seconds * number / 1000 if hard else seconds
        out, err, status, figures = measured(
            [COMMAND, "prove", str(path), "--no-cache", "--json", "--timeout", str(limit)], limit
        )
    assert status in (0, 3), err
    proved = sum(p["verdict"] == "proved" for p in json.loads(out)["properties"])
    return proved, figures["cpu"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--numbers", type=int, nargs="+", default=[125, 250, 500, 1000])
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    print(f"{'':10}" + "".join(f"{number:>28}" for number in options.numbers))
    for kind in KINDS:
        cells = []
        for number in options.numbers:
            proved, cpu = cost(number, kind, options.seconds)
            cells.append(f"{proved} proved, {cpu:.1f} s, {1000 * cpu / number:.1f} ms")
        print(f"{kind:10}" + "".join(f"{cell:>28}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
