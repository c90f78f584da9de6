"""Simulated labelling: what a strategy would have reached with labels already known."""

from aced.bench._records import Records
from aced.bench._runner import run_job, run_jobs
from aced.bench._simulate import Curve, Point, fit_all, simulate
from aced.bench._suites import Job, jobs

__all__ = ["Curve", "Job", "Point", "Records", "fit_all", "jobs", "run_job", "run_jobs", "simulate"]
