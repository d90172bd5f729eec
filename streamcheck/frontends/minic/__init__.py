"""A subset of C, read as control-flow automata."""
