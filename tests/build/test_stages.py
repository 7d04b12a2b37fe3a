import math
import re

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pfgen_fast import Suite
from pfgen_fast.base.errors import SuiteError, TrialsError
from pfgen_fast.build.build_config import KEEP_WORDS, Frequency, Length, Normalise, Select
from pfgen_fast.build.normalise import Rewrite
from pfgen_fast.build.selection import suggest_keywords, suggest_rule
from pfgen_fast.build.stages import (
    describe,
    filter_stage,
    frequency_stage,
    length_stage,
    most_frequent_reasons,
    normalise_stage,
    select_stage,
)
from pfgen_fast.suite.keywords import freeze_rule


def table(*answers):
    return pa.table({"row": pa.array(range(len(answers)), pa.int64()), "answer": pa.array(answers, pa.string())})


def sifted(stage, *answers, threads=2):
    """What a stage keeps and removes: rows with answers, rows with reasons."""
    result = stage.run(table(*answers), threads, lambda what: None)
    kept = list(zip(*result.kept.to_pydict().values(), strict=True))
    removed = {row["row"]: row["reason"] for row in result.removed.to_pylist()}
    assert sorted([row for row, _ in kept] + list(removed)) == list(range(len(answers)))
    return kept, removed, result.figures


def test_normalising_changes_answers_and_removes_some():
    rules = (Rewrite("wide", "characters", "１", "1"), Rewrite("no", "remove", "bad"))
    stage = normalise_stage(Normalise(rules=rules))
    kept, removed, figures = sifted(stage, " a  1 ", "bad １", "　", "b１", "c")
    assert kept == [(0, "a 1"), (3, "b1"), (4, "c")]
    assert removed == {1: "no: bad", 2: "nothing is left"}
    assert figures == {"changed": {"wide": 2}}


def test_the_filter_names_the_first_pattern_that_objects():
    stage = filter_stage(wrong=("cold", "hot"), required=("water",))
    kept, removed, _ = sifted(stage, "water", "hot cold water", "hot", "ice", "wet water")
    assert kept == [(0, "water"), (4, "wet water")]
    assert removed == {1: "wrong: cold", 2: "wrong: hot", 3: "lacks: water"}


# Order 3: in the first round only "abx" and "qqq" occur once; without their answers, so do "bcd" and "cde".
ONCE_RARE = ["abcde", "abc", "bcdeabx", "xyzxyz", "cdqqq", "ab", "xyz"]


def test_the_frequency_filter_removes_once_or_goes_on_until_nothing_is_rare():
    kept, removed, figures = sifted(frequency_stage(Frequency(3, 2)), *ONCE_RARE)
    # "dea", "eab" and "abx" are rare in row 2, "yzx" and "zxy" in row 3, "cdq", "dqq" and "qqq" in row 4.
    assert removed == {2: "dea", 3: "yzx", 4: "cdq"}
    assert [row for row, _ in kept] == [0, 1, 5, 6]
    assert figures["rounds"] == [{"n_rare": 8, "n_distinct": 12, "n_removed": 3}]
    kept, removed, figures = sifted(frequency_stage(Frequency(3, 2, True)), *ONCE_RARE)
    # Then "bcd" and "cde" are rare in row 0, "xyz" in row 6; then "abc" in row 1.
    assert removed == {0: "bcd", 1: "abc", 2: "dea", 3: "yzx", 4: "cdq", 6: "xyz"}
    assert kept == [(5, "ab")]
    assert [figure["n_removed"] for figure in figures["rounds"]] == [3, 2, 1, 0]


@pytest.mark.parametrize("until_stable", [False, True])
def test_other_sets_are_counted_as_if_all_answers_were_one_set(until_stable):
    rare, own, others = Frequency(3, 2, until_stable), ONCE_RARE[::2], ONCE_RARE[1::2]
    _, removed_of_all, of_all = sifted(frequency_stage(rare), *own, *others)
    _, removed, figures = sifted(frequency_stage(rare, others=lambda: [table(*others)]), *own)
    assert removed == {row: reason for row, reason in removed_of_all.items() if row < len(own)}
    assert sifted(frequency_stage(rare), *own)[1] != removed  # counted alone, "abc" is rare from the beginning
    assert sum(figure["n_removed"] for figure in figures["rounds"]) == len(removed)
    assert [figure["n_rare"] for figure in figures["rounds"]] == [figure["n_rare"] for figure in of_all["rounds"]]


