"""Streaming scoring of tables: every format to every other, one batch at a time, written atomically."""

from __future__ import annotations

import csv
import datetime
import decimal
import errno
import functools
import gzip
import io
import json
import lzma
import math
import pickle
import subprocess
import sys
import uuid
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
import zstandard
from pfgen_fast import PfgenError, Scorer, Suite, TrialsError
from pfgen_fast.tables.streaming import score_table

QUESTIONS = ["Q07", "Q08", "Q07", "Q01", "Q07"]
ANSWERS = [
    "Ice floats because it is less dense than water.",
    'a, "quoted" answer\r\nof two lines',
    "",
    "氷は水に浮きます𠮷。",
    "x" * 200,
]
NOTES = ["", " leading", "naïve\n", "null", "007"]
ROWS = [{"note": n, "q": q, "a": a} for n, q, a in zip(NOTES, QUESTIONS, ANSWERS, strict=True)]
SCORES = (
    *("fluency", "truthfulness", "helpfulness", "average"),
    *("fluency_A", "fluency_B", "truthfulness_A", "truthfulness_B"),
)
FORMATS = [".parquet", ".jsonl", ".csv", ".tsv", ".json"]
HEADED = (".parquet", ".csv", ".tsv")
"""The formats that name their columns where there are no rows."""
PACKED = [f"{kind}{packed}" for kind in (".jsonl", ".csv", ".tsv", ".json") for packed in (".gz", ".xz", ".zst")]


def pack(path: Path, content: bytes) -> bytes:
    packers = {".gz": gzip.compress, ".xz": lzma.compress, ".zst": zstandard.ZstdCompressor().compress}
    return packers.get(path.suffix, bytes)(content)


def unpack(path: Path) -> bytes:
    openers = {".gz": gzip.open, ".xz": lzma.open, ".zst": zstandard.open}
    with openers.get(path.suffix, open)(path, "rb") as file:
        return file.read()


def write_table(path: Path, rows: list[dict]) -> Path:
    if path.suffix == ".parquet":
        names = ("note", "q", "a")
        columns = {name: pyarrow.array([row[name] for row in rows], pyarrow.string()) for name in names}
        pyarrow.parquet.write_table(pyarrow.table(columns), path)
    elif ".jsonl" in path.name:
        path.write_bytes(pack(path, b"".join(json.dumps(row).encode() + b"\n" for row in rows)))
    elif ".json" in path.name:
        path.write_bytes(pack(path, json.dumps(rows, indent=1).encode()))
    else:
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, ["note", "q", "a"], delimiter=delimiter_of(path))
        writer.writeheader()
        writer.writerows(rows)
        path.write_bytes(pack(path, text.getvalue().encode()))
    return path


def delimiter_of(path: Path) -> str:
    return "\t" if ".tsv" in path.name else ","


def read_table(path: Path) -> list[dict]:
    if path.suffix == ".parquet":
        return pyarrow.parquet.read_table(path).to_pylist()
    if ".jsonl" in path.name:
        return [json.loads(line) for line in unpack(path).splitlines()]
    if ".json" in path.name:
        return json.loads(unpack(path))
    text = io.StringIO(unpack(path).decode(), newline="")
    rows = list(csv.DictReader(text, delimiter=delimiter_of(path), strict=True))
    return [{name: number_or_null(row[name]) if name in SCORES else row[name] for name in row} for row in rows]


def number_or_null(text: str) -> float | None:
    return float(text) if text else None


def expected_rows(scorer: Scorer, rows: list[dict]) -> list[dict]:
    table = scorer.score([row["q"] for row in rows], [row["a"] for row in rows], nulls="null")
    scored = [{name: None if math.isnan(scores[name]) else scores[name] for name in SCORES} for scores in table]
    return [{**row, **scores} for row, scores in zip(rows, scored, strict=True)]


def score(source, target, scorer, **options):
    return score_table(source, target, scorer, **{"question_column": "q", "answer_column": "a", **options})


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
    score(str(path), str(tmp_path / f"out{name}"), scorer, batch_size=2)
    assert read_table(tmp_path / f"out{name}") == expected_rows(scorer, ROWS)


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
    path = write_table(tmp_path / f"table{suffix}", ROWS)
    score(path, path, scorer, batch_size=2)
    assert read_table(path) == expected_rows(scorer, ROWS)
    assert list(tmp_path.iterdir()) == [path]


def test_progress_is_told_after_each_batch(scorer, tmp_path):
    done: list[int] = []
    path = write_table(tmp_path / "in.jsonl", ROWS)
    score(path, tmp_path / "out.jsonl", scorer, batch_size=2, on_batch=done.append)
    assert done == [2, 4, 5]


