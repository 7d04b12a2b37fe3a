"""The page of an annotator in a browser."""

import json
from pathlib import Path

import pytest
from makers.hostile import INJECTED, NAMES
from makers.pages import WHITE
from pfgen_fast.base.errors import ChecklistError
from pfgen_fast.lab.annotations.annotation_rows import export_lines, read_rows
from pfgen_fast.lab.checklists.marks import read_people
from pfgen_fast.report.annotation_page import sheet_page
from pfgen_fast.report.pages import write_page
from report.sheets import SUITE, mark_item, sheet_of

pytestmark = pytest.mark.browser

PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
SHEET = sheet_of()
FORBIDDEN_STORAGE = "Object.defineProperty(window, 'localStorage', { get() { throw new Error('forbidden'); } })"


@pytest.fixture
def open_tab(open_tab):
    """Opens a page that is wide enough for the guideline beside the item."""
    return lambda path, **options: open_tab(path, **{"viewport": {"width": 1700, "height": 900}, **options})


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("sheets") / "ann.html"
    write_page(path, sheet_page(SHEET))
    return path


def exported(tab, to: Path) -> Path:
    with tab.page.expect_download() as download:
        tab.page.locator("#export").click()
    download.value.save_as(to / download.value.suggested_filename)
    return to / download.value.suggested_filename


def decided(tab):
    return tab.page.evaluate("decisions.map(({ values }) => values)")


ALL = [[0.25, 1, 0, 10], ["tie"], [False, True], [True], ["accuracy"]]


def decide_all(tab):
    """Decides all items by keyboard."""
    tab.press(*"1wtq", "x", "c")  # a digit chooses no level
    tab.page.keyboard.type("no 1 npu?")  # not keys of the page while a comment is written
    tab.press("Escape", *"n3", "ArrowRight", *"21", *"o1", *"o2u")


def test_everything_is_decided_by_keyboard_kept_on_reload_and_exported_for_readers(open_tab, path, tmp_path):
    tab = open_tab(path)
    decide_all(tab)
    assert decided(tab) == ALL
    assert "All items are done" in tab.page.locator("#message").inner_text()
    tab.page.reload()
    assert (decided(tab), tab.page.locator("#counts").inner_text()) == (ALL, "5 of 5 done, 1 unclear")
    assert tab.page.locator("#item-title").inner_text() == "Item 5 of 5"
    file = exported(tab, tmp_path)
    assert file.name == "ann.jsonl"
    people = read_people(file, SUITE)
    assert [(mark.verdicts, mark.overall) for mark in people.marks] == [((0.25, 1, 0), 10)]
    assert [pair.choice for pair in people.pairs] == ["tie"]
    opinions = [(opinion.question, opinion.is_reasonable) for opinion in people.opinions]
    assert opinions == [(1, False), (2, True), (None, True)]
    rows = read_rows(file, error=ChecklistError)
    assert (rows.rows[0].cells["comment"], rows.rows[-1].cells["unclear"]) == ("no 1 npu?", True)
    assert file.read_bytes() == export_lines(SHEET.header, [row.cells for row in rows.rows])


def test_begun_items_have_nulls_and_decisions_are_taken_back(open_tab, path, tmp_path):
    tab = open_tab(path)
    tab.press(*"qe")
    assert tab.page.locator(".options:has(:focus)").evaluate("(it) => getComputedStyle(it).outlineStyle") == "solid"
    tab.press(*"n1", *"n2", "z", "z")  # the second undo returns to the pair
    assert tab.page.locator("#item-title").inner_text() == "Item 2 of 5"
    tab.press("p", "Backspace", "l")
    assert tab.page.locator("#list-items .states").all_inner_texts() == ["begun", *["open"] * 4]
    kinds = tab.page.locator("#list-items .kind").all_inner_texts()
    assert kinds == ["mark", "pair of answers", "judge’s verdicts", "question", "damage"]
    tab.page.locator("#list-filter").select_option("open")
    tab.page.locator("#list-items button:visible").first.click()
    assert tab.page.locator("#item-title").inner_text() == "Item 2 of 5"
    _, row, end = map(json.loads, exported(tab, tmp_path).read_text().splitlines())
    assert (row["verdicts"], row["overall"], end) == ([0, 0.5, None], None, {"kind": "end", "rows": 1})


