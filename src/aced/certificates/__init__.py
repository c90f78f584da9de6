"""What can be said of the pool afterwards: intervals that hold at every look."""

from aced.certificates._betting import Evidence as Evidence, interval as interval
from aced.certificates._certificate import (
    MEASURES as MEASURES,
    Certificate as Certificate,
    accuracy as accuracy,
    count as count,
    precision as precision,
    recall as recall,
)
from aced.certificates._claims import Known as Known
from aced.certificates._drawn import Drawn as Drawn, Frozen as Frozen
