"""Votes among streams (Copilot.Library.Voting).

The algorithm is that of [BM91]: the first pass finds the only value that can have a majority, the second counts.
"""

from __future__ import annotations

from streamcheck.lang.build import mux
from streamcheck.lang.lib.parts import Operands, elements_of, of_one_type, word_for
from streamcheck.lang.stream import Operand, Stream


def majority(xs: Operands) -> Stream:
    """At each step, the value that more than half of `xs` have; if there is none, the value of one of
    them (see `has_majority`). `xs` are streams of any one type, compared with `==`, or an array. The
    first pass of [BM91]: size linear in `xs`, counters that cannot wrap."""
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
    cannot wrap. (Copilot calls it `aMajority`, with the arguments the other way round.)"""
    wanted, *votes = of_one_type([value, *elements_of(xs, "has_majority")], "has_majority")
    word = word_for(len(votes))
    count: Stream = word(0)
    for vote in votes:
        count = count + mux(vote == wanted, word(1), word(0))
    return count > len(votes) // 2
