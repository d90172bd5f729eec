"""Readers of other people's files, one room or module for each language."""
