"""C99 from a specification: constant time and memory."""
