"""Signatures are reliable: if two are equal, all scores are equal."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from makers import strategies
from makers.effort import examples, share
from pfgen_fast import Question, Scorer, Suite
from pfgen_fast.experiments.cut_references import cut_suite
from pfgen_fast.experiments.sensitivity import VariantScorer
from pfgen_fast.suite.rules import Constants
from pfgen_fast.suite.units import PatternTokenizer

# Changes of a suite, each to one question.
CHANGES = {
    "nothing": lambda question: question,
    "the same again": lambda question: replace(question, answers=dict(question.answers)),
    "an answer less": lambda question: replace(question, answers=_without_last_answers(question)),
    "a set less": lambda question: replace(question, answers=dict(list(question.answers.items())[-1:])),
    "sets in another order": lambda question: replace(question, answers=dict(reversed(question.answers.items()))),
    "no keywords": lambda question: replace(question, keywords=()),
    "other importances": lambda question: replace(
        question, keywords=tuple(replace(rule, importance=0.5) for rule in question.keywords)
    ),
    "words": lambda question: replace(question, tokenizer=PatternTokenizer("words")),
}


def _without_last_answers(question: Question) -> dict[str, tuple[str, ...]]:
    return {name: answers[:-1] or answers for name, answers in question.answers.items()}


def scores(scorer: Scorer, answers: list[str]) -> str:
    return repr([scorer.score_one(question.question_id, answer) for question in scorer.suite for answer in answers])


def test_equal_signatures_mean_equal_scores():
    seen: Counter[tuple[bool, bool]] = Counter()

    @examples(150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
    @given(
        suite=strategies.suites(),
        change=st.sampled_from(sorted(CHANGES)),
        answers=st.lists(strategies.answers(("abc 日本", "aab b")), min_size=1, max_size=4),
        profiles=st.tuples(*[st.sampled_from(("leaderboard", "leaderboard", "paper"))] * 2),
        sums=st.tuples(*[st.sampled_from(("compensated", "naive"))] * 2),
    )
    def holds(suite, change, answers, profiles, sums):
        changed = Suite(suite.name, tuple(map(CHANGES[change], suite)), suite.derived_from)
        words = any(not any(map(str.split, texts)) for question in suite for texts in question.answers.values())
        if change == "words" and words:
            return  # a set without words has no baseline
        try:
            one, other = (
                Scorer(of, profile=profile, float_sum=float_sum)
                for of, profile, float_sum in zip((suite, changed), profiles, sums, strict=True)
            )
        except ValueError:
            return  # the remaining answers of a set have no baseline
        is_equal = one.signature == other.signature
        differs = scores(one, answers) != scores(other, answers)
        seen[is_equal, differs] += 1
        assert not (is_equal and differs)

    holds()
    assert seen[True, False] >= share(3, at_least=0)  # equal signatures
    assert seen[False, True] > share(20, at_least=1)  # different scores, which equal signatures would hide


def test_a_cut_suite_has_a_signature_of_its_own(mini):
    whole = Scorer(mini)
    cuts = [cut_suite(mini, 5, np.random.default_rng(seed))[0] for seed in (0, 0, 1)]
    signatures = [Scorer(cut).signature for cut in cuts]
    assert signatures[0] == signatures[1] != signatures[2]
    assert whole.signature not in signatures
    assert scores(Scorer(cuts[0]), ["Ice floats."]) != scores(whole, ["Ice floats."])


def test_parts_of_different_suites_are_told_apart(mini):
    part = Suite("part", mini.questions[:1], derived_from=mini.metadata_hash)
    assert part.metadata_hash != Suite("part", mini.questions[:1]).metadata_hash
    assert part.metadata_hash == Suite("of another name", mini.questions[:1], mini.metadata_hash).metadata_hash


def test_varied_constants_have_signatures_of_their_own(mini):
    constants = [Constants(), Constants(last_order=3), Constants(threshold=0.01), Constants(limit=200)]
    signatures = VariantScorer(mini, constants).signatures
    assert len(set(signatures)) == len(constants)
    assert all(mini.metadata_hash in signature for signature in signatures)
