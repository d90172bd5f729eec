"""The library, written in the language itself: each function is Python that builds streams from streams.

    voting      majority votes                       ptltl   past time, unbounded: previous, since, …
    mtl         past and future, bounded by a clock  ltl     future, bounded by steps
    clocks      periodic signals                     statistics  sums, means, extremes over windows

Names and the order of arguments are those of Copilot's library (copilot-libraries, in snake case). If a
meaning differs from Copilot's, the docstring says so. `parts` is shared by the modules.
"""
