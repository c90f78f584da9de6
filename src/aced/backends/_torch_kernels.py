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
    spread = zeta * scale[:, None]
    return block.T @ mu, mu.sum(0), block.T @ spread, spread.sum(0)


def labels(block: Tensor, coefficients: Tensor, draws: int) -> Tensor:
    return best_class(margins(block, coefficients), draws)


def best_class(scores: Tensor, draws: int) -> Tensor:
    if scores.shape[1] == draws:
        return (scores > 0).to(torch.int8)
    best, place = scores.view(len(scores), -1, draws).max(1)
    return torch.where(best > 0, place + 1, 0).to(torch.int8)


def descent(
    block: Tensor, zeta: Tensor, scale: Tensor, mu: Tensor, slopes: Tensor, bias: Tensor, r: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    product = torch.addmm(bias, block, slopes)
    if mu.shape[1] == 1:
        tally = residual(product, zeta, scale, mu[:, 0], r)
    else:
        product, tally = many_residual(product, zeta, scale, mu, r)
    return tally, block.T @ product, product.sum(0)


def residual(m: Tensor, zeta: Tensor, scale: Tensor, mu: Tensor, r: Tensor) -> Tensor:
    """Replace m (rows, B) by v σ(-sign(v) m) = min(v, 0) + |v| σ(-m); return the tally (2, B)."""
    noise = zeta * scale[:, None]
    v = torch.outer(mu, r).sub_(noise)
    tally = _tally(torch.gt(m, 0, out=torch.empty_like(m)), noise, mu)
    size = v.abs()
    torch.addcmul(v.clamp_(max=0), size, m.neg_().sigmoid_(), out=m)
    return tally


def many_residual(
    f: Tensor, zeta: Tensor, scale: Tensor, mu: Tensor, r: Tensor
) -> tuple[Tensor, Tensor]:
    """a_c - A softmax_c of scores f (rows, (K - 1) B), and the tally (2, B)."""
    shape = (len(f), mu.shape[1], len(r))
    noise = (zeta * scale[:, None]).view(shape)
    tally = _many_tally(f.view(shape), noise, mu)
    v = (mu[:, :, None] * r).sub_(noise)
    least = v.amin(1).clamp_(max=0)
    total = v.sum(1) - (mu.shape[1] + 1) * least
    v -= least[:, None]
    padded = torch.cat([f.new_zeros((len(f), 1, len(r))), f.view(shape)], 1)
    v.addcmul_(torch.softmax(padded, 1)[:, 1:], total[:, None], value=-1)
    return v.view(f.shape), tally


def _tally(h: Tensor, noise: Tensor, mu: Tensor) -> Tensor:
    """Σ μ̂ h and Σ s ζ h, (2, B); h is overwritten."""
    return torch.stack([mu @ h, h.mul_(noise).sum(0)])


def _many_tally(scores: Tensor, noise: Tensor, mu: Tensor) -> Tensor:
    """Σ μ̂ and Σ s ζ of the classes with the best scores (rows, K - 1, B); class 0 has the score 0."""
    best, place = scores.max(1)
    wins = (best > 0).to(noise.dtype)
    spread = noise.gather(1, place[:, None])[:, 0]
    return torch.stack([(mu.gather(1, place) * wins).sum(0), spread.mul_(wins).sum(0)])


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
    if mu.shape[1] > 1:
        return (_many_towards(block, product, noise, mu, start, steps),)
    moved = torch.empty_like(product)
    tallies = [_tally(torch.gt(product, 0, out=moved), noise, mu[:, 0])]
    if len(steps):
        origin = torch.addmv(start[0, -1:], block, start[0, :-1])[:, None]
    for by in steps:
        torch.addcmul(origin, product, by, out=moved)
        tallies.append(_tally(moved.gt_(0), noise, mu[:, 0]))
    return (torch.stack(tallies),)  # (1 + Q, 2, B)


def _many_towards(
    block: Tensor, product: Tensor, noise: Tensor, mu: Tensor, start: Tensor, steps: Tensor
) -> Tensor:
    shape = (len(product), mu.shape[1], steps.shape[1])
    product, noise = product.view(shape), noise.view(shape)
    tallies = [_many_tally(product, noise, mu)]
    if len(steps):
        origin = torch.addmm(start[:, -1], block, start[:, :-1].T)[:, :, None]
    tallies += [_many_tally(torch.addcmul(origin, product, by), noise, mu) for by in steps]
    return torch.stack(tallies)


# -- aced.oracles._base, aced.design --------------------------------------------


def labels_kernel(block: Tensor, label: Score, *args: Any) -> tuple[Tensor]:
    return (label(block, *args),)


def spread_of(block: Tensor, zeta: Tensor, scale: Tensor, labels: Tensor, draws: int) -> tuple[Tensor]:
    by_class = range(1, zeta.shape[1] // draws + 1)
    parts = [torch.where(labels == c, scale, 0) @ zeta[:, (c - 1) * draws : c * draws] for c in by_class]
    return (torch.stack(parts).sum(0),)


def terms(
    block: Tensor, incumbent: Tensor, zeta: Tensor, share: Tensor, label: Score, *args: Any
) -> tuple[Tensor, Tensor]:
    h, draws = label(block, *args), len(share)
    each = torch.zeros(h.shape, dtype=wide(block.device), device=block.device)
    for c in range(1, zeta.shape[1] // draws + 1):
        moved = (incumbent == c)[:, None].to(zeta.dtype) - (h == c).to(zeta.dtype)
        each += moved * zeta[:, (c - 1) * draws : c * draws] * share
    return each.sum(1), each.square_().sum(1)


def densities(
    block: Tensor, weight: Tensor, sizes: Tensor, parts: list[Tensor], score: Score, *args: Any
) -> tuple[Tensor, Tensor]:
    found = score(block, *args)
    if found.shape[1] > len(sizes):
        return _lead_densities(found, weight, sizes, parts)
    scaled = found / sizes
    density, relative = [], []
    for part in parts:
        group = scaled[:, part].to(wide(block.device))
        spread, mean = torch.std_mean(group, dim=1, correction=1)
        spread += 1e-9
        z2 = torch.square(mean / spread)
        density.append(weight * torch.exp(-z2 / 2) / spread)
        relative.append((torch.square(z2) + 1) / (2 * len(part)))
    return torch.stack(density, 1), torch.stack(relative, 1).to(torch.float32)


def _lead_densities(
    scores: Tensor, weight: Tensor, sizes: Tensor, parts: list[Tensor]
) -> tuple[Tensor, Tensor]:
    by_class = scores.view(len(scores), -1, len(sizes))
    padded = torch.cat([scores.new_zeros((len(scores), 1, len(sizes))), by_class], 1)
    top, place = padded.topk(2, dim=1)
    leads = padded - top[:, :1]
    leads.scatter_(1, place[:, :1], top[:, :1] - top[:, 1:])
    leads /= sizes
    density, relative = [], []
    for part in parts:
        group = leads[:, :, part].to(wide(scores.device))
        spread, mean = torch.std_mean(group, dim=2, correction=1)
        spread += 1e-9
        z2 = torch.square(mean / spread)
        each = torch.exp(-z2 / 2) / spread
        total = each.sum(1)
        variance = (each.square() * (z2.square() + 1)).sum(1) / (2 * len(part))
        density.append(weight * total / 2)
        relative.append(variance / total.square().clamp(min=torch.finfo(total.dtype).tiny))
    return torch.stack(density, 1), torch.stack(relative, 1).to(torch.float32)


def squares(block: Tensor, draws: int, score: Score, *args: Any) -> tuple[Tensor]:
    scores = score(block, *args)
    if scores.shape[1] == draws:
        return (scores.square_().sum(0),)
    by_class = scores.view(len(scores), -1, draws)
    mean = by_class.sum(1).square().sum(0) / (by_class.shape[1] + 1)
    return (2 * (by_class.square().sum((0, 1)) - mean),)


# -- aced.strategies._distances -------------------------------------------------


def own_squared_lengths(block: Tensor) -> tuple[Tensor]:
    return (torch.square(block).sum(1).to(wide(block.device)),)


def nearest(
    block: Tensor,
    factors: Tensor,
    norms: Tensor,
    centres: Tensor,
    centre_factors: Tensor,
    centre_norms: Tensor,
    bias: float,
) -> tuple[Tensor]:
    product = (block @ centres + bias).to(wide(block.device))
    product *= factors.to(product.dtype) @ centre_factors.to(product.dtype).T
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
SCORES: dict[Callable[..., Any], Score] = {_passes.margins: margins, _passes.labels: labels}
"""The functions that may be ``score`` among a kernel's arguments, and their namesakes here."""
