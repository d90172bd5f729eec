"""Transition systems and what engines say about them."""
