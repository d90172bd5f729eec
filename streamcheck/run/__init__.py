"""Processes: the only room that starts and ends them."""
