"""An example `main.c`: the smallest user of the generated C that builds and runs."""

from __future__ import annotations

from collections.abc import Iterator

from streamcheck.codegen import text
from streamcheck.codegen.lower import Lowered
from streamcheck.codegen.names import CNames
from streamcheck.core.types import StructType, Type, default, part_names

STEPS = 10


def example(low: Lowered, names: CNames, copilot: bool) -> Iterator[str]:
    from streamcheck.codegen.unit import handler_signature

    name = names.spec
    externs = low.externs
    yield text.comment(f"How to use {name}.h. Build and run:  cc -std=c99 main.c {name}.c -lm && ./a.out")
    yield f'#include "{name}.h"'
    yield from ("", "#include <stdio.h>", "")
    for trigger in low.specification.triggers:
        static = "static " if names.handlers == "table" else ""
        yield from (f"{static}void {handler_signature(names, trigger)}", "{")
        for parameter in (*names.links[-1:], *names.parameters(trigger.name)):
            yield f"    (void){parameter};"
        yield from (f'    (void)printf("{names.trigger(trigger.name)}\\n");', "}", "")
    if copilot:
        yield from (f"{text.declaration(i.type, names.extern(i.name))};" for i in externs)
        yield ""
    yield from ("int main(void)", "{")
    if not copilot:
        yield f"    {name}_state state;"
        if externs:
            yield f"    {name}_inputs inputs;"
        if names.handlers == "table":
            called = [names.trigger(t.name) for t in low.specification.triggers]
            yield f"    static const {name}_handlers handlers = {{{', '.join(f'.{c} = {c}' for c in called)}}};"
        values = {"user": ", NULL", "handlers": ", &handlers"}
        yield f"    {name}_init(&state{''.join(values[link] for link in names.links)});"
    round = names.fresh("i")
    yield f"    for (int {round} = 0; {round} < {STEPS}; {round}++) {{"
    for given in externs:
        root = names.extern(given.name) if copilot else f"inputs.{names.extern(given.name)}"
        yield f"        /* read {given.name} here */"
        for part, type in part_names("", given.type):
            yield f"        {text.c_path(root, part)} = {_zero(type)};"
    call = f"{names.step}()" if copilot else f"{name}_step(&state{', &inputs' if externs else ''})"
    yield from (f"        {call};", "    }", "    return 0;", "}")


def _zero(type: Type) -> str:
    assert not isinstance(type, StructType)
    return text.literal(type, default(type)).text
