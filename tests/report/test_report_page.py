import re

import pytest
from makers.pages import allowing
from makers.reported import FORMULA, HOSTILE, unlike_runs
from makers.reward_server import wait_until

pytestmark = pytest.mark.browser

RANKED = ["org/alpha/1", "org/alpha/2", "org/beta/1", "other/gamma/1", FORMULA, HOSTILE]


@pytest.fixture(scope="module")
def path(made_page, mini):
    return made_page(unlike_runs(mini))


def names(page):
    links = page.locator("#runs tbody tr:visible th a")
    return links.evaluate_all("(links) => links.map((link) => link.title)")


def drawn(page):
    if page.locator("#plots").is_hidden():
        page.get_by_role("link", name="Plots").click()
    plot = page.locator('.plot[data-kind="scatter"]').first
    plot.scroll_into_view_if_needed()
    plot.locator("svg").wait_for()
    return plot


def test_a_head_sorts_and_the_address_keeps_the_order(open_tab, path):
    tab = open_tab(path)
    for order, first in (("-length", ["system/ground-truth", "org/beta/1", HOSTILE]), ("length", ["org/alpha/2"])):
        tab.page.get_by_role("button", name="Length").click()
        assert tab.fragment == f"sort={order}"
        assert names(tab.page)[: len(first)] == first
        assert names(open_tab(path, f"#sort={order}").page) == names(tab.page)
    tab.page.go_back()
    tab.page.go_back()
    assert names(tab.page) == ["system/ground-truth", *RANKED]
    assert tab.page.locator('th[data-column="rank"]').get_attribute("aria-sort") == "ascending"
    assert tab.page.locator("#runs thead th").nth(5).inner_text().startswith("Trials")


def test_parameters_in_which_runs_differ_can_be_columns(open_tab, path):
    tab = open_tab(path, "#sort=parameter%20top_p")
    heads = tab.page.locator("#runs thead th")
    tab.page.locator("#show-filters").click()
    tab.page.locator("#columns").get_by_label("top_p").check()
    assert "top_p" in " ".join(heads.all_inner_texts())
    assert names(tab.page)[:3] == ["org/alpha/2", "org/alpha/1", "other/gamma/1"]  # those without one come last
    assert "columns=parameter%20top_p" in tab.fragment
    cells = open_tab(path, "#" + tab.fragment).page.locator('#runs tbody td[data-column="parameter top_p"]')
    assert cells.all_inner_texts()[:4] == ["0.9", "0.98", "0.98", "–"]


def test_a_score_says_its_interval_and_a_rank_its_range(open_tab, path):
    page = open_tab(path).page
    score = page.locator('#runs tbody tr:has([title="org/alpha/1"]) td[data-column="half"]')
    title = re.fullmatch(r"0\.8100, 95 % interval (0\.\d{4}) to (0\.\d{4})", score.get_attribute("title"))
    half = float(re.match(r"±(0\.\d{4})", score.inner_text())[1])
    assert half == pytest.approx((float(title[2]) - float(title[1])) / 2, abs=1e-4)
    ranges = page.locator('#runs tbody td[data-column="ranks"]').all_inner_texts()
    assert ranges == ["–", "1–2", "1–2", "3", "4", "5", "6"]


def test_the_search_finds_names_and_parameters(open_tab, path):
    tab = open_tab(path)
    search = tab.page.get_by_role("searchbox")
    search.press_sequentially("alpha")
    assert tab.fragment == "search=alpha"
    tab.page.go_back()  # what is typed in one go is one step
    assert (tab.fragment, search.input_value(), len(names(tab.page))) == ("", "", 7)
    for text, result in (("top_p", ["org/alpha/1", "org/alpha/2", "other/gamma/1"]), ("ALPHA chat", ["org/alpha/2"])):
        search.fill(text)
        assert names(tab.page) == result
        assert tab.page.locator("#count").inner_text() == f"{len(result)} of 7 runs"


