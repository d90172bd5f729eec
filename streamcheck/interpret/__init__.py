"""The reference semantics: a specification, step by step, in constant memory."""
