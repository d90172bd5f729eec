"""Peers' own test files by feature: this project beside Kind 2 and JKind, in one run.

    python tests/bench/peer_suites.py --kind2 FOLDER --jkind FOLDER [--peers bin] [--feature NAME]… [--timeout 20]
                                      [--only REGEX] [--save rows.json]

The folders are clones of the peers' repositories; `--peers` has the commands `kind2` and `z3`. Features:

    contracts      files of Kind 2 with contracts: is everything proved, or is something falsified?
    reachability   those with `provided`, `check reachable`: the same, unreachable conditions counted as falsified
    realizability  each imported node of Kind 2's, its environment, and JKind's examples
    cores          all minimal cores: of assertions, beside Kind 2; of the names of `--%IVC`, beside JKind
    cuts           all minimal cuts of assertions, beside Kind 2

`agree` and `WRONG` are files that both decide. The rest is ours: `unknown`, `refused`, `shared` (two of the names have
equal definitions, which are one element here); or the peer's: `peer: unknown`, `peer: refused`. Files that a folder
calls errors, and those that claim nothing, are left out. Seconds are wall and CPU of what both decide.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import re
import sys
import tempfile
import xml.etree.ElementTree as xml
from pathlib import Path

from lustre import COMMAND, combined, measured

DECIDED = {"valid": "proved", "reachable": "proved", "falsifiable": "falsified", "unreachable": "falsified"}
OURS = {"proved": "proved", "reachable": "proved", "falsified": "falsified", "never": "falsified"}
IMPORTED = re.compile(r"\b(?:node|function)\s+imported\s+(\w+)")
ERRORS = re.compile(r"/(error|syntax-errors|shouldFail|futureFail)/")


def json_of(out):
    try:
        return json.loads(out)
    except ValueError:
        return None


def ours(options, *arguments):
    """What a command of ours prints as JSON, or `refused`."""
    command = [COMMAND, *arguments, "--json", "--timeout", str(options.timeout)]
    out, _, status, figures = measured(command, options.timeout + 10)
    return ("refused" if status == 2 else json_of(out)), figures


def kind2(options, path, *arguments):
    command = [str(Path(options.peers) / "kind2"), "-json", "--timeout", str(int(options.timeout)), *arguments]
    out, _, _, figures = measured([*command, "--output_dir", options.scratch, str(path)], options.timeout + 10)
    rows = json_of(out)
    is_error = rows is None or any(r["objectType"] == "log" and r["level"] in ("error", "fatal") for r in rows)
    return ("refused" if is_error and not any(r["objectType"] != "log" for r in rows or ()) else rows or []), figures


# Contracts and reachability


def proofs(path, options):
    answer, figures = ours(options, "prove", str(path), "--no-cache")
    if isinstance(answer, dict | list):
        specs = answer if isinstance(answer, list) else [answer]
        if not any(s["properties"] for s in specs):
            return
        answer = combined([OURS.get(p["verdict"], "unknown") for s in specs for p in s["properties"]])
    rows, theirs = kind2(options, path)
    if rows != "refused":
        last = {(r.get("scope"), r["name"]): r["answer"]["value"] for r in rows if r["objectType"] == "property"}
        rows = combined([DECIDED.get(value, "unknown") for value in last.values()])
    yield path.stem, answer, figures, rows, theirs


# Realizability


def realizability_by_kind2(path, options):
    rows, theirs = kind2(options, path, "--enable", "CONTRACTCK")
    answers, place = {}, None
    for row in rows if rows != "refused" else ():
        if row["objectType"] == "analysisStart":
            place = row.get("top"), row.get("context")
        elif row["objectType"] == "realizabilityCheck":
            answers[place] = row["result"]
    for name in dict.fromkeys(IMPORTED.findall(path.read_text())):
        answer, figures = ours(options, "realizable", f"{path}::{name}")
        given = answer[0] if isinstance(answer, list) else {"verdict": answer or "unknown"}
        for context in ("contract", "environment"):
            unasked = {"verdict": "unknown" if given["verdict"] == "unknown" else "realizable"}  # nothing is assumed
            part = given if context == "contract" else given.get("environment", unasked)
            verdict = part["verdict"] if given["verdict"] != "refused" else "refused"
            peer = "refused" if rows == "refused" else answers.get((name, context), "unknown")
            yield f"{path.stem}::{name} {context}", verdict, figures, peer, theirs


def realizability_by_jkind(path, options):
    answer, figures = ours(options, "realizable", str(path))
    verdict = answer[0]["verdict"] if isinstance(answer, list) else answer or "unknown"
    out, _, _, theirs = jkind(options, "-jrealizability", path)
    found = re.search(r"\b(UNREALIZABLE|REALIZABLE|UNKNOWN|INCONSISTENT)\b", out.upper())
    yield f"jkind/{path.stem}", verdict, figures, found[1].lower() if found else "refused", theirs


def jkind(options, tool, path, *arguments):
    command = ["java", "-cp", options.jars, "jkind.Main", tool, *arguments, "-timeout", str(int(options.timeout))]
    return measured([*command, str(path)], options.timeout + 10)


# Cores and cuts


def least(family):
    """The sets of which no other is a part."""
    return {one for one in family if not any(other < one for other in family)}


def sets_by_kind2(path, options, key):
    """Over assertions alone: what Kind 2 takes for an equation is not what is one here."""
    command, flags = {
        "cores": (("why", "--all"), ("--ivc", "true", "--ivc_all", "true", "--ivc_category", "assertions")),
        "cuts": (("cuts",), ("--enable", "MCS", "--mcs_all", "true", "--mcs_category", "assertions")),
    }[key]
    answer, figures = ours(options, *command, str(path), "--over", "assumptions")
    rows, theirs = kind2(options, path, *flags)
    if not isinstance(answer, dict) or len(answer["properties"]) != 1:  # Kind 2's are about all properties together
        if not isinstance(answer, dict):
            yield path.stem, answer or "unknown", figures, rows, theirs
        return
    lines = [(e["where"] or {}).get("line") for e in answer["elements"]]
    (prop,) = answer["properties"]
    mine = {frozenset(lines[e] for e in one["elements"]) for one in prop.get(key, ())}
    complete = prop.get("complete" if key == "cores" else "all_cuts")
    if rows != "refused":
        sets = [r for r in rows if r["objectType"] == "modelElementSet"]
        ends = [r for r in rows if r["objectType"] == "modelSetEnumeration"]
        is_all = any(r.get("isComplete") for r in ends) or (not ends and theirs["wall"] < options.timeout)
        rows = {frozenset(e["line"] for n in r["nodes"] for e in n["elements"]) for r in sets}
        if not is_all and rows <= mine:  # those that it has found are minimal ones
            rows = "unknown"
    yield path.stem, mine if complete else "unknown", figures, rows, theirs


def cores_by_jkind(path, options):
    names = [n.strip() for given in re.findall(r"--%IVC([^;]*);", path.read_text()) for n in given.split(",")]
    if not names:
        return
    chosen = [part for name in names for part in ("--only", f"*{name}")]
    answer, figures = ours(options, "why", str(path), "--all", "--over", "equations", *chosen)
    report = Path(f"{path}.xml")
    _, _, _, theirs = jkind(options, "-jkind", path, "-all_ivcs", "-xml")
    try:
        properties = xml.parse(report).getroot().iter("Property")
    except (OSError, xml.ParseError):
        properties = ()
    peer = {p.get("name"): least(set(map(names_of, p.iter("IvcSet")))) for p in properties}
    report.unlink(missing_ok=True)
    if not isinstance(answer, dict):
        yield f"jkind/{path.stem}", answer if answer == "refused" else "unknown", figures, "unknown", theirs
        return
    elements = [without_place(e["name"]) for e in answer["elements"]]
    shared = any(e["also"] for e in answer["elements"])
    for prop in answer["properties"]:
        sets = {frozenset(elements[e] for e in one["elements"]) for one in prop["cores"]}
        verdict = "shared" if shared else least(sets) if prop["complete"] else "unknown"
        yield f"jkind/{path.stem} {prop['name']}", verdict, figures, peer.get(prop["name"]) or "unknown", theirs


def names_of(ivc_set):
    return frozenset(without_place(e.text) for e in ivc_set.iter("Ivc"))


def without_place(name):
    return re.sub(r"~\d+|\[[^]]*\]", "", name)


# The table


def outcome(mine, peer):
    for who, answer in (("", mine), ("peer: ", peer)):
        if answer in ("unknown", "refused", "inconsistent", "shared", None):
            return f"{who}{answer or 'unknown'}"
    return "agree" if mine == peer else "WRONG"


def jobs(options):
    tests = Path(options.kind2 or "/nowhere") / "tests"
    files = [p for folder in ("regression", "lustre") for p in sorted((tests / folder).rglob("*.lus"))]
    texts = {p: p.read_text(errors="replace") for p in files if not ERRORS.search(str(p))}
    testing = Path(options.jkind or "/nowhere") / "testing"
    cores = [*sorted(testing.glob("all_ivcs/*.lus")), *sorted(testing.glob("ivc/*.lus"))]
    cores += [p for p in texts if "ivc" in p.stem]
    yield "contracts", proofs, [p for p, t in texts.items() if re.search(r"@contract|\bcontract\b|\bcon\b", t)]
    yield "reachability", proofs, [p for p, t in texts.items() if re.search(r"\bprovided\b|check\s+reachable", t)]
    yield "realizability", realizability_by_kind2, [p for p, t in texts.items() if IMPORTED.search(t)]
    yield "realizability", realizability_by_jkind, sorted(testing.glob("realizability/*.lus"))
    yield "cores", lambda p, o: sets_by_kind2(p, o, "cores"), cores
    yield "cores", cores_by_jkind, cores
    yield "cuts", lambda p, o: sets_by_kind2(p, o, "cuts"), cores


def show(rows):
    outcomes = ("agree", "unknown", "refused", "shared", "peer: unknown", "peer: refused", "WRONG")
    print(f"\n{'':14}{'asked':>7}" + "".join(f"{o:>15}" for o in outcomes) + f"{'wall':>16}{'CPU':>16}")
    for feature in dict.fromkeys(r["feature"] for r in rows):
        chosen = [r for r in rows if r["feature"] == feature]
        count = collections.Counter(r["outcome"] for r in chosen)
        both = {(r["path"]): r for r in chosen if r["outcome"] == "agree"}.values()
        times = [f"{sum(r[w][k] for r in both):.1f} / {sum(r['peer_' + w][k] for r in both):.1f}" for w, k in TIMES]
        cells = "".join(f"{count[o]:15}" for o in outcomes)
        print(f"{feature:14}{len(chosen):7}{cells}" + "".join(f"{t:>16}" for t in times))


TIMES = (("figures", "wall"), ("figures", "cpu"))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind2", metavar="FOLDER")
    parser.add_argument("--jkind", metavar="FOLDER")
    parser.add_argument("--peers", default="/usr/local/bin", help="the folder of the commands kind2 and z3")
    parser.add_argument("--jars", default="", help="JKind's class path")
    parser.add_argument("--feature", action="append", help="repeatable; all if none is given")
    parser.add_argument("--timeout", type=float, default=20.0)
    parser.add_argument("--only", default="", metavar="REGEX", help="only files whose path matches")
    parser.add_argument("--scratch", default=tempfile.mkdtemp(), help="a folder for Kind 2's files")
    parser.add_argument("--save", metavar="JSON")
    return parser.parse_args()


def main():
    options, rows = arguments(), []
    os.environ["PATH"] = os.pathsep.join([options.peers, os.environ["PATH"]])  # Kind 2 looks for z3 there
    for feature, ask, paths in jobs(options):
        for path in paths if not options.feature or feature in options.feature else ():
            if not re.search(options.only, str(path)):
                continue
            for name, mine, figures, peer, theirs in ask(path, options):
                row = {"feature": feature, "name": name, "path": str(path), "outcome": outcome(mine, peer)}
                row |= {"figures": figures, "peer_figures": theirs, "ours": str(mine), "peer": str(peer)}
                rows.append(row)
                walls = f"{figures['wall']:6.2f} s, peer {theirs['wall']:6.2f} s"
                print(f"{feature:14}{name:50.50} {row['outcome']:16} {walls}", flush=True)
                if row["outcome"] == "WRONG":
                    print(f"    {mine}\n    {peer}", flush=True)
    show(rows)
    if options.save:
        Path(options.save).write_text(json.dumps(rows, indent=1))
    return 1 if any(r["outcome"] == "WRONG" for r in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
