"""Tables of scores in all forms, the commands that print them, and the bounds of missing answers."""

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
from pfgen_fast.lab.checklists.checklist_runs import Answer, open_runs, write_run
from pfgen_fast.lab.checklists.checklist_scoring import score_judged_runs
from pfgen_fast.lab.checklists.checklist_suite import write_suite
from pfgen_fast.lab.checklists.checklist_tables import full_table, to_dict
from pfgen_fast.lab.checklists.judgements import Judgement
from pfgen_fast.lab.checklists.tasks import sha256_of
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


def test_json_has_the_names_of_the_published_figures_and_equal_categories_that_of_their_area(scores):
    parsed = json.loads(json.dumps(to_dict(scores)))
    assert [row["model"] for row in parsed["rows"]] == ["good", "gaps", "wild"]
    row = parsed["rows"][1]
    part = row["areas"]["letters"]
    figures = {"score": 80.0, "rescaled": 20.0, "rescaled_plain": 0.0, "rescaled_missing_skipped": 20.0, "words": 10.0}
    figures |= {"rescaled_missing_as_zero": pytest.approx((400 / 6 - 75) * 4), "interval_95": None}
    assert part == {"n": 5, "missing": ["T01"], "unjudged": [], "stale": [], **figures}
    average, length = row["average"], row["lengths"]["2k"]
    assert (row["place"], average["rescaled"], average["rescaled_over_answers"]) == (2, 20.0, 20.0)
    assert (length["missing"], length["mean_absolute_length_error"]) == (["T00"], 10.0)
    assert parsed["rows"][2]["areas"]["tales"]["unjudged"] == ["T00"]
    assert (parsed["missing"], parsed["method"], parsed["weights"]) == ("skip", "checklist", "suite")
    assert [row["rank_range"] for row in parsed["rows"]] == [[1, 1], [2, 2], [3, 3]]
    parsed = to_dict(scores, with_questions=True)["rows"][1]["categories"]
    assert list(parsed) == ["tales/common", "letters/common"]
    assert list(suite().category_names.values()) == ["short", "formal"]
    questions = [{"question": "Q?", "weight": 60, "mean": 1.0}, {"question": "R?", "weight": 40, "mean": 0.5}]
    assert parsed["tales/common"]["questions"] == questions


def test_csv_has_a_row_for_each_part_with_full_digits(scores):
    result = list(csv.DictReader(io.StringIO(full_table(scores).to_csv())))
    kinds = [f"{row['kind']} {row['part']}" for row in result[:6]]
    assert kinds[:3] == ["average ", "area tales", "area letters"]
    assert kinds[3:] == ["category tales/common", "category letters/common", "length 2k"]
    (row,) = (row for row in result if (row["model"], row["part"]) == ("gaps", "letters"))
    assert (row["place"], row["n"], row["missing"]) == ("2", "5", "1")
    assert float(row["rescaled_missing_as_zero"]) == (400 / 6 - 75) * 4


def test_a_figure_with_missing_answers_is_marked_and_the_figure_by_the_other_rule_is_beside_it(runs):
    scores = score_judged_runs(SUITE, open_runs([runs]))
    table = text_tables.ranking(scores)
    row = dict(zip(table.heads(), table.texts()[1], strict=True))
    expected = {"place": "2", "model": "gaps", "average": "20.00*", "95 % interval": "–", "tales": "20.00 "}
    expected |= {"letters": "20.00*", "missing": "1", "missing as zero": "-6.67", "words": "10", "rank range": "2"}
    assert row == expected
    zero = text_tables.ranking(score_judged_runs(SUITE, open_runs([runs]), missing="zero"))
    row = dict(zip(zero.heads(), zero.texts()[1], strict=True))
    assert (row["average"], row["letters"], row["missing skipped"]) == ("-6.67*", "-33.33*", "20.00")


