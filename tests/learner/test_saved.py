"""Files of saved learners that were changed by hand get one sentence."""

import io
import json
import os
import zipfile
from contextlib import suppress

import numpy as np
import pytest

from aced import InvalidInput, Learner, Pool
from tests.helpers import blobs

ROWS, LABELS = blobs(n=120, p=4)
NAMES = np.where(LABELS, "yes", "no")


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """The arrays of two saved learners, by strategy."""
    folder = tmp_path_factory.mktemp("saved")
    found = {}
    for strategy in ("aced", "iwal0"):
        learner = Learner(Pool(ROWS), strategy=strategy, batch_size=10)
        for _ in range(3):
            ids = learner.ask(5).ids
            learner.tell(ids, NAMES[ids])
        learner.ask(2)
        learner.save(folder / strategy)
        with np.load(folder / strategy) as held:
            found[strategy] = dict(held)
    return found


def stored(folder, arrays, **changes):
    meta = json.loads(arrays["meta"].tobytes())
    for name, value in changes.items():
        if isinstance(value, np.ndarray):
            arrays = {**arrays, name: value}
        else:
            meta[name] = value
    arrays = {**arrays, "meta": np.frombuffer(json.dumps(meta).encode(), np.uint8)}
    np.savez(folder / "changed.npz", **arrays)
    return folder / "changed.npz"


@pytest.mark.parametrize("strategy", ["aced", "iwal0"])
def test_the_parts_as_they_were_make_a_learner(strategy, parts, tmp_path):
    learner = Learner.load(stored(tmp_path, parts[strategy]), Pool(ROWS))
    assert learner.labels_known == 15
    assert len(learner.ask())


@pytest.mark.parametrize(
    "changes",
    [
        {"status": np.zeros(119, np.int8)},
        {"status": np.zeros(120)},
        {"status": np.full(120, 7, np.int8)},
        {"status": np.zeros((120, 1), np.int8)},
        {"codes": np.full(120, 5)},
        {"codes": np.full(120, -1)},
        {"codes": np.zeros(120, ">i8")},
        {"probabilities": np.full(120, 2.0)},
        {"probabilities": np.zeros(3)},
        {"queue": np.array([120])},
        {"queue": np.array([-1])},
        {"queue": np.array([0.5])},
        {"queue": np.arange(120)},
        {"lam": np.zeros(7)},
        {"lam": np.full(120, np.nan)},
        {"incumbent": np.zeros(120)},
        {"strategy_spent": np.zeros(3)},
        {"strategy_spent": np.full(120, np.nan)},
        {"strategy_spent": np.full(120, -1.0)},
        {"classes": ["a", "b", "c"]},
        {"classes": "ab"},
        {"classes": [None, "b"]},
        {"classes": ["a"], "classes_fixed": False},
        {"classes": [2**70, 1]},
        {"classes": [["a"], "b"]},
        {"rng": {"bit_generator": "PCG64"}},
        {"rng": 3},
        {"history": "none"},
        {"history": [1]},
        {"strategy": "nothing"},
        {"strategy": 5},
        {"options": {"no": "option"}},
        {"options": [1]},
        {"budget": 10**9},
        {"budget": "many"},
        {"batch_size": -4},
        {"tolerance": "small"},
        {"l2": "large"},
        {"pool": None},
    ],
    ids=lambda changes: "-".join(changes),
)
def test_a_changed_part_gets_one_sentence(changes, parts, tmp_path):
    path = stored(tmp_path, parts["aced"], **changes)
    with pytest.raises(InvalidInput) as caught:
        Learner.load(path, Pool(ROWS))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "changes",
    [
        {"strategy_order": np.arange(120) + 1},
        {"strategy_order": np.zeros(120)},
        {"strategy_rows": np.array([-5])},
        {"strategy_luck": np.zeros(4)},
        {"strategy_counts": np.zeros(2)},
        {"strategy_waiting": np.zeros(5)},
    ],
    ids=lambda changes: "-".join(changes),
)
def test_a_changed_part_of_a_stream_gets_one_sentence(changes, parts, tmp_path):
    with pytest.raises(InvalidInput, match="is not a saved learner"):
        Learner.load(stored(tmp_path, parts["iwal0"], **changes), Pool(ROWS))


def test_a_header_that_claims_petabytes_gets_one_sentence(parts, tmp_path):
    path = stored(tmp_path, parts["aced"])
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f8", "fortran_order": False, "shape": (2**50,)}
    )
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("strategy_more.npy", header.getvalue())
    with pytest.raises(InvalidInput, match="is not a saved learner"):
        Learner.load(path, Pool(ROWS))


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidInput, match="is a pipe or a device"):
        Learner.load(tmp_path / "pipe", Pool(ROWS))
    with pytest.raises(InvalidInput, match="is a folder"):
        Learner.load(tmp_path, Pool(ROWS))


def test_flipped_bytes_never_end_in_another_error(parts, tmp_path):
    good = stored(tmp_path, parts["aced"]).read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(150):
        bad = bytearray(good)
        for place in rng.integers(len(bad), size=rng.integers(1, 4)):
            bad[place] = rng.integers(256)
        (tmp_path / "bad.npz").write_bytes(bad[: rng.integers(len(bad))] if rng.random() < 0.2 else bad)
        with suppress(InvalidInput):
            Learner.load(tmp_path / "bad.npz", Pool(ROWS))


def test_a_stream_that_passed_the_pool_more_than_once_is_loaded(tmp_path):
    learner = Learner(Pool(ROWS), strategy="iwal1", seed=5)
    for _ in range(90):
        ids = learner.ask(1).ids
        learner.tell(ids, NAMES[ids])
    assert len(learner.memory.strategy["order"]) > len(ROWS)
    learner.save(tmp_path / "saved")
    other = Learner.load(tmp_path / "saved", Pool(ROWS))
    np.testing.assert_array_equal(other.ask(3).ids, learner.ask(3).ids)
