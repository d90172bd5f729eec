"""Faults planted between a problem and its verdict: each false verdict is refused."""

from __future__ import annotations

import pytest
from planted_faults import faults


@pytest.mark.parametrize("fault", list(faults()), ids=lambda fault: fault.title)
def test_false_verdicts_are_refused(fault):
    outcome = fault.outcome()
    assert outcome.startswith("refused"), outcome
