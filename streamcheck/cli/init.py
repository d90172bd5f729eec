"""`streamcheck init [DIR]`."""

from __future__ import annotations

import os
import shlex

import click

from streamcheck.cli.output import emit
from streamcheck.deliver.new_project import name_for, write_project


@click.command(name="init", short_help="Make a project: a spec, tests, CI, CMake.")
@click.argument("directory", metavar="[DIR]", default=".")
@click.option("--name", metavar="NAME", help="The name of the spec and its C; else that of the folder.")
def command(directory: str, name: str | None) -> int:
    """Write a project that can be proved, tested and built at once: a spec, its tests, a program in C built by CMake,
    settings in pyproject.toml, and a workflow of GitHub. No file is written over."""
    written = write_project(directory, name or name_for(directory))
    emit([f"  {path}" for path in written])
    there = "" if os.path.abspath(directory) == os.getcwd() else f"cd {shlex.quote(directory)} && "
    emit([f"next: {there}streamcheck prove"])
    return 0
