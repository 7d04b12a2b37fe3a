"""A browser that tests drive: the distribution's Chromium with playwright, and axe for what assistive tools need.

A test that lacks one of them is skipped; with PFGEN_BROWSER_REQUIRED (make pages) it fails.
"""

from __future__ import annotations

import importlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        _missing(f"{name} is not installed: make .venv/with-browser")


def _missing(reason: str) -> NoReturn:
    if "PFGEN_BROWSER_REQUIRED" in os.environ:
        pytest.fail(reason)
    pytest.skip(reason)


@contextmanager
def open_browser() -> Iterator[Any]:
    """A headless Chromium; it must be closed before others in this process use asyncio."""
    found = filter(None, map(shutil.which, _NAMES))
    path = next(found, None) or _missing("no Chromium: install your distribution's (apt-get install chromium)")
    with _module("playwright.sync_api").sync_playwright() as playwright:
        # Root, which containers have, gets no sandbox.
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        try:
            yield browser
        finally:
            browser.close()


class Tab:
    """A page in a browser; a test fails at its end if scripts of the page had errors."""

    def __init__(self, browser: Any, path: Path, fragment: str = "", **options: Any) -> None:
        context = browser.new_context(**{"viewport": {"width": 1440, "height": 900}, **options})
        context.set_default_timeout(10_000)
        self.page = context.new_page()
        self.problems: list[str] = []
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("console", lambda message: message.type == "error" and self.problems.append(message.text))
        self.page.goto(path.as_uri() + fragment)

    def press(self, *keys: str) -> None:
        """Presses keys one after the other."""
        for key in keys:
            self.page.keyboard.press(key)

    @property
    def fragment(self) -> str:
        """What the address has behind the `#/`."""
        return str(self.page.evaluate("location.hash")).removeprefix("#").removeprefix("/")

    def faults(self) -> list[str]:
        """What axe finds on the page, of any impact: the rule and the element."""
        axe = _module("axe_playwright_python.sync_playwright").Axe()
        return [
            f"{fault['id']}: {node['html'][:200]}"
            for fault in axe.run(self.page).response["violations"]
            for node in fault["nodes"]
        ]

    def close(self) -> None:
        """Closes the page and checks that nothing went wrong in it."""
        self.page.context.close()
        assert self.problems == []
