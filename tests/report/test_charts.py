"""The chart functions that pages share, each drawn into a page of runs."""

import random

import numpy as np
import pytest
from pfgen_fast.base.table import figure, signed

pytestmark = pytest.mark.browser

BARS = """[
  { name: "median", total: 0.8, text: "0.800" },
  { name: "empty", value: -0.2, text: "-0.200", isFault: true, href: "#/a" },
  { name: "wording", value: -0.1, text: "-0.100" }, { name: "length", value: 0.1, text: "+0.100" },
  { name: "this run", total: 0.6, text: "0.600" }]"""
ROWS = """[
  { name: "A", value: 0.5, low: 0.4, high: 0.6, text: "0.5" },
  { name: "<b>B", value: null, low: null, high: null, text: "–" }]"""


@pytest.fixture
def tab(open_tab, made_page):
    return open_tab(made_page(["org/a/1", "org/b/2"]), "#")


def add(tab, chart):
    tab.page.evaluate(f"document.querySelector('main').prepend({chart})")
    return tab.page.locator("main > svg").first


@pytest.mark.parametrize("width", [1440, 390])
def test_bars_of_a_waterfall_begin_where_the_last_one_ends_and_agree_with_the_ticks(tab, width):
    tab.page.set_viewport_size({"width": width, "height": 900})
    chart = add(tab, f"waterfall({BARS}, {{ label: 'Losses' }})")
    bars = chart.locator("rect:not(.hit)")
    names = bars.evaluate_all("(bars) => bars.map((bar) => bar.getAttribute('class')).join(' ')")
    assert names == "total fault fall rise total"
    ends = bars.evaluate_all(
        "(bars) => bars.map((bar) => [bar.getBoundingClientRect().left, bar.getBoundingClientRect().right])"
    )
    # Totals are narrow marks; the ticks, from 0.5 to 0.8, say that the axis does not begin at 0.
    ticks = chart.locator("text.value")
    boxes = ticks.evaluate_all("(ticks) => ticks.map((tick) => tick.getBoundingClientRect())")
    centers = [box["left"] + box["width"] / 2 for box in boxes]
    numbers = list(map(float, ticks.all_text_contents()))
    values = [(0.8, 0.8), (0.6, 0.8), (0.5, 0.6), (0.5, 0.6), (0.6, 0.6)]
    for (left, right), between in zip(ends, values, strict=True):
        assert [left, right] == pytest.approx(np.interp(between, numbers, centers), abs=2.5)
    link = chart.get_by_role("link")
    assert link.get_attribute("aria-label") == "empty: -0.200"
    link.focus()  # its ring is around its row, without the line to the next
    style = "(it) => getComputedStyle(it).outlineStyle + getComputedStyle(it.querySelector('.hit')).stroke"
    assert link.evaluate(style).startswith("nonergb(")
    stroke = "(name) => getComputedStyle(name).stroke"  # would break its underline
    assert link.locator("text").first.evaluate(stroke) == "none"
    assert width < 1000 or chart.bounding_box()["width"] == 832  # figures stand near their bars
    assert tab.faults() == []


def test_dots_without_a_value_keep_their_row_and_texts_stay_texts(tab):
    chart = add(tab, f"dots({ROWS}, {{ label: 'Scores' }})")
    assert chart.locator("circle").count() == 1
    assert chart.locator("[role=img]").evaluate_all("(all) => all.map((it) => it.ariaLabel)") == ["A: 0.5", "<b>B: –"]
    assert tab.faults() == []


def test_a_sparkline_says_its_values_and_breaks_where_one_is_missing(tab):
    line = add(tab, "sparkline([0.1, 0.3, null, 0.2], { label: 'Score' })")
    assert line.get_attribute("aria-label") == "Score 0.100 to 0.200, lowest 0.100, highest 0.300"
    assert line.locator(".line").get_attribute("d").count("M") == 2
    assert tab.page.evaluate("sparkline([null]).ariaLabel") == "no values"


def test_a_drag_over_a_scatter_is_a_range_of_its_values_and_a_click_opens_a_point(tab):
    page = tab.page
    page.evaluate("""() => {
      const element = make("div", { className: "plot", id: "drawn" });
      document.querySelector("main").prepend(element);
      const points = [0.1, 0.2, 0.7].map((x, run) => ({ x, y: x / 2, text: [`point ${run}`], opens: { run } }));
      window.brushed = [];
      drawChart(element, {
        label: "Scatter", x: { title: "A" }, y: { title: "B" }, hasDiagonal: true,
        onBrush: (range) => brushed.push(range),
        series: [{ symbol: "circle", color: "#3b82f6", size: 5, points }],
      });
    }""")
    points = page.locator("#drawn g path")
    boxes = [points.nth(number).bounding_box() for number in (0, 1)]
    page.mouse.move(boxes[0]["x"] - 20, boxes[0]["y"] + 30)
    page.mouse.down()
    page.mouse.move(boxes[1]["x"] + 20, boxes[1]["y"] - 20, steps=3)
    page.mouse.up()
    (range_,) = page.evaluate("brushed")
    assert range_["x"][0] < 0.1 < 0.2 < range_["x"][1] < 0.7
    assert range_["y"][0] < 0.05 < 0.1 < range_["y"][1] < 0.35
    assert tab.fragment == ""
    page.locator("#drawn svg").click(position={"x": 70, "y": 20})
    assert page.evaluate("brushed.at(-1)") is None
    points.nth(1).click()
    assert tab.fragment == "run=org/b/2"


def test_figures_have_the_digits_of_the_terminal(tab):
    rng = random.Random(0)
    ties = [0.5, 1.5, 2.5, 0.125, -0.125, 0.375, 0.0625, -0.00004, 0.00005, -0.0, 0.0, 1234567.5]
    values = ties + [rng.uniform(-2, 2) for _ in range(200)] + [rng.randrange(-4096, 4096) / 1024 for _ in range(200)]
    vectors = [(value, digits) for value in values for digits in range(5)]
    shown = tab.page.evaluate("(all) => all.map(([value, n]) => [figure(value, n), signed(value, n)])", vectors)
    assert shown == [[figure(*vector), signed(*vector)] for vector in vectors]
    ticks = "(values) => axisOf({}, values, 0, 100).ticks.map(({ name }) => name)"
    assert tab.page.evaluate(ticks, [0, 2000]) == ["0", "500", "1,000", "1,500", "2,000"]


def test_tables_of_texts_have_figures_to_the_right_and_are_sorted_by_their_heads(tab):
    lines = '[["a2", "0.5 ±0.1"], ["a10", "–"], ["a1", "1,200"], ["b", "-3.5"], ["c", "0.5"]]'
    tab.page.evaluate(f"document.querySelector('main').prepend(smallTable(['Name', 'Score'], {lines}))")
    table = tab.page.locator("main table").first
    heads, names = table.locator("thead button"), table.locator("tbody th")
    assert table.locator("td").first.evaluate("(cell) => getComputedStyle(cell).textAlign") == "right"
    for head, orders in ((0, ["a1 a2 a10 b c", "c b a10 a2 a1"]), (1, ["a1 c a2 b a10", "b c a2 a1 a10"])):
        for order in orders:
            heads.nth(head).click()
            assert names.all_inner_texts() == order.split()
    assert table.locator("th[aria-sort]").all_inner_texts() == ["Score"]
    assert tab.faults() == []
