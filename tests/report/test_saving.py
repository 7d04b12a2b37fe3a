"""Pictures and tables that people save from pages."""

import csv
import io
import re
from itertools import product
from xml.etree import ElementTree

import numpy as np
import pytest
from makers.own_checklists import own_suite, some_runs
from makers.reported import unlike_runs
from pfgen_fast.base.untrusted_text import csv_value, terminal_text
from pfgen_fast.lab.checklists.checklist_scoring import score_runs
from pfgen_fast.lab.experiments.chart_data import Points, Scatter
from pfgen_fast.lab.experiments.finding import Finding, Picture, finding_table
from pfgen_fast.report.checklists import write_checklists
from pfgen_fast.report.discernment import write_discernment
from pfgen_fast.report.findings import write_finding
from report.discernments import a_discernment

pytestmark = pytest.mark.browser

HOSTILE = ("=1+1", "a|b <i> [x](y)", 'said "no", twice')


def a_finding():
    points = Points(np.arange(3.0), np.arange(3.0) ** 2, "x", "y", labels=HOSTILE, runs=HOSTILE)
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
    path, *_ = write_finding(a_finding(), tmp_path)
    tab = open_tab(path, color_scheme="dark")
    assert {"x", *HOSTILE} <= check_picture(tab.page, "Points")
    tab.page.locator("summary", has_text="The rows").first.click()
    assert tab.page.get_by_role("link", name="CSV with all digits: The rows").is_visible()
    assert not tab.page.get_by_role("button", name="Save as CSV").count()
    assert tab.faults() == []


def test_the_report_of_runs_is_saved_as_it_is_seen(open_tab, made_page, mini):
    tab = open_tab(made_page(unlike_runs(mini)), "#/to=0.5&sort=score")
    rows = check_table(tab.page, "Leaderboard", "#runs")
    assert len(rows) == 4
    tab.page.get_by_role("link", name="Plots").click()
    tab.page.wait_for_selector(".plot svg")
    shown = check_picture(tab.page, "Fluency against truthfulness")
    assert [text for text in shown if text[0] in "●◆■"], shown
    tab.page.get_by_role("link", name="Heat map").click()
    tab.page.wait_for_selector("#heat canvas")
    head, *rows = read_csv(tab.page, "Scores of questions by run")
    assert (head[0], len(rows), {len(row) for row in rows}) == ("question", len(mini), {len(head)})


def test_a_test_of_evaluators_and_checklists_are_saved_as_they_are_seen(open_tab, tmp_path):
    path, *_ = write_discernment([a_discernment()], tmp_path / "discernment")
    page = open_tab(path).page
    page.locator("main > details > summary", has_text="Pictures").click()
    check_picture(page, page.locator("main > details figcaption").nth(1).inner_text())
    suite = own_suite()
    runs = some_runs(tmp_path / "runs", suite)
    path, *_ = write_checklists(score_runs(suite, runs), runs, tmp_path / "page.html")
    page = open_tab(path).page
    page.locator("#models").get_by_role("button", name="Average").click(click_count=2)
    assert len(check_table(page, "Table", "#models")) == 4


def test_cells_are_escaped_as_in_files(open_tab, tmp_path):
    heads, signs = ("", " ", "  ", "'", "a", "\u3000", "\xa0", "\\t"), "=+-@＝＋－＠0"
    texts = ["".join(parts) for parts in product(heads, signs, ("", "1", "1.5e3", "1,2", "x()", "\n"))]
    texts += ["-0.5", "+1e-3", "1.", ".5", "٣", "-٣", "=\t1", "a_b _c_ é_", "1. a", "12) b"]
    texts += ["- a", "+", "=="]
    texts = [terminal_text(text) for text in texts]
    path, *_ = write_finding(a_finding(), tmp_path)
    page = open_tab(path).page
    assert page.evaluate("texts => texts.map(csvValue)", texts) == [csv_value(text) for text in texts]
