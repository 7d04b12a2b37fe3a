import json
import re
from dataclasses import replace

import numpy as np
import pytest
from makers.reported import made_result, reported_run
from makers.reward_server import wait_until
from pfgen_fast import Suite
from pfgen_fast.base.untrusted_text import harmless_with_tints
from pfgen_fast.report import ReportRun, write_report
from pfgen_fast.report.site import Site
from pfgen_fast.report.site_server import SiteServer
from pfgen_fast.runs.run_result import parse_result
from pfgen_fast.runs.statistics.paired_tests import paired_difference
from pfgen_fast.runs.statistics.verdicts import decided
from pfgen_fast.scoring.tinting import QuestionTints
from pfgen_fast.suite.units import PatternTokenizer

pytestmark = pytest.mark.browser

SHOWN = """async (question) => {
  const answers = await answersTo(question);
  return answers.samples.map((sample) => {
    const { points, levels, marked } = shownPoints(sample, answers);
    return { run: sample.run, text: points.join(""), tints: levels.join(""), marked: [...marked].join("") };
  });
}"""


def varied(suite, name, seed, n_answers=5):
    random = np.random.default_rng(seed)
    result = made_result(suite, answers=["x"] * n_answers, score=float(round(random.random(), 4)))
    for key, question_result in result["questions"].items():
        references = [answer for answers in suite[key].answers.values() for answer in answers]
        question_result["score"] = float(round(random.random(), 4))
        question_result["scores"] = {**question_result["scores"], "average": question_result["score"]}
        for sample in question_result["samples"]:
            pieces = [references[random.integers(len(references))][random.integers(20) :] for _ in range(3)]
            odd = random.choice(["", "zzz", "氷\n", "👩‍🔬", "\u202e", "\x07<b>", "\ud800"])
            pieces.insert(random.integers(4), str(odd))
            sample["answer"] = "".join(pieces)[: random.integers(300)]
            sample["scores"] = {**sample["scores"], "average": float(round(random.random(), 5))}
    return ReportRun(name, None, parse_result(result, name))


@pytest.fixture(scope="module")
def runs(mini):
    return [varied(mini, f"org/run-{seed}", seed) for seed in range(4)]


@pytest.fixture(scope="module")
def path(made_page, runs):
    return made_page(runs)


def shown_in_python(suite, runs, number):
    question = suite.questions[number]
    by_score = sorted(runs, key=lambda run: -run.result.score)
    texts = [sample.answer for run in by_score for sample in run.result.questions[question.question_id].samples]
    created = zip(texts, QuestionTints(question).levels(texts), strict=True)
    return [harmless_with_tints(text, levels) for text, levels in created]


def shown_in(page, number):
    return [(sample["text"], sample["tints"]) for sample in page.evaluate(SHOWN, number)]


def test_the_browser_tints_as_python_does(open_tab, path, mini, runs):
    page = open_tab(path).page
    seen = set()
    for number in range(len(mini)):
        shown = shown_in(page, number)
        assert shown == shown_in_python(mini, runs, number)
        seen.update(level for _, levels in shown for level in levels)
    assert seen == set("012345x")
    shares = [0, 0.00499, 0.005, 0.0199, 0.02, 0.0499, 0.05, 0.1, 0.1001, 0.25, 0.2501, 1]
    levels = page.evaluate("(shares) => shares.map((share) => tintLevel(share, overview.bounds))", shares)
    assert levels == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]


def test_the_browser_tints_answers_in_tokens(open_tab, mini, tmp_path):
    suite = Suite("words", [replace(question, tokenizer=PatternTokenizer("words")) for question in mini])
    runs = [varied(suite, f"run-{seed}", seed) for seed in range(2)]
    write_report(runs, suite, tmp_path / "tokens.html")
    assert shown_in(open_tab(tmp_path / "tokens.html").page, 1) == shown_in_python(suite, runs, 1)


def test_keywords_are_framed_where_rules_read_and_missing_ones_named(open_tab, made_page, mini):
    words = [next(question.keywords[0].leaves()) for question in mini]
    number = next(number for number, word in enumerate(words) if word.is_plain_text)
    word = words[number].pattern
    answers = [f"{word} at first, {word}", f"{'x' * 250} {word}"]
    path = made_page([reported_run(mini, answers=answers)])
    tab = open_tab(path, f"#run=org/model/abc&question={mini.questions[number].question_id}")
    tab.page.wait_for_selector(".scored")
    samples = tab.page.locator(".opened .scored")
    assert samples.nth(0).locator("mark").all_inner_texts() == [word, word]
    assert samples.nth(1).locator("mark").count() == 0
    assert "Missing keywords: word" in samples.nth(0).inner_text()


