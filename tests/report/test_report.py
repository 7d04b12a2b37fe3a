"""The page of runs: its data, figures, bounds and sweeps."""

import json
import math
import re
import shutil
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers import strategies
from makers.pages import Outline, check_policy, embedded, overview_in
from makers.reported import made_result as result
from makers.reported import reported_run as run
from makers.reported import unlike_runs, unpacked
from pfgen_fast import Suite
from pfgen_fast.base.errors import PfgenError, TrialsError
from pfgen_fast.base.mean_interval import mean_interval
from pfgen_fast.report import ReportRun, pages, trying, write_report
from pfgen_fast.report.overview import RUN_WORDS, headline, lines, missed_keywords, overview_of, sweep_of, swept_values
from pfgen_fast.report.safe_runs import by_score, check_run
from pfgen_fast.runs.checkpoint_steps import step_of
from pfgen_fast.runs.run_result import parse_result
from pfgen_fast.runs.statistics.verdicts import tied_ranks
from pfgen_fast.scoring.tinting import QuestionTints
from pfgen_fast.suite.questions import Question

BREAK_OUT = (
    "</script><script>document.title='pwned'</script><!-- <script><img src=x onerror=\"document.title='pwned'\">"
)


@pytest.fixture
def page(mini, tmp_path):

    def write(*runs):
        path = tmp_path / "report.html"
        write_report(runs, mini, path)
        return path.read_text(encoding="utf-8")

    return write


def answers_in(text, number):
    return [unpacked(line) for line in embedded(text)[f"answers-{number}"].split("\n")]


def tints(part, answers):
    return QuestionTints(part).levels(answers)


def question(*sets):
    return Question("Q", "q?", MappingProxyType({str(number): tuple(answers) for number, answers in enumerate(sets)}))


@given(
    references=st.lists(strategies.texts(), min_size=1, max_size=30), answers=st.lists(strategies.texts(), max_size=4)
)
def test_tints_are_those_of_a_plain_count(references, answers):
    def share(gram):
        return sum(gram in reference for reference in references) / len(references)

    def level(frequency):
        return sum(frequency >= low for low in (0.005, 0.02, 0.05)) + (frequency > 0.1) + (frequency > 0.25)

    def cover(answer, index):
        starts = range(max(0, index - 2), min(index, len(answer) - 3) + 1)
        return max((share(answer[start : start + 3]) for start in starts), default=0.0)

    expected = ["".join(str(level(cover(answer, j))) for j in range(len(answer))) for answer in answers]
    assert tints(question(references), answers) == expected


def test_the_page_needs_no_network_and_its_table_waits_for_no_answers(page, mini):
    text = page(run(mini, link="../runs/a/"))
    assert list(embedded(text))[-len(mini) :] == [f"answers-{number}" for number in range(len(mini))]
    assert text.rindex("<script>") < text.index('id="answers-0"')
    outline = Outline(text)
    loads = {"src", "srcset", "data", "action", "poster", "background", "ping", "formaction"}
    assert not loads & dict(outline.attributes).keys()
    assert all(value.startswith("#") for name, value in outline.attributes if name == "href")
    assert not set(outline.tags) & {"link", "iframe", "object", "embed", "img", "base"}
    assert not re.search(r"@import|url\(|https?:", text[: text.index("</style>")])  # in the policy or a style
    check_policy(text)


def test_nothing_in_an_answer_or_a_name_leaves_its_place(page, mini):
    config = {"mode": BREAK_OUT, "temperature": BREAK_OUT, BREAK_OUT: BREAK_OUT, "list": [BREAK_OUT]}
    hostile = run(mini, name=BREAK_OUT, link=f"javascript:{BREAK_OUT}", answers=[BREAK_OUT], config=config)
    harmless_page, text = page(run(mini, name="x", link="y", answers=["z"])), page(hostile)
    assert list(embedded(text)) == list(embedded(harmless_page))
    shown, expected = ([tag for tag in Outline(html).tags if tag != "wbr"] for html in (text, harmless_page))
    assert shown == expected
    assert not any(name.startswith("on") for name, _ in Outline(text).attributes)
    assert not set("<>&\u2028\u2029") & set(embedded(text)["overview"])
    assert overview_in(text)["runs"][0]["name"] == BREAK_OUT
    assert overview_in(text)["runs"][0]["link"] is None
    _, answers = answers_in(text, 0)
    assert answers["texts"] == [BREAK_OUT]


