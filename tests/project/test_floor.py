"""The floor of a project's strategy."""

from __future__ import annotations

import pytest

from aced import InvalidInput
from aced.project import summary
from tests.project.test_proposals import project_of
from tests.project.test_savings import label_round, project_of as plain_project


@pytest.mark.parametrize("strategy", ["iwal0", "cal"])
def test_a_stream_has_none_and_can_be_used(tmp_path, strategy):
    project, truth = plain_project(tmp_path / "p", n=80, strategy=strategy)
    assert project.refill(threads=1)
    label_round(project, truth)
    assert summary(project)["progress"]["accuracy"] is None


def test_a_stop_by_regret_leaves_no_room_for_proposals(tmp_path):
    stop = {"of": "regret", "wanted": 0.02, "confidence": 0.95}
    with pytest.raises(InvalidInput, match="stop_regret is about the model alone"):
        project_of(tmp_path / "p", stop=stop)
    assert not (tmp_path / "p" / "ledger.sqlite").exists()