def test_the_question_view_ranks_the_answers_of_all_runs(open_tab, path, runs):
    page = open_tab(path, "#question=Q02").page
    page.wait_for_selector(".ranked .answer")
    assert page.title().startswith("Q02 · ")

    def scores():
        heads = page.locator(".ranked .sample-head b").all_inner_texts()
        return [float(re.fullmatch(r"\d+\. (\S+) ", f"{head} ".replace("  ", " "))[1]) for head in heads]

    every = [[sample.scores.average for sample in run.result.questions["Q02"].samples] for run in runs]

    def rounded(values, back=False):
        return [round(value, 4) for value in sorted(values, reverse=back)]

    assert scores() == rounded(map(max, every), back=True)
    for box, label, expected in (
        ("Order", "worst first", map(max, every)),
        ("Answers", "worst of each run", map(min, every)),
        ("Answers", "all", (score for run_scores in every for score in run_scores)),
    ):
        page.get_by_role("combobox", name=box).select_option(label=label)
        assert scores() == rounded(expected)
    assert page.locator(".references .answer").count() == 20
    assert "±" not in page.locator("#details-body").inner_text()
    assert re.search(r"rank \d of 8 by difficulty", page.locator("#details-body").inner_text())


def test_a_question_without_answers_of_the_runs_that_are_shown_says_so(open_tab, path, runs):
    tab = open_tab(path, "#question=Q02&from=9&runs=shown")
    tab.page.locator("#details-body .ranked .notice").wait_for()
    assert tab.page.locator("#details-body .scored").count() == 0
    tab.page.locator("#details-body").get_by_role("button", name="Clear search and filters").click()
    tab.page.locator("#details-body .scored").nth(len(runs) - 1).wait_for()
    assert tab.fragment == "question=Q02&runs=shown"
    page = open_tab(path, "#question=Q02&search=run-1").page
    page.wait_for_selector("#details-body .scored:nth-child(4)")  # all runs, until one chooses those of the search
    page.locator("#details-body select[data-filter=runs]").select_option("the 1 of the leaderboard’s filters")
    page.get_by_text("1 answers of 1 runs").wait_for()


@pytest.mark.parametrize("width", [390, 1440])
def test_the_head_of_a_view_hides_nothing_that_is_asked_for(open_tab, path, width):
    size = {"width": width, "height": 800}
    page = open_tab(path, "#run=org/run-1&question=Q03", viewport=size, reduced_motion="reduce").page
    page.wait_for_selector(".opened .answer")
    wait_until(lambda: page.evaluate("dialog.scrollTop > 0"))
    page.evaluate("document.querySelector('.opened').parentElement.scrollIntoView({ behavior: 'instant' })")
    edge = page.locator("#details .details-head").bounding_box()
    opened = page.locator('.of-questions [aria-expanded="true"]')
    assert opened.bounding_box()["y"] >= edge["y"] + edge["height"]


def test_many_answers_come_as_the_reader_goes_on(open_tab, made_page, mini):
    path = made_page([reported_run(mini, f"run {number}") for number in range(100)])
    page = open_tab(path, "#question=Q01").page
    page.wait_for_selector(".ranked .answer")
    counts = [page.locator(".ranked .answer").count()]
    while page.locator(".ranked > .more").count():
        page.locator(".ranked > .more").scroll_into_view_if_needed()
        wait_until(lambda: page.evaluate("(n) => document.querySelectorAll('.ranked .answer').length > n", counts[-1]))
        counts.append(page.locator(".ranked .answer").count())
    assert counts[0] < counts[-1] == 100


def test_an_answer_of_the_question_leads_to_its_run_and_back(open_tab, path):
    tab = open_tab(path, "#question=Q02")
    tab.page.locator(".ranked .sample-head a").first.click()
    tab.page.wait_for_selector(".opened .scored")
    assert re.fullmatch(r"run=org/run-\d&question=Q02&sample=\d", tab.fragment)
    tab.page.locator(".opened").get_by_text("The answers of all runs").click()
    tab.page.wait_for_selector(".ranked .answer")
    assert tab.fragment == "question=Q02"
    tab.page.go_back()
    tab.page.wait_for_selector(".opened .scored")


