"""Which directories are checkpoints, when one is complete, and what identifies its weights."""

from __future__ import annotations

import os
import shutil
import time

import pytest
from pfgen_fast.checkpoints import Checkpoints
from pfgen_fast.checkpoints.found import USUAL_PATTERN
from pfgen_fast.errors import EngineError


def add(folder, name, weights=b"weights", **files):
    checkpoint = folder / name
    checkpoint.mkdir(parents=True)
    (checkpoint / "model.safetensors").write_bytes(weights)
    for file, text in files.items():
        (checkpoint / file.replace("__", ".")).write_text(text)
    return checkpoint


def steps(checkpoints):
    return [checkpoint.step for checkpoint in checkpoints.complete()]


@pytest.mark.parametrize(
    ("name", "pattern", "step"),
    [
        ("checkpoint-100", USUAL_PATTERN, 100),
        ("iter_0001000", USUAL_PATTERN, 1000),
        ("global_step20", USUAL_PATTERN, 20),
        ("step-7", USUAL_PATTERN, 7),
        ("epoch_03", USUAL_PATTERN, 3),
        ("tmp-checkpoint-100", USUAL_PATTERN, None),
        ("checkpoint-100.tmp", USUAL_PATTERN, None),
        ("checkpoint-", USUAL_PATTERN, None),
        ("checkpoint-\u0663", USUAL_PATTERN, None),
        ("checkpoint-" + "9" * 40, USUAL_PATTERN, None),
        ("ep2-tok500", r"ep\d+-tok\d+", 500),
        ("ep2-tok500", r"ep(\d+)-tok\d+", 2),
        ("checkpoint-1", r"ep\d+-tok\d+", None),
    ],
)
def test_the_step_follows_from_the_name_and_the_pattern(tmp_path, name, pattern, step):
    add(tmp_path, name)
    assert steps(Checkpoints(tmp_path, pattern, unchanged_seconds=0)) == ([] if step is None else [step])


def test_a_checkpoint_is_left_alone_until_it_is_complete(tmp_path, monkeypatch):
    add(tmp_path, "checkpoint-1")
    add(tmp_path, "checkpoint-2", trainer_state__json='{"global_st')
    add(tmp_path, "checkpoint-3", trainer_state__json='{"global_step": 3}')
    add(tmp_path, "checkpoint-4", done="")
    (tmp_path / "checkpoint-5").mkdir()  # empty
    (tmp_path / "checkpoint-6").write_text("no directory")
    usual = Checkpoints(tmp_path)
    assert steps(usual) == [3]
    assert steps(Checkpoints(tmp_path, ready_file="done")) == [4]
    now = time.time()
    monkeypatch.setattr("pfgen_fast.checkpoints.found.time.time", lambda: now + 59)
    assert steps(usual) == [3]
    monkeypatch.setattr("pfgen_fast.checkpoints.found.time.time", lambda: now + 61)
    assert steps(usual) == [1, 2, 3, 4]
    # Copies keep the times of modification, so the time at which a file got its name counts too.
    monkeypatch.undo()
    os.utime(tmp_path / "checkpoint-1" / "model.safetensors", (1, 1))
    assert steps(usual) == [3]
    assert steps(Checkpoints(tmp_path / "not there yet")) == []


def test_files_newer_than_the_trainers_last_one_are_being_written(tmp_path):
    checkpoint = add(tmp_path, "checkpoint-3", trainer_state__json="{}")
    os.utime(checkpoint / "trainer_state.json", (1, 1))  # of an earlier training, or one of its files was removed
    assert steps(Checkpoints(tmp_path)) == []
    assert steps(Checkpoints(tmp_path, unchanged_seconds=0)) == [3]


def test_a_checkpoint_that_vanishes_or_cannot_be_read_is_left_out(tmp_path, monkeypatch):
    for step in (1, 2):
        (add(tmp_path, f"step-{step}") / "latest").symlink_to("nothing")  # which is no file
    found = Checkpoints(tmp_path, unchanged_seconds=0)
    assert steps(found) == [1, 2]
    named = found.named()
    monkeypatch.setattr(Checkpoints, "named", lambda self: named)
    shutil.rmtree(tmp_path / "step-1")
    assert steps(found) == [2]

    def refuse(folder):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pfgen_fast.checkpoints.found._files", refuse)
    with pytest.warns(RuntimeWarning, match="step-[12]: cannot be read: Permission denied"):
        assert steps(found) == []


@pytest.mark.parametrize("n_bytes", [1000, 3 << 20])
def test_a_digest_covers_the_files_that_affect_answers(tmp_path, n_bytes):
    weights = os.urandom(n_bytes)
    files = {"config__json": "{}", "optimizer__pt": "1", "trainer_state__json": "{}"}
    usual = add(tmp_path / "a", "checkpoint-1", weights, **files)
    found = Checkpoints(tmp_path / "a", unchanged_seconds=0)

    def digest():
        (checkpoint,) = found.complete()
        return checkpoint.digest

    first = digest()
    (checkpoint,) = found.complete()
    assert checkpoint.model == f"a/checkpoint-1-{first}"
    (usual / "optimizer.pt").write_text("2")
    (usual / "trainer_state.json").write_text('{"log": 1}')
    (usual / "README.md").write_text("new")
    os.utime(usual / "model.safetensors", (1, 1))
    assert digest() == first
    (usual / "config.json").write_text('{"a": 1}')
    assert digest() != first
    (usual / "config.json").write_text("{}")
    assert digest() == first
    (usual / "model.safetensors").write_bytes(os.urandom(n_bytes))
    assert digest() != first
    shutil.copytree(usual, tmp_path / "b" / "checkpoint-1")
    assert [one.digest for one in Checkpoints(tmp_path / "b", unchanged_seconds=0).complete()] == [digest()]


def test_weights_may_be_below(tmp_path):
    checkpoint = add(tmp_path, "global_step_5")
    (tmp_path / "global_step_6").mkdir()
    (tmp_path / "global_step_6" / "model.safetensors").touch()  # not converted yet
    (checkpoint / "actor" / "huggingface").mkdir(parents=True)
    (checkpoint / "actor" / "huggingface" / "model.safetensors").write_bytes(b"x")
    (found,) = Checkpoints(tmp_path, unchanged_seconds=0, weights="actor/huggingface").complete()
    assert found.weights == checkpoint / "actor" / "huggingface"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pattern": "("}, "pattern \\(: "),
        ({"unchanged_seconds": float("nan")}, "unchanged_seconds: expected a number from 0, got nan"),
        ({"weights": "../other"}, "../other: expected a path within a checkpoint"),
        ({"ready_file": "/etc/passwd"}, "/etc/passwd: expected a path within a checkpoint"),
    ],
)
def test_invalid_options_are_refused(tmp_path, options, message):
    with pytest.raises(EngineError, match=message):
        Checkpoints(tmp_path, **options)
