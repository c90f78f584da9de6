"""A project: from items to labels, with several people, undo, retries and restarts."""

from __future__ import annotations

import numpy as np
import pytest

from aced import InvalidInput
from aced.ledger import replay
from aced.project import Project, plan_round, summary
from aced.project._brief import round_size
from tests.helpers import blobs


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


def make(folder, n=120, clock=None, **options):
    rows, labels = blobs(n, 4, flip=0.05)
    project = Project.create(
        folder,
        ids=[f"i{i}" for i in range(n)],
        contents=[f"text {i}" for i in range(n)],
        kind="text",
        features=rows,
        classes=["no", "yes"],
        batch=20,
        **({} if clock is None else {"clock": clock}),
        **options,
    )
    for name in ("ann", "bob"):
        project.add_person(name, token=False)
    return project, labels


def play(project, labels, times, who=("ann", "bob")):
    for k in range(times):
        project.refill(threads=1)
        name = who[k % len(who)]
        for item in project.give(name, 1):
            project.answer(name, item.row, "label", project.classes[labels[item.row]], seconds=2.0)


def test_it_asks_learns_and_is_the_same_when_opened_again(tmp_path):
    project, labels = make(tmp_path / "p")
    play(project, labels, 100)
    state = project.state
    assert len(state.labelled()) == 100
    assert len(state.rounds) >= 5
    last = state.rounds[-1]["accuracy"]
    assert last["low"] < last["estimate"] <= last["high"]
    assert project.classifier().score(project.features, labels) > 0.85
    again = Project(tmp_path / "p")
    assert again.state.digest() == state.digest()
    assert replay(again.ledger).problems == []


def test_the_same_answers_give_the_same_ledger(tmp_path):
    found = []
    for name in "ab":
        project, labels = make(tmp_path / name, clock=Clock())
        play(project, labels, 50)
        found.append([(e.kind, e.row) for e, _ in project.ledger.events()])
    assert found[0] == found[1]


def test_a_round_can_be_repeated_from_the_ledger(tmp_path):
    project, labels = make(tmp_path / "p", overlap=0.2)
    play(project, labels, 45)
    asked = project.brief()
    one, two = plan_round(project.pool, asked, 1), plan_round(project.pool, asked, 2)
    assert (one.rows, one.probabilities, one.accuracy, one.notes) == (
        two.rows,
        two.probabilities,
        two.accuracy,
        two.notes,
    )
    assert one.accuracy is not None
    assert project.record(asked, one)
    assert not project.record(asked, two)  # someone was first


def test_rounds_hold_second_opinions_and_new_rows(tmp_path):
    project, labels = make(tmp_path / "p", overlap=0.2, strategy="aced")  # which has rivals
    play(project, labels, 40)
    asked = project.brief()
    answer = plan_round(project.pool, asked, 1)
    drawn = set(asked.drawn.tolist())
    seconds = [row for row in answer.rows if row in drawn]
    assert len(answer.rows) == 20
    assert len(seconds) == 4
    assert set(seconds) <= set(asked.single.tolist())
    assert len(set(answer.rows)) == 20
    assert all(0 < chance <= 1 for chance in answer.probabilities)
    assert all(0 <= note["separates"] <= note["of"] for note in answer.notes)


@pytest.mark.parametrize("strategy", ["blend", "margin", "aced", "passive"])
def test_every_open_row_has_its_share_of_every_draw(tmp_path, strategy):
    project, labels = make(tmp_path / "p", strategy=strategy, check=0.2, representation="linear")
    play(project, labels, 60)
    opened = project.settings.rows
    for body in [event.body for event, _ in project.ledger.events() if event.kind == "draw"]:
        assert "checks" not in body
        for probability in body["probabilities"]:
            share = 1.0 if strategy == "passive" else 0.2
            assert probability >= share / opened - 1e-12
            opened -= 1


def test_without_a_share_of_uniform_draws_nothing_is_said_of_accuracy(tmp_path):
    project, labels = make(tmp_path / "p", strategy="blend", check=0.0)
    play(project, labels, 60)
    assert all(one["accuracy"] is None for one in project.state.rounds)
    assert summary(project)["accuracy_by_class"] == []


