"""Every container of texts gives the same scores as a list of str, without going through pyarrow."""

import subprocess
import sys

import duckdb
import fsspec
import numpy as np
import pandas
import polars
import pyarrow
import pytest
from pfgen_fast import Scorer, TrialsError
from pyarrow import dataset, parquet

ANSWERS = ["Ice floats.", "", "氷は水に浮きます。", "x" * 300, "It is less dense than water 𠮷.", "Ice floats."]
STRINGS = pyarrow.array(ANSWERS)

CONTAINERS = {
    "tuple": lambda: tuple(ANSWERS),
    "generator": lambda: (answer for answer in ANSWERS),
    "numpy str": lambda: np.array(ANSWERS),
    "numpy object": lambda: np.array(ANSWERS, dtype=object),
    "pandas object": lambda: pandas.Series(ANSWERS, dtype=object),
    "pandas string": lambda: pandas.Series(ANSWERS, dtype="string"),
    "pandas arrow": lambda: pandas.Series(ANSWERS, dtype=pandas.ArrowDtype(pyarrow.string())),
    "pandas categorical": lambda: pandas.Series(ANSWERS, dtype="category"),
    "pandas frame": lambda: pandas.DataFrame({"answer": ANSWERS}),
    "polars series": lambda: polars.Series(ANSWERS),
    "polars slice": lambda: polars.Series(["skipped", *ANSWERS, "skipped"]).slice(1, len(ANSWERS)),
    "polars chunks": lambda: polars.concat([polars.Series(ANSWERS[:2]), polars.Series(ANSWERS[2:])], rechunk=False),
    "polars categorical": lambda: polars.Series(ANSWERS, dtype=polars.Categorical),
    "polars enum": lambda: polars.Series(ANSWERS, dtype=polars.Enum(sorted(set(ANSWERS)))),
    "polars frame": lambda: polars.DataFrame({"answer": ANSWERS}),
    "pyarrow string": lambda: STRINGS,
    "pyarrow large_string": lambda: STRINGS.cast(pyarrow.large_string()),
    "pyarrow string_view": lambda: STRINGS.cast(pyarrow.string_view()),
    "pyarrow dictionary": lambda: STRINGS.dictionary_encode(),
    "pyarrow dictionary slice": lambda: pyarrow.array(["skipped", *ANSWERS]).dictionary_encode()[1:],
    "pyarrow small dictionary": lambda: STRINGS.cast(pyarrow.dictionary(pyarrow.int8(), pyarrow.large_string())),
    "pyarrow slice": lambda: pyarrow.array(["skipped", *ANSWERS, "skipped"])[1:-1],
    "pyarrow view slice": lambda: pyarrow.array(["skipped", *ANSWERS]).cast(pyarrow.string_view())[1:],
    "pyarrow chunks": lambda: pyarrow.chunked_array([ANSWERS[:1], [], ANSWERS[1:]]),
    "pyarrow table": lambda: pyarrow.table({"answer": ANSWERS}),
    "pyarrow table slice": lambda: pyarrow.table({"answer": ["skipped", *ANSWERS]})[1:],
    "pyarrow batch slice": lambda: pyarrow.record_batch({"answer": ["skipped", *ANSWERS]})[1:],
    "pyarrow struct slice": lambda: pyarrow.array([{"answer": answer} for answer in ["skipped", *ANSWERS]])[1:],
    "duckdb relation": lambda: duckdb.sql("SELECT unnest($answers) AS answer", params={"answers": ANSWERS}),
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_a_container_of_answers(scorer, container):
    table = scorer.score("Q07", CONTAINERS[container]())
    expected = scorer.score("Q07", ANSWERS)
    for name in expected.columns:
        np.testing.assert_array_equal(table[name], expected[name])
    assert [table.details(row) for row in range(len(table))] == [expected.details(row) for row in range(len(expected))]


@pytest.mark.parametrize("container", [np.array, polars.Series, lambda ids: pyarrow.array(ids).dictionary_encode()])
def test_a_container_of_questions(scorer, mini, container):
    ids = ["Q07", "Q08", "Q07", mini["Q01"].question]
    assert scorer.score(container(ids), ANSWERS[:4]).question_id.tolist() == ["Q07", "Q08", "Q07", "Q01"]
    assert scorer.reward(container(ids), ANSWERS[:4]).tolist() == scorer.reward(ids, ANSWERS[:4]).tolist()


NULLS = {
    "list": lambda values: values,
    "pyarrow string": pyarrow.array,
    "pyarrow slice": lambda values: pyarrow.array(["skipped", *values])[1:],
    "pyarrow view": lambda values: pyarrow.array(values).cast(pyarrow.string_view()),
    "pyarrow dictionary": lambda values: pyarrow.array(values).dictionary_encode(),
    "pyarrow null value": lambda values: pyarrow.DictionaryArray.from_arrays([0, 1, 2], pyarrow.array(values)),
    "pyarrow struct": lambda values: pyarrow.array([value if value is None else {"a": value} for value in values]),
    "polars": polars.Series,
    "polars categorical": lambda values: polars.Series(values, dtype=polars.Categorical),
}


@pytest.mark.parametrize("container", NULLS)
def test_nulls_are_refused_by_row_or_score_null(scorer, container):
    answers = NULLS[container](["Ice floats.", None, "It is lighter."])
    with pytest.raises(TrialsError, match=r"answers\[1\]: (a null|expected a str, not NoneType)"):
        scorer.score("Q07", answers)
    table = scorer.score("Q07", answers, nulls="null")
    for name in table.columns[1:]:
        assert np.isnan(table[name]).tolist() == [False, True, False]
    assert "nan" not in repr(table)
    with pytest.raises(TrialsError, match="row 1 holds no answer"):
        table.details(1)


def test_missing_values_of_every_kind_score_null_and_other_objects_are_refused(scorer):
    answers = ["Ice floats.", None, float("nan"), pandas.NA]
    for column in (answers, np.array(answers, dtype=object), pandas.Series(answers, dtype=object)):
        table = scorer.score("Q07", column, nulls="null")
        assert np.isnan(table.average).tolist() == [False, True, True, True]
    assert np.isnan(scorer.score("Q07", pyarrow.nulls(2), nulls="null").average).all()
    with pytest.raises(TrialsError, match=r"answers\[0\]: a null"):
        scorer.score("Q07", pyarrow.nulls(2))
    with pytest.raises(TrialsError, match=r"questions\[1\]: a null"):
        scorer.score(pyarrow.array(["Q07", None]), ["a", "b"], nulls="null")
    with pytest.raises(TrialsError, match=r"answers\[1\]: expected a str, not float"):
        scorer.score("Q07", pandas.Series(["a", 1.5], dtype=object))
    with pytest.raises(TrialsError, match=r"answers: cannot be exported to Arrow|expected one dimension"):
        scorer.score("Q07", pandas.DataFrame({"x": ["a", 1]}))
    column = pandas.Series(["\ud800a"], dtype=object)
    assert scorer.reward("Q07", column).tolist() == scorer.reward("Q07", ["\ud800a"]).tolist()


def test_a_lazy_stream_may_wait_for_threads_that_need_python(scorer):
    """As those of `pyarrow.dataset` over a file system in Python do; it would hang if it was asked with the GIL."""
    files = fsspec.filesystem("memory")
    with files.open("/answers.parquet", "wb") as file:
        parquet.write_table(pyarrow.table({"answer": ANSWERS * 500}), file, row_group_size=100)
    reader = dataset.dataset("/answers.parquet", filesystem=files).scanner().to_reader()
    assert scorer.reward("Q07", reader).tolist() == scorer.reward("Q07", ANSWERS).tolist() * 500


INVALID = [b"\xff", b"ok \xed\xa0\x80", b"\xc0\xaf", b"cut \xe3\x81", b"a" * 400 + b"\x80", b"\xf4\x90\x80\x80"]


@pytest.mark.parametrize("invalid", INVALID)
@pytest.mark.parametrize("kind", [pyarrow.string(), pyarrow.large_string()])
def test_invalid_utf8_is_named_by_its_row(scorer, invalid, kind):
    binary = pyarrow.binary() if kind == pyarrow.string() else pyarrow.large_binary()
    column = pyarrow.array([b"fine", invalid, b"fine", b"\xff"], binary).view(kind)
    for call in (scorer.score, scorer.reward):
        with pytest.raises(TrialsError, match=r"answers\[1\]: invalid UTF-8 at byte \d+"):
            call("Q07", column)
        with pytest.raises(TrialsError, match=r"questions\[1\]: invalid UTF-8"):
            call(pyarrow.array([b"Q07", invalid], binary).view(kind), ["a", "b"])


@pytest.fixture
def table(make_suite):
    folder = make_suite({"answers": {"R": ["abc"]}}, {"answers": {"S": ["abc"]}})
    return Scorer(str(folder)).score(["Q02", "Q01", "Q02"], ["abc", "a", None], nulls="null")


def test_arrow_consumers_take_a_table(table):
    expected = {name: [None if value != value else value for value in table[name].tolist()] for name in table.columns}
    arrow = pyarrow.table(table)
    arrow.validate(full=True)
    assert {name: arrow[name].to_pylist() for name in arrow.column_names} == expected
    assert arrow["average"].chunk(0).buffers()[1].address == table.average.ctypes.data  # not copied
    assert polars.DataFrame(table).cast({"question_id": polars.String}).to_dict(as_series=False) == expected
    scores = table  # noqa: F841 - duckdb finds it by name
    counts = duckdb.sql("SELECT question_id, count(average) FROM scores GROUP BY 1").fetchall()
    assert sorted(counts) == [("Q01", 1), ("Q02", 1)]


def test_an_unread_or_half_read_stream_is_let_go(scorer):
    table = scorer.score("Q07", ANSWERS)
    for _ in range(100):
        table.__arrow_c_stream__()
    reader = pyarrow.RecordBatchReader.from_stream(table)
    batch = reader.read_next_batch()
    del reader, table
    assert batch.num_rows == len(ANSWERS)


@pytest.mark.slow
def test_pyarrow_is_not_needed():
    script = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "import polars; from pfgen_fast import Scorer\n"
        "table = Scorer('mini').score('Q07', polars.Series(['Ice floats.', 'Water.']))\n"
        "print(polars.DataFrame(table).height)\n"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout == "2\n"