def test_ctrl_k_offers_runs_questions_and_answers_without_a_change_of_the_page(open_tab, path):
    tab = open_tab(path)
    palette, options = tab.page.locator("#palette"), tab.page.get_by_role("option")
    tab.press("Control+k")
    tab.page.keyboard.type("beta")
    assert options.all_inner_texts()[0].startswith("org/beta/1")
    tab.page.keyboard.press("Control+a")
    tab.page.keyboard.type("Q07")
    assert options.first.inner_text().startswith("Q07")
    assert len(names(tab.page)) == 7
    tab.press("Enter")
    tab.page.wait_for_selector("#details[open]")
    assert (tab.fragment, palette.is_visible()) == ("question=Q07", False)
    tab.press("Control+k")
    tab.page.keyboard.type("an answer")
    options.filter(has_text="All answers").wait_for()
    excerpts = tab.page.get_by_role("group", name="Answers").get_by_role("option").all_inner_texts()
    assert (len(excerpts), "An answer" in excerpts[0]) == (6, True)
    assert tab.faults() == []
    options.filter(has_text="All answers").click()
    assert tab.fragment == "tab=answers&answers=an%20answer"
    tab.press("/")
    tab.page.keyboard.type("nowhere")
    tab.page.get_by_text("Nothing here contains “nowhere”.").wait_for()
    tab.press("Escape")
    assert palette.is_hidden()


def test_a_search_without_a_hit_says_so_and_shows_all(open_tab, path):
    page = open_tab(path, "#search=nowhere").page
    vain = page.locator("#vain")
    assert vain.inner_text().startswith("No run matches “nowhere”, so all are shown.")
    assert len(names(page)) == 7
    page.get_by_role("link", name="Questions").click()
    page.locator("#questions-table tbody").first.wait_for()
    assert vain.inner_text().startswith("No question matches “nowhere”, so all are shown.")
    page.get_by_role("searchbox").fill("q07")
    assert page.locator("#questions-table tbody:visible").count() == 1
    assert vain.is_hidden()
    page.get_by_role("searchbox").fill("")
    assert page.locator("#questions-table tbody:visible").count() == 8


def test_filters_without_a_run_draw_nothing(open_tab, path):
    page = open_tab(path, "#from=9").page
    assert page.locator("#none").is_visible()
    assert page.locator("#runs").is_hidden()
    for name, drawn_there in (("Plots", ".plot"), ("Heat map", "#heat"), ("Questions", "#questions-table")):
        page.get_by_role("link", name=name).click()
        assert page.locator("main > section:visible .none").inner_text() == "No run matches the search and the filters."
        assert page.locator(drawn_there).locator("visible=true").count() == 0
    page.get_by_role("link", name="Leaderboard", exact=True).click()
    page.locator("#none button").click()
    assert len(names(page)) == 7
    assert page.locator("#none").is_hidden()
    assert drawn(page).locator("svg").is_visible()


@pytest.mark.parametrize(
    ("fragment", "shown"),
    [
        ("from=0.5&to=0.8", ["org/alpha/2", "org/beta/1"]),
        ("best=yes", ["system/ground-truth", "org/alpha/1", *RANKED[2:]]),
        ("best=yes&parameter mode=chat", ["org/alpha/2"]),
        ("parameter top_p=–", ["system/ground-truth", "org/beta/1", FORMULA, HOSTILE]),
        ("too_long=50", ["org/beta/1"]),
        ("unhelpful=100", ["org/beta/1"]),
        ("missing=1&to=0.3", [FORMULA, HOSTILE]),
        ("from=nonsense", []),
        ("unknown=1&__proto__=2&toString=3", ["system/ground-truth", *RANKED]),
    ],
)
def test_filters_of_the_address_apply(open_tab, path, fragment, shown):
    assert names(open_tab(path, f"#{fragment}").page) == shown


def test_filters_of_the_form_come_into_the_address(open_tab, path):
    tab = open_tab(path)
    page = tab.page
    lowest, best = page.get_by_label("Score from"), page.get_by_label("Best run of each model")
    page.locator("#show-filters").click()
    page.locator('[data-filter="parameter mode"]').select_option("qa")
    lowest.fill("0.15")
    best.check()
    assert tab.fragment == "parameter%20mode=qa&from=0.15&best=yes"
    assert names(page) == ["org/alpha/1", "org/beta/1", FORMULA]
    assert "3 filters set" in page.locator("#show-filters").inner_text()
    page.go_back()
    assert not best.is_checked()
    page.locator("#filters .clear").click()
    assert (tab.fragment, lowest.input_value()) == ("", "")
    page.keyboard.press("Escape")
    assert not page.locator("#filters").is_visible()


