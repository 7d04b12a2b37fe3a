"""Tasks of a researcher on the page of runs: each in a bounded number of clicks, which the test counts.

The seconds of each task are in the record of the test (`--junit-xml`); they are not checked, because machines differ.
"""

import json
import re
import time

import pytest
from makers.pages import leave_out_drawing
from makers.reported import checkpoints
from makers.runs import make_varied_runs
from pfgen_fast import diagnose
from pfgen_fast.cli import app
from pfgen_fast.report.discernment import write_discernment
from report.discernments import a_discernment

pytestmark = pytest.mark.browser

N_RUNS = 12


@pytest.fixture(scope="module")
def page_folder(tmp_path_factory, mini):
    folder = tmp_path_factory.mktemp("tasks")
    runs = make_varied_runs(folder / "result", mini, N_RUNS, n_trials=8)
    bad = runs / "org/model-9/abc/trials.jsonl"
    answers = [json.loads(line) for line in bad.read_text(encoding="utf-8").splitlines()]
    answers = [{**answer, "answer": "" if number % 2 else answer["answer"]} for number, answer in enumerate(answers)]
    bad.write_text("".join(json.dumps(answer) + "\n" for answer in answers), encoding="utf-8")
    few = runs / f"org/model-{N_RUNS - 1}/abc/trials.jsonl"
    few.write_text("".join(few.read_text("utf-8").splitlines(keepends=True)[: 2 * len(mini)]), "utf-8")
    for command in (["score", runs, "-s", "mini"], ["report", runs, "-s", "mini", "-o", folder / "report"]):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("sys.argv", ["pfgen-fast", *map(str, command), "--quiet"])
            with pytest.raises(SystemExit, match="0"):
                app.main()
    return folder


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
    return Task(open_tab(page_folder / "report" / "index.html"), record_property)


def opened(task, name="org/model-5"):
    task.click(task.page.locator("#runs").get_by_title(f"{name}/abc"))
    task.page.wait_for_selector("#details[open] .of-questions")


def test_why_is_my_model_bad(task):
    opened(task)
    body = task.page.locator("#details-body").inner_text()
    assert body.startswith(f"Rank 6 of {N_RUNS}")
    for sentence in (
        r"· 8 trials",
        r"(Loses 0\.\d{3} to|Gains 0\.\d{3} on|Scores as) the median of 12 runs: ",
        r"Mean length ",
    ):
        assert re.search(sentence, body)
    distances = task.page.locator("#details-body .of-questions tbody td:nth-child(3)").all_inner_texts()
    figures = [float(text) for text in distances]
    assert figures == sorted(figures)
    task.done(1)


def test_name_the_main_cause_of_a_bad_run(task):
    opened(task, "org/model-9")
    body, bars = task.page.locator("#details-body"), task.page.locator("#details-body .chart a")
    sentence = r"Loses 0\.\d{3} to the median of 12 runs: 0\.\d{3} in 32 of 64 answers that are empty"
    assert re.search(sentence + r"[\s\S]*■ lost by a fault of answers", body.inner_text())
    assert re.fullmatch(r"Empty: -0\.\d{3} · 32 of 64 answers", bars.first.get_attribute("aria-label"))
    assert is_in_view(task.page, bars.first)
    task.click(bars.first.locator("text").first)
    body.get_by_text("empty answer").first.wait_for()
    assert re.search(r"empty answers? \(-\d\.\d{3}\)", body.inner_text())
    assert bars.first.get_attribute("aria-expanded") == "true"
    assert task.tab.fragment == "run=org/model-9/abc&cause=empty"
    task.page.locator('[data-filter="against"]').select_option("the best run")
    body.get_by_text(" to the best run: ").wait_for()
    body.get_by_role("button", name="To the best run").wait_for()
    assert "(against the best run)" in body.inner_text()
    losses = "diagnosisOf(more, state.run, shownReference).rows.every(({ question, losses }) => "
    total = "Math.abs(Object.values(losses).reduce((a, b) => a + b) + shownReference.distance(question)) < 1e-9)"
    assert task.page.evaluate(f"figures().then((more) => {losses}{total})")
    task.done(2)


@pytest.mark.parametrize("against", ["median", "best", "org/model-3/abc"])
def test_the_page_has_the_losses_of_the_terminal(open_tab, page_folder, mini, against):
    name, runs = "org/model-9/abc", page_folder / "result"
    expected = diagnose(runs / name, runs / against if "/" in against else against, suite=mini)
    page = open_tab(page_folder / "report" / "index.html", f"#run={name}&against={against}").page
    page.locator("#details-body .chart a").first.wait_for()
    more = "await figures()"
    script = f"async (against) => diagnosisOf({more}, state.run, referenceOf(against, {more})).causes"
    causes = page.evaluate(script, against)
    assert [cause["cause"] for cause in causes] == [cause.cause for cause in expected.causes]
    assert [cause["loss"] for cause in causes] == pytest.approx([cause.loss for cause in expected.causes], abs=1e-4)
    assert [cause["n"] for cause in causes] == [cause.answers for cause in expected.causes]
    assert sum(cause["loss"] > 0.005 for cause in causes) > 1
    assert expected.sentence().replace("result/", "") in page.locator("#details-body").inner_text()


