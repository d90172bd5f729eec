"""Engines: generators over problems, one file each."""
