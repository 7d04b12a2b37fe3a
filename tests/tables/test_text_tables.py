"""Tables as JSON lines, compressed or not, and as CSV."""

from __future__ import annotations

import csv
import functools
import io
import json
import uuid
from pathlib import Path

import pytest
from makers.scored_tables import (
    FORMATS,
    ROWS,
    SCORES,
    pack,
    read_table,
    score,
    score_lines,
    write_table,
)
from pfgen_fast import TrialsError

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
