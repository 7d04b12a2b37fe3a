"""Rows that contain their references: every form of table has the metrics of `ReferenceScorer`, or one sentence."""

import csv
import json
import pickle

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from makers.documented import documented_example
from makers.scored_tables import score
from pfgen_fast import PfgenError, ReferenceScorer, TrialsError, score_batches, score_schema
from pfgen_fast.tables.folders import score_files
from pfgen_fast.tables.table_job import TableJob

SCORER = ReferenceScorer(["bleu", "chrf"], threads=1)
ANSWERS = ["Ice floats on water.", "氷は水に浮く。", "", "[1] is a mark.", "Iron sinks."]
REFERENCES = [
    ["Ice floats on the water.", "It floats."], ["氷は浮く。"], [""], ["[1] is a mark, too."], ["a", "b", "c"],
]  # fmt: skip
ROWS = [{"a": answer, "refs": listed} for answer, listed in zip(ANSWERS, REFERENCES, strict=True)]


def expected(answers=ANSWERS, references=REFERENCES):
    table = SCORER.score(list(answers), list(references))
    return {name: table[name].tobytes() for name in SCORER.columns}


def write(path, rows):
    """Writes rows in the form of the extension, with JSON lists in the cells of CSV."""
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
        return path
    rows = [{key: value for key, value in row.items() if value is not None} for row in rows]
    if path.suffix in (".csv", ".tsv"):
        names = list(dict.fromkeys(name for row in rows for name in row))
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, names, delimiter="\t" if path.suffix == ".tsv" else ",")
            writer.writeheader()
            for row in rows:
                writer.writerow({key: json.dumps(x) if isinstance(x, list) else x for key, x in row.items()})
    elif path.suffix == ".json":
        path.write_text(json.dumps(rows))
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def scored(path, target, **options):
    """The scores of a file, as bytes by column."""
    score(path, target, SCORER, **{"reference_column": "refs", **options})
    table = pq.read_table(target)
    return {name: table[name].to_numpy().tobytes() for name in SCORER.columns}


@pytest.mark.parametrize("batch_size", [2, None])
@pytest.mark.parametrize("source", [".parquet", ".csv", ".tsv", ".jsonl", ".json"])
def test_lists_of_every_form_have_the_metrics_of_the_scorer(tmp_path, source, batch_size):
    path = write(tmp_path / f"in{source}", ROWS)
    assert scored(path, tmp_path / "out.parquet", batch_size=batch_size) == expected()
    score(path, tmp_path / "out.csv", SCORER, reference_column="refs")
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as file:
        assert [json.loads(row["refs"]) for row in csv.DictReader(file)] == REFERENCES


@pytest.mark.parametrize("source", [".parquet", ".csv", ".jsonl"])
def test_several_columns_with_a_reference_each_are_joined_and_some_may_be_empty(tmp_path, source):
    rows = [
        {"a": row["a"], **{f"ref{number}": item for number, item in enumerate(row["refs"])}}
        for row in (ROWS[0], ROWS[1], ROWS[4])
    ]
    rows = [{name: row.get(name) for name in ("a", "ref0", "ref1", "ref2")} for row in rows]
    path = write(tmp_path / f"in{source}", rows)
    actual = scored(path, tmp_path / "out.parquet", reference_column=["ref0", "ref1", "ref2"])
    assert actual == expected([row["a"] for row in rows], [REFERENCES[0], REFERENCES[1], REFERENCES[4]])


def test_a_filter_and_chosen_columns_keep_the_rows_that_pass(tmp_path):
    path = write(tmp_path / "in.jsonl", ROWS)
    options = {"reference_column": "refs", "columns": ["bleu"], "where": "chrf >= 50"}
    score(path, tmp_path / "out.jsonl", SCORER, **options)
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text("utf-8").splitlines()]
    chrf = SCORER.score(ANSWERS, REFERENCES)["chrf"]
    assert [row["a"] for row in rows] == [answer for answer, item in zip(ANSWERS, chrf, strict=True) if item >= 50]
    assert 0 < len(rows) < len(ROWS)
    assert list(rows[0]) == ["a", "refs", "bleu"]


