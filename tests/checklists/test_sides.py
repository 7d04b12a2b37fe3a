"""Two sides of judgements: how far they agree, and whether a judge has drifted: damage is found, noise is not."""

from __future__ import annotations

from dataclasses import replace
from operator import mul

import pytest
from makers import own_checklists
from makers.judged_runs import changed, judged, lowered, made_suite, side, trembling, written
from pfgen_fast.checklists.reliability.agreement import agreed, two_tables
from pfgen_fast.checklists.reliability.agreement_finding import agree
from pfgen_fast.checklists.reliability.drift import Drifted, drift_finding
from pfgen_fast.checklists.reliability.judge_selection import JudgeSelection
from pfgen_fast.checklists.reliability.paired_judgements import pair
from pfgen_fast.errors import ChecklistError
from pfgen_fast.statistics.mean_interval import mean_interval

WEIGHTS = (40.0, 30.0, 20.0, 10.0)
SUITE = made_suite(WEIGHTS)
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


def test_three_tasks_of_an_area_have_the_interval_of_students_t():
    few = {"beta": [one for one in FIRST["beta"] if one.id in ("fable-000", "fable-001", "fable-002")]}
    levels = {"fable-000": 0.25, "fable-001": 0.5, "fable-002": 0.75}
    first = changed(few, lambda _, one: replace(one, scores=(0.0,) * 4))
    second = changed(few, lambda _, one: replace(one, scores=(levels[one.id],) * 4))
    found = agreed(side(first), side(second), SUITE, draws=4000)
    expected = mean_interval([0.25, 0.5, 0.75])
    difference = found.levels["stories"][1]["mean_difference"]
    assert difference.cells == pytest.approx((0.5, expected.low, expected.high), abs=0.05)
    assert found.levels["stories"][1]["kappa"].value is None
    _, figures = found.answers["stories"]
    assert 0 < figures["mean_absolute_difference"].low < 50 < figures["mean_absolute_difference"].high == 100


def test_averages_are_means_of_areas_that_count_alike():
    found = two_tables(pair(side(FIRST), side(FIRST), SUITE))
    assert found.parts == ("letters", "stories")
    by_hand = []
    for area in ("letters", "stories"):
        ids = {task.id for task in SUITE.tasks if task.area == area}
        scores = [sum(map(mul, WEIGHTS, one.scores)) for one in FIRST["beta"] if one.id in ids]
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


def test_two_single_runs_are_compared_under_any_names_and_several_runs_by_name():
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
    with pytest.raises(ChecklistError, match="no run has sentinels"):
        JudgeSelection(SUITE).of_sentinels(paths[:1])


def test_the_command_prints_a_sentence_and_a_table_and_writes_files(tmp_path, call):
    suite = own_checklists.written(SUITE, tmp_path / "suite")
    paths = written(tmp_path / "a", FIRST), written(tmp_path / "b", changed(FIRST, trembling(0.2)))
    options = ("--suite", suite, "--draws", "20", "-o", tmp_path / "out")
    code, printed, _ = call("checklists", "agree", *paths, *options)
    assert code == 0
    assert printed.startswith("a and b give the same level in ")
    assert "place, a" in printed
    assert "judges:judge (judge-1) and judge (judge-2)|draws:20|seed:0" in printed
    tables = {path.stem for path in (tmp_path / "out").glob("*.csv")}
    assert tables == {f"agree-{name}" for name in ("models", "levels", "answers", "questions", "levels-crossed")}
    code, _, said = call("checklists", "agree", paths[0], "--suite", suite)
    assert (code, said.count("\n")) == (2, 1)
    assert "one judge only" in said


def drift(old, new, draws=0):
    return drift_finding(Drifted(agreed(old, new, SUITE, draws=draws)), old, new)


def test_damage_is_found_with_its_place_and_size():
    damaged = changed(FIRST, lowered("fable", 1, share=0.6))
    found = Drifted(agreed(side(FIRST), side(damaged), SUITE, draws=200))
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


def test_a_judge_with_random_changes_only_has_not_drifted():
    n_alarms = 0
    for seed in range(40):
        first, second = (side(changed(FIRST, trembling(0.4, one))) for one in (2 * seed, 2 * seed + 1))
        n_alarms += Drifted(agreed(first, second, SUITE, draws=0)).has_moved
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
def test_a_note_names_the_versions(old, judge, new, said):
    before = side(changed(FIRST, lambda _, one: replace(one, version=old)), "s")
    now = side(changed(FIRST, lambda _, one: replace(one, judge=judge, version=new)), "s")
    assert any(said in note for note in drift(before, now).notes)


def test_the_command_ends_with_1_if_asked_to_check_and_two_versions_in_one_path_are_before_and_now(tmp_path, call):
    suite = own_checklists.written(SUITE, tmp_path / "suite")
    old, same = written(tmp_path / "old", FIRST), written(tmp_path / "same", FIRST)
    assert "drift compares two sides, not 1" in call("checklists", "drift", old, "--suite", suite)[2]
    options = ("--suite", suite, "--check", "--draws", "10")
    code, printed, _ = call("checklists", "drift", old, same, *options)
    assert code == 0
    assert printed.startswith("No drift: all verdicts on all 144 answers are the same.")
    new = changed(changed(FIRST, lowered("fable", 1)), lambda _, one: replace(one, version="judge-2"))
    path = written(tmp_path / "runs", {model: [*FIRST[model], *new[model]] for model in FIRST})
    code, printed, said = call("checklists", "drift", path, *options)
    assert code == 1
    assert "most of all question 2 of stories/fable" in printed
    assert "was judge-1 and is judge-2" in said


def test_sentinels_are_compared_with_the_former_judgements(tmp_path, call):
    suite, path = own_checklists.written(SUITE, tmp_path / "suite"), written(tmp_path / "runs", FIRST)
    for time, change in (("001", trembling(0.0)), ("002", lowered("complaint", 3))):
        for model, listed in changed(FIRST, change).items():
            again = written(tmp_path / "again", {model: listed[:12]}) / model / "judgements.jsonl"
            (path / model / "sentinels").mkdir(exist_ok=True)
            again.rename(path / model / "sentinels" / f"{time}.jsonl")
    _, printed, _ = call("checklists", "drift", path, "--sentinels", "--suite", suite, "--draws", "10")
    assert "question 4 of letters/complaint" in printed
