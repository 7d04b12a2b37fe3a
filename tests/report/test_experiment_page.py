"""Pages of experiments in a browser, and pictures and tables that people save from pages."""

import base64
import csv
import io
import re
from itertools import product
from xml.etree import ElementTree

import numpy as np
import pytest
from makers.own_checklists import own_suite, some_runs
from makers.pages import WHITE
from makers.reported import HOSTILE as HOSTILE_RUN
from makers.reported import unlike_runs
from pfgen_fast.base.untrusted_text import csv_value, terminal_text
from pfgen_fast.lab.chart_data import Density, Matrix, Points, Ranges, Scatter
from pfgen_fast.lab.checklists.checklist_scoring import score_judged_runs
from pfgen_fast.lab.finding import Finding, Picture, finding_table
from pfgen_fast.report.checklists_page import write_checklists
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
        assert tab.page.locator("tbody").is_visible()  # short
        return tab

    return opened


def test_tables_are_sorted_by_mouse_and_keyboard_break_no_number_and_can_be_downloaded(open_finding, tmp_path):
    page = open_finding(viewport={"width": 390, "height": 800}).page
    heights = page.locator("tbody tr").evaluate_all("rows => rows.map(row => row.offsetHeight)")
    assert max(heights) < 50
    score = page.get_by_role("button", name="score", exact=True)
    for act, values in (
        (score.click, ["0.9581", "0.5000", "–"]),
        (lambda: score.press("Enter"), ["0.5000", "0.9581", "–"]),
    ):
        act()
        assert page.locator("tbody td:nth-child(2)").all_inner_texts() == values
    assert page.get_by_role("columnheader", name="score").get_attribute("aria-sort") == "ascending"
    link = page.get_by_role("link", name="CSV with all digits: The runs")
    assert link.get_attribute("download") == "trial-runs.csv"
    content = base64.b64decode(link.get_attribute("href").partition(",")[2])
    assert content == (tmp_path / "trial-runs.csv").read_bytes()
    with page.expect_download() as download:
        link.click()
    assert download.value.suggested_filename == "trial-runs.csv"


def test_points_say_what_they_stand_for_mark_their_run_everywhere_and_are_reached_by_arrow_keys(open_finding):
    tab = open_finding()
    page = tab.page
    symbols = page.locator(".plot").first.locator("g path")
    symbols.nth(2).hover()
    assert page.locator("#tip").inner_text().split("\n") == [RUNS[2], "fluency 0.3", "length 0.2"]
    assert page.locator(".chart .same").count() == 3  # two panels and a row
    assert page.locator("td .same").inner_text() == RUNS[2]
    assert page.locator("tbody [data-run]").count() == 3
    page.mouse.move(5, 5)
    assert page.locator("#tip").is_hidden()
    assert page.locator(".same").count() == 0
    panels = page.locator(".plot .point")
    assert panels.count() == 2  # one for each panel, so that Tab passes them by
    panels.first.focus()
    tab.press("ArrowRight")
    assert page.locator("#tip").inner_text().startswith(f"{RUNS[1]}\nfluency 0.2")
    assert page.locator("td .same").inner_text() == RUNS[1]
    tab.press("Escape")
    assert page.locator("#tip").is_hidden()


def test_names_are_beside_the_outer_points_and_rows_say_their_ranges(open_finding):
    page = open_finding().page
    names = page.locator(".plot").first.locator(".name").all_text_contents()
    assert set(names) == {"a model", "日本語", "c (x)"}
    assert page.get_by_text("The lowest and the highest point of each axis").count() == 1
    at = "[['low', 0], ['p', 50], ['q', 53], ['r', 56], ['high', 99]].map(([name, x]) => ({ name, left: x, top: x }))"
    parts = f"nameParts({at}, {{ left: 0, right: 300, top: 0, bottom: 120 }}, all)"
    names = page.evaluate(f"[false, true].map((all) => {parts}.map((part) => part.textContent))")
    assert names == [["low", "high"], ["low", "high", "p", "r"]]  # the name of q would be as near to p or r
    row = page.locator("g[role=img][data-run]").first
    assert row.get_attribute("aria-label") == f"{RUNS[0]}: 0.1 (0.0 to 0.2)"


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


# ---- What people save from pages


HOSTILE = ("=1+1", "a|b <i> [x](y)", 'said "no", twice')


def hostile_finding():
    points = Points(np.arange(3.0), np.arange(-1.0, 2.0) ** 2, "x", "y", labels=HOSTILE, runs=HOSTILE)
    rows = tuple((name, 1200 * number or None) for number, name in enumerate(HOSTILE))
    table = finding_table("rows", "The rows", ("run", "answers"), rows)
    return Finding("trial", "Yes.", "All.", (table,), (Picture("points", "Points", Scatter((points,))),), runs=HOSTILE)


def saved(page, name, form):
    with page.expect_download() as download:
        page.get_by_role("button", name=f"Save as {form}: {name}").first.click()
    assert re.fullmatch(r"[\w-]+\.(png|svg|csv)", download.value.suggested_filename)
    return download.value.path().read_bytes()


