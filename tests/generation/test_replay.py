"""The replay engine: outputs of other tools, in all supported forms, become the same run."""

import json
from itertools import chain

import pyarrow as pa
import pyarrow.parquet
import pytest
from makers.runs import answers_by_trial, make_run
from pfgen_fast import TrialsError
from pfgen_fast.base.errors import EngineError
from pfgen_fast.generation.engines.engine_registry import open_engine
from pfgen_fast.generation.generating import generate
from pfgen_fast.generation.setting import Setting


def rows(mini, n_trials=3):
    return [
        {"question": question.question_id if k == 1 else question.question, "answer": f" {question.question_id} {k}"}
        for question in mini
        for k in range(1, n_trials + 1)
    ]


def write_jsonl(path, lines):
    path.write_text("\n".join(json.dumps(line, ensure_ascii=False) for line in lines), encoding="utf-8")


def harness_lines(lines, n_filters=1):
    """The format of lm-evaluation-harness: lists of repeats per request, a line per document and filter."""
    answers = {}
    for line in lines:
        answers.setdefault(line["question"], []).append(line["answer"])
    return [
        {"doc": {"question": question, "other": 1}, "target": "", "resps": [repeats], "filter": f"filter-{n}"}
        for n in range(n_filters)
        for question, repeats in answers.items()
    ]


def replay(mini, source, output, trials=3, mode="completion", **options):
    engine = open_engine("replay", suite=mini, model="m", mode=mode, input=source, **options)
    return generate(mini, engine, Setting("m", mode), trials=trials, output=output)


def answers_of(generated):
    return answers_by_trial(generated.folder)


def expected(mini, n_trials=3):
    return {k: [f"{question.question_id} {k}" for question in mini] for k in range(1, n_trials + 1)}


def test_the_kth_answer_is_that_of_trial_k_whatever_the_format(mini, tmp_path):
    write_jsonl(tmp_path / "in.jsonl", rows(mini))
    pa.parquet.write_table(pa.Table.from_pylist(rows(mini)), tmp_path / "in.parquet")
    write_jsonl(tmp_path / "other.jsonl", [{"q": row["question"], "a": row["answer"], "b": 1} for row in rows(mini)])
    lines, table = (replay(mini, tmp_path / name, tmp_path / name[-5:]) for name in ("in.jsonl", "in.parquet"))
    named = replay(mini, tmp_path / "other.jsonl", tmp_path / "out", question_column="q", answer_column="a")
    assert answers_of(lines) == answers_of(table) == answers_of(named) == expected(mini)
    assert lines.folder.name == table.folder.name
    config = json.loads((lines.folder / "config.json").read_text())
    assert sorted(config) == ["engine", "input_hash", "mode", "model"]  # how the answers were drawn is unknown


@pytest.mark.parametrize("n_filters", [1, 2])
def test_samples_of_lm_evaluation_harness_are_understood(mini, tmp_path, n_filters):
    lines = [{**row, "question": mini[row["question"]].question} for row in rows(mini)]
    write_jsonl(tmp_path / "samples_pfgen_2026.jsonl", harness_lines(lines, n_filters))
    assert answers_of(replay(mini, tmp_path / "samples_pfgen_2026.jsonl", tmp_path / "out")) == expected(mini)


def test_a_run_is_replayed_trial_by_trial(mini, tmp_path):
    write_jsonl(tmp_path / "in.jsonl", rows(mini, 12))
    first = replay(mini, tmp_path / "in.jsonl", tmp_path / "first", trials=12)
    second = replay(mini, first.folder, tmp_path / "second", trials=12)
    assert answers_of(second) == answers_of(first) == expected(mini, 12)  # trial 10 is not mistaken for trial 2
    for path in first.folder.glob("trial_*"):
        path.unlink()
    packed = answers_of(replay(mini, first.folder, tmp_path / "third", trials=12))
    assert sorted(chain.from_iterable(packed.values())) == sorted(chain.from_iterable(expected(mini, 12).values()))


def test_models_of_one_table_are_not_merged(mini, tmp_path):
    rows_by_model = {name: [{**row, "answer": f"{name}: {row['answer']}"} for row in rows(mini)] for name in "ab"}
    write_jsonl(tmp_path / "in.jsonl", [{"model": name, **row} for name, part in rows_by_model.items() for row in part])
    write_jsonl(tmp_path / "a.jsonl", [{"model": "a", **row} for row in rows_by_model["a"]])
    with pytest.raises(EngineError, match=r"answers of 2 models \(a, b\); expected --model with one of these names"):
        replay(mini, tmp_path / "in.jsonl", tmp_path / "out")
    setting = Setting("org/a", mode="qa")
    runs = []
    for name in ("in.jsonl", "a.jsonl"):
        engine = open_engine("replay", suite=mini, model="org/a", mode="qa", input=tmp_path / name)
        runs.append(generate(mini, engine, setting, trials=3, output=tmp_path / name[:-6]))
    assert answers_of(runs[0]) == answers_of(runs[1])
    assert runs[0].folder.name == runs[1].folder.name


def test_too_few_answers_are_named_with_their_question(mini, tmp_path):
    write_jsonl(tmp_path / "in.jsonl", rows(mini)[:-1])
    with pytest.raises(EngineError, match=r"in\.jsonl: 2 answers to Q08, too few for trial 3"):
        replay(mini, tmp_path / "in.jsonl", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert not replay(mini, tmp_path / "in.jsonl", tmp_path / "out", trials=2).failed


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"question": "Q99", "answer": "x"}, "line 1: unknown question 'Q99'"),
        ({"question": "Q01"}, "line 1: expected a text in the column 'answer', but the column is missing"),
        ({"question": "Q01", "answer": None}, "line 1: expected a text in the column 'answer', not NoneType"),
        ({"doc": {}, "resps": [["x"]]}, r"line 1: expected a text 'doc\.question' in a sample of lm-evaluation"),
        ({"doc": {"question": "Q01"}, "resps": ["x"]}, "expected lists of answers in 'resps'; does this task use gen"),
        ({"doc": {"question": "Q01"}, "resps": [[[-1.5, False]]]}, "line 1: expected texts in 'resps', not list"),
    ],
)
def test_a_wrong_line_is_named(mini, tmp_path, line, message):
    write_jsonl(tmp_path / "in.jsonl", [line])
    with pytest.raises(TrialsError, match=message):
        replay(mini, tmp_path / "in.jsonl", tmp_path / "out")


def test_an_input_that_is_not_one_run_or_table_is_refused(mini, tmp_path):
    with pytest.raises(EngineError, match=r"the engine replay needs an input with answers \(--input\)"):
        open_engine("replay", suite=mini, model="m", mode="qa")
    with pytest.raises(TrialsError, match="no run here"):
        replay(mini, tmp_path, tmp_path / "out")
    line = json.dumps({"question": "Q01", "answer": "x"})
    for name in ("a", "b"):
        make_run(tmp_path / "runs" / name, [line])
    with pytest.raises(EngineError, match="has 2 runs; name one of them"):
        replay(mini, tmp_path / "runs", tmp_path / "out")
    with pytest.raises(TrialsError, match="in: no such file"):
        replay(mini, tmp_path / "in", tmp_path / "out")
    (tmp_path / "in.txt").touch()
    with pytest.raises(TrialsError, match="unknown file extension"):
        replay(mini, tmp_path / "in.txt", tmp_path / "out")
