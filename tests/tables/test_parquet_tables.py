"""Parquet tables, and tables of text that become Parquet."""

from __future__ import annotations

import json

import pyarrow
import pyarrow.parquet
import pytest
from makers.scored_tables import ROWS, SCORES, score, score_lines, write_table
from pfgen_fast import TrialsError

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


def test_values_that_parquet_cannot_hold_are_refused(scorer, tmp_path):
    with pytest.raises(TrialsError, match=r"in\.jsonl: cannot be written as Parquet: "):
        score_lines(scorer, tmp_path, b'{"q": "Q07", "a": "", "x": {}}', "out.parquet")
    assert not (tmp_path / "out.parquet").exists()


def test_a_new_key_does_not_fit_into_csv(scorer, tmp_path):
    lines = b'{"q": "Q07", "a": ""}\n{"q": "Q07", "a": "", "x": 1}\n'
    with pytest.raises(TrialsError, match=r"in\.jsonl, line 2: the key 'x' is new; the first rows have 'q', 'a'"):
        score_lines(scorer, tmp_path, lines, "out.csv", batch_size=1)
    assert score_lines(scorer, tmp_path, lines, "out.csv").startswith("q,a,x,fluency,")


# Parquet.


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
