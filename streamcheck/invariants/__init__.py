"""Auxiliary invariants: candidates from random runs, kept if they are inductive."""
