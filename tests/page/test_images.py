"""The pictures in the documentation: all there, all small, all shown, with a text for who cannot see them."""

from __future__ import annotations

import re

import pytest

from .kernels import ROOT

IMAGES = sorted((ROOT / "docs/images").glob("*.png"))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def shown() -> dict[str, str]:
    """Return the name and text of each picture that a page shows."""
    found = {}
    for page in PAGES:
        for text, path in re.findall(r"!\[(.*?)\]\(([^)]*\.png)\)", page.read_text()):
            assert (page.parent / path).is_file(), f"{page.name}: {path}"
            found[path.rpartition("/")[2]] = text
    return found


def test_every_picture_is_taken_by_the_script() -> None:
    script = (ROOT / "docs/screenshots.py").read_text()
    assert IMAGES
    for image in IMAGES:
        assert f'"{image.stem}"' in script


@pytest.mark.parametrize("image", IMAGES, ids=lambda image: image.stem)
def test_pictures_are_small_and_shown_with_a_text(image: object) -> None:
    name = getattr(image, "name", "")
    data = (ROOT / "docs/images" / name).read_bytes()
    assert data.startswith(b"\x89PNG")
    assert len(data) < 100_000
    assert len(shown()[name]) > 20
