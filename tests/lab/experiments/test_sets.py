from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from pfgen_fast import ExperimentError, Suite
from pfgen_fast.lab.experiments import read_figures
from pfgen_fast.lab.experiments.sets import scores_by_set, sets


def with_one_set(suite, name):
    return Suite("alone", tuple(replace(q, answers={name: q.answers[name]}) for q in suite), suite.metadata_hash)


def test_one_set_alone_scores_as_a_suite_of_that_set(scored, varied, mini):
    of_b = read_figures([varied], suite=with_one_set(mini, "B"))
    by_set = scores_by_set(scored)
    assert by_set.questions == "the 8 questions that have the sets A, B"
    assert by_set.scores["B"] == pytest.approx(of_b.means["score"], abs=2e-5)  # rounded before it is multiplied
    assert by_set.with_sets(["A", "B"]) == pytest.approx(scored.means["score"], abs=2e-5)


def test_sets_are_compared_on_the_questions_that_have_them_all(scored, mini):
    with pytest.raises(ExperimentError, match="only one reference set"):
        scores_by_set(replace(scored, suite=with_one_set(mini, "A")))
    with pytest.raises(ExperimentError, match=r"^the suite has no set 'Z'; it has A, B$"):
        scores_by_set(scored, ["A", "Z"])
    with pytest.raises(ExperimentError, match="expected at least two"):
        scores_by_set(scored, ["A", "A"])
    without = (replace(question, answers={"B": question.answers["B"]}) for question in mini.questions[:2])
    lacking = Suite("lacking", (*without, *mini.questions[2:]), mini.metadata_hash)
    by_set = scores_by_set(replace(scored, suite=lacking))
    assert by_set.questions == "the 6 questions that have the sets A, B"
    fluency, truthfulness = (scored.set_scores[metric]["A"][:, 2:] for metric in ("fluency", "truthfulness"))
    helpfulness = scored.question_scores["helpfulness"][:, 2:]
    assert by_set.scores["A"] == pytest.approx(((fluency + truthfulness + helpfulness) / 3).mean(axis=1))


def test_pairs_have_their_correlation_and_every_run_its_scores(scored):
    by_set = scores_by_set(scored)
    finding = sets(by_set)
    assert [table.name for table in finding.tables] == ["pairs", "matrix", "scores"]
    (pair,) = finding.tables[0].rows
    assert pair[:4] == ("A", "B", 6, 6)
    assert pair[5:7] == (None, None)
    assert any("of only 6 models" in note for note in finding.notes)
    assert pair[4] == pytest.approx(np.corrcoef(by_set.scores["A"], by_set.scores["B"])[0, 1])
    assert f"A-B {pair[4]:.5f}" in finding.paragraph
    scores = {row[0]: row[2:] for row in finding.tables[2].rows}
    for run, name in enumerate(scored.names):
        assert scores[name] == (by_set.scores["A"][run], by_set.scores["B"][run])


def test_the_command_takes_runs(call, tmp_path, varied, undrawn):
    code, out, _ = call("experiment", "sets", varied, "-s", "mini", "-o", tmp_path / "runs")
    assert code == 0
    assert "A-B" in out
    code, _, err = call("experiment", "sets", varied, "-s", "mini", "--set", "Z", "-o", tmp_path / "none")
    assert (code, "no set 'Z'" in err) == (2, True)
    assert not (tmp_path / "none").exists()
