"""The expression of polars: the scores of one process, in every context, engine and shape of a frame."""

import io
import pickle
from pathlib import Path

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from makers.effort import examples
from makers.engines import SPEC, SUITE, bits, expected_bits, rows, run_python_blocks, write_rows
from makers.strategies import answers
from pfgen_fast import ReferenceScorer, Scorer, TrialsError
from pfgen_fast.integrations.polars import score, score_references
from pfgen_fast.tables.table_job import TableJob

PAGE = Path(__file__).parents[2] / "docs" / "engines" / "polars.md"
FRAME = pl.DataFrame(rows(200))
AVERAGE = score("question", "answer", SPEC)
FAULTS = (TrialsError, pl.exceptions.ComputeError)  # old versions of polars put the sentence into an error of theirs

KEYS = [key for question in SUITE for key in (question.question_id, question.question)]
ANSWERS = answers(SUITE.questions[0].answers["A"]).map(lambda text: text.replace("\ud800", "?"))
ROWS = st.lists(st.tuples(st.sampled_from(KEYS), st.none() | ANSWERS), max_size=12)
KINDS = [pl.String, pl.Categorical, pl.Enum(KEYS)]


@st.composite
def frames(draw: st.DrawFn) -> pl.DataFrame:
    """Frames of several chunks, sliced, with missing answers and questions of all types that hold texts."""
    schema = {"question": pl.String, "answer": pl.String}
    parts = [pl.DataFrame(part, schema=schema, orient="row") for part in draw(st.lists(ROWS, min_size=1, max_size=3))]
    frame = pl.concat(parts, rechunk=False)
    frame = frame.slice(draw(st.integers(0, 3)), draw(st.none() | st.integers(0, 20)))
    return frame.with_columns(pl.col("question").cast(draw(st.sampled_from(KINDS))))


def evaluated(frame: pl.DataFrame, expression: pl.Expr, engine: str) -> pl.DataFrame:
    if engine == "eager":
        return frame.with_columns(expression)
    return frame.lazy().with_columns(expression).collect(engine=engine)


@examples(240)
@example(FRAME.select("question", answer=pl.lit(None, pl.String)), "eager")
@example(FRAME.select("question", "answer").clear(), "eager")
@given(frames(), st.sampled_from(["eager", "in-memory", "streaming"]))
def test_every_frame_has_the_scores_of_one_process(frame, engine):
    actual = evaluated(frame, score("question", "answer", SPEC, columns=SPEC.columns, nulls="null"), engine)
    scores = actual["scores"].struct.unnest()
    expected = expected_bits(frame["question"].cast(pl.String).to_list(), frame["answer"].to_list())
    assert {name: bits(scores[name]) for name in scores.columns} == expected
    assert not any(column.is_nan().any() for column in scores)
    (average,) = evaluated(frame, score("question", "answer", SPEC, nulls="null"), engine).select("average")
    assert bits(average) == expected["average"]


def test_the_schema_is_known_before_anything_is_scored(monkeypatch):
    monkeypatch.setattr(TableJob, "score", None)
    lazy = FRAME.lazy().with_columns(AVERAGE, score("question", "answer", SPEC, columns=["fluency", "fluency_A"]))
    schema = lazy.collect_schema()
    scores = pl.Struct({"fluency": pl.Float64, "fluency_A": pl.Float64})
    assert schema == {**FRAME.schema, "average": pl.Float64, "scores": scores}
    assert FRAME.lazy().select(score("question", "answer", SPEC, column="fluency_A")).collect_schema().names() == [
        "fluency_A"
    ]


def test_a_filter_on_other_columns_comes_before_scoring():
    frame = FRAME.with_columns(question=pl.when(pl.col("id") < 9).then("question").otherwise(pl.lit("Q99")))
    assert len(frame.lazy().with_columns(AVERAGE).filter(pl.col("id") < 9).collect()) == 9


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_an_expression_goes_where_expressions_go(engine):
    scored = FRAME.with_columns(AVERAGE)
    lazy = FRAME.lazy()

    def same(actual: pl.LazyFrame, expected: pl.DataFrame) -> None:
        assert actual.collect(engine=engine).equals(expected)

    same(lazy.filter(AVERAGE > 0.3), FRAME.filter(scored["average"] > 0.3))
    same(lazy.sort(AVERAGE, "id"), scored.sort("average", "id").drop("average"))
    best = scored.group_by("question").agg(pl.all().sort_by("average", "id").last()).sort("id")
    same(lazy.group_by("question").agg(pl.all().sort_by(AVERAGE, "id").last(), AVERAGE.max()).sort("id"), best)
    rank_in_question = pl.col("average").rank().over("question")
    same(lazy.with_columns(AVERAGE.rank().over("question")), scored.with_columns(rank_in_question))
    lists = scored.group_by("question").agg("answer", "average").filter(pl.col("question") == "Q07")
    element_scores = pl.col("answer").list.eval(score(pl.lit("Q07"), pl.element(), SPEC)).alias("average")
    same(lists.lazy().with_columns(element_scores), lists)


