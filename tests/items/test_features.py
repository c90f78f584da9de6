import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from aced import InvalidInput
from aced.items import features_from

ROWS = np.array([[1.5, 2.0], [3.0, -4.0], [0.0, 1e-3]])


def _refused(source, said, count=3):
    with pytest.raises(InvalidInput, match=said) as caught:
        features_from(source, count)
    assert str(caught.value).startswith("features")
    assert "\n" not in str(caught.value)


def test_every_way_to_pass_them(tmp_path):
    np.save(tmp_path / "a.npy", ROWS)
    np.savez(tmp_path / "a.npz", anything=ROWS)
    np.savetxt(tmp_path / "bare.csv", ROWS, delimiter=",")
    np.savetxt(tmp_path / "named.csv", ROWS, delimiter=",", header="x,y", comments="")
    np.savetxt(tmp_path / "a.tsv", ROWS, delimiter="\t")
    pq.write_table(pa.table({"x": ROWS[:, 0], "y": ROWS[:, 1]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"vector": ROWS.tolist()}), tmp_path / "lists.parquet")
    files = sorted(tmp_path.iterdir())
    assert len(files) == 7
    for source in (*files, str(files[0]), ROWS, ROWS.tolist(), pd.DataFrame(ROWS)):
        features = features_from(source, 3)
        assert features.dtype == np.float32
        np.testing.assert_array_equal(features, ROWS.astype(np.float32))


def test_what_is_refused(tmp_path):
    _refused(tmp_path / "none.npy", "there is no file")
    (tmp_path / "a.txt").write_text("x")
    _refused(tmp_path / "a.txt", "does not end in .npy")
    _refused(ROWS[:2], "2 rows for 3 items")
    _refused(ROWS[:, 0], "two-dimensional")
    _refused([[1, 2], [3]], "different lengths")
    for bad, said in ((np.nan, "row 1, column 0 is NaN"), (np.inf, "row 1, column 0 is infinite")):
        rows = ROWS.copy()
        rows[1, 0] = bad
        _refused(rows, said)
    np.save(tmp_path / "o.npy", np.array([{}], dtype=object))
    _refused(tmp_path / "o.npy", "not a readable file of plain arrays")
    np.savez(tmp_path / "two.npz", a=ROWS, b=ROWS)
    _refused(tmp_path / "two.npz", "one array; it holds a, b")
    (tmp_path / "a.csv").write_text("x,y\n1,2\n3,word\n")
    _refused(tmp_path / "a.csv", "row 1, column y of a.csv holds 'word'")
    (tmp_path / "a.csv").write_text("x,y\n1,2\n3,\n")
    _refused(tmp_path / "a.csv", "row 1, column 1 is NaN")
    (tmp_path / "a.csv").write_text("x,y\n")
    _refused(tmp_path / "a.csv", "empty")
    pq.write_table(pa.table({"x": ["a"]}), tmp_path / "a.parquet")
    _refused(tmp_path / "a.parquet", "column 'x' of a.parquet is not numeric")
    pq.write_table(pa.table({"x": [1.0, None]}), tmp_path / "a.parquet")
    _refused(tmp_path / "a.parquet", "row 1, column 0 is NaN")
    for lists in ([[1.0], [1.0, 2.0]], [[1.0], None], [["a"], ["b"]]):
        pq.write_table(pa.table({"x": lists}), tmp_path / "a.parquet")
        _refused(tmp_path / "a.parquet", "not numbers of one length")
