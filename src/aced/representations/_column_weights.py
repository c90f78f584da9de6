"""How much each column matters to the labels, so that a kernel can look at those that do.

A kernel measures distances over all columns alike, and columns that say nothing about the labels blur
them. The fit itself knows which these are: where it is flat along a column, the column does not matter.
With f = Σ_j a_j k(·, x_j), the fit in columns that carry the weights w,

    w'_d ∝ sqrt( mean_i Σ_c (∂f_c / ∂x_d)² )     at the labelled rows,
    ∂f / ∂x_d (x) = -2 w_d² Σ_j a_j k(x, x_j) (x_d - x_jd),

is the diagonal of the mean outer product of gradients (Radhakrishnan, Beaglehole, Pandit, Belkin,
Mechanism for feature learning in neural networks and backpropagation-free machine learning models,
2024). The fit with the new weights gives newer ones; two steps are enough.

Weights that come from labels make the errors on the same labels look small. So whether they help is
found by dividing the labels into five parts: weights and fit come from four, errors from the fifth. The
scores of the fifth parts also say how much less the model may claim than its left-out scores would.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from aced._types import Float64, Ints
from aced.representations._left_out import TINY, by_kernel, solved
from aced.representations._lift import kernel, median_distance
from aced.representations._slope import best_slope, log_losses

STEPS = 2
PARTS = 5
CONSTANT = 0.5
"""b of lifted rows, whose length is at most 1."""


@dataclass(frozen=True)
class Weighed:
    """Labelled rows, and the kernel that looks at them."""

    rows: Float64  # (m, p), scaled
    targets: Float64  # (m, K)
    sample: Float64  # (s, p): rows of the pool, scaled, by whose median distance widths are measured
    width: float
    alpha: float  # the penalty of the fit without weights

    def of(self, some: Ints) -> Weighed:
        """The same for some of the rows."""
        return replace(self, rows=self.rows[some], targets=self.targets[some])

    def factor(self, weights: Float64) -> Float64:
        """What columns are multiplied by before the kernel sees them."""
        return np.asarray(weights * np.sqrt(self.width / median_distance(self.sample * weights)))

    def dual(self, factor: Float64, best: bool = False) -> Float64:
        """Dual weights (m, K) of the fit, with the penalty α or with the ``best``."""
        z = self.rows * factor
        gram = kernel(z, z) + CONSTANT**2
        if best:
            return by_kernel(gram, self.targets).weights
        return solved(gram, self.alpha, self.targets)

    def predict(self, factor: Float64, dual: Float64, others: Weighed) -> Float64:
        """The scores (m', K) of other rows."""
        across = kernel(others.rows * factor, self.rows * factor) + CONSTANT**2
        return np.asarray(across @ dual)


def weigh(known: Weighed) -> Float64:
    """Weights (p,) of the columns, the largest 1."""
    weights = np.ones(known.rows.shape[1])
    for _ in range(STEPS):
        factor = known.factor(weights)
        weights = gradients(known.rows * factor, known.dual(factor), factor)
        largest = weights.max()
        if not largest > 0:  # the fit is flat: nothing is known of any column
            return np.ones(known.rows.shape[1])
        weights = weights / largest
    return weights


@dataclass(frozen=True)
class Trial:
    """What weights are worth."""

    weights: Float64  # (p,)
    gain: float
    """The log loss with weights as a share of that without, on labels that neither has seen."""
    trust: float
    """The slope of scores of labels that neither weights nor fit have seen, as a share of the slope of
    scores left out by the fit alone: these look too good, because the weights have seen the labels."""


def try_weights(known: Weighed, codes: Ints) -> Trial:
    """Find weights, and judge them; ``codes`` 0 … K-1 are the labels."""
    order = np.argsort(codes, kind="stable")  # every part has its share of every class
    plain = known.factor(np.ones(known.rows.shape[1]))
    without, unseen = np.zeros_like(known.targets), np.zeros_like(known.targets)
    for part in range(PARTS):
        held = order[part::PARTS]
        rest, others = known.of(np.setdiff1d(order, held)), known.of(held)
        factor = rest.factor(weigh(rest))
        without[held] = rest.predict(plain, rest.dual(plain), others)
        unseen[held] = rest.predict(factor, rest.dual(factor, best=True), others)
    losses = [float(log_losses(scores, codes).mean()) for scores in (without, unseen)]
    weights = weigh(known)
    z = known.rows * known.factor(weights)
    seen = by_kernel(kernel(z, z) + CONSTANT**2, known.targets).scores
    trust = min(1.0, best_slope(unseen, codes) / best_slope(seen, codes))
    return Trial(weights, losses[1] / max(losses[0], TINY), trust)


def gradients(z: Float64, dual: Float64, factor: Float64) -> Float64:
    """The root mean square of ∂f / ∂x_d over the rows z = x · factor, (p,)."""
    near, total = kernel(z, z), np.zeros(z.shape[1])
    for one in dual.T:
        pulls = near * one  # (m, m): a_j k(x_i, x_j)
        total += np.square(2 * factor * (pulls.sum(axis=1)[:, None] * z - pulls @ z)).mean(axis=0)
    return np.asarray(np.sqrt(total))
