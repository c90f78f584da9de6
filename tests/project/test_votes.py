"""How sure the label of an item with one opinion is."""

from __future__ import annotations

import pytest

from aced.project import add_class, sole_probability, summary
from tests.helpers import answer
from tests.project.places import make


def sure(project):
    """The probability of the combined label of each row, by row."""
    found = project.opinions()
    return dict(zip(found.rows.tolist(), found.eta.max(axis=1).tolist(), strict=True))


@pytest.mark.parametrize("combine", ["dawid-skene", "majority"])
def test_it_is_one_number_as_long_as_nothing_is_learned_of_mistakes(tmp_path, combine):
    project = make(tmp_path / "p", combine=combine)
    for who in ("ann", "bob"):
        project.add_person(who)
    assert sole_probability(project.state) is None  # there is no label
    assert summary(project)["agreement"]["sole"] is None
    for row in range(6):
        answer(project, "ann", row, "label", "yes" if row % 2 else "no")
    assert sole_probability(project.state) == 0.75
    assert set(sure(project).values()) == {0.75}
    assert summary(project)["agreement"]["sole"] == 0.75
    add_class(project.ledger, "ann", "maybe")
    assert sole_probability(project.state) == pytest.approx(2 / 3)
    assert list(sure(project).values()) == [pytest.approx(2 / 3)] * 6
    for row in range(3):
        answer(project, "bob", row, "label", "yes")
    alone = [sure(project)[row] for row in (3, 4, 5)]
    if combine == "majority":
        assert alone == [pytest.approx(sole_probability(project.state))] * 3
    else:
        assert sole_probability(project.state) is None
        assert alone[0] != pytest.approx(2 / 3)
    for row in range(3, 6):
        answer(project, "bob", row, "label", "yes")
    assert sole_probability(project.state) is None  # no item has one label
