"""Our n-gram scores as an evaluator."""

import pytest
from pfgen_fast import Reward, TrialsError
from pfgen_fast.lab.evaluators.evaluator import Evaluator, Item, Metric, text_column
from pfgen_fast.lab.evaluators.ngram_evaluator import NgramEvaluator
from pfgen_fast.lab.evaluators.opening import open_evaluator


@pytest.fixture(scope="module")
def evaluator(scorer) -> Evaluator:
    return NgramEvaluator(scorer)


def items_of(*questions):
    return [Item(str(number), "", "answers", question=question) for number, question in enumerate(questions)]


def test_scores_are_those_of_the_scorer_and_metrics_have_a_range(evaluator, scorer):
    texts = ["Ice floats because it is less dense.", "", "Microwaves move water."]
    scores = evaluator.score(items_of("Q07", "Q07", "Q08"), text_column(texts))
    table = scorer.score(["Q07", "Q07", "Q08"], texts)
    assert list(scores) == [metric.name for metric in evaluator.metrics]
    for name, values in scores.items():
        assert values.tobytes() == table[name].tobytes()
    assert evaluator.signature == scorer.signature
    assert evaluator.metrics == (
        Metric("fluency", low=0.0),
        Metric("truthfulness", low=0.0),
        Metric("helpfulness", low=0.0, high=1.0),
        Metric("average", low=0.0, combined=False),
    )


def test_a_reward_is_one_more_metric_with_a_profile_of_its_own(scorer):
    reward = Reward("mini", "recommended")
    evaluator = NgramEvaluator(scorer, reward)
    texts = ["Ice floats because it is less dense.", None, "Ice floats. " * 20]
    scores = evaluator.score(items_of("Q07", "Q07", "Q07"), text_column(texts))
    assert evaluator.metrics == (*NgramEvaluator(scorer).metrics, Metric("reward", combined=False))
    assert scores["reward"].tobytes() == reward.details("Q07", texts)["reward"].tobytes()
    assert scores["reward"][2] < scores["average"][2] == scorer.reward("Q07", texts[2:])[0]
    assert evaluator.signature == f"{scorer.signature}|reward:{reward.signature}"
    assert evaluator.reference_means(["Q07"]) == NgramEvaluator(scorer).reference_means(["Q07"])
    assert open_evaluator("ngram", suite="mini", shape="recommended").signature == evaluator.signature
    for profile in ("leaderboard", "normalised"):
        opened = open_evaluator("ngram", suite="mini", shape="recommended", profile=profile).signature
        assert opened.count(f"profile:{profile}") == 2, opened


def test_the_command_tests_a_shape(call, tmp_path):
    common = ("discern", "run", "--from-suite", "--suite", "mini", "-e", "ngram", "-o", tmp_path)
    code, _, err = call(*common, "--shape", "recomended")
    assert (code, "shape: expected 'recommended' or a file that ends with .toml" in err) == (2, True)


def test_an_item_without_a_known_question_is_named(evaluator):
    with pytest.raises(TrialsError, match="item a: has no question"):
        evaluator.score([Item("a", "", "answers")], text_column(["x"]))
    with pytest.raises(TrialsError, match=r"questions\[1\]: .*Q99"):
        evaluator.score(items_of("Q07", "Q99"), text_column(["x", "y"]))
