"""Batches in, batches out: the same scores whatever the batches are, and rows that keep their columns."""

from collections import Counter
from unittest import mock

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from makers.documented import documented_example
from makers.effort import examples, share
from pfgen_fast import PfgenError, ScorerSpec, TrialsError, score_batches, score_schema
from pfgen_fast.tables import batches as module

SPEC = ScorerSpec("mini", threads=1)
GOOD = "Ice floats because it is less dense than water."
ANSWERS = [GOOD, "", "Because.", "Ice is about 9% less dense than water, so it floats. " * 4, None]


def table_of(rows: list[tuple[str, str | None]]) -> pa.Table:
    questions, answers = zip(*rows, strict=True) if rows else ((), ())
    texts = {"question": pa.array(questions, pa.string()), "answer": pa.array(answers, pa.string())}
    return pa.table({"id": pa.array(range(len(rows)), pa.int64()), **texts})


def expected(rows: list[tuple[str, str | None]]) -> dict[str, bytes]:
    table = SPEC.scorer.score([question for question, _ in rows], [answer for _, answer in rows], nulls="null")
    return {name: table[name].tobytes() for name in SPEC.columns}


rows_strategy = st.lists(
    st.tuples(st.sampled_from(["Q07", "Q01", "Why does ice float on water?"]), st.sampled_from(ANSWERS)), max_size=40
)


def test_neither_batches_nor_groups_change_a_score_and_a_filter_keeps_the_rows_that_pass():
    seen: Counter[str] = Counter()

    @examples(400)
    @given(
        rows=rows_strategy, size=st.integers(1, 4), at_once=st.integers(1, 16), least=st.sampled_from([0, 0.01, 0.3])
    )
    @example(rows=[("Q07", GOOD), ("Q01", None)] * 5, size=2, at_once=5, least=0.3)
    def check(rows, size, at_once, least):
        table = table_of(rows)
        given_batches = table.to_batches(max_chunksize=size)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "AT_ONCE_ROWS", at_once)
            actual = list(score_batches(given_batches, SPEC, nulls="null"))
            kept = list(score_batches(given_batches, SPEC, nulls="null", where=f"average > {least}"))
        assert [len(batch) for batch in actual] == [len(batch) for batch in given_batches]
        schema = score_schema(table.schema, SPEC)
        assert all(batch.schema == schema for batch in (*actual, *kept))
        whole = pa.Table.from_batches(actual, schema)
        assert whole.select(table.column_names) == table
        assert {name: whole[name].to_numpy().tobytes() for name in SPEC.columns} == expected(rows)
        passing = [row for row in whole.to_pylist() if row["average"] is not None and row["average"] > least]
        assert pa.Table.from_batches(kept, schema).to_pylist() == passing
        seen["several groups"] += at_once < len(rows)
        seen["grouped"] += size < at_once and len(given_batches) > 1
        seen["a missing answer"] += any(answer is None for _, answer in rows)
        seen["some rows pass"] += 0 < len(passing) < len(rows)

    check()
    assert min(seen.values()) > share(5, at_least=1), seen


@pytest.mark.parametrize("make", [
    lambda table: table, lambda table: table.to_reader(2), lambda table: iter(table.to_batches(2)),
    lambda table: table.to_batches()[0], pl.from_arrow, lambda table: [pl.from_arrow(table)],
    lambda table: pd.DataFrame(table.to_pydict()), lambda table: duckdb.from_arrow(table),
])  # fmt: skip
def test_every_object_that_exports_arrow_data_is_scored(make):
    rows = [("Q07", answer) for answer in ANSWERS[:4]] * 2
    whole = pa.Table.from_batches(score_batches(make(table_of(rows)), SPEC, columns=["average"]))
    assert whole["average"].to_numpy().tobytes() == expected(rows)["average"]
    assert whole["answer"].to_pylist() == [answer for _, answer in rows]


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]
)
def test_types_of_columns_stay(kind):
    texts = table_of([("Q07", GOOD), ("Q07", ""), ("Q01", "x")])
    views = [pa.array(texts[name].to_pylist()).cast(kind) for name in ("question", "answer")]
    batch = pa.record_batch([pa.array([["a"], [], None]), *views], ["tags", "question", "answer"])
    batch = batch.replace_schema_metadata({"who": "us"})
    [all_rows] = score_batches([batch], SPEC, columns=["average"])
    assert (all_rows.schema.field("answer").type, all_rows.schema.metadata) == (kind, {b"who": b"us"})
    [some] = score_batches([batch], SPEC, columns=["average"], where="average > 0")
    assert some.schema == all_rows.schema
    assert some.to_pylist() == [row for row in all_rows.to_pylist() if row["average"] > 0]
    assert 0 < len(some) < 3


