"""What a round needs before it starts: memory, operations, seconds."""

from aced.cost._cost import (
    Cost as Cost,
    check_room as check_room,
    in_words as in_words,
    ways_out as ways_out,
)
from aced.cost._speed import (
    Measuring as Measuring,
    Speed as Speed,
    Timed as Timed,
    measured as measured,
    miniature as miniature,
)
from aced.cost._work import Pass as Pass, Work as Work
