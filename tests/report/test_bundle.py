"""Sites: the pages of all that a directory holds, with one navigation and a start page."""

import json
import re
from html import unescape
from pathlib import Path

import pytest
from makers.own_checklists import own_suite_in, some_runs
from makers.pages import check_policy, leave_out_drawing
from makers.reported import made_result
from pfgen_fast.base.errors import PfgenError
from pfgen_fast.base.file_writing import write_whole
from pfgen_fast.lab.annotations.annotation_plan import SheetItem, make_plan
from pfgen_fast.lab.annotations.annotation_rows import Asked, export_lines, row_of
from pfgen_fast.lab.finding import Finding, finding_table
from pfgen_fast.report.discernment import write_discernment
from pfgen_fast.report.findings import write_finding
from pfgen_fast.report.site import Site
from pfgen_fast.runs.items.score_tables import read_item_scores
from report.discernments import a_discernment
from report.sheets import GUIDELINE, LEVELS, items_of_all_kinds

SECTIONS = ["Runs", "Scores", "Checklists", "Discernment", "Experiments", "Annotation"]


def write_all(folder, mini):
    """Writes something of each kind, and things that are none of ours or cannot be read."""
    (folder / "result/a").mkdir(parents=True)
    (folder / "result/a/result.json").write_text(json.dumps(made_result(mini)), encoding="utf-8")
    write_whole(folder / "broken/result.json", b"{")
    (folder / "scores.csv").write_text("item,model,score\nq1,a,1\nq1,b,0\nq2,a,1\nq2,b,0\n")
    (folder / "other.csv").write_text("item,price\nq1,1\n")
    some_runs(folder / "judged", own_suite_in(folder / "own"))
    write_discernment([a_discernment()], folder / "discernment")
    table = finding_table("t", "T", ("run", "score"), (("<b>x</b>", 1.0),))
    write_finding(Finding("trial", "<b>Yes</b> & no.", "It is 0.5.", (table,), ()), folder / "experiment")
    asked = Asked("own", "", "en", GUIDELINE, LEVELS, content_language="en")
    items = [SheetItem(item["kind"], str(number), item, (), ()) for number, item in enumerate(items_of_all_kinds())]
    plan = make_plan(items, ["a1", "a2"], asked, overlap=1)
    write_whole(folder / "people/plan.json", json.dumps(plan.record).encode())
    decision = {"verdicts": [1, 1, 1], "overall": 9}
    for sheet in plan.sheets:
        rows = [row_of(item) | decision for item in sheet.items if item["kind"] == "mark"]
        write_whole(folder / f"people/exports/{sheet.annotator}.jsonl", export_lines(sheet.header, rows))
    page = (folder / "experiment/trial.html").read_text(encoding="utf-8")
    (folder / "changed.html").write_text(
        page.replace("<script>", "<script>alert(1);", 1).replace("sha256-", "sha256-x", 1)
    )
    (folder / "foreign.html").write_text("<h1>A page of others</h1>")
    (folder / "linked.html").symlink_to(folder / "experiment/trial.html")


@pytest.fixture(scope="module")
def bundle(tmp_path_factory, mini):
    folder = tmp_path_factory.mktemp("all")
    with pytest.MonkeyPatch.context() as patch:
        leave_out_drawing(patch)
        write_all(folder, mini)
    site = Site([str(folder)], folder / "site", print, lambda _: mini, read_item_scores)
    site.write()
    return site


def pages_of(site):
    return {path.relative_to(site.folder).as_posix(): path.read_text("utf-8") for path in site.folder.rglob("*.html")}


def links_in(page, within=r"<body>(?:.|\n)*</body>"):
    text = re.sub(r"<script(?:.|\n)*?</script>", "", re.search(within, page)[0])
    return re.findall(r'href="([^"#]+)(?:#[^"]*)?"', text)


def test_everything_has_its_section_and_all_links_resolve(bundle):
    pages = pages_of(bundle)
    assert len(pages) == 1 + len(SECTIONS)
    for name, page in pages.items():
        check_policy(page.replace(" 'strict-dynamic'", ""))
        navigation = re.search(r'<nav class="site" aria-label="Site">(.*?)</nav>', page)[1]
        assert re.findall(r">(\w+)</a>", navigation) == ["Start", *SECTIONS]
        (current,) = re.findall(r"aria-current=.true.>(\w+)<", navigation)
        assert current.lower() == (Path(name).parent.name or "start")
        for address in links_in(page):
            assert address.startswith("data:text/csv") or (bundle.folder / name).parent.joinpath(address).is_file()
    for script in re.findall(r"data/[\w-]+\.js", pages["runs/index.html"]):
        assert (bundle.folder / "runs" / script).is_file()