@pytest.mark.parametrize("width", [1440, 1100, 390])
def test_nothing_is_cut_off_and_the_filters_leave_the_table_its_width(open_tab, path, width):
    page = open_tab(path, viewport={"width": width, "height": 900}).page
    assert page.evaluate("document.documentElement.scrollWidth") == width
    scroller = page.locator("#leaderboard .scroller")
    assert scroller.evaluate("(scroller) => scroller.scrollWidth - scroller.clientWidth") == 0
    assert page.locator("#runs tbody th").nth(1).bounding_box()["width"] > 100
    assert page.locator('#runs tbody td[data-column="ranks"]').first.is_visible()
    parts = "(cells) => cells.map((cell) => [cell.innerText, cell.scrollWidth > cell.clientWidth])"
    shown = page.locator("#runs tbody th").evaluate_all(parts)
    assert len({text for text, _ in shown}) == len(shown)
    assert not any(is_cut for _, is_cut in shown)
    assert width < 1440 or page.locator("#runs .whisker").nth(1).bounding_box()["width"] > 100
    assert page.locator("#runs tbody td[data-column=rank]").first.inner_text() == "ref."
    table = page.locator("#runs").bounding_box()
    page.locator("#show-filters").click()
    assert (page.locator("#filters").is_visible(), page.locator("#runs").bounding_box()) == (True, table)
    page.keyboard.press("Escape")
    page.get_by_role("link", name="Subjects", exact=True).click()
    assert page.locator("#subjects .tools").evaluate("(tools) => tools.scrollWidth - tools.clientWidth") == 0


def test_keys_step_through_the_runs_that_are_shown(open_tab, path):
    tab = open_tab(path, "#search=org&sort=-rank&run=org/beta/1&question=Q02")
    page = tab.page
    page.wait_for_selector("#details-body .of-questions")
    opened = "overview.runs[state.run].name"
    tab.press("j")
    assert page.evaluate(opened) == "org/alpha/2"
    assert "question=Q02" in tab.fragment
    tab.press("k", "k")
    assert page.evaluate(opened) == "org/beta/1"  # the first of those that are shown
    assert page.locator("#previous").is_disabled()
    page.locator("#next").click()
    assert page.evaluate(opened) == "org/alpha/2"
    tab.press("Escape")
    page.wait_for_selector("#details", state="hidden")
    assert tab.fragment == "search=org&sort=-rank"


def test_keys_move_in_the_table_stay_in_the_search_and_show_themselves(open_tab, path):
    tab = open_tab(path)
    search, keys = tab.page.get_by_role("searchbox"), tab.page.locator("#keys")
    tab.press("j", "j")
    assert tab.page.evaluate("document.activeElement.title") == "org/alpha/1"
    search.focus()
    tab.press("j", "?", "/")
    assert search.input_value() == "j?/"
    tab.press("Escape")
    assert search.input_value() == ""
    tab.press("?")
    assert keys.is_visible()
    tab.press("Escape")
    assert keys.is_hidden()


def test_the_link_is_copied_and_two_ticked_runs_are_compared(open_tab, path):
    tab = open_tab(path, "#/search=org", permissions=["clipboard-read", "clipboard-write"])
    assert drawn(tab.page).locator("g path").count() == 3  # search and filters apply to the plots
    tab.page.locator("header .copy-link").click()
    tab.page.get_by_text("Copied: a page on disk; send the file, too").wait_for()
    assert tab.page.evaluate("navigator.clipboard.readText()").endswith("report.html#/tab=plots&search=org")
    tab.page.get_by_role("link", name="Leaderboard", exact=True).click()
    tab.page.get_by_role("searchbox").fill("")
    tab.page.get_by_label("Compare org/beta/1").check()
    assert tab.page.locator("#compare").is_disabled()
    tab.page.get_by_label("Compare org/alpha/2").check()
    tab.page.locator("#compare").click()
    assert tab.fragment == "compare=org/alpha/2..org/beta/1"
    tab.page.wait_for_selector("#details[open] .of-questions")


