"""The checker of the engines' evidence. It shares nothing with them: own unrolling, own solvers, own text."""
