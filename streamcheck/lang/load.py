"""Loading a spec: run a Python module and collect the Spec objects at its top level.

Errors in the user's code are reported with the user's lines, without the frames of this package.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from streamcheck.core.depth import room_for_users
from streamcheck.core.errors import SpecError
from streamcheck.core.types import plural
from streamcheck.core.unsaved import unsaved_text
from streamcheck.lang import syntax
from streamcheck.lang.component import ComponentBase, ContractBase, alone, fixed_defaults
from streamcheck.lang.instances import BodySpec
from streamcheck.lang.slips import innermost_line, syntax_error, translate_error
from streamcheck.lang.spec import SpecBase, record_specs


class LoadedSpecs(list[SpecBase]):
    """The specs of a module. `left_out` describes those that it made and that no name at its top level refers to."""

    left_out: tuple[str, ...] = ()


def load(path: str, wanted: str | None = None) -> LoadedSpecs:
    """The specs of a module, imported ones and those in lists and dictionaries included, each once, in the order of its
    names. If none is `wanted` by name, a component or contract of that name is; if there is no spec, all of them."""
    with record_specs() as made:
        module = _module(path)
    specs = LoadedSpecs(_specs_in(vars(module)))
    specs.left_out = tuple(_left_out(specs, made))
    if not specs or (wanted is not None and wanted not in [spec.name for spec in specs]):
        with in_user_terms(), room_for_users():
            specs += _bodies_in(vars(module), wanted)
    if not specs:
        raise _no_spec_error(path, specs.left_out)
    names: dict[str, SpecBase] = {}
    for spec in specs:
        other = names.setdefault(spec.name, spec)
        if other is not spec:
            raise SpecError(f'a second Spec named "{spec.name}"', spec.where, also=(("the first", other.where),))
    return specs


def _specs_in(names: Mapping[str, Any]) -> dict[SpecBase, None]:
    """The specs that these names refer to, directly or in lists, tuples, sets and dictionaries."""
    specs: dict[SpecBase, None] = {}
    stack = [value for name, value in names.items() if name != "__builtins__"][::-1]
    seen: set[int] = set()
    while stack:
        value = stack.pop()
        if isinstance(value, SpecBase):
            specs[value] = None
        elif isinstance(value, list | tuple | set | frozenset | dict) and id(value) not in seen:
            seen.add(id(value))
            stack.extend(reversed(list(value.values() if isinstance(value, dict) else value)))
    return specs


def _bodies_in(names: Mapping[str, Any], wanted: str | None) -> Iterator[SpecBase]:
    """The components and contracts at the top level of a module, as specs, or the wanted one."""
    kinds = {kind.name: kind for kind in names.values() if isinstance(kind, ComponentBase | ContractBase)}
    for name, kind in kinds.items():
        fixed = fixed_defaults(kind)
        if wanted in (None, name) and fixed is not None:
            yield BodySpec(alone(kind, fixed))


def _left_out(specs: list[SpecBase], made: list[SpecBase]) -> Iterator[str]:
    """A line for each spec that declares anything and is not among the module's. Those at the top level of a module
    that it imports are no loss."""
    for spec in made:
        declared = bool(
            spec.properties or spec.witnesses or spec.recurring or spec.assumptions or spec.triggers or spec.observers
        )
        if declared and spec not in specs and spec not in _specs_in(spec.namespace):
            count = plural(len(spec.properties) + len(spec.witnesses) + len(spec.recurring), "property")
            yield f'spec "{spec.name}" ({spec.where}, {count}) is left out: no name at top level refers to it'


def _no_spec_error(path: str, left_out: tuple[str, ...]) -> SpecError:
    """The error for a module without specs, which mentions those that were lost or never made."""
    source = syntax.source_of(os.path.abspath(path))
    lines = () if source is None or left_out else syntax.lines_of_calls(source, "Spec")
    also = tuple((f"`Spec(…)` in line {line}, which did not run", None) for line in lines)
    also += tuple((line, None) for line in left_out)
    return SpecError(f"{path} has no Spec at its top level", also=also, write='spec = Spec("name")')


def _module(path: str) -> ModuleType:
    path = os.path.abspath(path)
    name = os.path.splitext(os.path.basename(path))[0]
    if name in sys.modules:  # a spec named like a loaded module must not replace it
        name = f"spec {name}"
    module = ModuleType(name)
    module.__file__ = path
    sys.modules[name] = module
    sys.path.insert(0, os.path.dirname(path))
    with in_user_terms(), room_for_users():
        exec(compile(_source(path), path, "exec"), vars(module))  # never a cached compilation of an older text
    return module


def _source(path: str) -> str | bytes:
    unsaved = unsaved_text(path)
    if unsaved is not None:
        return unsaved
    with open(path, "rb") as file:
        return file.read()


@contextmanager
def in_user_terms() -> Iterator[None]:
    """Turn every exception of the user's code into a SpecError with the user's line."""
    try:
        yield
    except SpecError:
        raise
    except SyntaxError as error:
        raise syntax_error(error) from None
    except SystemExit as error:
        where = innermost_line(error.__traceback__)
        raise SpecError(f"the spec called exit ({error.code}) while loading", where) from None
    except RecursionError as error:
        where = innermost_line(error.__traceback__)
        raise SpecError("Python's recursion limit: a function calls itself without end", where) from None
    except MemoryError:
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno == errno.ENOMEM:
            raise
        raise translate_error(error) from None