@pytest.mark.parametrize("engine", ["eager", "in-memory", "streaming"])
def test_rows_of_other_branches_are_not_scored(engine):
    lacking = pl.when(pl.col("id") % 3 > 0)
    frame = FRAME.with_columns(answer=lacking.then("answer"), wanted=pl.col("id") % 3 == 1).with_row_index()
    expected = FRAME.with_columns(AVERAGE)["average"].to_list()
    expected = [item if wanted else None for item, wanted in zip(expected, frame["wanted"], strict=True)]
    actual = evaluated(frame, pl.when("wanted").then(AVERAGE).alias("average"), engine)
    assert actual["average"].to_list() == expected
    columns = pl.when("wanted").then(score("question", "answer", SPEC, columns=["average", "fluency"])).alias("both")
    assert evaluated(frame, columns.struct.field("average"), engine)["average"].to_list() == expected
    literal = pl.when("wanted").then(score(pl.lit("Q07"), "answer", SPEC, nulls="null")).alias("average")
    assert evaluated(frame, literal, engine)["average"].null_count() == expected.count(None)
    frame = frame.with_columns(answer=pl.when(pl.col("index") != 7).then("answer"), wanted=pl.col("index") > 5)
    with pytest.raises(FAULTS, match=r"row \d+ of \d+, column 'answer': a null; expected a text"):
        evaluated(frame, pl.when("wanted").then(AVERAGE).alias("average"), engine)


@pytest.mark.parametrize("engine", ["eager", "in-memory", "streaming"])
def test_references_are_lists_or_several_columns(engine):
    answers = ["Ice floats.", None, "Iron sinks.", "x"]
    lists = [["Ice floats.", "It floats."], None, ["Iron sinks, too.", "y"], ["z", "z"]]
    frame = pl.DataFrame({"answer": answers, "refs": lists}).with_columns(
        first=pl.col("refs").list.get(0), second=pl.col("refs").list.get(1)
    )
    scorer = ReferenceScorer(["bleu", "chrf"], threads=1)
    expected = scorer.score([answers[row] for row in (0, 2, 3)], [lists[row] for row in (0, 2, 3)])
    for references in ("refs", ["first", "second"], [pl.col("first"), "second"]):
        bleu = evaluated(frame, score_references("answer", references, scorer), engine)["bleu"]
        assert bleu.to_list() == [expected.bleu[0], None, *expected.bleu[1:]]
        both = evaluated(frame, score_references("answer", references, scorer, columns=["chrf"]), engine)
        assert both["scores"].struct.field("chrf").drop_nulls().to_list() == expected.chrf.tolist()
    rep = evaluated(frame, score_references("answer", "refs", ReferenceScorer("rep_2"), nulls="null"), engine)["rep_2"]
    assert rep.null_count() == 2  # one answer is missing, and one is too short
    lacking = frame.with_columns(refs=pl.when(pl.col("answer") != "x").then("refs"))
    with pytest.raises(FAULTS, match=r"row \d of \d, column 'refs': expected at least one reference"):
        evaluated(lacking, score_references("answer", "refs", scorer), engine)
    assert evaluated(lacking, score_references("answer", "refs", scorer, nulls="null"), engine)["bleu"][3] is None


def test_one_question_or_one_answer_is_for_all_rows():
    average = Scorer(SUITE).score("Q07", FRAME["answer"]).average
    assert bits(FRAME.select(score(pl.lit("Q07"), "answer", SPEC))["average"]) == bits(average)
    both = FRAME.with_columns(score(pl.lit("Q07"), pl.lit("Ice floats."), SPEC))
    assert set(both["average"]) == {Scorer(SUITE).score_one("Q07", "Ice floats.")["average"]}
    assert FRAME.clear().with_columns(score(pl.lit("Q07"), "answer", SPEC)).is_empty()


def test_a_plan_that_is_sent_is_small(scorer):
    plan = FRAME[:1].lazy().with_columns(AVERAGE)
    sent = plan.serialize()
    assert len(sent) < 5000
    assert pl.LazyFrame.deserialize(io.BytesIO(sent)).collect().equals(plan.collect())
    expression = pickle.loads(pickle.dumps(score("question", "answer", scorer)))
    assert FRAME.select(expression).equals(FRAME.select(AVERAGE))


@pytest.mark.parametrize("engine", ["eager", "streaming"])
@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"question": pl.lit("Q99")}, r"row 1 of \d+, column 'question': unknown question 'Q99' in suite mini"),
        ({"question": pl.lit(None)}, r"row 1 of \d+, column 'question': a null; expected a text"),
        ({"answer": pl.lit(None)}, r"row 1 of \d+, column 'answer': a null; expected a text"),
        ({"answer": pl.lit(1)}, r"column 'answer': expected texts, not Int32"),
    ],
)
def test_what_cannot_be_scored_is_one_sentence(engine, changes, sentence):
    with pytest.raises(FAULTS, match=rf"^(TrialsError: )?{sentence}"):
        evaluated(FRAME[:5].with_columns(**changes), AVERAGE, engine)
    frame = pl.DataFrame({"q": ["Q07", "Q08", "Q09"], "a": ["x", "y", "z"]})
    with pytest.raises(FAULTS, match="row 3 of 3, column 'q': unknown question 'Q09'"):
        frame.select(score(pl.col("q").str.strip_chars(), "a", SPEC))


def test_the_examples_of_the_page_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    created = write_rows(tmp_path / "in.parquet", 300)
    assert run_python_blocks(PAGE) == 1
    good = pl.DataFrame(created).with_columns(AVERAGE).filter(pl.col("average") >= 0.6)
    assert len(good) > 0
    assert pl.read_parquet("good.parquet").equals(good)
