"""From a spec to files: prove, narrow where asked, generate, prove the C equal to the spec."""