LINKS = ("../runs/a:b/", "https://example.org/x", "run", "/abs/run")
NO_LINKS = ("javascript:alert(1)", "JavaScript:x", " javascript:x", "data:text/html,x", "a:b", "")


@pytest.mark.parametrize(("link", "shown"), [*((link, link) for link in LINKS), *((link, None) for link in NO_LINKS)])
def test_only_a_link_to_a_folder_or_page_stays(mini, link, shown):
    assert check_run(run(mini, link=link), mini).link == shown


def test_answers_are_bounded_and_say_how_long_they_are(page, mini):
    answers = ["x" * 10_000_000, "\u202e" * 1000, "", "\ud800"]
    text = page(run(mini, answers=answers))
    (_, held), n_shown = answers_in(text, 0), overview_in(text)["n_shown"]
    assert n_shown == 100_000
    # The page tints the last shown character by the two that follow; escapes come with their tints.
    assert held["texts"] == ["x" * (n_shown + 2), "\\u202e" * 1000, "", "\\ud800"]
    assert held["tints"] == {"1": "x" * 6000, "3": "x" * 6}
    assert held["length"] == [10_000_000, 1000, 0, 1]


def test_the_page_names_the_suite_and_no_folder_of_the_machine(mini, tmp_path):
    folder = shutil.copytree(mini.folder, tmp_path / "secret place" / "questions")
    suite = Suite.load(folder)
    write_report([run(suite)], suite, tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "suite <bdi>questions</bdi>" in text
    assert "secret place" not in text


def test_runs_have_the_order_of_the_leaderboard_and_system_runs_medals_and_no_rank(page, mini):
    names = {"a": 0.9, "system/ground-truth": 0.8, "b": 0.7, "system/other": 0.6, "systematic/c": 0.7}
    shown = overview_in(page(*(run(mini, name=name, score=score) for name, score in names.items())))["runs"]
    assert [(item["name"], item["medal"], item["rank"]) for item in shown] == [
        *(("a", "", 1), ("system/ground-truth", "👑", None)),
        *(("b", "", 2), ("systematic/c", "", 2), ("system/other", "🎯", None)),
    ]
    equal = by_score(check_run(run(mini, name=name), mini) for name in ("b", "a/1", "a", "a-b", "a-b/1"))
    assert [outcome.name for outcome in equal] == ["a-b/1", "a-b", "a/1", "a", "b"]


def test_numbers_that_are_none_are_shown_as_missing(page, mini):
    broken = run(mini, score=math.nan, score_std=None, length=math.inf, length_std=10**400)
    text = page(broken, run(mini, name="b"))
    assert [r["score"] for r in overview_in(text)["runs"]] == [0.5, None]
    assert "–" in map(str.strip, Outline(text).texts)


def test_a_result_of_another_suite_and_no_result_are_refused(mini, tmp_path):
    other = result(mini)
    other["questions"]["Q01"]["question"] = "another?"
    with pytest.raises(TrialsError, match="its question Q01 is not in suite mini"):
        write_report([ReportRun("a", None, parse_result(other, "a"))], mini, tmp_path / "report.html")
    with pytest.raises(TrialsError, match="at least one run"):
        write_report([], mini, tmp_path / "report.html")


@pytest.mark.slow
def test_texts_that_do_not_pack_are_cut_so_that_the_page_has_its_size(mini, page, tmp_path, monkeypatch):
    random = np.random.default_rng(0)
    runs = []
    for number in range(5):
        created = result(mini, answers=[""] * 5)
        for question_result in created["questions"].values():
            for sample in question_result["samples"]:
                code_points = random.integers(0x4E00, 0x9FA0, size=1500, dtype=np.uint32)
                sample["answer"] = code_points.tobytes().decode("utf-32-le")
        runs.append(ReportRun(f"run {number}", None, parse_result(created, f"run {number}")))
    whole = page(*runs)
    size = len(whole.encode())
    assert overview_in(whole)["n_shown"] == 100_000
    monkeypatch.setattr(pages, "MAX_BYTES", size - 125_000)
    cut = page(*runs)
    assert overview_in(cut)["n_shown"] == 1000
    assert size - 500_000 < len(cut.encode()) <= size - 125_000
    held = [line for number in range(len(mini)) for line in answers_in(cut, number)[1:]]
    assert sum(len(line["texts"]) for line in held) == 5 * 5 * len(mini)
    assert "At most 1000 characters of each answer are shown" in cut
    monkeypatch.setattr(pages, "MAX_BYTES", 100_000)
    with pytest.raises(TrialsError, match=r"5 runs are too many for one page of .* write a folder"):
        page(*runs)


def overview(suite, *runs):
    return overview_of(by_score(check_run(item, suite) for item in runs), suite)


def test_figures_of_runs_count_answers_and_have_intervals_if_questions_have_several_scores(mini):
    runs = overview(mini, *unlike_runs(mini))["runs"]
    counts = [(run["missing"], run["too_long"], run["unhelpful"]) for run in runs[2:5]]
    assert counts == [(8, 0, 0), (0, 6, 8), (0, 0, 0)]  # two questions count tokens
    assert {run["samples"] for run in runs} == {8}
    without_system = overview(mini, *unlike_runs(mini)[1:])["runs"]
    assert [run["ranks"] for run in runs] == [None, *(run["ranks"] for run in without_system)]
    shown = runs[1]
    expected = mean_interval(shown["questions"])
    assert (shown["low"], shown["high"]) == (expected.low, expected.high)
    assert shown["low"] < shown["score"] < shown["high"]
    (shown,) = overview(mini, run(mini))["runs"]
    assert (shown["low"], shown["high"]) == (None, None)


HAS, NOT = " has the highest score", "not distinguished from each other"


@pytest.mark.parametrize(
    ("ranked", "message"),
    [
        ([], ("", "No run has a rank.")),
        ([("a", (1, 1))], ("a", " is the only ranked run; its score is 0.5000.")),
        ([("a", (1, 1)), ("b", (2, 2))], ("a", " leads: it is better than b.")),
        ([("a", (1, 1)), ("b", (1, 3)), ("c", (2, 3))], ("a", f"{HAS}; it is better than every other run except b.")),
        ([("a", (1, 2)), ("b", (1, 2))], ("a", f"{HAS}; no difference between the 2 runs is significant.")),
        ([("a", (1, 2)), ("b", (1, 2)), ("c", (3, 3))], ("a", f" and b lead: better than the rest, {NOT}.")),
        (
            [("a", (1, 3)), ("a", (1, 3)), ("c", (1, 3)), ("d", (4, 4))],
            ("a/hash1", f", a/hash2 and c lead: better than the rest, {NOT}."),
        ),
        ([("a", (1, 2)), ("b", (1, 3)), ("c", (2, 3))], ("a", f"{HAS}; it is better than every other run except b.")),
        ([("a", (1, 2)), ("b", (2, 3)), ("c", (1, 3))], ("a", f"{HAS}; it is better than every other run except c.")),
        ([("a", (1, 3)), ("b", (1, 3)), ("c", (2, 3))], ("a", f"{HAS}; it is better than none of the 2 other runs.")),
        ([("a", (1, 2)), ("b", (2, 3)), ("c", (2, 3))], ("a", f"{HAS}; it is better than 1 of the 2 other runs.")),
        (
            [("a", (1, 2), 1), ("b", (1, 3), 1), ("c", (2, 3))],
            ("a", " and b have the highest score; a is better than every other run except b."),
        ),
        ([("a", None), ("b", None)], ("a", f"{HAS}; the questions are too few to tell runs apart.")),
    ],
)
def test_the_headline_says_whether_the_lead_is_real(ranked, message):
    runs = [
        {"name": f"{title}/hash{rank}", "title": title, "rank": (*equal, rank)[0], "ranks": ranks, "score": 0.5}
        for rank, (title, ranks, *equal) in enumerate(ranked, start=1)
    ]
    overview = {"runs": [{"rank": None}, *runs], "words": RUN_WORDS, "higher_is_better": True, "digits": 4}
    sentence, names = headline(overview)
    assert sentence.format(*(shown for shown, _ in names)) == "".join(message)
    assert all(key.startswith(shown) for shown, key in names)


def test_a_name_is_shown_as_model_settings_and_rest(mini):
    named = [
        ("org/m/1", {"model": "org/m", "mode": "qa", "top_p": 1.0, "seed": 3}),
        ("org/m/2", {"model": "org/m", "mode": "qa", "top_p": 0.5, "seed": 3}),
        ("mine/step-10", {"model": "other", "mode": "chat"}),
        ("bare", None),
    ]
    runs = overview(mini, *(run(mini, name=name, config=config) for name, config in named))["runs"]
    assert {item["name"]: (item["title"], item["settings"], item["rest"], item["organisation"]) for item in runs} == {
        "org/m/1": ("org/m", "qa · top_p 1.0", "1", "org"),
        "org/m/2": ("org/m", "qa · top_p 0.5", "2", "org"),
        "mine/step-10": ("other", "chat", "mine/step-10", ""),
        "bare": ("bare", "", "", ""),
    }


def test_the_worst_answer_and_missed_keywords_are_those_of_the_samples(mini):
    created = result(mini, answers=["a", "b"])
    created["questions"]["Q03"]["samples"][1]["scores"]["average"] = 0.1
    created["questions"]["Q03"]["samples"][1]["scores"]["helpfulness_results"] = [["ice", 0.0], ["word", 0.0]]
    shown = ReportRun("a", None, parse_result(created, "a"))
    assert overview(mini, shown)["runs"][0]["worst"] == (2, 1)
    question = check_run(shown, mini).questions["Q03"]
    assert missed_keywords([question, None]) == {"word": [2, 0], "ice": [1, 0]}


def test_tied_ranks_are_those_of_all_groups_of_a_run():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(5, 40))
    scores = (np.array([[9.0], [5.0], [0.5], [0.25], [0.0]]) + noise).tolist()
    assert tied_ranks([None, 1, 2, 3, 4], scores) == [None, (1, 1), (2, 4), (2, 4), (2, 4)]
    # With too few questions no run is tied.
    assert tied_ranks([1, 2], [[0.5] * 5, [0.4] * 5]) == [None, None]
    assert tied_ranks([None], [[0.5]]) == [None]


