"""Proofs on a Dask scheduler and workers, as processes on 127.0.0.1: right answers, and what happens to them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from cluster import Cluster, CuttingProxy, below, busy, wait_until

from streamcheck import *
from streamcheck.core.errors import SpecError
from streamcheck.lang.flatten import flatten
from streamcheck.run.prove import Settings, prove
from streamcheck.scale.broker import Broker
from streamcheck.scale.crew import DistantCrew, with_crew
from streamcheck.scale.dask_pool import DaskPool

MEGABYTE = 1_000_000


def deep(steps=60):
    """A spec with a property that falls only at a late step, and others that are proved at once."""
    x, n = extern("x", Word16), stream(Word16, lambda n: [0] + +(n + 1))
    spec = Spec("deep")
    spec.prop("late", n < steps)
    spec.prop("true", x | ~x == 0xFFFF)
    spec.prop("bounded", n <= n | x)
    return spec


def alone():
    """The same with one unit: numbers that have one model."""
    n = stream(Int, lambda n: [0] + +(n + 1))
    spec = Spec("alone")
    spec.prop("late", n < 2500)
    return spec


def endless():
    """A property that bounded model checking alone never decides, step by step."""
    a, b = extern("a", Word32), extern("b", Word32)
    s = stream(Word32, lambda s: [0] + +(s ^ (a * b)))
    spec = Spec("endless")
    spec.prop("holds", (s * a) * b == s * (a * b))
    return spec


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("cluster")


@pytest.fixture(scope="module")
def cluster(folder):
    with Cluster(folder) as cluster:
        yield cluster


def verdicts(results):
    return {r.name: (r.verdict, r.k if r.verdict == "falsified" else None) for r in results}


def broker_for(address, **changes):
    return Broker(DaskPool(address), **changes)


def prove_with(broker, spec, seconds=60.0, **settings):
    chosen = Settings(seconds, **settings)
    decided = []

    class Ear:
        def begin(self, problem, *, machine, bound): ...
        def hear(self, result):
            decided.append(result.name)

        def watch(self, director): ...

    found = prove(flatten(spec), with_crew(chosen, broker, "spec"), Ear())
    assert len(decided) == len(set(decided)), "no verdict twice"
    return found


def hosts_of(process):
    return below(process.pid)


def test_the_same_verdicts_as_here(cluster, tmp_path):
    spec = deep()
    here, there = spec.prove(), spec.prove(on=cluster.address, certificates=tmp_path)
    assert verdicts(there) == verdicts(here)
    assert not there.alarms
    assert {r.name for r in there if r.verdict == "proved"} == {"true", "bounded"}


def test_the_command(cluster, tmp_path):
    path = tmp_path / "spec.py"
    path.write_text("from streamcheck import *\nn = stream(Word8, lambda n: [0] ++ mux(n < 9, n + 1, 0))\n"
                    "spec = Spec('counter')\nspec.prop('small', n < 10)\n")  # fmt: skip
    command = [sys.executable, "-m", "streamcheck", "prove", str(path), "--on", cluster.address, "--no-cache"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0 and "proved" in done.stdout and done.stderr == ""


def test_a_worker_that_is_killed(folder):
    with Cluster(folder) as cluster:
        broker = broker_for(cluster.address)
        gone = set()

        def kill():
            wait_until(lambda: any(map(hosts_of, cluster.workers)))
            time.sleep(1.0)
            victim = next(worker for worker in cluster.workers if hosts_of(worker))
            gone.update(hosts_of(victim))
            victim.kill()

        thread = threading.Thread(target=kill)
        thread.start()
        try:
            found = prove_with(broker, deep(2500), engines=["bmc"], props=["late"])
        finally:
            thread.join()
            broker.close()
        assert verdicts(found.results) == {"late": ("falsified", 2500)}
        assert gone
        wait_until(lambda: not busy(gone))  # its solvers have ended with it


def test_a_worker_that_is_frozen(folder):
    with Cluster(folder) as cluster:
        broker = broker_for(cluster.address, lease=lambda budget: 3 + 4 * budget)
        frozen = set()

        def freeze():
            wait_until(lambda: any(map(hosts_of, cluster.workers)))
            victim = next(worker for worker in cluster.workers if hosts_of(worker))
            frozen.update(hosts_of(victim))
            victim.send_signal(signal.SIGSTOP)

        thread = threading.Thread(target=freeze)
        thread.start()
        try:
            found = prove_with(broker, alone(), engines=["bmc"], seconds=100)
        finally:
            thread.join()
            broker.close()
        assert verdicts(found.results) == {"late": ("falsified", 2500)}
        assert broker.lost > 0 and frozen
    wait_until(lambda: not busy(frozen))  # they end with the worker, frozen or not


def test_the_scheduler_goes_and_comes_back(folder):
    with Cluster(folder) as cluster:
        broker = broker_for(cluster.address)
        gone = set()

        def restart():
            wait_until(lambda: any(map(hosts_of, cluster.workers)))
            gone.update(*map(hosts_of, cluster.workers))
            for process in (cluster.scheduler, *cluster.workers):
                process.kill()
                process.wait()
            time.sleep(1.0)
            cluster.start_scheduler()
            cluster.start_worker()

        thread = threading.Thread(target=restart)
        thread.start()
        try:
            found = prove_with(broker, deep(2500), engines=["bmc"], props=["late"], seconds=100)
        finally:
            thread.join()
            broker.close()
        assert verdicts(found.results) == {"late": ("falsified", 2500)}
        assert broker.lost > 0 and gone
        wait_until(lambda: not busy(gone))


def test_a_message_that_is_cut(cluster):
    proxy = CuttingProxy(cluster.port, cuts=[14_000])
    broker = broker_for(f"tcp://127.0.0.1:{proxy.port}")
    try:
        found = prove_with(broker, deep(2500), engines=["bmc"], props=["late"], seconds=100)
    finally:
        broker.close()
        proxy.close()
    assert verdicts(found.results) == {"late": ("falsified", 2500)}
    assert proxy.number > 1 and not proxy.cuts  # it was cut, and has connected again


def test_a_task_that_eats_memory(cluster):
    broker = broker_for(cluster.address)
    try:
        found = prove_with(broker, endless(), engines=["bmc"], memory=20 * MEGABYTE, seconds=40)
    finally:
        broker.close()
    (result,) = found.results
    assert result.verdict == "unknown" and "memory limit of 20 MB is too small" in str(result.reasons)
    assert all(worker.poll() is None for worker in cluster.workers)
    assert verdicts(deep().prove(on=cluster.address)) == verdicts(deep().prove())


def test_a_worker_of_another_version_gets_nothing(folder):
    with Cluster(folder, workers=1) as cluster:
        cluster.start_worker("0.0.7")
        notes = []
        broker = broker_for(cluster.address, note=notes.append)
        try:
            wait_until(lambda: broker.pump() is not None and notes and broker.places == 1)
            found = prove_with(broker, deep())
        finally:
            broker.close()
        assert verdicts(found.results) == verdicts(deep().prove())
        assert len(notes) == 1 and "gets no tasks: it has streamcheck 0.0.7" in notes[0]


def test_nothing_runs_once_it_is_stopped(cluster, tmp_path):
    """The command is killed: the scheduler sees its client go, the workers end what it had asked for."""
    path = tmp_path / "spec.py"
    path.write_text(
        "from streamcheck import *\na, b = extern('a', Word32), extern('b', Word32)\n"
        "s = stream(Word32, lambda s: [0] ++ (s ^ (a * b)))\n"
        "spec = Spec('endless')\nspec.prop('holds', (s * a) * b == s * (a * b))\n"
    )
    command = [sys.executable, "-m", "streamcheck", "prove", str(path), "--on", cluster.address, "--no-cache"]
    command += ["--engine", "bmc"]
    home = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=tmp_path)

    def solvers():
        return [pid for worker in cluster.workers for host in below(worker.pid) for pid in below(host)]

    wait_until(solvers)
    home.kill()
    home.wait()
    wait_until(lambda: not solvers(), 40)


def test_labels_say_what_runs(cluster):
    from distributed.utils import key_split

    seen = []

    class Pool:
        read = os.pipe()[0]

        def submit(self, key, label, problem, unit, urgency):
            seen.append(label)

        def cancel(self, key, overdue=False): ...
        def messages(self):
            return ()

        def close(self): ...

    broker = Broker(Pool(), places=1)
    prove(flatten(deep()), Settings(1.0, crew=DistantCrew(broker, "deep")))
    assert seen[0].startswith("bmc+k_induction+completeness (integers) deep: late ")
    assert key_split(seen[0]).startswith("bmc+k_induction+completeness (integers) deep: late")


@pytest.mark.parametrize(
    ("on", "message"),
    [
        ("127.0.0.1:8786", "no address of a Dask scheduler"),
        ("inproc://1/2", "no address of a Dask scheduler that other processes can reach"),
        ("tcp://127.0.0.1:9", "no Dask scheduler answers at tcp://127.0.0.1:9"),
        (3, "expected a string or an executor or a cluster of Dask or None; found 3"),
    ],
)
def test_what_is_no_scheduler(on, message):
    with pytest.raises(SpecError, match=message):
        deep().prove(on=on)


def test_a_client_of_dask(cluster):
    from distributed import Client

    with Client(cluster.address, set_as_default=False) as client:
        assert verdicts(deep().prove(on=client)) == verdicts(deep().prove())


def test_a_suite_on_a_cluster(cluster, tmp_path):
    head = "from streamcheck import *\nn = stream(Word8, lambda n: [0] ++ mux(n < 9, n + 1, 0))\n"
    for name, most in (("a", 10), ("b", 10), ("c", 5)):
        (tmp_path / f"{name}.py").write_text(f"{head}spec = Spec('{name}')\nspec.prop('small', n < {most})\n")
    (tmp_path / "wrong.py").write_text("from streamcheck import *\nSpec(\n")
    command = [sys.executable, "-m", "streamcheck", "prove", ".", "--suite", "--on", cluster.address]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=100)
    assert done.returncode == 1 and "3 specs of 4 files: 2 proved, 1 falsified;" in done.stdout
    assert "wrong.py" in done.stderr
