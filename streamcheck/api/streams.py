"""Invariants as streams: the text that could be pasted into the spec, evaluated in its module."""

from __future__ import annotations

import linecache
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from streamcheck.core.term import Term, substitute
from streamcheck.lang.load import in_user_terms
from streamcheck.lang.stream import Stream
from streamcheck.problem.specification import Specification
from streamcheck.report.equations import term_text
from streamcheck.report.paste import FileNames, Pasting
from streamcheck.transform.scalars import wholes

SOURCE = "<invariants>"  # in place of a file's name in messages


def whole_terms(specification: Specification, terms: Sequence[Term]) -> list[Term]:
    """The terms with elements and fields in the place of scalar parts."""
    image = substitute(terms, wholes(specification.variables()))
    return [image[t] for t in terms]


def streams_of(specification: Specification, terms: Sequence[Term], namespace: Mapping[str, Any]) -> list[Stream]:
    """The terms as streams over those of the module."""
    where = specification.where
    source = "" if where is None else "".join(linecache.getlines(where.file))
    pasting = Pasting(specification, FileNames.of(source), set())
    terms = whole_terms(specification, terms)
    texts = [pasting.text(term) for term in terms]
    language = import_module("streamcheck.public")
    names = {name: getattr(language, name) for name in language.__all__} | dict(namespace) | {"__name__": SOURCE}
    lines = [line for definition in pasting.definitions for line in definition.splitlines()]
    shown = [term_text(specification, term) for term in terms]  # in messages and by `repr`
    linecache.cache[SOURCE] = (0, None, [f"{line}\n" for line in [*lines, *shown]], SOURCE)
    with in_user_terms():
        exec(compile("\n".join(lines), SOURCE, "exec"), names)
        places = enumerate(texts, len(lines))  # each has its own line
        return [eval(compile("\n" * above + text, SOURCE, "eval"), names) for above, text in places]
