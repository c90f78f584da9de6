"""What a round needs before it starts: memory, operations, seconds."""

from aced.cost.cost import Cost, check_room, in_words, ways_out
from aced.cost.speed import Measuring, Speed, Timed, measured, miniature
from aced.cost.work import Pass, Work

__all__ = [
    "Cost",
    "Measuring",
    "Pass",
    "Speed",
    "Timed",
    "Work",
    "check_room",
    "in_words",
    "measured",
    "miniature",
    "ways_out",
]
