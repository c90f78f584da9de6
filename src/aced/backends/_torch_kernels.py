"""The kernels of the linear class and of the design, on PyTorch tensors.

Each takes what the kernel of the same name takes, with tensors for arrays and with the rows of several
blocks at once, and returns the same. Products are float32. Sums that the other kernel takes in float64
are float64 here too, except on "mps", which has no float64.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from aced.design import _gradient, _trail
from aced.oracles import _base, _passes
from aced.strategies import _distances

GRAM_ROWS = 8192
"""At most this many x xᵀ are added in float32: rounding must cost H less than its ridge."""

Score = Callable[..., Tensor]


def wide(device: Any) -> Any:
    """The dtype that sums are kept in."""
    return torch.float32 if device.type == "mps" else torch.float64


# -- aced.oracles._passes -------------------------------------------------------


def total(block: Tensor) -> tuple[Tensor]:
    return (block.sum(0, dtype=wide(block.device)),)


def squared_deviation(block: Tensor, centre: Tensor) -> tuple[Tensor]:
    return (torch.square(block - centre).sum(0),)


def margins(block: Tensor, coefficients: Tensor) -> Tensor:
    return torch.addmm(coefficients[:, -1], block, coefficients[:, :-1].T)


def squared_lengths(block: Tensor, coefficients: Tensor) -> tuple[Tensor]:
    return (margins(block, coefficients).square_().sum(1).to(wide(block.device)),)


def gram(
    block: Tensor, multiplier: Tensor, offset: Tensor, root: Tensor, coupled: Tensor
) -> tuple[Tensor, Tensor]:
    m, p = block.shape
    standard = block.new_ones((m, p + 1))
    torch.mul(block, multiplier, out=standard[:, :p])
    standard[:, :p] -= offset
    standard *= root[:, None]
    if not coupled.any():
        return _outer(standard), standard.new_zeros(())
    return _outer(standard[~coupled]), _outer(standard[coupled])


def _outer(standard: Tensor) -> Tensor:
    """Σ x xᵀ."""
    first, *others = standard.split(GRAM_ROWS)
    summed = first.T @ first
    if others:
        summed = summed.to(wide(standard.device))
    for rows in others:
        summed += rows.T @ rows
    return summed


def pulls(block: Tensor, zeta: Tensor, scale: Tensor, mu: Tensor) -> tuple[Tensor, ...]:
    label, spread = mu[:, None], zeta * scale[:, None]
    return block.T @ label, label.sum(0), block.T @ spread, spread.sum(0)


def descent(
    block: Tensor, zeta: Tensor, scale: Tensor, mu: Tensor, slopes: Tensor, bias: Tensor, r: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    product = torch.addmm(bias, block, slopes)
    tally = residual(product, zeta, scale, mu, r)
    return tally, block.T @ product, product.sum(0)


def residual(m: Tensor, zeta: Tensor, scale: Tensor, mu: Tensor, r: Tensor) -> Tensor:
    """Replace m (rows, B) by v σ(-sign(v) m) = min(v, 0) + |v| σ(-m); return the tally (2, B)."""
    noise = zeta * scale[:, None]
    v = torch.outer(mu, r).sub_(noise)
    tally = _tally(torch.gt(m, 0, out=torch.empty_like(m)), noise, mu)
    size = v.abs()
    torch.addcmul(v.clamp_(max=0), size, m.neg_().sigmoid_(), out=m)
    return tally


def _tally(h: Tensor, noise: Tensor, mu: Tensor) -> Tensor:
    """Σ μ̂ h and Σ s ζ h, (2, B); h is overwritten."""
    return torch.stack([mu @ h, h.mul_(noise).sum(0)])


def towards(
    block: Tensor,
    zeta: Tensor,
    scale: Tensor,
    mu: Tensor,
    slopes: Tensor,
    bias: Tensor,
    start: Tensor,
    steps: Tensor,
) -> tuple[Tensor]:
    product = torch.addmm(bias, block, slopes)
    noise = zeta * scale[:, None]
    moved = torch.empty_like(product)
    tallies = [_tally(torch.gt(product, 0, out=moved), noise, mu)]
    if len(steps):
        origin = torch.addmv(start[-1:], block, start[:-1])[:, None]
    for by in steps:
        torch.addcmul(origin, product, by, out=moved)
        tallies.append(_tally(moved.gt_(0), noise, mu))
    return (torch.stack(tallies),)  # (1 + Q, 2, B)


# -- aced.oracles._base, aced.design --------------------------------------------


def labels_kernel(block: Tensor, score: Score, *args: Any) -> tuple[Tensor]:
    return (score(block, *args) > 0,)


def spread_of(block: Tensor, zeta: Tensor, scale: Tensor, labels: Tensor) -> tuple[Tensor]:
    return (torch.where(labels, scale, 0) @ zeta,)


def terms(
    block: Tensor, incumbent: Tensor, zeta: Tensor, share: Tensor, score: Score, *args: Any
) -> tuple[Tensor, Tensor]:
    h = score(block, *args).gt_(0)
    each = ((incumbent[:, None].to(zeta.dtype) - h) * zeta * share).to(wide(block.device))
    return each.sum(1), each.square_().sum(1)


def densities(
    block: Tensor, weight: Tensor, sizes: Tensor, parts: list[Tensor], score: Score, *args: Any
) -> tuple[Tensor, Tensor]:
    scaled = score(block, *args) / sizes
    density, relative = [], []
    for part in parts:
        group = scaled[:, part].to(wide(block.device))
        spread, mean = torch.std_mean(group, dim=1, correction=1)
        spread += 1e-9
        z2 = torch.square(mean / spread)
        density.append(weight * torch.exp(-z2 / 2) / spread)
        relative.append((torch.square(z2) + 1) / (2 * len(part)))
    return torch.stack(density, 1), torch.stack(relative, 1).to(torch.float32)


def squares(block: Tensor, score: Score, *args: Any) -> tuple[Tensor]:
    return (score(block, *args).square_().sum(0),)


# -- aced.strategies._distances -------------------------------------------------


def own_squared_lengths(block: Tensor) -> tuple[Tensor]:
    return (torch.square(block).sum(1).to(wide(block.device)),)


def nearest(
    block: Tensor,
    scale: Tensor,
    norms: Tensor,
    centres: Tensor,
    centre_scale: Tensor,
    centre_norms: Tensor,
    bias: float,
) -> tuple[Tensor]:
    product = (block @ centres + bias).to(wide(block.device))
    product *= scale[:, None] * centre_scale.to(product.dtype)
    return ((norms[:, None] + centre_norms - 2 * product).amin(1),)


KERNELS: dict[Callable[..., Any], Callable[..., tuple[Tensor, ...]]] = {
    _passes.total: total,
    _passes.squared_deviation: squared_deviation,
    _passes.squared_lengths: squared_lengths,
    _passes.gram: gram,
    _passes.pulls: pulls,
    _passes.descent: descent,
    _passes.towards: towards,
    _base.labels_kernel: labels_kernel,
    _trail._spread_of: spread_of,
    _gradient._terms: terms,
    _gradient._densities: densities,
    _gradient._squares: squares,
    _distances._squared_lengths: own_squared_lengths,
    _distances._nearest: nearest,
}
SCORES: dict[Callable[..., Any], Score] = {_passes.margins: margins}
"""The functions that may be ``score`` among a kernel's arguments, and their namesakes here."""
