"""A night of a proof farm, simulated: the scheduling is the real one (`scale.policy`, `scale.broker`), workers are not.

    python tools/farm.py                              1,000 specs, 100,000 properties; 1 to 10,000 workers
    python tools/farm.py --specs 10000 --workers 10000 --homes 10
    python tools/farm.py --fit .streamcheck/suite.jsonl      the distribution of proof times in a journal
    python tools/farm.py --deadline                   the policy against round robin, with a tenth of the time needed

Simulated are the clock, the workers (what a unit costs and decides, and that workers fail), the scheduler between (so
many units a second) and the checkers at home (so many proofs a second). Several homes have a part of the specs and of
the workers each, and a scheduler and checkers of their own: nothing is shared. Proof times have a Lomax distribution,
of which `--fit` finds the parameters; each property has one lane that decides it, the first ones more often.
"""

from __future__ import annotations

import argparse
import heapq
import json
import math
import random
import time
from dataclasses import dataclass, field
from functools import partial

from streamcheck.scale.broker import Broker, Wanted
from streamcheck.scale.policy import SCALE, SHAPE, Candidate, Policy, RoundRobin
from streamcheck.scale.pools import Answered, LostUnit, PlaceCount
from streamcheck.scale.units import FORMAT, open_sealed, seal

LANES = ("bmc+k-induction", "ic3", "bits", "spacer", "templates", "predicates")
AFTER = (0.0, 0.2, 0.3, 0.6, 1.0, 2.0)  # seconds, as of the engines' rows
DECIDES = (0.72, 0.12, 0.06, 0.04, 0.04, 0.02)  # of the properties
NEVER = 0.005  # of the properties are decided by nobody
TOGETHER = 16  # properties in a unit
START = 0.02  # seconds of a worker for each unit, and to load a problem
SCHEDULER = 0.0005  # seconds of the scheduler for each unit
CHECK = 0.02  # processor seconds to check a proof
PROBLEM = 9_000  # bytes of a problem, sealed
LIFE = 40 * 3600.0  # seconds between failures of a worker
KEPT = 0.0  # of the specs have not changed: their proofs are only checked
PLAYED = 3600.0  # seconds after which a run ends in any case


@dataclass(eq=False, slots=True)
class Cluster:
    """Properties that share their units: what decides each, and after how many seconds."""

    spec: int
    times: dict[str, tuple[int, float]]
    spent: dict[int, float] = field(default_factory=dict)  # by lane
    keys: set[str] = field(default_factory=set)


class FarmPool:
    """Workers on a clock of their own."""

    def __init__(self, farm: Farm) -> None:
        self.farm, self.read = farm, -1
        self.arrived: list[Answered | LostUnit | PlaceCount] = [PlaceCount(farm.workers)]
        self.queue: list[tuple[int, int, str, dict]] = []
        self.idle, self.number = farm.workers, 0
        self.cancelled: set[str] = set()
        self.scheduler_free = 0.0

    def submit(self, key: str, label: str, problem: bytes, unit: bytes, urgency: int) -> None:
        farm = self.farm
        self.number += 1
        begin = max(farm.now, self.scheduler_free)
        self.scheduler_free = begin + SCHEDULER
        farm.scheduler_busy += SCHEDULER
        heapq.heappush(self.queue, (urgency, self.number, key, open_sealed(unit)))
        if self.idle:
            self.idle -= 1
            farm.at(self.scheduler_free, self.work)

    def work(self) -> None:
        """A worker takes the next unit."""
        farm = self.farm
        while self.queue:
            _, _, key, unit = heapq.heappop(self.queue)
            if key in self.cancelled:
                continue
            cluster, lane = farm.clusters[unit["cluster"]], unit["lane"]
            fails = farm.chance.expovariate(1 / LIFE)
            spent, decided = farm.search(cluster, lane, unit["budget"])
            end = farm.now + START + spent
            if fails < spent:
                farm.wasted += fails
                farm.at(farm.now + fails + 60.0, self.work)  # another worker comes
                farm.at(farm.now + fails, partial(self.arrive, LostUnit(key, "worker gone", False)))
                return
            farm.at(end, partial(self.finish, key, cluster, lane, spent, decided))
            return
        self.idle += 1

    def finish(self, key: str, cluster: Cluster, lane: int, spent: float, decided: list[str]) -> None:
        farm = self.farm
        cluster.spent[lane] = cluster.spent.get(lane, 0.0) + spent
        farm.busy += spent + START
        late = [p for p in decided if p not in cluster.times]
        if key in self.cancelled or (not decided and not cluster.times) or late:
            farm.wasted += spent
        rows = [{"proved": {}, "prop": p} for p in decided]
        unit = {"format": FORMAT, "key": key.partition("@")[0], "rows": rows, "state": "open", "spent": spent}
        self.arrive(Answered(key, seal({**unit, "heard": 0, "why": ""})))
        self.work()

    def arrive(self, message: Answered | LostUnit) -> None:
        self.arrived.append(message)
        self.farm.pump()

    def cancel(self, key: str, *, overdue: bool = False) -> None:
        self.cancelled.add(key)

    def messages(self) -> list:
        arrived, self.arrived = self.arrived, []
        return arrived

    def close(self) -> None: ...


