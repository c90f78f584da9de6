"""The colours of classes stay apart, also for eyes that do not see all of them, on light and on dark.

Distances are Euclidean in OKLab (Ottosson, 2020): 0.02 is about the least that is noticed side by side.
Dichromats are simulated by the matrices of Machado, Oliveira and Fernandes (2009), severity 1.
"""

from __future__ import annotations

import re
from itertools import combinations

import numpy as np
import pytest

from aced.web._app import STATIC

LEAST = 0.09
CONTRAST = 3.0  # WCAG 2, of what is no text
EYES = {
    "all colours": np.eye(3),
    "no red": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "no green": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "no blue": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
TO_CONES = [
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
]
TO_LAB = [
    [0.2104542553, 0.7936177850, -0.0040720468],
    [1.9779984951, -2.4285922050, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.8086757660],
]


def variables(scheme: str) -> dict[str, np.ndarray]:
    """The style sheet's colours, as linear light in [0, 1]."""
    style = (STATIC / "style.css").read_text()
    light, dark = style.split("@media (prefers-color-scheme: dark)", 1)
    found = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", light))
    if scheme == "dark":
        found |= dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", dark.split("\n}\n", 1)[0]))
    return {name: linear(value) for name, value in found.items()}


def linear(colour: str) -> np.ndarray:
    values = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def lab(light: np.ndarray) -> np.ndarray:
    return np.array(TO_LAB) @ np.cbrt(np.array(TO_CONES) @ light)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("eyes", EYES)
def test_nine_colours_stay_apart(scheme: str, eyes: str):
    colours = variables(scheme)
    seen = [lab(np.clip(np.array(EYES[eyes]) @ colours[f"c{code}"], 0, 1)) for code in range(9)]
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) >= LEAST


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_marks_stand_out_from_what_is_behind_them(scheme: str):
    colours = variables(scheme)
    light = {name: value @ [0.2126, 0.7152, 0.0722] + 0.05 for name, value in colours.items()}
    for code in range(9):
        for behind in ("card", "page", "soft"):
            pair = sorted([light[f"c{code}"], light[behind]])
            assert pair[1] / pair[0] >= (CONTRAST if behind != "soft" else 2.7), (code, behind)
