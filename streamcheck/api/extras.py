"""Packages that are needed only if they are asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from streamcheck.core.errors import SpecError


def require_pandas() -> Any:
    """The package pandas. SpecError if it is not installed."""
    try:
        return import_module("pandas")
    except ModuleNotFoundError as why:
        if why.name != "pandas":
            raise
        raise SpecError(
            "to_pandas needs pandas, which is not installed", write="pip install 'streamcheck[pandas]'"
        ) from None
