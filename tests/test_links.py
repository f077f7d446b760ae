"""Links between pages that are read in the repository lead to a file, and to a heading where they name one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", *ROOT.glob("benchmarks/*.md"), *ROOT.glob("benchmarks/history/*.md")])
_LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")


def slug(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def anchors(page: Path) -> set[str]:
    return {slug(text) for text in re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)}


def broken(page: Path) -> list[str]:
    found = []
    for target, anchor in _LINK.findall(page.read_text(encoding="utf-8")):
        file = page.parent / target if target else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            found.append(f"{target}#{anchor}")
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    assert broken(page) == []


def test_broken_links_are_seen(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# One\n[a](nowhere.md) [b](#one) [c](#two) [d](https://example.org)\n")
    assert broken(page) == ["nowhere.md#", "#two"]


@pytest.mark.parametrize("name", ["README.md", "hardware.md"])
def test_current_figures_are_one_page(name: str) -> None:
    assert len((ROOT / "benchmarks" / name).read_text(encoding="utf-8").splitlines()) <= 160