class Farm:
    def __init__(self, specs: int, workers: int, options: argparse.Namespace, seed: int) -> None:
        self.workers, self.options = workers, options
        self.chance = random.Random(seed)
        self.now = self.busy = self.wasted = self.scheduler_busy = self.check_busy = 0.0
        self.events: list = []
        self.tickets = self.properties = self.kept = 0
        self.clusters = self._clusters(specs)
        self.done: list[float] = []  # times of verdicts
        self.checkers = [0.0] * options.checkers
        policy = RoundRobin() if options.round_robin else Policy()
        self.broker = Broker(FarmPool(self), policy, clock=lambda: self.now)

    def _clusters(self, specs: int) -> list[Cluster]:
        found = []
        for spec in range(specs):
            left = max(1, int(self.chance.paretovariate(1.2) * 24))  # about 100 properties each
            left = min(left, 5000)
            is_kept = self.chance.random() < self.options.kept
            while left > 0:
                size = min(TOGETHER, left)
                left -= size
                self.properties += size
                if is_kept:
                    self.kept += size
                    continue
                found.append(Cluster(spec, {str(i): self._time() for i in range(size)}))
        return found

    def _time(self) -> tuple[int, float]:
        """The lane that decides a property, and how long it takes."""
        if self.chance.random() < NEVER:
            return 0, math.inf
        (lane,) = self.chance.choices(range(len(LANES)), DECIDES)
        shape, scale = self.options.shape, self.options.scale
        return lane, min(1e5, scale * ((1 - self.chance.random()) ** (-1 / shape) - 1))

    def search(self, cluster: Cluster, lane: int, budget: float) -> tuple[float, list[str]]:
        """The seconds that a unit uses, and what it decides."""
        before = cluster.spent.get(lane, 0.0)
        own = {p: t for p, (where, t) in cluster.times.items() if where == lane and t <= before + budget}
        if len(own) == len(cluster.times) and own:
            return max(0.001, max(own.values()) - before), list(own)
        return budget, list(own)

    def at(self, when: float, act) -> None:
        self.tickets += 1
        heapq.heappush(self.events, (when, self.tickets, act))

    def want(self, i: int, lane: int) -> None:
        cluster = self.clusters[i]
        key = f"{i}.{lane}"
        cluster.keys.add(key)
        row = {"cluster": i, "lane": lane}
        wanted = Wanted(key, str(cluster.spec), LANES[lane], len(cluster.times), AFTER[lane], f"{key}@", b"", row)
        self.broker.want(wanted)

    def pump(self) -> None:
        for key, answer in self.broker.pump():
            i, lane = map(int, key.split("."))
            cluster = self.clusters[i]
            if lane == 0 and cluster.keys == {key} and cluster.times:
                for other in range(1, len(LANES)):
                    self.want(i, other)
            for row in answer["rows"]:
                if row["prop"] in cluster.times:
                    _, seconds = cluster.times.pop(row["prop"])
                    self.check(seconds)
            if cluster.times and answer["state"] == "open":
                if cluster.spent.get(lane, 0.0) < self.options.timeout:
                    self.want(i, lane)
            elif not cluster.times:
                for other in cluster.keys:
                    self.broker.drop(other)

    def check(self, _: float) -> None:
        """A proof goes to the checker that is free first."""
        self.check_busy += CHECK
        begin = max(self.now, heapq.heappop(self.checkers))
        heapq.heappush(self.checkers, begin + CHECK)
        self.done.append(begin + CHECK)

    def run(self) -> None:
        for _ in range(self.kept):
            self.check(0.0)
        began = time.monotonic()
        for i in range(len(self.clusters)):
            self.want(i, 0)
        self.pump()
        while self.events and time.monotonic() - began < PLAYED:
            when, _, act = heapq.heappop(self.events)
            self.now = when
            if self.now > self.options.night:
                break
            act()


