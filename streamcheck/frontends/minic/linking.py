"""Several files as one program: what is `static` in one of them is not seen in the others (6.2.2)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from streamcheck.c.extensions import PlainC
from streamcheck.c.models import DataModel
from streamcheck.c.preprocess import preprocess
from streamcheck.c.syntax import form, parse, text_of, where_of
from streamcheck.core.errors import SpecError
from streamcheck.core.names import FreshNames
from streamcheck.frontends.minic.callbacks import nodes_in


def with_files(
    first: str, paths: Sequence[str], model: DataModel, source: PlainC, nodes: list[Any]
) -> tuple[PlainC, list[Any]]:
    """The declarations of the first file and of further ones. A static name that another file has too is renamed,
    unless all files have it static: then the first that has it keeps it. Error if a type or a constant of an enum has
    two definitions."""
    texts, joined = [source], [nodes]
    for path in paths:
        text = preprocess(path, model=model)
        texts.append(text)
        joined.append(parse(text.text, path))
    types: dict[tuple[str, str], Any] = {}
    for own in joined:
        _refuse_other_types(own, types)
    found = [dict(_names(own)) for own in joined]
    others = [{*_other_names(own)} for own in joined]
    _refuse_constants_of_one_name(found, types)
    whole: list[Any] = []
    plain: list[PlainC] = []
    for i, (stem, own, text) in enumerate(zip(_stems([first, *paths]), joined, texts, strict=True)):
        known = {name for names in found[:i] for name in names}
        known |= {name for j, names in enumerate(found) if j != i for name, static in names.items() if not static}
        known |= {name for j, names in enumerate(others) if j != i for name in names}
        renamed = {name: f"{stem}::{name}" for name, static in found[i].items() if static and name in known}
        for node in own:
            _rename(node, renamed)
        whole += own
        plain.append(_with_names(text, renamed))
    return _merge(plain), whole


def _stems(paths: Sequence[str]) -> list[str]:
    """A name for each file, from its own."""
    made = FreshNames()
    return [made.fresh(os.path.splitext(os.path.basename(path))[0]) for path in paths]


def _names(nodes: list[Any]) -> Iterator[tuple[str, bool]]:
    """The functions and variables of a file, and whether they are static: a later declaration keeps that."""
    static: dict[str, bool] = {}
    for node in nodes:
        decl = node.decl if form(node) == "FuncDef" else node
        if form(decl) == "Decl" and decl.name is not None:
            static[decl.name] = static.get(decl.name, False) or "static" in decl.storage
        for inner in nodes_in(node):  # of another file, or declared before
            if form(inner) == "Decl" and "extern" in inner.storage and inner.name is not None:
                static.setdefault(inner.name, False)
    yield from static.items()


def _other_names(nodes: list[Any]) -> Iterator[str]:
    """The typedefs and the constants of enums of a file."""
    for node in nodes:
        for inner in _nodes_outside_bodies(node):
            if form(inner) in ("Typedef", "Enumerator"):
                yield inner.name


def _nodes_outside_bodies(node: Any) -> Iterator[Any]:
    """The nodes of a declaration of a file, without the body of a function."""
    yield from nodes_in(node.decl if form(node) == "FuncDef" else node)


def _refuse_constants_of_one_name(found: Sequence[Mapping[str, bool]], types: Mapping[tuple[str, str], Any]) -> None:
    """Error if a constant of an enum of one file has the name of what another one shares."""
    for (kind, name), enum in types.items():
        if kind == "constant" and any(names.get(name) is False for names in found):
            message = f"{name} is a constant of an enum here, and a variable or a function of another file"
            raise SpecError(f"{message}; give one of them another name", where_of(enum))


def _refuse_other_types(nodes: list[Any], known: dict[tuple[str, str], Any]) -> None:
    """Error if a tag, a typedef or a constant of an enum has another definition in a file before."""
    for node in nodes:
        for inner in _nodes_outside_bodies(node):
            shape = form(inner)
            has_body = getattr(inner, "decls", None) or getattr(inner, "values", None)
            if shape == "Typedef" or (shape in ("Struct", "Union", "Enum") and inner.name and has_body):
                _refuse_other("typedef" if shape == "Typedef" else "tag", inner.name, inner, known)
            if shape == "Enum" and has_body:
                for constant in inner.values.enumerators:
                    _refuse_other("constant", constant.name, inner, known)


def _refuse_other(kind: str, name: str, node: Any, known: dict[tuple[str, str], Any]) -> None:
    before = known.setdefault((kind, name), node)
    if text_of(before) != text_of(node):
        what = "constant of an enum" if kind == "constant" else "type"
        message = f"{name} is another {what} in {where_of(before).file}; give one of them another name"
        raise SpecError(message, where_of(node), also=(("there", where_of(before)),))


def _rename(node: Any, names: Mapping[str, str], *, in_field: bool = False) -> None:
    """Gives variables and functions other names, in the tree itself. Fields keep theirs."""
    shape = form(node)
    in_field |= shape in ("Struct", "Union")
    if shape == "ID":
        node.name = names.get(node.name, node.name)
    elif shape in ("Decl", "TypeDecl") and not in_field:
        name = "name" if shape == "Decl" else "declname"
        setattr(node, name, names.get(getattr(node, name), getattr(node, name)))
    for part, child in node.children():
        if not (shape == "StructRef" and part == "field") and not (shape == "NamedInitializer" and part != "expr"):
            _rename(child, names, in_field=in_field)


def _with_names(text: PlainC, names: Mapping[str, str]) -> PlainC:
    """The same with the new names of its functions."""
    endless, pure, constant = (
        frozenset(names.get(name, name) for name in own) for own in (text.endless, text.pure, text.constant)
    )
    return replace(text, endless=endless, pure=pure, constant=constant)


def _merge(texts: Sequence[PlainC]) -> PlainC:
    realigned: dict[str, int | None] = {}
    for text in texts:
        realigned |= text.realigned
    endless, pure, constant = (
        frozenset().union(*(getattr(text, field) for text in texts)) for field in ("endless", "pure", "constant")
    )
    return PlainC("", endless, pure, constant, realigned)
