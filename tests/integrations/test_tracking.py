"""What trackers are told of a run: the figures of its result, and nothing that a tracker cannot take."""

import dataclasses
import json
import math
import re

import pytest
from makers.runs import make_run, trial_lines
from pfgen_fast import PfgenError, TrialsError
from pfgen_fast.integrations.tracking import _tracked, log_run
from pfgen_fast.runs.leaderboard import rank
from pfgen_fast.runs.run_result import parse_result, read_result
from pfgen_fast.runs.run_scorer import RunScorer
from pfgen_fast.runs.trials import find_runs


def tracked(run, suite=None, *, report=True):
    return _tracked(run, suite, report=report)


@pytest.fixture(scope="module")
def outcome(tmp_path_factory, mini):
    folder = tmp_path_factory.mktemp("tracked") / "run"
    make_run(folder, trial_lines(mini, 3), {"model": "org/model", "mode": "qa", "temperature": 1.0})
    (outcome,) = RunScorer(suite=mini, force=True).score(find_runs([folder]))
    return outcome


@pytest.fixture
def result(outcome):
    return read_result(outcome.path)


def test_the_metrics_are_the_figures_of_the_result(outcome, result):
    metrics = tracked(result).metrics
    (entry,) = rank([outcome.path])
    assert metrics["pfgen/score"] == outcome.summary.score
    assert {part: metrics[f"pfgen/{part}"] for part in ("fluency", "truthfulness", "helpfulness")} == {
        part: entry.part(part) for part in ("fluency", "truthfulness", "helpfulness")
    }
    assert (metrics["pfgen/score_low"], metrics["pfgen/score_high"]) == (entry.interval().low, entry.interval().high)
    assert metrics["pfgen/fluency_low"] < metrics["pfgen/fluency"] < metrics["pfgen/fluency_high"]
    assert (metrics["pfgen/n_trials"], metrics["pfgen/n_answers"]) == (3, 24)
    assert {name: value for name, value in metrics.items() if "_questions/" in name} == {
        f"pfgen_questions/{question_id}": question.score for question_id, question in result.questions.items()
    }
    named = {*result.to_dict(), "low", "high", "n", "trials", "answers", "fluency", "truthfulness", "helpfulness"}
    assert all(set(name.partition("/")[2].split("_")) <= named for name in metrics if "_questions/" not in name)


@pytest.mark.slow
def test_a_result_an_outcome_and_a_folder_say_the_same(outcome, result, mini):
    from_outcome = tracked(outcome)
    assert from_outcome.tags["signature"] == outcome.signature
    assert from_outcome.tags["suite_hash"] == mini.metadata_hash
    assert from_outcome.parameters == {"model": "org/model", "mode": "qa", "temperature": "1.0"}
    assert from_outcome.name == "org/model"
    for same in (result, outcome.path, outcome.path.parent, str(outcome.path.parent)):
        actual = tracked(same, mini)
        assert actual._replace(
            page=None, tags={**actual.tags, "signature": outcome.signature}
        ) == from_outcome._replace(page=None)
        assert '"org/model"' in actual.page
        assert "signature" not in actual.tags  # a result.json does not say it
    assert tracked(result).page is None
    assert tracked(outcome, report=False).page is None


def test_the_tables_hold_each_question_and_the_sampled_answers(result, mini):
    tables = tracked(result).tables
    (questions, answers) = tables["questions"], tables["answers"]
    assert [row[:3] for row in questions.rows] == [
        (question_id, question.question, question.score) for question_id, question in result.questions.items()
    ]
    assert tuple(column.name for column in questions.columns[2:]) == (
        "score", "score_std", "fluency", "truthfulness", "helpfulness", "length",
    )  # fmt: skip
    samples = [(key, sample) for key, question in result.questions.items() for sample in question.samples]
    assert [row[:3] for row in answers.rows] == [(key, sample.answer, sample.scores.average) for key, sample in samples]
    assert "超過" not in str(answers.rows)
    assert all(len(row) == len(table.columns) for table in tables.values() for row in table.rows)


def test_a_hostile_result_is_bounded_and_made_harmless(result):
    value = json.loads(json.dumps(result.to_dict()))
    value["score"] = math.nan
    value["config"] = {"model": "\x1b[31m" + "m" * 100_000, "../../etc": "x" * 100_000} | {
        f"key {number}": [number] for number in range(500)
    }
    first, *_ = value["questions"].values()
    first["samples"][0]["answer"] = "\u202ea" * 100_000
    first["score"] = math.inf
    value["questions"] = {"../..": first, "a\nb": first, "": first, "質問": {**first, "score": 0.5}}
    actual = tracked(parse_result(value, "a file"))
    assert "pfgen/score" not in actual.metrics
    assert [name for name in actual.metrics if "_questions" in name] == ["pfgen_questions/質問"]
    assert len(actual.parameters) == 100
    assert all(re.fullmatch(r"[\w-]{1,100}", name) for name in actual.parameters)
    assert max(map(len, actual.parameters.values())) < 500
    assert len(actual.name) < 500
    texts = [cell for table in actual.tables.values() for row in table.rows for cell in row if isinstance(cell, str)]
    assert max(map(len, texts)) <= 6 * 10_000
    assert not any(character in text for text in (*texts, actual.name) for character in "\x1b\u202e")


def test_runs_that_cannot_be_logged_are_one_clear_sentence(outcome, result, mini, tmp_path, make_suite):
    with pytest.raises(TrialsError, match=r"result\.json: no such file; write it with 'pfgen-fast score .*'"):
        tracked(tmp_path)
    with pytest.raises(PfgenError, match=r"unknown tracker 'wandbb'.*did you mean 'wandb'"):
        log_run(result, "wandbb")
    with pytest.raises(PfgenError, match="is not in suite"):
        tracked(result, make_suite({}))
    with pytest.raises(PfgenError, match="no trials"):
        tracked(dataclasses.replace(outcome, error="no trials"))