@pytest.mark.parametrize(
    ("fluency", "helpfulness", "counts"), [(0.7, 0.3, 1), (0.69, 0.3, 0), (0.7, 0.31, 0), (2.0, 0.0, 1)]
)
def test_fluent_but_not_helpful_has_two_bounds(mini, fluency, helpfulness, counts):
    created = result(mini)
    (sample,) = created["questions"]["Q01"]["samples"]
    scores = {**sample["scores"], "fluency": {"A": fluency}, "helpfulness": helpfulness}
    created["questions"]["Q01"]["samples"] = [{**sample, "scores": scores}]
    (shown,) = overview(mini, ReportRun("a", None, parse_result(created, "a")))["runs"]
    assert shown["unhelpful"] == counts


# ---- Runs of a sweep


def test_runs_that_differ_in_few_parameters_are_a_sweep():
    configs = [
        {"model": f"ngram/order-{order}", "order": order, "temperature": t, "stop": ["Q:"]}
        for order in (3, 5)
        for t in (0.5, 1)
    ]
    assert swept_values(configs) == [{"order": o, "temperature": t} for o in (3.0, 5.0) for t in (0.5, 1.0)]
    # A model that does not follow from the other parameters is a parameter.
    both = [{**config, "model": model} for config in configs for model in ("a", "b")]
    assert set(swept_values(both)[0]) == {"model", "order", "temperature"}
    assert swept_values([{"mode": "qa"}, {"mode": "qa", "top_k": 5, "input_hash": "a"}]) == [
        {"top_k": "–"},
        {"top_k": 5.0},
    ]


