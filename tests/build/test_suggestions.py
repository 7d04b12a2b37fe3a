from __future__ import annotations

import math
import re

import pytest
from pfgen_fast import Suite
from pfgen_fast.base.errors import SuiteError, TrialsError
from pfgen_fast.build.selection import suggest_keywords
from pfgen_fast.suite.keywords import freeze_rule


@pytest.fixture
def suite(make_suite):
    return Suite.load(
        make_suite(
            {"answers": {"P": ["the tide is high", "a tide rises", "low tide now"], "S": ["tide v.1"]}},
            {"answers": {"P": ["the sky is high", "a bird rises", "low bird now", "the 1"]}},
            {"answers": {"P": ["the end", "x is high"] * 300}},
        )
    )


def test_ngrams_of_these_answers_alone_come_first(suite):
    first, _ = suggest_keywords(suite, "Q01", n=2)
    assert (first.ngram, first.share, first.share_elsewhere) == ("tide", 1.0, 0.0)
    # 4 answers here; 4 elsewhere, and 100 of the 600.
    assert first.log_odds == pytest.approx(math.log(4.5 / 0.5) - math.log(0.5 / 104.5))
    assert suggest_keywords(suite, "Q01", min_share=1.0) == [first]


@pytest.mark.parametrize(("name", "question"), [("made", "Q01"), ("mini", "Q01"), ("mini", "Q03"), ("mini", "Q08")])
def test_proposals_are_sorted_their_shares_counted_and_none_touches_another(suite, mini, name, question):
    of = mini if name == "mini" else suite
    here = [answer for answers in of[question].answers.values() for answer in answers]
    found = suggest_keywords(of, question, n=100, min_share=0.05)
    assert found == sorted(found, key=lambda one: -one.log_odds)
    for i, one in enumerate(found):
        assert one.share == sum(one.ngram in answer for answer in here) / len(here) >= 0.05
        for other in (other.ngram for other in found[:i]):
            assert one.ngram not in other
            assert other not in one.ngram
            overlaps = (one.ngram.endswith(other[:n]) or other.endswith(one.ngram[:n]) for n in range(1, len(other)))
            assert not any(overlaps)


def test_a_proposal_is_a_rule_that_finds_it(suite):
    found = {one.ngram: one for one in suggest_keywords(suite, "Q01", n=100)}
    assert "v.1" in found
    assert found["v.1"].rule == {"t": "v\\.1"}
    for one in found.values():
        assert re.search(freeze_rule(one.rule).pattern, one.ngram)[0] == one.ngram


def test_wrong_use_is_named(suite):
    with pytest.raises(TrialsError, match="unknown question 'Q99'"):
        suggest_keywords(suite, "Q99")
    with pytest.raises(ValueError, match="n: expected at least 1"):
        suggest_keywords(suite, "Q01", n=0)
    with pytest.raises(ValueError, match="min_share: expected"):
        suggest_keywords(suite, "Q01", min_share=0)
    with pytest.raises(SuiteError, match="only one question"):
        suggest_keywords(suite.only(["Q01"]), "Q01")
