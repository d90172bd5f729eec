"""From a spec to files: prove, narrow if requested, generate, prove the C equal to the spec."""
