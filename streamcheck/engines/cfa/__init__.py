"""Engines made for programs: they work on the automaton and not only the transition system that stands for it."""
