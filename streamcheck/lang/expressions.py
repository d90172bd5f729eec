"""Expressions from outside of a spec, as observers of it: `--eval 'x - pre(0, x)'`."""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from copy import copy
from dataclasses import replace

from streamcheck.core.errors import SpecError
from streamcheck.core.location import Location
from streamcheck.lang.flatten import flatten
from streamcheck.lang.load import in_user_terms
from streamcheck.lang.spec import Declaration, SpecBase
from streamcheck.lang.stream import Stream
from streamcheck.problem.specification import Specification

SOURCE = "--eval"  # in place of a file's name in messages


def flatten_with(spec: SpecBase, texts: Sequence[str]) -> Specification:
    """The specification with these observers; it has the claims of the spec alone, and none that an operator in an
    expression implies."""
    specification = flatten(with_expressions(spec, texts))
    claims = [p for p in specification.properties if p.where is None or p.where.file != SOURCE]
    return replace(specification, properties=tuple(claims))


def with_expressions(spec: SpecBase, texts: Sequence[str]) -> SpecBase:
    """The spec with more observers, which are named as the expressions are written. Names mean what they mean in the
    spec's module."""
    also = copy(spec)
    also.observers = dict(spec.observers)
    lines = [" ".join(text.split()) for text in texts]
    linecache.cache[SOURCE] = (0, None, [line + "\n" for line in lines], SOURCE)
    names = {**spec.namespace, "__name__": SOURCE}
    for number, line in enumerate(lines, 1):
        where = Location(SOURCE, number)
        with in_user_terms():
            value = eval(compile("\n" * (number - 1) + line, SOURCE, "eval"), names)
        if not isinstance(value, Stream):
            kind = "a tuple; a comma too many?" if isinstance(value, tuple) else repr(value)
            raise SpecError(f"expected a stream, found {kind}", where, write="a stream, such as x - pre(0, x)")
        is_taken = line in also.observers or line in also.triggers
        name = f"{line} ({SOURCE})" if is_taken else line
        also.observers[name] = Declaration(name, value._node, where)
    return also
