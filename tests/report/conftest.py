import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from makers.pages import browser_module, open_browser
from makers.reported import reported_run
from pfgen_fast import Suite
from pfgen_fast.report import write_report


class Tab:
    """A page in a browser; a test fails at its end if scripts of the page had errors."""

    def __init__(self, browser: Any, path: Path, fragment: str = "", **options: Any) -> None:
        context = browser.new_context(**{"viewport": {"width": 1440, "height": 900}, **options})
        context.set_default_timeout(10_000)
        # Tests wait by `wait_until`: `wait_for_function` asks again by `eval`, which the policy of pages forbids.
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

    def n_printed(self) -> int:
        """The number of pages when the page is printed."""
        return len(re.findall(rb"/Type\s*/Page[^s]", self.page.pdf()))

    def faults(self) -> list[str]:
        """What axe finds on the page, of any impact: the rule and the element."""
        axe = browser_module("axe_playwright_python.sync_playwright").Axe()
        return [
            f"{fault['id']}: {node['html'][:200]}"
            for fault in axe.run(self.page, options={"preload": False}).response["violations"]
            for node in fault["nodes"]
        ]

    def close(self) -> None:
        """Closes the page and checks that nothing went wrong in it."""
        self.page.context.close()
        assert self.problems == []


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with open_browser() as opened:
        yield opened


@pytest.fixture
def open_tab(browser: Any) -> Iterator[Callable[..., Tab]]:
    tabs: list[Tab] = []

    def opened(path: Path, fragment: str = "", **options: Any) -> Tab:
        tabs.append(Tab(browser, path, fragment, **options))
        return tabs[-1]

    yield opened
    for tab in tabs:
        tab.close()


@pytest.fixture(scope="module")
def made_page(tmp_path_factory: pytest.TempPathFactory, mini: Suite) -> Callable[..., Path]:

    def make(runs: list[Any]) -> Path:
        path = tmp_path_factory.mktemp("pages") / "report.html"
        created = [
            reported_run(mini, run, score=round(0.9 - 0.01 * number, 2)) if isinstance(run, str) else run
            for number, run in enumerate(runs)
        ]
        write_report(created, mini, path)
        return path

    return make
