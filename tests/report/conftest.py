from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from makers.pages import Tab, open_browser
from makers.reported import reported_run
from pfgen_fast import Suite
from pfgen_fast.report import write_report


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
        made = [
            reported_run(mini, run, score=round(0.9 - 0.01 * number, 2)) if isinstance(run, str) else run
            for number, run in enumerate(runs)
        ]
        write_report(made, mini, path)
        return path

    return make
