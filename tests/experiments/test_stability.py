"""The experiment `stability`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from makers.runs import make_varied_runs
from pfgen_fast import ExperimentError, Suite
from pfgen_fast.experiments import score_runs
from pfgen_fast.experiments.stability import (
    REFERENCE_ANSWERS,
    CutReferences,
    Fewer,
    cut_suite,
    leave_one_out,
    scores_of_trials,
    smallest_with_same_ranking,
    stability,
)
from pfgen_fast.statistics.correlation import kendall
from pfgen_fast.suite.units import PatternTokenizer


@pytest.fixture(scope="module")
def cut():
    return CutReferences((50, 5), n_draws=2, threads=2)


@pytest.fixture(scope="module")
def scored(varied, mini, cut):
    return score_runs([varied], suite=mini, threads=2, on_batch=cut)


def test_places_without_a_question_are_those_of_the_other_questions(scored):
    without = leave_one_out(scored)
    for left_out in range(without.shape[1]):
        others = np.delete(scored.question_scores["score"], left_out, axis=1).mean(axis=1)
        assert without[:, left_out].tolist() == (1 + (others[None, :] > others[:, None]).sum(axis=1)).tolist()


def test_fewer_reference_answers_are_scored_as_a_suite_that_has_no_more(scored, varied, mini, cut):
    (size, scores), *_ = cut.scores
    assert size == 50
    smaller = cut_suite(mini, 50, np.random.default_rng((0, 50, 0)))
    assert scores == pytest.approx(score_runs([varied], suite=smaller).means["score"], abs=1e-5)
    rest = iter(mini["Q01"].answers["A"])
    assert all(answer in rest for answer in smaller["Q01"].answers["A"])  # in file order


def test_questions_that_count_tokens_are_cut_and_scored_as_others(tmp_path, mini):
    in_words = Suite(
        "in words",
        tuple(replace(question, tokenizer=PatternTokenizer("words")) for question in mini),
        mini.metadata_hash,
    )
    make_varied_runs(tmp_path, mini, n_runs=3, n_trials=1)
    cut = CutReferences((50,), n_draws=1)
    scored = score_runs([tmp_path], suite=in_words, on_batch=cut)
    ((_, scores),) = cut.scores
    smaller = cut_suite(in_words, 50, np.random.default_rng((0, 50, 0)))
    assert scores == pytest.approx(score_runs([tmp_path], suite=smaller).means["score"], abs=1e-5)
    assert stability(scored, cut, n_draws=2).tables[-1].name == "fewer"


def test_more_reference_answers_than_there_are_cannot_be_drawn(tmp_path, mini):
    make_varied_runs(tmp_path, mini, n_runs=3, n_trials=1)
    with pytest.raises(ExperimentError, match="1000 reference answers: expected fewer than 220"):
        score_runs([tmp_path], suite=mini, on_batch=CutReferences((50, 1000)))
    usual = CutReferences(n_draws=1)
    score_runs([tmp_path], suite=mini, on_batch=usual)
    assert {size for size, _ in usual.scores} < set(REFERENCE_ANSWERS)


def test_sets_without_enough_answers_to_draw_from_are_counted(tmp_path, mini):
    make_varied_runs(tmp_path, mini, n_runs=3, n_trials=1)
    first = mini.questions[0]
    short = replace(first, answers={"A": first.answers["A"][:30], "B": first.answers["B"][:20]})
    suite = Suite("short", (short, *mini.questions[1:]))
    cut = CutReferences((30, 10), n_draws=1)
    finding = stability(score_runs([tmp_path], suite=suite, on_batch=cut), cut, n_draws=2)
    assert finding.notes == (
        "2 of 16 reference sets have no more than 30 answers and keep them all where 30 are drawn; the smallest has 20",
    )


def test_other_draws_take_other_reference_answers(mini):
    first, second = (cut_suite(mini, 20, np.random.default_rng((0, 20, draw))) for draw in (0, 1))
    assert first["Q01"].answers["A"] != second["Q01"].answers["A"]
    assert cut_suite(mini, 10_000, np.random.default_rng(0))["Q01"].answers["A"] == mini["Q01"].answers["A"]


def test_the_smallest_number_is_that_from_which_on_all_are_enough():
    def steps(*means):
        return [Fewer("trials", n, 9, (mean,)) for n, mean in zip((1, 2, 3, 4), means, strict=True)]

    assert smallest_with_same_ranking(steps(0.5, 0.96, 0.97, 1.0)) == 2
    assert smallest_with_same_ranking(steps(0.99, 0.5, 0.97, 1.0)) == 3
    assert smallest_with_same_ranking(steps(1.0, 1.0, 1.0, 0.95)) is None


def test_all_trials_but_none_more_are_drawn(tmp_path, mini):
    """A run with a single trial keeps it in every draw, so with equal trials nothing changes."""
    make_varied_runs(tmp_path, mini, n_runs=4, n_trials=1)
    make_varied_runs(tmp_path / "more", mini, n_runs=3, n_trials=4)
    finding = stability(score_runs([tmp_path], suite=mini), n_draws=5)
    trials = [row for row in finding.tables[-1].rows if row[0] == "trials"]
    assert [row[1] for row in trials] == [2, 1]
    assert all(row[3] > 0.5 for row in trials)


def test_the_finding_names_its_numbers(scored, cut):
    finding = stability(scored, cut, n_draws=5)
    assert [table.name for table in finding.tables] == ["ranks", "fewer"]
    assert {row[0] for row in finding.tables[1].rows} == {"reference answers per set", "questions", "trials"}
    assert finding.tables[1].rows == stability(scored, cut, n_draws=5).tables[1].rows


def test_equal_scores_of_all_runs_are_no_experiment(scored):
    same = replace(
        scored, question_scores={**scored.question_scores, "score": np.ones_like(scored.question_scores["score"])}
    )
    with pytest.raises(ExperimentError, match="score is 1 for all 6 runs"):
        stability(same)


def test_the_command_draws_what_is_asked_for(call, varied, tmp_path):
    code, out, _ = call(
        "experiment", "stability", varied, "-s", "mini", "--references", "20", "--draws", "3", "-o", tmp_path
    )
    assert code == 0
    assert "The ranking stays the same with" in out
    assert "20,2," in (tmp_path / "stability-fewer.csv").read_text().replace(",3,", ",2,")


def test_a_trial_is_one_answer_to_each_question_whatever_the_order_of_the_file(scored, mini):
    by_run = scores_of_trials(scored, np.random.default_rng(0))
    assert len(by_run) == len(scored.names)
    for run, trials in enumerate(by_run):
        assert len(trials) == 3
        assert trials.mean() == pytest.approx(scored.question_means(scored.answer_scores["score"])[run].mean())
    again, other = (scores_of_trials(scored, np.random.default_rng(seed)) for seed in (0, 1))
    assert by_run[0].tolist() == again[0].tolist() != other[0].tolist()


def test_drawn_answers_are_compared_with_all_references_and_counted(varied, mini):
    cut = CutReferences((50,), n_draws=1, trials=2, seed=3)
    scored = score_runs([varied], suite=mini, on_batch=cut)
    finding = stability(scored, cut, n_draws=2)
    assert finding.notes[0].startswith("96 of 144 answers were scored with fewer reference answers: 2 to each question")
    assert cut.usual.tolist() != pytest.approx(scored.means["score"].tolist(), abs=1e-4)  # of two thirds of the answers
    (row,) = [row for row in finding.tables[-1].rows if row[0] == "reference answers per set"]
    assert row[3] == kendall(cut.usual, cut.scores[0][1])
