import re

import pytest
from makers.hostile import INJECTED
from makers.own_checklists import TASKS, hostile_runs, own_suite, some_runs
from makers.pages import WHITE
from makers.published import HELLOBENCH, needs_hellobench
from pfgen_fast.lab.checklists.checklist_scoring import score_judged_runs
from pfgen_fast.report.checklists_page import write_checklists

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def page_paths(tmp_path_factory):
    place = tmp_path_factory.mktemp("pages")
    suite = own_suite()
    runs = some_runs(place / "runs", suite)
    scores = score_judged_runs(suite, runs)
    names = {"file": "page.html", "folder": "page"}
    alone = write_checklists(score_judged_runs(suite, runs[-1:]), runs[-1:], place / "alone.html")[0]
    return {form: write_checklists(scores, runs, place / name)[0] for form, name in names.items()} | {"alone": alone}


@pytest.fixture(scope="module")
def path(page_paths):
    return page_paths["file"]


def shown_tasks(page):
    return [name.split()[0] for name in page.locator("#questions-table tbody:visible th").all_inner_texts()]


def open_view(open_tab, path, fragment, **options):
    tab = open_tab(path, f"#/{fragment}", **options)
    tab.page.locator("#details-body .scored, #details-body .of-questions").first.wait_for()
    return tab


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1100, 390])
def test_the_page_fits_and_can_be_used_by_everybody(open_tab, path, scheme, width):
    options = {"viewport": {"width": width, "height": 800}, "color_scheme": scheme}
    tab = open_tab(path, **options)
    for name in ("Leaderboard", "Tasks", "Categories", "Checklists", "Plots"):
        tab.page.get_by_role("link", name=name, exact=True).click()
        assert tab.page.evaluate("document.documentElement.scrollWidth") == width
        assert tab.faults() == []
    captions = tab.page.locator("#plots figcaption").all_inner_texts()
    assert captions == ["Score by wanted length", "Words by wanted length"]
    tab.page.locator("#plots figure").nth(1).scroll_into_view_if_needed()
    tab.page.locator("#plots figure").nth(1).get_by_text("shorter than wanted").wait_for()  # the legend
    tab.page.get_by_role("link", name="Checklists", exact=True).click()
    section = tab.page.locator("#checklists")
    assert section.locator(".heat-beside a").nth(1).inner_text() == "2. Is it polite?"
    assert section.get_by_role("grid").get_attribute("aria-colcount") == "3"  # models
    assert section.locator(".heat-legend i").count() == 9
    assert section.locator(".save button").all_inner_texts() == ["CSV", "PNG", "SVG"]
    assert ".38" in section.locator(".heat-field text").all_text_contents()
    assert "Is it polite? weight" in section.locator("li").nth(1).inner_text()
    tab = open_view(open_tab, path, "question=letter_3", **options)
    boxes = [box.bounding_box() for box in tab.page.locator(".beside-answer > div").all()[:2]]
    assert (boxes[0]["y"] == boxes[1]["y"]) == (width == 1100)
    assert tab.page.locator("#details-body").evaluate("element => element.scrollWidth <= element.clientWidth")
    assert tab.faults() == []
    assert scheme == "light" or tab.page.evaluate(WHITE) == []


def test_the_leaderboard_marks_gaps_and_shows_more_columns_on_demand(open_tab, path):
    page = open_tab(path, "#/columns=words,error 0,mark repetition").page
    assert "Alpha 7B" in page.locator("h1").inner_text()
    assert page.locator("#runs tbody th").all_inner_texts() == ["Alpha 7B", "beta", "gamma"]
    for column in ("area 0", "score"):
        cell = page.locator(f'#runs tbody tr:has-text("beta") [data-column="{column}"]')
        assert cell.inner_text().endswith("*")
        assert cell.get_attribute("title").startswith("1 missing, ")
    heads = page.locator("#runs thead [data-optional]").all_inner_texts()
    assert heads == ["Words", "90: mean length error, words", "repetition, % of answers"]
    assert page.locator('[data-column="mark repetition"]').all_inner_texts()[1:] == ["16.7", "0.0", "–"]


