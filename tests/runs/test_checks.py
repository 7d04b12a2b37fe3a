"""Gates: what passes, fails and is undecided, and the files that say so."""

from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.hostile import NAMES, acting
from pfgen_fast.base.errors import PfgenError
from pfgen_fast.runs.gates import Check, Gate, at_least, junit_xml
from pfgen_fast.runs.items.item_table import ItemScores
from pfgen_fast.runs.statistics.paired_tests import paired_difference

NOISE = np.array([0.01, -0.01, 0.02, -0.02, 0.03, -0.03, 0.0, 0.0])


def table(*rows, metrics=("m",), **fields):
    values = np.array(rows, dtype=float)
    items = tuple(f"i{at}" for at in range(values.shape[-1]))
    models = ("new", "old", "older", "oldest")[: len(rows)]
    return ItemScores(models, items, dict.fromkeys(metrics, values), **fields)


def check(scores, metrics=None, **settings):
    return Gate(**settings).check(scores.only(models=["new", "old"]), metrics=metrics)[0]


def outcome(gain, margin=0.0, *, n=8, **settings):
    result = check(table((0.5 + NOISE + gain)[:n], np.full(n, 0.5)), margin=margin, **settings)
    return result.outcome if result.passes == (result.outcome == "passed") else f"{result.outcome}, counts otherwise"


# With this noise, the 95 % interval reaches 0.0167 to both sides.
@pytest.mark.parametrize(("gain", "margin", "expected"), [
    (-0.03, 0, "failed"), (-0.01, 0, "undecided, counts otherwise"), (0.01, 0, "undecided, counts otherwise"),
    (0.03, 0, "passed"), (-0.03, 0.01, "failed"), (-0.03, 0.02, "undecided, counts otherwise"),
    (-0.03, 0.04, "undecided, counts otherwise"), (-0.03, 0.05, "passed"),
    (0, 0.01, "undecided, counts otherwise"), (0, 0.02, "passed"),
])  # fmt: skip
def test_a_gate_has_three_outcomes(gain, margin, expected):
    assert outcome(gain, margin) == expected
    strict = outcome(gain, margin, undecided="fail")
    assert strict == expected.removesuffix(", counts otherwise")
    if margin:
        part = table(0.5 + NOISE + gain, np.full(8, 0.5))
        assert check(part, margin=margin, undecided="fail").passes == (strict == "passed")


def test_the_confidence_the_number_of_items_and_equal_scores_decide():
    assert outcome(-0.03, confidence=0.999) == "undecided, counts otherwise"
    assert outcome(-0.01, confidence=0.7) == "failed"
    assert outcome(-0.5, n=5) == "undecided, counts otherwise"
    assert outcome(-0.5, n=6) == "failed"
    same = table(NOISE, NOISE)
    for margin in (0, 0.1):
        result = check(same, margin=margin, undecided="fail", confidence=0.999)
        assert (result.outcome, result.sentence) == ("passed", "m: new and old have the same score on 8 items")
    few = check(same.only(items=range(5)), undecided="fail")
    assert (few.outcome, few.passes) == ("undecided", False)
    assert few.sentence == (
        "m: no verdict: 5 items, at least 6 are needed: whether new is worse than old; counts as failed"
    )
    nothing = check(table([1, np.nan], [np.nan, 1]))
    assert (nothing.outcome, nothing.passes) == ("error", False)
    no_loss = check(table(0.4 + NOISE, np.where(NOISE > 0.02, np.nan, 0.5)))  # OLD lacks an item
    assert no_loss.outcome == "failed"
    ones = table(*np.ones((2, 50)))
    equal = [check(ones, margin=margin).outcome for margin in (0.05, 0.08)]
    assert equal == ["undecided", "passed"]  # 50 equal marks of 0 and 1 do not exclude a loss of 7 %


@given(st.integers(0, 12), st.integers(0, 4), st.sampled_from([0.9, 0.95, 0.99]))
def test_gates_on_scores_of_0_and_1_are_monotone_in_the_margin_and_in_the_losses(n_lost, n_won, confidence):
    def outcome_with(n_lost, margin):
        new, old = np.ones((2, 50))
        new[:n_lost] = old[n_lost : n_lost + n_won] = 0
        result = check(table(new, old), margin=margin, confidence=confidence)
        return ["failed", "undecided", "passed"].index(result.outcome)

    by_margin = [outcome_with(n_lost, margin) for margin in (0, 0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4)]
    assert by_margin == sorted(by_margin)
    assert outcome_with(n_lost, 0.02) >= outcome_with(n_lost + 1, 0.02)


def test_the_sentence_has_the_figures():
    failed = check(table(0.47 + NOISE, np.full(8, 0.5)), margin=0.01)
    assert failed.name == "m not worse by more than 0.01 than old"
    assert failed.sentence == (
        "m: new is worse than old by more than 0.01: the difference is -0.0300, 95 % interval -0.0467 to -0.0133 over "
        "8 items; paired t-test of a difference of -0.0100: p = 0.0255, limit 0.05"
    )