def test_chosen_columns_come_in_the_order_in_which_they_were_chosen():
    table = table_of([("Q07", GOOD)])
    chosen = ["truthfulness_B", "average"]
    [outcome] = score_batches(table, SPEC, columns=iter(chosen), where="helpfulness >= 0 and fluency > 0")
    assert outcome.schema.names == [*table.column_names, *chosen]
    assert score_schema(table.schema, SPEC, columns=chosen) == outcome.schema


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"spec": "mini"}, r"^spec: expected a ScorerSpec, such as .*, not 'mini'$"),
        ({"columns": ["avrage"]}, "columns: no score 'avrage'; there are fluency, truthfulness, "),
        ({"columns": []}, "columns: expected at least one of fluency, "),
        ({"columns": ["average", "average"]}, "columns: 'average' appears 2 times"),
        ({"columns": "average"}, "columns: expected a list of names, not the text 'average'"),
        ({"where": "average"}, "filter 'average': expected comparisons such as 'average >= 0.6', joined by 'and', "),
        ({"where": "score > 1"}, "filter 'score > 1': no score 'score'; there are fluency, "),
        ({"where": "average > high"}, "filter 'average > high': expected a number, not 'high'"),
        ({"where": "average > nan"}, "filter 'average > nan': expected a number, not 'nan'"),
        ({"where": "average > 0 AND average < 1"}, "joined by 'and', not 'average > 0 AND average < 1'"),
    ],
)
def test_invalid_options_are_refused_before_anything_is_read(options, message):
    def unread():
        raise AssertionError("was read")
        yield

    with pytest.raises(PfgenError, match=message):
        score_batches(unread(), **{"spec": SPEC, **options})


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"q": ["Q07"], "answer": [""]}, "the first batch: no column 'question'; there are 'q', 'answer'"),
        ({"question": ["Q07"], "answr": [""]}, r"no column 'answer'; there are .*; did you mean 'answr'\?$"),
        ({"question": ["Q07"], "answer": [1]}, "the first batch, column 'answer': expected texts, not int64"),
        ({"question": ["Q07"], "answer": [""], "average": [1.0]}, "there is already a column 'average'"),
    ],
)
def test_a_schema_that_cannot_be_scored(columns, message):
    batch = pa.record_batch(columns)
    with pytest.raises(TrialsError, match=message):
        list(score_batches([batch], SPEC))
    with pytest.raises(TrialsError, match=message.replace("the first batch", "the schema")):
        score_schema(batch.schema, SPEC)


def test_a_bad_row_is_named_by_its_place_in_the_stream(monkeypatch):
    monkeypatch.setattr(module, "AT_ONCE_ROWS", 4)
    rows: list[tuple[str, str | None]] = [("Q07", "x")] * 20
    for bad, message in ((("Q99", "x"), "unknown question 'Q99'"), (("Q07", None), "null")):
        batches = table_of([*rows[:13], bad, *rows]).to_batches(max_chunksize=2)
        with pytest.raises(TrialsError, match=f"^row 14, column '.*': .*{message}"):
            list(score_batches(batches, SPEC))


def test_batches_with_another_schema_are_refused():
    first, second = table_of([("Q07", "x")]), pa.table({"question": ["Q07"], "answer": ["x"], "id": ["7"]})
    with pytest.raises(TrialsError, match=r"batch 2: has other .*: no 'id' \(int64\); new 'id' \(string\)$"):
        list(score_batches([first, second], SPEC))
    with pytest.raises(TrialsError, match=r"batch 2: .*: in another order$"):
        list(score_batches([first, first.select(["answer", "question", "id"])], SPEC))
    second = first.cast(pa.schema([field.with_nullable(False) for field in first.schema]))
    with pytest.raises(TrialsError, match=r"batch 2: .*: no 'id' \(int64\), .*; new 'id' \(int64 not null\), "):
        list(score_batches([first, second], SPEC))


@pytest.mark.parametrize("given_", [3, ["x"], {"question": ["Q07"]}, b"x"])
def test_objects_without_arrow_data_are_refused(given_):
    with pytest.raises(TrialsError, match=r"batches: expected Arrow batches, not (int|str|dict|bytes)"):
        list(score_batches(given_, SPEC))


def test_a_group_is_bounded_by_its_bytes_too(monkeypatch):
    monkeypatch.setattr(module, "AT_ONCE_BYTES", 1000)
    batches = table_of([("Q07", "x" * 400)] * 10).to_batches(max_chunksize=1)
    with mock.patch.object(SPEC.scorer, "score", wraps=SPEC.scorer.score) as score:
        assert len(list(score_batches(batches, SPEC))) == 10
    assert [len(call.args[1]) for call in score.call_args_list] == [2] * 5


def test_the_example_of_the_page_about_scale_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [("Q07", GOOD), ("Q07", "Because.")] * 5
    pq.write_table(table_of(rows), "answers.parquet")
    exec(documented_example("good.parquet.part"), {})
    assert pq.read_table("good.parquet")["id"].to_pylist() == [0, 2, 4, 6, 8]
