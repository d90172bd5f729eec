"""Names that nothing has yet."""

from __future__ import annotations

from collections.abc import Container


def fresh_name(wish: str, taken: Container[str]) -> str:
    """The wish, with as many primes as it needs."""
    while wish in taken:
        wish += "'"
    return wish
