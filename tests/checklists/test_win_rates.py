"""Win rates: from verdicts and from people's choices, by each rule for ties, at equal lengths, and bad input."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from makers.judged_runs import MODELS, judged, made_suite, written
from makers.people import write_rows
from pfgen_fast.checklists import open_runs, score_runs
from pfgen_fast.checklists.judgements import Judgement
from pfgen_fast.checklists.people.marks import Pair
from pfgen_fast.checklists.reliability.win_finding import win_finding
from pfgen_fast.checklists.reliability.win_rates import WinRate, wins_of_people, wins_of_verdicts
from pfgen_fast.checklists.runs import Answer, write_run
from pfgen_fast.checklists.suite_writing import write_suite
from pfgen_fast.checklists.tasks import sha256_of
from pfgen_fast.errors import ChecklistError

SUITE = made_suite((40.0, 30.0, 20.0, 10.0))
IDS = [task.id for task in SUITE.tasks]


def rows(levels: Sequence[float], words: int | None = 100) -> list[Judgement]:
    """Judgements of the first tasks with these levels for all questions."""
    listed = zip(IDS, levels, strict=False)
    return [Judgement(id, sha256_of(id), (level,) * 4, judge="j", words=words) for id, level in listed]


def scored(folder: Path, models: Mapping[str, list[Judgement]]) -> Any:
    return score_runs(SUITE, open_runs([written(folder, models)]), draws=0)


def counts(one: WinRate) -> tuple[int, int, int]:
    return one.n_wins, one.n_ties, one.n_losses


@pytest.mark.parametrize(
    ("ties", "rate", "of_reference"), [("half", 0.5, 0.5), ("skip", 0.5, 0.5), ("win", 0.7, 0.3), ("loss", 0.3, 0.7)]
)
def test_ties_count_as_the_user_says(tmp_path, ties, rate, of_reference):
    scores = scored(tmp_path, {"a": rows([1] * 3 + [0.5] * 4 + [0] * 3), "b": rows([0.5] * 10)})
    (one,) = wins_of_verdicts(scores, ties=ties).against("b")
    assert (one.model, one.other, counts(one), one.n_tasks) == ("a", "b", (3, 4, 3), 10)
    assert one.rate.value == pytest.approx(rate)
    assert one.rate.low < rate < one.rate.high
    (other,) = wins_of_verdicts(scores, ties=ties).against("a")
    assert (counts(other), other.rate.value) == ((3, 4, 3), pytest.approx(rate if ties != "half" else of_reference))


def test_scores_that_differ_by_rounding_tie_and_only_common_tasks_count(tmp_path):
    other = made_suite((0.1 + 0.2, 0.3, 50.0, 49.4))
    models = {"a": rows([1, 1, 0]), "b": rows([0, 1])}
    models["a"][0] = replace(models["a"][0], scores=(1.0, 0.0, 0.0, 0.0))
    models["b"][0] = replace(models["b"][0], scores=(0.0, 1.0, 0.0, 0.0))
    scores = score_runs(other, open_runs([written(tmp_path, models)]), draws=0)
    (one,) = wins_of_verdicts(scores).against("b")
    assert (counts(one), one.rate.value, one.n_tasks) == ((0, 2, 0), 0.5, 2)


def test_all_wins_have_an_interval_below_one_and_trials_are_one_cluster(tmp_path):
    scores = scored(tmp_path, {"a": rows([1] * 8), "b": rows([0] * 8)})
    (one,) = wins_of_verdicts(scores).against("b")
    assert (one.rate.value, one.rate.high) == (1, 1)
    assert 0.5 < one.rate.low < 0.8
    both = {"a": rows([1] * 3 + [0] * 3), "b": rows([0.5] * 6)}
    twice = {model: [replace(row, trial=trial) for row in of for trial in (1, 2)] for model, of in both.items()}
    once, doubled = (
        wins_of_verdicts(scored(tmp_path / name, models)).against("b")[0]
        for name, models in (("once", both), ("twice", twice))
    )
    assert doubled.n == 4 * once.n
    assert doubled.rate.cells == pytest.approx(once.rate.cells)


def test_between_all_each_model_meets_all_others_and_pairs_add_up(tmp_path):
    scores = scored(tmp_path, judged(SUITE))
    wins = wins_of_verdicts(scores)
    rates = {one.model: one for one in wins.between_all()}
    assert list(rates) == list(MODELS)
    assert sum(one.rate.value for one in rates.values()) == pytest.approx(len(MODELS) / 2)
    pairs = wins.of_all_pairs()
    assert len(pairs) == 6
    of_alpha = [one for one in pairs if "alpha" in (one.model, one.other)]
    shares = [one.rate.value if one.model == "alpha" else 1 - one.rate.value for one in of_alpha]
    assert rates["alpha"].rate.value == pytest.approx(sum(shares) / 3)
    only = wins_of_verdicts(scores, reference="alpha")
    assert [one.rate for one in only.against("alpha")] == [one.rate for one in wins.against("alpha")]
    of_areas = wins.in_areas("alpha")["beta"]
    assert (24 * of_areas["letters"] + 12 * of_areas["stories"]) / 36 == pytest.approx(
        next(one.rate.value for one in wins.against("alpha") if one.model == "beta")
    )
    finding = win_finding([wins], None, "s")
    assert finding.answer.startswith("Against all other models: by verdicts, alpha wins ")
    assert [table.name for table in finding.tables] == ["wins", "pairs"]
    assert [picture.name for picture in finding.pictures] == ["rates-verdicts", "pairs-verdicts"]


def test_at_equal_lengths_needs_lengths_and_symmetric_ties(tmp_path):
    wins = wins_of_verdicts(scored(tmp_path, judged(SUITE)))
    controlled = {one.model: one.at_equal_lengths.value for one in wins.against("beta")}
    reverse = {one.model: one.at_equal_lengths for one in wins.against("alpha")}
    assert controlled["alpha"] == pytest.approx(1 - reverse["beta"].value)
    assert reverse["beta"].low < reverse["beta"].value < reverse["beta"].high
    asymmetric = replace(wins, ties="win")
    assert (asymmetric.control, asymmetric.why_uncontrolled) == (None, "they need --ties half or skip")
    unknown = wins_of_verdicts(scored(tmp_path / "u", {"a": rows([1] * 12), "b": rows([0] * 12, None)}))
    assert (unknown.control, unknown.why_uncontrolled) == (None, "some lengths are unknown")
    assert unknown.against("b")[0].difference is None
    few = wins_of_verdicts(scored(tmp_path / "f", {"a": rows([1, 0], 9), "b": rows([0, 1], 5)}))
    assert (few.control, few.against("b")[0].difference) == (None, 4)
    assert "at least 10 tasks are needed" in win_finding([few], "b", "s").paragraph


def choice(id: str, first: str, second: str, said: Any, annotator: str = "a") -> Pair:
    task = SUITE.by_key[id, None]
    return Pair(
        id=id,
        length=None,
        annotator=annotator,
        area=task.area,
        category=task.category,
        first_sha256=sha256_of(first),
        second_sha256=sha256_of(second),
        choice=said,
    )


@pytest.fixture
def runs(tmp_path: Path) -> list[Any]:
    for model in ("a", "b", "c"):
        answers = [Answer(id, f"{model} writes about {id}." + " More." * (model == "b")) for id in IDS]
        write_run(tmp_path / "runs" / model, answers, (), {})
    return open_runs([tmp_path / "runs"])


def text(model: str, number: int) -> str:
    return f"{model} writes about {IDS[number]}." + " More." * (model == "b")


def test_choices_of_people_are_counted_whichever_answer_was_first(runs):
    pairs = [
        choice(IDS[0], text("a", 0), text("b", 0), "first"),
        choice(IDS[0], text("b", 0), text("a", 0), "second", "b"),
        choice(IDS[1], text("b", 1), text("a", 1), "first"),
        choice(IDS[2], text("c", 2), text("a", 2), "tie"),
        choice(IDS[2], text("c", 2), "an answer that no run has", "first", "d"),
    ]
    wins = wins_of_people(pairs, SUITE, runs)
    assert [(one.model, counts(one), one.n_tasks) for one in wins.against("b")] == [("a", (2, 0, 1), 2)]
    assert wins.against("b")[0].difference == -2
    assert {one.model: counts(one) for one in wins.between_all()} == {"a": (2, 1, 1), "b": (1, 0, 2), "c": (0, 1, 0)}
    assert wins.notes == (f"1 choice not used, because no run has both answers: {IDS[2]}",)
    with pytest.raises(ChecklistError, match=r"no people's choice \(2 choices\) is between answers of one of"):
        wins_of_people(pairs[3:], SUITE, runs, reference="b")


def test_the_command_shows_verdicts_and_people_together(runs, tmp_path, call):
    write_suite(SUITE, tmp_path / "suite")
    listed = []
    for model, level in (("a", 0.5), ("b", 1), ("c", 0.5)):
        texts = {id: text(model, number) for number, id in enumerate(IDS)}
        answers = [Answer(id, one) for id, one in texts.items()]
        judgements = [Judgement(id, sha256_of(one), (level,) * 4, judge="j") for id, one in texts.items()]
        write_run(tmp_path / "runs" / model, answers, judgements, {})
        listed += [one for one in answers if model == "a"]
    row = {"id": IDS[0], "first_sha256": sha256_of(text("a", 0)), "second_sha256": sha256_of(text("b", 0))}
    path = write_rows(tmp_path / "pairs.jsonl", [{**row, "choice": "first", "annotator": "x"}])
    common = ("checklists", "wins", tmp_path / "runs", "--suite", tmp_path / "suite")
    code, printed, _ = call(*common, "--pairs", path, "--reference", "b", "--json")
    found = json.loads(printed)["tables"]["wins"]
    assert code == 0
    assert [(one["model"], one["source"], one["win rate"]) for one in found] == [
        ("a", "verdicts", 0.0),
        ("c", "verdicts", 0.0),
        ("a", "people", 100.0),
    ]
    code, printed, _ = call(*common)
    assert (code, "Win rates against all other models, in percent" in printed) == (0, True)


@pytest.mark.parametrize(
    ("models", "options", "message"),
    [
        (("a", "b"), ("--reference", "bb"), "error: unknown model 'bb'"),
        (("a",), (), "error: win rates compare models, and there is only one run; expected two runs or more"),
        (("a", "b"), (), "error: no task of which two models have a judged answer; expected judgements of the same"),
    ],
)
def test_bad_input_is_named_in_one_sentence(models, options, message, tmp_path, call):
    judgements = {"a": rows([1, 1]), "b": [replace(row, id=IDS[5]) for row in rows([1])]}
    written(tmp_path / "runs", {model: judgements[model] for model in models})
    write_suite(SUITE, tmp_path / "suite")
    code, _, said = call("checklists", "wins", tmp_path / "runs", "--suite", tmp_path / "suite", *options)
    assert (code, said.startswith(message)) == (2, True), said
