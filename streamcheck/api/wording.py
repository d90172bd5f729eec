"""The options of the command in messages, as Python has them: `--memory` is `memory=`."""

from __future__ import annotations

import re

from streamcheck.core.errors import SpecError
from streamcheck.core.location import here

OPTIONS = (  # patterns of the command's words, and Python's
    (r"streamcheck prove \S+ --certificates \w+", 'prove(certificates="certificates")'),
    (r"streamcheck show FILE --as json|--as json", 'show("json")'),
    (r"prove --trace (\w+)", r'prove(traces=[("\1", "traces")])'),
    (r"--(abi|handlers|optimize) (context|copilot|functions|table|size|speed)", r"\1='\2'"),
    (r"--(abi|handlers|optimize)", r"\1="),
    (r"--prefix fsw_", r"prefix='fsw_'"),
    (r"--with test", "'test' in extras="),
    (r"--with", "extras="),
    (r"--int (c|math)", r"integers='\1'"),
    (r"--int", "integers="),
    (r"--steps is", "steps is"),
    (r"--steps (\d+)-(\d+)", r"steps=(\1, \2)"),
    (r"--steps (\d+)", r"steps=\1"),
    (r"--input [\w.]+", "inputs=…"),
    (r"--no-cache", "cache=None"),
    (r"--no-(blocks|validate)", r"\1=False"),
    (r"--set", "options="),
    (r"--proofs DIR", "proofs="),
    (r"--proof-checker", "proof_checker="),
    (r"--(engine|prop|predicate)", r"\1s="),
    (r"--on", "on="),
    (r"--data-model ([\w-]+)", r"data_model='\1'"),
    (r"--data-model", "data_model="),
    (r"--link", "linked="),
    (r"--eval", "expressions="),
    (r"--(timeout|memory|bound|jobs|prefix|witness)", r"\1="),
    (
        r"--(unproven|observers|assumptions|narrow|strict|pack|deterministic|native|sandbox|full|violations|fail"
        r"|strict-math|measure-math|ignore-extra|reachable|compositional|refines)",
        lambda m: m[1].replace("-", "_") + "=True",
    ),
)
HAS_A_LINE = re.compile(r"\S+:\d+: ")
EXPRESSION = "--eval"  # the file of an expression


def in_python(text: str) -> str:
    """The text with Python's names of options. Lines of the user's code, which are indented, stay as they are."""
    return "\n".join(line if line.startswith("    ") else _line_in_python(line) for line in text.split("\n"))


def _line_in_python(line: str) -> str:
    line = re.sub(r"\(--(\w+)\)", lambda m: f"({_line_in_python('--' + m[1])})", line)
    line = re.sub(rf"{EXPRESSION}:(\d+): ", lambda m: f"expressions[{int(m[1]) - 1}]: ", line)
    for pattern, words in OPTIONS:
        line = re.sub(rf"(?<![\w-]){pattern}(?![\w-])", words, line)
    return line


def speak_python(mistake: SpecError) -> None:
    """Give the error Python's words, and the user's line if it has none."""
    mistake.message, mistake.write = in_python(mistake.message), in_python(mistake.write)
    mistake.args = (mistake.message,)
    if mistake.where is not None and mistake.where.file == EXPRESSION:
        mistake.message = f"expressions[{mistake.where.line - 1}]: {mistake.message}"
        mistake.where = None
    if mistake.where is None and not HAS_A_LINE.match(mistake.message):
        mistake.where = here()
