"""The suite field: its jobs, its records and its report."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path

import pytest

from aced import InvalidInput
from aced.bench import Job, Records, field_jobs, jobs, run_job
from aced.bench._field import SCHEDULES
from aced.bench._field_report import field_blocks
from aced.bench._peers import PEERS
from aced.bench._report import build, to_markdown
from aced.datasets import DEVELOPMENT, FIELD, HALVES, UNSEEN


@pytest.mark.parametrize(
    ("suite", "count", "digest"),
    [
        ("smoke", 88, "cca41ae2d1e05d28"),
        ("paper", 167, "a0a29db8f48ae4a8"),
        ("full", 274, "39028a9a8862d213"),
        ("classes", 70, "54128ced52201e74"),
    ],
)
def test_jobs_of_the_older_suites_keep_their_keys(suite, count, digest):
    """Records made before jobs had a representation are still found by --resume."""
    keys = [job.key for job in jobs(suite)]
    assert len(keys) == count
    assert hashlib.sha256("".join(keys).encode()).hexdigest()[:16] == digest
    assert set(jobs(suite)[0].to_json()) == {
        "task", "strategy", "seed", "budget", "batch", "l2", "options",
    }  # fmt: skip


def test_every_task_has_one_schedule_and_both_halves_have_all_batches():
    assert {f"field-{name}" for name in SCHEDULES} == set(FIELD)
    for half in HALVES:
        mine = [SCHEDULES[name[6:]] for name, task in FIELD.items() if task.half == half]
        assert {batch for _, batch, _ in mine} == {5, 25, 100, 250}
    for name, (budget, batch, first) in SCHEDULES.items():
        task = FIELD[f"field-{name}"]
        assert budget <= task.pool / 1.5
        assert (budget - (first or batch)) % batch == 0


def test_the_page_lists_every_task_with_its_size_and_schedule():
    page = (Path(__file__).parents[2] / "docs" / "field.md").read_text(encoding="utf-8")
    for name, task in FIELD.items():
        budget, batch, first = SCHEDULES[name[6:]]
        size = f"{task.pool} + {task.holdout} | {task.features} | {task.classes}"
        schedule = f"{budget}, {batch}" + (f" ({first} first)" if first else "")
        line = f"| `{name}` | {task.kind} | {size} | {schedule} |"
        assert line in page
        assert (page.index(line) > page.index("### Unseen")) == (task.half == UNSEEN)


def test_the_jobs_of_a_half_are_ten_seeds_of_everything():
    found = field_jobs(DEVELOPMENT)
    assert len({job.key for job in found}) == len(found)
    assert {job.task for job in found} == {n for n, t in FIELD.items() if t.half == DEVELOPMENT}
    assert not {job.task for job in found} & {job.task for job in field_jobs(UNSEEN)}
    each = Counter((job.task, job.label) for job in found)
    assert set(each.values()) == {10}
    assert set(PEERS) < {job.strategy for job in found}
    assert all((job.representation is None) == (job.classifier != "ours") for job in found)


def test_a_sparse_task_is_lifted_only_if_it_is_named():
    lifted = field_jobs(DEVELOPMENT, None, ["margin"], 1, "rbf")
    every = field_jobs(DEVELOPMENT, None, ["margin"], 1)
    assert {job.task for job in every} - {job.task for job in lifted} == {"field-docs-numpy"}
    assert len(field_jobs(DEVELOPMENT, ["field-docs-numpy"], ["margin"], 1, "rbf")) == 1


def test_one_way_of_a_peer_can_be_chosen():
    found = field_jobs(DEVELOPMENT, ["field-xor"], ["margin", "skactiveml-badge/own"], 2)
    assert [job.label for job in found] == ["margin", "margin", *["skactiveml-badge/own"] * 2]
    assert found[0].first == 10
    linear = field_jobs(DEVELOPMENT, ["field-xor"], ["margin"], 1, "linear")
    assert linear[0].label == "margin (linear)"
    assert linear[0].key != found[0].key


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--half", "third"], "half must be one of development, unseen; got 'third'"),
        (["--tasks", "field-wide"], "the development half of the field has no 'field-wide'; it has"),
        (["--strategies", "iwal0"], "field has no 'iwal0'; it has blend"),
        (["--representation", "cubic"], "representation must be one of auto, linear, rbf"),
    ],
)
def test_what_the_field_does_not_have_is_refused(call, words, sentence, tmp_path):
    code, _, err = call("bench", "field", *words, "--out", tmp_path / "out")
    assert code == 2
    assert sentence in " ".join(err.split())
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("option", ["--half", "--representation"])
def test_options_of_the_field_are_refused_elsewhere(call, option, tmp_path):
    code, _, err = call("bench", "smoke", option, "linear", "--out", tmp_path / "out")
    assert code == 2
    assert "applies to the suite field only; leave it out with smoke" in " ".join(err.split())


def test_the_library_says_where_the_jobs_of_the_field_are():
    with pytest.raises(InvalidInput, match="field_jobs"):
        jobs("field")


def short(strategy, seed=0, task="field-rings", classifier="ours", **how):
    representation = how.get("representation", "auto") if classifier == "ours" else None
    budget, first = how.get("budget", 30), how.get("first")
    return Job(task, strategy, seed, budget, 5, None, {}, first, representation, classifier)


def test_the_first_batch_may_be_smaller_than_the_others():
    record = run_job(short("margin", first=10))
    assert [point["labels"] for point in record["curve"]] == [10, 15, 20, 25, 30]
    assert record["job"]["first"] == 10


@pytest.mark.parametrize("name", ["margin", "aced", "skactiveml-margin", "small-text-core-set"])
def test_sparse_texts_run(name):
    if name in PEERS:
        pytest.importorskip("skactiveml")
        pytest.importorskip("small_text")
    record = run_job(short(name, task="field-docs-numpy", budget=15))
    assert "failed" not in record
    assert [point["labels"] for point in record["curve"]] == [5, 10, 15]
    assert record["curve"][-1]["holdout_accuracy"] > 0.7  # four of five texts are of one class


@pytest.fixture(scope="module")
def records():
    pytest.importorskip("small_text")
    wanted = [
        short(name, seed, task)
        for task in ("field-rings", "field-pocket")
        for name in ("blend", "passive")
        for seed in range(2)
    ]
    wanted += [
        short("small-text-breaking-ties", seed, task, "own")
        for task in ("field-rings", "field-pocket")
        for seed in range(2)
    ]
    wanted.append(short("blend", 0, representation="linear"))
    return [json.loads(json.dumps(run_job(job))) for job in wanted]


def test_the_report_has_a_table_for_each_question(records):
    text, pictures = to_markdown(build(records, "aced report x"), "figures")
    for heading in ("With the same classifier", "As they come", "The representation", "field-rings"):
        assert heading in text
    assert "What failed" not in text
    assert "Who is ahead" not in text  # the tables of the other suites
    assert set(pictures) == {"field-pocket.png", "field-rings.png"}
    lines = [line for line in text.splitlines() if line.startswith("| blend |")]
    assert lines[0].count("|") == 13


def test_a_failure_is_in_the_report_with_its_sentence(records):
    failed = [
        {**record, "label": "other/own", "failed": "ValueError: too few"}
        for record in records
        if record["label"] == "small-text-breaking-ties/own" and record["seed"] == 0
    ]
    tables = [value for kind, value in field_blocks([*records, *failed]) if kind == "table"]
    rows = [row for _, found in tables for row in found]
    assert ["rings", "other/own", "1", "ValueError: too few"] in rows


def test_the_command_runs_resumes_and_reports(call, tmp_path):
    words = ["bench", "field", "--tasks", "field-rings", "--strategies", "passive", "--jobs", "1"]
    assert call(*words, "--seeds", "1", "--out", tmp_path / "o")[0] == 0
    assert call(*words, "--seeds", "2", "--out", tmp_path / "o", "--resume")[0] == 0
    assert len(Records(tmp_path / "o").all()) == 2
    assert call("report", tmp_path / "o")[0] == 0
    assert "field-rings" in (tmp_path / "o" / "report.md").read_text(encoding="utf-8")
