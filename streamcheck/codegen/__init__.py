"""Specification to C99 in constant space."""
