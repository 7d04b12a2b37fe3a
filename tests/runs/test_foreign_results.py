"""Untrusted results: any result.json is either shown or rejected in one sentence that names file and location."""

from __future__ import annotations

import copy
import json

import pytest
from makers.runs import make_run, trial_lines
from pfgen_fast import TrialsError
from pfgen_fast.files.untrusted_json import MAX_DEPTH
from pfgen_fast.runs.aggregation import evaluate
from pfgen_fast.runs.leaderboard import rank
from pfgen_fast.runs.result import encode, parse_result, read_result, read_scores
from pfgen_fast.runs.trials import find_runs


@pytest.fixture(scope="module")
def good(tmp_path_factory, mini, scorer):
    """The decoded content of a result.json."""
    config = {"model": "org/model", "mode": "qa", "stop": ["Q:", "\n"], "temperature": 1.0}
    (run,) = find_runs([make_run(tmp_path_factory.mktemp("run"), trial_lines(mini, 3), config)])
    return json.loads(encode(evaluate(run, scorer)))


def nested(n):
    value = []
    for _ in range(n):
        value = [value]
    return value


Q01 = ("questions", "Q01")


@pytest.mark.parametrize(
    ("keys", "value", "message"),
    [
        ([*Q01, "scores", "fluency"], [1], "questions['Q01'].scores.fluency: expected an object, not a list"),
        ([*Q01, "scores", "fluency", "A"], "1", "questions['Q01'].scores.fluency['A']: expected a number, not '1'"),
        ([*Q01, "samples", 1, "answer"], None, "questions['Q01'].samples[1].answer: expected a string, not null"),
        ([*Q01, "samples"], {}, "questions['Q01'].samples: expected a list, not an object"),
        (["questions"], [], "questions: expected an object, not an empty list"),
        (["scores"], 1, "scores: expected an object, not 1"),
        (["scores"], {}, "scores: the key 'fluency' is missing"),
        (["score"], True, "score: expected a number, not true"),
        (["num_trials"], 10**400, f"num_trials: expected a whole number from 0 to 1e+15, not 1{'0' * 38}…"),
        (["config"], [1], "config: expected an object, not a list"),
        (["config"], {"a": nested(MAX_DEPTH)}, f"config: nested more than {MAX_DEPTH} deep"),
        (["input_hash"], 1, "input_hash: expected a string, not 1"),
    ],
)
def test_a_fault_is_named_with_its_place(good, keys, value, message):
    changed = copy.deepcopy(good)
    holder = changed
    for key in keys[:-1]:
        holder = holder[key]
    holder[keys[-1]] = value
    with pytest.raises(TrialsError) as raised:
        parse_result(changed, "x/result.json")
    assert str(raised.value) == f"x/result.json: not a result: {message}"


def test_scores_can_be_read_beside_samples_that_are_wrong(good, tmp_path):
    path = tmp_path / "result.json"
    path.write_text(json.dumps({**good, "questions": {"Q01": {**good["questions"]["Q01"], "samples": 1}}}))
    summary, scores = read_scores(path)
    assert summary == parse_result(good, "x").summary()
    assert scores == {"Q01": parse_result(good, "x").questions["Q01"].scores}
    with pytest.raises(TrialsError, match=r"questions\['Q01'\]\.samples: expected a list, not 1"):
        read_result(path)


def test_a_result_that_is_read_is_the_one_that_was_written(good):
    assert encode(parse_result(good, "x")) == json.dumps(good, ensure_ascii=False, indent=2).encode()


def test_a_leaderboard_needs_its_numbers(good, tmp_path):
    path = tmp_path / "result.json"
    path.write_text(json.dumps({**good, "score_std": None}))
    with pytest.raises(TrialsError, match=r"result\.json: score_std: a leaderboard needs a finite number here"):
        rank([path])
    problems = []
    assert rank([path], on_problem=problems.append) == []
    assert len(problems) == 1
