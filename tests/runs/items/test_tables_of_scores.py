"""Tables of scores, long and wide, in every format, with good and bad content."""

import gzip
import json
import math
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pfgen_fast import TrialsError
from pfgen_fast.runs.items.item_table import ItemScores
from pfgen_fast.runs.items.score_columns import ColumnNames
from pfgen_fast.runs.items.score_tables import is_score_table, item_scores_of_table, read_item_scores
from pfgen_fast.tables.formats import writing_values

LONG = "item,model,score,trial\nq1,new,1,1\nq1,new,0,2\nq2,new,0.5,1\nq1,old,0,1\nq2,old,,1\n"
SIX = "".join(f"q{n},{{0}},{{1}}\n" for n in range(6))


@pytest.fixture
def read(tmp_path):
    """Reads texts as files with these names."""

    def read(columns: ColumnNames | None = None, **files: str) -> ItemScores:
        paths = []
        for name, text in files.items():
            path = tmp_path / name.replace("_", ".")
            path.write_text(text, encoding="utf-8")
            paths.append(path)
        return read_item_scores(paths, columns)

    return read


def test_trials_have_their_mean_their_number_and_their_variance(read):
    scores = read(a_csv=LONG)
    assert (scores.models, scores.items, scores.metrics) == (("new", "old"), ("q1", "q2"), ("score",))
    np.testing.assert_array_equal(scores.values["score"], [[0.5, 0.5], [0, math.nan]])
    np.testing.assert_array_equal(scores.n_trials["score"], [[2, 1], [1, 0]])
    np.testing.assert_array_equal(scores.variances["score"], [[0.5, math.nan], [math.nan, math.nan]])
    assert [note.partition("a.csv: ")[2] for note in scores.notes] == ["1 row without a score"]


def test_a_wide_table_has_a_model_in_each_column_of_numbers(read):
    scores = read(wide_csv="id,prompt,new,old,category\n1,a,true,0.5,m\n2,b,False,,h\n")
    assert scores.models == ("new", "old")
    np.testing.assert_array_equal(scores.values["score"], [[1, 0], [0.5, math.nan]])
    assert scores.subjects == ("m", "h")
    told = " ".join(scores.notes)
    parts = ("items from 'id'", "subjects from 'category'", "new, old is a model", "no numbers there: prompt", "true")
    assert [part for part in parts if part not in told] == []


def test_a_table_without_models_is_a_model_with_the_name_of_its_file(read):
    scores = read(**{"gpt-4.1_csv": "item,acc,f1\n1,1,0.5\n", "old_csv": "item,acc,f1\n1,0,0.25\n"})
    assert (scores.models, scores.metrics) == (("gpt-4.1", "old"), ("acc", "f1"))
    assert scores.of("old", "f1").tolist() == [0.25]
    alone = read(mine_tsv="item\tbleurt\n1\t0.5\n")
    assert (alone.models, alone.metrics) == (("mine",), ("bleurt",))


def test_named_columns_are_used_instead_of_usual_names(read):
    names = ColumnNames(item="key", model="who", score=("mark",), metric="kind", subject="part", cluster="text")
    text = "item,key,who,kind,mark,score,part,text\nx,1,m,easy,1,0,p,t\nx,1,m,hard,2,0,p,t\nx,2,m,easy,3,0,p,\n"
    scores = read(names, a_csv=text)
    assert (scores.items, scores.metrics, scores.subjects) == (("1", "2"), ("easy", "hard"), ("p", "p"))
    np.testing.assert_array_equal(scores.values["hard"], [[2, math.nan]])
    assert (scores.clusters, scores.notes) == (("t", None), ())


def test_the_same_item_in_several_subjects_is_several_items(read):
    rows = "item,subject,model,score\n0,law,m,1\n0,art,m,0\n1,law,m,1\n"
    scores = read(a_csv=rows)
    assert (scores.items, scores.subjects) == (("law/0", "art/0", "law/1"), ("law", "art", "law"))
    assert "names of all items and clusters begin with their subject" in scores.notes[0]
    unused = read(ColumnNames(subject="", trial="subject"), a_csv=rows)
    assert (unused.items, unused.subjects, unused.notes) == (("0", "1"), (), ())
    rows = "item,task,model,score,document\n0,law,m,1,d\n0,art,m,0,d\n1,law,m,1,\n0,,m,1,d\n"
    assert read(a_csv=rows).clusters == ("law/d", "art/d", None, "d")
    own = read(a_csv=rows.replace("0,art", "2,art").replace("0,,", "3,,"))  # a document may be about several subjects
    assert own.clusters == ("d", "d", None, "d")


def test_a_model_that_two_files_score_on_the_same_items_is_two_models(read):
    rows = "item,model,score\n{0},gpt,{1}\n{0},own-{1},1\n"
    scores = read(a_csv=rows.format("1", "0"), b_csv=rows.format("1", "1"))
    assert scores.models == ("gpt (a)", "own-0", "gpt (b)", "own-1")
    assert "gpt (a), gpt (b)" in scores.notes[-1]
    parts = read(a_csv=rows.format("1", "0"), b_csv=rows.format("2", "1"))  # such as tasks in files of their own
    assert (parts.models[0], parts.items, parts.notes) == ("gpt", ("1", "2"), ())
    assert "higher is better in eval_loss, unless" in read(c_csv="item,eval_loss\n1,2\n").notes[-1]


