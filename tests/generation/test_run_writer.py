"""A run's folder: its name, the failures it survives, and who may write to it."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers import published
from makers.effort import examples
from makers.runs import files_of
from pfgen_fast import PfgenError, Suite, TrialsError
from pfgen_fast.base.errors import EngineError
from pfgen_fast.generation.run_writer import MAX_TRIALS, config_hash, config_line, run_folder, writing_run

CONFIG = {"engine": "fake", "mode": "qa", "model": "org/m", "top_p": None}
EDITED_BY_HAND = {
    "pfnet/plamo-100b/b181032",
    "deepseek-ai/DeepSeek-V3/4a38349",
    "openai/gpt-4o/5e1e9f4",
    "system/ground-truth",
}
MOVED = "anthropic/claude-opus-4-20250514/2dafa10"
"""The hash is right, but the model's folder has a longer name than the configuration."""


@published.needs_published_runs
def test_published_folders_follow_from_their_configuration():
    """All folders that were not edited by hand: 12 of 17 completely, and one more by its hash."""
    followed = set()
    for path in (published.FOLDER / "result").rglob("config.json"):
        config = json.loads(path.read_bytes())
        name = path.parent.relative_to(published.FOLDER / "result").as_posix()
        if name in EDITED_BY_HAND:
            assert config_hash(config) != path.parent.name
            continue
        assert config_line(config).encode() + b"\n" == path.read_bytes()
        assert config_hash(config) == path.parent.name
        if name != MOVED:
            assert run_folder(Path("result"), config) == Path("result", name)
            followed.add(name)
    assert len(followed) == 12
    # One of the edits: the model was renamed.
    edited = json.loads((published.FOLDER / "result/deepseek-ai/DeepSeek-V3/4a38349/config.json").read_bytes())
    assert config_hash({**edited, "model": "deepseek-chat"}) == "4a38349"


def test_a_configuration_is_one_line_with_sorted_keys():
    line = config_line({"model": "m", "stop": ["Q:", "\n\n"], "top_k": None, "engine": "é", "temperature": 1.0})
    assert line == '{"engine": "é", "model": "m", "stop": ["Q:", "\\n\\n"], "temperature": 1.0}'
    assert config_hash({"a": 1}) == "e4ad4da"  # printf '{"a": 1}' | sha1sum


@pytest.mark.parametrize(
    ("model", "folder"),
    [
        ("org/model", "org/model"),
        ("llama3:8b", "llama3:8b"),
        ("/data/step-7", "data/step-7"),
        ("../../etc", "etc"),
        ("./a//b/", "a/b"),
        ("a\\b", "a/b"),
        ("モデル", "モデル"),
    ],
)
def test_the_folder_of_a_model_stays_below_the_root(model, folder):
    assert run_folder(Path("result"), {"model": model}).parent == Path("result", folder)


@pytest.mark.parametrize("model", ["", "/", "..", " ", "a\nb", "a\x1b[31m", "\u202eabc", "a\x00"])
def test_a_model_that_cannot_be_a_folder_is_refused(model):
    with pytest.raises(EngineError, match="model: expected a name that can be a folder") as caught:
        run_folder(Path("result"), {"model": model})
    assert caught.value.args[0].isprintable()


def fill(folder, suite, answers):
    """Writes the missing ones of the answers, each a trial and a question; returns those that were missing."""
    asked = []
    with writing_run(folder, CONFIG, suite) as writer:
        for trial, question in answers:
            if question in writer.missing(trial):
                writer.add(trial, question, f"{trial} {question}")
                asked.append((trial, question))
    return asked


