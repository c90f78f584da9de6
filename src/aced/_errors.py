"""The one exception users meet when what they passed cannot be used."""

from __future__ import annotations


class InvalidInput(ValueError):
    """Names the argument, says what is wrong with it and what to do about it."""


class DataUnavailable(InvalidInput):
    """A named data set is neither on disk nor to be had from its public home."""
