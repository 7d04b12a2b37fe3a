"""Evaluators of ours, how they are opened, and what counts as a score, whichever returns it."""

import math
import sys
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.asked_engines import FakeEngine
from makers.strategies import answers
from pfgen_fast import DiscernmentError, Reward, TrialsError
from pfgen_fast.lab.evaluators.command_evaluator import CommandEvaluator
from pfgen_fast.lab.evaluators.criteria import read_criteria
from pfgen_fast.lab.evaluators.evaluator import (
    Evaluator,
    Item,
    Metric,
    on_scale,
    open_evaluator,
    score_of,
    text_column,
    turned,
    valid_scores,
)
from pfgen_fast.lab.evaluators.function_evaluator import FunctionEvaluator
from pfgen_fast.lab.evaluators.judge_evaluator import JudgeEvaluator
from pfgen_fast.lab.evaluators.ngram_evaluator import MetricsEvaluator, NgramEvaluator
from pfgen_fast.lab.evaluators.table_evaluator import TableScores
from pfgen_fast.lab.judging.judge_requests import Judge
from pfgen_fast.lab.judging.reply_store import ReplyStore
from sacrebleu.metrics import BLEU, CHRF

ENGLISH = Item("1", "Ice floats.", "answers", "en", references=("Ice floats on water.", "Frozen water swims on top."))
JAPANESE = Item("2", "氷は浮く。", "answers", "ja", references=("氷は水に浮きます。", "氷は軽い。"))


@pytest.fixture(scope="module")
def evaluator() -> Evaluator:
    return MetricsEvaluator()


def scores_of(evaluator, item, *texts):
    result = evaluator.score([item] * len(texts), text_column(list(texts)))
    return list(zip(*(result[name].tolist() for name in ("bleu", "chrf", "rouge_l")), strict=True))


@pytest.mark.parametrize(("item", "tokenize"), [(ENGLISH, "13a"), (JAPANESE, "char")])
@pytest.mark.parametrize("n_references", [1, 2])
def test_bleu_and_chrf_are_those_of_sacrebleu(evaluator, item, tokenize, n_references):
    texts = ["Ice floats on water!", "氷は水に浮くよ。", "氷", "x", "Frozen  water, swims.\n", "\ud800\0", "", " "]
    references = list(item.references[:n_references])
    bleu, chrf = BLEU(tokenize=tokenize, effective_order=True), CHRF()
    result = scores_of(evaluator, replace(item, references=tuple(references)), *texts)
    for text, (own_bleu, own_chrf, _) in zip(texts, result, strict=True):
        assert own_bleu == min(bleu.sentence_score(text, references).score, 100)
        assert own_chrf == min(chrf.sentence_score(text, references).score, 100)


@pytest.mark.parametrize(
    ("item", "reference", "text", "rouge_l"),
    [
        (JAPANESE, "氷は水に浮く", "氷が浮くよ", 2 * 3 / (6 + 5)),  # the code points 氷浮く
        (ENGLISH, "The well-known ice doesn't sink.", "Well, the ice doesn't ever sink!", 2 * 3 / (5 + 6)),
        (ENGLISH, "...", "!", 0),
    ],
)
def test_rouge_l_is_the_f1_of_the_longest_common_subsequence(evaluator, item, reference, text, rouge_l):
    assert scores_of(evaluator, replace(item, references=(reference,)), text)[0][2] == pytest.approx(rouge_l)


def test_without_a_language_the_text_decides_and_nothing_in_common_scores_zero(evaluator):
    for item in (ENGLISH, JAPANESE):
        assert scores_of(evaluator, replace(item, language=None), "ice 氷 on") == scores_of(
            evaluator, item, "ice 氷 on"
        )
    assert scores_of(evaluator, replace(JAPANESE, references=("水",)), "", "空", " ") == [(0.0, 0.0, 0.0)] * 3


def test_the_reference_itself_has_the_best_scores_on_their_scales(evaluator):
    for item in (ENGLISH, JAPANESE):
        for text in item.references:
            assert scores_of(evaluator, item, text) == [(100.0, 100.0, 1.0)]
    scales = (("bleu", 100), ("chrf", 100), ("rouge_l", 1))
    assert evaluator.metrics == tuple(Metric(name, low=0, high=high) for name, high in scales)


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (Item("a", "x", "qa", "en"), "item a: has no references, which the evaluator metrics needs"),
        (Item("a\n", "x", "qa", "en"), r"item a\\n: has no references"),
        (replace(ENGLISH, language="jp"), "item 1: unknown language 'jp'; expected one of ja, en"),
        (replace(ENGLISH, text="Ice floats on water."), "its text is one of its references"),
        (replace(ENGLISH, text="\nIce floats on water. "), "its text is one of its references"),
    ],
)
def test_an_item_without_comparable_references_is_named(evaluator, item, message):
    with pytest.raises(DiscernmentError, match=message):
        evaluator.score([item], text_column(["x"]))


def test_the_signature_names_settings_and_versions(evaluator):
    assert evaluator.signature.startswith("metrics:bleu,chrf,rouge_l|pfgen-fast:")
    assert "tokenize:ja=char,en=13a" in evaluator.signature


# ---- Our n-gram scores as an evaluator


@pytest.fixture(scope="module")
def ngrams(scorer) -> Evaluator:
    return NgramEvaluator(scorer)


def items_of(*questions):
    return [Item(str(number), "", "answers", question=question) for number, question in enumerate(questions)]


