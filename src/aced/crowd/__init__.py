"""Several people's labels of the same items: what they give together, and how far they agree."""

from aced.crowd._agreement import Agreement, agreement, cohen_kappa, disputes
from aced.crowd._estimates import (
    HONEST,
    DawidSkene,
    Prior,
    Votes,
    dawid_skene,
    majority,
    second_opinion_gain,
    share,
)

__all__ = [
    "HONEST",
    "Agreement",
    "DawidSkene",
    "Prior",
    "Votes",
    "agreement",
    "cohen_kappa",
    "dawid_skene",
    "disputes",
    "majority",
    "second_opinion_gain",
    "share",
]
