"""Lustre files, in Kind 2's dialect, to specifications."""
