"""Pages as a browser takes them apart, what their Content-Security-Policy allows, and a browser that tests drive.

The browser is the distribution's Chromium with playwright, and axe for what assistive tools need. A test that lacks one
of them is skipped; with PFGEN_BROWSER_REQUIRED (make pages) it fails.
"""

import base64
import hashlib
import html.parser
import importlib
import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest


class Outline(html.parser.HTMLParser):
    """The parts of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.texts: list[str] = []  # outside of scripts and styles
        self.code: list[tuple[str, str]] = []  # scripts that run, and styles, each after the name of its element
        self._is_code = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attributes]
        self._is_code = tag in ("script", "style") and "type" not in dict(attributes)
        if self._is_code:
            self.code.append((tag, ""))

    def handle_data(self, data: str) -> None:
        if self.cdata_elem is None:
            self.texts.append(data)
        elif self._is_code:
            tag, text = self.code[-1]
            self.code[-1] = tag, text + data


def embedded(page: str) -> dict[str, str]:
    """The data that a page holds, by the IDs of their elements."""
    return dict(re.findall(r'<script type="[^"]*" id="([^"]*)">(.*?)</script>', page, re.DOTALL))


def overview_in(page: str) -> Any:
    """The data that a page holds unpacked."""
    return json.loads(embedded(page)["overview"])


def source_of(code: str) -> str:
    """A script or style as a source of a policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()}'"


def allowing(page: str, script: str) -> str:
    """The page with a script of a test as its first, which the policy allows too."""
    policy, rest = page.split("<meta name=", 1)
    policy = policy.replace("script-src ", f"script-src {source_of(script)} ", 1)
    return f"{policy}<script>{script}</script><meta name={rest}"


def check_policy(page: str) -> None:
    """Checks that a page allows its own scripts and styles and no others, and needs none in attributes."""
    outline = Outline(page)
    (policy,) = [value for name, value in outline.attributes if name == "content" and "default-src" in value]
    sources = {name: set(values) for name, *values in map(str.split, policy.split(";"))}
    scripts = {source_of(code) for tag, code in outline.code if tag == "script"}
    styles = {source_of(code) for tag, code in outline.code if tag == "style"}
    assert sources["default-src"] == sources["base-uri"] == sources["form-action"] == {"'none'"}
    assert sources["script-src"] == (scripts or {"'none'"})
    assert sources["style-src"] == styles
    assert not [name for name, _ in outline.attributes if name == "style" or name.startswith("on")]


WHITE = """() => [...document.querySelectorAll("body, body *")].filter(element => {
    const { backgroundColor, fill } = getComputedStyle(element);
    const isShape = element instanceof SVGGeometryElement && !element.closest("defs, clipPath");
    return backgroundColor === "rgb(255, 255, 255)" || (isShape && fill === "rgb(255, 255, 255)");
}).map(element => element.outerHTML)"""
"""The elements of a page in a browser that are white."""


def contrast(color: str, ground: str) -> float:
    """The contrast of two colours, as WCAG 2 defines it."""

    def luminance(text: str) -> float:
        shares = [int(text[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        red, green, blue = (
            share / 12.92 if share <= 0.04045 else float(((share + 0.055) / 1.055) ** 2.4) for share in shares
        )
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    darker, lighter = sorted((luminance(color), luminance(ground)))
    return (lighter + 0.05) / (darker + 0.05)


_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def browser_module(name: str) -> Any:
    return importlib.import_module(name) if "PFGEN_BROWSER_REQUIRED" in os.environ else pytest.importorskip(name)


@contextmanager
def open_browser() -> Iterator[Any]:
    """A headless Chromium; it must be closed before others in this process use asyncio."""
    path = next(filter(None, map(shutil.which, _NAMES)), None)
    if path is None and "PFGEN_BROWSER_REQUIRED" not in os.environ:
        pytest.skip("no Chromium: install your distribution's (apt-get install chromium)")
    with browser_module("playwright.sync_api").sync_playwright() as playwright:
        # Root, which containers have, gets no sandbox.
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        try:
            yield browser
        finally:
            browser.close()


_SVG = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"/>'
_CONTENTS = {"png": b"\x89PNG\r\n\x1a\n", "svg": _SVG}


def leave_out_drawing(patch: pytest.MonkeyPatch) -> None:
    """Stores empty pictures in place of charts: matplotlib takes most of the time of an experiment."""
    from pfgen_fast.report import findings

    patch.setattr(findings, "drawn", lambda chart: None)
    patch.setattr(findings, "stored_alike", lambda figure, forms: [_CONTENTS[form] for form in forms])