@pytest.mark.parametrize(
    "configs",
    [
        [{"a": 1}],
        [{"a": 1}, {"a": 1}],
        [{"a": 1}, None],
        [{"model": "a", "t": 1}, {"model": "b", "t": 2}],
        [{"a": n, "b": n % 7, "c": n % 5, "d": n % 3, "e": n % 2} for n in range(20)],
        [{"model": f"m{n}"} for n in range(31)],
    ],
    ids=["one", "equal", "unknown", "two models", "many parameters", "many values"],
)
def test_other_runs_are_not_a_sweep(configs):
    assert swept_values(configs) is None


def test_all_other_parameters_are_constant_along_a_line():
    points = [{"t": t, "mode": mode} for t in (1.0, 0.5, 10.0) for mode in ("qa", "chat")]
    assert list(lines(points, "t").items()) == [("mode qa", [2, 0, 4]), ("mode chat", [3, 1, 5])]
    assert list(lines(points, "mode").items()) == [("t 0.5", [2, 3]), ("t 1", [0, 1]), ("t 10", [4, 5])]


@pytest.mark.parametrize(
    ("config", "name", "step"),
    [
        ({"model": "lab/a/checkpoint-500"}, "x", ("lab/a", 500)),
        ({"model": "lab/checkpoint-500-a1b2c3d"}, "x", ("lab", 500)),
        ({"model": "lab/global_step_5/actor/huggingface-a1b2c3d"}, "x", ("lab", 5)),
        ({"model": "step-2-tuned/checkpoint-30"}, "x", ("step-2-tuned", 30)),
        ({"model": "a_step_1000"}, "x", ("a", 1000)),
        ({"model": "a/step=10k"}, "x", ("a", 10_000)),
        ({"model": "a/global_step_20-merged"}, "x", ("a-merged", 20)),
        ({"model": "a", "revision": "step3000"}, "x", ("a", 3000)),
        ({"model": "a", "step": 7}, "a/abc", ("a", 7)),
        (None, "a/checkpoint-500/c58fe0f", ("a", 500)),
        ({"model": "checkpoint-5"}, "x", ("step", 5)),
        *(({"model": model}, model, None) for model in ("stepfun/step-3.5", "footstep-3", "gpt-4o", "step-by-step")),
    ],
)
def test_a_step_is_a_parameter_or_in_a_name(config, name, step):
    assert step_of(config, name) == step