def test_scores_are_those_of_the_scorer_and_metrics_have_a_range(ngrams, scorer):
    texts = ["Ice floats because it is less dense.", "", "Microwaves move water."]
    scores = ngrams.score(items_of("Q07", "Q07", "Q08"), text_column(texts))
    table = scorer.score(["Q07", "Q07", "Q08"], texts)
    assert list(scores) == [metric.name for metric in ngrams.metrics]
    for name, values in scores.items():
        assert values.tobytes() == table[name].tobytes()
    assert ngrams.signature == scorer.signature
    assert ngrams.metrics == (
        Metric("fluency", low=0.0),
        Metric("truthfulness", low=0.0),
        Metric("helpfulness", low=0.0, high=1.0),
        Metric("average", low=0.0, combined=False),
    )


def test_a_reward_is_one_more_metric_with_a_profile_of_its_own(scorer):
    reward = Reward("mini", "recommended")
    ngrams = NgramEvaluator(scorer, reward)
    texts = ["Ice floats because it is less dense.", None, "Ice floats. " * 20]
    scores = ngrams.score(items_of("Q07", "Q07", "Q07"), text_column(texts))
    assert ngrams.metrics == (*NgramEvaluator(scorer).metrics, Metric("reward", combined=False))
    assert scores["reward"].tobytes() == reward.details("Q07", texts)["reward"].tobytes()
    assert scores["reward"][2] < scores["average"][2] == scorer.reward("Q07", texts[2:])[0]
    assert ngrams.signature == f"{scorer.signature}|reward:{reward.signature}"
    assert open_evaluator("ngram", suite="mini", shape="recommended").signature == ngrams.signature
    for profile in ("leaderboard", "normalised"):
        opened = open_evaluator("ngram", suite="mini", shape="recommended", profile=profile).signature
        assert opened.count(f"profile:{profile}") == 2, opened


def test_the_command_tests_a_shape(call, tmp_path):
    common = ("discern", "run", "--from-suite", "--suite", "mini", "-e", "ngram", "-o", tmp_path)
    code, _, err = call(*common, "--shape", "recomended")
    assert (code, "shape: expected 'recommended' or a file that ends with .toml" in err) == (2, True)


def test_an_item_without_a_known_question_is_named(ngrams):
    with pytest.raises(TrialsError, match="item a: has no question"):
        ngrams.score([Item("a", "", "answers")], text_column(["x"]))
    with pytest.raises(TrialsError, match=r"questions\[1\]: .*Q99"):
        ngrams.score(items_of("Q07", "Q99"), text_column(["x", "y"]))


# ---- Evaluators opened by their names


def test_each_kind_is_opened_by_its_name_and_a_judge_by_model_and_tasks(tmp_path, mini, scorer):
    (tmp_path / "scores.csv").write_text("item,perturbation,metric,score\na,original,f,1\n")
    ngram = open_evaluator("ngram", suite=mini, threads=1)
    assert isinstance(ngram, NgramEvaluator)
    assert ngram.signature == scorer.signature
    assert isinstance(open_evaluator("metrics"), MetricsEvaluator)
    assert open_evaluator("python:builtins:sorted").name == "builtins:sorted"
    command = open_evaluator(f"command:{sys.executable} -c 'a b'", time_limit=1.5)
    assert isinstance(command, CommandEvaluator)
    assert command.name == f"{sys.executable} -c 'a b'"
    table = open_evaluator(f"table:{tmp_path / 'scores.csv'}", lower_is_better=["f"])
    assert isinstance(table, TableScores)
    (tmp_path / "replies.jsonl").write_text('{"key": "x", "reply": "[[3]]"}\n')
    judge = open_evaluator("judge", model="org/judge", tasks=["qa"], server=None, cache=tmp_path / "replies.jsonl")
    assert judge.name == "judge"
    assert [metric.name for metric in judge.metrics] == ["answer_quality"]


@pytest.mark.parametrize(
    ("what", "nearest"),
    [
        ("n-gram", "ngram"),
        ("tables:scores.csv", "table:FILE"),
        ("Judge", "judge"),
        *((what, "") for what in ("", ":", "ngram:mini", "python", "python:", "command: ", "table", "judge:gpt")),
    ],
)
def test_an_unknown_or_incomplete_evaluator_comes_with_the_list_the_nearest_first(what, nearest):
    with pytest.raises(DiscernmentError) as caught:
        open_evaluator(what)
    message = str(caught.value)
    assert message.startswith(f"unknown evaluator '{what}'; expected one of {nearest}")
    assert sorted(message.partition(" of ")[2].partition(";")[0].split(", ")) == sorted(
        ["ngram", "metrics", "judge", "checklists:SUITE", "python:MODULE:FUNCTION", "command:PROGRAM ...", "table:FILE"]
    )


# ---- What counts as a score, whichever evaluator returns it

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
            dict.fromkeys(("a", "b", "aa"), (1, 2)),
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
        lambda items, texts: {"n": [len(text) for text in texts]}, name="n", metrics=[Metric("n")]
    ),
    "judge": lambda scorer, path: JudgeEvaluator(Judge("j"), ReplyStore(path), connect=lambda judge: FakeEngine()),
    "criteria": lambda scorer, path: JudgeEvaluator(
        Judge("j"), ReplyStore(path), read_criteria(), connect=lambda judge: FakeEngine()
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