@pytest.mark.parametrize(
    "kind", [pa.list_(pa.string()), pa.large_list(pa.large_string()), pa.list_(pa.string(), 1), pa.string()]
)
@pytest.mark.parametrize("n_batches", [1, 3])
def test_arrow_batches_of_lists_or_texts(kind, n_batches):
    is_single = kind == pa.string() or pa.types.is_fixed_size_list(kind)
    references = [row[:1] for row in REFERENCES] if is_single else REFERENCES
    column = pa.array([row[0] for row in references] if kind == pa.string() else references, kind)
    table = pa.table({"answer": ANSWERS, "references": column, "id": range(len(ANSWERS))})
    batches = table.to_batches(max_chunksize=-(-len(ANSWERS) // n_batches))
    actual = pa.Table.from_batches(score_batches(batches, SCORER))
    assert actual.schema == score_schema(table.schema, SCORER)
    assert {name: actual[name].to_numpy().tobytes() for name in SCORER.columns} == expected(references=references)


BAD = {
    "no references": ([], "expected at least one reference"),
    "a number": (["a", 7], ""),
    "an object": ({"a": "b"}, "expected a list of texts, not dict"),
}
PLACES = {".jsonl": "line 3", ".json": "row 3", ".csv": "line 4"}


@pytest.mark.parametrize("suffix", PLACES)
@pytest.mark.parametrize("fault", BAD)
def test_a_bad_row_is_named_by_its_place_and_column(tmp_path, suffix, fault):
    value, says = BAD[fault]
    if suffix == ".csv":
        value, says = json.dumps(value), says if isinstance(value, list) else "in the cell"
        value = value if value.startswith("[") else "[x"
    path = write(tmp_path / f"in{suffix}", [*ROWS[:2], {"a": "x", "refs": value}, ROWS[3]])
    with pytest.raises(TrialsError, match=rf"in\{suffix}, {PLACES[suffix]}, column 'refs': .*{says}"):
        score(path, tmp_path / "out.jsonl", SCORER, reference_column="refs")
    assert not (tmp_path / "out.jsonl").exists()


@pytest.mark.parametrize("suffix", [".parquet", ".jsonl"])
def test_rows_without_an_answer_or_references_are_errors_or_have_null_scores(tmp_path, suffix):
    rows = [ROWS[0], {"a": None, "refs": ["x"]}, {"a": "x", "refs": None}, {"a": "x", "refs": []}, ROWS[1]]
    path = write(tmp_path / f"in{suffix}", rows)
    actual = scored(path, tmp_path / "out.parquet", nulls="null")
    for name, values in expected(ANSWERS[:2], REFERENCES[:2]).items():
        first, second = np.frombuffer(values)
        assert np.frombuffer(actual[name]).tobytes() == np.array([first, *[np.nan] * 3, second]).tobytes()
    with pytest.raises(TrialsError, match=r"in\.[a-z]+, (row|line) 2[,:]"):
        scored(path, tmp_path / "other.parquet")
    path = write(tmp_path / f"none{suffix}", [{"a": "x", "refs": []}] * 3)
    assert np.isnan(np.frombuffer(scored(path, tmp_path / "none.parquet", nulls="null")["chrf"])).all()


def test_columns_that_do_not_fit_are_named(tmp_path):
    path = write(tmp_path / "in.jsonl", ROWS)
    with pytest.raises(TrialsError, match=r"in\.jsonl, line 1: no column 'ref'; there are 'a', 'refs'; did you mean"):
        scored(path, tmp_path / "out.parquet", reference_column="ref")
    with pytest.raises(TrialsError, match="no column 'more'; there are 'a', 'refs'"):
        scored(path, tmp_path / "out.parquet", reference_column=["refs", "more"])
    table = pa.table({"a": ["x"], "refs": [[1]]})
    with pytest.raises(TrialsError, match=r"column 'refs': expected texts or lists of texts, not list<.*int64>"):
        list(score_batches(table, SCORER, answer_column="a", reference_column="refs"))
    with pytest.raises(TrialsError, match=r"column 'refs': expected texts, not list<"):
        list(score_batches(pa.table({"refs": [["x"]], "r": ["x"]}), SCORER, answer_column="refs", reference_column="r"))
    with pytest.raises(PfgenError, match="columns: no score 'average'; there are bleu, chrf"):
        TableJob(SCORER, columns=["average"])
    with pytest.raises(PfgenError, match="reference_column: expected at least one column"):
        TableJob(SCORER, reference_column=[])
    with pytest.raises(PfgenError, match="corpus_bleu is one number for all rows"):
        TableJob(ReferenceScorer(["bleu", "corpus_bleu"]))


def test_metrics_without_references_need_no_column_of_references():
    scorer = ReferenceScorer(["rep_2", "distinct_2"])
    [outcome] = score_batches(pa.table({"answer": ["abab", "ab"]}), scorer)
    assert outcome.select(["rep_2", "distinct_2"]).to_pylist() == [
        {"rep_2": 0.5, "distinct_2": 2 / 3},
        {"rep_2": 0.0, "distinct_2": 1.0},
    ]


def test_finished_files_are_skipped_and_other_metrics_or_columns_are_refused(tmp_path):
    write(tmp_path / "in.jsonl", ROWS)
    options = {"answer_column": "a", "reference_column": "refs"}

    def status(scorer=SCORER, **changes):
        job = TableJob(scorer, **options | changes)
        return [outcome.status for outcome in score_files(tmp_path / "in.jsonl", tmp_path / "out", job)]

    assert [status(), status()] == [["scored"], ["current"]]
    with pytest.raises(PfgenError, match="another signature"):
        status(ReferenceScorer(["bleu"]))
    with pytest.raises(PfgenError, match="other reference columns"):
        status(reference_column=["refs", "a"])


def test_the_example_of_the_page_runs(capsys):
    exec(documented_example('reference_column="refs"'), {})
    assert "66.58" in capsys.readouterr().out


def test_a_job_is_small_when_it_is_sent():
    job = TableJob(SCORER, reference_column=["ref1", "ref2"])
    sent = pickle.dumps(job)
    assert len(sent) < 1000
    assert pickle.loads(sent).description == job.description
