"""Columns that only pass through a table: every type keeps all digits in every format, or is refused by name."""

import datetime
import decimal
import json

import pyarrow as pa
import pyarrow.parquet
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.effort import examples
from makers.scored_tables import FORMATS, SCORES, read_table, score, score_lines, write_table
from pfgen_fast import TrialsError
from pfgen_fast.tables.streaming import TableCounts, score_table
from pfgen_fast.tables.table_job import TableJob
from pfgen_fast.tables.text_rows import _number

MOMENT = datetime.datetime(2024, 2, 29, 12, 30, 1, 250_000)
SHOWN = {
    "half": (pa.array([0.5, None], pa.float32()).cast(pa.float16()), 0.5),
    "time": (pa.array([MOMENT.time(), None]), "12:30:01.250000"),
    "moment": (pa.array([MOMENT, None], pa.timestamp("us", "UTC")), "2024-02-29 12:30:01.250000Z"),
    "nanosecond": (pa.array([1, None]).cast(pa.timestamp("ns")), "1970-01-01 00:00:00.000000001"),
    "time zone": (pa.array([0, None]).cast(pa.timestamp("s", "+09:00")), "1970-01-01 09:00:00.000+0900"),
    "day": (pa.array([MOMENT.date(), None]), "2024-02-29"),
    "largest": (pa.array([2**64 - 1, None], pa.uint64()), 2**64 - 1),
    "digits": (pa.array([decimal.Decimal(f"0.{'12' * 20}"), None], pa.decimal256(76, 40)), f"0.{'12' * 20}"),
    "word": (pa.array(["a", None]).dictionary_encode(), "a"),
    "parts": (pa.array([[{"price": decimal.Decimal("1.10")}], []]), [{"price": "1.10"}]),
    "map": (pa.array([[("k", 1.5)], None], pa.map_(pa.string(), pa.float64())), [["k", 1.5]]),
}
COLUMNS_SHOWN = {name: column for name, (column, _) in SHOWN.items()}


def test_types_and_metadata_of_parquet_are_kept(scorer, tmp_path):
    columns = {
        "q": pa.array(["Q07", "Q08"]).dictionary_encode(),
        "a": pa.array(["Ice floats.", "氷"], pa.large_string()),
        **COLUMNS_SHOWN,
    }
    fields = [pa.field(name, column.type, metadata={"about": name}) for name, column in columns.items()]
    table = pa.table(columns, schema=pa.schema(fields, {"made": "by hand"}))
    pa.parquet.write_table(pa.concat_tables([table, table.slice(1)]), tmp_path / "in.parquet", row_group_size=2)
    arguments = pa.parquet.read_table(tmp_path / "in.parquet")
    score(tmp_path / "in.parquet", tmp_path / "out.parquet", scorer, batch_size=3)
    written = pa.parquet.read_table(tmp_path / "out.parquet")
    kept = written.select(arguments.column_names)
    assert kept.schema.equals(arguments.schema.with_metadata(kept.schema.metadata), check_metadata=True)
    assert written.schema.metadata[b"made"] == b"by hand"
    assert kept.equals(arguments)
    expected = pa.table(scorer.score(arguments["q"].to_pylist(), arguments["a"].to_pylist())).drop(["question_id"])
    assert written.drop(arguments.column_names).equals(expected.combine_chunks())


@pytest.mark.parametrize("target", ["out.jsonl", "out.json", "out.csv", "out.tsv"])
def test_every_type_of_parquet_comes_out_as_json_or_cells(scorer, tmp_path, target):
    pa.parquet.write_table(pa.table({"q": ["Q07"] * 2, "a": ["", ""], **COLUMNS_SHOWN}), tmp_path / "in.parquet")
    score(tmp_path / "in.parquet", tmp_path / target, scorer)
    first, second = read_table(tmp_path / target)
    expected = {name: value for name, (_, value) in SHOWN.items()}
    if target in ("out.csv", "out.tsv"):
        expected = {name: value if isinstance(value, str) else json.dumps(value) for name, value in expected.items()}
    assert {name: first[name] for name in expected} == expected
    assert second["moment"] in (None, "")


@pytest.mark.parametrize(
    ("column", "problem"),
    [
        (pa.array([b"\xff"]), "the type binary is not supported"),
        (pa.array([1]).cast(pa.duration("ns")), r"the type duration\[ns\] is not supported"),
    ],
)
def test_values_that_text_cannot_hold_are_refused_with_their_column(scorer, tmp_path, column, problem):
    pa.parquet.write_table(pa.table({"q": ["Q07"], "a": [""], "other": column}), tmp_path / "in.parquet")
    with pytest.raises(TrialsError, match=rf"in\.parquet, column 'other': cannot be written as text: {problem}"):
        score(tmp_path / "in.parquet", tmp_path / "out.csv", scorer)


@pytest.mark.parametrize("number", ["1e400", "-1e400", "1e-400", "3e-324", "3.14159265358979323846", "1e-" + "9" * 30])
@pytest.mark.parametrize("target", ["out.jsonl", "out.csv", "out.parquet"])
def test_a_number_of_json_that_loses_digits_is_refused(scorer, tmp_path, number, target):
    good = '{"q": "Q07", "a": "", "other": 1.50}\n'
    before = f'{{"q": "Q07", "a": "\\"{number}", "other": ['
    message = rf"in\.jsonl, line 2, column {len(before) + 1}: the number {number} loses digits"
    with pytest.raises(TrialsError, match=message):
        score_lines(scorer, tmp_path, f"{good}{before}{number}]}}\n".encode(), target)
    assert not (tmp_path / target).exists()


@examples(400)
@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(["r", ".17g", ".25e", ".30g"]))
def test_a_number_that_was_a_float_is_taken_however_it_is_written(number, form):
    text = repr(number) if form == "r" else format(number, form)
    assert _number(text) == number


# ---- Tables with some of the scores, and with the rows that pass a filter, in every format; and how Parquet is stored


GOOD = "Ice floats because it is less dense than water."
ROWS = [{"note": str(i), "q": "Q07", "a": GOOD if i % 3 == 0 else "Because."} for i in range(20)]


@pytest.mark.slow
@pytest.mark.parametrize("target", [*FORMATS, ".jsonl.gz"])
@pytest.mark.parametrize("source", [".parquet", ".jsonl"])
@pytest.mark.parametrize("batch_size", [1, 7, None])
def test_only_rows_that_pass_are_written_and_both_are_counted(scorer, tmp_path, source, target, batch_size):
    path, out = write_table(tmp_path / f"in{source}", ROWS), tmp_path / f"out{target}"
    job = TableJob(scorer, "q", "a", columns=["average"], where="average > 0.1")
    assert score_table(path, out, job, batch_size=batch_size) == TableCounts(20, 7)
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
    plain = {path for path, encodings in stored.items() if not any("DICTIONARY" in encoding for encoding in encodings)}
    assert plain == {"a", *SCORES}


@pytest.mark.slow
def test_long_rows_are_read_in_small_batches(scorer, tmp_path):
    rows = [{"q": "Q07", "a": f"{i} " + "x" * 100_000} for i in range(250)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "in.parquet", compression="none", use_dictionary=False)
    done: list[int] = []
    score(tmp_path / "in.parquet", tmp_path / "out.parquet", scorer, on_batch=done.append)
    assert done[-1] == 250
    assert 40 < done[0] < 200  # some 8 MiB
