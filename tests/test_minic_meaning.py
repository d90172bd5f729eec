"""What changes the meaning of a C program: refused if it is not modelled."""

from __future__ import annotations

import pytest
from test_minic import ends, read

from streamcheck.core.errors import SpecError
from streamcheck.frontends.minic.read import read_c

__all__ = ["read"]


@pytest.mark.parametrize(
    ("directive", "message"),
    [
        ("#define NDEBUG", "2: NDEBUG leaves out every assert"),
        ("#pragma pack(1)", "2: #pragma pack changes the layout"),
    ],
)
def test_directives_that_change_the_meaning_are_refused(tmp_path, directive, message):
    path = tmp_path / "a.c"
    path.write_text(f"#include <assert.h>\n{directive}\nint main(void) {{ assert(1); }}\n")
    with pytest.raises(SpecError, match=message):
        read_c(str(path), "c")


def test_the_version_of_the_language_is_known(read):
    program = read("int r; int main(void) {\n#if __STDC_VERSION__ >= 199901L\n r = 1;\n#else\n r = 2;\n#endif\n}")
    assert ends(program) == 1


@pytest.mark.parametrize(
    ("parameter", "argument", "is_refused"),
    [("int", "0.5", True), ("int", "1L << 32", True), ("unsigned char", "256", True), ("int", "1 < 2", False)],
)
@pytest.mark.parametrize("name", ["__VERIFIER_assert", "__VERIFIER_assume"])
def test_conditions_that_lose_their_value_as_parameters_are_refused(tmp_path, name, parameter, argument, is_refused):
    path = tmp_path / "a.c"
    path.write_text(f"extern void {name}({parameter} c);\nint main(void) {{ {name}({argument}); }}\n")
    if not is_refused:
        read_c(str(path), "c")
        return
    with pytest.raises(SpecError, match=r"a.c:2: .* loses its value as"):
        read_c(str(path), "c")