def test_the_cards_of_the_start_page_have_the_headlines_of_the_pages(bundle):
    pages = pages_of(bundle)
    cards = re.findall(r'<li.*?href="([^"]*)".*?</h2>\s*<p>(.*?)</p>', pages["index.html"], re.DOTALL)
    assert len(cards) == len(SECTIONS)
    for address, headline in cards:
        title = re.search("<h1[^>]*>(.*?)</h1>", pages[address], re.DOTALL)[1]
        assert unescape(headline) == unescape(re.sub(r"<(?!/?b>)[^>]*>", "", title))
    assert "<bdi>Discernment of ngram on 40 texts</bdi>" in pages["index.html"]
    bars = re.findall(r"<svg class=.whisker.*?</svg><span class=.number.>(?:.* of|0.50).*?<", pages["index.html"])
    assert {" of " in bar: 'class="mean"' in bar for bar in bars} == {True: False, False: True}
    assert ("experiments/trial.html", "&lt;b&gt;Yes&lt;/b&gt; &amp; no.") in cards
    assert "0 of 2 annotators finished all items; 2 of 10 items are decided." in pages["index.html"]
    assert re.findall("<summary><h2>(.*?)</h2>", pages["annotation/people.html"])[1] == "Agreement of all annotators"
    contents = "1 run, 1 score table, 3 judged models, 1 discernment, 1 experiment, 1 annotation plan"
    assert f">{contents}; 8 items wait for annotators; 1 run is left out.</h1>" in pages["index.html"]


def test_pages_of_others_are_left_out_by_name_and_links_are_not_followed(bundle):
    sentences = [sentence for sentence in bundle.problems if "by this build" in sentence]
    assert re.fullmatch(r"\S*changed.html: .* by this build; 'pfgen-fast experiment' writes it again", sentences[0])
    assert re.fullmatch(r"\S*foreign.html: .* by this build", sentences[1])
    assert not any("alert(1)" in page for page in pages_of(bundle).values())


def test_only_an_earlier_site_is_replaced_and_what_it_no_longer_has_is_removed(bundle, tmp_path, mini):
    def site(*paths):
        return Site(list(map(str, paths)), tmp_path / "site", pytest.fail, lambda _: mini, read_item_scores)

    source = Path(bundle.paths[0])
    site(source / "result", source / "scores.csv").write()
    before = pages_of(site())
    (tmp_path / "site/experiments").mkdir()
    mine = tmp_path / "site/experiments/trial.html"
    mine.write_bytes((source / "experiment/trial.html").read_bytes())
    with pytest.raises(PfgenError, match=r"trial\.html: not from a report"):
        site(source / "result", source / "experiment").write()
    assert pages_of(site()) == {**before, "experiments/trial.html": mine.read_text("utf-8")}
    mine.unlink()
    site(source / "experiment").write()
    assert [*pages_of(site())] == ["index.html"]
    assert not [*(tmp_path / "site").rglob("*.js")]
    with pytest.raises(PfgenError, match=r"holds .*, which the site shows"):
        site(tmp_path / "site").write()


def test_each_suite_has_its_page_of_runs_and_paths_that_show_nothing_are_named(tmp_path, mini):
    half = mini.only(limit=3)
    for name, suite in {"a": mini, "b": mini, "c": half}.items():
        write_whole(tmp_path / "result" / name / "result.json", json.dumps(made_result(suite)).encode())
    own_suite_in(tmp_path / "own")
    write_whole(tmp_path / "people/plan.json", b'{"annotators": {"ann": {"sheet": "1", "items": [1, 2]}}}')
    write_whole(tmp_path / "other/plan.json", b"{}")
    (tmp_path / "empty").mkdir()
    paths = [str(tmp_path / name) for name in ("result", "own", "people", "other", "empty")]
    site = Site(paths, tmp_path / "site", print, lambda path: half if path.parent.name == "c" else mini, pytest.fail)
    site.write()
    pages = pages_of(site)
    assert "0 of 1 annotator finished all items; 0 of 2 items are decided." in pages["annotation/people.html"]
    (other,) = pages.keys() - {"index.html", "runs/index.html", "annotation/people.html"}
    assert ["report: 2 runs" in pages["runs/index.html"], "report: 1 run" in pages[other]] == [True, True]
    assert "<h1>3 runs of 2 suites, 1 annotation plan; 2 items wait for annotators.</h1>" in pages["index.html"]
    expected = ("a plan that 'pfgen-fast annotate'", "judgements of answers", "files that 'pfgen-fast score' wrote")
    for fault, text in zip(site.problems, expected, strict=True):
        assert f"expected {text}" in fault


@pytest.mark.browser
@pytest.mark.parametrize("width", [1400, 390])
def test_start_page_and_sections_have_no_faults(bundle, open_tab, width):
    tab = open_tab(bundle.folder / "index.html", viewport={"width": width, "height": 844})
    for section in SECTIONS:
        assert tab.faults() == []
        assert tab.page.evaluate("document.documentElement.scrollWidth") <= width
        tab.page.locator("nav.site").get_by_role("link", name=section).click()
        assert tab.page.locator("nav.site [aria-current]").inner_text() == section
