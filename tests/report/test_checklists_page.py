import pytest
from makers.hostile import INJECTED
from makers.own_checklists import TASKS, hostile_runs, own_suite, some_runs
from makers.pages import WHITE
from makers.published import HELLOBENCH, needs_hellobench
from pfgen_fast.lab.checklists.checklist_scoring import score_judged_runs
from pfgen_fast.report.checklists import write_checklists

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def page_paths(tmp_path_factory):
    place = tmp_path_factory.mktemp("pages")
    suite = own_suite()
    runs = some_runs(place / "runs", suite)
    scores = score_judged_runs(suite, runs)
    return {
        "file": write_checklists(scores, runs, place / "page.html")[0],
        "folder": write_checklists(scores, runs, place / "page")[0],
    }


@pytest.fixture(scope="module")
def path(page_paths):
    return page_paths["file"]


def ids(page):
    return page.locator("#tasks tbody th").all_inner_texts()


def open_task(tab, number=0):
    tab.page.locator("#tasks tbody th a").nth(number).click()
    tab.page.wait_for_selector("#details-body .answer-of")
    return tab.page.locator("#details-body")


def chosen(tab, name):
    return tab.page.locator(f"#filters [data-filter={name}]")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1100, 390])
def test_the_page_fits_and_can_be_used_by_everybody(open_tab, path, scheme, width):
    tab = open_tab(path, viewport={"width": width, "height": 800}, color_scheme=scheme)
    for summary in tab.page.locator("main summary").all():
        summary.click()
    assert tab.page.evaluate("document.documentElement.scrollWidth") == width
    assert tab.faults() == []
    body = open_task(tab)
    body.locator(".answer-of summary").first.click()
    body.locator(".beside-answer").first.wait_for()
    boxes = [box.bounding_box() for box in body.locator(".beside-answer > div").all()[:2]]
    assert (boxes[0]["y"] == boxes[1]["y"]) == (width == 1100)
    body.locator(".answer-of details summary").last.click()
    assert body.evaluate("element => element.scrollWidth <= element.clientWidth")
    assert tab.faults() == []
    assert scheme == "light" or tab.page.evaluate(WHITE) == []


def test_the_table_of_models_is_sorted_marks_gaps_and_can_be_taken_along(open_tab, path):
    page = open_tab(path, viewport={"width": 1100, "height": 800}).page
    figures = page.locator("#models .whisker + b").all_inner_texts()
    begins = {round(bar.bounding_box()["x"]) for bar in page.locator("#models .whisker").all()}
    assert len({len(figure) for figure in figures}) > 1  # of different lengths
    assert len(begins) == 1
    heads, models = page.locator("#models thead th"), page.locator("#models tbody th a")
    for number in range(heads.count()):
        heads.nth(number).locator("button").click()
        assert heads.nth(number).get_attribute("aria-sort") in ("ascending", "descending")
    for name, order in (("Place", 1), ("Average", 1), ("Average", -1)):  # by all digits
        page.locator("#models").get_by_role("button", name=name).click()
        assert models.all_inner_texts() == ["Alpha 7B", "beta", "gamma"][::order]
    cell = page.locator('#models tbody tr:has-text("beta") td.gaps')
    assert cell.locator(".gap").inner_text().startswith("1 missing, as zero")
    page.locator("#gaps summary").click()
    assert "1 missing in letters: letter_2" in page.locator("#gaps").inner_text()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download page.csv").click()
    assert download.value.path().read_text() == path.with_suffix(".csv").read_text()


def test_a_cell_of_the_heat_map_leads_to_its_answers_and_a_category_to_the_means_of_its_questions(open_tab, path):
    tab = open_tab(path)
    tab.page.locator('#heat tr:has-text("requests") td').nth(1).click()
    assert tab.fragment == "category=letters/requests&model=beta"
    assert ids(tab.page) == ["letter_3"]
    tab.page.go_back()
    assert len(ids(tab.page)) == len(TASKS)
    tab.page.get_by_label("Category").first.select_option(label="reports/weather")
    assert tab.fragment == "questions=reports/weather"
    row = tab.page.locator("#question-table tbody tr").nth(1)
    assert row.inner_text().split("\t")[0] == "2. Are numbers given?"
    assert row.locator("td").count() == 4  # the weight, and three models


@pytest.mark.parametrize("form", ["file", "folder"])
def test_a_task_shows_all_answers_beside_verdicts_and_reasons(open_tab, page_paths, form):
    tab = open_tab(page_paths[form])
    body = open_task(tab, 2)
    assert tab.fragment == "task=letter_3"
    assert "asks a library for a book" in body.inner_text()
    names = body.locator(".answer-of > summary").all_inner_texts()
    assert [name.split()[1] for name in names] == ["Alpha", "beta", "gamma"]
    glance = body.locator(".glance tbody tr").all_inner_texts()
    assert [row.split("\t")[0] for row in glance] == ["Alpha 7B", "beta", "gamma"]
    body.get_by_role("button", name="Alpha 7B").click()
    answer = body.locator('.answer-of[data-model="0"]')
    assert answer.locator(".answer").first.inner_text().startswith("alpha answers letter_3")
    assert "A reason for question 0 about letter_3." in answer.inner_text()
    answer.get_by_text("1 question at the best level").click()
    assert "A reason for question 1 about letter_3." in answer.inner_text()


