"""Checkpoints are scored once each, whenever they are complete."""

from __future__ import annotations

import json
import shutil
from itertools import islice
from pathlib import Path

import pytest
from pfgen_fast import PfgenError
from pfgen_fast.generation.engines import Sampling
from pfgen_fast.integrations import checkpoints
from pfgen_fast.runs.trials import Trials


def make_watch(mini, output: Path, trials: int = 2):
    return checkpoints.Watch(mini, output, trials, "completion", Sampling(max_tokens=8), num_examples=2, device="cpu")


def add_checkpoint(folder: Path, model: Path, step: int, *, with_state: bool = True) -> Path:
    checkpoint = folder / f"checkpoint-{step}"
    shutil.copytree(model, checkpoint)
    if with_state:
        (checkpoint / "trainer_state.json").write_text(json.dumps({"global_step": step}))
    return checkpoint


def test_a_checkpoint_is_left_alone_until_it_is_complete(tmp_path):
    for name in ("checkpoint-10", "checkpoint-9", "checkpoint-11", "checkpoint-x", "tmp-checkpoint-3"):
        (tmp_path / name).mkdir()
    assert checkpoints.complete_checkpoints(tmp_path) == []
    for name in ("checkpoint-10", "checkpoint-9", "checkpoint-x", "tmp-checkpoint-3"):
        (tmp_path / name / "trainer_state.json").write_text('{"global_step": 10}')
    (tmp_path / "checkpoint-11" / "trainer_state.json").write_text('{"global_st')
    assert [checkpoint.step for checkpoint in checkpoints.complete_checkpoints(tmp_path)] == [9, 10]
    assert checkpoints.complete_checkpoints(tmp_path / "not there yet") == []


@pytest.mark.models
def test_every_checkpoint_is_scored_once_even_after_a_restart(mini, scorer, tiny_model, tmp_path, monkeypatch):
    training, output = tmp_path / "training", tmp_path / "result"
    add_checkpoint(training, tiny_model, 5)
    incomplete = add_checkpoint(training, tiny_model, 10, with_state=False)
    broken = add_checkpoint(training, tiny_model, 7)
    (broken / "model.safetensors").write_bytes(b"")
    opened = []
    open_engine = checkpoints.open_engine
    monkeypatch.setattr(
        checkpoints,
        "open_engine",
        lambda *name, **options: opened.append(options["model"]) or open_engine(*name, **options),
    )

    def look():
        return list(checkpoints.watch(training, make_watch(mini, output), seconds=None))

    (first, result), (second, error) = look()
    assert (first.step, second.step) == (5, 7)
    (path,) = output.rglob("trials.jsonl.xz")
    trials = Trials.read(path)
    assert len(trials) == 16
    assert result.score == round(float(scorer.reward(trials.questions, trials.answers).mean()), 4)
    assert "cannot be loaded" in str(error)
    assert "checkpoint-5" in (output / "leaderboard.md").read_text()
    assert [Path(model).name for model in opened] == ["checkpoint-5", "checkpoint-7"]

    shutil.rmtree(broken)
    opened.clear()
    assert look() == []  # as after a restart, when only the files are known
    (incomplete / "trainer_state.json").write_text("{}")
    assert [checkpoint.step for checkpoint, _ in look()] == [10]
    assert [Path(model).name for model in opened] == ["checkpoint-10"]
    # A second training of the same name overwrites the step with another model.
    (training / "checkpoint-5" / "trainer_state.json").write_text('{"log_history": [1]}')
    assert [checkpoint.step for checkpoint, _ in look()] == [5]
    assert (output / "leaderboard.md").read_text().count("checkpoint-5") == 4  # two runs, each with name and link
    assert look() == []


@pytest.mark.models
def test_a_checkpoint_that_cannot_be_loaded_is_told_once_while_watching(mini, tiny_model, tmp_path, monkeypatch):
    training = tmp_path / "training"
    (add_checkpoint(training, tiny_model, 1) / "config.json").write_text("{")
    looks = []

    def sleep(seconds):
        looks.append(seconds)
        if len(looks) == 2:
            add_checkpoint(training, tiny_model, 2)
        if len(looks) == 4:
            raise KeyboardInterrupt

    monkeypatch.setattr(checkpoints.time, "sleep", sleep)
    watching = checkpoints.watch(training, make_watch(mini, tmp_path / "result", trials=1), seconds=7)
    seen = [(checkpoint.step, isinstance(result, PfgenError)) for checkpoint, result in islice(watching, 2)]
    assert seen == [(1, True), (2, False)]
    with pytest.raises(KeyboardInterrupt):  # no other event comes before
        next(watching)
    assert looks == [7] * 4
