"""Estimates of the label probabilities from the labels seen.

All of them estimate μ = 2 η - 1, or μ_c = η_c - η_0 for more than two classes. They differ in what they
need to know of the draws and in the confidence width that comes with them.
"""

from aced.estimators._assisted import assisted as assisted, predict as predict, regress as regress
from aced.estimators._chaining import Chaining as Chaining, Estimate as Estimate
from aced.estimators._combination import combine as combine, scales as scales
from aced.estimators._ips import ips as ips, ips_width as ips_width
from aced.estimators._modelled import modelled as modelled, reach as reach
from aced.estimators._naive import averages as averages, naive as naive, naive_width as naive_width
from aced.estimators._ridge import (
    CONSTANT as CONSTANT,
    pair_estimates as pair_estimates,
    ridge as ridge,
    ridge_bias as ridge_bias,
    ridge_for as ridge_for,
    ridge_width as ridge_width,
)
from aced.estimators._sample import Sample as Sample