def test_a_model_names_what_it_loses_on_and_its_tasks_open_their_answers(open_tab, path, page_paths):
    alone = open_view(open_tab, page_paths["alone"], "run=gamma").page.locator("#details-body").inner_text()
    assert "median verdicts" not in alone.lower()
    shown = open_view(open_tab, path, "run=beta").page.locator("#details").inner_text()
    assert "1 missing in letters: letter_2" in shown
    tab = open_view(open_tab, path, "run=gamma")
    body = tab.page.locator("#details-body")
    assert " the median verdicts of the models, weakest in weather, thanks, requests." in body.inner_text()
    body.locator(".losses tbody tr").first.locator("td a").last.click()
    answer = body.locator(".opened .scored")
    answer.wait_for()
    assert "A reason for question 0 about" in answer.inner_text()
    body.locator("[data-filter=subject]").select_option("requests")
    assert body.locator(".of-questions tbody:visible th b").all_inner_texts() == ["letter_3"]
    assert "subject=requests" in tab.fragment
    assert body.locator("tbody th > button").first.evaluate("b => getComputedStyle(b).textOverflow") == "ellipsis"


def test_errors_of_answers_are_causes_of_a_loss_and_lead_to_their_tasks(open_tab, path):
    tab = open_tab(path, "#/run=Alpha 7B")
    tab.page.wait_for_selector(".of-questions")
    assert "Repeats itself in 1 of 5 answers" in tab.page.locator("#details-body").inner_text()
    bars = tab.page.locator("#details-body .chart a")
    bars.filter(has_text="Repeats itself").locator("text").first.click()
    assert tab.page.locator(".of-questions tbody:visible th b").all_inner_texts() == ["letter_1"]
    assert tab.fragment == "run=Alpha%207B&mark=repetition"


@pytest.mark.parametrize("form", ["file", "folder"])
def test_a_task_shows_all_answers_beside_verdicts_and_reasons(open_tab, page_paths, form):
    page = open_view(open_tab, page_paths[form], "question=letter_3", viewport={"width": 1400, "height": 900}).page
    body = page.locator("#details-body")
    assert "asks a library for a book" in body.inner_text()
    assert body.locator(".tinted thead th").all_inner_texts() == ["Model", "Score", "Costs most", "1", "2"]
    rows = body.locator(".tinted tbody tr")
    assert [row.split("\t")[0] for row in rows.all_inner_texts()] == ["Alpha 7B", "beta", "gamma"]
    # 240 points, of which the verdict 0.25 leaves a quarter.
    assert rows.nth(1).locator("td").nth(1).inner_text() == "1: -180.0"
    rows.nth(1).get_by_role("button").click()
    answer = body.locator('.scored[data-run="1"]')
    first, second = answer.locator(".verdicts > li").all()
    assert [li.get_attribute("value") for li in (first, second)] == ["1", "2"]
    assert "0.25 -180.0 Does it ask for one thing?" in first.inner_text()
    reason = first.locator(".reason")
    assert reason.inner_text() == "A reason for question 0 about letter_3."
    assert reason.bounding_box()["y"] < 900
    assert answer.locator(".answer").inner_text().startswith("beta answers letter_3")
    assert "The run holds no text of this answer." in body.locator('.scored[data-run="2"]').inner_text()
    missing = open_view(open_tab, page_paths[form], "question=letter_2").page
    assert missing.locator("#details-body .missing").inner_text() == "Missing: beta"


def test_models_are_compared_as_runs_are(open_tab, path):
    page = open_view(open_tab, path, "compare=Alpha 7B..gamma").page
    assert "No verdict: 4 tasks, at least 6 are needed; A - B is +" in page.locator("#details-body").inner_text()
    figures = page.locator(".thirds .figure").all_text_contents()
    assert all(re.fullmatch(r"[+-][\d.]+ \(\d tasks?: no verdict\)", text) for text in figures), figures
    assert page.locator(".thirds .interval").count() == 0
    for length, n in (("", 4), ("all", 5)):  # at first the tasks of the scores
        page.locator("#details-body [data-filter=length]").select_option(length)
        sides = page.locator("#details-body .tools button", has_text=re.compile(": ")).all_inner_texts()
        assert sum(int(side.split(": ")[1]) for side in sides) == n
    answers = page.locator("#details-body .brushed section", has_text="letter_3").locator(".aligned > div")
    assert answers.first.locator(".answer").inner_text().startswith("alpha answers letter_3")
    assert "A reason for question 0 about letter_3." in answers.last.inner_text()


