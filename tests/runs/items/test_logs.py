"""Logs of evaluation programs, made here in their formats; tests/integrations reads logs that the programs wrote."""

import contextlib
import io
import json
import math
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.effort import examples
from pfgen_fast import TrialsError
from pfgen_fast.base.compression import compressing
from pfgen_fast.runs.items.score_columns import ColumnNames
from pfgen_fast.runs.items.score_tables import is_score_table, read_item_scores
from pfgen_fast.tables.text_formats import object_members

DATE = "2026-11-01T10-00-00.123456"


def sample(id: object, epoch: int = 1, metadata: Mapping[str, Any] | None = None, **scores: Any) -> dict[str, Any]:
    return {
        "id": id, "epoch": epoch, "input": "?", "target": "!", "metadata": metadata or {},
        "scores": {name: {"value": value, "history": []} for name, value in scores.items()} or None,
    }  # fmt: skip


def head(model: str = "org/m", **changes: Any) -> dict[str, Any]:
    about = {"task": "inspect_evals/quiz", "task_id": "t1", "model": model, "created": "2026-11-01T10:00:00+00:00"}
    return {"version": 2, "status": "success", "eval": about, **changes}


def zstandard_member(content: bytes) -> tuple[bytes, int]:
    packed = io.BytesIO()
    with compressing(packed, Path("x.zst")) as writer:
        writer.write(content)
    return packed.getvalue(), zlib.crc32(content)


def write_eval(
    path: Path, samples: Sequence[Any], header: Any = None, *, members: Mapping[str, bytes] | None = None
) -> Path:
    """A log whose summaries are compressed with Zstandard, which zipfile cannot write before Python 3.14."""
    packed, checksum = zstandard_member(json.dumps(samples).encode())
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as log:
        log.writestr("header.json", json.dumps(head() if header is None else header))
        for name, content in (members or {}).items():
            log.writestr(name, content)
        log.writestr(zipfile.ZipInfo("summaries.json"), packed)
        info = log.getinfo("summaries.json")
        info.compress_type, info.CRC, info.file_size = 93, checksum, 1 << 20
    content = bytearray(path.read_bytes())
    struct.pack_into("<H", content, info.header_offset + 8, 93)
    path.write_bytes(content)
    return path


def write_json_log(path: Path, samples: Sequence[Any], header: Any = None) -> Path:
    path.write_text(
        json.dumps({**(head() if header is None else header), "samples": samples, "reductions": None}), encoding="utf-8"
    )
    return path


WRITERS = {"log.eval": write_eval, "log.json": write_json_log}


@pytest.mark.parametrize("name", WRITERS)
def test_inspect_samples_are_items_epochs_are_trials_and_scorers_are_metrics(tmp_path, name):
    samples = [
        sample("a", 1, {"passage": 7}, match="C", parts={"ok": True, "n": 3}),
        sample("a", 2, {"passage": 7}, match="P", parts={"ok": False, "n": 1}),
        sample(2, 1, {"passage": 8}, match="N", parts={"ok": "yes", "n": "2.5"}),
        sample("error", 1, {"passage": 8}),
        sample(3, 1, {"passage": 9}, match=math.nan, parts=None),
        sample(2, 1, {"passage": 8}, match="I", parts={"ok": "no", "n": 2}),  # was run again
    ]
    path = WRITERS[name](tmp_path / name, samples)
    assert is_score_table(path)
    scores = read_item_scores([path], ColumnNames(cluster="passage"))
    assert (scores.models, scores.items) == (("org/m",), ("quiz/a", "quiz/2"))
    assert (scores.subjects, scores.clusters) == (("quiz", "quiz"), ("quiz/7", "quiz/8"))
    by_name = {metric: values.tolist() for metric, values in scores.values.items()}
    assert by_name == {"match": [[0.75, 0]], "parts/ok": [[0.5, 0]], "parts/n": [[2, 2]]}
    assert scores.n_trials["match"].tolist() == [[2, 1]]
    told = " ".join(scores.notes)
    assert "scores that are missing: 2" in told
    assert "C, P, I and N count as 1, 0.5, 0 and 0" in told
    assert "samples without a score, such as after an error: 1" in told


