"""Takes the pictures of `docs/images` from pages and reports of the corpus: `python docs/screenshots.py`.

Needs the extras `view`, which brings Pillow along, and `test`, and a Chromium on PATH.
"""

from __future__ import annotations

import html
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
IMAGES = ROOT / "docs/images"


@dataclass(frozen=True, slots=True)
class Shot:
    """One picture: of which kernel, after which keys and clicks, and which part of the page."""

    name: str
    kernel: str
    part: str
    tab: str = ""
    keys: Sequence[str] = ()
    width: int = 1280
    scheme: str = "light"
    hover: str = ""
    most: int = 1200
    """Pixels from the top of the part that are kept."""


SHOTS = (
    Shot("view-hang", "ring/three_stages.consumer_stops_early", "#kernel"),
    Shot("view-findings", "wgmma/operand_written_by_threads.no_proxy_fence", "main", most=560),
    Shot(
        "view-pipeline", "wgmma/released_after_the_wait", ".stepper", keys=["ArrowRight"] * 16, scheme="dark",
        hover=".bar.tensor-core >> nth=2",
    ),
    Shot("view-memory", "tcgen05/commits_release_stages", "#panel-memory", "Shared memory", ["ArrowRight"] * 7),
    Shot("view-flow", "ring/three_stages", "#panel-flow .graph", "Control flow", ["ArrowRight"] * 9, most=620),
    Shot("view-phone", "ring/three_stages.consumer_stops_early", "#kernel", width=390, most=900),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Terminal:
    """One picture of what a command prints to a terminal."""

    name: str
    command: str
    width: int = 1000


TERMINALS = (
    Terminal("terminal-hang", "ptxcheck check corpus/demo/ring.ptx --source-root corpus/demo"),
)  # fmt: skip
_COLOURS = {
    "31": "#f47067",
    "32": "#57ab5a",
    "33": "#c69026",
    "34": "#6cb6ff",
    "35": "#dcbdfb",
    "36": "#76e3ea",
}
_ESCAPE = re.compile(r"\x1b\[([\d;]*)m")


def take(browser: Any, shot: Shot, folder: Path) -> None:
    """Make the page of a kernel and take a picture of it."""
    page_path = folder / f"{shot.name}.html"
    command = f"view corpus/protocols/{shot.kernel}.ptx --isolated --exit-zero -o {page_path}"
    _run(command.split())
    page = browser.new_page(
        viewport={"width": shot.width, "height": 1000}, color_scheme=shot.scheme, reduced_motion="reduce"
    )
    page.goto(page_path.as_uri())
    for key in shot.keys:
        page.keyboard.press(key)
    if shot.tab:
        page.get_by_role("tab", name=shot.tab).click()
    part = page.locator(shot.part).first
    part.scroll_into_view_if_needed()
    if shot.hover:
        page.locator(shot.hover).hover()
    box = part.bounding_box()
    top = box["y"] + page.evaluate("scrollY")
    margin = 12
    clip = {
        "x": max(0, box["x"] - margin),
        "y": max(0, top - margin),
        "width": min(shot.width, box["width"] + 2 * margin),
        "height": min(shot.most, box["height"] + 2 * margin),
    }
    picture = page.screenshot(full_page=True, clip=clip)
    page.close()
    (IMAGES / f"{shot.name}.png").write_bytes(_small(picture))


def take_terminal(browser: Any, shot: Terminal) -> None:
    """Run a command and take a picture of what it prints in colours."""
    words = [sys.executable, "-m", *shot.command.split(), "--isolated", "--color", "always"]
    printed = subprocess.run(words, capture_output=True, text=True, check=False).stdout
    page = browser.new_page(viewport={"width": shot.width, "height": 400})
    page.set_content(
        "<body style='margin:0;background:#1c2128;color:#cdd9e5'><pre style='margin:0;padding:14px 16px;"
        'font:13px/1.4 "DejaVu Sans Mono",monospace;white-space:pre-wrap\'>'
        f"<b>$ {html.escape(shot.command)}</b>\n{_spans(printed.rstrip())}</pre></body>"
    )
    picture = page.screenshot(full_page=True)
    page.close()
    (IMAGES / f"{shot.name}.png").write_bytes(_small(picture))


def _spans(text: str) -> str:
    """Return what a terminal shows of a text as HTML."""
    parts = _ESCAPE.split(text)
    shown = [html.escape(parts[0])]
    colour, is_bold = "", False
    for codes, words in zip(parts[1::2], parts[2::2], strict=True):
        for code in codes.split(";"):
            if code in ("", "0"):
                colour, is_bold = "", False
            is_bold = code == "1" or (is_bold and code != "22")
            colour = _COLOURS.get(code, colour)
        style = f"color:{colour or 'inherit'};font-weight:{'bold' if is_bold else 'normal'}"
        shown.append(f"<span style='{style}'>{html.escape(words)}</span>")
    return "".join(shown)


def _small(picture: bytes) -> bytes:
    """Return a PNG with as many colours as text and drawings need."""
    from PIL import Image

    small = io.BytesIO()
    Image.open(io.BytesIO(picture)).convert("RGB").quantize(96, dither=Image.Dither.NONE).save(
        small, "PNG", optimize=True
    )
    return small.getvalue()


def _run(arguments: list[str]) -> None:
    from ptxcheck.cli import main

    with suppress(SystemExit):  # with the status of the check
        main(arguments, standalone_mode=False)


def take_all(names: Sequence[str]) -> None:
    """Take the pictures with these names, or all of them."""
    from playwright.sync_api import sync_playwright

    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        sys.exit("no Chromium on PATH")
    os.chdir(ROOT)
    IMAGES.mkdir(exist_ok=True)
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=found, args=arguments)
        for shot in SHOTS:
            if not names or shot.name in names:
                take(browser, shot, Path(folder))
        for terminal in TERMINALS:
            if not names or terminal.name in names:
                take_terminal(browser, terminal)
        browser.close()


if __name__ == "__main__":
    take_all(sys.argv[1:])
