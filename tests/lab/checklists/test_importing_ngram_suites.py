"""Imports of n-gram suites: their questions as tasks, and answers to them."""

import json
from pathlib import Path

import pytest
from makers.runs import make_run
from pfgen_fast import Suite
from pfgen_fast.base.errors import ChecklistError
from pfgen_fast.lab.checklists.ngram_suite import answers_of, checklist_suite_of, key_of
from pfgen_fast.runs.trials import RunFolder, find_runs


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


def test_keywords_without_a_name_are_shown_by_their_patterns(make_suite) -> None:
    rule = {"or": [{"t": "tide|ebb"}, {"and": [{"t": "moon"}, {"t": "sun", "name": "the Sun"}]}]}
    suite = checklist_suite_of(Suite.load(make_suite({"keywords": [rule]})))
    assert "\n- tide / ebb / moon + the Sun" in (suite.tasks[0].instruction or "")


def test_answers_of_a_run_are_numbered_by_question_in_their_order(tmp_path: Path, mini: Suite) -> None:
    def run_of(*lines: tuple[str, str]) -> RunFolder:
        rows = [json.dumps({"question": question, "answer": answer}) for question, answer in lines]
        return find_runs([make_run(tmp_path / "result/org/model 7b/5e1e9f4", rows)])[0]

    first, second = (question.question for question in list(mini)[:2])
    run = run_of((second, "c"), (first, "a"), (second, "d"), (first, "b"))
    assert key_of(run) == "org-model-7b-5e1e9f4"
    found = [(one.id, one.trial, one.response) for one in answers_of(run, mini)]
    assert found == [("Q01", 1, "a"), ("Q01", 2, "b"), ("Q02", 1, "c"), ("Q02", 2, "d")]
    assert [one.response for one in answers_of(run, mini, n_trials=1)] == ["a", "c"]
    with pytest.raises(ChecklistError, match="line 2: a lone surrogate"):
        list(answers_of(run_of((first, "a"), (first, "\ud800")), mini))
