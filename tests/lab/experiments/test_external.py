"""Scores of others beside ours: from files, and by a judge."""

import csv
import dataclasses
import io
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from makers.fault_server import Reply, answering, serving
from pfgen_fast import EngineError, ExperimentError, Suite, SuiteError
from pfgen_fast.lab.evaluators.asking_evaluator import usual_temperature
from pfgen_fast.lab.evaluators.judge_evaluator import JudgeEvaluator, read_template
from pfgen_fast.lab.experiments.external_experiment import external, match_names, read_outside_scores
from pfgen_fast.lab.experiments.judge_experiment import AnswersToJudge, RatedRuns, judge
from pfgen_fast.lab.experiments.scored_runs import read_figures
from pfgen_fast.lab.judging.judge_asking import JudgePrices, Spending
from pfgen_fast.lab.judging.judge_requests import Judge, Server
from pfgen_fast.lab.judging.reply_store import ReplyStore
from pfgen_fast.runs.items.score_tables import read_item_scores

HEADER = "model,judge,people\n"


def test_names_match_as_they_are_then_by_the_rules_in_their_order():
    ours = ["org/Model-7B", "org/model_7b-it", "other/big", "lab/x.1", "alone"]
    theirs = ["org/Model-7B", "ORG/Model 7B it", "big", "x-1", "nobody"]
    assert match_names(ours, theirs) == {
        "org/Model-7B": ("org/Model-7B", "the same"),
        "org/model_7b-it": ("ORG/Model 7B it", "but for case and separators"),
        "other/big": ("big", "but for what comes before the last slash"),
        "lab/x.1": ("x-1", "but for what comes before the last slash"),
    }


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [(["a/model", "b/model"], ["model"]), (["a/model"], ["x/model", "y/model"]), (["A-b"], ["a_b", "a b"])],
)
def test_a_name_with_two_partners_has_none(ours, theirs):
    assert match_names(ours, theirs) == {}


def test_empty_cells_are_scores_that_are_not_known(write):
    scores = read_outside_scores(write("\ufeffmodel,judge,people\na,1,\n\nb,-2.5e1,3\n"))
    assert scores.columns == {"judge": {"a": 1.0, "b": -25.0}, "people": {"b": 3.0}}
    assert scores.names == ("a", "b")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("model,x,x\na,1,2\n", "line 1: expected distinct column names"),
        (HEADER + "a,1,2\na,1,2\n", "line 3: 'a' is repeated"),
        (HEADER + "a,nan,2\n", "line 2, column 'judge': expected a number, not 'nan'; leave a missing score empty"),
        (HEADER + '"a,1,2\n', "not CSV"),
        (HEADER + ",1,2\n", "line 2: a model without a name"),
    ],
)
def test_a_file_that_is_not_a_table_of_scores_is_named_with_its_line(write, text, problem):
    with pytest.raises(ExperimentError, match=problem):
        read_outside_scores(write(text))


def test_correlations_are_those_of_the_models_in_common(scored, write):
    theirs = [0.9, 0.7, 0.75, 0.3, 0.2]
    lines = "".join(f"Model {number},{value}\n" for number, value in enumerate(theirs))
    finding = external(scored, [read_outside_scores(write("name,judge\n" + lines + "stranger,1\n"))])
    ours = [scored.means["score"][scored.models.index(f"org/model-{n}")] for n in range(5)]
    row = finding.tables[0].rows[0]
    assert row[:4] == ("judge", "score", 5, 5)
    assert row[4] == pytest.approx(np.corrcoef(ours, theirs)[0, 1])
    assert f"Pearson {row[4]:.4f}" in finding.paragraph
    assert finding.tables[-1].rows == (("scores.csv", "ours", "org/model-5"), ("scores.csv", "theirs", "stranger"))
    assert finding.tables[1].rows[0][4] == "but for what comes before the last slash"


def test_no_names_in_common_is_said_with_names_of_both_sides(scored, write):
    scores = read_outside_scores(write("model,judge\nx,1\ny,2\nz,3\n"))
    message = r"0 models in common, expected at least 3; ours are org/.*theirs x, y, z"
    with pytest.raises(ExperimentError, match=message):
        external(scored, [scores])


