"""Types, operators, terms and values: what every other room speaks about. Imports nothing of ours."""
