"""The comparison of runs in a browser: which questions are brushed, which words differ, and curves over steps."""

import re

import pytest
from makers.reported import checkpoints

pytestmark = pytest.mark.browser

MARKED = """(texts) => {
  const lists = texts.map(unitsOf);
  return differences(...lists).map((only, side) =>
    lists[side].map((unit, place) => only[place] ? `[${unit}]` : unit).join("").replaceAll("][", ""));
}"""


@pytest.fixture(scope="module")
def path(made_page, mini):
    return made_page(checkpoints(mini))


@pytest.mark.parametrize(
    ("texts", "marked"),
    [
        (("the red car stops", "the blue car stops"), ["the [red] car stops", "the [blue] car stops"]),
        (("a red car", "a blue truck"), ["a [red car]", "a [blue truck]"]),  # the space between is no word that stays
        (("one two, three", "two, three four"), ["[one ]two, three", "two, three[ four]"]),
        (("氷は水に浮く。", "氷は油に沈む。"), ["氷は[水に浮く]。", "氷は[油に沈む]。"]),
        (("same", "same"), ["same", "same"]),
        (("", "new"), ["", "[new]"]),
        (("x " * 900, "y " * 900), [f"[{'x ' * 499}x] {'x ' * 400}", f"[{'y ' * 499}y] {'y ' * 400}"]),  # in part
    ],
)
def test_words_that_only_one_answer_has_are_marked(open_tab, path, texts, marked):
    page = open_tab(path).page
    assert page.evaluate(MARKED, texts) == marked
    assert page.evaluate(MARKED, texts[::-1]) == marked[::-1]


def drag(page, *places):
    for place, act in zip(places, (page.mouse.down, page.mouse.up), strict=True):
        page.mouse.move(*place, steps=3)
        act()


def brushed(page):
    return page.locator(".brushed section h4 b").all_inner_texts()


def test_a_pair_shows_the_questions_that_differ_most_and_brushing_chooses_others(open_tab, path):
    tab = open_tab(path, "#/compare=lab/a/20..lab/a/30")
    page = tab.page
    title = page.locator("#details-body h3").last
    page.locator(".brushed .only").first.wait_for()
    assert title.inner_text() == "From A to B, 6 of the 8 questions rose and 2 fell. The 5 questions that differ most"
    assert brushed(page)[:2] == ["Q03", "Q06"]
    verdict = page.locator("#details-body h3").first.inner_text()
    assert verdict.startswith("Not distinguished: B - A is -0.0288, 95 % interval of B - A -")
    assert re.fullmatch(r"-0\.0288 \(-0\.\d{4} to \+0\.\d{4}\)", page.locator(".figure").first.text_content())
    assert page.locator(".thirds .interval").count() == 1  # of the difference, not of the means
    assert page.locator(".thirds .groups li:visible").all_inner_texts() == ["○ B - A not distinguished from 0"] * 2
    page.get_by_role("button", name="Fell: 2").click()
    assert (title.inner_text(), brushed(page)) == ("Fell: 2 questions", ["Q03", "Q06"])
    assert tab.fragment == "compare=lab/a/20..lab/a/30&brush=:first"
    first = page.locator(".brushed section").first
    assert first.locator(".only").all_inner_texts() == ["red", "blue"]
    assert first.locator(".sample-head b").all_inner_texts() == ["A: 0.5000 × 3", "B: 0.5000 × 3", "A reference answer"]
    page.locator(".pair tbody", has_text="Q01").get_by_role("checkbox").check()
    assert sorted(brushed(page)) == ["Q01", "Q03", "Q06"]
    assert brushed(open_tab(path, f"#/{tab.fragment}").page) == brushed(page)
    page.go_back()
    assert brushed(page) == ["Q03", "Q06"]
    page.get_by_role("button", name="Clear").click()
    assert len(brushed(page)) == 5
    assert tab.faults() == []
    page.emulate_media(media="print")
    assert page.locator(".pair thead").inner_text().split() == ["Question", "A", "B", "B", "-", "A"]
    assert page.locator(".thirds .tall").evaluate("e => e.clientWidth > 999 && getComputedStyle(e).maxHeight") == "none"