def test_the_keyboard_moves_from_point_to_point_and_opens_their_runs(open_tab, path):
    tab = open_tab(path)
    plot, label = drawn(tab.page), "document.activeElement.ariaLabel"
    plot.locator("a").focus()
    assert tab.page.evaluate(label).startswith(HOSTILE[:20])  # the leftmost
    assert tab.page.locator("#tip").inner_text().split("\n") == tab.page.evaluate(label).split(", ")
    tab.press("ArrowLeft", "ArrowRight", "ArrowRight")  # the edge holds
    assert tab.page.evaluate(label) == "other/gamma/1, Fluency 0.4000, Truthfulness 0.6325"
    tab.press("End")
    assert tab.page.evaluate(label).startswith("system/ground-truth")
    lacking = (
        "aboutAnswers({ rules: ['k'], samples: runKeys.map((_, run) => ({ run, missing: ['k'].slice(run) })) })[1]"
    )
    assert "Missing" not in tab.page.evaluate(f"{lacking}.textContent")  # of the first run only, which is no model
    assert plot.locator("a").count() == 1
    box = plot.locator("a").bounding_box()
    rightmost = max(point.bounding_box()["x"] for point in plot.locator("g path").all())
    assert 0 < rightmost - box["x"] < box["width"]
    assert tab.faults() == []
    tab.press("Enter")
    tab.page.wait_for_selector("#details[open]")
    assert tab.fragment == "tab=plots&run=system/ground-truth"


def test_the_heat_map_is_one_stop_of_the_keyboard_and_its_cells_lead_to_answers(open_tab, path):
    tab = open_tab(path, "#tab=heat-map&order=number")
    page = tab.page
    page.locator("#heat").scroll_into_view_if_needed()
    page.wait_for_selector("#heat [role=grid]")
    grid = page.locator("#heat [role=grid]")
    assert (grid.get_attribute("aria-rowcount"), grid.get_attribute("aria-colcount")) == ("8", "7")
    stops = page.locator("#heat :is(a, button, [tabindex])")
    assert stops.evaluate_all("(all) => all.filter((one) => one.tabIndex >= 0).length") == 1
    page.locator("#heat-map select").last.focus()
    tab.press(*["Tab"] * 4, "ArrowDown", "ArrowDown", "ArrowRight", "ArrowUp")
    label = page.evaluate("document.activeElement.ariaLabel")
    assert re.match(r"org/alpha/1, Q02 .*, Score 0\.\d{4}, 0\.\d{4} (above|below) the question’s median$", label)
    assert page.evaluate("document.activeElement.closest('[role=row]').ariaRowIndex") == "2"
    tab.press("End", "End")  # the edge holds
    assert page.evaluate("document.activeElement.ariaLabel").startswith(HOSTILE[:20])
    tab.press("Home", "Enter")
    page.wait_for_selector("#details-body .opened")
    assert tab.fragment == "tab=heat-map&run=system/ground-truth&question=Q02&order=number"
    tab.press("Escape")
    cell = page.evaluate("document.querySelector('#heat [role=grid] a').offsetWidth")
    page.locator(".heat-field").click(position={"x": 1.5 * cell, "y": 2.5 * 20})
    page.wait_for_selector("#details[open]")
    assert tab.fragment == "tab=heat-map&run=org/alpha/1&question=Q03&order=number"
    tab.press("Escape")
    assert page.locator(".heat-above a").nth(1).inner_text().startswith("alpha")  # without its organisation
    turned = "(it) => (it.parentNode.className = 'turned', getComputedStyle(it).textOverflow)"
    assert page.locator(".heat-above bdi").first.evaluate(turned) == "ellipsis"  # of a name without enough space
    page.locator(".heat-above a").nth(1).click()
    assert tab.fragment == "tab=heat-map&run=org/alpha/1&order=number"


