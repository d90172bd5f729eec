"""A solver's Python package as a program: SMT-LIB on standard input, the answer on standard output.

python tests/solver_process.py cvc5        or bitwuzla
"""

from __future__ import annotations

import importlib
import sys


def cvc5(text: str) -> str:
    package = importlib.import_module("cvc5")
    solver = package.Solver(package.TermManager())
    parser = package.InputParser(solver)
    parser.setStringInput(package.InputLanguage.SMT_LIB_2_6, text, "input")
    symbols, answers = parser.getSymbolManager(), []
    while not (command := parser.nextCommand()).isNull():
        answers.append(command.invoke(solver, symbols))
    return "".join(answers)


def bitwuzla(text: str) -> str:
    package = importlib.import_module("bitwuzla")
    parser = package.Parser(package.TermManager(), package.Options())
    parser.parse(text.replace("(check-sat)", ""), True, False)
    return f"{parser.bitwuzla().check_sat()}\n"


if __name__ == "__main__":
    sys.stdout.write({"cvc5": cvc5, "bitwuzla": bitwuzla}[sys.argv[1]](sys.stdin.read()))
