"""A finished table of scores as an evaluator."""

import json
import math

import numpy as np
import pyarrow as pa
import pytest
from pfgen_fast import DiscernmentError
from pfgen_fast.lab.discernment import kinds
from pfgen_fast.lab.evaluators import table_evaluator as table
from pfgen_fast.lab.evaluators.evaluator import Metric
from pfgen_fast.lab.evaluators.table_evaluator import TableScores
from pyarrow import parquet

HEAD = "item,perturbation,metric,score"
WITH_LEVEL = f"{HEAD},level"
ROWS = """\
a,original,fluency,4.5
a,original,accuracy,5
a,char_delete/30,fluency,4
a,char_delete/30,accuracy,5
b,original,fluency,3
b,original,accuracy,2.5
b,newline,fluency,3
b,newline,accuracy,
"""


@pytest.fixture
def write(tmp_path):
    def write(rows, head=HEAD, name="scores.csv"):
        path = tmp_path / name
        path.write_text(f"{head}\n{rows}", encoding="utf-8")
        return path

    return write


def lists(scores):
    return {name: [None if math.isnan(item) else item for item in column.tolist()] for name, column in scores.items()}


def test_scores_are_found_by_item_and_perturbation_and_a_missing_score_is_no_missing_text(write):
    scores = TableScores(write(ROWS))
    assert scores.metrics == (Metric("fluency"), Metric("accuracy"))
    assert (scores.name, scores.names) == ("scores", ("char_delete/30", "newline"))
    assert lists(scores.scores("original", ["b", "a"])) == {"fluency": [3, 4.5], "accuracy": [2.5, 5]}
    assert lists(scores.scores("char_delete/30", ["a", "b"])) == {"fluency": [4, None], "accuracy": [5, None]}
    scores = TableScores(write(ROWS))
    result = scores.scores("newline", ["a", "b", "c"])
    assert lists(result) == {"fluency": [None, 3, None], "accuracy": [None] * 3}
    assert all(column.dtype == np.float64 for column in result.values())
    assert scores.has("newline", ["a", "b", "unknown"]).tolist() == [False, True, False]
    assert scores.has("unknown", ["a"]).tolist() == [False]


def test_every_format_holds_the_same_scores(write, tmp_path):
    rows = [dict(zip(HEAD.split(","), line.split(","), strict=True)) for line in ROWS.splitlines()]
    typed = [{**row, "score": float(row["score"]) if row["score"] else None} for row in rows]
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in typed))
    parquet.write_table(pa.Table.from_pylist(typed), tmp_path / "s.parquet")
    tables = [TableScores(write(ROWS)), TableScores(tmp_path / "s.jsonl"), TableScores(tmp_path / "s.parquet")]
    for item in tables:
        assert lists(item.scores("original", ["a", "b"])) == {"fluency": [4.5, 3], "accuracy": [5, 2.5]}
        assert item.names == ("char_delete/30", "newline")


@pytest.mark.parametrize("cell", ["", "high", "nan", "inf", "-inf", "1e999", "1_000", "[[3]]"])
def test_a_cell_without_a_finite_number_is_a_missing_score(write, cell):
    scores = TableScores(write(f"a,original,f,1\na,x,f,{cell}\n"))
    assert lists(scores.scores("x", ["a"])) == {"f": [None]}


def test_ids_in_json_may_be_numbers_but_a_score_may_be_no_text(tmp_path):
    cells = ((7, 1), (8.0, "3"), ("9", 2.5))
    rows = [{"item": item, "perturbation": "original", "metric": "f", "score": score} for item, score in cells]
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    scores = TableScores(tmp_path / "s.jsonl")
    assert lists(scores.scores("original", ["7", "8", "9"])) == {"f": [1, None, 2.5]}


def test_directions_are_declared_and_levels_read_where_they_are_given(write):
    assert table.LEVELS == kinds.LEVELS
    scores = TableScores(write("a,original,f,1,\na,x,f,1,sentence\na,y,f,1,\n", WITH_LEVEL))
    assert scores.levels == {"x": "sentence"}
    path = write(ROWS)
    turned = TableScores(path, lower_is_better=["accuracy"])
    assert turned.metrics == (Metric("fluency"), Metric("accuracy", False))
    assert turned.signature == TableScores(path).signature + '|lower_is_better:["accuracy"]'


@pytest.mark.parametrize(
    ("head", "rows", "message"),
    [
        (HEAD, "a,x,f,1\n", "no row with the perturbation 'original'"),
        (HEAD, ROWS + "c,newline,f,1\nd,newline,f,1\n", "has perturbed rows, but no original, of 2 items: c, d$"),
        (HEAD, "".join(f"{i},x,f,1\n" for i in range(8)) + "a,original,f,1\n", "8 items: 0, 1, 2, 3, 4 and 3 more$"),
        (HEAD, '"a\x1b[2J\u202e",x,f,1\n"b",original,f,1\n', r"1 item: a\\u001b\[2J\\u202e"),
        (HEAD, "a,original,f,1\n" * 2, "line 3: a second score of item a, original, f; expected one"),
        ("item,metric,score", "a,f,1\n", "line 2: no column 'perturbation'; there are item, metric, score"),
        (WITH_LEVEL, "a,x,f,1,words\n", "line 2: unknown level 'words'; expected one of word, character"),
        (WITH_LEVEL, "a,x,f,1,word\nb,x,f,1,sentence\n", "line 3: the level sentence of x, .* another level above"),
    ],
)
def test_a_table_that_breaks_the_rules_is_refused(write, head, rows, message):
    path = write(rows, head)
    with pytest.raises(DiscernmentError, match=message) as caught:
        TableScores(path)
    assert str(caught.value).startswith(str(path))


def test_unknown_names_and_missing_originals_are_named(write):
    path = write(ROWS)
    with pytest.raises(DiscernmentError, match=r"lacks the originals of 6 items: c0, c1, c2, c3, c4 and 1 more$"):
        TableScores(path).scores("original", ["a", *(f"c{number}" for number in range(6))])
    with pytest.raises(DiscernmentError, match="unknown perturbation 'newlines'; expected one of newline, char_delete"):
        TableScores(path).scores("newlines", ["a"])
    with pytest.raises(DiscernmentError, match="unknown metric 'fluenci'; expected one of fluency"):
        TableScores(path, lower_is_better=["fluenci"])


def test_the_signature_follows_the_scores(write):
    signatures = {TableScores(write(rows)).signature for rows in (ROWS, ROWS.replace("4.5", "4.6"), ROWS + "b,x,f,1\n")}
    assert len(signatures) == 3
    assert all(signature.startswith("table:") for signature in signatures)