def test_a_constant_column_is_left_out_and_said(scored, write):
    scores = read_outside_scores(write(HEADER + "".join(f"model-{number},5,{number}\n" for number in range(6))))
    finding = external(scored, [scores])
    assert [row[0] for row in finding.tables[0].rows] == ["people"] * 4
    assert any("column 'judge' is 5 for all 6 models" in note for note in finding.notes)
    with pytest.raises(ExperimentError, match="is 5 for all 6 models"):
        external(scored, [replace(scores, columns={"judge": scores.columns["judge"]})])


def test_the_command_draws_every_column_of_every_file(call, varied, tmp_path, write, undrawn):
    judge = write("model,judge\n" + "".join(f"org/model-{n},{9 - n}\n" for n in range(6)), "judge.csv")
    other = write("model,arena\n" + "".join(f"model-{n},{n * n}\n" for n in range(6)), "other.csv")
    arguments = ("--scores", judge, "--scores", other, "-s", "mini", "-o", tmp_path / "out")
    code, out, _ = call("experiment", "external", varied, *arguments)
    assert code == 0
    assert "With judge: judge, over 6 models: Pearson" in out
    with io.StringIO((tmp_path / "out" / "external-correlations.csv").read_text()) as file:
        rows = list(csv.DictReader(file))
    assert [row["scores"] for row in rows[::4]] == ["judge: judge", "other: arena"]
    assert float(rows[0]["Spearman"]) == pytest.approx(1)
    pictures = {path.name for path in (tmp_path / "out").glob("*.png")}
    assert pictures == {"external-scatter-1.png", "external-scatter-2.png"}


# ---- A judge that rates answers of runs

KEY = "sk-0123456789abcdefSECRET"


def answer_in(request):
    bounds = r"\[(?:Answer to judge|採点する回答)\]\n(.*)\n\[(?:End of the answer|採点する回答の終わり)\]"
    return re.search(bounds, request.prompt, re.DOTALL)[1]


def by_length(request):
    return answering(f"Of some length. [[{1 + min(9, len(answer_in(request)) // 10)}]]")


@pytest.fixture
def evaluator(tmp_path):

    def make(server=None, name="ratings.jsonl", n_ratings=1, **options):
        connect = None if server is None else Server(server.base_url, backoff=0.001).engine
        rater = Judge("org/judge", usual_temperature(n_ratings))
        return JudgeEvaluator(rater, ReplyStore(tmp_path / name), connect=connect, n_ratings=n_ratings, **options)

    return make


@pytest.fixture
def find(varied, mini):

    def run(evaluator, trials=1, **options):
        return judge([varied], evaluator, trials=trials, suite=mini, threads=2, **options)

    return run