def test_an_export_goes_on_in_another_browser_and_wrong_files_are_refused(open_tab, path, tmp_path):
    first = open_tab(path)
    decide_all(first)
    file = exported(first, tmp_path)
    lines = file.read_bytes().splitlines(keepends=True)
    tab = open_tab(path)
    tab.press("e")  # another decision than that of the file
    message = tab.page.locator("#message")

    def imported(content: bytes, name: str = "x.jsonl"):
        tab.page.set_input_files("#file", {"name": name, "mimeType": "", "buffer": content})

    header = lines[0].replace(SHEET.sha256.encode(), b"0" * 64)
    for content, sentence in (
        (b"".join(lines[:-1]), "x.jsonl is cut off"),
        (b"".join(lines)[:-9], "x.jsonl is cut off"),
        (b"".join([header, *lines[1:]]), "x.jsonl belongs to another sheet"),
        (b"".join(lines).replace(b'"tie"', b'"both"'), "not an export of this page: line 3 cannot be read"),
        (b"\x00" * 100, "not an export of this page: line 1 cannot be read"),
    ):
        imported(content)
        message.get_by_text(sentence).wait_for()
    assert decided(tab)[0] == [0.5, None, None, None]
    imported(file.read_bytes(), "again.jsonl")
    assert tab.faults() == []
    tab.page.get_by_role("button", name="Those of this page").click()
    message.get_by_text("Imported items: 4").wait_for()
    assert decided(tab) == [[0.5, None, None, None], *ALL[1:]]
    imported(file.read_bytes())
    tab.page.get_by_role("button", name="Those of the file").click()
    message.get_by_text("Imported items: 1").wait_for()
    assert decided(tab) == ALL


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize(
    "options",
    [{}, {"viewport": {"width": 1400, "height": 900}}, {**PHONE, "color_scheme": "dark"}],
    ids=["wide", "usual", "phone"],
)
def test_the_page_fits_and_can_be_used_by_everybody(open_tab, path, language, options):
    tab = open_tab(path, **options)
    page = tab.page
    if options:
        assert page.locator("#guideline li").first.is_visible()  # at the first visit, above the item
        assert tab.faults() == []
        tab.press("Escape")
    if language == "ja":
        page.locator("#language").click()
    assert page.evaluate("[document.documentElement.lang, document.querySelector('.words').lang]") == [language, "en"]
    for _ in SHEET.items:
        assert page.evaluate("document.documentElement.scrollWidth === innerWidth")
        assert tab.faults() == []
        tab.press("n")
    assert "color_scheme" not in options or tab.page.evaluate(WHITE) == []
    for key in "l?":
        tab.press(key)
        assert tab.faults() == []
        tab.press("Escape")
    bars = page.locator("#head, #foot").evaluate_all("all => all.map(one => one.getBoundingClientRect().height)")
    assert "is_mobile" not in options or sum(bars) <= 130
    sizes = page.locator(".option").evaluate_all("all => all.map(one => one.getBoundingClientRect().height)")
    assert min(sizes) >= 44


def test_texts_and_questions_are_side_by_side_and_scroll_by_themselves(open_tab, tmp_path):
    long = "".join(f"Sentence {number} of a long answer.\n" for number in range(700))
    write_page(tmp_path / "page.html", sheet_page(sheet_of([mark_item(0, long), mark_item(1, long, "a2")])))
    page = open_tab(tmp_path / "page.html").page
    material, form, guideline = (page.locator(id).bounding_box() for id in ("#material", "#form", "#guideline"))
    assert material["x"] < form["x"] < guideline["x"]
    assert page.locator(".response .words").inner_text() == long.rstrip()
    page.evaluate("material.scrollTop = 5000")
    for key, top in (("n", 0), ("p", 5000)):
        page.keyboard.press(key)
        assert page.evaluate("material.scrollTop") == top
    page.keyboard.press("g")
    page.reload()
    assert not page.locator("#guideline").is_visible()  # as it was left


def test_without_storage_the_page_says_so_and_exports(open_tab, path, tmp_path):
    tab = open_tab(path)
    tab.page.add_init_script(FORBIDDEN_STORAGE)
    tab.page.reload()
    assert tab.page.locator("#warning").inner_text().startswith("This browser cannot save")
    decide_all(tab)
    assert len(exported(tab, tmp_path).read_text().splitlines()) == 8
    assert decided(tab) == ALL


def test_no_text_acts_and_a_megabyte_is_shown_at_once(open_tab, tmp_path):
    attack = f"</script><img src=x onerror=\"document.title='{INJECTED}'\"><!--\u202e"
    reference = "\n".join((*NAMES, "", "| a |", "| -: |", "| b |", "", attack))
    items = [mark_item(0, attack + "無限" * 500_000, instruction=attack, reference=reference)]
    sheet = sheet_of(
        items, guideline=f"# {attack}\n- {attack}", annotator=attack, levels=[{"value": 1, "text": attack}]
    )
    write_page(tmp_path / "page.html", sheet_page(sheet))
    page = open_tab(tmp_path / "page.html").page
    page.keyboard.press("q")
    assert page.evaluate("performance.now()") < 5000
    assert page.locator("img, .words a, .words button").count() == 0
    assert page.locator(".reference td").inner_text() == "b"
    assert INJECTED in page.locator(".instruction .words").inner_text()
    assert page.title() == "Annotation: own"
