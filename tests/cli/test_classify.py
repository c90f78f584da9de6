"""The table that aced classify writes."""

from __future__ import annotations

from hypothesis import given, strategies as st

from aced._tables import read_table
from aced.cli._classify import as_csv
from aced.project._export import original

IDS = st.text(st.sampled_from("'=+x, \t\r\n\";ä"), min_size=1)


@given(st.lists(IDS, min_size=1, unique=True))
def test_ids_come_back_from_the_table(tmp_path_factory, ids):
    path = tmp_path_factory.mktemp("x") / "x.csv"
    lines = [{"id": name, "label": "=x", "probability": 0.5} for name in ids]
    path.write_bytes(as_csv(lines).encode())
    table = read_table(path, "file")
    assert [original(name) for name in table.column("id")] == ids
    assert set(table.column("label")) == {"'=x"}