# Errors.


@pytest.mark.parametrize("suffix", FORMATS)
def test_an_unknown_column_names_those_there_are(scorer, tmp_path, suffix):
    path = write_table(tmp_path / f"in{suffix}", ROWS)
    with pytest.raises(TrialsError, match=r"in\.[^:]*: no column 'answer'; there are 'note', 'q', 'a'"):
        score(path, tmp_path / "new" / "out.csv", scorer, answer_column="answer")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_column_with_the_name_of_a_score(scorer, tmp_path, suffix):
    path = write_table(tmp_path / f"first{suffix}", ROWS)
    score(path, path, scorer)
    with pytest.raises(TrialsError, match=r"there is already a column 'fluency', the name of a score"):
        score(path, tmp_path / "new" / "out.csv", scorer)
    assert not (tmp_path / "new").exists()


def test_question_id_is_no_name_of_a_score(scorer, tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text('{"question_id": "Q07", "a": "Ice floats."}')
    score(path, path, scorer, question_column="question_id")
    assert list(read_table(path)[0]) == ["question_id", "a", *SCORES]


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


@pytest.mark.parametrize("suffix", FORMATS)
def test_an_error_leaves_the_input_that_is_also_the_output(scorer, tmp_path, suffix):
    path = write_table(tmp_path / f"in{suffix}", [*ROWS, {**ROWS[0], "q": "Q77"}])
    before = path.read_bytes()
    with pytest.raises(TrialsError, match="unknown question"):
        score(path, path, scorer, batch_size=2)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


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


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_set_that_a_question_lacks_has_no_score(make_suite, tmp_path, suffix):
    (tmp_path / "suite").mkdir()
    suite = Suite.load(make_suite({"answers": {"R": ["abc"], "P": ["xyz"]}}, {"answers": {"S": ["def"]}}))
    path = tmp_path / "in.jsonl"
    path.write_text('{"q": "Q01", "a": "abc"}\n{"q": "Q02", "a": "abc"}')
    score(path, tmp_path / f"out{suffix}", Scorer(suite))
    rows = read_table(tmp_path / f"out{suffix}")
    names = ("fluency_R", "fluency_P", "fluency_S")
    present = [[row[name] not in (None, "") for name in names] for row in rows]
    assert present == [[True, True, False], [False, False, True]]


@pytest.mark.parametrize("name", ["in", "in.txt", "in.parquet.gz", "in.jsn", "in.gz", ".jsonl.bz2"])
def test_an_ending_that_names_no_format(scorer, tmp_path, name):
    path = write_table(tmp_path / "in.csv", ROWS)
    message = r"unknown file extension; expected \.parquet, or \.csv, \.tsv, \.jsonl or \.json"
    with pytest.raises(TrialsError, match=message):
        score(tmp_path / name, tmp_path / "out.csv", scorer)
    with pytest.raises(TrialsError, match=message):
        score(path, tmp_path / name, scorer)


@pytest.mark.parametrize("suffix", [*FORMATS, ".jsonl.xz"])
def test_a_file_that_is_not_there(scorer, tmp_path, suffix):
    with pytest.raises(TrialsError, match=rf"in{suffix}: cannot be read: No such file or directory$"):
        score(tmp_path / f"in{suffix}", tmp_path / "out.csv", scorer)


def test_a_target_that_cannot_be_written(scorer, tmp_path):
    path = write_table(tmp_path / "in.csv", ROWS)
    (tmp_path / "out.csv").mkdir()
    with pytest.raises(PfgenError, match=r"out\.csv: cannot be written: "):
        score(path, tmp_path / "out.csv", scorer)
    with pytest.raises(PfgenError, match=r"in\.csv/out\.csv: cannot be written: "):
        score(path, path / "out.csv", scorer)


def test_options_are_checked_before_anything_is_read(scorer, tmp_path):
    with pytest.raises(ValueError, match="nulls: expected 'error' or 'null', not 'skip'"):
        score(tmp_path / "in.csv", tmp_path / "out.csv", scorer, nulls="skip")
    with pytest.raises(ValueError, match="batch_size: expected at least 1, not 0"):
        score(tmp_path / "in.csv", tmp_path / "out.csv", scorer, batch_size=0)


def test_without_pyarrow_the_error_names_the_extra(scorer, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    path = write_table(tmp_path / "in.csv", ROWS)
    with pytest.raises(PfgenError, match=r"pip install 'pfgen-fast\[tables\]'"):
        score(path, tmp_path / "out.parquet", scorer)
    assert score(path, tmp_path / "out.jsonl", scorer) == len(ROWS)


def test_text_needs_no_pyarrow(tmp_path):
    path = write_table(tmp_path / "in.csv", ROWS)
    script = (
        "import sys; from pfgen_fast import Scorer; from pfgen_fast.tables.streaming import score_table;"
        f"score_table({str(path)!r}, {str(path)!r}, Scorer('mini'), question_column='q', answer_column='a');"
        "assert 'pyarrow' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


# Standard streams.


class Stream:
    def __init__(self, content: bytes = b"") -> None:
        self.buffer = io.BytesIO(content)


def full() -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_standard_streams_are_json_lines(scorer, tmp_path, monkeypatch):
    lines = write_table(tmp_path / "in.jsonl", ROWS).read_bytes()
    stdout = Stream()
    monkeypatch.setattr(sys, "stdin", Stream(lines))
    monkeypatch.setattr(sys, "stdout", stdout)
    assert score("-", "-", scorer, batch_size=2) == len(ROWS)
    written = stdout.buffer.getvalue()
    assert [json.loads(line) for line in written.splitlines()] == expected_rows(scorer, ROWS)
    score(tmp_path / "in.jsonl", tmp_path / "out.jsonl", scorer)
    assert (tmp_path / "out.jsonl").read_bytes() == written


def test_an_error_in_stdin_names_it(scorer, monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "stdin", Stream(b'{"q": "Q07", "a": ""}\n{"q": "Q07", "a": 3}'))
    with pytest.raises(TrialsError, match=r"^stdin, line 2, column 'a': expected a str, not int"):
        score("-", tmp_path / "out.csv", scorer)


def test_stdout_that_cannot_be_written_is_one_sentence(scorer, tmp_path, monkeypatch):
    stdout = Stream()
    monkeypatch.setattr(stdout.buffer, "flush", full, raising=False)
    path = write_table(tmp_path / "in.jsonl", ROWS)
    monkeypatch.setattr(sys, "stdout", stdout)
    with pytest.raises(PfgenError, match=r"^stdout: cannot be written: No space left on device$"):
        score(path, "-", scorer)


def test_standard_streams_of_a_process(tmp_path):
    script = (
        "from pfgen_fast import Scorer; from pfgen_fast.tables.streaming import score_table;"
        "score_table('-', '-', Scorer('mini'), question_column='q', answer_column='a')"
    )
    line = '{"q": "Q07", "a": "氷"}\n'.encode()
    run = subprocess.run([sys.executable, "-c", script], input=line, capture_output=True, check=True)
    assert run.stdout.startswith('{"q": "Q07", "a": "氷", "fluency": 0.0, '.encode())
    assert run.stderr == b""


# JSON lines.


@pytest.mark.parametrize("suffix", [".jsonl", ".json"])
@pytest.mark.parametrize("batch_size", [1, 2, 8192])
def test_a_row_without_the_key_of_its_answer_counts_as_null(scorer, tmp_path, suffix, batch_size):
    rows = [ROWS[0], {"q": "Q07", "other": 1}, ROWS[2]]
    path = write_table(tmp_path / f"in{suffix}", rows)
    with pytest.raises(TrialsError, match=r"(line|row) 2: no column 'a'; there are 'q', 'other'"):
        score(path, tmp_path / "out.jsonl", scorer, batch_size=batch_size)
    score(path, tmp_path / "out.jsonl", scorer, batch_size=batch_size, nulls="null")
    assert read_table(tmp_path / "out.jsonl")[1] == {"q": "Q07", "other": 1, **dict.fromkeys(SCORES)}
    score(path, tmp_path / "first.jsonl", scorer, nulls="null", batch_size=8192)
    assert (tmp_path / "first.jsonl").read_bytes() == (tmp_path / "out.jsonl").read_bytes()


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_misspelt_column_of_answers_is_an_error_even_if_answers_may_be_missing(scorer, tmp_path, suffix):
    path = write_table(tmp_path / f"in{suffix}", ROWS)
    with pytest.raises(TrialsError, match=rf"in\{suffix}[^:]*: no column 'answer'; there are 'note', 'q', 'a'"):
        score(path, tmp_path / "out.csv", scorer, answer_column="answer", nulls="null", batch_size=2)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("suffix", [".jsonl", ".json"])
def test_a_row_without_the_key_of_its_question_is_always_an_error(scorer, tmp_path, suffix):
    path = write_table(tmp_path / f"in{suffix}", [ROWS[0], {"a": ""}])
    with pytest.raises(TrialsError, match=r"(line|row) 2: no column 'q'; there are 'a'"):
        score(path, tmp_path / "out.jsonl", scorer, nulls="null")


def score_lines(scorer, tmp_path, lines: bytes, target: str = "out.jsonl", **options) -> str:
    (tmp_path / "in.jsonl").write_bytes(lines)
    score(tmp_path / "in.jsonl", tmp_path / target, scorer, **options)
    return (tmp_path / target).read_bytes().decode() if target != "out.parquet" else ""


def test_a_line_keeps_its_keys_and_values(scorer, tmp_path):
    given = (
        '{"z": [1, 1.0, 0.1, 1e22, 123456789012345678901234567890, true, null], "a": "氷", "q": "Q07", "b": {"k": "é"}'
    )
    written = score_lines(scorer, tmp_path, (given + "}\n").encode())
    assert written.startswith(given.replace("1e22", "1e+22") + ', "fluency": ')
    assert written.endswith("}\n")


def test_lines_may_have_different_keys(scorer, tmp_path):
    written = score_lines(scorer, tmp_path, b'{"q": "Q07", "a": "", "x": 1}\n{"y": 2, "a": "", "q": "Q07"}\n')
    assert [list(json.loads(line))[:3] for line in written.splitlines()] == [["q", "a", "x"], ["y", "a", "q"]]


def test_not_a_number_is_written_as_null(scorer, tmp_path):
    given = b'{"q": "Q07", "a": "", "x": NaN, "y": [Infinity, {"z": -Infinity}]}'
    assert '"x": null, "y": [null, {"z": null}], ' in score_lines(scorer, tmp_path, given)


def test_a_lone_surrogate_stays_an_escape(scorer, tmp_path):
    given = rb'{"q": "Q07", "a": "\ud83d", "\\\ud83d": 1}'
    assert score_lines(scorer, tmp_path, given).startswith(r'{"q": "Q07", "a": "\ud83d", "\\\ud83d": 1, ')
    for target in ("out.csv", "out.parquet"):
        with pytest.raises(TrialsError, match="surrogate"):
            score_lines(scorer, tmp_path, given, target)


def test_blank_lines_line_ends_and_a_byte_order_mark(scorer, tmp_path):
    written = score_lines(scorer, tmp_path, b'\xef\xbb\xbf{"q": "Q07", "a": ""}\r\n\r\n \n{"q": "Q07", "a": ""}')
    assert len(written.splitlines()) == 2
    with pytest.raises(TrialsError, match="line 3"):
        score_lines(scorer, tmp_path, b'\n{"q": "Q07", "a": ""}\n{"q": "Q77", "a": ""}')


BAD_LINES = {
    b'{"q": "Q07", "a": }': r"in\.jsonl, line 3, column 19: not JSON: Expecting value",
    b'{"q": "Q07", "a": "\xff"}': r"in\.jsonl, line 3: not UTF-8 \(byte 19 of the line\)",
    b"[1]": r"in\.jsonl, line 3: expected a JSON object, not list",
    b'{"q": "Q07", "b": ""}': r"in\.jsonl, line 3: no column 'a'; there are 'q', 'b'",
    b"{}": r"in\.jsonl, line 3: no column 'q'; there are none",
    b'{"q": "Q07", "a": "", "average": 1}': r"in\.jsonl, line 3: there is already a column 'average'",
    b"[" * 100_000: r"in\.jsonl, line 3: JSON nested too deeply",
    b'{"q": "Q07", "a": "", "n": ' + b"1" * 5000 + b"}": r"in\.jsonl, line 3, column 28: .*4,300",
    b'{"q": 7, "a": ""}': r"in\.jsonl, line 3, column 'q': expected a str, not int",
}


@pytest.mark.parametrize("batch_size", [1, 8192])
@pytest.mark.parametrize("line", BAD_LINES, ids=lambda line: ascii(line[:30]))
def test_a_bad_line(scorer, tmp_path, line, batch_size):
    good = b'{"q": "Q07", "a": ""}\n'
    with pytest.raises(TrialsError, match=BAD_LINES[line]):
        score_lines(scorer, tmp_path, good + good + line + b"\n" + good, batch_size=batch_size)
    assert not (tmp_path / "out.jsonl").exists()


def test_a_long_line(scorer, tmp_path, monkeypatch):
    line = json.dumps({"q": "Q07", "a": "氷" * 1_000_000}, ensure_ascii=False).encode() + b"\n"
    assert score_lines(scorer, tmp_path, line).startswith('{"q": "Q07", "a": "氷氷')
    monkeypatch.setattr("pfgen_fast.files.reading.MAX_LINE_BYTES", 1 << 20)
    with pytest.raises(TrialsError, match=r"in\.jsonl, line 1: longer than 1 MiB, which is the limit"):
        score_lines(scorer, tmp_path, line)


@functools.cache
def packed_lines(suffix: str) -> bytes:
    """300 rows of random text, which compress badly, so that blocks end everywhere."""
    numbers = [str(uuid.UUID(int=i**20 % 2**128)) for i in range(390)]
    rows = ({"q": "Q07", "a": "", "x": numbers[n : n + 90]} for n in range(300))
    return pack(Path(f"x{suffix}"), b"".join(json.dumps(row).encode() + b"\n" for row in rows))


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".zst"])
class TestCompressedFiles:
    """They are read as a stream."""

    def score(self, scorer, tmp_path, suffix, content):
        path = tmp_path / f"in.jsonl{suffix}"
        path.write_bytes(content)
        return score(path, tmp_path / "out.jsonl", scorer, batch_size=100)

    def test_one_stream(self, scorer, tmp_path, suffix):
        assert self.score(scorer, tmp_path, suffix, packed_lines(suffix)) == 300

    def test_streams_in_a_row(self, scorer, tmp_path, suffix):
        padding = b"" if suffix == ".zst" else b"\0" * 8
        content = packed_lines(suffix) + padding + packed_lines(suffix) + padding
        assert self.score(scorer, tmp_path, suffix, content) == 600

    def test_many_small_streams(self, scorer, tmp_path, suffix):
        line = pack(Path(f"x{suffix}"), b'{"q": "Q07", "a": ""}\n')
        assert self.score(scorer, tmp_path, suffix, line * 1000) == 1000

    def test_no_bytes_at_all(self, scorer, tmp_path, suffix):
        assert self.score(scorer, tmp_path, suffix, b"") == 0

    @pytest.mark.parametrize("share", [0.01, 0.5, 0.99, 0.99999])
    def test_cut_off(self, scorer, tmp_path, suffix, share):
        packed = packed_lines(suffix)
        content = packed[: int(len(packed) * share)]
        with pytest.raises(TrialsError, match=rf"in\.jsonl\{suffix}: damaged or cut off"):
            self.score(scorer, tmp_path, suffix, content)
        assert not (tmp_path / "out.jsonl").exists()

    @pytest.mark.parametrize("rest", [b"garbage", b"\0garbage"])
    def test_followed_by_something_else(self, scorer, tmp_path, suffix, rest):
        with pytest.raises(TrialsError, match=rf"in\.jsonl\{suffix}: damaged or cut off"):
            self.score(scorer, tmp_path, suffix, packed_lines(suffix) + rest)

    def test_not_compressed(self, scorer, tmp_path, suffix):
        with pytest.raises(TrialsError, match=rf"in\.jsonl\{suffix}: damaged or cut off"):
            self.score(scorer, tmp_path, suffix, packed_lines(""))

    def test_the_same_content_gives_the_same_bytes(self, scorer, tmp_path, suffix):
        path = write_table(tmp_path / "in.jsonl", ROWS)
        outputs = [tmp_path / f"{name}.jsonl{suffix}" for name in ("one", "two")]
        for output in outputs:
            score(path, output, scorer)
        assert outputs[0].read_bytes() == outputs[1].read_bytes()


# CSV.


def score_csv(scorer, tmp_path, text: str | bytes, target: str = "out.csv", **options) -> str:
    (tmp_path / "in.csv").write_bytes(text.encode() if isinstance(text, str) else text)
    score(tmp_path / "in.csv", tmp_path / target, scorer, **options)
    return (tmp_path / target).read_bytes().decode()


def test_fields_of_csv_stay_texts(scorer, tmp_path):
    written = score_csv(scorer, tmp_path, '\ufeffn,q,a\r\n 007,Q07,""\n1e5,Q07,"a\rb"\n"\r\n",Q07,\n')
    rows = list(csv.reader(io.StringIO(written.removeprefix("\ufeff"), newline="")))
    assert [row[:3] for row in rows] == [
        ["n", "q", "a"],
        [" 007", "Q07", ""],
        ["1e5", "Q07", "a\rb"],
        ["\r\n", "Q07", ""],
    ]
    assert written.startswith("\ufeffn,q,a,fluency,")
    assert written.count("\r\n") == 5  # four rows and the quoted one


def test_an_empty_field_is_an_empty_answer(scorer, tmp_path):
    written = score_csv(scorer, tmp_path, "q,a\nQ07,\n", nulls="null")
    assert written.splitlines()[1].startswith("Q07,,0.0,")


BAD_CSV = {
    "": "in.csv: empty; expected a header",
    "q,a,q\n": "in.csv, line 1: the column 'q' appears 2 times",
    "q,a\nQ07,x\nQ07\n": "in.csv, line 3: 1 fields; expected 2, as in the header",
    "q,a\nQ07,x,y\n": "in.csv, line 2: 3 fields; expected 2, as in the header",
    'q,a\nQ07,"two\nlines"\nQ07,"x\n': "in.csv, line 4: not CSV: unexpected end of data",
    'q,a\nQ07,"x"y\n': "in.csv, line 2: not CSV: ",
    'q,a\n\nQ07,"1\n2"\nQ07,"3\n4"\nQ77,"5\n6"\n': "in.csv, line 7, column 'q': unknown question 'Q77'",
    b"q,a\nQ07,\xff\n": "in.csv, line 2: not utf-8 (byte 0xff), which is expected unless another encoding",
}


@pytest.mark.parametrize("batch_size", [1, 8192])
@pytest.mark.parametrize("text", BAD_CSV)
def test_bad_csv(scorer, tmp_path, text, batch_size):
    with pytest.raises(TrialsError) as caught:
        score_csv(scorer, tmp_path, text, batch_size=batch_size)
    assert BAD_CSV[text] in str(caught.value)
    assert not (tmp_path / "out.csv").exists()


def test_a_long_field(scorer, tmp_path):
    written = score_csv(scorer, tmp_path, "q,a\nQ07," + "x" * 1_000_000)
    assert "x" * 1_000_000 in written


def test_json_values_in_csv(scorer, tmp_path):
    line = b'{"q": "Q07", "a": "", "n": 1.50, "t": true, "l": [1, "\xe6\xb0\xb4"], "z": null, "nan": NaN}'
    row = score_lines(scorer, tmp_path, line, "out.csv").splitlines()[1]
    assert row.startswith('Q07,,1.5,true,"[1, ""水""]",,,')


# From text to Parquet, where a column has one type.


def test_types_of_json_values(scorer, tmp_path):
    rows = [
        {"q": "Q07", "a": "", "i": 1, "f": 1, "l": [1], "s": {"x": 1}},
        {"q": "Q07", "a": "", "i": 2, "f": 0.5, "l": [], "s": {"x": None}, "b": True},
        {"q": "Q07", "a": "", "f": 3, "l": None, "s": {}},
    ]
    lines = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    score_lines(scorer, tmp_path, lines, "out.parquet", batch_size=2)
    table = pyarrow.parquet.read_table(tmp_path / "out.parquet")
    assert table.column_names == ["q", "a", "i", "f", "l", "s", "b", *SCORES]
    assert [str(kind) for kind in table.schema.types[2:7]] == [
        *("int64", "double", "list<element: int64>", "struct<x: int64>", "bool")
    ]
    assert table["i"].to_pylist() == [1, 2, None]
    assert table["f"].to_pylist() == [1.0, 0.5, 3.0]
    assert table["s"].to_pylist() == [{"x": 1}, {"x": None}, {"x": None}]


MISFITS = {
    "text": ('"x": "text"', "column 'x': "),
    "list": ('"x": [1]', "column 'x': "),
    "late part": ('"x": {"k": 1, "new": 2}', "column 'x': .*, where the first rows have struct<k: int64>"),
    "float": ('"x": {"k": 1.5}', "column 'x': .*, where the first rows have struct<k: int64>"),
    "new key": ('"y": 1', "the key 'y' is new; the first rows have 'q', 'a', 'x'"),
    "big": ('"x": {"k": 1' + "0" * 30 + "}", "column 'x': "),
}


@pytest.mark.parametrize("misfit", MISFITS)
def test_a_later_batch_that_does_not_fit(scorer, tmp_path, misfit):
    part, message = MISFITS[misfit]
    good = '{"q": "Q07", "a": "", "x": {"k": 1}}\n'
    lines = good * 6 + '{"q": "Q07", "a": "", ' + part + "}\n" + good * 2
    with pytest.raises(TrialsError, match=rf"in\.jsonl, line 7(:|,) {message}"):
        score_lines(scorer, tmp_path, lines.encode(), "out.parquet", batch_size=5)
    assert not (tmp_path / "out.parquet").exists()


def test_values_of_two_types_in_the_first_batch(scorer, tmp_path):
    lines = b"".join(b'{"q": "Q07", "a": "", "x": %s}\n' % value for value in (b"1", b"null", b"2", b'"3"', b"4"))
    with pytest.raises(TrialsError, match=r"in\.jsonl, line 4, column 'x': Could not convert '3'"):
        score_lines(scorer, tmp_path, lines, "out.parquet")


def test_what_parquet_cannot_hold(scorer, tmp_path):
    with pytest.raises(TrialsError, match=r"in\.jsonl: cannot be written as Parquet: "):
        score_lines(scorer, tmp_path, b'{"q": "Q07", "a": "", "x": {}}', "out.parquet")
    assert not (tmp_path / "out.parquet").exists()


def test_a_new_key_does_not_fit_into_csv(scorer, tmp_path):
    lines = b'{"q": "Q07", "a": ""}\n{"q": "Q07", "a": "", "x": 1}\n'
    with pytest.raises(TrialsError, match=r"in\.jsonl, line 2: the key 'x' is new; the first rows have 'q', 'a'"):
        score_lines(scorer, tmp_path, lines, "out.csv", batch_size=1)
    assert score_lines(scorer, tmp_path, lines, "out.csv").startswith("q,a,x,fluency,")


# Parquet.


def rich_table() -> pyarrow.Table:
    """Chunked columns of many types, with metadata of the schema and of a field."""
    moment = datetime.datetime(2024, 2, 29, 12, 30, 1, 250_000)
    columns = {
        "q": pyarrow.array(["Q07", "Q08", "Q07"]).dictionary_encode(),
        "a": pyarrow.array(["Ice floats.", "", "氷"], pyarrow.large_string()),
        "i": pyarrow.array([1, None, 3], pyarrow.int8()),
        "f": pyarrow.array([0.5, math.nan, math.inf], pyarrow.float32()),
        "moment": pyarrow.array([moment, None, moment], pyarrow.timestamp("us", "UTC")),
        "day": pyarrow.array([moment.date()] * 3),
        "time": pyarrow.array([moment.time()] * 3),
        "span": pyarrow.array([datetime.timedelta(seconds=1.5)] * 3),
        "price": pyarrow.array([decimal.Decimal("1.10")] * 3),
        "parts": pyarrow.array([[{"day": moment.date()}], [], None]),
        "map": pyarrow.array([[("k", 1)]] * 3, pyarrow.map_(pyarrow.string(), pyarrow.int64())),
    }
    fields = [
        pyarrow.field(name, column.type, metadata={"about": name} if name == "i" else None)
        for name, column in columns.items()
    ]
    table = pyarrow.table(columns, schema=pyarrow.schema(fields, {"made": "by hand"}))
    return pyarrow.concat_tables([table, table.slice(1)])


def test_types_and_metadata_of_parquet_are_kept(scorer, tmp_path):
    pyarrow.parquet.write_table(rich_table(), tmp_path / "in.parquet", row_group_size=2)
    given = pyarrow.parquet.read_table(tmp_path / "in.parquet")
    score(tmp_path / "in.parquet", tmp_path / "out.parquet", scorer, batch_size=3)
    written = pyarrow.parquet.read_table(tmp_path / "out.parquet")
    kept = written.select(given.column_names)
    assert kept.schema.equals(given.schema.with_metadata(kept.schema.metadata), check_metadata=True)
    assert written.schema.metadata[b"made"] == b"by hand"
    assert kept.drop(["f"]).equals(given.drop(["f"]))
    assert str(kept["f"].to_pylist()) == str(given["f"].to_pylist())
    scores = scorer.score(given["q"].to_pylist(), given["a"].to_pylist())
    expected = pyarrow.table(scores).drop(["question_id"])
    assert written.select(list(SCORES)).equals(expected.combine_chunks())


def test_values_of_parquet_as_json(scorer, tmp_path):
    pyarrow.parquet.write_table(rich_table(), tmp_path / "in.parquet")
    score(tmp_path / "in.parquet", tmp_path / "out.jsonl", scorer)
    first, second, *_ = read_table(tmp_path / "out.jsonl")
    assert {name: first[name] for name in rich_table().column_names} == {
        "q": "Q07",
        "a": "Ice floats.",
        "i": 1,
        "f": 0.5,
        "moment": "2024-02-29T12:30:01.250000+00:00",
        "day": "2024-02-29",
        "time": "12:30:01.250000",
        "span": 1.5,
        "price": "1.10",
        "parts": [{"day": "2024-02-29"}],
        "map": [["k", 1]],
    }
    assert second["f"] is second["i"] is second["moment"] is None
    score(tmp_path / "in.parquet", tmp_path / "out.csv", scorer)
    row = read_table(tmp_path / "out.csv")[0]
    assert (row["moment"], row["map"]) == ("2024-02-29T12:30:01.250000+00:00", '[["k", 1]]')


@pytest.mark.parametrize("source", ["in.jsonl", "in.json"])
@pytest.mark.parametrize("twice", ['"a": "b"', '"\\u0061": "b"', '"other": {"x": 1, "x": 1}'])
def test_a_key_that_appears_twice_in_json_is_refused(scorer, tmp_path, source, twice):
    row = f'{{"q": "Q07", "a": "Ice floats.", {twice}}}'
    (tmp_path / source).write_text(f"[{row}]" if source == "in.json" else row)
    with pytest.raises(TrialsError, match=r"(line|row) 1: the key '(a|x)' appears twice in one object$"):
        score(tmp_path / source, tmp_path / "out.jsonl", scorer)


def test_a_column_of_parquet_that_is_no_text(scorer, tmp_path):
    pyarrow.parquet.write_table(pyarrow.table({"q": ["Q07"], "a": [1]}), tmp_path / "in.parquet")
    with pytest.raises(TrialsError, match=r"in\.parquet, column 'a': "):
        score(tmp_path / "in.parquet", tmp_path / "out.parquet", scorer)


def test_a_column_twice(scorer, tmp_path):
    table = pyarrow.Table.from_arrays([pyarrow.array(["Q07"])] * 3, ["q", "a", "a"])
    pyarrow.parquet.write_table(table, tmp_path / "in.parquet")
    with pytest.raises(TrialsError, match=r"in\.parquet: the column 'a' appears 2 times"):
        score(tmp_path / "in.parquet", tmp_path / "out.parquet", scorer)


def test_invalid_utf8_in_parquet_names_the_row(scorer, tmp_path):
    answers = pyarrow.array([b"fine", b"fine", b"b\xffd"]).view(pyarrow.string())
    pyarrow.parquet.write_table(pyarrow.table({"q": ["Q07"] * 3, "a": answers}), tmp_path / "in.parquet")
    with pytest.raises(TrialsError, match=r"in\.parquet, row 3, column 'a': invalid UTF-8 at byte 1"):
        score(tmp_path / "in.parquet", tmp_path / "out.parquet", scorer, batch_size=2)


def test_damaged_parquet(scorer, tmp_path):
    path = tmp_path / "in.parquet"
    path.write_bytes(b"PAR1 and nothing else")
    with pytest.raises(TrialsError, match=r"in\.parquet: damaged or no Parquet file: "):
        score(path, tmp_path / "out.parquet", scorer)
    write_table(path, ROWS * 1000)
    content = bytearray(path.read_bytes())
    content[4:200] = bytes(196)
    path.write_bytes(content)
    with pytest.raises(TrialsError, match=r"in\.parquet: damaged or no Parquet file: Couldn't deserialize"):
        score(path, tmp_path / "out.parquet", scorer)
    assert not (tmp_path / "out.parquet").exists()


def test_damage_that_pyarrow_tells_in_several_lines_is_told_in_one(scorer, tmp_path):
    path = write_table(tmp_path / "in.parquet", ROWS)
    content = bytearray(path.read_bytes())
    content[-40:-8] = b"\xff" * 32
    path.write_bytes(content)
    with pytest.raises(TrialsError, match=r"in\.parquet: damaged or no Parquet file: .") as error:
        score(path, tmp_path / "out.parquet", scorer)
    assert "\n" not in str(error.value).replace("\\n", "\n")


def test_small_batches_share_row_groups(scorer, tmp_path):
    path = write_table(tmp_path / "in.parquet", ROWS * 20)
    score(path, path, scorer, batch_size=3)
    assert pyarrow.parquet.ParquetFile(path).num_row_groups == 1


# VmHWM rather than ru_maxrss, which starts with the memory of the parent process that runs the tests.
MEASURED = """
import re, sys
from pfgen_fast import Scorer
from pfgen_fast.tables.streaming import score_table
source, target, batch_size = *sys.argv[1:3], int(sys.argv[3]) or None
names = {"question_column": "q", "answer_column": "a"}
score_table(source, target, Scorer("mini", threads=2), **names, batch_size=batch_size)
print(int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1]) >> 10)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak memory from /proc")
@pytest.mark.parametrize(
    ("suffix", "few", "many", "n_characters", "batch_size", "growth"),
    [
        (".jsonl", 300, 2300, 20_000, 50, 25),
        pytest.param(".parquet", 350_000, 1_000_000, 6, None, 60, marks=pytest.mark.slow),
        pytest.param(".jsonl.gz", 20_000, 100_000, 6, None, 60, marks=pytest.mark.slow),
        pytest.param(".json", 20_000, 100_000, 6, None, 60, marks=pytest.mark.slow),
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


def test_an_error_of_the_scorer_says_where(scorer):
    with pytest.raises(TrialsError) as caught:
        scorer.score(["Q07", "Q77"], ["", ""])
    for error in (caught.value, pickle.loads(pickle.dumps(caught.value))):
        assert (error.column, error.row) == ("questions", 1)
        assert str(error) == f"questions[1]: {error.problem}"
    with pytest.raises(TrialsError) as caught:
        scorer.score("Q07", 7)
    assert (caught.value.column, caught.value.row) == ("answers", None)
