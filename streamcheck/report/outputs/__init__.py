"""Verdicts in the formats that other programs read: JUnit XML, SARIF, annotations of GitHub, JSON."""