def test_what_is_its_worst_answer(task):
    opened(task)
    task.page.set_viewport_size({"width": 390, "height": 844})
    task.click(task.page.get_by_role("link", name="Read its worst answer"))
    heads = task.page.locator(".opened .sample-head b")
    heads.first.wait_for()
    assert (scores := [float(text.split(": ")[1]) for text in heads.all_inner_texts()]) == sorted(scores)
    assert heads.first.evaluate("e => e.closest('tbody').getBoundingClientRect().y >= dialog.children[0].offsetHeight")
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
    again = open_tab(page_folder / "report" / "index.html", f"#{task.tab.fragment}").page
    again.wait_for_selector(".opened .answer")
    assert again.locator(shown).all_inner_texts() == task.page.locator(shown).all_inner_texts()
    task.done(3)
    task.page.go_back()
    assert task.page.locator(".opened:visible").count() == 0
    task.page.go_back()
    assert task.page.locator('#details-body [aria-sort="ascending"]').inner_text().startswith("To the median")


def test_which_runs_have_few_trials(task):
    task.click(task.page.get_by_role("link", name=re.compile("^1 with few")))
    trials = task.page.locator('#runs tbody td[data-column="trials"]').locator("visible=true")
    assert trials.all_inner_texts() == ["2"]
    opened(task, f"org/model-{N_RUNS - 1}")
    assert "· 2 trials" in task.page.locator("#details-body").inner_text()
    task.done(2)
    task.page.go_back()
    task.page.get_by_role("link", name="Show those with 8 trials, too").click()
    assert trials.count() == N_RUNS


def test_print_a_page_that_a_colleague_can_read(task):
    page = task.page
    page.evaluate("figures().then(() => true)")
    assert task.tab.n_printed() >= page.locator("main > section").count() - 1
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("main > section:visible").count() == page.locator("main > section").count() - 1
    for printed in ("#questions-table tbody tr", "#heat", "#plots svg", '#runs td[data-column="helpfulness"]'):
        assert page.locator(printed).first.is_visible()
    assert page.locator("input, select, .tools, .save").locator("visible=true").count() == 0
    style = "(it) => [getComputedStyle(it).printColorAdjust, getComputedStyle(it).breakBefore]"
    assert page.locator("#heat-map").evaluate(style) == ["exact", "page"]
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("main > section:visible").count() == 1
    task.done(0)


def test_where_two_checkpoints_differ(open_tab, made_page, mini, record_property):
    task = Task(open_tab(made_page(checkpoints(mini))), record_property)
    task.click(task.page.get_by_role("link", name="Steps"))
    task.click(task.page.locator("#sweep").get_by_role("button", name="Compare"))
    section = task.page.locator(".brushed section").first
    section.locator(".only.second").wait_for()
    assert section.locator("h4 b, .only").all_inner_texts() == ["Q03", "red", "blue"]
    task.done(2)


# ---- The page of discernment in a browser: questions of readers, and the clicks that their answers take


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        leave_out_drawing(patch)
        return write_discernment([a_discernment()], tmp_path_factory.mktemp("page"))[0]


def is_in_view(page, element):
    box = element.bounding_box()
    size = page.viewport_size
    return box["y"] >= 0 and box["y"] + box["height"] <= size["height"] and box["x"] + box["width"] <= size["width"]


@pytest.mark.parametrize("size", [(1400, 900), (390, 844)])
def test_what_the_evaluator_does_not_notice_is_seen_without_a_click_or_scrolling(open_tab, path, size):
    page = open_tab(path, viewport={"width": size[0], "height": size[1]}).page
    sentence = page.locator("#answer p", has_text="Not noticed")
    assert is_in_view(page, sentence)
    assert "Not noticed by some score: statements negated" in sentence.inner_text()
    assert page.evaluate("performance.now()") < 3000
    row = page.locator(".thresholds tr", has_text="statements negated")
    assert size[0] == 390 or (is_in_view(page, row) and is_in_view(page, page.locator(".example .compared").first))
    assert row.locator("td b").all_inner_texts() == ["20 %", "20 %", "never", "20 %"]
    assert row.locator(".fault").inner_text().split() == ["never", "0.000"]  # with the mean drop
    for width in (1400, 2600):  # bars, from 20 to 100 %, end at the tick of 100 %, also the longest bars
        page.set_viewport_size({"width": width, "height": 900})
        tick, bar = page.locator(".ticks text").nth(2).bounding_box(), row.locator("rect").first.bounding_box()
        assert bar["x"] + bar["width"] == pytest.approx(tick["x"] + tick["width"] / 2, abs=1)


def test_what_each_degree_does_is_one_click_away(open_tab, path):
    page = open_tab(path, viewport={"width": 1400, "height": 900}).page
    assert page.locator(".example del").first.inner_text() == "に"
    folded = page.locator("main > details > summary h2").all_inner_texts()
    assert folded[0] == "How clearly ngram notices each degree of damage: d, light on the left, heavy on the right"
    assert folded[2:4] == ["The figures in words", "Averages and minima"]
    assert page.locator("main > details[open]").count() == 0
    page.locator("summary", has_text=folded[0]).click()
    cells = page.locator(".heat-map tr", has_text="statements negated").locator("td").nth(2).locator("span")
    assert cells.all_inner_texts() == ["0.0"] * 5
    assert cells.last.get_attribute("title").startswith("all statements negated, helpfulness: mean drop 0.000")
    assert not page.locator("#profile table").is_visible()
    page.locator(".thresholds tr", has_text="characters deleted").locator("td").first.click()
    assert page.locator(".example:focus figcaption").inner_text() == "1 % of characters deleted"
    page.locator("#profile summary").click()
    other = open_tab(path, page.evaluate("location.hash")).page
    assert other.locator("#profile table").is_visible()
    assert other.locator("details[open]").evaluate_all("all => all.map((fold) => fold.id)") == [
        *("all-examples", "picture-heat", "profile")
    ]
