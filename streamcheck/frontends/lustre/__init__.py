"""Lustre as Kind 2 reads it: in, and out."""
