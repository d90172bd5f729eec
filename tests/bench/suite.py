"""A folder of files with expected results: what is loaded, what is refused and why, and what contradicts.

    python tests/bench/suite.py FOLDER [--timeout 5] [--default error] [--suffix .lus]… [--jobs 1] [--save rows.json]

A folder's name anywhere in a file's path is its expected result: in `success` every property is proved, in
`falsifiable` one is falsified, in `error` the file is refused, in `accepted` it is read; `--default` is the one of the
other files. Of a C program only what is asserted counts: where a run does something undefined first, C does not say
whether an assertion fails. A contradiction is a verdict against the expected one; a file of `error` that is read is
wrongly accepted.
The exit status is 1 if there is a contradiction, a wrongly accepted file or a traceback.
"""

from __future__ import annotations

import argparse
import collections
import json
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lustre import COMMAND, combined, measured
from programs import verdict_of

EXPECTED = ("success", "falsifiable", "error", "accepted")
AGAINST = {"success": "falsified", "falsifiable": "proved"}
PROGRAMS = (".c", ".i")
USER_MISTAKE = 2  # the exit status


def row_of(path, root, options):
    """The outcome of one file."""
    parts = path.relative_to(root).parts
    expected = next((p for p in parts if p in EXPECTED), options.default)
    row = {"file": str(path.relative_to(root)), "expected": expected, "outcome": "", "reason": "", "properties": {}}
    command = [*options.command, "prove", str(path), "--no-cache", "--json", *options.option]
    command += ["--timeout", str(options.timeout)]
    out, err, status, figures = measured(command, options.timeout)
    row |= figures
    if "Traceback" in err or "internal error" in err:
        return {**row, "outcome": "traceback", "reason": err.strip().splitlines()[-1]}
    if status == USER_MISTAKE:
        return {**row, "outcome": "refused", "reason": reason_of(err)}
    try:
        answers = json.loads(out)
    except ValueError:
        return {**row, "outcome": "no answer", "reason": f"status {status} {err.strip()[-200:]}"}
    answers = answers if isinstance(answers, list) else [answers]
    results = [p for a in answers for p in a["properties"]]
    row["properties"] = {p["name"]: p["verdict"] for p in results}
    if path.suffix in PROGRAMS and results:
        row["outcome"], _ = verdict_of(answers[0])
        if row["outcome"] == "proved" and any(p["verdict"] != "proved" for p in results):
            row["outcome"] = "undefined"  # the proof holds up to an operation that may be undefined
        row["reason"] = "; ".join(sorted({re.sub(r"[0-9]+", "…", p["reason"]) for p in results if p.get("reason")}))
    else:
        row["outcome"] = combined([p["verdict"] for p in results]) if results else "no properties"
    return row


def reason_of(message):
    """The message without place and the user's words, so that equal reasons count together."""
    first = next((line for line in message.splitlines() if line.startswith("error:")), message.strip())
    return re.sub(r"^error: \S+?(:\d+(:\d+)?)?:? ", "", first)


def is_contradiction(row):
    return AGAINST.get(row["expected"]) == row["outcome"]


def is_wrongly_accepted(row):
    return row["expected"] == "error" and row["outcome"] not in ("refused", "traceback", "no answer")


def is_loaded(row):
    return row["outcome"] in ("proved", "falsified", "unknown", "undefined", "no properties")


COLUMNS = {
    "files": lambda row: True,
    "loaded": is_loaded,
    "decided": lambda row: row["outcome"] in ("proved", "falsified"),
    "refused": lambda row: row["outcome"] == "refused",
    "contradictions": is_contradiction,
    "wrongly accepted": is_wrongly_accepted,
    "tracebacks": lambda row: row["outcome"] == "traceback",
    "no answer": lambda row: row["outcome"] == "no answer",
}


def show(rows):
    print(f"{'':12}" + "".join(f"{name:>18}" for name in COLUMNS))
    for expected in (*sorted({r["expected"] for r in rows}), "all"):
        chosen = [r for r in rows if expected in ("all", r["expected"])]
        print(f"{expected:12}" + "".join(f"{sum(map(test, chosen)):18}" for test in COLUMNS.values()))
    print("\nrefused, by reason (without the names in backquotes; files of `error` apart)")
    general = collections.Counter(
        re.sub(r"`[^`]*`", "`…`", r["reason"]) for r in rows if r["outcome"] == "refused" and r["expected"] != "error"
    )
    for reason, count in general.most_common():
        print(f"  {count:4}  {reason}")
    for title in ("contradictions", "wrongly accepted", "tracebacks", "no answer"):
        chosen = [r for r in rows if COLUMNS[title](r)]
        if chosen:
            print(f"\n{title}")
        for r in chosen:
            print(f"  {r['file']}: {r['outcome']} {r['reason']}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--timeout", type=float, default=5.0)
    parser.add_argument("--default", default="accepted", choices=EXPECTED)
    parser.add_argument("--suffix", action="append", help="of the files (repeatable; .lus if none is given)")
    parser.add_argument("--only", default="", metavar="REGEX", help="only files whose path matches")
    parser.add_argument("--jobs", type=int, default=1, help="files at a time")
    parser.add_argument("--command", nargs="+", default=[COMMAND], help="another way to start streamcheck")
    parser.add_argument("--option", action="append", default=[], help="a further option of `prove` (repeatable)")
    parser.add_argument("--save", metavar="JSON")
    return parser.parse_args()


def main():
    options = arguments()
    root = Path(options.folder)
    suffixes = tuple(options.suffix or [".lus"])
    files = [p for p in sorted(root.rglob("*")) if p.name.endswith(suffixes) and re.search(options.only, str(p))]
    with ThreadPoolExecutor(options.jobs) as pool:
        rows = list(pool.map(lambda path: row_of(path, root, options), files))
    show(rows)
    if options.save:
        Path(options.save).write_text(json.dumps(rows, indent=1))
    return 1 if any(is_contradiction(r) or is_wrongly_accepted(r) or r["outcome"] == "traceback" for r in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