def test_in_a_directory_the_last_successful_attempt_counts(tmp_path):
    def attempt(name, status, hour, value, task_id="t1"):
        about = {**head()["eval"], "created": f"2026-11-01T{hour}:00:00", "task_id": task_id}
        write_eval(tmp_path / name, [sample(1, match=value)], head(status=status, eval=about))

    attempt("a.eval", "success", "10", 0.25)
    attempt("b.eval", "success", "11", 0.5)
    attempt("c.eval", "error", "12", 0.75)
    scores = read_item_scores([tmp_path])
    assert scores.values["match"].tolist() == [[0.5]]
    assert "the last successful attempt at an evaluation is used, instead of a.eval, c.eval" in scores.notes[0]
    alone = read_item_scores([tmp_path / "c.eval", tmp_path / "a.eval"])
    assert alone.models == ("org/m (c)", "org/m (a)")
    assert "the status of the evaluation is 'error'; 1 sample with scores" in alone.notes[0]
    attempt("d.eval", "success", "10", 1, task_id="t2")
    with pytest.raises(TrialsError, match=r"d\.eval, sample 1: a second score of 'org/m' .* name each file"):
        read_item_scores([tmp_path])


def test_a_log_of_a_killed_evaluation_is_read_from_its_journal(tmp_path):
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w") as log:
        log.writestr("_journal/start.json", json.dumps({"version": 2, "eval": head()["eval"]}))
        for number in (2, 10, 1):
            log.writestr(f"_journal/summaries/{number}.json", json.dumps([sample(1, match=number)]))
    scores = read_item_scores([path])
    assert scores.values["match"].tolist() == [[10]]
    assert "the status of the evaluation is 'started'" in scores.notes[-1]
    with zipfile.ZipFile(path, "w") as log:  # as before summaries were written
        log.writestr("header.json", json.dumps(head()))
        for number in (1, 2):
            log.writestr(f"samples/{number}_epoch_1.json", json.dumps(sample(number, match=number)))
    assert read_item_scores([path]).values["match"].tolist() == [[1, 2]]


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.slow
@given(st.dictionaries(st.text(), JSON), st.lists(st.dictionaries(st.text(), JSON)), st.integers(1, 5), st.booleans())
@examples(100)
def test_members_read_one_by_one_are_those_of_the_whole_object(others, samples, n_characters, is_indented):
    written = {**others, "samples": samples}
    text = json.dumps(written, indent=1 if is_indented else None, ensure_ascii=False)
    blocks = (text[begin : begin + n_characters] for begin in range(0, len(text), n_characters))
    by_name: dict[str, Any] = {"samples": []}
    for key, number, member in object_members(blocks, "x", "samples"):
        if number:
            by_name["samples"].append(json.loads(member))
        else:
            by_name[key] = json.loads(member)
    assert repr(sorted(by_name.items())) == repr(sorted(written.items()))


BAD_LOGS = {
    "version": ({"header": head(version=3)}, "version 3 of its format; expected version 2"),
    "no eval": ({"header": {"version": 2, "status": "success", "eval": 1}}, "a log of Inspect with the key 'eval'"),
    "no model": ({"header": head(model=" ")}, "eval: expected the names of a model and a task"),
    "a large integer": ({"samples": [sample(1, match=10**400)]}, "sample 1, score 'match': expected a number or one"),
    "a word": ({"samples": [sample(1, match="maybe")]}, "sample 1, score 'match': expected a number or one of C, P, I"),
    "infinite": (
        {"samples": [sample(1, 1, {"passage": 1}, match=math.inf)]},
        "sample 1: the score 'match' is inf; expected a finite",
    ),
    "no scores": ({"samples": [sample(1)]}, "no scores of samples"),
    "no samples": ({"samples": []}, "no scores of samples"),
    "failed": ({"samples": [], "header": head(status="error")}, "; the status of the evaluation is 'error'"),
    "no object": ({"samples": [3]}, "expected a JSON object, not '3'"),
    "no key": ({"samples": [sample(1, metadata={"text": 1}, match=1)]}, "sample 1: no key 'passage'; there are text"),
}


