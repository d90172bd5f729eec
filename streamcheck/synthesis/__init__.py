"""Answers of a component, or of its environment, as terms."""
