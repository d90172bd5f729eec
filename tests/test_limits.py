"""The time limit, while a problem is encoded for the engines."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from streamcheck import *
from streamcheck.lang.flatten import flatten
from streamcheck.run.prove import Settings, prove
from streamcheck.transform.views import views


@pytest.fixture
def counter(monkeypatch):
    """A problem that takes two seconds to encode."""

    def slow(problem, *, blocks):
        for _ in range(40):
            time.sleep(0.05)
        return views(problem, blocks=blocks)

    monkeypatch.setattr("streamcheck.run.prove.views", slow)
    n = stream(Word8, lambda n: [1] + +mux(n == 90, 1, n + 1))
    spec = Spec("counter")
    spec.prop("ok", n != 0)
    spec.prop("small", n < 91)
    return flatten(spec)


def test_encoding_keeps_to_the_time_limit(counter):
    began = time.monotonic()
    answer = prove(counter, Settings(timeout=0.2))
    assert time.monotonic() - began < 1.5
    assert answer.status == 3 and [r.name for r in answer.results] == ["ok", "small"]
    assert {r.reason for r in answer.results} == {"encoding timed out after 0.2 s"}


def test_encoding_is_finished_outside_the_main_thread(counter):
    """Signals end it, and no other thread gets any."""
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(prove, counter, Settings(timeout=20.0)).result()
    assert {r.name: r.verdict for r in answer.results} == {"ok": "proved", "small": "proved"}
