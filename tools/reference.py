"""Write docs/reference.md and docs/engines.md, from docstrings, the operator table and the registry of engines.

    python tools/reference.py [--check]

With --check nothing is written: the exit status is 1 if a page is not up to date.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import streamcheck
from streamcheck.api.engines import list_engines
from streamcheck.core.operators import OPERATORS
from streamcheck.core.operators.table import Operator
from streamcheck.core.types import BOOL, INT, REAL, FloatType, Type, enum_of, machine
from streamcheck.engines.settings import options_of
from streamcheck.run.registry import ENGINES, EngineEntry

ROOT = Path(__file__).parent.parent
SAMPLES: dict[str, Type] = {"Bool": BOOL, "Int8 … Int64": machine(8, signed=True)}
SAMPLES |= {"Word8 … Word64": machine(8, signed=False), "Int": INT, "Real": REAL, "Float, Double": FloatType(32)}
SAMPLES |= {"enums": enum_of("E", (("A", 0), ("B", 1)))}
CITED = re.compile(r"(?<![\w.\]{])\[([A-Z][^\[\]]*)\]")
KEY = re.compile(r"(TUM|[A-Z]+\d\d|[A-Z]\w*[a-z]\w*)(?=[\s,]|$)")
MADE = "<!-- made by tools/reference.py -->"
OPERATORS_HEAD = """\
Each row has the operator as it is written, the types of its operands, and its meaning as Python, SMT-LIB and C over the
operands a, b, c. `{…}` stands for facts of the type: `{w}` its width, `{T}` its name in C. *wraps*: the result wraps
around to the type. A condition in the last column is the implied property of each use."""
ENGINES_HEAD = """\
All engines run side by side and exchange what they find ([command.md](command.md#engines)). This page has each with the
sources that its module cites ([references.md](references.md) has all) and its switches, which
`--set ENGINE.OPTION=VALUE` sets, as `streamcheck engines` lists them. Every option has a row in the ablation of
`tests/bench/engines.py --ablation`, which counts what each idea saves."""


def reference() -> Iterator[str]:
    """The public names and the operators."""
    yield from ("# Reference", "", MADE, "")
    yield "The public names, from their docstrings; then the operators, from the table that has all meanings."
    yield from ("", "## What a spec is made of", "")
    names = [name for name in streamcheck.__all__ if not isinstance(getattr(streamcheck, name), ModuleType)]
    for name in sorted(names, key=str.lower):
        yield from _entry(name, getattr(streamcheck, name), "###")
    yield from ("## The library", "")
    for name in streamcheck.__all__:
        module = getattr(streamcheck, name)
        if isinstance(module, ModuleType):
            yield from (f"### {name}", "")
            for function, value in vars(module).items():
                if inspect.isfunction(value) and value.__module__ == module.__name__ and not function.startswith("_"):
                    yield from _entry(f"{name}.{function}", value, "####")
    yield from ("## Results", "", "The command's results as objects ([command.md](command.md#from-python)).", "")
    for name in sorted(streamcheck.RESULTS, key=str.lower):
        yield from _entry(name, getattr(streamcheck, name), "###")
    yield from _operators()


def _entry(name: str, value: Any, head: str) -> Iterator[str]:
    """A heading with the signature, the docstring, and the methods of a class."""
    yield from (f"{head} {name}", "")
    text = inspect.getdoc(value) or ""
    if callable(value):
        text = f"{name}{_signature(value)}\n\n{text}".rstrip()
    yield from ("```", text, "```", "")
    if inspect.isclass(value) and value.__module__.startswith("streamcheck."):
        members = sorted(n for n in dir(value) if not n.startswith("_"))
        rows = [(n, inspect.getattr_static(value, n)) for n in members]
        described = [(n, m.__func__ if isinstance(m, staticmethod | classmethod) else m) for n, m in rows]
        for member, what in described:
            doc = inspect.getdoc(what.fget if isinstance(what, property) else what) or ""
            if inspect.isfunction(what) and doc:
                yield f"- `{name}.{member}{_signature(what)}`: {_line(doc)}"
            elif isinstance(what, property) and doc:
                yield f"- `{name}.{member}`: {_line(doc)}"
        yield ""


def _signature(value: Any) -> str:
    try:
        text = str(inspect.signature(value))
    except (TypeError, ValueError):
        return "(…)"
    return re.sub(r"<[^<>]*>", "…", text.replace("'", "").replace("streamcheck.lang.stream.", ""))


def _line(doc: str) -> str:
    """The first paragraph as one line of Markdown."""
    return " ".join(doc.partition("\n\n")[0].split()).replace("<", "&lt;")


def _operators() -> Iterator[str]:
    yield from ("## Operators", "")
    yield OPERATORS_HEAD
    yield from ("", "| written | types | Python | SMT-LIB | C | |", "|---|---|---|---|---|---|")
    for operator in OPERATORS.values():
        types = _types(operator)
        columns = (_form(operator, column) for column in (operator.python, operator.smt, operator.c))
        remarks = "; ".join(text for text in ("wraps" * operator.wraps, operator.requires) if text)
        yield f"| {_code(operator.shown)} | {', '.join(types)} | {' | '.join(columns)} | {_escaped(remarks)} |"


def _types(operator: Operator) -> list[str]:
    """The kinds of types that its rule accepts for all operands alike."""
    accepted = []
    for name, type in SAMPLES.items():
        try:
            operator.rule((type,) * (operator.arity or 1), None)
        except Exception:
            continue
        accepted.append(name)
    return accepted


def _form(operator: Operator, column: Any) -> str:
    """The text of a column; of several, one for each kind of type."""
    if column is None:
        return "expanded before"
    if isinstance(column, str):
        return _code(column)
    if isinstance(column, dict):
        return "<br>".join(f"{kind}: {_form(operator, form)}" for kind, form in column.items())
    return "made for each type"


def _code(text: str) -> str:
    return f"`` {_escaped(text)} ``" if "`" in text else f"`{_escaped(text)}`"


def _escaped(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def engines() -> Iterator[str]:
    """The engines, with the papers that their modules cite and their switches."""
    known = _references()
    yield from ("# Engines", "", MADE, "")
    yield from (ENGINES_HEAD, "")
    for info in list_engines():
        entry = ENGINES[info.name]
        yield from (f"## {info.name}", "", f"{info.summary[:1].upper()}{info.summary[1:]}.", "")
        if info.needs:
            yield from (f"Runs together with {', '.join(info.needs)}, whose facts it needs.", "")
        module = _module(entry)
        yield from (f"Module: `{module}`.", "")
        papers = [key for key in _cited(ROOT / module) if key in known]
        if papers:
            yield from (*(f"- [{key}] {known[key]}" for key in papers), "")
        options = options_of(entry.options)
        if options:
            yield from ("| switch | default | values | |", "|---|---|---|---|")
            for option in options:
                shown = {True: "on", False: "off"}.get(option.default, option.default)  # type: ignore[call-overload]
                summary = _escaped(option.summary)
                yield f"| `{info.name}.{option.name}` | {shown} | {_escaped(option.values)} | {summary} |"
            yield ""


def _module(entry: EngineEntry) -> str:
    """The path of the module that its loader imports."""
    tree = ast.parse(inspect.getsource(entry.load))
    (name,) = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    return f"{str(name).replace('.', '/')}.py"


def _cited(path: Path) -> list[str]:
    """The keys that a module cites, in their order."""
    keys = [part.strip() for citation in CITED.findall(path.read_text()) for part in citation.split(";")]
    return list(dict.fromkeys(match[1] for key in keys if (match := KEY.match(key))))


def _references() -> dict[str, str]:
    """The entries of docs/references.md by key."""
    text = (ROOT / "docs" / "references.md").read_text()
    return {key: " ".join(entry.split()) for key, entry in re.findall(r"^- \[(\w+)\] (.*(?:\n  .*)*)", text, re.M)}


PAGES = {"docs/reference.md": reference, "docs/engines.md": engines}


def main() -> int:
    outdated = 0
    for name, lines in PAGES.items():
        text = "\n".join(line.rstrip() for part in lines() for line in part.splitlines() or [""])
        text = re.sub(r"\n{3,}", "\n\n", text).rstrip() + "\n"
        path = ROOT / name
        if "--check" in sys.argv:
            if not path.exists() or path.read_text() != text:
                print(f"{name} is not up to date; write: python tools/reference.py", file=sys.stderr)
                outdated = 1
        else:
            path.write_text(text)
    return outdated


if __name__ == "__main__":
    import_module("streamcheck.public")
    sys.exit(main())
