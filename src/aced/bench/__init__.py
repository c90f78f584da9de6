"""Simulated labelling: what a strategy would have reached with labels already known."""

from aced.bench._simulate import Curve, Point, fit_all, simulate

__all__ = ["Curve", "Point", "fit_all", "simulate"]
