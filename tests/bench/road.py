"""The road from proof to verdict: what lies between an engine's first proof of a property and the verdict.

    python tests/bench/road.py [--seconds 20] [PATH]…

A path is a problem, or a folder of them (the default: `specs`). Each is run by the command as users run it, with its
log, from which all figures come. `first`, `verdict`: seconds from the start to the proof that an engine hands in and
to the verdict, of the property that came last; `late`: the properties whose verdict came more than 0.1 s and more than
1.3 times after the first proof; then the processor seconds of engines, checkers and supervisor, and the supervisor's
share of all (`results`: showing them and making violations simple, which its process does too).
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from default import problems
from lustre import measured

COMMAND = str(Path(sys.executable).parent / "streamcheck")
ROW = "{:40} {:>6} {:>7} {:>8} {:>5} {:>8} {:>9} {:>8} {:>11} {:>6}"
PROOF = re.compile(r" *([0-9.]+) .*: proved with k = [^:]*: (.*)")
VERDICT = re.compile(r" *([0-9.]+)  run\.director +(.*): proved by .*")
SPENT = re.compile(r"(supervisor|results|checkers|worker \d+) ([0-9.]+) s")
LATE, TIMES = 0.1, 1.3


def times(log):
    """By property, the seconds at which it was first proved and at which it was decided; and the processor time by
    process, of the longest run in the log."""
    proofs, verdicts, spent = {}, {}, {}
    for line in log.splitlines():
        if proof := PROOF.match(line):
            for name in proof[2].split("; "):
                proofs.setdefault(name, float(proof[1]))
        elif verdict := VERDICT.match(line):
            verdicts.setdefault(verdict[2], float(verdict[1]))
        elif "processor time:" in line:
            found = {who: float(seconds) for who, seconds in SPENT.findall(line)}
            spent = max(spent, found, key=lambda known: sum(known.values()))
    return {name: (proofs[name], at) for name, at in verdicts.items() if name in proofs}, spent


def row(path, seconds):
    out, err, _, _ = measured([COMMAND, "prove", str(path), "--no-cache", "-v", "--timeout", str(seconds)], seconds)
    pairs, spent = times(err + out)
    late = [name for name, (proof, verdict) in pairs.items() if verdict > max(proof + LATE, TIMES * proof)]
    supervisor, checkers, results = (spent.pop(who, 0.0) for who in ("supervisor", "checkers", "results"))
    engines = sum(spent.values())
    whole = supervisor + checkers + engines + results
    share = supervisor / max(0.01, whole)
    first, last = (max((pair[i] for pair in pairs.values()), default=0.0) for i in (0, 1))
    figures = (f"{first:.2f}", f"{last:.2f}", len(late), f"{engines:.2f}", f"{checkers:.2f}", f"{results:.2f}")
    figures += (f"{supervisor:.2f}",)
    print(ROW.format(str(path)[-40:], len(pairs), *figures, f"{share:.0%}"), flush=True)
    return len(pairs), len(late), supervisor, whole


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("paths", nargs="*", default=["specs"])
    parser.add_argument("--seconds", type=float, default=20.0)
    options = parser.parse_args()
    print(
        ROW.format(
            "problem", "proved", "first", "verdict", "late", "engines", "checkers", "results", "supervisor", "share"
        )
    )
    rows = [row(path, options.seconds) for path in problems(options.paths)]
    proved, late, supervisor, whole = map(sum, zip(*rows, strict=True))
    print(f"{proved} properties proved, {late} of them late; the supervisor's share of all: {supervisor / whole:.1%}")


if __name__ == "__main__":
    main()
