"""Simulated labelling: the accuracy that a strategy reaches on a pool whose labels are known."""

from aced.bench._field import REPRESENTATIONS as REPRESENTATIONS, field_jobs as field_jobs
from aced.bench._figures import pyplot as pyplot
from aced.bench._records import RECORDS as RECORDS, Records as Records
from aced.bench._report import (
    Block as Block,
    build as build,
    to_html as to_html,
    to_markdown as to_markdown,
)
from aced.bench._runner import run_job as run_job, run_jobs as run_jobs
from aced.bench._simulate import (
    Curve as Curve,
    Point as Point,
    Wanted as Wanted,
    check_strategy as check_strategy,
    fit_all as fit_all,
    simulate as simulate,
)
from aced.bench._suites import FIELD as FIELD, Job as Job, jobs as jobs
