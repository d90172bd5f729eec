"""Readers of files in other languages, one package or module for each."""
