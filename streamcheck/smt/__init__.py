"""Solvers: the only room that imports z3."""