@pytest.mark.parametrize("form", ["file", "folder"])
def test_the_search_finds_what_stands_in_answers_and_reasons(open_tab, page_paths, form):
    page = open_tab(page_paths[form]).page
    for text, n in (("LONG ladder. Thank", 1), ("question 0 about report_2.", 2), ("nowhere at all", 0)):
        page.locator("#search").fill(text)
        page.keyboard.press("Enter")
        page.locator("#found-count", has_text=re.compile(f"^{n} answer.*Searched")).wait_for()
        assert page.locator("#found li").count() == n


def test_filters_ask_for_categories_states_and_marks(open_tab, path):
    tab = open_tab(path, "#/tab=questions")
    assert tab.page.evaluate("[levelBar(0).firstChild.style.width, questionMap.scale()]") == ["0%", "diverging"]
    assert len(shown_tasks(tab.page)) == len(TASKS) - 1  # at first without the task of another length
    for name, value, result in (
        ("state", "missing", ["letter_2", "report_2"]),
        ("mark", "repetition", ["letter_1"]),
        ("length", "90", ["report_1/90"]),
        ("area", "letters", ["letter_1", "letter_2", "letter_3"]),
    ):
        tab.page.locator(f"#questions [data-filter={name}]").select_option(value)
        assert sorted(shown_tasks(tab.page)) == result
        assert sorted(tab.page.evaluate("questionsInOrder().map((task) => overview.questions[task].id)")) == result
        tab.page.go_back()
    tab.page.locator("[data-filter=length]:visible").select_option("all")
    assert len(shown_tasks(tab.page)) == len(TASKS)
    tab = open_tab(path, "#/tab=checklists")
    for number in (1, 0):
        tab.page.locator("[data-filter=checklist]").select_option(index=number)
        tab.page.wait_for_timeout(150)
        assert tab.page.locator("#checklists .save").count() == 1


def test_no_untrusted_text_acts(open_tab, tmp_path):
    scores, runs = hostile_runs(tmp_path)
    tab = open_tab(write_checklists(scores, runs, tmp_path / "page.html")[0])
    for number in range(0, len(scores.suite.tasks), 4):
        tab.page.evaluate(f"go({{ question: {number} }})")
        tab.page.locator("#details-body .scored").first.wait_for()
    tab.page.evaluate("go({ question: null, compare: [0, 1] })")
    tab.page.locator("#details-body .of-questions").wait_for()
    assert tab.page.title() != INJECTED
    assert tab.page.locator(f"h1:text-is('{INJECTED}'), img, iframe, object").count() == 0


@pytest.mark.parity
@needs_hellobench
def test_twenty_models_are_there_within_a_second(open_tab, tmp_path):
    from pfgen_fast.lab.checklists.checklist_runs import open_runs
    from pfgen_fast.lab.checklists.hellobench import import_suite

    suite = import_suite(HELLOBENCH)
    runs = open_runs(sorted((HELLOBENCH / "judgements").iterdir()))
    scores = score_judged_runs(suite, runs)
    first = write_checklists(scores, runs, tmp_path / "page.html")[0]
    assert first.stat().st_size < 12_000_000
    tab = open_tab(first, viewport={"width": 1400, "height": 900})
    assert tab.page.evaluate("performance.now()") < 4000
    last = tab.page.locator("#runs tbody tr").nth(19)
    assert last.bounding_box()["y"] + 20 < 900
    assert tab.page.evaluate("document.documentElement.scrollWidth") == 1400
    tab.page.evaluate("go({ question: 300 })")
    tab.page.locator("#details-body .scored").first.wait_for()
    assert tab.page.locator("#details-body .tinted tbody tr").count() == 20
    tab.page.evaluate("go({ ...NOTHING_OPEN, tab: 'plots' })")
    tab.page.locator(".plot svg").first.wait_for()
    assert tab.page.locator(".plot").first.locator(".name").count() > 5  # not only those at the ends of the axes
    longer = tab.page.locator("figure", has_text="Longer contexts")
    longer.scroll_into_view_if_needed()
    longer.get_by_text("heuristic text", exact=True).wait_for()
    with tab.page.expect_download() as download:
        longer.get_by_text("SVG").click()
    assert ">generation</text>" in download.value.path().read_text(encoding="utf-8")