def test_lower_is_better_turns_the_sign():
    worse, better = table(0.6 + NOISE, np.full(8, 0.5)), table(0.4 + NOISE, np.full(8, 0.5))
    for part, expected in ((worse, "failed"), (better, "passed")):
        turned = ItemScores(part.models, part.items, part.values, higher_is_better={"m": False})
        assert check(turned, margin=0.02).outcome == expected
        assert check(turned).outcome == expected


def test_clusters_and_binary_scores_have_their_tests():
    rows = np.zeros((2, 40))
    rows[1, :8] = 1
    result = check(table(*rows))
    assert (result.outcome, "Tango's score test: p = 0.0047" in result.sentence) == ("failed", True)
    four = tuple(str(at // 10) for at in range(40))
    result = check(table(*rows, clusters=four))
    assert (result.outcome, "40 items in 4 clusters" in result.sentence) == ("undecided", True)


def test_several_models_are_a_family():
    p = 0.03  # of each comparison alone
    gain = next(step for step in np.arange(0, 0.1, 0.0001) if paired_difference(NOISE - step, NOISE * 0).p_value <= p)
    rows = (0.5 + NOISE - gain, *np.full((2, 8), 0.5))
    assert [check.outcome for check in Gate().check(table(*rows[:2]))] == ["failed"]
    checks = Gate().check(table(*rows))
    assert [check.outcome for check in checks] == ["undecided", "undecided"]
    assert "95 % interval (Holm, 2 comparisons) " in checks[0].sentence
    two = table(*rows[:2], metrics=("m", "k"))
    assert [check.outcome for check in Gate().check(two, metrics=["m", "k"])] == ["failed"] * 2


@given(
    st.lists(st.tuples(*[st.integers(0, 20)] * 2), min_size=6, max_size=12),
    st.integers(0, 10).map(lambda step: step / 10),
)
def test_the_interval_decides_and_a_larger_margin_is_never_worse(pairs, margin):
    a, b = (np.array(column) / 20 + 0.001 * np.arange(len(pairs)) for column in zip(*pairs, strict=True))
    a = a + 0.0007 * (np.arange(len(pairs)) % 2)  # the differences are never all the same
    scores, order = table(a, b), ["failed", "undecided", "passed"]
    listed = [order.index(check(scores, margin=m).outcome) for m in (margin, margin + 0.25)]
    assert listed[0] <= listed[1]
    part = paired_difference(a, b)
    assert listed[0] == (0 if part.high < -margin else 2 if part.low > -margin else 1)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"margin": -0.1}, "margin -0.1: expected a number of at least 0"),
        ({"margin": float("nan")}, "margin nan: expected"),
        ({"confidence": 95}, "confidence 95: expected a number between 0 and 1"),
        ({"metrics": ["n"]}, "unknown metric 'n'"),
    ],
)
def test_invalid_settings_are_named(settings, message):
    with pytest.raises(PfgenError, match=message):
        check(table(NOISE, NOISE), **settings)


def test_a_figure_is_at_least_a_threshold():
    figures = {"score": 0.69999, "rank": 12, "low": None}
    check = at_least(figures, 0.7, about="a")
    assert check == Check("score at least 0.7", "a", "failed", "a: score 0.69999 is below 0.7", False)
    assert at_least(figures, 0.69999, about="a").passes
    ranks = [at_least(figures, limit, about="a", figure="rank", lower_is_better=("rank",)) for limit in (11, 12)]
    assert [check.sentence for check in ranks] == ["a: rank 12 is above 11", "a: rank 12 is at most 12"]
    assert [check.passes for check in ranks] == [False, True]
    assert at_least(figures, 0, about="a", figure="low").outcome == "error"
    with pytest.raises(PfgenError, match=r"unknown figure 'scoer'.*did you mean 'score'"):
        at_least(figures, 0, about="a", figure="scoer")


CHECKS = [
    Check("a", "x", "passed", "x is good", True),
    Check("b", "x", "undecided", "who knows", True),
    *(Check(name, name, "failed", f"{name} 5 %", False) for name in NAMES),
    Check("c", "x", "error", "nothing there", False),
]


def test_a_junit_file_has_what_the_schemas_ask_for():
    """The elements, their order and their attributes are those of the schemas of Ant (Windy Road) and Jenkins."""
    content = junit_xml(CHECKS, "pfgen-fast compare")
    root = ElementTree.fromstring(content)
    [suite] = root
    assert (root.tag, suite.tag) == ("testsuites", "testsuite")
    needed = {"id", "package", "name", "timestamp", "hostname", "tests", "failures", "errors", "skipped", "time"}
    assert set(suite.keys()) == needed
    counts = {name: int(suite.get(name)) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": len(CHECKS), "failures": len(NAMES), "errors": 1, "skipped": 1}
    assert [child.tag for child in suite] == ["properties", *["testcase"] * len(CHECKS), "system-out", "system-err"]
    for case, check in zip(suite.iter("testcase"), CHECKS, strict=True):
        assert case.keys() == ["classname", "name", "time"]
        [tag] = [child.tag for child in case] or [None]
        assert tag == {"passed": None, "undecided": "skipped", "failed": "failure", "error": "error"}[check.outcome]
        assert all(child.keys() == (["message"] if tag == "skipped" else ["type", "message"]) for child in case)
    assert not acting(content.decode("utf-8"))
    assert counts["tests"] == content.count(b"<testcase")
