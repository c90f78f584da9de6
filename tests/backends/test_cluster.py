"""A cluster as people start it: dask scheduler, dask worker, aced run --scheduler."""

import json
import os
import signal
import socket
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import aced
from aced import InvalidInput
from aced.cli import _run
from aced.design import FixedPoint
from aced.strategies._aced import _SOLVERS
from tests.backends.learning import asked, assert_same_rounds, labelled

distributed = pytest.importorskip("distributed")


class Cluster:
    """A scheduler and two workers on this machine."""

    def __init__(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{port}"
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", port)
        self.workers = [self._start("worker", self.address, "--nthreads", 1) for _ in range(2)]

    def _start(self, *words):
        command = [sys.executable, "-m", "dask", *map(str, words), "--no-dashboard"]
        paths = [str(Path(aced.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
        settings = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
        return subprocess.Popen(
            command, env=settings, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def close(self):
        for process in (*self.workers, self.scheduler):
            process.terminate()
        for process in (*self.workers, self.scheduler):
            process.wait(30)


@pytest.fixture(scope="module")
def cluster():
    found = Cluster()
    yield found
    found.close()


@pytest.fixture(scope="module")
def client(cluster):
    with distributed.Client(cluster.address, timeout=60, set_as_default=False) as found:
        found.wait_for_workers(2, timeout=60)
        yield found


@pytest.fixture(scope="module")
def expected():
    return asked(threads=2)


def test_a_worker_killed_in_the_middle_of_a_round_changes_nothing(client, expected):
    killed = []

    def report(text):
        calls.append(text)
        if len(calls) == 2:
            killed.append(min(client.run(os.getpid).values()))
            os.kill(killed[0], signal.SIGKILL)

    calls = []
    assert_same_rounds(asked(client=client, report=report), expected)
    assert len(calls) > 2
    client.wait_for_workers(2, timeout=60)  # its nanny starts another
    assert killed[0] not in client.run(os.getpid).values()


@pytest.fixture
def data(tmp_path):
    rows, labels = labelled(17_000)
    np.savez(tmp_path / "data.npz", X=rows, y=labels)
    return tmp_path / "data.npz"


def curve(out):
    return [(p["labels"], p["pool_accuracy"]) for p in json.loads(out)["curve"]]


def test_aced_run_gives_the_same_curve_on_a_cluster_and_in_processes(
    call, cluster, client, data, monkeypatch
):
    monkeypatch.setitem(_SOLVERS, "fixed-point", partial(FixedPoint, draws=12, rounds=2))
    words = ["run", data, "--budget", 40, "--batch", 20, "--json", "-"]
    _, plain, _ = call(*words)
    for more in (["--scheduler", cluster.address], ["--backend", "processes", "--threads", 2]):
        code, out, err = call(*words, *more)
        assert code == 0, err
        assert curve(out) == curve(plain)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--scheduler", "tcp://127.0.0.1:9"], "no Dask scheduler answers at tcp://127.0.0.1:9"),
        (["--scheduler", "gopher://x"], "no Dask scheduler answers at gopher://x"),
        (["--scheduler", "tcp://127.0.0.1:9", "--backend", "threads"], "pass one of them"),
        (["--backend", "spark"], "spark"),
        (["--device", "cuda"], "device: it is used by backend='torch' only"),
    ],
)
def test_bad_words_get_one_sentence_and_exit_code_2(call, words, sentence, monkeypatch):
    monkeypatch.setattr(_run, "ANSWER_SECONDS", 1)
    code, out, err = call("run", "digits", *words)
    assert code == 2
    assert sentence in err
    assert out == ""
    assert "Traceback" not in err


def test_a_cluster_without_workers_is_refused(call, monkeypatch):
    monkeypatch.setattr(_run, "ANSWER_SECONDS", 2)
    with distributed.LocalCluster(n_workers=0, dashboard_address=":0", processes=False) as empty:
        code, _, err = call("run", "digits", "--scheduler", empty.scheduler_address)
    assert code == 2
    assert f"has no workers; start one with: dask worker {empty.scheduler_address}" in err


def test_a_lost_scheduler_gets_one_sentence(cluster, client):
    def report(text):
        if cluster.scheduler.poll() is None:
            cluster.scheduler.kill()

    with pytest.raises(InvalidInput, match="client: it has lost its scheduler"):
        asked(client=client, report=report)
