"""Tables with some of the scores, and with the rows that pass a filter, in every format; and how Parquet is stored."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from makers.scored_tables import FORMATS, SCORES, read_table, score, write_table
from pfgen_fast import TrialsError
from pfgen_fast.tables.streaming import TableCounts, scored_table
from pfgen_fast.tables.table_job import TableJob

GOOD = "Ice floats because it is less dense than water."
ROWS = [{"note": str(i), "q": "Q07", "a": GOOD if i % 3 == 0 else "Because."} for i in range(20)]


@pytest.mark.slow
@pytest.mark.parametrize("target", [*FORMATS, ".jsonl.gz"])
@pytest.mark.parametrize("source", [".parquet", ".jsonl"])
@pytest.mark.parametrize("batch_size", [1, 7, None])
def test_only_rows_that_pass_are_written_and_both_are_counted(scorer, tmp_path, source, target, batch_size):
    path, out = write_table(tmp_path / f"in{source}", ROWS), tmp_path / f"out{target}"
    job = TableJob(scorer, "q", "a", columns=["average"], where="average > 0.1")
    assert scored_table(path, out, job, batch_size=batch_size) == TableCounts(20, 7)
    average = scorer.reward("Q07", [GOOD])[0]
    assert read_table(out) == [{**row, "average": average} for row in ROWS if row["a"] == GOOD]


def test_a_row_that_cannot_be_written_is_named_by_its_place_before_the_filter(scorer, tmp_path):
    rows = [{"q": "Q07", "a": GOOD if i > 5 else "Because.", "note": "\u2603" if i == 9 else "x"} for i in range(12)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "in.parquet")
    options = {"where": "average > 0.1", "encoding": "latin-1"}
    with pytest.raises(TrialsError, match=r"in\.parquet, row 10: the character U\+2603"):
        score(tmp_path / "in.parquet", tmp_path / "out.csv", scorer, **options)


def test_answers_and_scores_are_stored_without_a_dictionary(scorer, tmp_path):
    nested = [[{"role": "user", "content": "x"}]] * 20
    table = pa.Table.from_pylist(ROWS).append_column("messages", [nested])
    pq.write_table(table, tmp_path / "in.parquet")
    score(tmp_path / "in.parquet", tmp_path / "out.parquet", scorer)
    group = pq.ParquetFile(tmp_path / "out.parquet").metadata.row_group(0)
    stored = {group.column(i).path_in_schema: group.column(i).encodings for i in range(group.num_columns)}
    plain = {path for path, encodings in stored.items() if not any("DICTIONARY" in one for one in encodings)}
    assert plain == {"a", *SCORES}


@pytest.mark.slow
def test_long_rows_are_read_in_small_batches(scorer, tmp_path):
    rows = [{"q": "Q07", "a": f"{i} " + "x" * 100_000} for i in range(250)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "in.parquet", compression="none", use_dictionary=False)
    done: list[int] = []
    score(tmp_path / "in.parquet", tmp_path / "out.parquet", scorer, on_batch=done.append)
    assert done[-1] == 250
    assert 40 < done[0] < 200  # some 8 MiB
