"""Names that differ from each other."""

from __future__ import annotations

from collections.abc import Iterable


class FreshNames:
    """Different names for different wishes: the wish if it is free, else the wish with a number."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._counts: dict[tuple[str, str], int] = {}  # the last number tried

    def fresh(self, wish: str, pattern: str = "{}_{}") -> str:
        """The second `x` becomes `x_2`, or as `pattern` has it."""
        name, count = wish, self._counts.get((wish, pattern), 1)
        while name in self._taken:
            count += 1
            name = pattern.format(wish, count)
        self._counts[wish, pattern] = count
        self._taken.add(name)
        return name
