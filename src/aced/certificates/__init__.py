"""What can be said of the pool afterwards: intervals that hold at every look."""

from aced.certificates._betting import Evidence as Evidence, interval as interval
from aced.certificates._certificate import (
    MEASURES as MEASURES,
    Certificate as Certificate,
    measure as measure,
)
from aced.certificates._claims import Known as Known
from aced.certificates._confusion import confusion as confusion
from aced.certificates._doubt import doubt as doubt, fitted as fitted, own_doubt as own_doubt
from aced.certificates._drawn import Drawn as Drawn, Frozen as Frozen, recoded as recoded
from aced.certificates._finite_regret import exact_regret as exact_regret
from aced.certificates._most_telling import (
    draw_telling as draw_telling,
    reach_of as reach_of,
    told_by as told_by,
)
from aced.certificates._outlook import Outlook as Outlook, outlook as outlook
from aced.certificates._regret import (
    Losses as Losses,
    losses_of as losses_of,
    regret as regret,
)
from aced.certificates._stop import (
    Stop as Stop,
    claimed as claimed,
    stop as stop,
    stop_by_regret as stop_by_regret,
)