def test_two_people_never_hold_the_same_item(tmp_path):
    project, _ = make(tmp_path / "p")
    project.refill(threads=1)
    one, two = project.give("ann", 3), project.give("bob", 3)
    assert not {item.row for item in one} & {item.row for item in two}
    assert project.give("ann", 3) == one  # a reload shows what one had


def test_an_item_goes_to_someone_else_when_its_lease_runs_out(tmp_path):
    clock = Clock()
    project, _ = make(tmp_path / "p", clock=clock, lease=60.0)
    project.refill(threads=1)
    (item,) = project.give("ann", 1)
    assert project.give("bob", 1) != [item]
    clock.now += 61
    rows = [found.row for found in project.give("bob", 2)]
    assert item.row in rows
    project.answer("ann", item.row, "label", "yes")  # late, and not lost
    assert project.state.votes[item.row]["ann"].code == 1


def test_an_answer_about_a_row_that_was_not_given_is_refused(tmp_path):
    """In the transaction itself: what somebody else holds is nobody's guess from a stale page."""
    project, _ = make(tmp_path / "p")
    project.refill(threads=1)
    (item,) = project.give("ann")
    before = project.state.seq
    with pytest.raises(InvalidInput, match=f"row: item {item.row} was not given to you"):
        project.answer("bob", item.row, "label", "yes")
    assert project.state.seq == before
    project.answer("ann", item.row, "label", "yes")
    project.answer("ann", item.row, "label", "no")  # it was theirs, so they may think again


def test_the_same_key_counts_once(tmp_path):
    project, _ = make(tmp_path / "p")
    project.refill(threads=1)
    (item,) = project.give("ann", 1)
    one, _ = project.answer("ann", item.row, "label", "yes", key="r1")
    two, _ = project.answer("ann", item.row, "label", "yes", key="r1")
    assert one.seq == two.seq
    with pytest.raises(InvalidInput, match="key"):
        project.answer("bob", item.row, "label", "yes", key="r1")
    assert project.undo("ann", key="u1").item.row == item.row
    assert project.undo("ann", key="u1").item.row == item.row
    assert project.state.votes[item.row] == {}
    assert project.undo("ann") is None


def test_labels_of_several_people_are_combined(tmp_path):
    project, _ = make(tmp_path / "p", n=60)
    project.add_person("eve", token=False)
    with project.ledger.writing() as writing:
        for row in range(40):
            for who in ("ann", "bob", "eve"):
                code = int(row < 20) if who != "eve" else int(row % 2)
                writing.append("label", who, row, {"label": code})
    found = project.opinions()
    np.testing.assert_array_equal(found.codes, [1] * 20 + [0] * 20)
    assert (found.eta.argmax(axis=1) == found.codes).all()


def test_tokens_are_kept_as_hashes_and_can_be_revoked(tmp_path):
    project, _ = make(tmp_path / "p")
    token = project.add_person("kim", "lead")
    assert project.who_is(token) == ("kim", "lead")
    assert project.who_is(token + "x") is None
    assert project.who_is("") is None
    project.close()
    for file in (tmp_path / "p").iterdir():
        assert token.encode() not in file.read_bytes()
    project = Project(tmp_path / "p")
    project.revoke("kim")
    assert project.who_is(token) is None
    with pytest.raises(InvalidInput, match="aced invite"):
        project.give("kim", 1)


def test_duplicates_share_a_row(tmp_path):
    rows, _ = blobs(30, 3)
    project = Project.create(
        tmp_path / "p",
        ids=[str(i) for i in range(40)],
        contents=[f"t{i % 30}" for i in range(40)],
        kind="text",
        features=rows,
        rows=[i % 30 for i in range(40)],
        classes=["a", "b"],
    )
    assert len(project.pool) == 30
    assert project.item(3).id == "3"
    assert sum(item["row"] == 3 for item in project.items) == 2


