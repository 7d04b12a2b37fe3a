"""BLEU as BLEUBERI has it: `nmt_bleu` and `bleu_rouge_f1`, the scale of rewards, and the mean with a reward model."""

import re
import statistics
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from makers.effort import examples
from pfgen_fast import ReferenceScorer, TrialsError
from rewards.references.plain_bleu import harmonic_mean, nmt_bleu
from rewards.references.reference_tokenizers import TOKENIZERS
from rewards.references.test_bleu_and_chrf import assert_equal, batches
from rewards.references.test_reference_scorer import ALL, ANSWERS, REFERENCES

REWARDS = ["nmt_bleu", "bleu_rouge_f1", "rouge_l"]


def test_bleu_as_a_reward_equals_plain_python():
    reached = Counter()

    @examples(150, at_least=37)
    @given(batches())
    def compare(batch):
        scores = ReferenceScorer(REWARDS, threads=1).score(*batch)
        tokens_of = TOKENIZERS["13a"]
        expected = [
            nmt_bleu(tokens_of(a), list(map(tokens_of, references))) for a, references in zip(*batch, strict=True)
        ]
        assert_equal(scores.nmt_bleu.tolist(), expected)
        assert_equal(scores.bleu_rouge_f1.tolist(), list(map(harmonic_mean, expected, scores.rouge_l.tolist())))
        assert 0 <= min(expected) <= max(expected) <= 1
        reached.update(empty=0.0 in expected, perfect=1.0 in expected, f1=0 < max(scores.bleu_rouge_f1) < 1)
        reached.update(several=any(len({*map(len, references)}) > 1 for references in batch[1]))

    compare()
    assert min(reached[kind] for kind in ("empty", "perfect", "f1", "several")) > 0, reached


def test_figures_of_bleu_as_a_reward():
    scorer = ReferenceScorer(["bleu_rouge_f1", "nmt_bleu"])
    scores = scorer.score(["the cat sat", "", "a"], [["the cat", "the cat sat on"], ["a"], ["", "b c"]])
    three = (4 / 4 * 3 / 3 * 2 / 2 * 1 / 1) ** 0.25  # no penalty: the shortest reference has two tokens
    assert scores.nmt_bleu.tolist() == [three, 0, (1 / 2) ** 0.25]
    assert scores.bleu_rouge_f1.tolist()[1:] == [0, 0]
    assert "bleu_rouge_f1(tok:13a+rouge,order:4)|nmt_bleu(tok:13a,order:4)" in scorer.signature


def test_on_the_unit_scale_every_metric_is_from_0_to_1():
    metrics = [*ALL, "fluency"]
    usual, unit = (ReferenceScorer(metrics, scale=scale).score(ANSWERS, REFERENCES) for scale in ("usual", "unit"))
    for name in usual.columns:
        divisor = 100 if name in {"bleu", "chrf", "chrf++"} else 1
        np.testing.assert_array_equal(unit[name], np.minimum(usual[name] / divisor, 1))
    assert usual.chrf.max() == 100
    assert unit.corpus("chrf") == usual.corpus("chrf") / 100
    assert unit.signature.count("scale:unit") == len(metrics)
    with pytest.raises(ValueError, match=r"^scale: expected 'usual' or 'unit', not 'percent'$"):
        ReferenceScorer("chrf", scale="percent")


def test_the_mean_of_z_scores_with_those_of_a_reward_model():
    scores = ReferenceScorer("nmt_bleu").score(["a b", None, "a b c d", "x"], [["a b c d"]] * 4, nulls="null")
    of_model = [3.5, 2.0, -1.0, None]

    def z_scores(values):
        known = [value for value in values if value is not None]
        return [(value - statistics.mean(known)) / statistics.stdev(known) for value in values if value is not None]

    bleu = z_scores([None if np.isnan(value) else value for value in scores.nmt_bleu.tolist()])
    model = z_scores(of_model)
    combined = scores.combined("nmt_bleu", of_model)
    np.testing.assert_allclose(combined[[0, 2]], [(bleu[0] + model[0]) / 2, (bleu[1] + model[2]) / 2])
    assert np.isnan(combined[[1, 3]]).all()
    equal = scores.combined("nmt_bleu", np.full(4, 0.1))
    np.testing.assert_allclose(equal[[0, 2, 3]], np.array(bleu) / 2)
    assert scores.rows(0, 1).combined("nmt_bleu", [1]).tolist() == [0]


NO_SCORES = {
    "too few": ([1.0], "scores: 1 score for 2 answers; expected a number for each answer"),
    "a text": ([1.0, "2"], "scores[1]: expected a finite number, got '2'"),
    "infinite": ([float("inf"), 1.0], "scores[0]: expected a finite number, got inf"),
    "a number": (1.0, "scores: expected a number for each answer, got 1.0"),
}


@pytest.mark.parametrize("name", NO_SCORES)
def test_scores_that_cannot_be_combined(name):
    scores, message = NO_SCORES[name]
    with pytest.raises(TrialsError, match=f"^{re.escape(message)}$"):
        ReferenceScorer("chrf").score(["a", "b"], [["a"]] * 2).combined("chrf", scores)
