"""The page of discernment in a browser: questions of readers, and the clicks that their answers take."""

import pytest
from makers.pages import leave_out_drawing
from pfgen_fast.report.discernment import write_discernment
from report.discernments import a_discernment

pytestmark = pytest.mark.browser


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
    sentence = page.locator("#answer p", has_text="not noticed")
    assert is_in_view(page, sentence)
    assert "not noticed by some score: statements negated" in sentence.inner_text()
    assert page.evaluate("performance.now()") < 3000
    is_wide = size[0] == 1400
    assert is_in_view(page, page.locator(".example .compared")) or not is_wide
    assert is_in_view(page, page.locator(".heat-map th", has_text="characters deleted")) or not is_wide


def test_the_heat_map_is_a_table_in_words_and_everything_behind_the_verdicts_is_folded(open_tab, path):
    page = open_tab(path, viewport={"width": 1400, "height": 900}).page
    cells = page.locator(".heat-map tr", has_text="statements negated").locator("td").nth(2).locator("span")
    assert cells.all_inner_texts() == ["0.0"] * 5
    assert cells.last.get_attribute("title").startswith("all statements negated, helpfulness: mean drop 0.000")
    assert page.locator(".example del").all_inner_texts() == ["deleted", "に"]
    folded = page.locator("main > details > summary h2").all_inner_texts()
    assert folded[:4] == [
        "Verdicts: the lightest damage that each score notices",
        "Pictures",
        "The figures in words",
        "Examples of ngram: the largest and the smallest drop of each score",
    ]
    assert page.locator("main > details[open] h2").all_inner_texts() == [folded[0]]
    row = page.locator("#verdicts tr", has_text="statements negated").locator("td")
    assert row.all_inner_texts() == ["statements negated", "20 %", "20 %", "no (0.0)", "20 %"]
    assert not page.locator("#profile table").is_visible()
