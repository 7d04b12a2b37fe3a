"""What counts as a score, whichever evaluator returns it."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.asked_engines import FakeEngine
from makers.strategies import answers
from pfgen_fast import DiscernmentError, TrialsError
from pfgen_fast.lab.evaluators.evaluator import Item, Metric, on_scale, score_of, text_column, turned, valid_scores
from pfgen_fast.lab.evaluators.function_evaluator import FunctionEvaluator
from pfgen_fast.lab.evaluators.judge_evaluator import CriteriaJudge, JudgeEvaluator
from pfgen_fast.lab.evaluators.ngram_evaluator import MetricsEvaluator, NgramEvaluator
from pfgen_fast.lab.judging.judge_requests import Judge
from pfgen_fast.lab.judging.reply_store import Replies

ITEMS = [Item("a", "Ice floats.", "answers"), Item("b", "Iron sinks.", "answers")]
TEXTS = text_column(["Ice floats.", "Iron sinks."])


class Returning:
    name, signature = "own", "own:1"
    metrics = (Metric("a", low=1, high=5), Metric("b"))

    def __init__(self, returned):
        self.returned = returned

    def score(self, items, texts):
        if isinstance(self.returned, BaseException):
            raise self.returned
        return self.returned


@pytest.mark.parametrize(
    ("value", "score"),
    [
        *((3, 3.0), (True, 1.0), (np.float32(0.5), 0.5), (np.array(2.5), 2.5)),
        *((Decimal("1.5"), 1.5), (Fraction(1, 4), 0.25)),
        *((other, math.nan) for other in (None, "3", math.inf, 10**400, 1j, [3], np.array([3.0]), Decimal("nan"))),
    ],
)
def test_only_a_finite_number_is_a_score(value, score):
    assert score_of(value) == pytest.approx(score, rel=0, abs=0, nan_ok=True)
    assert type(score_of(value)) is float


def test_scores_outside_of_the_scale_are_missing_and_metrics_keep_the_order_of_the_evaluator():
    result = valid_scores(Returning({"b": (1e100, -math.inf), "a": np.array([0.999, 5])}), ITEMS, TEXTS)
    assert list(result) == ["a", "b"]
    assert np.array_equal(result["a"], [np.nan, 5], equal_nan=True)
    assert np.array_equal(result["b"], [1e100, np.nan], equal_nan=True)
    wide = on_scale(Metric("x", low=-1e308, high=1e308), np.array([1e308, -1e101, 1e100, -1e100]))
    assert np.array_equal(wide, [np.nan, np.nan, 1e100, -1e100], equal_nan=True)
    assert on_scale(Metric("x", low=0), np.array([-0.0, -1e-300, np.nan, 2])).tolist()[::3] == [0, 2]


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ({"a": [1], "b": [1, 2]}, "returned 1 scores of the metric a for 2 texts; expected one score for each text"),
        ({"a": [1, 2]}, "returned no scores of the metric b"),
        (
            {"a": [1, 2], "b": [1, 2], "aa": [1, 2]},
            "returned an unknown metric 'aa'; expected one of a, b; did you mean 'a'?",
        ),
        ([1, 2], "returned list; expected a sequence of scores by metric"),
        ({"a": "12", "b": [1, 2]}, "returned str as scores of the metric a; expected a sequence of numbers"),
        ({3: [1, 2]}, "returned scores of 3; expected a metric's name"),
        (ValueError("no\nsuch \x1b[31mmodel"), r"raised ValueError: no\nsuch \u001b[31mmodel"),
    ],
)
def test_an_evaluator_that_returns_something_else_is_named(returned, message):
    with pytest.raises(DiscernmentError) as caught:
        valid_scores(Returning(returned), ITEMS, TEXTS)
    assert str(caught.value) == f"evaluator own: {message}"


def test_an_error_of_this_package_stays_as_it_is():
    with pytest.raises(TrialsError, match=r"^said already$"):
        valid_scores(Returning(TrialsError("said already")), ITEMS, TEXTS)
    with pytest.raises(KeyboardInterrupt):
        valid_scores(Returning(KeyboardInterrupt()), ITEMS, TEXTS)


def test_lower_values_can_be_the_better_ones():
    metrics = (Metric("bleu", low=0), Metric("ter", low=0))
    assert turned(metrics, ["ter"], "here") == (Metric("bleu", low=0), Metric("ter", False, low=0))
    assert turned(metrics, [], "here") == metrics
    with pytest.raises(DiscernmentError, match=r"^here: unknown metric 'tre'; expected one of ter, bleu; did you"):
        turned(metrics, ["tre"], "here")


EVALUATORS = {
    "metrics": lambda scorer, path: MetricsEvaluator(),
    "ngram": lambda scorer, path: NgramEvaluator(scorer),
    "function": lambda scorer, path: FunctionEvaluator(
        lambda items, texts: {"n": [len(text) for text in texts]}, name="n", metrics=[Metric("n")], batch=2
    ),
    "judge": lambda scorer, path: JudgeEvaluator(Judge("j"), Replies(path), connect=lambda judge: FakeEngine()),
    "criteria": lambda scorer, path: CriteriaJudge(
        Judge("j"), Replies(path), ["answers"], n_ratings=1, connect=lambda judge: FakeEngine()
    ),
}


@pytest.mark.parametrize("name", EVALUATORS)
def test_texts_that_are_not_one_for_each_item_are_refused(name, scorer, tmp_path):
    evaluator = EVALUATORS[name](scorer, tmp_path / "r.jsonl")
    items = [Item(str(number), "Ice", "answers", question="Q07", references=("Ice floats.",)) for number in range(3)]
    with pytest.raises(ValueError, match="3 items for 2 texts; expected one text for each item"):
        evaluator.score(items, ["Ice swims.", None])
    with pytest.raises(TrialsError, match=r"texts\[1\]: expected a str, not int"):
        evaluator.score(items, ["Ice", 3, None])


ITEMS_OF_ALL = [
    Item("a", "Ice", "answers", question="Q07", references=("Ice floats.",)),
    Item("b", "氷", "answers", question="Q08", references=("氷は浮く。", "氷は軽い。")),
]
ROWS = st.lists(st.tuples(st.sampled_from(ITEMS_OF_ALL), st.none() | answers() | st.sampled_from("ab")), max_size=8)


@pytest.mark.slow
@pytest.mark.parametrize("name", EVALUATORS)
@given(data=st.data())
def test_order_batches_repetition_and_lists_change_nothing(name, scorer, tmp_path_factory, data):
    rows = data.draw(ROWS)
    order = data.draw(st.permutations(range(len(rows))))
    cut = data.draw(st.integers(0, len(rows)))

    def scored(rows, column=text_column):
        evaluator = EVALUATORS[name](scorer, tmp_path_factory.mktemp("replies") / "r.jsonl")
        return valid_scores(evaluator, [item for item, _ in rows], column([text for _, text in rows]))

    whole, shuffled = scored(rows), scored([rows[row] for row in order], list)
    parts = [scored(rows[:cut]), scored(rows[cut:])]
    for metric, values in whole.items():
        assert all(math.isnan(value) for value, (_, text) in zip(values, rows, strict=True) if text is None)
        assert np.array_equal(values[order], shuffled[metric], equal_nan=True)
        assert np.array_equal(values, np.concatenate([part[metric] for part in parts]), equal_nan=True)
