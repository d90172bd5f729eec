"""The proof that the generated C implements the equations.

It reads the files back with the semantics of C in room `c`, and is independent of the printer: nothing here imports
`codegen`. `execution` executes functions on the symbolic `memory`, `bisimulation` states the proof obligations, and
`discharge` proves them.
"""
