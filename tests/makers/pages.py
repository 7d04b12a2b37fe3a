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
from pathlib import Path
from typing import Any, NoReturn

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


_SVG = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"/>'
_CONTENTS = {"png": b"\x89PNG\r\n\x1a\n", "svg": _SVG}


def leave_out_drawing(patch: pytest.MonkeyPatch) -> None:
    """Stores empty pictures in place of charts: matplotlib takes most of the time of an experiment."""
    from pfgen_fast.report import findings

    patch.setattr(findings, "drawn", lambda chart: None)
    patch.setattr(findings, "stored_alike", lambda figure, forms: [_CONTENTS[form] for form in forms])
