"""The library, written in the language itself: each function is Python that builds streams from streams.

    ptltl       past time, unbounded: since, …       mtl         past and future, bounded, by steps or by a clock
    ltl         future, bounded by steps             ltl3        future, as three-valued verdicts
    regexp      regular expressions over the past    machines    state machines from a table
    signals     edges, latches, filters, limits      voting      majority, m of n, mid value
    statistics  sums, means, extremes over windows   clocks      periodic signals
    saturating  arithmetic that stops at the ends    checked     arithmetic that is proved not to overflow

Names and the order of arguments are those of Copilot's library (copilot-libraries, in snake case). If a
meaning differs from Copilot's, the docstring says so. `parts` and `overflow` are shared by the modules.
"""
