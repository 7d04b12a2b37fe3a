"""Tables as JSON lines, compressed or not, and as CSV."""

import json

import pyarrow
import pyarrow.parquet
import pytest
from makers.scored_tables import ROWS, SCORES, read_table, score, score_content, score_lines, write_table
from pfgen_fast import TrialsError

# JSON lines.


@pytest.mark.parametrize("suffix", [".jsonl", ".json"])
@pytest.mark.parametrize("batch_size", [1, 2, 8192])
def test_a_row_without_the_key_of_its_answer_counts_as_null(scorer, tmp_path, suffix, batch_size):
    rows = [ROWS[0], {"q": "Q07", "other": 1}, ROWS[2]]
    path = write_table(tmp_path / f"in{suffix}", rows)
    with pytest.raises(TrialsError, match=r"(line|row) 2: no column 'a'; there are 'q', 'other'"):
        score(path, tmp_path / "out.jsonl", scorer, batch_size=batch_size)
    with pytest.raises(TrialsError, match=r"(line|row) 1: no column 'id'; there are"):  # its question is always needed
        score(path, tmp_path / "out.jsonl", scorer, question_column="id", batch_size=batch_size, nulls="null")
    score(path, tmp_path / "out.jsonl", scorer, batch_size=batch_size, nulls="null")
    assert read_table(tmp_path / "out.jsonl")[1] == {"q": "Q07", "other": 1, **dict.fromkeys(SCORES)}
    score(path, tmp_path / "first.jsonl", scorer, nulls="null", batch_size=8192)
    assert (tmp_path / "first.jsonl").read_bytes() == (tmp_path / "out.jsonl").read_bytes()


KEPT = [
    '{"z": [1, 1.0, 0.1, 123456789012345678901234567890, true, null], "a": "氷", "q": "Q07", "b": {"k": "é"}}',
    '{"q": "Q07", "a": "", "x": 1}\n{"y": 2, "a": "", "q": "Q07"}',
    r'{"q": "Q07", "a": "\ud83d", "\\\ud83d": 1}',
]
REWRITTEN = {
    '{"q": "Q07", "a": "", "x": [1e22]}': '{"q": "Q07", "a": "", "x": [1e+22]}',
    '{"q": "Q07", "a": "", "x": NaN, "y": [Infinity, {"z": -Infinity}]}': (
        '{"q": "Q07", "a": "", "x": null, "y": [null, {"z": null}]}'
    ),
    '\ufeff{"q": "Q07", "a": ""}\r\n\r\n \n{"q": "Q07", "a": ""}': '{"q": "Q07", "a": ""}\n{"q": "Q07", "a": ""}',
}


@pytest.mark.parametrize(("arguments", "expected"), [*((lines, lines) for lines in KEPT), *REWRITTEN.items()])
def test_lines_keep_their_keys_and_values(scorer, tmp_path, arguments, expected):
    written = score_lines(scorer, tmp_path, arguments.encode()).splitlines()
    assert [line.partition(', "fluency": ')[0] + "}" for line in written] == expected.split("\n")


@pytest.mark.parametrize("target", ["out.csv", "out.parquet"])
@pytest.mark.parametrize("line", [KEPT[2], '{"q": "Q07", "a": "", "\\ud800": 1}'])
def test_a_lone_surrogate_fits_only_into_json(scorer, tmp_path, target, line):
    with pytest.raises(TrialsError, match="surrogate"):
        score_lines(scorer, tmp_path, line.encode(), target)