@pytest.mark.parametrize(("changes", "message"), BAD_LOGS.values(), ids=list(BAD_LOGS))
@pytest.mark.parametrize("name", WRITERS)
def test_bad_inspect_logs_are_one_sentence(tmp_path, name, changes, message):
    path = WRITERS[name](tmp_path / name, **{"samples": [sample(1, metadata={"passage": 1}, match=1)], **changes})
    with pytest.raises(TrialsError, match=message) as error:
        read_item_scores([path], ColumnNames(cluster="passage"))
    assert str(path) in str(error.value)


def test_a_log_cut_anywhere_is_refused(tmp_path):
    for name, write in WRITERS.items():
        content = write(tmp_path / name, [sample(n, match=1) for n in range(3)]).read_bytes()
        for n_bytes in range(0, len(content) - 1, 7):
            (tmp_path / name).write_bytes(content[:n_bytes])
            with pytest.raises(TrialsError, match=rf"log\.{name[4:]}"):
                read_item_scores([tmp_path / name])


@pytest.mark.slow
def test_a_changed_byte_of_a_log_is_an_error_of_the_project_or_harmless(tmp_path):
    content = write_eval(tmp_path / "log.eval", [sample(n, match=1) for n in range(3)]).read_bytes()
    for place in range(len(content)):
        changed = bytearray(content)
        changed[place] ^= 0xFF
        (tmp_path / "log.eval").write_bytes(changed)
        with contextlib.suppress(TrialsError):
            scores = read_item_scores([tmp_path / "log.eval"])
            assert scores.values["match"].tolist() == [[1, 1, 1]]


@pytest.mark.slow
def test_hostile_zips_are_refused_before_they_need_memory(tmp_path, monkeypatch):
    path = write_eval(tmp_path / "log.eval", [sample(1, match=1)], members={"../../x": b"1", "/etc/y": b"2"})
    assert read_item_scores([path]).values["match"].tolist() == [[1]]
    assert sorted(item.name for item in tmp_path.iterdir()) == ["log.eval"]
    bomb = write_eval(tmp_path / "bomb.eval", [], {"x": " " * (1 << 25)})
    with pytest.raises(TrialsError, match=r"bomb\.eval, header\.json: larger than 16 MiB"):
        read_item_scores([bomb])
    content = bytearray(path.read_bytes())
    struct.pack_into("<I", content, len(content) - 22 + 12, 1 << 30)
    path.write_bytes(content)
    with pytest.raises(TrialsError, match=r"log\.eval: the zip has too many members"):
        read_item_scores([path])


