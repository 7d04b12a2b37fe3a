"""Streaming scoring of tables: every format to every other, one batch at a time, written atomically."""

import io
import json
import math
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
from makers.hostile import NAMES
from makers.scored_tables import FORMATS, ROWS, SCORES, delimiter_of, read_table, score, write_table
from pfgen_fast import PfgenError, Scorer, TrialsError
from pfgen_fast.tables.formats import check_value_table, table_rows, writing_values

HEADED = (".parquet", ".csv", ".tsv")  # they name their columns where there are no rows
PACKED = [f"{kind}{packed}" for kind in (".jsonl", ".csv", ".tsv", ".json") for packed in (".gz", ".xz", ".zst")]


def expected_rows(scorer: Scorer, rows: list[dict]) -> list[dict]:
    table = scorer.score([row["q"] for row in rows], [row["a"] for row in rows], nulls="null")
    scored = [{name: None if math.isnan(scores[name]) else scores[name] for name in SCORES} for scores in table]
    return [{**row, **scores} for row, scores in zip(rows, scored, strict=True)]


@pytest.mark.parametrize("batch_size", [2, pytest.param(8192, marks=pytest.mark.slow)])
@pytest.mark.parametrize("target", FORMATS)
@pytest.mark.parametrize("source", FORMATS)
def test_every_format_to_every_format(scorer, tmp_path, source, target, batch_size):
    path = write_table(tmp_path / f"in{source}", ROWS)
    assert score(path, tmp_path / f"out{target}", scorer, batch_size=batch_size) == len(ROWS)
    written = read_table(tmp_path / f"out{target}")
    assert written == expected_rows(scorer, ROWS)
    assert [list(row) for row in written] == [["note", "q", "a", *SCORES]] * len(ROWS)


@pytest.mark.parametrize("name", PACKED)
def test_compressed_text(scorer, tmp_path, name):
    path = write_table(tmp_path / f"in{name}", ROWS)
    outputs = [tmp_path / f"{output}{name}" for output in ("out", "again")]
    for output in outputs:
        score(str(path), str(output), scorer, batch_size=2)
    assert read_table(outputs[0]) == expected_rows(scorer, ROWS)
    assert outputs[0].read_bytes() == outputs[1].read_bytes()


@pytest.mark.parametrize("target", FORMATS)
@pytest.mark.parametrize("source", FORMATS)
def test_a_table_without_rows(scorer, tmp_path, source, target):
    path = write_table(tmp_path / f"in{source}", [])
    assert score(path, tmp_path / f"out{target}", scorer) == 0
    assert read_table(tmp_path / f"out{target}") == []
    names = ["note", "q", "a"] if source in HEADED else ["q", "a"]
    if target == ".parquet":
        schema = pyarrow.parquet.read_schema(tmp_path / "out.parquet")
        assert schema.names == [*names, *SCORES]
        assert schema.types == [pyarrow.string()] * len(names) + [pyarrow.float64()] * len(SCORES)
    if target in (".csv", ".tsv"):
        end = "\r\n" if source in (".csv", ".tsv") else "\n"
        header = delimiter_of(tmp_path / f"out{target}").join([*names, *SCORES]) + end
        assert (tmp_path / f"out{target}").read_bytes() == header.encode()


@pytest.mark.parametrize("suffix", FORMATS)
def test_the_output_may_be_the_input(scorer, tmp_path, suffix):
    done: list[int] = []
    path = write_table(tmp_path / f"table{suffix}", ROWS)
    score(path, path, scorer, batch_size=2, on_batch=done.append)
    assert done == [2, 4, 5]
    assert read_table(path) == expected_rows(scorer, ROWS)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("suffix", FORMATS)
def test_columns_that_do_not_fit_are_named(scorer, tmp_path, suffix):
    path = write_table(tmp_path / f"in{suffix}", ROWS)
    for nulls in ("error", "null"):
        with pytest.raises(TrialsError, match=rf"in\{suffix}[^:]*: no column 'answer'; there are 'note', 'q', 'a'"):
            score(path, tmp_path / "out.csv", scorer, answer_column="answer", nulls=nulls, batch_size=2)
    score(path, path, scorer)
    with pytest.raises(TrialsError, match=r"there is already a column 'fluency', the name of a score"):
        score(path, tmp_path / "new" / "out.csv", scorer)
    assert list(tmp_path.iterdir()) == [path]


BAD_ROWS = {
    "unknown question": ({"q": "Q77"}, "column 'q': unknown question 'Q77' in suite mini; nearest: .*'Q07'"),
    "null answer": ({"a": None}, "column 'a': "),
    "null question": ({"q": None}, "column 'q': "),
}
PLACES = {".parquet": "row 4", ".jsonl": "line 4", ".csv": "line 7", ".tsv": "line 7", ".json": "row 4"}