def test_points_of_the_scatter_are_brushed_by_pointer_and_keyboard(open_tab, path):
    tab = open_tab(path, "#/compare=lab/a/20..lab/a/30")
    page = tab.page
    drawing = page.locator("#details-body .plot svg")
    drawing.wait_for()
    box = drawing.bounding_box()
    drag(page, (box["x"] + 62, box["y"] + box["height"] - 50), (box["x"] + box["width"] - 2, box["y"] + 2))
    page.get_by_text("Chosen: 8 questions").wait_for()
    assert drawing.evaluate("(it) => getComputedStyle(it).userSelect") == "none"
    assert re.fullmatch(r"compare=lab/a/20\.\.lab/a/30&brush=:(-?[\d.]+,){3}[\d.]+", tab.fragment)
    page.locator("#details-body .plot .point").focus()
    tab.press("ArrowRight", "ArrowRight")
    label = page.evaluate("document.activeElement.ariaLabel")
    assert page.evaluate("dialog.contains(tip) && !tip.hidden")
    tab.press("Enter")
    page.get_by_text("Chosen: 1 question", exact=True).wait_for()
    assert brushed(page) == [label[:3]]
    assert page.evaluate("document.activeElement.className") == "point"


def test_the_pair_of_several_runs_is_chosen(open_tab, path):
    tab = open_tab(path, "#/compare=lab/a/20..lab/a/30..lab/a/10")
    assert "interval" not in tab.page.locator(".compared").inner_text()
    assert tab.page.get_by_text("its 95 % interval (Holm, 2 comparisons) over 8 questions.").is_visible()
    tab.page.get_by_label("Pair").focus()
    tab.page.get_by_label("Pair").select_option("A against C")
    tab.page.get_by_role("button", name="C better: 0").wait_for()
    assert tab.fragment.endswith("&pair=AC")
    assert tab.page.evaluate("document.activeElement.tagName") == "SELECT"
    assert tab.page.locator("figcaption", has_text="A against C by question").is_visible()
    assert tab.page.locator(".pair thead th").all_inner_texts()[-1].startswith("A - C")


def test_a_step_of_a_curve_is_brushed_to_see_what_it_lost(open_tab, path):
    tab = open_tab(path, viewport={"width": 1440, "height": 2400})
    page = tab.page
    cell = page.locator('#runs tbody tr:has([title="lab/a/30"]) td[data-column="steps"]')
    assert cell.inner_text().strip() == "30"
    assert cell.locator("svg + span").is_visible()  # the number stands below the head
    for step in (30, 20):
        page.get_by_label(f"Compare lab/a/{step}").check()
    assert page.evaluate("tickedRuns().map((run) => overview.runs[run].name)") == ["lab/a/20", "lab/a/30"]
    assert "Scores of lab/a by step: 0.5" in cell.locator("svg").get_attribute("aria-label")
    page.get_by_role("link", name="Steps").click()
    curve = page.locator('#sweep .plot[data-metric="score"] svg')
    curve.wait_for()
    multiples = page.locator(".multiples li")
    multiples.first.wait_for()
    assert [text.split()[0] for text in multiples.all_inner_texts()][:2] == ["Q03", "Q06"]
    assert tab.faults() == []
    last = curve.locator("g path").last.bounding_box()
    drag(page, (last["x"] - 15, last["y"] - 15), (last["x"] + 15, last["y"] + 15))
    page.get_by_text("6 of the 8 questions rose and 2 fell").wait_for()
    assert tab.fragment == "tab=sweep&compare=lab/a/20..lab/a/30"
    page.go_back()
    multiples.first.locator("a").click()
    page.get_by_text("Chosen: 1 question", exact=True).wait_for()
    assert brushed(page) == ["Q03"]


def test_runs_without_a_common_question_say_so(open_tab, made_page, mini):
    runs = checkpoints(mini)[:2]
    for place, run in enumerate(runs):
        for key in [*run.result.questions][place::2]:
            del run.result.questions[key]
    page = open_tab(made_page(runs), "#/compare=lab/a/10..lab/a/20").page
    page.get_by_text("B has no question in common with A").wait_for()
    page.get_by_text("The 0 questions that differ most").wait_for()
