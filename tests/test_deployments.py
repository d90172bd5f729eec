"""Clusters as people have them: one that grows on demand, objects of Dask, and TLS. On 127.0.0.1."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time

import pytest
from cluster import Cluster, wait_until
from distributed import Client, LocalCluster
from distributed.security import Security
from test_dask import deep, verdicts

from streamcheck import *
from streamcheck.core.errors import SpecError

DECIDED = {"late": ("falsified", 60), "true": ("proved", None), "bounded": ("proved", None)}


class BatchCluster(LocalCluster):
    """A cluster of a class that is not Dask's own, as `SLURMCluster` of dask-jobqueue is one."""


@pytest.fixture
def local(tmp_path):
    options = {"processes": True, "threads_per_worker": 1, "dashboard_address": None, "host": "127.0.0.1"}
    with BatchCluster(n_workers=0, local_directory=str(tmp_path), **options) as cluster:
        yield cluster


def number_of_workers(cluster):
    return len(cluster.scheduler_info["workers"])


def test_a_cluster_that_grows_on_demand(local):
    """It has no worker at first, gets some while there is work, and has none again when that is done."""
    local.adapt(minimum=0, maximum=2, interval="200ms", wait_count=2)
    most = [0]
    done = threading.Event()

    def look():
        while not done.wait(0.05):
            most[0] = max(most[0], number_of_workers(local))

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        found = deep().prove(on=local, timeout=60)
    finally:
        done.set()
        watcher.join()
    assert verdicts(found) == DECIDED and not found.alarms
    assert 1 <= most[0] <= 2
    wait_until(lambda: number_of_workers(local) == 0, 30)


def test_workers_that_come_and_go(local):
    """Fewer and more of them in the middle of a proof."""
    local.scale(2)
    done = threading.Event()

    def change():
        for number in (1, 2, 1, 3):
            if done.wait(1.5):
                return
            local.scale(number)

    changing = threading.Thread(target=change)
    changing.start()
    try:
        found = deep(400).prove(on=local, timeout=60)
    finally:
        done.set()
        changing.join()
    assert verdicts(found) == {**DECIDED, "late": ("falsified", 400)}


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    """A certificate that is its own authority, and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not there")
    folder = tmp_path_factory.mktemp("keys")
    names = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *names,
         "-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")],
        check=True, capture_output=True,
    )  # fmt: skip
    return str(folder / "cert.pem"), str(folder / "key.pem")


@pytest.fixture(scope="module")
def encrypted(keys, tmp_path_factory):
    cert, key = keys
    options = ["--tls-ca-file", cert, "--tls-cert", cert, "--tls-key", key]
    with Cluster(tmp_path_factory.mktemp("tls"), workers=1, scheme="tls", options=options) as cluster:
        yield cluster


def test_a_client_with_keys(encrypted, keys):
    cert, key = keys
    security = Security(tls_ca_file=cert, tls_client_cert=cert, tls_client_key=key, require_encryption=True)
    with Client(encrypted.address, security=security, set_as_default=False) as client:
        assert verdicts(deep().prove(on=client)) == DECIDED


def test_the_command_takes_keys_from_the_settings_of_dask(encrypted, keys, tmp_path):
    cert, key = keys
    (tmp_path / "spec.py").write_text(
        "from streamcheck import *\nn = stream(Word8, lambda n: [0] ++ mux(n < 9, n + 1, 0))\n"
        "spec = Spec('counter')\nspec.prop('small', n < 10)\n"
    )
    command = [sys.executable, "-m", "streamcheck", "prove", "spec.py", "--on", encrypted.address, "--no-cache"]
    tls = "DASK_DISTRIBUTED__COMM__TLS__"
    env = {**os.environ, f"{tls}CA_FILE": cert, f"{tls}CLIENT__CERT": cert, f"{tls}CLIENT__KEY": key}
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=env, timeout=100)
    assert done.returncode == 0 and "proved" in done.stdout, done.stderr


def test_without_keys_nobody_gets_in(encrypted):
    began = time.monotonic()
    with pytest.raises(SpecError, match="no Dask scheduler answers at tls://"):
        deep().prove(on=encrypted.address)
    assert time.monotonic() - began < 30