@given(st.lists(st.integers(0, 9), max_size=12), st.integers(0, 9), st.integers(1, 12) | st.sampled_from(KEEP_WORDS))
def test_the_nearest_lengths_are_those_of_a_plain_sort(lengths, target, keep):
    answers = ["x" * length for length in lengths]
    kept, removed, figures = sifted(length_stage(Length(target, keep), Select(size=1, duplicates="keep")), *answers)
    order = sorted(range(len(lengths)), key=lambda row: (abs(lengths[row] - target), row))
    wanted = {"all": len(lengths), "auto": math.isqrt(len(lengths))}.get(keep, keep)
    n_kept = wanted if wanted < len(lengths) or keep == "all" else math.isqrt(len(lengths))
    assert [row for row, _ in kept] == sorted(order[:n_kept])
    assert removed == {row: f"length {lengths[row]}" for row in order[n_kept:]}
    assert ("note" in figures) == (isinstance(keep, int) and keep >= len(lengths))


def test_lengths_are_shaped_when_fewer_answers_than_keep_are_left():
    """The geometric mean of 5,000 answers and 50 to select: each of the two stages leaves a tenth."""
    kept, _, figures = sifted(length_stage(Length(100, 30_000), Select(size=50)), *(f"{i:05}" for i in range(5000)))
    assert len(kept) == 500
    assert figures["note"] == (
        "length.keep is 30,000, but this stage received only 5,000 answers, so it keeps the 500 nearest to 100; "
        'add raw answers, lower length.keep, or set it to "auto" or "all"'
    )


@pytest.mark.parametrize(("n", "n_kept"), [(10, 10), (40, 20), (9000, 300), (40_000, 300)])
def test_an_automatic_number_is_thirty_for_each_to_select_at_most(n, n_kept):
    """For a million answers and a thousand to select, that is what the published suite kept."""
    stage = length_stage(Length(target=5), Select(size=10))
    assert len(sifted(stage, *(f"{i:05}" for i in range(n)))[0]) == n_kept


def test_a_choice_may_hold_each_text_only_once_and_has_the_distribution_of_all():
    answers = ["ab", "cd", "ab", "ab", "ef"]
    _, removed, _ = sifted(select_stage(Select(3, 2, "drop", 1, 100), "s"), *answers)
    assert removed == {2: "duplicate", 3: "duplicate"}
    assert sifted(select_stage(Select(3, 2), "s"), *answers)[1] == removed
    kept, removed, _ = sifted(select_stage(Select(3, 2, "keep", 1, 100), "s"), *answers)
    assert set(removed.values()) == {"not chosen"}
    assert len(kept) == 3
    answers = ["common answer"] * 30 + ["rare one"] * 10
    kept, _, figures = sifted(select_stage(Select(4, 10, "keep", 1, 2000), "s"), *answers)
    assert sorted(answer for _, answer in kept) == ["common answer"] * 3 + ["rare one"]
    assert figures["error"] == 0
    assert len(figures["coverage"]) == 10
    assert all(held == all_of_them and share == 1 for all_of_them, held, share in figures["coverage"])


def test_figures_of_lengths_and_reasons():
    described = describe(table("ab", "abcd", "x" * 500))
    assert (described["n"], described["mean"]) == (3, 506 / 3)
    assert described["std"] == pytest.approx(math.sqrt(sum((n - 506 / 3) ** 2 for n in (2, 4, 500)) / 3))
    assert (described["lengths"][2], described["lengths"][4], described["lengths"][401]) == (1, 1, 1)
    assert describe(table())["mean"] is None
    reasons = pa.table({"reason": ["b", "a", "c", "c"]})
    assert most_frequent_reasons(reasons) == [("c", 2), ("a", 1), ("b", 1)]


@pytest.fixture
def suite(make_suite):
    return Suite.load(
        make_suite(
            {"answers": {"P": ["the tide is high", "a tide rises", "low tide now"], "S": ["tide v.1"]}},
            {"answers": {"P": ["the sky is high", "a bird rises", "low bird now", "the 1"]}},
            {"answers": {"P": ["the end", "x is high"] * 300}},
        )
    )


