"""What is judged (specifications, automata, transition systems) and what is concluded (verdicts with evidence)."""
