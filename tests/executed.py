"""The modules of the package whose functions run while `check` judges a certificate, in all its processes.

    python tests/executed.py CERTIFICATE        prints their names

What is imported without being called does not count.
"""

from __future__ import annotations

import inspect
import os
import sys
import tempfile
from pathlib import Path

import streamcheck

NAMES = "streamcheck"  # the package itself
PACKAGE = os.path.dirname(streamcheck.__file__) + os.sep


def executed(certificate):
    """The verdict, and the modules."""
    from streamcheck.run.certificates import recheck

    codes = set()
    with tempfile.TemporaryDirectory() as folder:

        def note(frame, event, _):
            if event == "call" and frame.f_code not in codes:
                codes.add(frame.f_code)
                for module in module_of(frame.f_code):  # written at once: processes may be killed
                    Path(folder, module).touch()

        sys.setprofile(note)
        try:
            checked = recheck(str(certificate), None)
        finally:
            sys.setprofile(None)
        return checked.verdict, set(os.listdir(folder))


def module_of(code):
    """The module of a function of the package; nothing for others, and the bodies of modules and classes."""
    if code.co_filename.startswith(PACKAGE) and code.co_flags & inspect.CO_OPTIMIZED:
        path = code.co_filename.removeprefix(PACKAGE).removesuffix(".py").removesuffix("__init__")
        yield path.strip(os.sep).replace(os.sep, ".") or NAMES


if __name__ == "__main__":
    verdict, modules = executed(sys.argv[1])
    print(verdict, *sorted(modules), sep="\n")