def figures(farms: list[Farm], workers: int, night: float) -> dict[str, float]:
    """Those of homes that have shared nothing."""
    done = sorted(t for farm in farms for t in farm.done if t <= night)
    properties = sum(farm.properties for farm in farms)
    goal = math.ceil(0.9 * properties)
    walls = [max(farm.now, farm.done[-1] if farm.done else 0.0) for farm in farms]
    moved = sum(f.broker.bytes_out + f.broker.bytes_back + PROBLEM * len(f.clusters) for f in farms)
    busy, wasted = (sum(getattr(farm, name) for farm in farms) for name in ("busy", "wasted"))
    return {
        "workers": workers,
        "properties": properties,
        "decided": len(done),
        "to 90 %, min": done[goal - 1] / 60 if len(done) >= goal else math.nan,
        "busy workers, %": 100 * busy / sum(w * f.workers for w, f in zip(walls, farms, strict=True)),
        "wasted, %": 100 * wasted / max(1e-9, busy),
        "units": sum(farm.broker.handed_out for farm in farms),
        "through schedulers, GB": moved / 1e9,
        "busiest scheduler, %": 100 * max(f.scheduler_busy / w for w, f in zip(walls, farms, strict=True)),
        "busiest checkers, %": 100
        * max(f.check_busy / (w * len(f.checkers)) for w, f in zip(walls, farms, strict=True)),
    }


def fit(path: str) -> tuple[float, float]:
    """The shape and scale of the times in a journal: the likeliest on a grid, unknown ones as cut off."""
    fallen, open_ = [], []
    with open(path, encoding="utf-8") as file:
        rows = [json.loads(line)["row"] for line in file]
    for row in rows:
        if row["event"] == "verdict":
            fallen.append(max(1e-3, row["property"]["seconds"]))
        elif row["event"] == "turn" and row["status"] == 3:
            open_.append(row["seconds"])

    def likelihood(shape: float, scale: float) -> float:
        each = sum(math.log(shape / scale) - (shape + 1) * math.log1p(t / scale) for t in fallen)
        return each - sum(shape * math.log1p(t / scale) for t in open_)

    grid = [(0.1 * a, 0.005 * 1.3**b) for a in range(1, 31) for b in range(30)]
    best = max(grid, key=lambda pair: likelihood(*pair))
    print(f"{len(fallen)} verdicts, {len(open_)} open: shape {best[0]:.2f}, scale {best[1]:.3f} s")
    return best


def spread(options: argparse.Namespace) -> None:
    """Claims decided within a tenth of the time that all need, by the policy and in turns."""
    chance = random.Random(options.seed)
    claims = {}
    for i in range(2000):
        kind = chance.choice(("easy", "usual", "hopeless"))
        shape = {"easy": 0.9, "usual": options.shape, "hopeless": 0.05}[kind]
        claims[f"{kind} {i}"] = options.scale * ((1 - chance.random()) ** (-1 / shape) - 1)
    total = sum(min(t, 60.0) for t in claims.values())
    for name, policy in (("round robin", RoundRobin()), ("policy", Policy())):
        counts = []
        for share in (0.01, 0.03, 0.1, 0.3):
            queue = type(policy)()
            for key in claims:
                queue.add(Candidate(key, key, key.partition(" ")[0]))
            left, decided = share * total, 0
            while left > 0 and (chosen := queue.next(left)) is not None:
                candidate, budget = chosen
                need = claims[candidate.key] - candidate.spent
                left -= min(need, budget)
                queue.came_back(candidate.key, min(need, budget), int(need <= budget))
                if need <= budget:
                    decided += 1
                    queue.remove(candidate.key)
                else:
                    queue.wait(candidate.key)
            counts.append(decided)
        print(f"{name:12} {counts}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--specs", type=int, default=1000)
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 10, 100, 1000, 10_000])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--night", type=float, default=12 * 3600.0, help="seconds")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds of a lane on a cluster")
    parser.add_argument("--homes", type=int, default=1, help="each with its own specs, workers and scheduler")
    parser.add_argument("--checkers", type=int, default=3, help="of each home")
    parser.add_argument("--kept", type=float, default=KEPT, help="share of specs that have not changed")
    parser.add_argument("--shape", type=float, default=SHAPE)
    parser.add_argument("--scale", type=float, default=SCALE)
    parser.add_argument("--round-robin", action="store_true")
    parser.add_argument("--deadline", action="store_true")
    parser.add_argument("--fit", metavar="JOURNAL")
    options = parser.parse_args()
    if options.fit:
        fit(options.fit)
        return
    if options.deadline:
        spread(options)
        return
    for workers in options.workers:
        began = time.process_time()
        farms = []
        for home in range(options.homes):
            farms.append(Farm(options.specs // options.homes, workers // options.homes, options, options.seed + home))
            farms[-1].run()
        row = figures(farms, workers, options.night) | {"simulated in, s": time.process_time() - began}
        print("  ".join(f"{name} {value:.4g}" for name, value in row.items()), flush=True)


if __name__ == "__main__":
    main()