BAD_LINES = {
    b'{"q": "Q07", "a": }': r"in\.jsonl, line 3, column 19: not JSON: Expecting value",
    b'{"q": "Q07", "a": "\xff"}': r"in\.jsonl, line 3: not UTF-8 \(byte 19 of the line\)",
    b"[1]": r"in\.jsonl, line 3: expected a JSON object, not list",
    b'{"q": "Q07", "b": ""}': r"in\.jsonl, line 3: no column 'a'; there are 'q', 'b'",
    b'\n{"q": "Q77", "a": ""}': r"in\.jsonl, line 4, column 'q': unknown question 'Q77'",
    b"{}": r"in\.jsonl, line 3: no column 'q'; there are no columns",
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
    monkeypatch.setattr("pfgen_fast.base.file_reading.MAX_LINE_BYTES", 1 << 20)
    with pytest.raises(TrialsError, match=r"in\.jsonl, line 1: longer than 1 MiB, which is the limit"):
        score_lines(scorer, tmp_path, line)


@pytest.mark.parametrize("field", ["", "x" * 1_000_000])
def test_a_field_may_be_empty_or_long(scorer, tmp_path, field):
    written = score_content(scorer, tmp_path, f"q,a\nQ07,{field}\n", nulls="null").decode()
    assert written.splitlines()[1].startswith(f"Q07,{field},0.0,")


BAD_CSV = {
    "": "in.csv: empty; expected a header",
    "q,a,q\n": "in.csv, line 1: the column 'q' appears 2 times",
    "q,a\nQ07,x\nQ07\n": "in.csv, line 3: 1 fields; expected 2, as in the header",
    'q,a\nQ07,"two\nlines"\nQ07,"x\n': "in.csv, line 4: not CSV: unexpected end of data",
    'q,a\n\nQ07,"1\n2"\nQ07,"3\n4"\nQ77,"5\n6"\n': "in.csv, line 7, column 'q': unknown question 'Q77'",
}


@pytest.mark.parametrize("batch_size", [1, 8192])
@pytest.mark.parametrize("text", BAD_CSV)
def test_bad_csv(scorer, tmp_path, text, batch_size):
    with pytest.raises(TrialsError) as caught:
        score_content(scorer, tmp_path, text, batch_size=batch_size)
    assert BAD_CSV[text] in str(caught.value)
    assert not (tmp_path / "out.csv").exists()


def test_json_values_in_csv(scorer, tmp_path):
    line = b'{"q": "Q07", "a": "", "n": 1.50, "t": true, "l": [1, "\xe6\xb0\xb4"], "z": null, "nan": NaN}'
    row = score_lines(scorer, tmp_path, line, "out.csv").splitlines()[1]
    assert row.startswith('Q07,,1.5,true,"[1, ""水""]",,,')


# ---- Parquet tables, and tables of text that become Parquet


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
    "late part": ('"x": {"k": 1, "new": 2}', "column 'x': .*, but the first rows have struct<k: int64>"),
    "float": ('"x": {"k": 1.5}', "column 'x': .*, but the first rows have struct<k: int64>"),
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


def test_values_and_keys_that_a_form_of_table_cannot_hold_are_refused(scorer, tmp_path):
    with pytest.raises(TrialsError, match=r"in\.jsonl: cannot be written as Parquet: "):
        score_lines(scorer, tmp_path, b'{"q": "Q07", "a": "", "x": {}}', "out.parquet")
    assert not (tmp_path / "out.parquet").exists()
    lines = b'{"q": "Q07", "a": ""}\n{"q": "Q07", "a": "", "x": 1}\n'
    with pytest.raises(TrialsError, match=r"in\.jsonl, line 2: the key 'x' is new; the first rows have 'q', 'a'"):
        score_lines(scorer, tmp_path, lines, "out.csv", batch_size=1)
    assert score_lines(scorer, tmp_path, lines, "out.csv").startswith("q,a,x,fluency,")


@pytest.mark.parametrize("source", ["in.jsonl", "in.json"])
@pytest.mark.parametrize("twice", ['"a": "b"', '"\\u0061": "b"', '"other": {"x": 1, "x": 1}'])
def test_a_key_that_appears_twice_in_json_is_refused(scorer, tmp_path, source, twice):
    row = f'{{"q": "Q07", "a": "Ice floats.", {twice}}}'
    (tmp_path / source).write_text(f"[{row}]" if source == "in.json" else row)
    with pytest.raises(TrialsError, match=r"(line|row) 1: the key '(a|x)' appears twice in one object$"):
        score(tmp_path / source, tmp_path / "out.jsonl", scorer)


INVALID = pyarrow.array([b"fine", b"fine", b"b\xffd"]).view(pyarrow.string())


@pytest.mark.parametrize(
    ("names", "answers", "message"),
    [
        (["q", "a"], INVALID, r"in\.parquet, row 3, column 'a': invalid UTF-8 at byte 1"),
        (["q", "a", "a"], pyarrow.array(["x"]), r"in\.parquet: the column 'a' appears 2 times"),
    ],
)
def test_a_column_of_parquet_that_cannot_be_scored(scorer, tmp_path, names, answers, message):
    columns = [pyarrow.array(["Q07"] * len(answers)), answers, answers][: len(names)]
    pyarrow.parquet.write_table(pyarrow.Table.from_arrays(columns, names), tmp_path / "in.parquet")
    with pytest.raises(TrialsError, match=message):
        score(tmp_path / "in.parquet", tmp_path / "out.parquet", scorer, batch_size=2)


@pytest.mark.parametrize(
    ("n_rows", "damage", "message"),
    [
        (0, lambda content: b"PAR1 and nothing else", "."),
        (5000, lambda content: content[:4] + bytes(196) + content[200:], "Couldn't deserialize"),
        (5, lambda content: content[:-40] + b"\xff" * 32 + content[-8:], "."),  # pyarrow words this in several lines
    ],
)
def test_damaged_parquet(scorer, tmp_path, n_rows, damage, message):
    path = write_table(tmp_path / "in.parquet", ROWS * (n_rows // 5))
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(TrialsError, match=rf"in\.parquet: damaged or no Parquet file: {message}") as error:
        score(path, tmp_path / "out.parquet", scorer)
    assert "\n" not in str(error.value).replace("\\n", "\n")
    assert not (tmp_path / "out.parquet").exists()


def test_small_batches_share_row_groups(scorer, tmp_path):
    path = write_table(tmp_path / "in.parquet", ROWS * 20)
    score(path, path, scorer, batch_size=3)
    assert pyarrow.parquet.ParquetFile(path).num_row_groups == 1
