"""What the filters of pipelines share: scores to keep, answers that stay, and what is refused in one sentence."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from pfgen_fast import PfgenError, TrialsError
from pfgen_fast.integrations.answer_filter import AnswerFilter

ANSWERS = ["Ice floats because it is less dense than water.", None, "Because."]


def scored(answer_filter, answers=ANSWERS):
    return answer_filter.scores(["Q07"] * len(answers), answers, lambda row: f"text {row + 1}")


def test_scores_to_keep_come_first_and_then_those_that_are_compared(scorer):
    columns = ["fluency", "average"]
    good = AnswerFilter("mini", where="helpfulness > 0 and average >= 0.3", columns=columns, nulls="null", prefix="p_")
    assert good.columns == (*columns, "helpfulness")
    assert good.names == {"fluency": "p_fluency", "average": "p_average"}
    scores, table = scored(good), scorer.score("Q07", ANSWERS, nulls="null")
    assert {name: column.tobytes() for name, column in scores.items()} == {
        name: table[name].tobytes() for name in good.columns
    }
    passing = (table.average >= 0.3) & (table.helpfulness > 0)
    assert good.passing(scores).tolist() == passing.tolist()
    assert good.spec.threads == 1
    assert len(pickle.dumps(good)) < 1500


@pytest.mark.parametrize("settings", [{}, {"minimum": 0.3}, {"where": "average >= 0.3"}])
def test_a_missing_answer_is_an_error_or_passes_no_filter(settings):
    with pytest.raises(TrialsError, match=r"^text 2, column 'answer': "):
        scored(AnswerFilter("mini", **settings))
    good = AnswerFilter("mini", nulls="null", **settings)
    scores = scored(good)
    assert np.isnan(scores["average"]).tolist() == [False, True, False]
    assert good.passing(scores).tolist() == ([True, False, False] if settings else [True] * 3)
    assert good.without_score(scores).tolist() == [False, bool(settings), False]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"minimum": 0.5, "where": "average > 0"}, "expected only one of these"),
        ({"minimum": "high"}, "expected a number, not 'high'"),
        ({"where": "niceness > 0"}, "no score 'niceness'"),
        ({"columns": ["niceness"]}, "no score 'niceness'"),
        ({"columns": "average", "minimum": 0}, "expected a list of names, not the text 'average'"),
    ],
)
def test_settings_that_do_not_fit_are_one_sentence(settings, message):
    with pytest.raises(PfgenError, match=message):
        AnswerFilter("mini", **settings)


def test_fields_that_do_not_fit_are_one_sentence():
    good = AnswerFilter("mini", question="q", prefix="pfgen_")
    good.check_has_fields(["q", "answer"], "the batch")
    good.check_has_no_scores(["average"], "the batch")
    with pytest.raises(TrialsError, match=r"^the batch: no field 'q'; there are 'answer'$"):
        good.check_has_fields(["answer"], "the batch")
    with pytest.raises(TrialsError, match=r"^the batch: there is already a field 'pfgen_average', the name of a score"):
        good.check_has_no_scores(["q", "pfgen_average"], "the batch")
