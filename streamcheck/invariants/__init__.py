"""Invariants found without being asked for: candidates from runs, kept where induction agrees."""
