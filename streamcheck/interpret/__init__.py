"""The reference semantics: equations, step by step. Linear time, memory that does not grow with the steps."""
