import csv
import io
from dataclasses import replace

import numpy as np
import pytest
from pfgen_fast import ExperimentError
from pfgen_fast.lab.experiments.external_experiment import external, match_names, read_scores

HEADER = "model,judge,people\n"


@pytest.fixture
def write(tmp_path):
    def write(text, name="scores.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_names_match_as_they_are_then_by_the_rules_in_their_order():
    ours = ["org/Model-7B", "org/model_7b-it", "other/big", "lab/x.1", "alone"]
    theirs = ["org/Model-7B", "ORG/Model 7B it", "big", "x-1", "nobody"]
    assert match_names(ours, theirs) == {
        "org/Model-7B": ("org/Model-7B", "the same"),
        "org/model_7b-it": ("ORG/Model 7B it", "but for case and separators"),
        "other/big": ("big", "but for what comes before the last slash"),
        "lab/x.1": ("x-1", "but for what comes before the last slash"),
    }


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [(["a/model", "b/model"], ["model"]), (["a/model"], ["x/model", "y/model"]), (["A-b"], ["a_b", "a b"])],
)
def test_a_name_with_two_partners_has_none(ours, theirs):
    assert match_names(ours, theirs) == {}


def test_empty_cells_are_scores_that_are_not_known(write):
    scores = read_scores(write("\ufeffmodel,judge,people\na,1,\n\nb,-2.5e1,3\n"))
    assert scores.columns == {"judge": {"a": 1.0, "b": -25.0}, "people": {"b": 3.0}}
    assert scores.names == ("a", "b")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("model,x,x\na,1,2\n", "line 1: expected distinct column names"),
        (HEADER + "a,1,2\na,1,2\n", "line 3: 'a' is repeated"),
        (HEADER + "a,nan,2\n", "line 2, column 'judge': expected a number, not 'nan'; leave a missing score empty"),
        (HEADER + '"a,1,2\n', "not CSV"),
        (HEADER + ",1,2\n", "line 2: a model without a name"),
    ],
)
def test_a_file_that_is_not_a_table_of_scores_is_named_with_its_line(write, text, problem):
    with pytest.raises(ExperimentError, match=problem):
        read_scores(write(text))


def test_correlations_are_those_of_the_models_in_common(scored, write):
    theirs = [0.9, 0.7, 0.75, 0.3, 0.2]
    lines = "".join(f"Model {number},{value}\n" for number, value in enumerate(theirs))
    finding = external(scored, [read_scores(write("name,judge\n" + lines + "stranger,1\n"))])
    ours = [scored.means["score"][scored.models.index(f"org/model-{n}")] for n in range(5)]
    row = finding.tables[0].rows[0]
    assert row[:4] == ("judge", "score", 5, 5)
    assert row[4] == pytest.approx(np.corrcoef(ours, theirs)[0, 1])
    assert f"Pearson {row[4]:.4f}" in finding.paragraph
    assert finding.tables[-1].rows == (("scores.csv", "ours", "org/model-5"), ("scores.csv", "theirs", "stranger"))
    assert finding.tables[1].rows[0][4] == "but for what comes before the last slash"


def test_no_names_in_common_is_said_with_names_of_both_sides(scored, write):
    scores = read_scores(write("model,judge\nx,1\ny,2\nz,3\n"))
    message = r"0 models in common, expected at least 3; ours are org/.*theirs x, y, z"
    with pytest.raises(ExperimentError, match=message):
        external(scored, [scores])


def test_a_constant_column_is_left_out_and_said(scored, write):
    scores = read_scores(write(HEADER + "".join(f"model-{number},5,{number}\n" for number in range(6))))
    finding = external(scored, [scores])
    assert [row[0] for row in finding.tables[0].rows] == ["people"] * 4
    assert any("column 'judge' is 5 for all 6 models" in note for note in finding.notes)
    with pytest.raises(ExperimentError, match="is 5 for all 6 models"):
        external(scored, [replace(scores, columns={"judge": scores.columns["judge"]})])


def test_the_command_draws_every_column_of_every_file(call, varied, tmp_path, write, undrawn):
    judge = write("model,judge\n" + "".join(f"org/model-{n},{9 - n}\n" for n in range(6)), "judge.csv")
    other = write("model,arena\n" + "".join(f"model-{n},{n * n}\n" for n in range(6)), "other.csv")
    arguments = ("--scores", judge, "--scores", other, "-s", "mini", "-o", tmp_path / "out")
    code, out, _ = call("experiment", "external", varied, *arguments)
    assert code == 0
    assert "With judge: judge, over 6 models: Pearson" in out
    with io.StringIO((tmp_path / "out" / "external-correlations.csv").read_text()) as file:
        rows = list(csv.DictReader(file))
    assert [row["scores"] for row in rows[::4]] == ["judge: judge", "other: arena"]
    assert float(rows[0]["Spearman"]) == pytest.approx(1)
    pictures = {path.name for path in (tmp_path / "out").glob("*.png")}
    assert pictures == {"external-scatter-1.png", "external-scatter-2.png"}
