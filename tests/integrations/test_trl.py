"""The reward and the dataset for TRL."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest
from pfgen_fast import PfgenError
from pfgen_fast.generation.prompts import make_tasks
from pfgen_fast.integrations.trl import make_dataset, make_reward

QUESTION = "Why does ice float on water?"  # Q07 of mini
GOOD = "Ice is about 9% less dense than water: its molecules freeze into an open crystal lattice."


def message(text: str | None) -> list[dict[str, str | None]]:
    return [{"role": "assistant", "content": text}]


def test_a_reward_is_the_score_of_what_would_be_kept_of_the_answer(scorer):
    good, bad = scorer.reward("Q07", [GOOD, "Because."]).tolist()
    reward = make_reward("mini")
    completions = [f" {GOOD}\n\nQ: And why", f"\n{GOOD} Q: more", "Because. ", ""]
    questions = ["Q07", QUESTION, "Q07", "Q07"]
    assert reward(prompts=["p"] * 4, completions=completions, question=questions, step=3) == [good, good, bad, 0.0]
    reward = make_reward("mini", "chat", column="id")
    completions = [message(f"Well. A: {GOOD}"), message("Because."), message(None), []]
    assert reward(prompts=[[]] * 4, completions=completions, id=["Q07"] * 4) == [good, bad, 0.0, 0.0]


def test_a_dataset_that_names_no_question_is_one_clear_sentence():
    reward = make_reward("mini")
    with pytest.raises(PfgenError, match=r"the dataset has no column 'question'"):
        reward(prompts=["p"], completions=["c"])
    with pytest.raises(PfgenError, match=r"questions\[1\].*no such|Q77"):
        reward(prompts=["p", "p"], completions=["c", "c"], question=["Q07", "Q77"])


def test_an_unknown_mode_is_told_before_anything_is_trained():
    with pytest.raises(PfgenError, match="unknown mode 'chatty'; expected one of completion, qa, chat"):
        make_reward("mini", "chatty")


@pytest.mark.parametrize("mode", ["completion", "qa"])
def test_a_dataset_has_the_prompts_of_generate(mini, monkeypatch, mode):
    made = SimpleNamespace(Dataset=SimpleNamespace(from_dict=dict))
    monkeypatch.setitem(sys.modules, "datasets", made)
    dataset = make_dataset("mini", mode, trials=2, num_examples=3)
    tasks = [task for trial in (1, 2) for task in make_tasks(mini, trial, mode=mode, num_examples=3)]
    assert dataset["question"] == [task.question_id for task in tasks]
    assert dataset["prompt"] == [task.prompt.text or list(task.prompt.messages) for task in tasks]
    assert dataset == make_dataset(mini, mode, trials=2, num_examples=3)


def test_without_datasets_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(PfgenError, match=r"make_dataset needs datasets, .*: pip install 'pfgen-fast\[trl\]'$"):
        make_dataset("mini")
