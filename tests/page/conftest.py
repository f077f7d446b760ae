"""A browser for the tests of the page, and pages that are made once."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ptxcheck.config import Config
from ptxcheck.page import Page, build_page
from ptxcheck.source import Source
from tests.limits import WALL_SECONDS

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A headless Chromium. Skipped where there is none; the tests need one."""
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        pytest.skip(f"no browser: none of {', '.join(_NAMES)} is on PATH")
    api = pytest.importorskip("playwright.sync_api")
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=found, args=arguments)
        yield launched
        launched.close()


@dataclass
class Opened:
    """A page in the browser, and everything that it did which it must not."""

    page: Any
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def refuse(self, dialog: Any) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def texts(self, selector: str) -> list[str]:
        found: list[str] = self.page.locator(selector).all_inner_texts()
        return found

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def control(self, name: str) -> Any:
        """Return a button of the steps."""
        return self.page.locator(".controls").get_by_role("button", name=name)

    @property
    def counter(self) -> str:
        return str(self.page.locator(".counter").inner_text())


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """A function that opens a page, or a kernel's page, and holds it to being quiet."""
    contexts = []
    shown: list[Opened] = []

    def show(text: str, **options: Any) -> Opened:
        path = tmp_path / f"page{len(shown)}.html"
        path.write_text(text, encoding="utf-8")
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        contexts.append(context)
        result = Opened(context.new_page())
        page = result.page
        page.set_default_timeout(WALL_SECONDS * 1000)
        page.on("request", lambda request: result.requests.append(request.url))
        page.on("dialog", result.refuse)
        page.on("console", lambda message: result.complaints.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: result.complaints.append(str(error)))
        page.goto(path.as_uri())
        shown.append(result)
        return result

    yield show
    for number, result in enumerate(shown):
        assert result.complaints == []
        assert result.requests == [(tmp_path / f"page{number}.html").as_uri()]
    for context in contexts:
        context.close()


@cache
def page_of(path: Path) -> Page:
    """Return the page of a kernel of the corpus."""
    return build_page(Source(path.name, path.read_text()), path.name, Config())
