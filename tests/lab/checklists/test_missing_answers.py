"""Missing answers: the worst and best scores and places, and why there is no answer."""

import csv
import io
import json
from dataclasses import replace

import pytest
from makers.checklists_to_judge import suite
from pfgen_fast.lab.checklists import checklist_tables as text_tables
from pfgen_fast.lab.checklists.checklist_runs import Answer, open_runs, write_run
from pfgen_fast.lab.checklists.checklist_scoring import score_runs
from pfgen_fast.lab.checklists.checklist_tables import full_table, to_dict
from pfgen_fast.lab.checklists.judgements import Judgement
from pfgen_fast.lab.checklists.tasks import sha256_of

SUITE = suite()
IDS = [task.id for task in SUITE.tasks]


def rows(level, without=()):
    n_questions = {task.id: SUITE.n_questions[task.key] for task in SUITE.tasks}
    return [Judgement(id, "0" * 64, (level,) * n_questions[id], judge="j") for id in IDS if id not in without]


def scored(folder, missing="bounds", **models):
    for name, judgements in models.items():
        write_run(folder / name, (), judgements, {})
    return score_runs(SUITE, open_runs([folder]), missing=missing)


def test_bounds_are_the_scores_with_the_worst_and_the_best_verdicts(tmp_path):
    scores = scored(tmp_path / "both", gaps=rows(0.75, IDS[:2]), whole=rows(0.75))
    gaps, whole = (next(model for model in scores.models if model.model == name) for name in ("gaps", "whole"))
    filled = {}
    for level in (0, 1):
        verdicts = {row.id: row for row in rows(level)}
        every = [*rows(0.75, IDS[:2]), *(verdicts[id] for id in IDS[:2])]
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
    scores = scored(tmp_path, a=rows(1, IDS[:6]), b=rows(0.75), c=rows(0.75), d=rows(0.5))
    assert [model.model for model in scores.models] == ["a", "b", "c", "d"]
    # a would have 50 at worst, like d, and 100 at best
    assert [model.place_bounds for model in scores.models] == [(1, 3.5), (1.5, 2.5), (1.5, 2.5), (3.5, 4)]
    whole = scored(tmp_path / "whole", b=rows(0.75), c=rows(0.75), d=rows(0.5))
    assert all(model.place_bounds == (model.place, model.place) for model in whole.models)


def test_a_model_without_an_answer_in_an_area_has_no_average_but_bounds(tmp_path):
    scores = scored(tmp_path, a=rows(1), b=rows(1, IDS[::2]))
    (_, without) = scores.models
    assert (without.average.rescaled, without.average.bounds) == (None, (-100, 100))
    assert [model.place_bounds for model in scores.models] == [(1, 1.5), (1.5, 2)]


def test_all_forms_have_the_bounds(tmp_path):
    scores = scored(tmp_path, a=rows(1, IDS[:6]), b=rows(0.75), d=rows(0.5))
    table = text_tables.ranking(scores)
    actual = dict(zip(table.heads(), table.texts()[0], strict=True))
    expected = {
        "average": "100.00*",
        "missing": "6",
        "worst": "-100.00",
        "best": "100.00",
        "possible places": "1 to 2.5",
    }
    assert actual.items() >= expected.items()
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
    texts = {id: Answer(id, f"The answer to {id}.") for id in IDS}
    texts |= {id: Answer(id, "I cannot help with that.") for id in IDS[:2]}
    texts[IDS[2]] = Answer(IDS[2], "The fog", finish_reason="content_filter")
    texts |= {id: Answer(id, "This text is blocked.") for id in IDS[3:5]}
    texts[IDS[5]] = Answer(IDS[5], " ")
    del texts[IDS[6]]
    judged = [replace(row, response_sha256=sha256_of(texts[row.id].response)) for row in rows(0.5, IDS[1:8])]
    write_run(tmp_path / "model", texts.values(), judged, {})
    scores = score_runs(SUITE, open_runs([tmp_path]))
    tales, letters = (scores.models[0].areas[area] for area in ("tales", "letters"))
    assert (tales.gaps["refused"], letters.gaps["refused"]) == ((IDS[0],), (IDS[1],))  # the first one is judged
    assert (tales.gaps["filtered"], letters.gaps["filtered"]) == ((IDS[2], IDS[4]), (IDS[3],))
    assert (tales.gaps["failed"], letters.gaps["failed"]) == ((IDS[6],), (IDS[5],))
    assert text_tables.missing_sentences(scores)[0].startswith(
        "* model, tales: no judgement of 3 of 6 answers (2 filtered, 1 failed); left out"
    )
    table = text_tables.ranking(scores)
    result = dict(zip(table.heads(), table.texts()[0], strict=True))
    assert [result[name] for name in ("missing", "refused", "filtered", "failed")] == ["7", "2", "3", "2"]
    assert to_dict(scores)["rows"][0]["areas"]["tales"]["refused"] == [IDS[0]]
    lines = csv.DictReader(io.StringIO(full_table(scores).to_csv()))
    assert next(line for line in lines if line["part"] == "tales")["filtered"] == "2"
    without = scored(tmp_path / "without", missing="skip", model=rows(1))
    assert "refused" not in to_dict(without)["rows"][0]["areas"]["tales"]