def check_picture(page, name):
    svg = saved(page, name, "SVG").decode()
    root = ElementTree.fromstring(svg)
    assert root.find("{*}title").text == name
    links = [value for part in root.iter() for key, value in part.attrib.items() if key.endswith("href")]
    assert not [link for link in links if not link.startswith(("#", "data:image/png"))]
    assert not re.search(r"var\(|light-dark|currentColor| class=| style=|url\((?!#)", svg)
    from matplotlib import image

    png = image.imread(io.BytesIO(saved(page, name, "PNG")), format="png")
    assert all(float(root.get("width")) > 7 * len("".join(line.itertext())) for line in root.findall("{*}text"))
    assert png.shape[:2] == tuple(int(2 * float(root.get(side))) for side in ("height", "width"))
    assert len(np.unique(png.reshape(-1, png.shape[2]), axis=0)) > 10
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert f"rgb({', '.join(str(round(255 * float(share))) for share in png[0, 0, :3])})" == ground
    return {"".join(part.itertext()) for part in root.findall(".//{*}text")}


def read_csv(page, name):
    return list(csv.reader(io.StringIO(saved(page, name, "CSV").decode(), newline="")))


def check_table(page, name, table):
    """Saves a table, and returns the texts of its visible cells."""
    shown = "(cells) => cells.map((cell) => cell.dataset.saved ?? cell.innerText)"
    rows = [
        [" ".join(text.split()) for text in row.locator("th:visible, td:visible:not(.tick)").evaluate_all(shown)]
        for row in page.locator(f"{table} tr:visible").all()
    ]
    plain = [["" if text == "–" else re.sub(r"(?<=^\d),(?=\d{3}$)", "", text) for text in row] for row in rows]
    assert read_csv(page, name) == [[csv_value(text) for text in row] for row in plain]
    return rows


def test_an_experiment_is_saved_as_it_is_seen(open_tab, tmp_path):
    path, *_ = write_finding(hostile_finding(), tmp_path)
    tab = open_tab(path, color_scheme="dark")
    assert {"x", *HOSTILE} <= check_picture(tab.page, "Points")
    assert tab.page.get_by_role("link", name="CSV with all digits: The rows").is_visible()
    assert not tab.page.get_by_role("button", name="Save as CSV").count()
    assert tab.faults() == []


def test_the_report_of_runs_is_saved_as_it_is_seen(open_tab, made_page, mini):
    path = made_page(unlike_runs(mini))
    tab = open_tab(path, "#/to=0.5&sort=score")
    rows = check_table(tab.page, "Leaderboard", "#runs")
    assert len(rows) == 4
    tab.page.get_by_role("link", name="Plots").click()
    tab.page.wait_for_selector(".plot svg")
    shown = check_picture(tab.page, "Fluency against truthfulness")
    assert [text for text in shown if text[0] in "●◆■"], shown
    page = open_tab(path).page
    page.evaluate("go({ compare: [1, 6] })")
    for name in ("Means and A - B", "A against B by question"):
        assert {"● A org/alpha/1", f"◆ B {HOSTILE_RUN}"} <= check_picture(page, name)
    tab.page.get_by_role("link", name="Heat map").click()
    tab.page.wait_for_selector("#heat .heat-cells")
    head, *rows = read_csv(tab.page, "Scores of questions by run")
    assert (head[0], len(rows), {len(row) for row in rows}) == ("question", len(mini), {len(head)})


def test_a_test_of_evaluators_and_checklists_are_saved_as_they_are_seen(open_tab, tmp_path):
    path, *_ = write_discernment([a_discernment()], tmp_path / "discernment")
    page = open_tab(path).page
    lightest = "The lightest damage that each score of ngram notices"
    assert {"fluency", "statements", "negated", "never", "penalised"} <= check_picture(page, lightest)
    assert ["statements negated 20 to 100 %", "20 %", "20 %", "never", "20 %"] in read_csv(page, lightest)
    page.locator("main > details > summary", has_text="Mean scores").click()
    check_picture(page, page.locator(".plots figcaption:visible").first.inner_text())
    suite = own_suite()
    runs = some_runs(tmp_path / "runs", suite)
    path, *_ = write_checklists(score_judged_runs(suite, runs), runs, tmp_path / "page.html")
    page = open_tab(path).page
    page.locator("#runs").get_by_role("button", name="Score").click(click_count=2)
    assert len(check_table(page, "Leaderboard", "#runs")) == 4


def test_cells_are_escaped_as_in_files(open_tab, tmp_path):
    heads, signs = ("", " ", "  ", "'", "a", "\u3000", "\xa0", "\\t"), "=+-@＝＋－＠0"
    texts = ["".join(parts) for parts in product(heads, signs, ("", "1", "1.5e3", "1,2", "x()", "\n"))]
    texts += ["-0.5", "+1e-3", "1.", ".5", "٣", "-٣", "=\t1", "a_b _c_ é_", "1. a", "12) b"]
    texts += ["- a", "+", "=="]
    texts = [terminal_text(text) for text in texts]
    path, *_ = write_finding(hostile_finding(), tmp_path)
    page = open_tab(path).page
    assert page.evaluate("texts => texts.map(csvValue)", texts) == [csv_value(text) for text in texts]
