"""Problems (specifications, automata, transition systems) and results (verdicts with evidence)."""
