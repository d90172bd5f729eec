"""Names that are like a mistyped one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def closest(name: str, names: Iterable[str], likeness: float = 0.6) -> str:
    """The name that is most like this one, whatever the case; empty if none is."""
    by_small = {n.lower(): n for n in names if not n.startswith("__")}
    close = difflib.get_close_matches(name.lower(), by_small, n=1, cutoff=likeness)
    return by_small[close[0]] if close else ""


def did_you_mean(name: str) -> str:
    """The end of a message that suggests this name; empty if there is none."""
    return f". Did you mean: '{name}'?" if name else ""


def mean_or_choose(name: str, names: Iterable[str], all_of_them: str = "choose from") -> str:
    """The end of a message that suggests the name that is most like this one, or else lists all."""
    names = list(names)
    return did_you_mean(closest(name, names)) or f"; {all_of_them} {', '.join(names) or 'none'}"
