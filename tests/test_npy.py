"""Headers of .npy and .npz files are checked against the bytes that are there."""

import io
import os
import tracemalloc
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest

from aced import InvalidInput
from aced._archive import plain_arrays, read, write

PEBIBYTE = 2**50


def claiming(shape, dtype="<f8", version=(1, 0), body=b"\0" * 300) -> bytes:
    """A .npy file whose header has this shape and dtype, whatever follows."""
    file = io.BytesIO()
    header = {"descr": dtype, "fortran_order": False, "shape": shape}
    if version == (1, 0):
        np.lib.format.write_array_header_1_0(file, header)
    else:
        np.lib.format.write_array_header_2_0(file, header)
    return file.getvalue() + body


def packed(path: Path, members: dict[str, bytes], compression=zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


FALSE_HEADERS = {
    "8 PiB": claiming((PEBIBYTE,)),
    "beyond 64 bits": claiming((2**62, 2**62)),
    "negative": claiming((-1, 5)),
    "sides that are no numbers": claiming((True, 3)),
    "70 sides": claiming((1,) * 70),
    "objects": claiming((3,), "|O"),
    "records": claiming((3,), [("a", "<f8"), ("b", "|O")]),
    "no width": claiming((2**60,), "<U0"),
    "a byte short": claiming((10,), body=b"\0" * 79),
    "long header": b"\x93NUMPY\x02\x00" + (2**32 - 1).to_bytes(4, "little") + b"{" * 500,
    "no version": b"\x93NUMPY\x09\x09" + b"\0" * 100,
    "no array": b"just text",
    "empty": b"",
}


@pytest.mark.parametrize("name", FALSE_HEADERS)
@pytest.mark.parametrize("kind", ["npy", "npz"])
def test_a_false_header_gets_one_sentence(name, kind, tmp_path):
    path = tmp_path / f"x.{kind}"
    if kind == "npy":
        path.write_bytes(FALSE_HEADERS[name])
    else:
        packed(path, {"X.npy": FALSE_HEADERS[name]})
    with pytest.raises(InvalidInput, match=r"is not a readable file of plain arrays: .") as caught:
        plain_arrays(path, "features")
    assert "\n" not in str(caught.value)


def test_the_sentence_says_how_much_the_header_claims(tmp_path):
    (tmp_path / "x.npy").write_bytes(FALSE_HEADERS["8 PiB"])
    with pytest.raises(InvalidInput, match=r"the header claims 8388608 GiB, and 300 bytes are there"):
        plain_arrays(tmp_path / "x.npy", "features")


@pytest.mark.parametrize("version", [(1, 0), (2, 0)])
def test_true_headers_are_read(version, tmp_path):
    (tmp_path / "x.npy").write_bytes(claiming((4, 2), version=version, body=np.arange(8.0).tobytes()))
    np.testing.assert_array_equal(
        plain_arrays(tmp_path / "x.npy", "features")[""], np.arange(8.0).reshape(4, 2)
    )
    np.savez_compressed(tmp_path / "x.npz", a=np.array(["x", "yy"]), b=np.zeros((0, 3)), c=np.array(1))
    found = plain_arrays(tmp_path / "x.npz", "features")
    assert {name: array.shape for name, array in found.items()} == {"a": (2,), "b": (0, 3), "c": ()}
    assert found["a"].tolist() == ["x", "yy"]


def test_a_file_that_grows_beyond_the_memory_is_refused_before_it_grows(tmp_path, monkeypatch):
    np.savez_compressed(tmp_path / "x.npz", X=np.zeros(2 * 10**6))
    assert (tmp_path / "x.npz").stat().st_size < 20_000
    monkeypatch.setattr("aced._free_memory.available_memory", lambda: 10**7)
    tracemalloc.start()
    try:
        with pytest.raises(InvalidInput, match=r"have to fit in memory: 0\.0 GiB, and 0\.0 GiB"):
            plain_arrays(tmp_path / "x.npz", "features")
        assert tracemalloc.get_traced_memory()[1] < 10**6
    finally:
        tracemalloc.stop()


def test_what_was_saved_never_grows(tmp_path):
    write(tmp_path / "good", {"a": 1}, {"x": np.zeros(1000)})
    assert read(tmp_path / "good", {"a", "x"}, "thing")[1]["x"].shape == (1000,)
    with zipfile.ZipFile(tmp_path / "good") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["x.npy"] = claiming((2 * 10**6,), body=b"\0" * 16 * 10**6)
    bomb = packed(tmp_path / "bomb", members, zipfile.ZIP_DEFLATED)
    tracemalloc.start()
    try:
        with pytest.raises(InvalidInput, match="bomb is not a saved thing"):
            read(bomb, {"a", "x"}, "thing")
        assert tracemalloc.get_traced_memory()[1] < 10**6
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("meta", [b"[" * 100_000, b"{", b"\xff\xfe", b'{"format": 2}', b"[1]"])
def test_notes_that_are_no_notes_are_refused(meta, tmp_path):
    np.savez(tmp_path / "x.npz", meta=np.frombuffer(meta, np.uint8))
    with pytest.raises(InvalidInput, match="is not a saved thing"):
        read(tmp_path / "x.npz", set(), "thing")


def test_pipes_and_devices_are_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe.npz")
    for path in (tmp_path / "pipe.npz", Path("/dev/zero")):
        with pytest.raises(InvalidInput, match="is a pipe or a device"):
            plain_arrays(path, "features")
        with pytest.raises(InvalidInput, match="is a pipe or a device"):
            read(path, set(), "thing")


def test_a_file_of_python_2_is_read_without_advice(tmp_path):
    content = claiming((2, 3), body=b"\0" * 48).replace(b"(2, 3)", b"(2L,3)")
    (tmp_path / "x.npy").write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert plain_arrays(tmp_path / "x.npy", "features")[""].shape == (2, 3)
