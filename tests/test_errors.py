"""Every mistake the language knows, and the full text it is answered with (`errors.txt`: code, `---`, text, `===`).

`python tests/test_errors.py` writes the texts anew, to be read before they are committed.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from streamcheck.core.errors import SpecError
from streamcheck.run.source import Target, read

CASES = Path(__file__).parent / "errors.txt"
PREAMBLE = """\
import enum
from streamcheck import *
class Mode(enum.Enum):
    IDLE = 0
    RUN = 1
@struct
class Point:
    x: Int16
    y: Int16
x, y = extern("x", Word8), extern("y", Int16)
b, c = extern("b", Bool), extern("c", Bool)
n, r = extern("n", Int), extern("r", Real)
f, d = extern("f", Float), extern("d", Double)
a, m, p = extern("a", Array(Word8, 3)), extern("m", EnumOf(Mode)), extern("p", Point)
spec = Spec("s")
"""


def read_cases():
    for block in CASES.read_text().split("\n===\n"):
        if block.strip():
            code, _, text = block.partition("\n---\n")
            yield code.strip("\n"), text.strip("\n")


def answer(code, folder):
    """What loading and flattening the code says, with the folder's name taken out."""
    path = folder / "spec.py"
    path.write_text(PREAMBLE + code + "\n")
    try:
        read(Target.parse(str(path)))
    except SpecError as error:
        return str(error).replace(f"{folder}/", "")
    return "no error"


@pytest.mark.parametrize(("code", "text"), list(read_cases()), ids=lambda s: s.split("\n")[0][:60])
def test_error(code, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert answer(code, tmp_path) == text


if __name__ == "__main__":
    import os
    import tempfile

    blocks = []
    for code, _ in read_cases():
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            blocks.append(f"{code}\n---\n{answer(code, Path(os.path.realpath(folder)))}\n===\n")
    CASES.write_text("".join(blocks))
