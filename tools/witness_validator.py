"""A validator of witnesses for C programs (SV-COMP, YAML format 2.0). It shares no code with streamcheck.

    streamcheck prove program.c --witness witness.yml
    python tools/witness_validator.py program.c witness.yml
    python tools/witness_validator.py program.c witness.yml --prover "streamcheck prove --json --prop 'assert*'"

It needs a C compiler with sanitizers, and PyYAML. The witness is about the program if its names, hashes and fields are
what the format says. Then the program is compiled with calls of a harness at the locations of the witness, and run:

    violation     An input is a constant of the next waypoint, or 0, 1, -1, tried in turn. A run confirms if it passes
                  all waypoints in their order and then, at the target, calls the error function, with nothing undefined
                  before that.
    correctness   Each invariant is tested whenever its loop begins a round or ends, on runs with random inputs. With
                  `--prover` that command also proves the program, with the invariants as further assertions.

The answer, and the exit status:

    confirmed     the violation was executed, or the invariants and the assertions have been proved     0
    not refuted   the invariants were true in all runs                                                  0
    not read      no witness of this format, one about another program, or what is not supported here   2
    undecided     no run was found, or the prover has no answer                                         3
    rejected      an invariant or an assertion is false                                                 4
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import uuid
from datetime import datetime
from pathlib import Path
from typing import Any

import yaml

HOLDS, NOT_READ, UNDECIDED, REJECTED = 0, 2, 3, 4
SIGNED = ("char", "short", "int", "long", "longlong")
KINDS = {"bool": "_Bool", "float": "float", "double": "double", "unsigned": "unsigned", "size_t": "unsigned long"}
KINDS |= {name: name.replace("longlong", "long long") for name in SIGNED}
KINDS |= {f"u{name}": f"unsigned {KINDS[name]}" for name in SIGNED}
HARNESS = r"""
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static int next, at, used; static unsigned seed;
static void say(const char *what, int n) { fprintf(stderr, "WITNESS %s %d\n", what, n); }
int witness_at(int waypoint, int holds) {
    if (waypoint == next && waypoint == TARGET) at = 1;
    else if (waypoint == next && holds) next++;
    return 0;
}
void witness_left(void) { at = 0; }
void witness_true(int number, int holds) { if (!holds) { say("broken", number); _exit(0); } }
void witness_error(void) { say(next == TARGET && at ? "confirmed" : "error", next); _exit(0); }
void __assert_fail(const char *a, const char *b, unsigned c, const char *d) { witness_error(); }
void abort(void) { _exit(0); }
WEAK void reach_error(void) { witness_error(); }
WEAK void __VERIFIER_error(void) { witness_error(); }
WEAK void __VERIFIER_assert(int holds) { if (!holds) witness_error(); }
WEAK void assert(int holds) { if (!holds) witness_error(); }
WEAK void __VERIFIER_assume(int holds) { if (!holds) _exit(0); }
static long double any(void) {
    static const long double corners[] = { 100, 255, 65535, 2147483647, -2147483648.0L, 4294967295.0L, 0, -1 };
    int kind = rand_r(&seed) % 4, number = rand_r(&seed);
    return kind == 0 ? corners[number % 8] : kind == 1 ? number % 2048 - 1024 : number % 16;
}
static long double chosen(void) {
    const char *choices = getenv("CHOICES");
    int own = first[next + 1] - first[next], choice = 0, number = used++;
    if (TARGET < 0) {
        if (!number) seed = atoi(choices);
        return any();
    }
    say("input", own + 3);
    for (int i = 0; *choices; i++) {
        int n = strtol(choices, (char **)&choices, 10);
        if (i == number) choice = n;
        choices += *choices != 0;
    }
    return choice < own ? values[first[next] + choice] : choice == own + 2 ? -1 : choice - own;
}
"""
WORDS = r"extern|static|const|volatile|unsigned|signed|struct|union|enum|int|char|long|short|float|double|_Bool"
ERROR = re.compile(r"\b(?:reach_error|__VERIFIER_error|__VERIFIER_assert|assert|__assert_fail)\s*\(")
DECLARATION = re.compile(rf"(?:{WORDS})\b|\w+_t\s+\w")


class NotRead(Exception):
    """What is wrong with the witness."""


def demand(holds: Any, reason: str) -> None:
    if not holds:
        raise NotRead(reason)


def read(program: Path, witness: Path) -> tuple[str, list[Any], str]:
    """The type of the entry, its content and the data model."""
    try:
        entries = yaml.safe_load(witness.read_text())
        (entry,) = (e for e in entries if e["entry_type"] in ("violation_sequence", "invariant_set"))
        metadata, task = entry["metadata"], entry["metadata"]["task"]
        demand(str(metadata["format_version"]).startswith("2."), "another version of the format")
        uuid.UUID(str(metadata["uuid"]))
        datetime.fromisoformat(str(metadata["creation_time"]).replace("Z", "+00:00"))
        demand(metadata["producer"]["name"] and metadata["producer"]["version"], "no producer")
        demand(task["language"] == "C" and "CHECK(" in task["specification"], "another language, or no specification")
        demand([os.path.basename(f) for f in task["input_files"]] == [program.name], "about another program")
        (digest,) = task["input_file_hashes"].values()
        demand(digest == hashlib.sha256(program.read_bytes()).hexdigest(), "the program is not the one of the witness")
        demand(
            isinstance(entry["content"], list) and task["data_model"] in ("ILP32", "LP64"), "no content, or data model"
        )
    except (yaml.YAMLError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise NotRead(f"not of the format: {error!r}") from None
    return entry["entry_type"], entry["content"], task["data_model"]


class Instrumented:
    """A program, and texts to be put into it, each at an offset. All lines stay where they are."""

    def __init__(self, program: Path) -> None:
        self.name, self.text = program.name, program.read_text(errors="replace")
        hidden = r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|^[ \t]*#(?:\\\n|[^\n])*"
        flags = re.DOTALL | re.MULTILINE
        self.plain = re.sub(hidden, lambda m: re.sub(r"[^\n]", " ", m[0]), self.text, flags=flags)
        self.starts = [0, *(m.end() for m in re.finditer("\n", self.text)), len(self.text) + 1]
        self.added: list[tuple[int, str]] = []

    def result(self) -> str:
        text = self.text
        for offset, new in sorted(self.added, key=lambda a: -a[0]):  # what is put last at one place comes first
            text = text[:offset] + new + text[offset:]
        head = "int witness_at(int, int); void witness_true(int, int), witness_error(void), witness_left(void);"
        head += " void __VERIFIER_assert(int);"
        return f'{head}\n#line 1 "{self.name}"\n{text}'

    def offset(self, location: Any) -> int:
        line, column = location["line"], location.get("column")
        demand(os.path.basename(str(location["file_name"])) == self.name, "a location in another file")
        demand(isinstance(line, int) and 1 <= line < len(self.starts), f"there is no line {line}")
        place = self.starts[line - 1] + (0 if column is None else column - 1)
        demand(self.starts[line - 1] <= place < self.starts[line], f"line {line} has no column {column}")
        return place

    def closing(self, opening: int) -> int:
        """The place of the parenthesis that closes this one."""
        depth = 0
        for i in range(opening, len(self.plain)):
            depth += {"(": 1, ")": -1}.get(self.plain[i], 0)
            if depth == 0:
                return i
        raise NotRead("a parenthesis that is not closed")

    def before_statement(self, location: Any, call: str) -> None:
        place = self.offset(location)
        while self.plain[place] in " \t}\n":
            place += 1
        is_declaration = DECLARATION.match(self.plain, place)
        self.added.append((place, f"{call}; " if is_declaration else f"if ({call}) {{}} else "))

    def at_result(self, location: Any, calls: str) -> None:
        """`witness_value` is what the call returns whose closing parenthesis is at the location."""
        place = self.offset(location)
        line = self.plain.rfind("\n", 0, place) + 1
        opened = re.compile(r"\b\w+\s*\(").finditer(self.plain, line, place + 1)
        (called,) = [m for m in opened if self.closing(m.end() - 1) == place] or [None]
        if called is None:
            raise NotRead(f"no call ends at {location}")
        whole = self.text[called.start() : place + 1]
        self.added.append((called.start(), f"({{ __typeof__({whole}) witness_value = "))
        self.added.append((place + 1, f"; {calls}; witness_value; }})"))

    def at_error(self, location: Any, call: str) -> None:
        """The target is the first call of an error function in the statement at the location."""
        place = self.offset(location)
        called = ERROR.search(self.plain, place, max(place, self.plain.find(";", place)))
        if called is None:
            raise NotRead(f"no error function is called at line {location['line']}")
        before = self.plain[: called.start()].rstrip()
        demand(before.endswith((*";{}):", "else", "do")), "the call of the error function is no statement")
        self.added.append((called.start(), f"if ({call}) {{}} else "))
        self.added.append((self.closing(called.end() - 1) + 1, ", witness_left()"))

    def at_loop(self, location: Any, call: str) -> None:
        place = self.offset(location)
        loop = re.compile(r"\b(while|for|do)\b").search(self.plain, place, self.plain.index("\n", place))
        if loop is None:
            raise NotRead(f"no loop begins at line {location['line']}")
        if loop[1] == "do":
            body = re.compile(r"\s*\{").match(self.plain, loop.end())
            if body is None:
                raise NotRead(f"the body of the loop at line {location['line']} is no block")
            self.added.append((body.end(), f" {call};"))
            return
        begin = self.plain.index("(", loop.end()) + 1
        end = self.closing(begin - 1)
        if loop[1] == "for":
            begin = self.plain.index(";", begin) + 1
            end = self.plain.index(";", begin)
        is_empty = not self.plain[begin:end].strip()
        self.added += [(begin, f"{call}, ({'1' if is_empty else ''}"), (end, ")")]

    def with_errors(self) -> None:
        """The error function of the program calls the harness."""
        for m in re.finditer(r"\b(?:reach_error|__VERIFIER_error)\s*\(\s*(?:void)?\s*\)\s*\{", self.plain):
            self.added.append((m.end(), " witness_error();"))


def harness(plain: str, constants: list[list[str]], target: int) -> str:
    first = [sum(map(len, constants[:i])) for i in range(len(constants) + 1)]
    values = [n if "." in n or "e" in n else f"{n}.0" for own in constants for n in own]
    parts = [f"#define TARGET ({target})\n#define WEAK __attribute__((weak))"]
    parts += [f"static const long double values[] = {{ {', '.join(f'{n}L' for n in values) or '0'} }};"]
    parts += [f"static const int first[] = {{ {', '.join(map(str, first))} }};", HARNESS]
    for name in dict.fromkeys(re.findall(r"\b(?:__VERIFIER_)?nondet_\w+", plain)):
        kind = KINDS.get(name.split("nondet_")[1])
        demand(kind, f"the type of {name} is not known here")
        whole = "v < 0 ? (long long)v : (unsigned long long)v"
        given = {"_Bool": "v != 0", "float": "v", "double": "v"}.get(str(kind), f"({kind})({whole})")
        parts.append(f"WEAK {kind} {name}(void) {{ long double v = chosen(); return {given}; }}")
    return "\n".join(parts)


class Runs:
    """The program with the harness, compiled."""

    def __init__(self, folder: str, program: str, support: str, model: str, options: argparse.Namespace) -> None:
        self.binary, self.seconds = Path(folder, "run"), options.seconds
        for name, text in (("program.c", program), ("harness.c", support)):
            Path(folder, name).write_text(text)
        command = [options.cc, "-w", "-std=gnu11", "-O0", "-fsanitize=undefined,address", "-fno-sanitize-recover=all"]
        command += ["-m32"] if model == "ILP32" else ["-m64"]
        command += [str(Path(folder, "program.c")), str(Path(folder, "harness.c")), "-lm", "-o", str(self.binary)]
        built = subprocess.run(command, capture_output=True, text=True)
        demand(built.returncode == 0, f"the program does not compile with the witness: {built.stderr.strip()[:300]}")

    def run(self, choices: str) -> list[tuple[str, int]]:
        """What the harness said."""
        environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0", "CHOICES": choices}
        try:
            text = subprocess.run([str(self.binary)], capture_output=True, timeout=self.seconds, env=environment).stderr
        except subprocess.TimeoutExpired as late:
            text = late.stderr or b""
        return [(m[1].decode(), int(m[2])) for m in re.finditer(rb"^WITNESS (\w+) (\d+)$", text, re.MULTILINE)]


def violation(program: Path, content: list[Any], model: str, options: argparse.Namespace) -> tuple[int, str]:
    made, groups, constants = Instrumented(program), dict[tuple[bool, int], list[tuple[str, str, Any]]](), []
    waypoints = [w["waypoint"] for segment in content for w in segment["segment"]]
    demand(waypoints, "no waypoints")
    for number, waypoint in enumerate(waypoints):
        kind, is_last = waypoint["type"], number == len(waypoints) - 1
        demand(kind in ("assumption", "target", "function_return"), f"waypoints of type {kind} are not supported")
        demand(waypoint["action"] == "follow" and (kind == "target") == is_last, "only a path to a target is supported")
        if is_last:
            made.at_error(waypoint["location"], f"witness_at({number}, 1)")  # first, so that it comes last in the text
            constants.append([])
            continue
        text = str(waypoint["constraint"]["value"]).replace("\\result", "witness_value")
        constants.append(re.findall(r"(?<![\w.])-?\d[\d.]*(?:e[-+]?\d+)?", text))
        group = groups.setdefault((kind == "function_return", made.offset(waypoint["location"])), [])
        about = re.sub(r"[-\d.]", "", text)
        group.append((f"witness_at({number}, ({text}) != 0)", f"{about}{kind}", waypoint["location"]))
    for (is_result, _), group in groups.items():
        calls = [call for call, _, _ in group]
        if len({about for _, about, _ in group}) < len(group):
            calls.reverse()  # of a loop: each round passes one of them
        put = made.at_result if is_result else made.before_statement
        put(group[0][2], f"({', '.join(calls)})")
    made.with_errors()
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(folder, made.result(), harness(made.plain, constants, len(waypoints) - 1), model, options)
        choices = list[int]()
        for count in range(1, options.runs + 1):
            said = runs.run(",".join(map(str, choices)))
            if said and said[-1][0] == "confirmed":
                return HOLDS, f"confirmed: run {count} follows the witness to the error"
            most = [n for what, n in said if what == "input"]
            choices = (choices + [0] * len(most))[: len(most)]
            while choices and choices[-1] + 1 >= most[len(choices) - 1]:
                choices.pop()
            if not choices:
                return UNDECIDED, f"undecided: none of {count} runs follows the witness to the error"
            choices[-1] += 1
    return UNDECIDED, f"undecided: none of {options.runs} runs follows the witness to the error"


def correctness(program: Path, content: list[Any], model: str, options: argparse.Namespace) -> tuple[int, str]:
    made, asserted = Instrumented(program), Instrumented(program)
    for number, invariant in enumerate(entry["invariant"] for entry in content):
        demand(invariant["type"] == "loop_invariant", f"{invariant['type']} is not supported")
        demand(invariant["format"] == "c_expression", f"{invariant['format']} is not supported")
        made.at_loop(invariant["location"], f"witness_true({number + 1}, ({invariant['value']}) != 0)")
        asserted.at_loop(invariant["location"], f"__VERIFIER_assert({invariant['value']})")
    made.with_errors()
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(folder, made.result(), harness(made.plain, [[]], -1), model, options)
        for seed in range(options.runs):
            for what, number in runs.run(str(seed)):
                reason = {"broken": f"invariant {number} is false", "error": "the error is reached"}[what]
                return REJECTED, f"rejected: {reason} in run {seed + 1}"
        if options.prover is None:
            return HOLDS, f"not refuted: {len(content)} invariants were true in {options.runs} runs"
        source = Path(folder, program.name)
        source.write_text(asserted.result())
        return proof([*shlex.split(options.prover), str(source)])


def proof(command: list[str]) -> tuple[int, str]:
    """The verdicts about assertions, which the prover prints as JSON."""
    done = subprocess.run(command, capture_output=True, text=True)
    try:
        verdicts = {p["verdict"] for p in json.loads(done.stdout)["properties"] if not p.get("implied")}
    except (ValueError, KeyError):
        return UNDECIDED, f"undecided: the prover failed: {done.stderr.strip()[:200]}"
    if "falsified" in verdicts:
        return REJECTED, "rejected: the prover has refuted an assertion"
    if verdicts == {"proved"}:
        return HOLDS, "confirmed: the invariants and the assertions have been proved"
    return UNDECIDED, "undecided: the prover has no answer"


def main() -> int:
    parser = argparse.ArgumentParser(description="Validate a witness for a C program.")
    parser.add_argument("program", type=Path)
    parser.add_argument("witness", type=Path)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=2, help="for one run")
    parser.add_argument("--prover", help="a command that proves assertions and prints JSON")
    parser.add_argument("--cc", default="gcc")
    options = parser.parse_args()
    try:
        kind, content, model = read(options.program, options.witness)
        judge = violation if kind == "violation_sequence" else correctness
        status, answer = judge(options.program, content, model, options)
    except (NotRead, KeyError, TypeError) as error:
        status, answer = NOT_READ, f"not read: {error}"
    print(answer)
    return status


if __name__ == "__main__":
    sys.exit(main())