def test_what_score_writes_is_read_by_its_average_and_repeats_are_trials(read, tmp_path, call):
    demo = Path(__file__).parents[3] / "examples" / "demo_answers.jsonl"
    scored = tmp_path / "scored.jsonl"
    line = ("score", "--suite", "mini", "--question-column", "question", "--answer-column", "answer", demo, "-q")
    assert call(*line, "-o", scored)[0] == 0
    scores = read_item_scores([scored])
    assert scores.metrics[:5] == ("average", "fluency", "truthfulness", "helpfulness", "fluency_A")
    assert (scores.models, scores.n_trials["average"].max()) == (("careful", "hasty", "rambling"), 3)
    assert scores.notes == ()
    assert call("leaderboard", scored)[1].split()[2] == "score"  # the word of `score` and of the page
    assert "in score, over items" in call("compare", scored)[1]
    rows = [json.loads(row) for row in scored.read_text(encoding="utf-8").splitlines()]
    first = [row["average"] for row in rows if (row["model"], row["question"]) == ("careful", rows[0]["question"])]
    assert scores.values["average"][0, 0] == pytest.approx(np.mean(first))
    for command in (("leaderboard", scored), ("report", scored, "-o", tmp_path / "page.html")):
        assert call(*command)[0] == 0
    assert ["fluency_" in call("compare", scored, *asked)[1] for asked in ((), ("--metric", "fluency_A"))] == [0, 1]
    twice = read(a_csv="question,answer,average,fluency\na,x,1,0\na,y,0,0\n", b_csv="question,average,fluency\na,1,1\n")
    assert (twice.models, twice.values["average"].tolist()) == (("a", "b"), [[0.5], [1.0]])
    assert is_score_table(scored.rename(tmp_path / "b.jsonl"))
    ours = read(c_csv="id,a,bleu,chrf\n1,x,3,2\n2,x,4,3\n")
    assert (ours.models, ours.metrics) == (("c",), ("bleu", "chrf"))
    assert read(wide_csv="id,new,average\n1,0.5,0.25\n").models == ("new", "average")


@pytest.mark.parametrize("name", ["a.csv", "a.tsv.gz", "a.jsonl", "a.jsonl.xz", "a.jsonl.zst", "a.parquet"])
def test_formats_do_not_change_scores(tmp_path, name):
    rows = [(f"q{item}", f"m{model}", item / (model + 1)) for item, model in product(range(30), range(3))]
    with writing_values(tmp_path / name, {"item": str, "model": str, "score": float}) as write:
        write(rows)
    scores = read_item_scores([tmp_path / name])
    assert scores.values["score"].tolist() == [[item / (model + 1) for item in range(30)] for model in range(3)]
    assert is_score_table(tmp_path / name)


def test_tables_in_memory_are_read_like_files(read):
    columns = {"item": ["q1", "q2"] * 2, "model": ["a", "a", "b", "b"], "score": [1, 0, None, 0.5]}
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    arrow = pa.table(columns)
    chunks = pa.Table.from_batches([batch for part in (arrow, arrow.slice(0, 0)) for batch in part.to_batches(2)])
    expected = read(a_jsonl="".join(json.dumps(row) + "\n" for row in rows))
    encoded = arrow.set_column(0, "item", arrow.column("item").dictionary_encode())
    for table in (columns, rows, arrow, chunks, arrow.to_batches()[0], encoded):
        actual = item_scores_of_table(table)
        assert (actual.models, actual.items) == (expected.models, expected.items)
        np.testing.assert_array_equal(actual.values["score"], expected.values["score"])
    with pytest.raises(TrialsError, match=r"^the table, row 3: a second score of 'a' for the item 'q1'"):
        item_scores_of_table(pa.concat_tables([arrow.slice(0, 2), arrow.slice(0, 1)]))
    with pytest.raises(TrialsError, match=r"expected a table .* not int"):
        item_scores_of_table(3)