@examples(50)
@given(data=st.data())
def test_a_cut_at_any_byte_does_not_change_the_final_files(tmp_path_factory, mini, data):
    tmp_path = tmp_path_factory.mktemp("cut")
    answers = data.draw(st.permutations([(trial, question.question) for trial in (1, 2) for question in mini]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", "1700000000")
        fill(tmp_path / "whole", mini, answers)
        n_before = data.draw(st.integers(0, len(answers)))
        fill(tmp_path / "cut", mini, answers[:n_before])
        unfinished = tmp_path / "cut" / ".unfinished.jsonl"
        lost = []
        if unfinished.exists():
            content = unfinished.read_bytes()
            n_bytes = data.draw(st.integers(0, len(content)))
            unfinished.write_bytes(content[:n_bytes])
            lost = [json.loads(line) for line in content[content[:n_bytes].rfind(b"\n") + 1 :].splitlines()]
        asked = fill(tmp_path / "cut", mini, answers)
    assert files_of(tmp_path / "cut") == files_of(tmp_path / "whole")
    # A line without a line break counts as torn, even if it is otherwise complete.
    finished_before = {(entry["trial"], entry["question"]) for entry in lost}
    assert set(asked) <= set(answers[n_before:]) | finished_before
    assert len(set(asked)) == len(asked)


def test_damaged_lines_of_an_unfinished_trial_are_asked_again(tmp_path, mini):
    run = tmp_path / "run"
    answers = [(1, question.question) for question in mini]
    fill(run, mini, answers[:3])
    with open(run / ".unfinished.jsonl", "ab") as file:
        entry = {"question": next(iter(mini)).question, "answer": "", "timestamp": ""}
        impossible = [json.dumps({"trial": trial, **entry}).encode() for trial in (-1, 0, MAX_TRIALS + 1, 10**300)]
        file.writelines(line + b"\n" for line in (b"\xff", b"[]", b'{"trial": "1"}', b"{}", *impossible))
    assert fill(run, mini, answers) == answers[3:]
    assert sorted(files_of(run)) == ["config.json", "trial_001.jsonl"]


def test_an_empty_folder_is_removed_unless_it_existed_before(tmp_path, mini):
    with contextlib.suppress(EngineError), writing_run(tmp_path / "a" / "b" / "c", CONFIG, mini):
        assert (tmp_path / "a" / "b" / "c").is_dir()
        raise EngineError("wrong key")
    assert not list(tmp_path.iterdir())
    (tmp_path / "a").mkdir()
    with writing_run(tmp_path / "a" / "b", CONFIG, mini):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_folder_of_something_else_is_refused_and_stays_as_it_is(tmp_path, mini, make_suite):
    run = tmp_path / "run"
    fill(run, mini, [(1, question.question) for question in mini])
    before = files_of(run)
    other = Suite.load(make_suite({"question": "a?"}))
    with pytest.raises(EngineError, match=r"trial_001\.jsonl: has other questions than suite"):
        fill(run, other, [(1, "a?")])
    with pytest.raises(EngineError, match="has other parameters than"), writing_run(run, {"model": "other"}, mini):
        pass
    assert files_of(run) == before
    (run / "trial_001.jsonl").write_text("{")
    with pytest.raises(TrialsError, match="line 1"):
        fill(run, mini, [(1, mini["Q01"].question)])


def test_a_packed_run_without_its_trials_is_complete_or_refused(tmp_path, mini):
    run = tmp_path / "run"
    fill(run, mini, [(trial, question.question) for trial in (1, 2) for question in mini])
    with writing_run(run, CONFIG, mini) as writer:
        packed = writer.pack()
    for path in run.glob("trial_*"):
        path.unlink()
    with writing_run(run, CONFIG, mini) as writer:
        assert writer.missing(1) == writer.missing(2) == []
        assert writer.pack() == packed
        with pytest.raises(EngineError, match="has 2 trials, but its trial_NNN"):
            writer.missing(3)


def test_a_folder_in_use_a_bad_timestamp_and_a_file_in_the_way_are_named(tmp_path, mini, monkeypatch):
    message = "another process is generating into this folder"
    with writing_run(tmp_path / "run", CONFIG, mini), pytest.raises(EngineError, match=message):
        fill(tmp_path / "run", mini, [])
    (tmp_path / "file").write_text("")
    with pytest.raises(PfgenError, match="file/run: cannot be created"):
        fill(tmp_path / "file" / "run", mini, [])
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    with pytest.raises(EngineError, match="SOURCE_DATE_EPOCH: expected seconds since 1970, not 'yesterday'"):
        fill(tmp_path / "run", mini, [])
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
