"""Images that cannot be read: aced init and aced classify name them all, or leave them out."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from PIL import Image

from aced.project import Project
from tests.cli.test_project import label_rows, refused


@pytest.fixture
def pictures(tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    for i in range(8):
        noise = np.random.default_rng(i).integers(0, 255, (40, 40), dtype=np.uint8)
        Image.fromarray(noise).save(folder / f"{i}.png")
    (folder / "headless.png").write_bytes(b"no image")
    whole = (folder / "7.png").read_bytes()
    (folder / "cut.png").write_bytes(whole[: len(whole) // 2])
    return folder


def test_init_names_all_broken_images_or_leaves_them_out(call, pictures, tmp_path):
    words = ("init", tmp_path / "p", "--items", pictures, "--classes", "a,b")
    refused(
        call(*words), "cut.png (", "headless.png (none of PNG", "leave out what is broken with --skip"
    )
    assert not (tmp_path / "p").exists()
    code, out, _ = call(*words, "--skip-broken")
    assert code == 0
    assert "8 images; 2 broken images left out (cut.png, headless.png)\n" in out
    assert len(Project(tmp_path / "p").items) == 8


def test_an_image_that_is_only_cut_is_named_with_the_option_too(call, pictures, tmp_path):
    (pictures / "headless.png").unlink()
    words = ("init", tmp_path / "p", "--items", pictures, "--classes", "a,b")
    refused(call(*words), "cut.png cannot be read as an image (", "--skip-broken")
    assert "; 1 broken image left out (cut.png)\n" in call(*words, "--skip-broken")[1]


def test_features_of_ones_own_would_lose_their_items(call, pictures, tmp_path):
    np.save(tmp_path / "x.npy", np.eye(10))
    words = ("init", tmp_path / "p", "--items", pictures, "--classes", "a,b", "--skip-broken")
    refused(call(*words, "--features", tmp_path / "x.npy"), "--skip-broken and --features", "both given")


def test_classify_leaves_them_out_too(call, pictures, tmp_path):
    words = ("init", tmp_path / "p", "--items", pictures, "--classes", "a,b", "--skip-broken")
    assert call(*words)[0] == 0
    label_rows(tmp_path / "p", {0: "a", 1: "b", 2: "a", 3: "b"})
    refused(call("classify", tmp_path / "p", pictures), "cut.png (", "--skip-broken")
    code, out, err = call("classify", tmp_path / "p", pictures, "--skip-broken")
    assert (code, len(list(csv.DictReader(out.splitlines())))) == (0, 8)
    assert "2 broken images left out (cut.png, headless.png)\n" in err


def test_files_have_no_broken_images(call, tmp_path):
    (tmp_path / "a.csv").write_text("text\none\ntwo\n")
    words = ("init", tmp_path / "p", "--items", tmp_path / "a.csv", "--classes", "a,b", "--skip-broken")
    refused(call(*words), "--skip-broken is about images in a folder; leave it out for a.csv")
