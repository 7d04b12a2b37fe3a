"""The function of DuckDB: the scores of one process, with any number of threads; errors show our sentence."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from makers.engines import SPEC, SUITE, bits, expected_bits, rows, run_python_blocks, write_rows
from pfgen_fast import PfgenError, ReferenceScorer, Scorer
from pfgen_fast.integrations.duckdb import register

PAGE = Path(__file__).parents[2] / "docs" / "engines" / "duckdb.md"
N_ROWS = 9000  # DuckDB hands over 2,048 rows at a time


@cache
def many_rows():
    return rows(N_ROWS, nulls=True)


@cache
def expected():
    return expected_bits(many_rows()["question"], many_rows()["answer"])


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection with the rows in a table `rows`, in several row groups."""
    with duckdb.connect() as opened:
        opened.execute("SET threads = 4")
        opened.from_arrow(pa.table(many_rows())).create("rows")
        yield opened


def column(connection: duckdb.DuckDBPyConnection, expression: str) -> bytes:
    result = connection.execute(f"SELECT {expression} FROM rows ORDER BY id").fetchall()
    return bits([score for (score,) in result])


def test_a_table_has_the_scores_of_one_process(connection):
    register(connection, SPEC, nulls="null")
    register(connection, SPEC, name="pfgen_scores", columns=SPEC.columns, nulls="null")
    assert column(connection, "pfgen_score(question, answer)") == expected()["average"]
    actual = connection.sql("SELECT id, unnest(pfgen_scores(question, answer)) FROM rows ORDER BY id")
    assert actual.columns == ["id", *SPEC.columns]
    scores = list(zip(*actual.fetchall(), strict=True))[1:]
    assert dict(zip(SPEC.columns, map(bits, scores), strict=True)) == expected()


@pytest.mark.slow
def test_cursors_in_several_threads_share_one_scorer_and_rows_are_chosen_by_their_score(connection):
    register(connection, SPEC, nulls="null")
    cursors = [connection.cursor() for _ in range(6)]
    with ThreadPoolExecutor(6) as threads:
        actual = set(threads.map(lambda cursor: column(cursor, "pfgen_score(question, answer)"), cursors))
    assert actual == {expected()["average"]}
    query = "SELECT count(*) FROM rows WHERE pfgen_score(question, answer) >= 0.6"
    is_high = np.frombuffer(expected()["average"]) >= 0.6
    assert connection.execute(query).fetchall() == [(is_high.sum(),)]
    assert 0 < is_high.sum() < N_ROWS


def test_references_are_a_list_in_the_row(connection):
    scorer = ReferenceScorer(["chrf", "exact_match"], threads=1)
    register(connection, scorer, name="chrf")
    register(connection, scorer, name="metrics", columns=scorer.columns, nulls="null")
    expected = scorer.score(["Ice floats.", "x"], [["It floats.", "Ice floats."], ["y"]])
    rows = "(VALUES ('Ice floats.', ['It floats.', 'Ice floats.']), ('x', ['y'])) AS t(a, refs)"
    assert connection.sql(f"SELECT chrf(a, refs) FROM {rows}").fetchall() == [(item,) for item in expected.chrf]
    [(actual,)] = connection.sql("SELECT metrics('x', NULL)").fetchall()
    assert actual == {"chrf": None, "exact_match": None}
    register(connection, ReferenceScorer("rep_2", threads=1), name="rep_2")
    assert connection.sql("SELECT rep_2('abab')").fetchall() == [(0.5,)]
    with pytest.raises(PfgenError, match="corpus_bleu is one number for all rows"):
        register(connection, ReferenceScorer("corpus_bleu"), name="corpus")
    with pytest.raises(duckdb.InvalidInputException, match="row 1 of 1, column 'references': expected at least one"):
        connection.sql("SELECT chrf('x', [])").fetchall()


@pytest.mark.slow
def test_one_question_is_for_all_rows_and_other_types_become_texts(connection):
    register(connection, SPEC, nulls="null")
    average = Scorer(SUITE).score("Q07", many_rows()["answer"], nulls="null").average
    assert column(connection, "pfgen_score('Q07', answer)") == bits(average)
    keys = ", ".join("'" + key.replace("'", "''") + "'" for key in sorted(set(many_rows()["question"])))
    connection.execute(f"ALTER TABLE rows ALTER question TYPE ENUM ({keys})")
    assert column(connection, "pfgen_score(question, answer)") == expected()["average"]


def test_a_row_that_cannot_be_scored_ends_the_query_with_our_sentence_or_has_no_score(connection):
    register(connection, SPEC)
    register(connection, SPEC, name="or_null", nulls="null")
    register(connection, SPEC, name="scores_or_null", columns=["average"], nulls="null")
    assert connection.execute("SELECT or_null('Q07', NULL)").fetchone() == (None,)
    assert connection.execute("SELECT scores_or_null('Q07', NULL)").fetchone() == ({"average": None},)
    unknown = "CASE WHEN id = 5000 THEN 'Q99' ELSE question END"
    for query, sentence in {
        "SELECT pfgen_score('Q07', NULL)": "row 1 of 1, column 'answer': a null; expected a text",
        "SELECT or_null(NULL, answer) FROM rows": "column 'question': a null; expected a text",
        f"SELECT or_null({unknown}, answer) FROM rows": r"row \d+ of \d+, column 'question': unknown question 'Q99'",
    }.items():
        with pytest.raises(duckdb.InvalidInputException, match=sentence):
            connection.execute(query).fetchall()
    with pytest.raises(duckdb.BinderException, match=r"'pfgen_score\(VARCHAR, BIGINT\)'"):
        connection.execute("SELECT pfgen_score(question, id) FROM rows")
    assert column(connection, "or_null(question, answer)") == expected()["average"]


def test_a_function_that_cannot_be_registered_is_one_sentence(connection):
    register(connection, SPEC)
    with pytest.raises(PfgenError, match=r"^DuckDB refuses the function 'pfgen_score': .*already created.*$"):
        register(connection, SPEC)
    connection.remove_function("pfgen_score")
    register(connection, SPEC)
    connection.close()
    with pytest.raises(PfgenError, match=r"^DuckDB refuses the function 'other': .*closed.*$"):
        register(connection, SPEC, name="other")


def test_the_examples_of_the_page_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    created = write_rows(tmp_path / "in.parquet", 300)
    average = Scorer(SUITE).score(created["question"], created["answer"]).average
    assert run_python_blocks(PAGE) == 2
    good = pq.read_table("good.parquet")
    assert good["id"].to_pylist() == np.flatnonzero(average >= 0.6).tolist()
    assert bits(good["average"].to_pylist()) == bits(average[average >= 0.6])
    assert "average" in capsys.readouterr().out
