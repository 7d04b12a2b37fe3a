"""A judge that rates by criteria: its requests and scores, what is stored and replayed, budgets, and bad servers."""

import re
from collections import Counter

import numpy as np
import pytest
from makers.asked_engines import FakeEngine, moody_text
from makers.fault_server import answering, serving
from pfgen_fast import JudgingError
from pfgen_fast.lab.evaluators.criteria import read_criteria
from pfgen_fast.lab.evaluators.evaluator import Item, text_column
from pfgen_fast.lab.evaluators.judge_evaluator import CriteriaJudge, open_judge
from pfgen_fast.lab.judging.judge_requests import Judge, Server
from pfgen_fast.lab.judging.reply_store import Replies

TEXTS = [f"The cat sat on mat {number}." for number in range(6)]
ITEMS = [Item(str(n), text, "story", language="en", context=f"There was cat {n}.") for n, text in enumerate(TEXTS)]
STORY = ["coherence", "consistency", "fluency"]


@pytest.fixture(autouse=True)
def _fixed_time(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")  # an entry says when its reply came


@pytest.fixture
def path(tmp_path):
    return tmp_path / "judge-ratings.jsonl"


def judge_of(path, engine=None, **options) -> CriteriaJudge:
    options = {"judge": Judge("org/judge"), "tasks": ("story",), **options}
    return CriteriaJudge(replies=Replies(path), connect=engine and (lambda judge: engine), **options)


def opened(server, path, **options) -> CriteriaJudge:
    options = {"tasks": ["story"], "n_ratings": 2, **options}
    return open_judge("org/judge", server=Server(server.base_url, backoff=0.001, retries=1), cache=path, **options)


def scores_of(judge, items=ITEMS, texts=None):
    return judge.score(items, text_column([item.text for item in items] if texts is None else texts))


def content_of(request):
    return request.prompt.messages[-1]["content"]


def criterion_in(content):
    return re.search(r"^Criterion: (.*)$", content, re.MULTILINE)[1]


def moody(request):
    """A server's reply that depends only on prompt and seed; some hold no valid rating."""
    return answering(moody_text(request.prompt, request.body["seed"]))


def test_there_is_one_request_for_each_text_metric_and_rating(path):
    engine = FakeEngine()
    scores_of(judge_of(path, engine), texts=[f"The c t {number}." for number in range(6)])
    asked = Counter((criterion_in(content_of(request)), request.seed) for request in engine.asked)
    assert len(engine.asked) == 6 * 3 * 5
    assert set(asked.values()) == {6}
    assert {criterion for criterion, _ in asked} == {"coherence", "consistency with the story", "fluency"}
    assert len({seed for _, seed in asked}) == 5
    assert {request.name for request in engine.asked} >= {"rating 1 of 0 by coherence", "rating 5 of 5 by fluency"}
    for content in map(content_of, engine.asked):  # the judge sees the text and its context, but not the original
        assert "The c t " in content
        assert "There was cat " in content
        assert "sat on mat" not in content


def test_five_ratings_are_drawn_at_temperature_1_and_a_single_one_at_0(path):
    with serving(lambda request: answering("[[3]]")) as server:
        for n_ratings, temperature in ((5, 1.0), (1, 0.0)):
            del server.requests[:]
            scores_of(opened(server, path, n_ratings=n_ratings), ITEMS[:1])
            assert len(server.requests) == 3 * n_ratings
            assert {request.body["temperature"] for request in server.requests} == {temperature}
            assert len({request.body["seed"] for request in server.requests}) == n_ratings
        judge = open_judge("org/judge", tasks=["story"], n_ratings=1, temperature=0.5, cache=path)
        assert judge.judge.temperature == 0.5
        assert open_judge("org/judge", tasks=["story"], cache=path).n_ratings == 5


def test_a_score_is_the_mean_of_the_valid_ratings_of_its_metric(path):
    replies = {"coherence": ["[[1]]", "[[9]]", "[[4]]"], "fluency": ["[[5]]", "[[5]]", "none"]}

    def reply(request):
        number = int(request.name.split()[1]) - 1
        return replies.get(criterion_in(content_of(request)), ["[[6]]", "0", "[[ ]]"])[number]

    scores = scores_of(judge_of(path, FakeEngine(reply), n_ratings=3), ITEMS[:1])
    assert {name: column.tolist() for name, column in scores.items()} == {
        "coherence": [2.5],
        "consistency": [pytest.approx(np.nan, nan_ok=True)],
        "fluency": [5.0],
    }


def test_a_text_is_rated_only_by_the_wanted_metrics_of_its_task(path):
    items = [ITEMS[0], Item("t", "Ice floats.", "translation", language="en", context="Eis schwimmt.")]
    engine, tasks = FakeEngine(lambda request: "[[4]]"), ("story", "translation")
    scores = scores_of(judge_of(path, engine, tasks=tasks, n_ratings=1), items)
    assert {name: (~np.isnan(column)).tolist() for name, column in scores.items()} == {
        "coherence": [True, False],
        "consistency": [True, False],
        "fluency": [True, True],
        "accuracy": [False, True],
    }
    assert len(engine.asked) == 5
    assert list(scores_of(judge_of(path, engine, only=("fluency",), n_ratings=1))) == ["fluency"]
    assert len(engine.asked) == 5 + len(ITEMS) - 1
    with pytest.raises(JudgingError, match="the judge: unknown metric 'fluenci'; expected one of fluency, coh"):
        judge_of(path, only=("fluenci",))


def test_prompts_are_in_the_language_of_the_item_or_else_of_its_text(path):
    items = [Item("a", "氷は浮く。", "poem"), Item("b", "Ice floats.", "poem"), Item("c", "水", "poem", language="en")]
    engine = FakeEngine()
    scores_of(judge_of(path, engine, tasks=("poem",), n_ratings=1, only=("fluency",)), items)
    by_item = {request.name.split()[3]: content_of(request) for request in engine.asked}
    assert "観点：流暢さ" in by_item["a"]
    assert "Criterion: fluency" in by_item["b"]
    assert "Criterion: fluency" in by_item["c"]


@pytest.mark.parametrize("task", ["qa", "answers"])
def test_an_answer_without_a_question_cannot_be_rated(path, task):
    with pytest.raises(JudgingError, match=f"item 7: has no question, which the judge needs for the task {task}"):
        scores_of(judge_of(path, tasks=(task,)), [Item("7", "So.", task)])


def test_again_asks_anew_with_other_seeds_and_the_same_budget(path):
    engine = FakeEngine()
    judge = judge_of(path, engine, n_ratings=2)
    first, repeated = scores_of(judge), scores_of(judge)
    assert len(engine.asked) == 6 * 3 * 2
    second = scores_of(judge.again())
    assert len({request.seed for request in engine.asked}) == 4
    assert len(engine.asked) == 2 * 6 * 3 * 2
    assert all(np.array_equal(first[name], repeated[name], equal_nan=True) for name in STORY)
    assert any(not np.array_equal(first[name], second[name], equal_nan=True) for name in STORY)
    assert judge.again().spending is judge.spending
    assert judge.spending.n_requests == 72
    assert len({judge.signature, judge.again().signature, judge.again().again().signature}) == 3


def test_the_signature_has_everything_that_affects_a_score(path, tmp_path):
    usual = judge_of(path).signature
    criteria = read_criteria()
    assert usual == (f'judge:"org/judge"|criteria:{criteria.hash}|temperature:0|max_tokens:300|ratings:5|seed:""')
    own = tmp_path / "own.toml"
    own.write_text("[criteria.fluency.en]\nname = 'flow'\ndefinition = 'Flow.'\nsteps = []\n")
    changes = (
        {"judge": Judge("other")},
        {"judge": Judge("org/judge", 0.5)},
        {"judge": Judge("org/judge", max_tokens=7)},
        {"criteria": read_criteria(own)},
        {"n_ratings": 2},
        {"seed": "other"},
        {"seed": 'x"|ratings:2'},
        {"replicate": 1},
    )
    assert len({usual, *(judge_of(path, **change).signature for change in changes)}) == 9


# --- Replay, budgets ---


def test_a_replay_needs_all_ratings_unless_it_is_partial(path):
    with serving(moody) as server:
        asked = scores_of(opened(server, path), ITEMS[:4])
    options = {"tasks": ["story"], "n_ratings": 2, "server": None}
    offline, column = open_judge("org/judge", cache=path, **options), text_column(TEXTS)
    replayed = scores_of(offline, ITEMS[:4])
    assert all(np.array_equal(asked[name], replayed[name], equal_nan=True) for name in STORY)
    with pytest.raises(JudgingError, match=r"ratings\.jsonl: 12 of 36 ratings are missing; name a server"):
        scores_of(offline)
    with pytest.raises(JudgingError, match="no such file; expected the replies of an earlier call"):
        open_judge("org/judge", cache=path.with_name("none.jsonl"), **options)
    lines = path.read_bytes().splitlines(keepends=True)
    fluency = next(line for line in lines if b"cat 3." in line and b"Criterion: fluency" in line)
    path.write_bytes(b"".join(line for line in lines if line != fluency))
    partial = open_judge("org/judge", cache=path, partial=True, **options)
    assert partial.asked(ITEMS, column).is_complete().all(axis=1).tolist() == [True, True, True, False, False, False]
    scores = partial.score(ITEMS, column)
    assert np.isnan(scores["fluency"][4:]).all()
    assert np.array_equal(scores["fluency"][:3], asked["fluency"][:3], equal_nan=True)
