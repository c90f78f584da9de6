"""A plan that is interrupted leaves everything as it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from aced._types import Rng
from aced.learner._trainer import Trainer
from aced.strategies import Strategy


@contextmanager
def undisturbed(rng: Rng, strategy: Strategy, trainer: Trainer) -> Iterator[None]:
    """Put all three back if what is inside is interrupted.

    A stream is not put back: the rows that it has judged stay judged.
    """
    if strategy.stream:
        yield
        return
    before, state, mark = rng.bit_generator.state, strategy.state(), trainer.mark()
    try:
        yield
    except BaseException:
        rng.bit_generator.state = before
        strategy.restore(state)
        trainer.back_to(mark)
        raise