def lm_eval_samples(
    folder: Path, task: str, model: str | None, values: Mapping[int, Any], date: str = DATE, **changes: Any
):
    folder.mkdir(parents=True, exist_ok=True)
    usual = {"resps": [["x"]], "filter": "none", "metrics": ["acc"]}
    rows = [
        {**usual, "doc_id": id, "doc": {"passage": id // 2}, "acc": value, "doc_hash": f"{id:064d}", **changes}
        for id, value in values.items()
    ]
    path = folder / f"samples_{task}_{date}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    if model:
        results = {"model_name": model, "higher_is_better": {task: {"acc": True, "loss": False}}}
        (folder / f"results_{date}.json").write_text(json.dumps(results))
    return path


def test_lm_eval_documents_are_items_and_tasks_are_subjects(tmp_path):
    for model, value in (("a", 1.0), ("b", 0.0)):
        lm_eval_samples(tmp_path / model, "maths", f"org/{model}", {0: value, 3: 1})
        lm_eval_samples(tmp_path / model, "law_2", f"org/{model}", {0: 1, 1: value})
    expected = read_item_scores([tmp_path / "a", tmp_path / "b"], ColumnNames(cluster="passage"))
    assert expected.models == ("org/a", "org/b")
    assert expected.items == ("law_2/0", "law_2/1", "maths/0", "maths/3")
    assert expected.subjects == ("law_2", "law_2", "maths", "maths")
    assert expected.clusters == ("law_2/0", "law_2/0", "maths/0", "maths/1")
    assert expected.values["acc"].tolist() == [[1, 1, 1, 1], [1, 0, 0, 1]]
    assert expected.notes == ()
    for paths in ([tmp_path], [str(tmp_path / "*")], [tmp_path / "a" / f"results_{DATE}.json", tmp_path / "b"]):
        assert is_score_table(paths[0])
        item_scores = read_item_scores(paths)
        assert (item_scores.models, item_scores.items) == (expected.models, expected.items)
        np.testing.assert_array_equal(item_scores.values["acc"], expected.values["acc"])


def test_lm_eval_filters_are_metrics_and_other_values_are_left_out(tmp_path):
    path = lm_eval_samples(tmp_path / "org__m", "maths", None, {0: 1}, metrics=["acc", "loss", "f1"], loss=2, f1=[0, 1])
    strict = lm_eval_samples(tmp_path / "x", "maths", None, {0: 0}, filter="strict")
    path.write_text(path.read_text() + strict.read_text())
    scores = read_item_scores([path])
    assert scores.models == ("org__m",)
    by_metric = {metric: values.tolist() for metric, values in scores.values.items()}
    assert by_metric == {"acc": [[1]], "loss": [[2]], "acc,strict": [[0]]}
    assert "values of f1 that are no numbers and are not used: 1" in scores.notes[0]
    lm_eval_samples(tmp_path / "org__m", "other", "m", {0: 1}, metrics=["loss"], loss=0.5)
    assert read_item_scores([tmp_path / "org__m"]).higher_is_better["loss"] is False


def test_a_metric_of_lm_eval_has_one_direction(tmp_path):
    for task, date in (("gain", "2026-10-01T10-00-00.1"), ("loss", "2026-10-02T10-00-00.1")):
        lm_eval_samples(tmp_path, task, "m", {0: 0.9}, date)
    read_item_scores([tmp_path])
    results = tmp_path / "results_2026-10-02T10-00-00.1.json"
    results.write_text(results.read_text().replace('"acc": true', '"acc": false'))
    with pytest.raises(
        TrialsError, match="task loss: lower scores of 'acc' are better, but higher ones are in task gain; expected one"
    ):
        read_item_scores([tmp_path])


def test_the_newest_samples_of_a_task_count_and_other_documents_are_noted(tmp_path):
    lm_eval_samples(tmp_path / "m", "maths", "m", {0: 0}, "2026-10-01T10-00-00.1")
    lm_eval_samples(tmp_path / "m", "maths", "m", {0: 1})
    scores = read_item_scores([tmp_path / "m"])
    assert scores.values["acc"].tolist() == [[1]]
    assert "the newest samples of the task are used, instead of samples_maths_2026-10-01T10-00-00.1" in scores.notes[0]
    lm_eval_samples(tmp_path / "n", "maths", "n", {0: 1}, doc_hash="f" * 64)
    assert "1 item with another document" in read_item_scores([tmp_path / "m", tmp_path / "n"]).notes[-1]


def test_bad_lm_eval_samples_are_one_sentence(tmp_path):
    path = lm_eval_samples(tmp_path, "maths", None, {0: 1, 1: math.nan})
    path.write_text(path.read_text() + "\n")
    with pytest.raises(TrialsError, match=r"line 2: the score 'acc' is nan; expected a finite number"):
        read_item_scores([path])
    path.unlink()
    (tmp_path / f"results_{DATE}.json").write_text('{"results": {}}')
    for place in (tmp_path, tmp_path / f"results_{DATE}.json"):
        assert is_score_table(place)
        with pytest.raises(TrialsError, match=r"no scores of samples beside these results; .* with --log_samples"):
            read_item_scores([place])
    path = lm_eval_samples(tmp_path, "maths", None, {0: 1})
    path.write_text(path.read_text() + '{"doc_id": 1, "resps": []}\n')
    with pytest.raises(TrialsError, match=r"line 2: expected a sample with 'doc_id', 'doc' and 'metrics'"):
        read_item_scores([path])
