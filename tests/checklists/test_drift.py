"""Drift of a judge: damage that is put in is found with its size, copies and noise give none."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from makers.judged_runs import changed, judged, lowered, made_suite, side, trembling, written, written_suite
from pfgen_fast.checklists.reliability.drift import drift_finding, drifted

SUITE = made_suite(weights=(40.0, 30.0, 20.0, 10.0))
FIRST = judged(SUITE)


def drift(old, new, draws=0):
    return drift_finding(drifted(old, new, SUITE, draws=draws), old, new)


def test_damage_is_found_with_its_place_and_size():
    damaged = changed(FIRST, lowered("fable", 1, share=0.6))
    found = drifted(side(FIRST), side(damaged), SUITE, draws=200)
    pairs = [pair for model in FIRST for pair in zip(damaged[model], FIRST[model], strict=True)]
    true = [one.scores[1] - before.scores[1] for one, before in pairs if one.id.startswith("fable")]
    question, shift = found.questions[0]
    assert question.labels == ("stories", "fable", 2)
    assert shift.size == pytest.approx(sum(true) / len(true))
    assert shift.has_moved
    assert [one.has_moved for _, one in found.questions].count(True) == 1
    part = found.parts["stories"]
    assert part.size == pytest.approx(4 * 30 * sum(true) / len(true))
    assert part.shift.low < part.size < part.shift.high < 0
    assert (found.parts["letters"].size, found.parts["letters"].has_moved) == (0, False)
    answer = drift(side(FIRST), side(damaged), draws=20).answer
    assert answer.startswith("The judge has drifted")
    assert "question 2 of stories/fable" in answer


def test_a_judge_that_only_trembles_has_not_drifted():
    n_alarms = 0
    for seed in range(40):
        first, second = (side(changed(FIRST, trembling(0.4, one))) for one in (2 * seed, 2 * seed + 1))
        n_alarms += drifted(first, second, SUITE, draws=0).has_moved
    assert n_alarms <= 4
    answer = drift(side(FIRST), side(changed(FIRST, trembling(0.4, 3)))).answer
    assert answer.startswith("No drift can be shown: verdicts on ")


def test_pairs_of_models_whose_order_changes_are_named():
    def swapped(model, one):
        return replace(one, scores=(0.0,) * 4) if model == "alpha" else one

    found = drift(side(FIRST, "old"), side(changed(FIRST, swapped), "new"), draws=20)
    (reversed_pairs,) = (table for table in found.tables if table.name == "reversed")
    assert {row[:2] for row in reversed_pairs.rows} == {("alpha", one) for one in ("beta", "gamma", "delta")}
    assert "Of 6 pairs of models 3 change their order" in found.paragraph


@pytest.mark.parametrize(
    ("old", "judge", "new", "said"),
    [
        ("v1", "judge", "v2", "the version of the judge was v1 and is v2"),
        ("v1", "judge", "v1", "both sides name the same version, v1"),
        (None, "judge", "v1", "the version of the judge is unknown on a side"),
        ("v1", "other", "v1", "this is no drift of one judge"),
    ],
)
def test_the_versions_are_told(old, judge, new, said):
    before = side(changed(FIRST, lambda _, one: replace(one, version=old)), "s")
    now = side(changed(FIRST, lambda _, one: replace(one, judge=judge, version=new)), "s")
    assert any(said in note for note in drift(before, now).notes)


def test_the_command_ends_with_1_if_asked_to_check(tmp_path, call):
    suite = written_suite(tmp_path / "suite", SUITE)
    old, same = written(tmp_path / "old", FIRST), written(tmp_path / "same", FIRST)
    assert "drift compares two sides, not 1" in call("checklists", "drift", old, "--suite", suite)[2]
    new = written(tmp_path / "new", changed(FIRST, lowered("fable", 1)))
    options = ("--suite", suite, "--check", "--draws", "10")
    code, printed, _ = call("checklists", "drift", old, same, *options)
    assert code == 0
    assert printed.startswith("No drift: all verdicts on all 144 answers are the same.")
    code, printed, _ = call("checklists", "drift", old, new, *options, "--json", "--mixed")
    assert code == 1
    assert json.loads(printed)["tables"]["questions"][0]["category"] == "fable"


def test_two_versions_in_one_path_are_before_and_now(tmp_path, call):
    suite = written_suite(tmp_path / "suite", SUITE)
    lower = lowered("thanks", 0)
    new = changed(FIRST, lambda model, one: replace(lower(model, one), version="judge-2"))
    path = written(tmp_path / "runs", {model: [*FIRST[model], *new[model]] for model in FIRST})
    _, printed, said = call("checklists", "drift", path, "--suite", suite, "--draws", "10")
    assert printed.startswith("The judge has drifted")
    assert "was judge-1 and is judge-2" in said


def test_sentinels_are_compared_with_the_former_judgements(tmp_path, call):
    suite, path = written_suite(tmp_path / "suite", SUITE), written(tmp_path / "runs", FIRST)
    for time, change in (("001", trembling(0.0)), ("002", lowered("complaint", 3))):
        for model, listed in changed(FIRST, change).items():
            again = written(tmp_path / "again", {model: listed[:12]}) / model / "judgements.jsonl"
            (path / model / "sentinels").mkdir(exist_ok=True)
            again.rename(path / model / "sentinels" / f"{time}.jsonl")
    _, printed, _ = call("checklists", "drift", path, "--sentinels", "--suite", suite, "--draws", "10")
    assert "question 4 of letters/complaint" in printed
