"""The tiny checker as a module, with a solver in this process; and its answers beside those of the first checker.

python tests/tiny.py        prints how both judge what the planted faults lead to
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path

from base_lines import TINY
from planted_faults import faults
from planting import Planted

from streamcheck.certify import solvers
from streamcheck.certify.check import Checker
from streamcheck.problem.certificate_json import certificate_to_plain
from streamcheck.problem.specification import Specification
from streamcheck.problem.specification_json import to_plain
from streamcheck.problem.verdict import Certificate

SECONDS = 5.0


def load():
    found = importlib.util.spec_from_file_location("tiny_checker", TINY)
    module = importlib.util.module_from_spec(found)
    sys.modules[found.name] = module
    found.loader.exec_module(module)
    module.answer_of = in_process
    return module


def in_process(_solver, text, seconds):
    """The answer of cvc5, without a process for each query."""
    answer = solvers.cvc5(text.replace("(check-sat)", ""), seconds, {})
    return {True: "unsat", False: "sat", None: "unknown"}[answer]


TINY_CHECKER = load()


def row_of(specification, prop, certificate):
    """A certificate, as the file that `prove` saves."""
    head = {"format": "streamcheck certificate 2", "file": "s.py", "spec": specification["name"], "property": prop}
    return {**head, "claim": "proved", "prover": "z3", **certificate}


def judged_by_tiny(specification, prop, certificate):
    """`proved`, `not proved`, `undecided`, `not read` or `damaged`; the equations and the certificate are plain."""
    try:
        return TINY_CHECKER.check(specification, row_of(specification, prop, certificate), [], SECONDS)[0]
    except TINY_CHECKER.NotRead:
        return "not read"
    except Exception:
        return "damaged"


def recorded(fault, folder):
    """The outcome of a planted fault. What the first checker judges meanwhile is kept in the folder."""
    first = Checker.check

    def check(self, prop, evidence):
        rejected = first(self, prop, evidence)
        if isinstance(self.problem, Specification) and isinstance(evidence, Certificate):
            answer = "proved" if rejected is None else "undecided" if rejected.undecided else "not proved"
            row = [to_plain(self.problem), prop, certificate_to_plain(evidence), answer]
            file, path = tempfile.mkstemp(dir=folder)
            os.write(file, json.dumps(row).encode())
            os.close(file)
            os.rename(path, f"{path}.json")
        return rejected

    with Planted() as planted:
        planted.set(Checker, "check", check)
        return fault.outcome()


def compared(fault):
    """Both answers to each certificate that a planted fault leads to."""
    with tempfile.TemporaryDirectory() as folder:
        recorded(fault, folder)
        for path in sorted(Path(folder).glob("*.json")):
            specification, prop, certificate, answer = json.loads(path.read_text())
            yield answer, judged_by_tiny(specification, prop, certificate)


if __name__ == "__main__":
    pairs = Counter(pair for fault in faults() for pair in compared(fault))
    for (first, second), count in sorted(pairs.items()):
        print(f"{count:5}  first: {first}, tiny: {second}")
