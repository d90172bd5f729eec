"""The order in which work gets budgets: no clock, no process."""

from __future__ import annotations

import subprocess
import sys

from streamcheck.scale.policy import Budgets, Candidate, Policy, RoundRobin


def order(policy, turns, decides=lambda key, turn: False):
    """The keys in the order of their budgets, if these decide nothing."""
    found = []
    for _ in range(turns):
        chosen = policy.next()
        if chosen is None:
            return found
        candidate, budget = chosen
        found.append(candidate.key)
        falls = decides(candidate.key, candidate.turns)
        policy.came_back(candidate.key, budget, int(falls))
        if falls:
            policy.remove(candidate.key)
        else:
            policy.wait(candidate.key)
    return found


def test_budgets_grow():
    policy = Policy(Budgets(0.5, 2.0, 4.0))
    policy.add(Candidate("a", "a"))
    budgets = []
    for _ in range(6):
        candidate, budget = policy.next()
        budgets.append(budget)
        assert policy.next() is None  # it is out
        policy.came_back(candidate.key, budget, 0)
        policy.wait("a")
    assert budgets == [0.5, 1.0, 2.0, 4.0, 4.0, 4.0]


def test_everybody_has_a_first_budget_before_one_has_a_third():
    policy = Policy()
    for name in "abcdef":
        policy.add(Candidate(name, name))
    assert set(order(policy, 6)) == set("abcdef")


def test_a_spec_with_many_claims_keeps_none_waiting():
    policy = Policy()
    for i in range(50):
        policy.add(Candidate(f"big {i}", "big"))
    policy.add(Candidate("small", "small"))
    assert "small" in order(policy, 3)


def test_more_claims_first():
    policy = Policy()
    policy.add(Candidate("one", "a", claims=1))
    policy.add(Candidate("many", "b", claims=64))
    assert order(policy, 1) == ["many"]


def test_what_decides_nothing_steps_back():
    policy = Policy()
    for i in range(100):
        policy.add(Candidate(f"bad {i}", f"bad {i}", kind="bad"))
        policy.add(Candidate(f"good {i}", f"good {i}", kind="good"))
    keys = order(policy, 120, lambda key, turn: key.startswith("good"))
    assert sum(key.startswith("good") for key in keys) > 90


def test_engines_that_begin_later_wait():
    policy = Policy()
    policy.add(Candidate("late", "a", after=5.0))
    policy.add(Candidate("first", "a"))
    assert order(policy, 3)[:2] == ["first", "first"] and "late" in order(policy, 20)


def test_lost_work_gets_the_same_budget_again():
    policy = Policy()
    policy.add(Candidate("a", "a"))
    _, budget = policy.next()
    policy.wait("a")
    assert policy.next()[1] == budget


def test_what_was_removed_comes_no_more():
    policy = Policy()
    policy.add(Candidate("a", "a"))
    policy.remove("a")
    assert policy.next() is None and len(policy) == 0
    policy.came_back("a", 1.0, 1)
    policy.wait("a")
    assert policy.next() is None


def test_the_end_of_the_time_bounds_a_budget():
    policy = Policy()
    policy.add(Candidate("a", "a"))
    assert policy.next(0.0) is None
    assert policy.next(0.2)[1] == 0.2


def test_the_same_order_every_time():
    def once():
        policy = Policy()
        for i in range(40):
            policy.add(Candidate(f"{i}", f"{i % 7}", claims=1 + i % 5, after=i % 3 / 2))
        return order(policy, 200, lambda key, turn: turn == int(key) % 4)

    assert once() == once()


def test_more_falls_in_a_short_time_than_in_turns():
    """The bench of docs/scale.md: with a hundredth of the time that all need."""
    done = subprocess.run([sys.executable, "tools/farm.py", "--deadline"], capture_output=True, text=True, check=True)
    rows = {line[:12].strip(): eval(line[12:]) for line in done.stdout.splitlines()}
    assert rows["policy"][0] > rows["round robin"][0]
    assert all(ours >= theirs for ours, theirs in zip(rows["policy"], rows["round robin"], strict=True))
    assert issubclass(RoundRobin, Policy)


def test_the_farm_runs_the_same_night_twice():
    command = [sys.executable, "tools/farm.py", "--specs", "3", "--workers", "1", "20"]
    runs = [subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(2)]
    first, again = ([line.rpartition("  simulated")[0] for line in run.splitlines()] for run in runs)
    assert first == again and len(first) == 2 and "decided" in first[0]
