import csv
import json

import pytest
from pfgen_fast import Suite
from pfgen_fast.base.errors import BuildError
from pfgen_fast.build.model_answers import ModelAnswer, ModelReferences, read_model_answers
from pfgen_fast.suite.rules import Lengths

MODELS = {"a-1": "a", "a-2": "a", "b-1": "b", "c": ""}
ROWS = [
    ModelAnswer(question, f"{question} Because {model} says that ice floats on the water.", model, family)
    for question in ("Why?", "How?")
    for model, family in MODELS.items()
]


def models_of(suite, question="Q01"):
    return [answer.split()[2] for answer in suite[question].answers["models"]]


def test_references_are_the_answers_of_other_families():
    references = ModelReferences.of(ROWS)
    assert models_of(references.suite()) == list(MODELS)
    suite = references.suite(without=["a"])
    assert [(question.question_id, question.question) for question in suite] == [("Q01", "Why?"), ("Q02", "How?")]
    assert (models_of(suite), models_of(suite, "How?")) == (["b-1", "c"], ["b-1", "c"])
    assert models_of(references.suite(without=["c"])) == ["a-1", "a-2", "b-1"]
    assert {question.tokenizer.name for question in suite} == {"words"}


def test_what_the_answers_decide_does_not_depend_on_who_is_left_out():
    rows = [*ROWS, *(row._replace(answer="long " * 400, model="d", family="") for row in ROWS[::4])]
    references = ModelReferences.of(rows)
    assert references.suite(without=["d"])["Q01"].lengths == references.suite()["Q01"].lengths
    assert ModelReferences.of(ROWS, units=[None], lengths=Lengths(30, 40)).suite()["Q01"].lengths == Lengths(30, 40)


@pytest.mark.parametrize(
    ("rows", "without", "problem"),
    [
        ([], (), "expected answers of several models, but there are none"),
        ([row for row in ROWS if row.model == "c"], (), "all answers are of the model 'c': the suite would measure"),
        (ROWS, ["a", "b"], "all answers are of the model 'c', without a, b"),
        (ROWS, ["A"], "no answers of the family 'A'"),
        ([*ROWS, ModelAnswer("Where?", " ", "c")], (), "1 question with no answers: 'Where[?]'; add answers"),
        ([*ROWS, ModelAnswer("Where?", "x", "c")], ["c"], "1 question with no answers, without c: 'Where[?]'"),
        (
            [*ROWS, ModelAnswer("Where?", "x", "c"), ModelAnswer("Where?", "x", "a-1")],
            (),
            "1 question with only equal answers: 'Where[?]'",
        ),
    ],
)
def test_answers_that_make_no_references_are_named(rows, without, problem):
    with pytest.raises(BuildError, match=problem):
        ModelReferences.of(rows).suite(without=without)


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_a_table_becomes_a_suite(call, refused, tmp_path, ending):
    path, names = tmp_path / f"answers.{ending}", ("prompt", "output", "model", "group")
    rows = [dict(zip(names, row, strict=True)) for row in [*ROWS, ModelAnswer("How?", "", "c")]]
    with path.open("w", encoding="utf-8") as file:
        if ending == "csv":
            writer = csv.DictWriter(file, names)
            writer.writeheader()
            writer.writerows(rows)
        else:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    assert [tuple(row) for row in read_model_answers(path, family="group")][:-1] == [tuple(row) for row in ROWS]
    suite = tmp_path / "suite"
    family = ("--family", "group", "--leave-out", "a")
    code, out, err = call("suite", "build", path, "-o", suite, *family, "--unit", "words", "--target", 100)
    assert (code, out) == (0, f"2 questions, 2 to 2 references each\nsuite: {suite}\n")
    assert "note: 1 row without a question or an answer left out\n" in err
    assert models_of(Suite.load(suite)) == ["b-1", "c"]
    assert "too high with this suite" not in err
    code, _, err = call("suite", "build", path, "-o", suite)  # replaces what a table gave
    assert (code, "note: a model whose answers are among the references scores too high" in err) == (0, True)
    assert "no answers of the family 'a'" in refused(
        "suite", "build", path, "-o", tmp_path / "other", "--leave-out", "a"
    )
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("edit", ["keywords", "sets", "samples", "broken"])
def test_a_table_replaces_no_suite_of_another_origin(call, refused, make_suite, tmp_path_factory, edit):
    path = tmp_path_factory.mktemp("table") / "answers.jsonl"
    path.write_text("".join(json.dumps(row._asdict()) + "\n" for row in ROWS), encoding="utf-8")
    keywords = {"keywords": [{"t": "ice"}]} if edit == "keywords" else {}
    folder = make_suite({"answers": {"N" if edit == "sets" else "models": ["Ice."]}, **keywords})
    if edit in ("samples", "broken"):
        (folder / {"samples": "questions.jsonl", "broken": "Q01.json"}[edit]).write_text("", encoding="utf-8")
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    err = refused("suite", "build", path, "-o", folder)
    assert err.endswith(
        ": contains a suite that was not built from a table, or was edited since; choose another "
        "directory, or replace the suite with --force\n"
    )
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before
    assert call("suite", "build", path, "-o", folder, "--force")[0] == 0
    assert len(Suite.load(folder)) == 2


def test_a_table_without_a_column_is_named(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text("question,answer\nWhy?,So.\n", encoding="utf-8")
    with pytest.raises(BuildError, match="expected a column of models, such as 'model'; there are question, answer"):
        read_model_answers(path)
    path.write_text("question,answer,model\nWhy?,So.,a\n", encoding="utf-8")
    with pytest.raises(BuildError, match="no column 'lineage'"):
        read_model_answers(path, family="lineage")
    assert read_model_answers(path) == [ModelAnswer("Why?", "So.", "a")]
