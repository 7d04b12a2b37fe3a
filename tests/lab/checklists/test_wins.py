"""`checklists wins`: by scores and by people, with each rule for ties."""

import json
import math
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from makers.own_checklists import own_suite, written
from pfgen_fast.lab.annotations.annotation_rows import Header, export_lines
from pfgen_fast.lab.checklists.checklist_runs import Answer, open_runs, write_run
from pfgen_fast.lab.checklists.judgements import Judgement
from pfgen_fast.lab.checklists.marks import Pair
from pfgen_fast.lab.checklists.tasks import sha256_of
from pfgen_fast.lab.checklists.wins import Comparison, by_people, wins
from pfgen_fast.lab.statistics.intervals_of_draws import drawn_rate

SUITE = own_suite()
TASKS = [task for task in SUITE.tasks if task.length is None]
LEVELS = {"good": (1.0, 0.5, 0.75, 1.0, 0.5), "fair": (0.5, 0.5, 0.5, 0.5, 0.75), "poor": (0.0, 0.5, 0.25, 0.0, 0.25)}
"""The verdicts on all questions of each task. Good wins, ties, wins, wins, and loses against fair."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    written(SUITE, tmp_path / "suite")
    for model, levels in LEVELS.items():
        answers = [Answer(task.id, f"{model} answers {task.id}") for task in TASKS]
        judgements = [
            Judgement(task.id, answer.sha256, (level,) * SUITE.n_questions[task.key], judge="j")
            for task, answer, level in zip(TASKS, answers, levels, strict=True)
        ]
        write_run(tmp_path / "runs" / model, answers, judgements, {})
    return tmp_path


def tables(call: Any, folder: Path, *options: Any) -> Any:
    command = ("checklists", "wins", folder / "runs", "--suite", folder / "suite", "--draws", 20, "--json")
    code, printed, err = call(*command, *options)
    assert (code, err) == (0, "")
    return json.loads(printed)["tables"]


@pytest.mark.parametrize(("ties", "rate"), [("half", 70.0), ("skip", 75.0), ("win", 80.0), ("loss", 60.0)])
def test_a_tie_counts_as_the_user_says(call: Any, folder: Path, ties: str, rate: float) -> None:
    rows = tables(call, folder, "--reference", "fair", "--ties", ties)["rates"]
    good = next(row for row in rows if row["model"] == "good")
    assert (good["against"], good["by"], good["ties"]) == ("fair", "judge", 1)
    assert good["win rate"] == pytest.approx(rate)
    assert good["low"] < rate < good["high"]


def test_all_pairs_are_complements(call: Any, folder: Path) -> None:
    result = tables(call, folder)
    rates = {(row["model"], row["against"]): row["win rate"] for row in result["rates"]}
    assert len(rates) == 6
    assert all(rates[pair] + rates[pair[::-1]] == pytest.approx(100) for pair in rates)
    assert [row["model"] for row in result["means-judge"]] == ["good", "fair", "poor"]


def test_a_length_controlled_rate_has_wilsons_interval_inside_0_and_100() -> None:
    draw = random.Random(0)
    mixed = [
        Comparison((f"t{number}", None), ("a", "b"), draw.choice((1, -1)), draw.gauss(0, 0.5)) for number in range(24)
    ]
    result = wins("judge", mixed, reference="b", draws=300)
    figures = result.figures
    share = drawn_rate(float(figures.controlled[0]), figures.controlled_draws[:, 0].tolist(), 24)
    assert result.controlled(0).cells == pytest.approx([100 * cell for cell in share])
    low, high = result.slope.low, result.slope.high
    assert low < result.slope.value < high
    assert high - low > 100 * math.log(2) * np.ptp(np.quantile(figures.slope_draws, [0.025, 0.975]))
    won = wins("judge", [replace(item, sign=1) for item in mixed], reference="b", draws=300)
    assert won.controlled(0) == won.rates[0]
    assert won.rates[0].low < won.rates[0].value == 100


def test_the_interval_of_a_pair_is_from_its_own_tasks() -> None:
    task_signs = [(("a", "b"), 200, (1, -1)), (("a", "c"), 6, (1,)), (("b", "c"), 6, (1,))]
    result = wins(
        "people",
        [
            Comparison((f"t{task}", None), models, signs[task % len(signs)], (task % 7 - 3) / 10)
            for models, n, signs in task_signs
            for task in range(n)
        ],
        draws=100,
    )
    number = result.pairs.index(("b", "c"))
    assert result.rates[number].cells == pytest.approx((100, 47.6, 100), abs=0.1)
    assert result.controlled(number).low < 60
    to_c = [result.pairs.index(("c", model)) for model in "ab"]
    assert result.mean(to_c)[0].cells == pytest.approx(result.rates[to_c[0]].cells)


def test_choices_of_people_are_shown_beside_the_judge(call: Any, folder: Path) -> None:
    rows = [
        {
            "kind": "pair",
            "id": task.id,
            "length": None,
            "choice": choice,
            "first_sha256": sha256_of(f"poor answers {task.id}"),
            "second_sha256": sha256_of(f"good answers {task.id}"),
        }
        for task, choice in zip(TASKS, ("second", "second", "first", "tie", "second"), strict=True)
    ]
    stale = {**rows[0], "first_sha256": "of no run"}
    (folder / "a.jsonl").write_bytes(export_lines(Header("a", "own", ""), [*rows, stale]))
    command = ("checklists", "wins", folder / "runs", "--suite", folder / "suite", "--pairs", folder / "a.jsonl")
    assert "1 mark not used, because no run has the answers: letter_1" in "".join(map(str, call(*command)))
    result = tables(call, folder, "--pairs", folder / "a.jsonl")["rates"]
    by_people = {(row["model"], row["against"]): row["win rate"] for row in result if row["by"] == "people"}
    assert by_people == {("good", "poor"): pytest.approx(70), ("poor", "good"): pytest.approx(30)}
    assert sum(row["by"] == "judge" for row in result) == 6


def test_the_lengths_are_those_of_the_answers_that_people_saw_whatever_their_trials(tmp_path: Path) -> None:
    task = TASKS[0]
    write_run(tmp_path / "long", [Answer(task.id, "a b c"), Answer(task.id, "a b c d e f g", trial=2)], [], {})
    write_run(tmp_path / "short", [Answer(task.id, "a"), Answer(task.id, "b b b", trial=2)], [], {})
    place = {"id": task.id, "length": None, "annotator": "x", "area": task.area, "category": task.category}
    pair = Pair(**place, first_sha256=sha256_of("a b c d e f g"), second_sha256=sha256_of("a"), choice="first")
    (by_person,) = by_people([pair], SUITE, open_runs([tmp_path]))
    assert (by_person.models, by_person.sign, by_person.ratio) == (("long", "short"), 1, math.log(8 / 2))


def test_bad_input_is_one_sentence(call: Any, folder: Path) -> None:
    command = ("checklists", "wins", folder / "runs", "--suite", folder / "suite")
    code, _, err = call(*command, "--reference", "god")
    assert code == 2
    assert "--reference: unknown model 'god'; expected one of good, fair, poor; did you mean 'good'?" in err
    mark = {
        "kind": "pair",
        "id": "letter_1",
        "length": None,
        "first_sha256": "a",
        "second_sha256": "b",
        "choice": "tie",
    }
    (folder / "a.jsonl").write_bytes(export_lines(Header("a", "own", ""), [mark]))
    err = call(*command, "--pairs", folder / "a.jsonl")[2]
    assert "no marks are left: the runs have none of the answers of 1 mark" in err
    code, _, err = call("checklists", "wins", folder / "runs" / "good", "--suite", folder / "suite")
    assert (code, err) == (2, "error: expected at least two judged runs, or choices of people (--pairs)\n")
