"""`python tools/report_picture.py`: takes the picture of a comparison in a report, from new runs of the packaged suite.

Needs Chromium and playwright (`make .venv/with-browser`).
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from pfgen_fast import Suite
from pfgen_fast.generation.generating import Generation
from pfgen_fast.report import ReportRun, write_report
from pfgen_fast.runs.checkout import run_name
from pfgen_fast.runs.run_result import read_result
from pfgen_fast.runs.run_scorer import RunScorer
from pfgen_fast.runs.trials import find_runs
from playwright.sync_api import sync_playwright

PICTURE = Path(__file__).resolve().parent.parent / "docs" / "pictures" / "report.png"
ORDERS, N_TRIALS = (8, 3), 20
WIDTH, HEIGHT = 1280, 900


def main() -> None:
    """Takes the picture into docs/pictures."""
    suite = Suite.load("mini")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for order in ORDERS:
            Generation.of("ngram", options={"order": order}).run(suite, trials=N_TRIALS, output=folder)
        runs = find_runs([folder])
        list(RunScorer(suite=suite).score(runs))
        entries = [ReportRun(run_name(run.folder), None, read_result(run.folder / "result.json")) for run in runs]
        write_report(entries, suite, folder / "report.html")
        take(folder / "report.html")


def take(page: Path) -> None:
    """Opens the comparison of all runs of a page, and takes its picture."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        tab = opened.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        tab.goto(page.as_uri())
        for tick in tab.locator("#runs tbody input").all():
            tick.check()
        tab.locator("#compare").click()
        tab.wait_for_timeout(1000)
        tab.screenshot(path=PICTURE, animations="disabled")
        opened.close()


if __name__ == "__main__":
    main()
