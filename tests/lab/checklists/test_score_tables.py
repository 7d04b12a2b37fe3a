"""Tables of scores in all forms, and the commands that print them."""

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest
from makers.checklists_to_judge import suite
from makers.own_checklists import suite_of
from makers.terminal import on_terminal
from pfgen_fast.base.table import Column, Table
from pfgen_fast.cli.app import blocks_of
from pfgen_fast.lab.checklists import checklist_tables as text_tables
from pfgen_fast.lab.checklists.checklist_runs import open_runs, write_run
from pfgen_fast.lab.checklists.checklist_scoring import score_judged_runs
from pfgen_fast.lab.checklists.checklist_suite import write_suite
from pfgen_fast.lab.checklists.checklist_tables import full_table
from pfgen_fast.lab.checklists.judgements import Judgement
from pfgen_fast.runs.items.score_tables import read_item_scores

KEYS = (("tales", "common"), ("letters", "common"))
TASKS = [replace(task, category="common") for task in suite().tasks]
LONG = [replace(task, length="2k", wanted_words=20) for task in TASKS[:3]]


SUITE = suite_of("small", dict.fromkeys(KEYS, ("Q?", "R?")), dict.fromkeys(KEYS, (60, 40)), [*TASKS, *LONG])


def rows(score=(1, 0.5), without=(), **changes):
    listed = [Judgement(task.id, "0" * 64, score, task.length, judge="j", words=10) for task in SUITE.tasks]
    return [replace(row, **changes) for row in listed if row.key[:2] not in without]


def written(folder, **models):
    for name, judgements in models.items():
        write_run(folder / name, (), judgements, {})
    return folder


@pytest.fixture
def runs(tmp_path):
    """Three models: of one, an answer is missing, and of another one is unjudged."""
    unjudged = replace(rows()[0], verdicts=None, fault="form")
    return written(
        tmp_path / "runs",
        good=rows((1, 1)),
        gaps=rows(without=[("T01", None), ("T00", "2k")]),
        wild=[unjudged, *rows((0.25, 0.25))[1:]],
    )


@pytest.fixture
def scores(runs):
    return score_judged_runs(SUITE, open_runs([runs]))


def test_files_have_a_row_for_each_part_with_full_digits(scores):
    result = list(csv.DictReader(io.StringIO(full_table(scores).to_csv())))
    kinds = [f"{row['kind']} {row['part']}" for row in result[:6]]
    assert kinds[:3] == ["average ", "area tales", "area letters"]
    assert kinds[3:] == ["category tales/common", "category letters/common", "length 2k"]
    (row,) = (row for row in result if (row["model"], row["part"]) == ("gaps", "letters"))
    assert (row["rank"], row["n"], row["missing"]) == ("2", "5", "1")
    assert float(row["rescaled_missing_as_zero"]) == (400 / 6 - 75) * 4
    rows = {(row["model"], row["part"]): row for row in full_table(scores).to_dicts()}
    part, length = rows["gaps", "letters"], rows["gaps", "2k"]
    assert [part[name] for name in ("score", "rescaled", "rescaled_plain", "words")] == [80.0, 20.0, 0.0, 10.0]
    assert (length["missing"], length["mean_absolute_length_error"]) == (1, 10.0)
    assert rows["wild", "tales"]["unjudged"] == 1
    assert [rows[model, ""]["best_rank"] for model in ("good", "gaps", "wild")] == [1, 2, 3]
    assert list(suite().category_names.values()) == ["short", "formal"]


def test_a_figure_with_missing_answers_is_marked_and_the_figure_by_the_other_rule_is_beside_it(runs):
    scores = score_judged_runs(SUITE, open_runs([runs]))
    table = text_tables.ranking(scores)
    row = dict(zip(table.heads(), table.texts()[1], strict=True))
    expected = {"rank": "2", "model": "gaps", "average": "20.00*", "95 % interval": "–", "tales": "20.00 "}
    expected |= {"letters": "20.00*", "missing": "1", "missing as zero": "-6.67", "words": "10", "rank range": "2"}
    assert row == expected
    zero = text_tables.ranking(score_judged_runs(SUITE, open_runs([runs]), missing="zero"))
    row = dict(zip(zero.heads(), zero.texts()[1], strict=True))
    assert (row["average"], row["letters"], row["missing"]) == ("-6.67*", "-33.33*", "1")