def test_questions_are_ordered_by_difficulty_and_colours_may_be_relative(open_tab, path):
    tab = open_tab(path, "#tab=heat-map")
    page = tab.page
    page.wait_for_selector("#heat .heat-cells")

    def order():
        return [text[:3] for text in page.locator(".heat-beside a").all_inner_texts()]

    means = """Object.fromEntries(overview.questions.map(({ id }, number) =>
      [id, mean(overview.runs.map((run) => run.questions[number]))]))"""
    hardest_first = order()
    assert hardest_first == sorted(hardest_first, key=page.evaluate(means).__getitem__)
    for name in ("discrimination", "similarity"):
        page.locator('[data-filter="order"]').select_option(name)
        wait_until(lambda name=name: page.evaluate("orderedQuestions.asked.trim()") == name)
        assert sorted(order()) == sorted(hardest_first)
    page.locator('[data-filter="order"]').select_option("number")
    page.locator(".heat-beside a:nth-child(2)", has_text="Q02").wait_for()
    assert order() == sorted(hardest_first)
    page.locator('[data-filter="colours"]').select_option("median")
    assert tab.fragment == "tab=heat-map&order=number&colours=median"
    page.locator("#heat-legend", has_text="-").wait_for()
    assert page.evaluate("titledMap(heat).firstChild.textContent") == "Scores of questions by run, by number"


def test_a_heat_map_of_many_runs_has_them_down_and_draws_only_what_is_near_the_view(open_tab, made_page):
    tab = open_tab(made_page([f"org/model-{number:03}/x" for number in range(300)]), "#tab=heat-map&order=number")
    page = tab.page
    page.wait_for_selector("#heat .heat-cells")
    assert page.locator(".heat-above a").all_inner_texts() == [f"Q0{number}" for number in range(1, 9)]
    assert page.locator(".heat-beside a").count() < 100
    shown = page.locator(".heat-cells text").first.text_content().split()
    assert shown == page.evaluate("overview.runs[0].questions.map((score) => figure(score, 2).replace(/^0/, ''))")
    page.locator("#heat").evaluate("(heat) => heat.scrollTo(0, 250 * 20)")
    name = page.locator(".heat-beside a", has_text="model-255")
    name.wait_for()
    assert abs(name.bounding_box()["y"] - page.locator("#heat").bounding_box()["y"]) < 300
    assert page.locator(".heat-beside a", has_text="model-000").count() == 0
    assert page.locator(".heat-above a").first.bounding_box()["y"] >= page.locator("#heat").bounding_box()["y"]
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("#heat text", has_text="org/model-").count() == 300
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator(".heat-beside a").count() < 100
    assert page.evaluate(
        """Object.entries(TEXTS_ALIKE).every(([scale, alike]) => alike.every((like, level) => {
          const [a, b] = [level, like].map((one) => make("i", { className: `on-${scale}-${one}` }));
          document.body.append(a, b);
          return getComputedStyle(a).color === getComputedStyle(b).color;
        }))"""
    )


def test_all_of_many_rows_and_cells_are_reached_and_follow_order_and_search(open_tab, made_page):
    tab = open_tab(made_page([f"org/model-{number:03}/x" for number in range(300)]))
    page = tab.page
    bottoms = "(rows) => rows.map((row) => row.getBoundingClientRect().bottom)"
    assert sum(0 < end <= 900 for end in page.locator("#runs tbody tr").evaluate_all(bottoms)) >= 20
    page.get_by_role("link", name="Heat map").click()
    page.locator("#heat [role=grid] a").focus()
    tab.press(*["ArrowDown"] * 5, "End")
    for _ in range(300):
        tab.press("ArrowDown")
    assert page.evaluate("document.activeElement.ariaLabel").startswith("org/model-299/x, ")
    box = page.evaluate("(({ top, bottom }) => [top, bottom])(document.activeElement.getBoundingClientRect())")
    assert 0 <= box[0] < box[1] <= 901
    page.get_by_role("link", name="Leaderboard", exact=True).click()
    page.get_by_role("button", name="Run", exact=True).click(click_count=2)
    page.locator("#runs tbody tr:nth-child(300)").wait_for()
    assert names(page) == [f"org/model-{number:03}/x" for number in reversed(range(300))]
    assert page.evaluate("shownCells(table).slice(1).every((cells) => cells[2] === figure(Number(cells[2]), 4))")
    page.get_by_role("searchbox").fill("model-14")
    assert names(page) == [f"org/model-14{number}/x" for number in reversed(range(10))]