def test_runs_of_a_series_are_a_line_over_steps_beside_other_runs():
    models = ("a/checkpoint-2", "b", "a/checkpoint-10", "a/checkpoint-1", "c/checkpoint-1")
    shown = sweep_of([(f"{model}/abc", {"model": model, "mode": "qa", "n": len(model)}) for model in models])
    (parameter,) = shown["parameters"]
    assert (parameter["name"], parameter["values"]) == ("step", [1, 2, 10])
    assert parameter["points"] == [2, None, 10, 1, 1]
    assert parameter["lines"] == [{"name": "a", "runs": [3, 0, 2]}]
    configs = [{"model": f"a/checkpoint-{step}", "mode": mode} for step in (1, 2) for mode in ("qa", "chat")]
    by_mode = sweep_of([("x", config) for config in configs])["parameters"][0]["lines"]
    assert by_mode == [{"name": "a, mode qa", "runs": [0, 2]}, {"name": "a, mode chat", "runs": [1, 3]}]
    assert sweep_of([("a/checkpoint-1", None), ("b", None)]) is None
    assert sweep_of([(model, {"model": model}) for model in "abc"]) is None  # the axis of names has no order


@pytest.mark.slow
def test_the_page_of_a_sweep_plots_it(tmp_path, call):
    grid = ("--order", 3, "--order", 5, "--temperature", 0.5, "--temperature", 1)
    call("sweep", "-e", "ngram", "-s", "mini", "-n", 11, *grid, "-o", tmp_path / "runs")
    report = ("report", tmp_path / "runs", "-s", "mini", "-o", tmp_path / "page.html")
    assert call(*report)[0] == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    (stored,) = re.findall(r'<script type="application/json" id="overview">(.*?)</script>', page)
    shown = json.loads(stored)["sweep"]
    assert [parameter["name"] for parameter in shown["parameters"]] == ["order", "temperature"]
    assert [parameter["values"] for parameter in shown["parameters"]] == [[3, 5], [0.5, 1]]
    assert all(
        set(intervals) == {"score", "fluency", "truthfulness", "helpfulness"} for intervals in shown["intervals"]
    )
    # Without its trials a run has no intervals, but the page is still written.
    for path in (tmp_path / "runs").rglob("trial*"):
        path.unlink()
    assert call(*report)[0] == 0


def test_a_page_that_scores_needs_the_module_and_one_in_one_file_a_small_index(mini, tmp_path, monkeypatch):
    monkeypatch.setattr(trying, "MODULE", tmp_path / "none")
    trying.packed_core.cache_clear()
    with pytest.raises(PfgenError, match="no WebAssembly module; 'make wasm' in its sources builds it"):
        write_report([run(mini, "org/a/1", score=0.8)], mini, tmp_path / "report.html", can_try=True)
    (tmp_path / "none").write_bytes(b"")
    monkeypatch.setattr(trying, "MAX_INDEX", 1000)
    with pytest.raises(PfgenError, match="write a directory, or use --serve"):
        write_report([run(mini, "org/a/1", score=0.8)], mini, tmp_path / "report.html", can_try=True)