def test_texts_say_what_is_missing_how_lengths_were_met(scores):
    assert text_tables.missing_sentences(scores) == [
        "* gaps, letters: no judgement of 1 of 6 answers",
        "* gaps, 2k: no judgement of 1 of 3 answers",
        "wild, tales: left out, because the judge gave no usable reply (yet): T00",
    ]
    table = text_tables.by_length(scores)
    row = dict(zip(table.heads(), table.texts()[0], strict=True))
    assert [row[name] for name in ("length", "answers", "words")] == ["2k", "3", "10"]
    assert [row[name] for name in ("error", "shortfall", "long enough %")] == ["10.0", "10.0", "0.0"]
    table = text_tables.by_question(scores, scores.models[1])
    assert (table.heads(), table.texts()[0]) == (["category", "1", "2"], ["tales/common", "1.000", "0.500"])


def test_scores_below_0_come_with_their_scale(runs, suite_folder, call):
    line = "The table shows (score - 75) × 4, from -300 to 100: 0 is a score of 75 of 100."
    printed = [call("checklists", "table", runs / name, "--suite", suite_folder)[1] for name in ("wild", "good")]
    assert [line in text for text in printed] == [True, False]


@pytest.mark.parametrize("width", [40, 80, 140, None])
def test_blocks_of_a_table_fit_their_width_and_lose_no_column(width):
    columns = [Column("model"), *(Column(f"heuristic_{number}", digits=2) for number in range(20))]
    rows = [(f"{'long_' * 8}{number}", *(number + place / 100 for place in range(20))) for number in range(3)]
    lines = [line for block in blocks_of(Table(columns, rows), width) for line in block.lines(width)]
    assert all(len(line) <= (width or 1000) for line in lines)
    assert all(f"1.{place:02}" in "\n".join(lines) for place in range(20))


@pytest.fixture
def suite_folder(tmp_path):
    write_suite(SUITE, tmp_path / "suite")
    return tmp_path / "suite"


def test_table_has_several_forms(runs, suite_folder, tmp_path, call):
    common = ("checklists", "table", runs / "good", runs / "gaps", "--suite", suite_folder)
    code, printed, _ = call(*common, "--json", "--missing", "zero")
    parsed = json.loads(printed)
    assert (code, parsed["missing"]) == (0, "zero")
    assert {row["kind"] for row in parsed["rows"]} == {"average", "area", "category", "length"}
    code, printed, _ = call(*common, "--csv", tmp_path / "t.csv")
    assert printed.startswith("Average over areas: good is first with 100.00, rank range 1\nrank  model")
    assert (tmp_path / "t.csv").read_text().startswith("rank,model,kind,part,n,missing")
    code, _, _ = call(*common, "--answers", tmp_path / "answers.csv", "--json")
    answers = read_item_scores([tmp_path / "answers.csv"])
    assert (code, set(answers.models), answers.notes) == (0, {"good", "gaps"}, ())
    assert answers.of("good", "score").tolist() == [100.0] * len(SUITE.tasks)
    assert np.isnan(answers.of("gaps", "score")).sum() == 2
    assert set(answers.subjects) == {"tales", "letters"}
    code, _, message = call("checklists", "table", runs, "--suite", suite_folder)
    assert code == 3
    assert "note: 1 answer left out: the judge gave no usable reply" in message


def test_a_single_run_is_shown_with_areas_categories_and_questions(runs, suite_folder, call):
    command = ("checklists", "table", runs / "gaps", "--suite", suite_folder)
    _, printed, _ = call(*command)
    assert {"gaps", "By category", "By wanted length", "Mean verdict on each question"} <= set(printed.splitlines())


@pytest.mark.slow
@pytest.mark.parametrize("width", [80, 140])
def test_a_table_fits_a_terminal(runs, suite_folder, width):
    arguments = ("-m", "pfgen_fast", "checklists", "table", str(runs / "good"), str(runs / "gaps"), "--suite")
    lines = on_terminal(*arguments, str(suite_folder), columns=width)
    assert lines[0].startswith("Average over areas: good is first")
    assert all(len(line) <= width for line in lines if not line.startswith(("*", "95 % interval:", "  suite:")))
