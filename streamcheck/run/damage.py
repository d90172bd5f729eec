"""Files of evidence that cannot be read: which file, where in it, and what is wrong there, in words."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager

from streamcheck.certify.well_formed import IllFormed
from streamcheck.core.errors import SpecError
from streamcheck.problem.shapes import Damage
from streamcheck.run.source import KINDS


@contextmanager
def refuse_damage(path: str) -> Iterator[None]:
    """A context in which any failure to read the evidence is reported as an error of the file, not of streamcheck."""
    try:
        yield
    except (Damage, IllFormed) as why:
        raise SpecError(f"{path}: damaged: {why}") from None
    except IsADirectoryError:
        raise SpecError(f"{path} is a folder; give its files", write=os.path.join(path, "*.json")) from None
    except OSError as why:
        raise SpecError(f"{path}: {why.strerror}") from None
    except json.JSONDecodeError as why:
        raise SpecError(f"{path} is not JSON (line {why.lineno}, column {why.colno})") from None
    except UnicodeDecodeError:
        raise SpecError(f"{path} is not UTF-8 text") from None
    except (ValueError, RecursionError):
        raise SpecError(f"{path}: damaged: its numbers, its lists or their parts do not fit together") from None


def refuse_spec(path: str) -> None:
    """SpecError if the path is of a spec or a program, of which there may be evidence in files."""
    if path.endswith(KINDS) and not path.endswith(".json"):
        write = f"streamcheck prove {path} --certificates certificates"
        raise SpecError(f"{path} is a spec or a program; `check` is for the evidence that is saved of it", write=write)
