"""The questions of an n-gram suite as a checklist suite, and its runs as checklist runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pfgen_fast import Suite
from pfgen_fast.checklists.importing.ngram_suite import answers_of, checklist_suite_of, key_of
from pfgen_fast.errors import ChecklistError
from pfgen_fast.runs.trials import find_runs


def make_trials(folder: Path, lines: list[tuple[str, str]]) -> Path:
    folder.mkdir(parents=True)
    rows = [{"question": question, "answer": answer} for question, answer in lines]
    (folder / "trials.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def test_an_instruction_names_the_keywords_and_never_shows_its_own_sample_answer(mini: Suite) -> None:
    own = {sample.question: sample.answer for sample in mini.samples}
    for question, task in zip(mini, checklist_suite_of(mini).tasks, strict=True):
        assert task.instruction is not None
        assert task.instruction.startswith(question.question)
        for rule in question.keywords:
            if rule.name is not None:
                assert rule.name in task.instruction
        if question.question in own:
            assert task.reference == own[question.question]
            assert task.reference not in task.instruction
        assert any(answer in task.instruction for answer in own.values())


def test_an_english_suite_without_samples_and_keywords_asks_the_question_alone(make_suite) -> None:
    suite = checklist_suite_of(Suite.load(make_suite({}, {"question": "why?"})))
    assert (suite.language, suite.words) == ("en", "regex")
    assert [task.instruction for task in suite.tasks] == ["question 1?", "why?"]
    assert [task.reference for task in suite.tasks] == [None, None]


def test_keywords_without_a_name_are_shown_by_their_patterns(make_suite) -> None:
    rule = {"or": [{"t": "tide|ebb"}, {"and": [{"t": "moon"}, {"t": "sun", "name": "the Sun"}]}]}
    suite = checklist_suite_of(Suite.load(make_suite({"keywords": [rule]})))
    assert "\n- tide / ebb / moon + the Sun" in (suite.tasks[0].instruction or "")


def test_answers_are_numbered_as_they_stand_for_each_question(tmp_path: Path, mini: Suite) -> None:
    first, second = (question.question for question in list(mini)[:2])
    (run,) = find_runs([make_trials(tmp_path / "run", [(second, "c"), (first, "a"), (second, "d"), (first, "b")])])
    found = [(one.id, one.trial, one.response) for one in answers_of(run, mini)]
    assert found == [("Q01", 1, "a"), ("Q01", 2, "b"), ("Q02", 1, "c"), ("Q02", 2, "d")]
    assert [one.response for one in answers_of(run, mini, n_trials=1)] == ["a", "c"]


def test_an_answer_that_utf8_cannot_hold_is_named(tmp_path: Path, mini: Suite) -> None:
    question = mini["Q01"].question
    (run,) = find_runs([make_trials(tmp_path / "run", [(question, "a"), (question, "\ud800")])])
    with pytest.raises(ChecklistError, match="line 2: a lone surrogate"):
        list(answers_of(run, mini))


def test_a_run_is_named_by_its_path(tmp_path: Path) -> None:
    (run,) = find_runs([make_trials(tmp_path / "result/org/model 7b/5e1e9f4", [("q", "a")])])
    assert key_of(run) == "org-model-7b-5e1e9f4"
