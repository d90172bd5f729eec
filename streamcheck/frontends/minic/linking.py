"""Several files as one program: what is `static` in one of them is not seen in the others (6.2.2)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from streamcheck.c.extensions import PlainC
from streamcheck.c.models import DataModel
from streamcheck.c.preprocess import preprocess
from streamcheck.c.syntax import form, parse, text_of, where_of
from streamcheck.core.errors import SpecError
from streamcheck.frontends.minic.callbacks import nodes_in


def with_files(paths: Sequence[str], model: DataModel, source: PlainC, nodes: list[Any]) -> tuple[PlainC, list[Any]]:
    """The declarations of the first file and of further ones. A static name that two files have is renamed in the
    later one; a type that two files define must be the same."""
    whole, texts, joined = list(nodes), [source], [nodes]
    for path in paths:
        text = preprocess(path, model=model)
        texts.append(text)
        joined.append(parse(text.text, path))
    types: dict[tuple[str, str], Any] = {}
    for own in joined:
        _refuse_other_types(own, types)
    for path, own in zip(paths, joined[1:], strict=True):
        known = {name for other in joined if other is not own for name, _ in _names(other)}
        stem = os.path.splitext(os.path.basename(path))[0]
        renamed = {name: f"{stem}::{name}" for name, static in _names(own) if static and name in known}
        for node in own:
            _rename(node, renamed)
        whole += own
    return _merge(texts), whole


def _names(nodes: list[Any]) -> Iterator[tuple[str, bool]]:
    """The functions and variables of a file, and whether they are static: a later declaration keeps that."""
    static: dict[str, bool] = {}
    for node in nodes:
        decl = node.decl if form(node) == "FuncDef" else node
        if form(decl) == "Decl" and decl.name is not None:
            static[decl.name] = static.get(decl.name, False) or "static" in decl.storage
    yield from static.items()


def _refuse_other_types(nodes: list[Any], known: dict[tuple[str, str], Any]) -> None:
    """Error if a tag, a typedef or a constant of an enum has another definition in a file before."""
    for node in nodes:
        for inner in nodes_in(node) if form(node) in ("Decl", "Typedef") else ():
            shape = form(inner)
            has_body = getattr(inner, "decls", None) or getattr(inner, "values", None)
            if shape == "Typedef" or (shape in ("Struct", "Union", "Enum") and inner.name and has_body):
                kind = "typedef" if shape == "Typedef" else "tag"
                before = known.setdefault((kind, inner.name), inner)
                if text_of(before) != text_of(inner):
                    message = f"{inner.name} is another type in {where_of(before).file}; give one of them another name"
                    raise SpecError(message, where_of(inner), also=(("there", where_of(before)),))


def _rename(node: Any, names: Mapping[str, str]) -> None:
    """Gives variables and functions other names, in the tree itself. Fields keep theirs."""
    shape = form(node)
    if shape in ("Struct", "Union"):
        return
    if shape == "ID":
        node.name = names.get(node.name, node.name)
    elif shape in ("Decl", "TypeDecl"):
        name = "name" if shape == "Decl" else "declname"
        setattr(node, name, names.get(getattr(node, name), getattr(node, name)))
    for part, child in node.children():
        if not (shape == "StructRef" and part == "field") and not (shape == "NamedInitializer" and part != "expr"):
            _rename(child, names)


def _merge(texts: Sequence[PlainC]) -> PlainC:
    realigned: dict[str, int | None] = {}
    for text in texts:
        realigned |= text.realigned
    endless, pure, constant = (
        frozenset().union(*(getattr(text, field) for text in texts)) for field in ("endless", "pure", "constant")
    )
    return PlainC("", endless, pure, constant, realigned)