def test_the_leaderboard_is_printed_whole_and_an_open_run_once_with_its_tints(open_tab, made_page):
    path = made_page([f"org/model-{number}/x" for number in range(120)])
    tab = open_tab(path)
    page = tab.page
    assert tab.n_printed() >= 3
    plain = open_tab(path, java_script_enabled=False).page
    assert [plain.locator(names).count() for names in ("tbody tr:visible", ".on-screen:visible")] == [120, 0]
    page.emulate_media(media="print")
    assert page.locator("#runs thead").evaluate("(it) => getComputedStyle(it).display") == "table-header-group"
    assert page.locator("nav, .save, #search, .tick").locator("visible=true").count() == 0
    tab = open_tab(path, "#run=org/model-3/x")
    page = tab.page
    wait_until(lambda: page.evaluate("paper.nodes.length > 0"))
    assert tab.n_printed() <= 2
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("#details-body .answer").count() == 3  # its worst ones
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("#details-body .answer").count() == 0
    page.locator("#details-body .of-questions tbody button").first.click()
    page.wait_for_selector("#details-body .answer")
    page.keyboard.press("Tab")
    page.emulate_media(media="print")
    (title,) = page.locator("#runs:visible, #details-title:visible").all_inner_texts()
    assert title.startswith("org/model-3/x\nQ01 ")
    style = "(it) => [getComputedStyle(it).printColorAdjust, getComputedStyle(document.activeElement).outlineStyle]"
    assert page.locator(".answer").first.evaluate(style) == ["exact", "none"]


@pytest.mark.parametrize(
    ("fragment", "ready", "height"),
    [
        ("", "#runs", 900),
        ("#tab=questions", "#questions-table tbody", 3000),
        ("#tab=heat-map", "#heat .heat-cells", 3000),
        ("#tab=plots", ".plot svg", 3000),
        ("#tab=answers&answers=answer", "#found li", 3000),
        ("#search=nowhere", "#vain", 900),
        ("#run=org/alpha/1&question=Q02&cause=wording", "#details-body .answer", 900),
        ("#question=Q02", "#details-body .answer", 900),
        ("#compare=org/alpha/1..org/beta/1&question=Q02", ".brushed .answer", 900),
    ],
)
def test_axe_finds_nothing(open_tab, path, fragment, ready, height):
    tab = open_tab(path, fragment, viewport={"width": 1440, "height": height})
    tab.page.wait_for_selector(ready)
    tab.page.locator("#filters").evaluate("(filters) => filters.showPopover()")
    for scheme in ("light", "dark"):
        tab.page.emulate_media(color_scheme=scheme)
        assert tab.faults() == []


def test_no_script_but_ours_runs_even_if_it_got_into_the_page(open_tab, path, tmp_path):
    attacks = "<script>document.title = 'pwned'</script><img src=x onerror=\"document.title = 'pwned'\">"
    listener = "({ violatedDirective }) => refused.push(violatedDirective)"
    seen = f"window.refused = []; addEventListener('securitypolicyviolation', {listener});"
    text = path.read_text(encoding="utf-8").replace("<body>", f"<body>{attacks}")
    (tmp_path / "attacked.html").write_text(allowing(text, seen), encoding="utf-8")
    tab = open_tab(tmp_path / "attacked.html")
    assert tab.page.title() == "pfgen-fast report: 7 runs, mini"
    assert tab.page.locator("#runs tbody").get_by_text(HOSTILE).count() == 1
    assert set(tab.page.evaluate("refused")) >= {"script-src-elem", "script-src-attr", "img-src"}
    tab.problems.clear()