@pytest.mark.parametrize("batch_size", [2, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 3, 8192))])
@pytest.mark.parametrize(
    ("suffix", "problem"),
    [(s, p) for s in FORMATS for p in BAD_ROWS if s not in (".csv", ".tsv") or p == "unknown question"],
)
def test_a_bad_row_is_named_by_its_place_in_the_file(scorer, tmp_path, suffix, problem, batch_size):
    changes, message = BAD_ROWS[problem]
    path = write_table(tmp_path / f"in{suffix}", [*ROWS[:3], {**ROWS[3], **changes}, ROWS[4]])
    target = tmp_path / "out.jsonl"
    target.write_text("as it was")
    with pytest.raises(TrialsError, match=rf"in\{suffix}, {PLACES[suffix]}, {message}"):
        score(path, target, scorer, batch_size=batch_size)
    assert target.read_text() == "as it was"
    assert sorted(tmp_path.iterdir()) == sorted([path, target])


@pytest.mark.parametrize("target", FORMATS)
@pytest.mark.parametrize("source", [".parquet", ".jsonl", ".json"])
def test_missing_answers_get_missing_scores(scorer, tmp_path, source, target):
    rows = [ROWS[0], {**ROWS[1], "a": None}, ROWS[2]]
    path = write_table(tmp_path / f"in{source}", rows)
    score(path, tmp_path / f"out{target}", scorer, nulls="null")
    expected = expected_rows(scorer, rows)
    assert expected[1]["average"] is None
    if target in (".csv", ".tsv"):
        expected[1]["a"] = ""
    assert read_table(tmp_path / f"out{target}") == expected


@pytest.mark.parametrize("name", ["in", "in.txt", "in.parquet.gz", "in.jsn", "in.gz", ".jsonl.bz2"])
def test_an_ending_that_names_no_format(scorer, tmp_path, name):
    path = write_table(tmp_path / "in.csv", ROWS)
    (tmp_path / name).touch()
    message = r"unknown file extension; expected \.parquet, or \.csv, \.tsv, \.jsonl or \.json"
    with pytest.raises(TrialsError, match=message):
        score(tmp_path / name, tmp_path / "out.csv", scorer)
    with pytest.raises(TrialsError, match=message):
        score(path, tmp_path / name, scorer)


@pytest.mark.parametrize("suffix", [*FORMATS, ".jsonl.xz"])
def test_a_file_that_is_not_there(scorer, tmp_path, suffix):
    with pytest.raises(TrialsError, match=rf"in{suffix}: cannot be read: No such file or directory$"):
        score(tmp_path / f"in{suffix}", tmp_path / "out.csv", scorer)


def test_a_target_that_cannot_be_written_and_wrong_options_are_named(scorer, tmp_path):
    path = write_table(tmp_path / "in.csv", ROWS)
    (tmp_path / "out.csv").mkdir()
    with pytest.raises(PfgenError, match=r"out\.csv: cannot be written: "):
        score(path, tmp_path / "out.csv", scorer)
    with pytest.raises(PfgenError, match=r"in\.csv/out\.csv: cannot be written: "):
        score(path, path / "out.csv", scorer)
    for options, expected in (({"nulls": "skip"}, "'error' or 'null', not 'skip'"), ({"batch_size": 0}, "at least 1")):
        with pytest.raises(ValueError, match=f"{next(iter(options))}: expected {expected}"):
            score(tmp_path / "in.csv", tmp_path / "out.csv", scorer, **options)


# Standard streams.

STREAMS = """
import sys
from pfgen_fast import Scorer
from pfgen_fast.tables.streaming import score_table
from pfgen_fast.tables.table_job import TableJob
for source, target in (("-", "-"), ("in.csv", "out.csv")):
    score_table(source, target, TableJob(Scorer("mini"), "q", "a"), batch_size=2)
assert "pyarrow" not in sys.modules
"""


def test_standard_streams_are_json_lines_and_text_needs_no_pyarrow(scorer, tmp_path):
    content = write_table(tmp_path / "in.jsonl", ROWS).read_bytes()
    write_table(tmp_path / "in.csv", ROWS)
    run = subprocess.run([sys.executable, "-c", STREAMS], input=content, capture_output=True, check=True, cwd=tmp_path)
    assert [json.loads(line) for line in run.stdout.splitlines()] == expected_rows(scorer, ROWS)
    assert run.stderr == b""
    score(tmp_path / "in.jsonl", tmp_path / "out.jsonl", scorer)
    assert (tmp_path / "out.jsonl").read_bytes() == run.stdout


def test_an_error_in_stdin_names_it(scorer, monkeypatch, tmp_path):
    lines = b'{"q": "Q07", "a": ""}\n{"q": "Q07", "a": 3}'
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines), encoding="utf-8"))
    with pytest.raises(TrialsError, match=r"^stdin, line 2, column 'a': expected a str, not int"):
        score("-", tmp_path / "out.csv", scorer)