@pytest.mark.slow
def test_means_are_over_questions_of_ratings_that_are_drawn_apart(evaluator, find, scored):
    with serving(by_length) as server:
        finding = find(evaluator(server, n_ratings=2), trials=None)
    ratings = 1 + np.minimum(9, scored.answer_scores["length"] // 10)
    expected = np.bincount(scored.run_numbers, ratings) / np.bincount(scored.run_numbers)
    assert dict(finding.tables[0].rows) == pytest.approx(dict(zip(scored.models, expected, strict=True)))
    assert "gave 288 ratings to 6 runs" in finding.paragraph
    sent = {(request.body["seed"], request.body["temperature"]) for request in server.requests}
    assert (len(server.requests), len(sent), {temperature for _, temperature in sent}) == (288, 2, {1.0})


@pytest.mark.slow
def test_another_seed_rates_other_answers(evaluator, find):
    prompts = []
    for number, seed in enumerate(("", "", "other")):
        with serving(by_length) as server:
            find(evaluator(server, f"{number}.jsonl", seed=seed))
        prompts.append({request.prompt for request in server.requests})
    assert prompts[0] == prompts[1] != prompts[2]


def test_replies_without_a_rating_are_left_out_and_counted(evaluator, find):
    def moody(request):
        reason = "length" if request.number % 2 == 0 else "stop"
        return answering("I would rather", reason) if request.number % 3 == 0 else by_length(request)

    with serving(moody) as server:
        finding = find(evaluator(server))
    left_out = "16 replies have no rating of the form [[1]] to [[10]] and are left out"
    assert f"{left_out}; 8 of them ended at the limit of tokens: raise --max-tokens" in finding.notes
    assert sum(row[1] for row in finding.tables[2].rows) == 32
    with pytest.raises(ExperimentError, match="no ratings: 48 are missing, 0 replies have no rating"):
        find(evaluator(name="none.jsonl"))


def test_ratings_that_are_missing_stop_it_and_are_left_out_offline(evaluator, find):
    with (
        serving(by_length) as server,
        pytest.raises(EngineError, match=r"the budget of 2 is used up .*; repeat the call to continue"),
    ):
        find(evaluator(server), spending=Spending(JudgePrices(1000, 1000), 2))
    n_asked = len(server.requests)
    assert 0 < n_asked < 48
    finding = find(evaluator())
    assert f"{48 - n_asked} of 48 ratings are missing; the means are over the other ratings" in finding.notes
    with serving(by_length) as server:
        find(evaluator(server))
    assert len(server.requests) == 48 - n_asked


def test_a_question_without_a_sample_answer_shows_its_first_reference(evaluator, varied, mini, make_suite):
    answers = AnswersToJudge(1)
    scored = read_figures([varied], suite=mini, threads=2, on_batch=answers)
    folder = make_suite(*({"question": q.question, "answers": {"a": ["First.", "Second."]}} for q in mini))
    sample = {"question": mini.questions[0].question, "answer": "A sample."}
    (folder / "questions.jsonl").write_text(json.dumps(sample))
    shown = dataclasses.replace(scored, suite=Suite.load(folder))
    with serving(by_length) as server:
        rater = evaluator(server)
        RatedRuns(shown, answers.chosen, rater).ratings.ask_with(rater.connect)
    samples = [re.search("Sample answer.*\\n(.*)\\n", request.prompt)[1] for request in server.requests]
    assert {sample: samples.count(sample) for sample in samples} == {"A sample.": 6, "First.": 42}


def test_a_suite_without_sample_answers_needs_a_template_without_them(evaluator, varied, mini, make_suite, tmp_path):
    answers = AnswersToJudge(1)
    scored = read_figures([varied], suite=mini, threads=2, on_batch=answers)
    bare = dataclasses.replace(scored, suite=Suite.load(make_suite(*({"question": q.question} for q in mini))))
    with pytest.raises(SuiteError, match=r"questions\.jsonl"):
        RatedRuns(bare, answers.chosen, evaluator())
    (tmp_path / "prompt.txt").write_text("{question} {answer}")
    without = evaluator(template=read_template(tmp_path / "prompt.txt"))
    twice = [*answers.chosen, *answers.chosen]  # an answer that two runs share is rated once
    estimate = RatedRuns(bare, twice, without).ratings.estimate()
    assert (estimate.n_replies, estimate.n_requests) == (96, 48)


@pytest.mark.slow
def test_the_command_asks_replays_and_feeds_external(call, varied, tmp_path, monkeypatch, undrawn):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    out = tmp_path / "out"
    usual = ("experiment", "judge", varied, "-s", "mini", "-m", "org/judge", "--trials", "1", "-o", out)
    with serving(lambda request: Reply(by_length(request).body)) as server:
        address = ("--base-url", server.base_url)
        for template in ((), ("--template", "paper")):
            code, message, _ = call(*usual, *address, "--dry-run", "--prompt-price", "3", *template)
            assert (code, server.requests) == (0, [])
            assert re.match("48 ratings; 48 requests of about .* costs up to about", message, re.DOTALL)
        code, _, err = call(*usual, *address, "--prompt-price", "1000", "--reply-price", "1000", "--budget", "3")
        assert (code, "the budget of 3 is used up" in err) == (3, True)
        assert not (out / "judge.html").exists()
        assert 0 < len(server.requests) < 48
        code, message, _ = call(*usual, *address)
        assert (code, len(server.requests)) == (0, 48)
        assert server.requests[0].headers["Authorization"] == f"Bearer {KEY}"
    first = (out / "judge-models.csv").read_bytes()
    (out / "judge-models.csv").unlink()
    assert call(*usual, "--offline")[0] == 0
    assert (out / "judge-models.csv").read_bytes() == first
    assert read_outside_scores(out / "judge-models.csv").columns["rating"].keys() == {
        f"org/model-{n}" for n in range(6)
    }
    assert len((out / "judge-ratings.jsonl").read_bytes().splitlines()) == 48
    assert not any(KEY.encode() in path.read_bytes() for path in out.rglob("*") if path.is_file())
    assert call(*usual, "--offline", "--items", tmp_path / "ratings.csv")[0] == 0
    rated = read_item_scores([tmp_path / "ratings.csv"])
    assert (rated.metrics, len(rated.models), len(rated.items)) == (("rating",), 6, 8)
    with (out / "judge-ratings.csv").open(newline="") as file:
        assert sum(int(row["times"]) for row in csv.DictReader(file)) == 48
