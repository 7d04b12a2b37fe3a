"""Ten tasks of a researcher on the page of runs: each in a bounded number of clicks, which the test counts.

The seconds of each task are in the record of the test (`--junit-xml`); they are not checked, because machines differ.
"""

import time

import pytest
from makers.runs import make_varied_runs
from pfgen_fast.cli import main

pytestmark = pytest.mark.browser

N_RUNS = 12


@pytest.fixture(scope="module")
def page_folder(tmp_path_factory, mini):
    folder = tmp_path_factory.mktemp("tasks")
    runs = make_varied_runs(folder / "result", mini, N_RUNS, n_trials=8)
    for command in (["score", runs, "-s", "mini"], ["report", runs, "-s", "mini", "-o", folder / "report"]):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("sys.argv", ["pfgen-fast", *map(str, command), "--quiet"])
            with pytest.raises(SystemExit, match="0"):
                main()
    return folder / "report"


class Task:
    """A page on which clicks, and texts that are typed, are counted."""

    def __init__(self, tab, record):
        self.tab, self.page, self.n_steps, self._record = tab, tab.page, 0, record
        self._begin = time.perf_counter()

    def click(self, locator):
        locator.click()
        self.n_steps += 1

    def type(self, text, key=""):
        self.page.get_by_role("searchbox").fill(text)
        if key:
            self.page.get_by_role("searchbox").press(key)
        self.n_steps += 1

    def done(self, n_steps):
        self._record("seconds", round(time.perf_counter() - self._begin, 2))
        assert self.n_steps <= n_steps


@pytest.fixture
def task(open_tab, page_folder, record_property):
    return Task(open_tab(page_folder / "index.html"), record_property)


def opened(task, name="org/model-5"):
    task.click(task.page.locator("#runs").get_by_title(f"{name}/abc"))
    task.page.wait_for_selector("#details[open] .of-questions")


def test_why_is_my_model_bad(task):
    opened(task)
    body = task.page.locator("#details-body").inner_text()
    assert body.startswith(f"Rank 6 of {N_RUNS}")
    for sentence in ("Weakest part: ", "missing in half of the sample answers or more: ", "Mean length "):
        assert sentence in body
    distances = task.page.locator("#details-body .of-questions tbody td:nth-child(3)").all_inner_texts()
    figures = [float(text) for text in distances]
    assert figures == sorted(figures)
    task.done(1)


def test_what_is_its_worst_answer(task):
    opened(task)
    task.click(task.page.get_by_role("link", name="Read its worst answer"))
    heads = task.page.locator(".opened .sample-head b")
    heads.first.wait_for()
    scores = [float(text.split(": ")[1]) for text in heads.all_inner_texts()]
    assert scores == sorted(scores)
    assert task.page.locator(".opened .answer").first.is_visible()
    assert "below 0.5 %" in task.page.locator(".opened .legend summary").inner_text()
    task.done(2)


def test_which_questions_separate_models(task):
    task.click(task.page.get_by_role("link", name="Questions"))
    task.click(task.page.get_by_role("button", name="Discrimination"))
    values = task.page.locator("#questions-table tbody td:nth-child(4)").all_inner_texts()
    assert [float(value) for value in values] == sorted(map(float, values), reverse=True)
    assert len(values) == 8
    task.done(2)


def test_send_exactly_this_view(task, open_tab, page_folder):
    opened(task)
    task.click(task.page.get_by_role("button", name="Score", exact=True).last)
    task.click(task.page.locator("#details-body .of-questions tbody button").nth(2))
    task.page.wait_for_selector(".opened .answer")
    shown = "#details-body .of-questions tbody button, .opened .answer"
    again = open_tab(page_folder / "index.html", f"#{task.tab.fragment}").page
    again.wait_for_selector(".opened .answer")
    assert again.locator(shown).all_inner_texts() == task.page.locator(shown).all_inner_texts()
    task.done(3)
    task.page.go_back()
    assert task.page.locator(".opened:visible").count() == 0
    task.page.go_back()
    assert task.page.locator('#details-body [aria-sort="ascending"]').inner_text().startswith("To the median")