def test_ngrams_of_these_answers_alone_come_first_with_rules_that_find_them(suite):
    first, _ = suggest_keywords(suite, "Q01", n=2)
    assert (first.ngram, first.share, first.share_elsewhere) == ("tide", 1.0, 0.0)
    # 4 answers here; 4 elsewhere, and 100 of the 600.
    assert first.log_odds == pytest.approx(math.log(4.5 / 0.5) - math.log(0.5 / 104.5))
    assert suggest_keywords(suite, "Q01", min_share=1.0) == [first]
    by_name = {suggestion.ngram: suggestion for suggestion in suggest_keywords(suite, "Q01", n=100)}
    assert "v.1" in by_name
    assert by_name["v.1"].rule == {"t": "v\\.1"}
    for item in by_name.values():
        assert re.search(freeze_rule(item.rule).pattern, item.ngram)[0] == item.ngram


def test_words_are_suggested_where_words_are_the_unit(mini):
    """And a rule of whole words that nearly all references of the question pass."""
    here = [answer for answers in mini["Q08"].answers.values() for answer in answers]
    result = suggest_keywords(mini, "Q08", n=100, min_share=0.05)
    assert result == sorted(result, key=lambda entry: -entry.log_odds)
    for item in result:
        assert item.rule == {"t": rf"\b{item.ngram}\b"}
        assert item.share == sum(bool(re.search(item.rule["t"], answer)) for answer in here) / len(here) >= 0.05
    suggested = suggest_rule(mini, "Q08")
    assert suggested.rule["t"].startswith(r"\b(?:")
    assert suggested.share == sum(bool(re.search(suggested.rule["t"], answer)) for answer in here) / len(here) >= 0.9
    assert suggested.share_elsewhere < 0.05


def test_no_rule_is_suggested_where_answers_share_no_words(make_suite):
    answers = [{"answers": {"P": [f"{letter}{n} {n * n}" for n in range(30)]}} for letter in "xy"]
    assert suggest_rule(Suite.load(make_suite(*answers)), "Q01") is None


def test_suggested_rules_are_few_words_that_references_to_most_other_questions_lack(make_suite):
    """`sont` is rare elsewhere, but in references to both other questions; three words are too many."""
    words = {"unit": "token", "tokenizer": "words"}
    here = [f"{'sont durée' if n % 10 else 'sont'} {['ancres', 'lunes', 'vagues'][n % 3]} {n}" for n in range(60)]
    others = [[f"{'sont' if n == 0 else 'autre'} {letter}{n}" for n in range(60)] for letter in "xy"]
    suite = Suite.load(make_suite(*({"answers": {"P": answers}, **words} for answers in (here, *others))))
    assert suggest_rule(suite, "Q01").rule == {"t": r"\b(?:durée|ancres)\b", "name": "durée"}
    assert suggest_rule(suite, "Q02") is None


@pytest.mark.parametrize(("name", "question"), [("made", "Q01"), ("mini", "Q01"), ("mini", "Q03")])
def test_proposals_are_sorted_their_shares_counted_and_none_touches_another(suite, mini, name, question):
    part = mini if name == "mini" else suite
    here = [answer for answers in part[question].answers.values() for answer in answers]
    result = suggest_keywords(part, question, n=100, min_share=0.05)
    assert result == sorted(result, key=lambda entry: -entry.log_odds)
    for i, item in enumerate(result):
        assert item.share == sum(item.ngram in answer for answer in here) / len(here) >= 0.05
        for other in (other.ngram for other in result[:i]):
            assert item.ngram not in other
            assert other not in item.ngram
            overlaps = (item.ngram.endswith(other[:n]) or other.endswith(item.ngram[:n]) for n in range(1, len(other)))
            assert not any(overlaps)


def test_wrong_use_is_named(suite):
    with pytest.raises(TrialsError, match="unknown question 'Q99'"):
        suggest_keywords(suite, "Q99")
    with pytest.raises(ValueError, match="n: expected at least 1"):
        suggest_keywords(suite, "Q01", n=0)
    with pytest.raises(ValueError, match="min_share: expected"):
        suggest_keywords(suite, "Q01", min_share=0)
    with pytest.raises(SuiteError, match="only one question"):
        suggest_keywords(suite.only(["Q01"]), "Q01")
