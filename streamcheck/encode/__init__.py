"""Equations to transition systems."""
