import base64
import re

import numpy as np
import pytest
from makers.pages import WHITE
from pfgen_fast.lab.experiments.chart_data import Density, Matrix, Points, Ranges, Scatter
from pfgen_fast.lab.experiments.finding import Finding, Picture, finding_table
from pfgen_fast.report.discernment import write_discernment
from pfgen_fast.report.findings import write_finding
from report.discernments import METRICS, a_discernment

pytestmark = pytest.mark.browser

RUNS = ("org/a model/1", "org/日本語/2", "org/c (x)/3")
X, Y = np.array([0.1, 0.2, 0.3]), np.array([0.3, 0.1, 0.2])
POINTS = Points(X, Y, "fluency", "length", labels=RUNS, runs=RUNS)
RANGES = Ranges(RUNS, X, X - 0.1, X + 0.1, "score", runs=RUNS)
TABLE = finding_table(
    "runs",
    "The runs",
    ("run", "score", "answers", "note"),
    ((RUNS[0], 0.95811, 1200, "Q2"), (RUNS[1], None, 999, "Q10"), (RUNS[2], 0.5, 57100, "Q1")),
)


def a_finding(*more_pictures):
    pictures = (Picture("points", "Points", Scatter((POINTS, POINTS))), Picture("rows", "Rows", RANGES), *more_pictures)
    notes = ("Only three runs: the interval says little.",)
    return Finding("trial", "Yes.", "It is 0.5.", (TABLE,), pictures, notes, question="Is it?", runs=RUNS)


@pytest.fixture
def open_finding(open_tab, tmp_path):
    def opened(**options):
        page, *_ = write_finding(a_finding(), tmp_path)
        tab = open_tab(page, **options)
        assert not tab.page.locator("tbody").is_visible()
        tab.page.locator("summary", has_text="The runs").first.click()
        return tab

    return opened


def test_tables_are_sorted_by_mouse_and_keyboard_break_no_number_and_can_be_downloaded(open_finding, tmp_path):
    page = open_finding(viewport={"width": 390, "height": 800}).page
    heights = page.locator("tbody tr").evaluate_all("rows => rows.map(row => row.offsetHeight)")
    assert max(heights) < 50
    page.get_by_role("button", name="score").click()
    page.get_by_role("button", name="score").click()
    assert page.get_by_role("columnheader", name="score").get_attribute("aria-sort") == "ascending"
    columns = {
        ("score", 2): ["0.9581", "0.5000", "–"],
        ("answers", 3): ["57,100", "1,200", "999"],
        ("note", 4): ["Q1", "Q2", "Q10"],
    }
    for (name, number), values in columns.items():
        page.get_by_role("button", name=name).press("Enter")
        assert page.locator(f"tbody td:nth-child({number})").all_inner_texts() == values
        assert page.locator("th[aria-sort]").all_inner_texts() == [page.locator("th").nth(number - 1).inner_text()]
    link = page.get_by_role("link", name="CSV with all digits: The runs")
    assert link.get_attribute("download") == "trial-runs.csv"
    content = base64.b64decode(link.get_attribute("href").partition(",")[2])
    assert content == (tmp_path / "trial-runs.csv").read_bytes()
    with page.expect_download() as download:
        link.click()
    assert download.value.suggested_filename == "trial-runs.csv"


def test_points_say_what_they_stand_for_mark_their_run_everywhere_and_are_reached_by_arrow_keys(open_finding):
    tab = open_finding()
    tab.page.locator(".point").nth(2).hover()
    assert tab.page.locator("#tip").inner_text() == "org/c (x)/3: fluency 0.3, length 0.2"
    assert tab.page.locator(".point.same").count() == 3  # two panels and a row
    assert tab.page.locator("td .same").inner_text() == RUNS[2]
    strokes = tab.page.locator(".point use").evaluate_all("uses => uses.map(use => getComputedStyle(use).strokeWidth)")
    assert strokes.count("3px") == 3
    tab.page.mouse.move(5, 5)
    assert tab.page.locator("#tip").is_hidden()
    assert tab.page.locator(".same").count() == 0
    panels = tab.page.locator('.point[tabindex="0"]')
    assert panels.count() == 3  # one for each panel, so that Tab passes them by
    panels.first.focus()
    tab.press("ArrowRight")
    assert tab.page.locator("#tip").inner_text().startswith("org/日本語/2: fluency 0.2")
    tab.press("ArrowDown")  # the vertical axis of SVG points down
    assert tab.page.locator("#tip").is_visible()
    tab.press("Escape")
    assert tab.page.locator("#tip").is_hidden()
    assert panels.count() == 3


def test_runs_are_marked_in_tables(open_finding):
    assert open_finding().page.locator("tbody [data-run]").count() == 3


MORE = (
    Picture("density", "Density", Density((Points(np.arange(50.0) % 7, np.arange(50.0) % 5, "x", "y"),), "answers")),
    Picture("matrix", "Matrix", Matrix(RUNS, RUNS, np.eye(3), "Pearson", 0.0)),
    Picture("ranges", "Ranges", Ranges(RUNS, X, X - 0.1, X + 0.1, "rank", runs=RUNS)),
)


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    written = write_finding(a_finding(*MORE), tmp_path_factory.mktemp("experiments"))
    listed = [a_discernment(weights="assumed"), a_discernment("judge", metrics=METRICS[:2], seed=1)]
    written += write_discernment(listed, tmp_path_factory.mktemp("discernment"))
    return [path for path in written if path.suffix == ".html"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_the_pages_fit_and_can_be_used_by_everybody(open_tab, pages, scheme, width):
    assert [path.name for path in pages] == ["trial.html", "discernment.html"]
    for path in pages:
        tab = open_tab(path, viewport={"width": width, "height": 800}, color_scheme=scheme)
        tab.page.locator("details").evaluate_all(
            "all => all.forEach(one => { one.open = one.matches('.fold, :first-of-type'); })"
        )
        assert tab.page.evaluate("document.documentElement.scrollWidth") == width
        assert tab.faults() == []
        if scheme == "dark":
            assert tab.page.evaluate(WHITE) == []
        boxes = [box.bounding_box() for box in tab.page.locator(".pair").first.locator(".compared").all()]
        assert not boxes or (boxes[0]["y"] == boxes[1]["y"]) == (width > 390)  # original and damaged text


@pytest.mark.parametrize("more", [(), pytest.param(MORE, marks=pytest.mark.slow)], ids=["two", "more"])
def test_ids_of_pictures_do_not_meet(tmp_path, more):
    page, *_ = write_finding(a_finding(*more), tmp_path)
    ids = re.findall(r' id="([^"]*)"', page.read_text())
    assert len(ids) == len(set(ids))