def test_a_pair_differs_by_what_statistics_say(open_tab, path, runs):
    tab = open_tab(path, "#compare=org/run-1..org/run-3")
    tab.page.wait_for_selector(".of-questions tbody")
    a, b = ([question.score for question in runs[number].result.questions.values()] for number in (1, 3))
    difference = paired_difference(a, b)
    tab.page.get_by_text("Figures", exact=True).click()
    row = tab.page.locator(".figures tbody tr").first.inner_text().split("\t")
    shown = f"{difference.mean:+.4f}", f"{difference.low:+.4f} to {difference.high:+.4f}"
    assert (row[0], *row[3:]) == ("Score", *shown)
    bars = tab.page.locator(".of-questions tbody td:nth-child(4)").all_inner_texts()
    expected = sorted((x - y for x, y in zip(a, b, strict=True)), key=abs, reverse=True)
    assert [float(text) for text in bars] == pytest.approx(expected, abs=6e-4)
    differs = decided([difference])[0].differs
    assert ("not distinguished" in tab.page.locator("#details-body").inner_text()) != differs
    assert tab.page.evaluate("verdict(pairedDifference([null], [1]), 'B')") == "B has no question in common with A"


def test_a_run_shows_what_its_shares_add_up_to_and_can_be_compared_side_by_side(open_tab, path):
    tab = open_tab(path, "#run=org/run-1")
    body = tab.page.locator("#details-body")
    tab.page.wait_for_selector(".of-questions")
    tab.page.get_by_text("Contribution of each reference set").click()
    assert "±" not in body.inner_text()
    text = tab.page.get_by_role("region", name="Contributions of the sets").inner_text()
    shares = "A + 0.2500 + 0.2500 B + 0.2500 + 0.2500 sum = 0.5000 = 0.5000"
    assert re.sub(r"\s+", " ", text) == f"Set Fluency Truthfulness {shares}"
    tab.page.get_by_label("Compare with").fill("org/run-3")
    tab.page.get_by_label("Compare with").press("Enter")
    tab.page.wait_for_selector(".compared")
    assert tab.fragment == "compare=org/run-1..org/run-3"
    assert "±" not in body.inner_text()
    tab = open_tab(path, f"#{tab.fragment}&question=Q03")
    brushed = tab.page.locator(".brushed section")
    brushed.get_by_role("button", name="Show 3 more").click()
    assert [head[0] for head in brushed.locator(".aligned .sample-head b").all_inner_texts()] == ["A", "B"] * 5
    assert brushed.locator(".answer").count() == 11  # with a reference answer


def test_a_long_answer_is_shown_whole_on_demand(open_tab, made_page, mini):
    answer = "".join(f"{number} " for number in range(3000))
    path = made_page([reported_run(mini, answers=[answer, "y" * 100_010])])
    page = open_tab(path, "#run=org/model/abc&question=Q01").page
    page.wait_for_selector(".scored")
    first, second = page.locator(".opened .answer").nth(0), page.locator(".opened .answer").nth(1)
    assert "2999" not in first.inner_text()
    first.get_by_role("button", name=f"Show all {len(answer):,} characters").click()
    assert first.inner_text().strip() == answer.strip()
    second.get_by_role("button").click()
    assert second.inner_text().endswith("y … 10 more characters")


def test_the_search_finds_answers_by_run_and_question(open_tab, made_page, mini):
    runs = []
    for number, places in enumerate(({0: "A Needle 針", 3: "no\nneedle, needle"}, {}, {7: "NEEDLE"})):
        result = made_result(mini, answers=["hay", "stack"], score=0.9 - number / 10)
        for place, text in places.items():
            result["questions"][mini.questions[place].question_id]["samples"][1]["answer"] = text
        runs.append(ReportRun(f"run {number}", None, parse_result(result, "x")))
    path = made_page(runs)
    for fragment, expected in (
        (
            "answers=needle",
            {"Q01": ["run 0", "Needle"], "Q04": ["run 0", "needle", "needle"], "Q08": ["run 2", "NEEDLE"]},
        ),
        (
            "answers=needle&by-run=yes",
            {"run 0": ["Q01", "Needle", "Q04", "needle", "needle"], "run 2": ["Q08", "NEEDLE"]},
        ),
        ("answers=needle&search=2&runs=shown", {"Q08": ["run 2", "NEEDLE"]}),
        ("answers=針", {"Q01": ["run 0", "針"]}),
        ("answers=a.b(", {}),
    ):
        page = open_tab(path, f"#tab=answers&{fragment}").page
        page.locator("#found-count", has_text="”.").wait_for()
        actual = {
            section.locator("h3").inner_text(): section.locator("li :is(a, mark)").all_inner_texts()
            for section in page.locator("#found section").all()
        }
        assert [text.startswith(name) for text, name in zip(actual, expected, strict=True)] == [True] * len(expected)
        assert list(actual.values()) == list(expected.values())