BAD = {
    "no rows": ("item,model,score\n", r"a\.csv: no rows; expected a row for each item"),
    "empty": ("", r"a\.csv: empty; expected a header"),
    "no items": ("text,model,score\na,b,1\n", r"a\.csv: no column of items; name it with --item-column; there are"),
    "no scores": ("item,model,note\na,b,x\n", r"a\.csv: no column of scores; name it with --score-column"),
    "unscored answers": (
        "item,model,answer\na,b,x\n",
        r"no column of scores; score answers first \(pfgen-fast score\)",
    ),
    "only empty scores": ("item,model,score\na,b,\n", r"a: no scores; expected at least one row with a score"),
    "twice": (
        "item,model,score\n1,m,0\n2,m,0\n\n1,m,1\n",
        r"a\.csv, line 5: a second score of 'm' for the item '1'; the first is in .*a\.csv, line 2; expected one, or a "
        r"column of trials",
    ),
    "twice in a trial": ("item,model,score,trial\n1,m,0,1\n1,m,1,1\n", "line 3: .*expected one for each trial"),
    "NaN": ("item,model,score\n1,m,0\n2,m,NaN\n", r"a\.csv, line 3, column 'score': the score is nan; expected a"),
    "infinite": ("item,model,score\n1,m,-inf\n", "line 2, column 'score': the score is -inf; expected a finite number"),
    "text": ("item,model,score\n1,m,1\n2,m,good\n", "line 3, column 'score': expected a number, not 'good'"),
    "digits": ("item,model,score\n1,m,1_0\n", "line 2, column 'score': expected a number, not '1_0'"),
    "text in a wide table": ("item,a,b\n1,1,0\n2,1,x\n3,1,1\n", "line 3, column 'b': expected a number, not 'x'"),
    "no model": ("item,model,score\n1, ,1\n", "line 2, column 'model': empty; expected a name"),
    "no item": ("item,model,score\n,m,1\n", "line 2, column 'item': empty; expected a name"),
    "a column twice": ("item,score,score\n1,0,1\n", r"a\.csv, line 1: the column 'score' appears 2 times"),
    "two clusters": (
        "item,model,score,cluster\n1,m,1,x\n1,n,1,y\n",
        "line 2: the item '1' has the clusters 'x' and 'y'; expected one for each item",
    ),
    "scales": (
        "item,model,score\n" + SIX.format("a", 0.5) + SIX.format("b", 80),
        "metric 'score': the scores of 'a' are between 0 and 1, and those of 'b' between 0 and 100; expected one scale",
    ),
    "a hostile name": ("item,model,score\n1,\x1b]0;x\x07,1\n1,\x1b]0;x\x07,1\n", r"score of '\\u001b\]0;x\\u0007'"),
}


@pytest.mark.parametrize(("text", "message"), BAD.values(), ids=list(BAD))
def test_bad_tables_are_one_sentence(read, text, message):
    with pytest.raises(TrialsError, match=message) as error:
        read(a_csv=text)
    assert "\n" not in str(error.value)
    assert "\x1b" not in str(error.value)


def test_small_whole_numbers_beside_larger_ones_are_one_scale(read):
    scores = read(a_csv="item,model,score\n" + SIX.format("a", 1) + SIX.format("b", 5))
    assert scores.values["score"].tolist() == [[1] * 6, [5] * 6]


def test_other_encodings_are_named(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("item,model,score\n問,m,1\n".encode("cp932"))
    assert read_item_scores([path], encoding="cp932").items == ("問",)
    with pytest.raises(TrialsError, match=r"line 2: not utf-8 .*pass the encoding, such as cp932"):
        read_item_scores([path])


def test_misspelt_columns_and_bad_files_among_good_ones_are_named(tmp_path, read):
    with pytest.raises(TrialsError, match=r"b\.csv, line 2, column 'score': expected a number"):
        read(a_csv="item,score\n1,1\n", b_csv="item,score\n1,x\n")
    with pytest.raises(TrialsError, match=r"missing\.csv: no such file or folder"):
        read_item_scores([tmp_path / "a.csv", tmp_path / "missing.csv"])
    with pytest.raises(TrialsError, match="given twice; expected each table once"):
        read_item_scores([tmp_path / "a.csv", tmp_path / "." / "a.csv"])
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(b"item,score\n" * 1000)[:-9])
    with pytest.raises(TrialsError, match=r"cut\.csv\.gz: damaged or cut off"):
        read_item_scores([tmp_path / "cut.csv.gz"])
    with pytest.raises(TrialsError, match="no samples of lm-evaluation-harness; name the tables in it"):
        read_item_scores([tmp_path])
    with pytest.raises(TrialsError, match="no column 'modle'; there are item, model, score; did you mean 'model'"):
        read(ColumnNames(model="modle"), a_csv="item,model,score\n1,m,1\n")


def test_too_many_pairs_are_refused_before_they_need_memory():
    numbers = np.arange(20_000)
    table = pa.table({"item": numbers, "model": numbers, "score": np.ones(20_000)})
    with pytest.raises(TrialsError, match="20,000 models and 20,000 items: expected at most 268,435,456 pairs"):
        item_scores_of_table(table)


def test_runs_and_trials_are_no_tables_of_scores(tmp_path):
    def at(name, text):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return path

    trials = at("run/trials.jsonl", '{"question": "q", "answer": "a"}\n')
    assert not is_score_table(trials)
    assert not is_score_table(trials.parent)
    assert not is_score_table(at("run/result.json", '{"score": 1}'))
    assert not is_score_table(tmp_path / "missing")
    assert not is_score_table(tmp_path / "missing.jsonl")
    assert is_score_table(tmp_path / "missing.csv")
    assert is_score_table("-")
    assert is_score_table(at("a.jsonl", '{"item": "q", "score": 1}\n'))
    assert is_score_table(at("wide.csv", "question,answer,old,new\nq,a,0,1\n"))
    assert is_score_table(at("a.json", '[{"id": "q", "acc": 1}]'))
    assert is_score_table(str(tmp_path / "*.json"))
