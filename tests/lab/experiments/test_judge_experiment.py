"""A judge that rates answers of runs."""

import csv
import dataclasses
import io
import json
import re

import numpy as np
import pytest
from makers.fault_server import Reply, answering, serving
from pfgen_fast import EngineError, ExperimentError, Suite, SuiteError
from pfgen_fast.lab.evaluators.asking_evaluator import usual_temperature
from pfgen_fast.lab.evaluators.judge_evaluator import JudgeEvaluator, read_template
from pfgen_fast.lab.experiments.judge_experiment import AnswersToJudge, RatedRuns, judge
from pfgen_fast.lab.experiments.scored_runs import read_figures
from pfgen_fast.lab.judging.judge_asking import JudgePrices, Spending
from pfgen_fast.lab.judging.judge_requests import Judge, Server
from pfgen_fast.lab.judging.reply_store import ReplyStore
from pfgen_fast.runs.items.score_tables import read_item_scores

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
    means = {row["model"]: row["org/judge (verdicts)"] for row in finding.tables[1].to_dicts()}
    assert means == pytest.approx(dict(zip(scored.models, expected, strict=True)))
    assert "gave 288 ratings to 6 runs" in finding.paragraph
    sent = {(request.body["seed"], request.body["temperature"]) for request in server.requests}
    assert (len(server.requests), len(sent), {temperature for _, temperature in sent}) == (288, 2, {1.0})


def test_answers_of_yardsticks_are_not_rated(evaluator, varied, mini):
    answers = AnswersToJudge(1)
    scored = read_figures([varied], suite=mini, threads=2, on_batch=answers)
    models = ("system/ground-truth", *scored.models[1:])
    with serving(by_length) as server:
        rated = RatedRuns(dataclasses.replace(scored, models=models), answers.chosen, evaluator(server))
        assert len(rated.ratings) == 5 * len(mini)


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
    cut = "8 of them ended at the limit of tokens: raise --max-tokens; the first: 'I would rather'"
    assert f"{left_out}; {cut}" in finding.notes
    assert "gave 32 ratings to" in finding.paragraph
    with pytest.raises(ExperimentError, match="no ratings: 48 are missing; there are no replies"):
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
    without = evaluator(prompts=read_template(tmp_path / "prompt.txt"))
    twice = [*answers.chosen, *answers.chosen]  # an answer that two runs share is rated once
    estimate = RatedRuns(bare, twice, without).ratings.estimate()
    assert (estimate.n_replies, estimate.n_requests) == (96, 48)


@pytest.mark.slow
def test_the_command_asks_replays_and_feeds_agreement(call, varied, tmp_path, monkeypatch, undrawn):
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
    first = (out / "judge-metrics.csv").read_bytes()
    (out / "judge-metrics.csv").unlink()
    assert call(*usual, "--offline")[0] == 0
    assert (out / "judge-metrics.csv").read_bytes() == first
    assert len((out / "judge-ratings.jsonl").read_bytes().splitlines()) == 48
    assert not any(KEY.encode() in path.read_bytes() for path in out.rglob("*") if path.is_file())
    rated = read_item_scores([out / "judge-items.csv"])
    assert (rated.metrics, len(rated.models), len(rated.items)) == (("rating",), 6, 8)
    again = ("--verdicts", out / "judge-items.csv", "-o", tmp_path / "again")
    assert call("experiment", "agreement", varied, "-s", "mini", *again)[0] == 0
    score, score_again = (
        next(row for row in csv.DictReader(io.StringIO(path.read_text())) if row["metric"] == "score")
        for path in (out / "judge-metrics.csv", tmp_path / "again" / "agreement-metrics.csv")
    )
    assert [score[name] for name in ("Spearman", "agree")] == [score_again[name] for name in ("Spearman", "agree")]