def test_the_whole_pool_can_be_labelled(tmp_path):
    project, labels = make(tmp_path / "p", n=45)
    play(project, labels, 50)
    assert len(project.state.labelled()) == 45
    assert project.give("ann", 1) == []
    assert not project.refill()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"classes": ["a"]}, "classes"),
        ({"classes": ["a", "a"]}, "classes"),
        ({"classes": ["a", "b" * 200]}, "classes"),
        ({"contents": ["x"] * 9 + ["\ud800"]}, "half a character"),
        ({"check": 1.0}, "check"),
        ({"overlap": -0.1}, "overlap"),
        ({"check": 0.5, "overlap": 0.5}, "no room"),
        ({"lease": 0}, "lease"),
        ({"combine": "best"}, "combine"),
        ({"strategy": "magic"}, "strategy"),
        ({"features": np.full((10, 2), np.nan)}, "row"),
        ({"features": np.zeros((9, 2))}, "features"),
        ({"features": np.ones((10, 5001))}, "takes at most 5000; reduce them first"),
        ({"rows": [*range(9), 10]}, "features"),
    ],
)
def test_bad_settings_are_named_and_leave_nothing_behind(tmp_path, options, words):
    usual = {
        "ids": [str(i) for i in range(10)],
        "contents": ["x"] * 10,
        "kind": "text",
        "features": np.random.default_rng(0).normal(size=(10, 2)),
        "classes": ["a", "b"],
    }
    with pytest.raises(InvalidInput, match=words):
        Project.create(tmp_path / "p", **{**usual, **options})
    assert not (tmp_path / "p").exists()


def test_bad_answers_are_named_and_change_nothing(tmp_path):
    project, _ = make(tmp_path / "p")
    project.refill(threads=1)
    before = project.state.digest()
    for call, words in (
        (lambda: project.answer("ann", 500, "label", "yes"), "row 500"),
        (lambda: project.answer("ann", 1, "label", "maybe"), "label must be"),
        (lambda: project.answer("ann", 1, "burn"), "kind"),
        (lambda: project.answer("zoe", 1, "skip"), "zoe"),
        (lambda: project.answer("ann", 1, "skip", seconds=-1), "seconds"),
        (lambda: project.add_person(""), "name"),
        (lambda: project.add_person("x" * 100), "name"),
        (lambda: project.revoke("nobody"), "nobody"),
    ):
        with pytest.raises(InvalidInput, match=words):
            call()
    assert project.state.digest() == before
    with pytest.raises(InvalidInput, match="not a project"):
        Project(tmp_path)
    with pytest.raises(InvalidInput, match="not an empty folder"):
        make(tmp_path / "p")


def test_leases_that_ran_out_do_not_make_rounds_come_early(tmp_path):
    clock = Clock()
    project, _ = make(tmp_path / "p", clock=clock, lease=60.0)
    project.refill(threads=1)
    project.give("ann", 5)
    clock.now += 61
    assert not project.round_is_due()


def test_a_round_is_due_exactly_when_somebody_has_less_than_half_of_one_left(tmp_path):
    clock, rng = Clock(), np.random.default_rng(0)
    project, labels = make(tmp_path / "p", clock=clock, lease=60.0, overlap=0.3)
    due = []
    for _ in range(150):
        clock.now += rng.exponential(10)
        who = str(rng.choice(["ann", "bob"]))
        state = project.state
        few = round_size(state) // 2
        running = [row for row, held in state.leases.items() if max(held.values()) > clock.now]
        left = [len(set(state.waiting) - set(running))]
        left += [len(list(state.ready(name, clock.now))) for name in ("ann", "bob")]
        assert project.round_is_due("ann", "bob") == (min(left) < few)
        assert project.round_is_due() == (left[0] < few)
        due.append(min(left) < few <= left[0])
        project.refill(threads=1)
        for item in project.give(who, 3)[: rng.integers(4)]:
            if rng.random() < 0.5:
                project.answer(who, item.row, "skip")
            else:
                project.answer(who, item.row, "label", project.classes[labels[item.row]])
    assert any(due)  # one person ran out before the others did, too
