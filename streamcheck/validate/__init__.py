"""The generated C read back and proved to do what the equations say.

Written from the C standard and independently of the printer: nothing here imports `codegen`. `reader` parses the
files, `arithmetic` gives C's operators their meaning as terms, `machine` runs functions on symbolic stores,
`simulation` states what is to be shown, and `discharge` shows it.
"""
