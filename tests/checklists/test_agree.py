"""Sides, and how far they agree."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from makers.judged_runs import changed, judged, lowered, made_suite, side, trembling, written, written_suite
from pfgen_fast.checklists.reliability.agreement import agreed, two_tables
from pfgen_fast.checklists.reliability.agreement_finding import agree
from pfgen_fast.checklists.reliability.judge_selection import JudgeSelection
from pfgen_fast.checklists.reliability.paired_judgements import pair
from pfgen_fast.errors import ChecklistError

SUITE = made_suite()
FIRST = judged(SUITE)


def test_a_lowered_question_is_seen_at_that_question():
    found = agreed(side(FIRST), side(changed(FIRST, lowered("thanks", 2))), SUITE, draws=50)
    assert found.levels["all"][0] == 4 * 36 * 4
    questions = zip(found.pairing.questions, found.questions, strict=True)
    ((question, one),) = (pair for pair in questions if pair[1].same != 1)
    assert question.labels == ("letters", "thanks", 3)
    assert -0.25 <= one.mean_difference < -0.2
    assert found.levels["stories"][1]["same"].value == 1
    difference = found.levels["letters"][1]["mean_difference"]
    assert difference.low < difference.value < difference.high < 0


def test_averages_are_means_of_areas_that_count_alike():
    found = two_tables(pair(side(FIRST), side(FIRST), SUITE))
    assert found.parts == ("letters", "stories")
    by_hand = []
    for area in ("letters", "stories"):
        ids = {task.id for task in SUITE.tasks if task.area == area}
        scores = [25 * sum(one.scores) for one in FIRST["beta"] if one.id in ids]
        by_hand.append((sum(scores) / len(scores) - 75) * 4)
    assert found.values[0][found.models.index("beta")] == pytest.approx(sum(by_hand) / 2)


def test_ratings_of_a_score_are_averaged_and_compared_one_by_one():
    first = {"m": [replace(one, rating=rating) for one in FIRST["beta"] for rating in (1, 2)]}
    second = changed(first, lambda _, one: replace(one, scores=(0.0,) * 4) if one.rating == 2 else one)
    found = agreed(side(first), side(second), SUITE, draws=0)
    assert found.pairing.n_answers == 36
    assert found.levels["all"][0] == 2 * 36 * 4
    assert found.levels["all"][1]["same"].value == pytest.approx(0.5, abs=0.06)
    assert found.pairing.verdicts[1] == pytest.approx(found.pairing.verdicts[0] / 2)


def test_only_answers_with_the_same_text_and_checklist_are_compared():
    def with_checklist(digit):
        return changed(FIRST, lambda _, one: replace(one, checklist_sha256=digit) if one.id == "fable-001" else one)

    first = with_checklist("1")
    second = changed(
        with_checklist("2"), lambda _, one: replace(one, response_sha256="0" * 64) if one.id == "fable-000" else one
    )
    del second["delta"]
    second["alpha"] = second["alpha"][:-1]
    found = pair(side(first, "a"), side(second, "b"), SUITE)
    assert found.models == ("alpha", "beta", "gamma")
    assert found.n_answers == 3 * 34 - 1
    assert sorted(found.notes()) == [
        "1 answers are left out: only one side judged them",
        "3 answers are left out: the sides judged by other checklists",
        "3 answers are left out: the sides judged other texts",
        "36 answers are left out: b does not have their model",
    ]


def test_a_single_run_is_compared_whatever_its_name_and_others_only_by_name():
    assert pair(side({"x": FIRST["alpha"]}), side({"y": FIRST["alpha"]}), SUITE).models == ("x",)
    with pytest.raises(ChecklistError, match=r"have no judged answer in common .*other does not have their model: 72"):
        pair(side({"a": FIRST["alpha"], "b": FIRST["beta"]}), side({"c": FIRST["alpha"]}, "other"), SUITE)


def test_kappa_is_said_to_be_empty_where_a_side_gives_one_level():
    second = changed(FIRST, lambda _, one: replace(one, scores=(1.0, *one.scores[1:])))
    notes = agree([side(FIRST, "a"), side(second, "b")], SUITE, draws=0).notes
    assert "kappa is empty for 3 of 12 questions, where a side gave one level only" in notes


def test_three_judges_are_compared_in_pairs_and_all_together():
    sides = [side(FIRST, "a"), side(FIRST, "b"), side(changed(FIRST, trembling(0.3)), "c")]
    found = agree(sides, SUITE, draws=10)
    assert "Krippendorff's alpha of 3 judges over 576 verdicts is 0.9" in found.answer
    (alpha, pairs) = found.tables
    assert [row[0] for row in alpha.rows] == ["all", "letters", "stories"]
    assert [row[:2] for row in pairs.rows] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert pairs.rows[0][4] == 1


def test_a_path_has_a_side_for_each_judge_and_version_and_paths_are_named_by_the_ends_that_differ(tmp_path):
    both = {m: [*listed, *(replace(one, judge="second") for one in listed)] for m, listed in FIRST.items()}
    again = {m: [*listed, *(replace(one, version="judge-2") for one in listed)] for m, listed in FIRST.items()}
    judges, versions = written(tmp_path / "j", both), written(tmp_path / "v", again)
    assert [one.name for one in JudgeSelection(SUITE).of_each([judges])] == ["j judge judge-1", "j second judge-1"]
    assert [one.version for one in JudgeSelection(SUITE).of_each([versions])] == ["judge-1", "judge-2"]
    (mixed,) = JudgeSelection(SUITE, mixed=True).of_each([versions])
    assert mixed.version is None
    (whole,) = JudgeSelection(SUITE, mixed=True).of_each([written(tmp_path / "w", FIRST)])
    assert whole.version == "judge-1"
    assert [one.judge for one in JudgeSelection(SUITE, judge="second").of_each([judges])] == ["second"]
    with pytest.raises(ChecklistError, match=r"judge 'secnd'|secnd"):
        JudgeSelection(SUITE, judge="secnd").of_each([judges])
    paths = [written(tmp_path / name / "runs", FIRST) for name in ("old", "new")]
    assert [one.name for one in JudgeSelection(SUITE).of_each(paths)] == ["old/runs", "new/runs"]


def test_runs_without_sentinels_are_refused(tmp_path):
    folder = written(tmp_path / "a", {"alpha": []})
    with pytest.raises(ChecklistError, match="no run has sentinels"):
        JudgeSelection(SUITE).of_sentinels([folder])


def test_the_command_prints_a_sentence_and_a_table(tmp_path, call):
    suite = written_suite(tmp_path / "suite", SUITE)
    paths = written(tmp_path / "a", FIRST), written(tmp_path / "b", changed(FIRST, trembling(0.2)))
    code, printed, _ = call("checklists", "agree", *paths, "--suite", suite, "--draws", "20")
    assert code == 0
    assert printed.startswith("a and b give the same level in ")
    assert "place, a" in printed
    assert "judges:judge (judge-1) and judge (judge-2)|draws:20|seed:0" in printed
    options = ("--suite", suite, "--draws", "20", "--json", "-o", tmp_path / "out")
    code, printed, _ = call("checklists", "agree", *paths, *options)
    found = json.loads(printed)
    assert (tmp_path / "out" / "agree-questions.csv").exists()
    assert {"models", "levels", "answers", "questions", "levels-crossed"} == set(found["tables"])
    assert found["tables"]["levels"][0]["part"] == "all"
    code, _, said = call("checklists", "agree", paths[0], "--suite", suite)
    assert (code, said.count("\n")) == (2, 1)
    assert "one judge only" in said
