"""The page of a test of evaluators in a browser: it fits, can be used by everybody, and examples open."""

from __future__ import annotations

import pytest
from makers.discernments import METRICS, a_discernment
from pfgen_fast.report.discernment import write_discernment

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    found = [a_discernment(weights="assumed"), a_discernment("judge", metrics=METRICS[:2], seed=1)]
    first, *_ = write_discernment(found, tmp_path_factory.mktemp("page"))
    return first


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1100, 390])
def test_the_page_fits_and_can_be_used_by_everybody(open_tab, page, scheme, width):
    tab = open_tab(page, viewport={"width": width, "height": 800}, color_scheme=scheme)
    tab.page.locator(".comparison summary").first.click()
    assert tab.page.evaluate("document.documentElement.scrollWidth") == width
    assert tab.faults() == []


def test_examples_are_hidden_until_their_kind_is_opened(open_tab, page):
    tab = open_tab(page)
    changes = tab.page.locator(".comparison ins")
    assert not changes.first.is_visible()
    tab.page.locator(".comparison summary").first.focus()
    tab.page.keyboard.press("Enter")
    assert changes.first.is_visible()
    assert changes.first.inner_text() == "へ"


def test_original_and_damaged_text_stand_side_by_side_where_there_is_room(open_tab, page):
    for width, are_beside in ((1100, True), (390, False)):
        tab = open_tab(page, viewport={"width": width, "height": 800})
        tab.page.locator(".comparison summary").first.click()
        boxes = [box.bounding_box() for box in tab.page.locator(".pair").first.locator(".compared").all()]
        assert (boxes[0]["y"] == boxes[1]["y"]) == are_beside


def test_a_dark_page_has_nothing_white(open_tab, page):
    tab = open_tab(page, color_scheme="dark")
    white = """() => [...document.querySelectorAll("body, body *")].filter(element => {
        const { backgroundColor, fill } = getComputedStyle(element);
        const isShape = element instanceof SVGGeometryElement && !element.closest("defs, clipPath");
        return backgroundColor === "rgb(255, 255, 255)" || (isShape && fill === "rgb(255, 255, 255)");
    }).map(element => element.outerHTML)"""
    assert tab.page.evaluate(white) == []
