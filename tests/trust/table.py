"""The rows of the table: what computes a figure, and how much of it is tried in the tests, by default, and in long."""

from importlib import import_module
from typing import NamedTuple


class Row(NamedTuple):
    module: str
    in_tests: int
    usual: int
    long: int
    needs_linux: bool = False  # reads /proc

    def figure(self, name, count, seed):
        return getattr(import_module(f"trust.{self.module}"), name)(count, seed)


TABLE = {
    "operators": Row("figures", 30_000, 200_000, 1_000_000),
    "runs": Row("figures", 25, 200, 2_000),
    "states": Row("decided", 8, 60, 5_000),
    "families": Row("families", 3, 30, 1_000),
    "certificates": Row("certificates", 150, 1_000, 10_000),
    "forged": Row("parts", 60, 1_000, 10_000),
    "traces": Row("traces", 150, 1_000, 10_000),
    "questions": Row("questions", 12, 60, 2_000),
    "records": Row("records", 10, 50, 1_000),
    "malformed": Row("malformed", 400, 2_000, 200_000),
    "pages": Row("pages", 3, 30, 2_000),
    "c": Row("c", 4, 20, 2_000),
    "solvers": Row("solvers", 600, 4_000, 1_000_000),
    "faults": Row("faults", 6, 60, 500),
    "deterministic": Row("deterministic", 3, 20, 100),
    "docs": Row("docs", 1, 1_000, 1_000),
    "mutation": Row("mutation", 6, 70, 700, needs_linux=True),
    "killed": Row("killed", 10, 50, 2_000, needs_linux=True),
    "limits": Row("limits", 6, 30, 300, needs_linux=True),
    "long": Row("long", 4, 50, 1_000, needs_linux=True),
    "signals": Row("signals", 10, 50, 500, needs_linux=True),
}
