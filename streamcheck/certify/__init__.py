"""Checking what engines say, sharing nothing with them: own unrolling, own solvers, own text."""
