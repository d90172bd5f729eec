"""Votes among streams (Copilot.Library.Voting): of the present values of several sensors.

The algorithm of `majority` is that of [BM91]: the first pass finds the only value that can have a majority, the second
counts.

    >>> a, b, c = extern("a", Word8, [1, 9, 3]), extern("b", Word8, [1, 5, 4]), extern("c", Word8, [2, 7, 200])
    >>> agreed = voting.mid_value([a, b, c])
    1  7  4
"""

from __future__ import annotations

from collections.abc import Callable

from streamcheck.core.errors import SpecError
from streamcheck.core.location import here
from streamcheck.lang.build import maximum, minimum, mux
from streamcheck.lang.lib.parts import Operands, bool_stream, elements_of, of_one_type, whole_number, word_for
from streamcheck.lang.stream import Operand, Stream

__all__ = ["has_majority", "m_of_n", "majority", "mid_value"]


def majority(xs: Operands) -> Stream:
    """At each step, the value that more than half of `xs` have; if there is none, the value of one of
    them (see `has_majority`). `xs` are streams of any one type, compared with `==`, or an array. The
    first pass of [BM91]: size linear in `xs`, counters that cannot wrap.

        x                            4 6 8 2
        y                            4 5 8 3
        z                            9 5 7 3
        voting.majority([x, y, z])   4 5 8 3
    """
    candidate, *others = of_one_type(elements_of(xs, "majority"), "majority")
    # `lead` is how far the candidate is ahead among the votes read: at most their number. After the last vote
    # it is not read, so a Word8 suffices for 256 votes.
    lead: Stream = word_for(len(others))(1)
    for vote in others[:-1]:
        none = lead == 0
        lead = mux(none | (vote == candidate), lead + 1, lead - 1)
        candidate = mux(none, vote, candidate)
    return mux(lead == 0, others[-1], candidate) if others else candidate


def has_majority(value: Operand, xs: Operands) -> Stream:
    """True if strictly more than half of `xs` equal `value`. The second pass of [BM91]: a count that
    cannot wrap. (Copilot calls it `aMajority`, with the arguments the other way round.)

        x                                   4 6 8 2
        y                                   4 5 8 3
        z                                   9 5 7 3
        voting.has_majority(4, [x, y, z])   1 0 0 0
    """
    wanted, *votes = of_one_type([value, *elements_of(xs, "has_majority")], "has_majority")
    return _count([vote == wanted for vote in votes]) > len(votes) // 2


def m_of_n(m: int, xs: Operands) -> Stream:
    """True if at least `m` of the Bool streams `xs` are.

    a                             0 1 1 1
    b                             0 0 1 1
    c                             1 0 0 1
    voting.m_of_n(2, [a, b, c])   0 0 1 1
    """
    votes = [bool_stream(x, "m_of_n(m, xs)") for x in elements_of(xs, "m_of_n")]
    if whole_number(m, 0, "m_of_n(m, xs): m") > len(votes):
        raise SpecError(f"m_of_n(m, xs): {m} of {len(votes)} can never be true", here())
    return _count(votes) >= m


def mid_value(xs: Operands) -> Stream:
    """The value in the middle of an odd number of numbers: as many are at most it as are at least it. One wild sensor
    of three does not move it out of the range of the others. Of five or more, by exchanges of neighbours.

        x                             4 6   8 2
        y                             4 5 200 3
        z                             9 5   7 3
        voting.mid_value([x, y, z])   4 5   8 3
    """
    values = of_one_type(elements_of(xs, "mid_value"), "mid_value")
    if len(values) % 2 == 0:
        message = f"mid_value: expected an odd number of streams, found {len(values)}: no value is in the middle"
        raise SpecError(message, here())
    while len(values) > 1:  # the least and the greatest go
        values = _without_last(_without_last(values, maximum), minimum)
    return values[0]


def _without_last(values: list[Stream], chosen: Callable[[Stream, Stream], Stream]) -> list[Stream]:
    """The values without the least or the greatest: with two exchanges, the chosen of each two goes on."""
    other = minimum if chosen is maximum else maximum
    kept: list[Stream] = []
    last = values[0]
    for value in values[1:]:
        kept.append(other(last, value))
        last = chosen(last, value)
    return kept


def _count(votes: list[Stream]) -> Stream:
    word = word_for(len(votes))
    count: Stream = word(0)
    for vote in votes:
        count = count + mux(vote, word(1), word(0))
    return count