def test_a_sentence_names_the_questions_that_separate_the_runs_best_and_least(open_tab, made_page, mini):
    runs = [varied(mini, f"run {number}", number) for number in range(6)]
    page = open_tab(made_page(runs), "#/tab=questions").page
    page.locator('details ~ #questions-table [aria-label="Discrimination"]').click()
    ids = page.locator("#questions-table tbody th b").all_inner_texts()
    named = page.locator("#separation a").all_inner_texts()
    assert (set(named[:3]), set(named[3:])) == (set(ids[:3]), set(ids[-3:]))
    assert page.locator("#separation").inner_text().endswith("below 0, the worse runs do better).")


def test_an_answer_that_is_found_opens_with_its_question_and_marked_hits(open_tab, made_page, mini):
    page = open_tab(made_page([reported_run(mini, answers=["a needle, 針 and a NEEDLE"])]), "#").page
    page.keyboard.press("Control+k")
    page.keyboard.type("needle")
    page.get_by_role("option", name="All answers that contain").wait_for()
    assert page.get_by_role("option").first.inner_text() == "All answers that contain “needle”"
    page.get_by_role("group", name="Answers").get_by_role("option").nth(1).click()
    page.locator("#details .answer").first.wait_for()
    assert page.locator("#details .details-head .asked").inner_text().startswith("Q02 ")
    assert page.evaluate("[...CSS.highlights.get('hit')].map(String)") == ["needle", "NEEDLE"]


def test_a_folder_opens_from_disk_and_runs_no_script_of_others(open_tab, mini, runs, tmp_path):
    write_report(runs, mini, tmp_path)
    (tmp_path / "data" / "evil.js").write_text("document.title = 'pwned'")
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    (tmp_path / "index.html").write_text(page.replace("<body>", '<main><script src="data/evil.js"></script>'))
    tab = open_tab(tmp_path / "index.html", "#question=Q02")
    tab.page.wait_for_selector(".ranked .answer")
    assert shown_in(tab.page, 1) == shown_in_python(mini, runs, 1)
    assert tab.page.title().startswith("Q02 · pfgen-fast report")
    (problem,) = tab.problems
    tab.problems.clear()
    assert re.search("(?s)evil.js.*Content Security Policy", problem)
    for path in (tmp_path / "data").iterdir():
        path.unlink()
    tab = open_tab(tmp_path / "index.html", "#question=Q02")
    tab.page.wait_for_selector("#details-body .notice")
    assert re.search(r"data/answers-\w+\.js is missing", tab.page.locator("#details-body").inner_text())
    tab.problems.clear()


def test_a_served_page_loads_itself_again_when_results_change(browser, mini, tmp_path):
    def write(name, **changes):
        (tmp_path / "result" / name).mkdir(parents=True)
        result = made_result(mini, **changes)
        (tmp_path / "result" / name / "result.json").write_text(json.dumps(result), encoding="utf-8")

    write("one")
    live = Site([str(tmp_path / "result")], tmp_path / "page", pytest.fail, lambda _: mini, pytest.fail, is_live=True)
    live.write_waiting()
    with SiteServer(live.folder) as server, server.running():
        page = browser.new_page()
        page.goto(f"{server.address}#question=Q01")
        page.get_by_text("Reading results").wait_for()
        live.write()
        page.wait_for_selector(".ranked .answer")
        write("two")
        while "2 runs" not in page.title():
            assert server.asked.wait(30)
            server.asked.clear()
            live.write_if_changed()
            page.wait_for_timeout(50)
        page.wait_for_selector(".ranked .scored:nth-child(2)")
        page.close()
