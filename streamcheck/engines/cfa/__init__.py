"""Engines made for programs: they see the automaton and not only the transition system that stands for it."""
