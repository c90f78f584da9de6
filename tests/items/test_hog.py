import numpy as np
import pytest

from aced.items._hog import FLOOR, LENGTH, hog


def _slowly(image):
    """The definition, one pixel after the other."""
    image = image / 255
    cells = np.zeros((8, 8, 9))
    for y in range(64):
        for x in range(64):
            down = image[y + 1, x] - image[y - 1, x] if 0 < y < 63 else 0.0
            right = image[y, x + 1] - image[y, x - 1] if 0 < x < 63 else 0.0
            angle = np.degrees(np.arctan2(down, right)) % 180
            place = angle / 20 - 0.5  # centres of the nine at 10, 30, …, 170 degrees
            low = int(np.floor(place))
            cells[y // 8, x // 8, low % 9] += np.hypot(down, right) * (1 - (place - low))
            cells[y // 8, x // 8, (low + 1) % 9] += np.hypot(down, right) * (place - low)
    blocks = []
    for y in range(7):
        for x in range(7):
            block = np.concatenate([cells[y, x], cells[y, x + 1], cells[y + 1, x], cells[y + 1, x + 1]])
            blocks.append(block / np.sqrt((block**2).sum() + FLOOR**2))
    return np.concatenate(blocks)


def test_against_the_definition():
    images = np.random.default_rng(0).integers(0, 256, (2, 64, 64), dtype=np.uint8)
    found = hog(images)
    assert found.shape == (2, LENGTH)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, [_slowly(image) for image in images], atol=1e-4)


@pytest.mark.parametrize(("axis", "direction"), [(1, 0), (0, 4)])
def test_a_ramp_points_one_way(axis, direction):
    ramp = np.broadcast_to(np.arange(64, dtype=np.uint8) * 4, (64, 64))
    cells = hog((ramp if axis == 1 else ramp.T)[None]).reshape(49, 4, 9)
    # across: 0 degrees, halfway between the last direction and the first; down: 90, the fifth
    share = cells[..., direction] / cells.sum(axis=-1)
    np.testing.assert_allclose(share, 0.5 if axis == 1 else 1.0, atol=1e-3)


def test_contrast_hardly_matters_and_flat_is_zero():
    image = np.random.default_rng(1).integers(0, 100, (1, 64, 64), dtype=np.uint8)
    np.testing.assert_allclose(hog(image), hog(image * 2), atol=1e-3)
    assert not hog(np.full((1, 64, 64), 200, np.uint8)).any()
