import pytest
from makers.reported import HOSTILE, reported_run

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def path(made_page):
    return made_page(["org/a/1", "org/b/2", HOSTILE, HOSTILE])


def test_opening_and_closing_a_run_are_steps_of_address_and_title(open_tab, path):
    tab = open_tab(path)
    page = tab.page
    title = page.title()

    def check(is_open):
        selector = "dialog[open] .of-questions" if is_open else "#details:not([open])"
        page.wait_for_selector(selector, state="attached")
        expected = ("run=org/b/2", f"org/b/2 · {title}") if is_open else ("", title)
        assert (tab.fragment, page.title()) == expected

    page.get_by_title("org/b/2").click()
    check(is_open=True)
    page.go_back()
    check(is_open=False)
    page.go_forward()
    check(is_open=True)
    page.keyboard.press("Escape")
    check(is_open=False)
    page.go_back()
    check(is_open=True)


def test_a_page_of_one_or_two_runs_opens_on_them_until_they_are_closed(open_tab, made_page, mini):
    alone = open_tab(made_page(["org/a/1"])).page
    alone.wait_for_selector("dialog[open] .of-questions")
    assert alone.get_by_role("button", name="To the median").count() == 0  # it is itself
    tab = open_tab(made_page([reported_run(mini, "a", score=0.9, num_trials=10), reported_run(mini, "b")]))
    tab.page.wait_for_selector("dialog[open] .compared")
    for _ in range(2):
        tab.press("Escape")
        tab.page.wait_for_selector("#details", state="hidden")
        assert tab.page.get_by_role("link", name="1 with fewer than 10 trials").is_visible()
        tab.page.reload()


def test_every_state_is_read_back_from_its_address(open_tab, path):
    page = open_tab(path).page
    states = page.evaluate(
        """() => {
          const texts = ["", "a b", "&=#%+;..", "\\u65e5\\u672c", "1%2F2%ZZ", "__proto__"];
          const made = [];
          for (const run of [null, 0, 1, 2, 3])
            for (const compare of [null, [0, 1], [2, 3], [3, 0, 2, 1]])
              for (const text of texts) {
                const filters = new Map(text ? [[`x${text}`, text]] : []);
                const cause = text ? "loop" : null;
                    const opened = { run, compare, pair: text, brush: text, question: run, sample: run, cause };
                    const common = { ...opened, search: text, sort: text, filters };
                made.push({ ...common, tab: text ? "plots" : "", unknown: [] });
              }
          const plain = (state) => JSON.stringify({ ...state, filters: [...state.filters] }, Object.keys(state).sort());
          return made.map((state) => [plain(state), plain(readState(addressOf(state)))]);
        }"""
    )
    assert len(states) == 5 * 4 * 6
    assert all(before == after for before, after in states)


@pytest.mark.parametrize(
    ("fragment", "unknown"),
    [
        ("question=Q99&sample=1e9&tab=x", ["tab “x”", "question “Q99”", "answer with the number “1e9”"]),
        *((f"compare={it}", [f"runs to compare with the names “{it}”"]) for it in ("org/a/1..org/a/1", "..", "x")),
        ("run=<img src=x onerror=alert(1)>", ["run “<img src=x onerror=alert(1)>”"]),
        *((fragment, []) for fragment in ("run=", "plots", "__proto__=1&constructor=2", "x" * 10_000)),
    ],
)
def test_an_address_that_names_nothing_says_so_on_the_bare_page(open_tab, path, fragment, unknown):
    page = open_tab(path, f"#{fragment}").page
    assert page.locator("main .unknown").text_content() == "".join(f"This page has no {name}. " for name in unknown)
    assert page.locator("main .unknown").is_visible() == bool(unknown)
    assert page.locator("#details").is_hidden()
    assert page.locator("#runs tbody tr").count() == 4


def test_hostile_names_open_by_their_address_and_run_nothing(open_tab, path):
    tab = open_tab(path)
    rows = tab.page.locator("#runs tbody th a")
    rows.nth(3).click()
    tab.page.wait_for_selector("dialog[open] .of-questions")
    address = tab.fragment
    assert "<" not in address
    assert tab.page.title().startswith(HOSTILE)
    again = open_tab(path, f"#{address}")
    again.page.wait_for_selector("dialog[open] .of-questions")
    assert again.page.evaluate("state.run") == 3


@pytest.mark.parametrize("name", ["constructor", "__proto__", "toString"])
def test_a_parameter_may_have_any_name(open_tab, made_page, mini, name):
    path = made_page([reported_run(mini, "a", config={name: "x"}), reported_run(mini, "b", config={"mode": "qa"})])
    page = open_tab(path, f"#columns=parameter%20{name}").page
    assert page.locator(f'#runs td[data-column="parameter {name}"]').all_inner_texts() == ["x", "–"]


def test_the_theme_is_in_the_address_and_each_step_of_the_dialog_can_be_undone(open_tab, path):
    tab = open_tab(path, color_scheme="light")
    tab.page.locator("#theme").click()
    assert tab.fragment == "theme=dark"
    tab = open_tab(path, "#/theme=dark&run=org/a/1", color_scheme="light")
    assert tab.page.evaluate("document.documentElement.dataset.theme") == "dark"
    tab.page.locator("#next").click()
    assert tab.page.evaluate("state.run") == 1
    tab.page.go_back()
    assert tab.page.evaluate("state.run") == 0


def test_six_runs_are_compared_and_an_unknown_answer_is_named_in_the_dialog(open_tab, made_page):
    names = {name: f"an-organisation/a-model-of-many-letters-{name}" for name in "abcdef"}
    path = made_page([*names.values()])
    compared = "..".join(names[name] for name in "cadfbe")
    tab = open_tab(path, f"#compare={compared}", viewport={"width": 390, "height": 844})
    assert tab.page.locator(".compared li").count() == 6
    tab.page.get_by_text("Figures", exact=True).click()
    lines = tab.page.get_by_role("region", name="Figures of the runs").locator("tbody tr")
    assert lines.first.inner_text().split("\t")[:4] == ["Score · B", "0.8800", "0.9000", "-0.0200"]
    assert tab.page.evaluate("dialog.scrollWidth") == 390
    marks = tab.page.locator(".thirds .chart").first.locator("g").first.locator("svg svg path")
    assert len(set(marks.evaluate_all("(marks) => marks.map((mark) => mark.getAttribute('d'))"))) == 6
    titles = tab.page.locator("#details .plot .title")
    tab.page.locator("#details .plot").scroll_into_view_if_needed()
    titles.last.wait_for()
    assert [text[-8:] for text in titles.all_text_contents()] == ["etters-c", "etters-a"]
    ends = "(it) => [it, it.closest('.plot')].map((part) => part.getBoundingClientRect().right)"
    assert titles.first.evaluate(ends) == sorted(titles.first.evaluate(ends))  # nothing is cut off
    page = open_tab(path, f"#run={names['a']}&question=Q01&sample=77").page
    page.locator("#details .unknown", has_text="This page has no answer with the number “77”.").wait_for()
