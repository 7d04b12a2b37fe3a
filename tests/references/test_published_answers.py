"""Published answers against five reference answers of their questions: BLEU, chrF and ROUGE-L equal the libraries'."""

from __future__ import annotations

import random

import pytest
from makers import published
from makers.effort import share
from pfgen_fast import ReferenceScorer
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics import BLEU, CHRF


class Characters:
    @staticmethod
    def tokenize(text):
        return [c for c in text if not c.isspace()]


@pytest.mark.slow
@published.needs_published_runs
@pytest.mark.filterwarnings("ignore")
def test_published_answers():
    rng = random.Random(9)
    suite = published.suite()
    by_question = published.answers_by_question()
    rows = []
    for question in rng.sample(sorted(by_question), 10):
        every = [answer for of_set in suite[question].answers.values() for answer in of_set]
        rows += [(answer, rng.sample(every, 5)) for answer in rng.sample(by_question[question], share(80))]
    answers, references = [answer for answer, _ in rows], [of_row for _, of_row in rows]
    found = ReferenceScorer(["bleu", "chrf", "chrf++", "rouge_l"], tokenize="char").score(answers, references)
    libraries = {
        "bleu": BLEU(effective_order=True, tokenize="char"),
        "chrf": CHRF(),
        "chrf++": CHRF(word_order=2),
    }
    for name, library in libraries.items():
        expected = [library.sentence_score(*row).score for row in rows]
        assert found[name].tolist() == pytest.approx(expected, rel=1e-13, abs=0)
        assert max(expected) > 10
    rouge = RougeScorer(["rougeL"], tokenizer=Characters())
    expected = [rouge.score_multi(references, answer)["rougeL"].fmeasure for answer, references in rows[::10]]
    assert found.rouge_l[::10].tolist() == expected