# VmHWM rather than ru_maxrss, which starts with the memory of the parent process that runs the tests.
MEASURED = """
import re, sys
from pfgen_fast import Scorer
from pfgen_fast.tables.streaming import score_table
from pfgen_fast.tables.table_job import TableJob
source, target, batch_size = *sys.argv[1:3], int(sys.argv[3]) or None
score_table(source, target, TableJob(Scorer("mini", threads=2), "q", "a"), batch_size=batch_size)
print(int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1]) >> 10)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak memory from /proc")
@pytest.mark.parametrize(
    ("suffix", "few", "many", "n_characters", "batch_size", "growth"),
    [
        (".jsonl", 300, 2300, 20_000, 50, 25),
        pytest.param(".parquet", 350_000, 1_000_000, 6, None, 60, marks=pytest.mark.nightly),
        pytest.param(".jsonl.gz", 20_000, 100_000, 6, None, 60, marks=pytest.mark.nightly),
    ],
)
def test_memory_does_not_grow_with_the_rows(mini, tmp_path, suffix, few, many, n_characters, batch_size, growth):
    """Both files have enough batches that one is read, one scored and one written at a time."""
    answers = [(question.question_id, text) for question in mini for text in question.answers["A"][:100]]
    peaks = []
    for n_rows in (few, many):
        source = tmp_path / f"{n_rows}{suffix}"
        some = (answers[i % len(answers)] for i in range(n_rows))
        rows = [{"note": str(i).zfill(n_characters), "q": q, "a": f"{i} {text}"} for i, (q, text) in enumerate(some)]
        write_table(source, rows)
        command = [sys.executable, "-c", MEASURED, source, tmp_path / f"out{suffix}", str(batch_size or 0)]
        peaks.append(int(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
    few_mib, many_mib = peaks
    assert many_mib - few_mib < growth, peaks
    assert many_mib < 400


def test_an_error_of_the_scorer_can_be_sent(scorer):
    with pytest.raises(TrialsError) as caught:
        scorer.score(["Q07", "Q77"], ["", ""])
    sent = pickle.loads(pickle.dumps(caught.value))
    assert (sent.column, sent.row, str(sent)) == ("questions", 1, str(caught.value))


# ---- Tables of texts: every format, packed or not, gives back the texts that were written; nothing is half-written


COLUMNS = {"item": str, "text": str}
KINDS = (".jsonl", ".csv", ".tsv", ".parquet", ".jsonl.gz", ".csv.xz", ".tsv.gz")
TEXTS = [name for name in NAMES if not any("\ud800" <= character <= "\udfff" for character in name)]


@pytest.mark.parametrize("kind", KINDS)
def test_texts_come_back_as_they_were(tmp_path, kind):
    path = tmp_path / f"texts{kind}"
    rows = [(f"{number}", text) for number, text in enumerate([*TEXTS, "a\r\nb", '"', "氷\n"])]
    with writing_values(path, COLUMNS) as write:
        write(rows[:5])
        write([])
        write(rows[5:])
    assert [(row["item"], row["text"]) for _, row in table_rows(path)] == rows


@pytest.mark.parametrize("kind", [".jsonl", ".csv", ".tsv", ".parquet"])
def test_a_table_without_rows_has_its_columns_and_a_lone_surrogate_is_an_escape(tmp_path, kind):
    path = tmp_path / f"texts{kind}"
    with writing_values(path, COLUMNS) as write:
        write([])
    assert list(table_rows(path)) == []
    if kind in (".csv", ".tsv"):
        assert path.read_text().split() in (["item,text"], ["item", "text"])
    with writing_values(path, COLUMNS) as write:
        write([("1", "a\udcffb")])
    ((_, row),) = table_rows(path)
    assert row["text"] in ("a\udcffb", "a\\udcffb")


@pytest.mark.parametrize("kind", [".jsonl", ".csv", ".parquet", ".csv.gz"])
def test_a_table_that_is_not_finished_leaves_the_old_one(tmp_path, kind):
    path = tmp_path / f"texts{kind}"
    path.write_bytes(b"old")

    def write_some():
        with writing_values(path, COLUMNS) as write:
            write([("1", "a")])
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_some()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("texts.json", "expected a file that ends with .csv, .tsv, .jsonl, .parquet"),
        ("texts.xlsx", "unknown file extension; expected .parquet"),
        ("nowhere/texts.csv", "there is no folder"),
    ],
)
def test_invalid_targets_are_refused_before_any_work(tmp_path, name, message):
    with pytest.raises(PfgenError, match=message):
        check_value_table(tmp_path / name)
    with pytest.raises(PfgenError, match=r"^-: expected a file that ends with "):
        check_value_table(Path("-"))
    assert os.listdir(tmp_path) == []
