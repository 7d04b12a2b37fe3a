"""Which directories are checkpoints, in which order, and what identifies their weights."""

import os
import shutil

import pytest
from pfgen_fast.generation.checkpoints import Checkpoint, find_checkpoints


def add(folder, name, weights=b"weights", **files):
    checkpoint = folder / name
    checkpoint.mkdir(parents=True)
    for file, content in {"config.json": b"{}", "model.safetensors": weights, **files}.items():
        (checkpoint / file).write_bytes(content)
    return checkpoint


def names(found):
    return [checkpoint.folder.name for checkpoint in found]


def test_patterns_and_directories_name_checkpoints_in_the_order_of_steps(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("checkpoint-9", "checkpoint-100", "checkpoint-20", "tmp-checkpoint-120", "org/model"):
        add(tmp_path / "training", name)
    (tmp_path / "training/checkpoint-30").mkdir()  # its configuration is not written yet
    (tmp_path / "training/checkpoint-40").write_text("no directory")
    run = add(tmp_path / "gpt-4o", "1c0ffee")
    (run / "trial_001.jsonl").touch()
    assert names(find_checkpoints("training/checkpoint-*"))[-2:] == ["checkpoint-30", "checkpoint-100"]
    assert names(find_checkpoints("training")) == ["checkpoint-9", "checkpoint-20", "checkpoint-100"]
    assert names(find_checkpoints("training/org/model")) == ["model"]
    assert find_checkpoints("gpt-4o") == find_checkpoints("nothing-*") == []
    assert find_checkpoints("org/model") is None


@pytest.mark.parametrize(
    ("path", "label"),
    [
        ("my-training/checkpoint-100", "my-training/checkpoint-100"),
        ("my-training/global_step_5/actor/huggingface", "my-training/global_step_5/actor/huggingface"),
        ("org/model", "org/model"),
    ],
)
def test_a_label_has_the_training_run_and_the_step(tmp_path, path, label):
    assert Checkpoint(add(tmp_path, path)).label == label


@pytest.mark.parametrize("n_bytes", [1000, 3 << 20])
def test_a_name_covers_the_files_that_affect_answers(tmp_path, n_bytes):
    folder = add(tmp_path / "training", "checkpoint-1", os.urandom(n_bytes), **{"optimizer.pt": b"1"})
    (folder / "latest").symlink_to("nothing")
    checkpoint = Checkpoint(folder)
    first = checkpoint.model()
    assert first.startswith("training/checkpoint-1-")
    (folder / "optimizer.pt").write_text("2")
    (folder / "README.md").write_text("new")
    os.utime(folder / "model.safetensors", (1, 1))
    assert checkpoint.model() == first
    (folder / "config.json").write_text('{"a": 1}')
    changed = checkpoint.model()
    shutil.copytree(folder, tmp_path / "copy/training/checkpoint-1", symlinks=True)
    assert Checkpoint(tmp_path / "copy/training/checkpoint-1").model() == changed != first
    (folder / "model.safetensors").write_bytes(os.urandom(n_bytes))
    assert checkpoint.model() not in (first, changed)
