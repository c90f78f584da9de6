"""Several people's votes on the same items: the label they give together, and how far they agree."""

from aced.crowd._agreement import (
    Agreement as Agreement,
    agreement as agreement,
    cohen_kappa as cohen_kappa,
    disputes as disputes,
)
from aced.crowd._estimates import (
    HONEST as HONEST,
    DawidSkene as DawidSkene,
    Prior as Prior,
    Votes as Votes,
    dawid_skene as dawid_skene,
    majority as majority,
    second_opinion_gain as second_opinion_gain,
    share as share,
)