def test_which_verdict_cost_an_answer_most_takes_two_clicks_to_its_reason(open_tab, path):
    page = open_tab(path, viewport={"width": 1400, "height": 900}).page
    page.evaluate("clicks = 0; document.addEventListener('click', () => clicks++, true); begin = performance.now()")
    page.locator("#tasks tbody th a", has_text="letter_3").click()
    row = page.locator(".glance tbody tr", has_text="beta")
    assert page.locator(".glance thead th").all_inner_texts()[3:] == ["Costs most", "1", "2"]  # counted from 1
    assert row.locator("td").nth(2).inner_text() == "1: -45.0"  # 60 points, of which the verdict 0.25 leaves a quarter
    row.get_by_role("button").click()
    first, second = page.locator('.answer-of[data-model="1"] .verdicts > li').all()
    assert [li.get_attribute("value") for li in (first, second)] == ["1", "2"]
    assert "0.25 -45.0 Does it ask for one thing?" in first.inner_text()
    reason = first.locator(".reason")
    assert reason.inner_text() == "A reason for question 0 about letter_3."
    assert reason.bounding_box()["y"] < 900
    assert page.evaluate("clicks") == 2
    assert page.evaluate("performance.now() - begin") < 2000


def test_verdicts_without_an_answer_are_shown_and_missing_answers_named(open_tab, path):
    page = open_tab(path, "#/task=letter_3&model=gamma").page
    page.wait_for_selector("#details-body .answer-of")
    answer = page.locator(".answer-of")
    assert answer.count() == 1
    assert "The run holds no text of this answer." in answer.inner_text()
    assert "A reason for question 0 about letter_3." in answer.inner_text()
    page = open_tab(path, "#/task=letter_2").page
    page.wait_for_selector("#details-body .answer-of")
    assert page.locator("#details-body .missing").inner_text() == "Missing: beta"


@pytest.mark.parametrize("form", ["file", "folder"])
def test_the_search_finds_what_stands_in_answers_and_reasons_only(open_tab, page_paths, form):
    tab = open_tab(page_paths[form])
    for text, result in (
        ("LONG ladder. Thank", ["letter_1"]),
        ("LONG ladder. Thank nobody", []),
        ("question 0 about report_2.", ["report_2"]),
        ("nowhere at all", []),
    ):
        tab.page.locator("#search").fill(text)
        tab.page.wait_for_selector(f"#count:text-is('{len(result)} of 6 tasks')")
        assert ids(tab.page) == result
        assert tab.fragment == f"search={text.replace(' ', '%20')}"
        assert tab.page.locator("#none").is_visible() == (not result)


def test_filters_ask_for_models_states_scores_and_marks_together(open_tab, path):
    tab = open_tab(path)
    for filters, result, fragment in (
        ({"model": "beta", "state": "missing"}, "letter_2", "model=beta&state=missing"),
        ({"mark": "repetition"}, "letter_1", "mark=repetition"),
        ({"length": "of 90"}, "report_1 90", "length=of%2090"),
    ):
        for name, value in filters.items():
            chosen(tab, name).select_option(value)
        assert (ids(tab.page), tab.fragment) == ([result], fragment)
        tab.page.get_by_role("button", name="Clear").click()
        assert tab.fragment == ""
    chosen(tab, "order").select_option("lowest")
    chosen(tab, "model").select_option("alpha")
    scores = [float(text) for text in tab.page.locator("#tasks tbody td:nth-child(4)").all_inner_texts()]
    assert scores == sorted(scores)
    chosen(tab, "from").fill("80")
    chosen(tab, "from").press("Enter")
    assert tab.page.locator("#tasks tbody tr").count() == sum(score >= 80 for score in scores)


def test_no_untrusted_text_acts(open_tab, tmp_path):
    scores, runs = hostile_runs(tmp_path)
    tab = open_tab(write_checklists(scores, runs, tmp_path / "page.html")[0])
    for number in range(0, len(scores.suite.tasks), 4):
        body = open_task(tab, number)
        body.locator(".answer-of > summary").first.click()
        body.locator(".answer-of .answer").first.wait_for()
        tab.page.locator("#close").click()
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
    tab = open_tab(first, viewport={"width": 1100, "height": 800})
    tab.page.wait_for_selector("#tasks tbody tr")
    ready = tab.page.evaluate("performance.now()")
    assert ready < 4000, ready
    assert tab.page.locator("#models tbody tr").count() == 20
    assert tab.page.evaluate("document.documentElement.scrollWidth") == 1100
    body = open_task(tab)
    assert body.locator(".answer-of").count() == 20
