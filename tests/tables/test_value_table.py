"""Tables of texts: every format, packed or not, gives back the texts that were written; nothing is half-written."""

import os
from pathlib import Path

import pytest
from makers.hostile import NAMES
from pfgen_fast import PfgenError
from pfgen_fast.tables.formats import check_value_table, table_rows, writing_values

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
