"""Estimates of the label probabilities from the labels seen."""

from aced.estimators.naive import naive

__all__ = ["naive"]