def test_texts_say_what_is_missing_how_lengths_were_met(scores):
    assert text_tables.missing_sentences(scores) == [
        "* gaps, letters: no judgement of 1 of 6 answers; left out 20.00, as zeros -33.33",
        "* gaps, 2k: no judgement of 1 of 3 answers; left out 20.00, as zeros -86.67",
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
    for options in ((), ("--markdown",)):
        printed = [
            call("checklists", "table", runs / name, "--suite", suite_folder, *options)[1] for name in ("wild", "good")
        ]
        assert [line in text for text in printed] == [True, False]


def test_markdown_shows_untrusted_names_as_text(tmp_path):
    scores = score_judged_runs(SUITE, open_runs([written(tmp_path, **{"<b>|x": rows()})]))
    result = text_tables.to_markdown(scores, with_categories=True, with_lengths=True)
    assert "<b>" not in result
    assert "&#60;b&#62;&#124;x" in result
    heads = [line for line in result.splitlines() if line.startswith("## ")]
    assert heads == ["## Average over areas", "## Words", "## By category", "## By wanted length"]
    assert "signature: checklists:" in result


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
    code, printed, _ = call(*common, "--csv", tmp_path / "t.csv", "--markdown")
    assert printed.startswith("## Average over areas\n\n| place | model |")
    assert (tmp_path / "t.csv").read_text().startswith("place,model,kind,part,n,missing")
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
    categories = json.loads(call(*command, "--json")[1])["rows"][0]["categories"]
    assert all(category["questions"] for category in categories.values() if category["n"])


@pytest.mark.slow
@pytest.mark.parametrize("width", [80, 140])
def test_a_terminal_shows_areas_beside_or_below_the_average(runs, suite_folder, width):
    arguments = ("-m", "pfgen_fast", "checklists", "table", str(runs / "good"), str(runs / "gaps"), "--suite")
    lines = on_terminal(*arguments, str(suite_folder), columns=width)
    assert lines[0] == ("Average" if width == 80 else "Average over areas")
    assert ("By area" in lines) == (width == 80)
    assert all(len(line) <= width for line in lines if not line.startswith(("*", "95 % interval:", "  suite:")))


# ---- Missing answers: the worst and best scores and places, and why there is no answer

SMALL = suite()
SMALL_IDS = [task.id for task in SMALL.tasks]


def rows_at(level, without=()):
    n_questions = {task.id: SMALL.n_questions[task.key] for task in SMALL.tasks}
    return [Judgement(id, "0" * 64, (level,) * n_questions[id], judge="j") for id in SMALL_IDS if id not in without]


def scored(folder, missing="bounds", **models):
    for name, judgements in models.items():
        write_run(folder / name, (), judgements, {})
    return score_judged_runs(SMALL, open_runs([folder]), missing=missing)


def test_bounds_are_the_scores_with_the_worst_and_the_best_verdicts(tmp_path):
    scores = scored(tmp_path / "both", gaps=rows_at(0.75, SMALL_IDS[:2]), whole=rows_at(0.75))
    gaps, whole = (next(model for model in scores.models if model.model == name) for name in ("gaps", "whole"))
    filled = {}
    for level in (0, 1):
        verdicts = {row.id: row for row in rows_at(level)}
        every = [*rows_at(0.75, SMALL_IDS[:2]), *(verdicts[id] for id in SMALL_IDS[:2])]
        filled[level] = scored(tmp_path / str(level), missing="skip", gaps=every).models[0].average.rescaled
    assert gaps.average.bounds == pytest.approx((filled[0], filled[1]))
    assert (gaps.average.rescaled,) * 2 == whole.average.bounds == (whole.average.rescaled,) * 2
    worst, best = gaps.areas["tales"].bounds
    assert worst < gaps.areas["tales"].rescaled < best
    assert scored(tmp_path / "both", missing="zero").models[-1].average.rescaled == pytest.approx(
        gaps.average.bounds[0]
    )
    assert "|missing:bounds|" in gaps.signature


def test_places_compare_the_best_score_with_the_worst_scores_of_others(tmp_path):
    scores = scored(tmp_path, a=rows_at(1, SMALL_IDS[:6]), b=rows_at(0.75), c=rows_at(0.75), d=rows_at(0.5))
    assert [model.model for model in scores.models] == ["a", "b", "c", "d"]
    # a would have 50 at worst, like d, and 100 at best
    assert [model.place_bounds for model in scores.models] == [(1, 3.5), (1.5, 2.5), (1.5, 2.5), (3.5, 4)]
    whole = scored(tmp_path / "whole", b=rows_at(0.75), c=rows_at(0.75), d=rows_at(0.5))
    assert all(model.place_bounds == (model.place, model.place) for model in whole.models)


def test_a_model_without_an_answer_in_an_area_has_no_average_but_bounds(tmp_path):
    scores = scored(tmp_path, a=rows_at(1), b=rows_at(1, SMALL_IDS[::2]))
    (_, without) = scores.models
    assert (without.average.rescaled, without.average.bounds) == (None, (-100, 100))
    assert [model.place_bounds for model in scores.models] == [(1, 1.5), (1.5, 2)]


def test_all_forms_have_the_bounds(tmp_path):
    scores = scored(tmp_path, a=rows_at(1, SMALL_IDS[:6]), b=rows_at(0.75), d=rows_at(0.5))
    table = text_tables.ranking(scores)
    actual = dict(zip(table.heads(), table.texts()[0], strict=True))
    expected = {"average": "100.00*", "missing": "6", "worst": "-100.00", "best": "100.00"}
    assert actual.items() >= {**expected, "possible places": "1 to 2.5"}.items()
    assert dict(zip(table.heads(), table.texts()[1], strict=True))["possible places"] == "1 to 2"
    label = "* a, tales: no judgement of 3 of 6 answers; left out 100.00, at worst -100.00, at best 100.00"
    assert text_tables.missing_sentences(scores)[0] == label
    row = json.loads(json.dumps(to_dict(scores)))["rows"][0]
    assert (row["average"]["bounds"], row["place_bounds"]) == ([-100, 100], [1, 2.5])
    assert row["areas"]["tales"]["bounds"] == [-100, 100]
    line = next(csv.DictReader(io.StringIO(full_table(scores).to_csv())))
    assert [line[name] for name in ("worst", "best", "best_place", "worst_place")] == ["-100.0", "100.0", "1", "2.5"]
    assert "bounds" not in to_dict(scored(tmp_path, missing="skip"))["rows"][0]["average"]


def test_refused_filtered_and_failed_answers_are_told_apart_where_the_run_has_answers(tmp_path):
    texts = {id: Answer(id, f"The answer to {id}.") for id in SMALL_IDS}
    texts |= {id: Answer(id, "I cannot help with that.") for id in SMALL_IDS[:2]}
    texts[SMALL_IDS[2]] = Answer(SMALL_IDS[2], "The fog", finish_reason="content_filter")
    texts |= {id: Answer(id, "This text is blocked.") for id in SMALL_IDS[3:5]}
    texts[SMALL_IDS[5]] = Answer(SMALL_IDS[5], " ")
    del texts[SMALL_IDS[6]]
    judged = [replace(row, response_sha256=sha256_of(texts[row.id].response)) for row in rows_at(0.5, SMALL_IDS[1:8])]
    write_run(tmp_path / "model", texts.values(), judged, {})
    scores = score_judged_runs(SMALL, open_runs([tmp_path]))
    tales, letters = (scores.models[0].areas[area] for area in ("tales", "letters"))
    assert (tales.gaps["refused"], letters.gaps["refused"]) == (
        (SMALL_IDS[0],),
        (SMALL_IDS[1],),
    )  # the first one is judged
    assert (tales.gaps["filtered"], letters.gaps["filtered"]) == ((SMALL_IDS[2], SMALL_IDS[4]), (SMALL_IDS[3],))
    assert (tales.gaps["failed"], letters.gaps["failed"]) == ((SMALL_IDS[6],), (SMALL_IDS[5],))
    assert text_tables.missing_sentences(scores)[0].startswith(
        "* model, tales: no judgement of 3 of 6 answers (2 filtered, 1 failed); left out"
    )
    table = text_tables.ranking(scores)
    result = dict(zip(table.heads(), table.texts()[0], strict=True))
    assert [result[name] for name in ("missing", "refused", "filtered", "failed")] == ["7", "2", "3", "2"]
    assert to_dict(scores)["rows"][0]["areas"]["tales"]["refused"] == [SMALL_IDS[0]]
    lines = csv.DictReader(io.StringIO(full_table(scores).to_csv()))
    assert next(line for line in lines if line["part"] == "tales")["filtered"] == "2"
    without = scored(tmp_path / "without", missing="skip", model=rows_at(1))
    assert "refused" not in to_dict(without)["rows"][0]["areas"]["tales"]
