"""Patterns that backtrack without bound: `suite check` warns of them, and scoring ends after a stated time."""

from __future__ import annotations

import json
import re
import signal
import threading
import time

import pytest
from makers.runs import make_run
from pfgen_fast import PatternTimeout, Question, Rule, Scorer, Suite
from pfgen_fast.oracle import Oracle
from pfgen_fast.runs.run_scorer import RunScorer
from pfgen_fast.runs.trials import find_runs
from pfgen_fast.suite import slow_patterns
from pfgen_fast.suite.pattern_time import pattern_time_limit, searched
from pfgen_fast.suite.slow_patterns import slowness

WORST = "a" * 199 + "!"

EXPONENTIAL = {
    "(a+)+$": WORST,
    "(a|a)*$": WORST,
    "(a|ab|b)*$": "ab" * 99 + "!",
    "(a*)*b": WORST,
    "((a?)?b)+$": "b" * 199 + "!",
    r"(\w+\s?)*$": WORST,
    r"(\d{1,3},?)+$": "1" * 199 + "!",
    r"(?:\s*a\s*)+$": " a" * 99 + "!",
    "(?=(a+)+$)a": WORST,
    "(?i:A+)+!?$": "aA" * 90 + "b",
    "(a{1,50}){1,50}b": WORST,
    "(x+x+)+y": "x" * 200,
    "^(([a-z])+.)+[A-Z]": WORST,
}
TOO_MANY_IN_A_ROW = {
    ".*.*.*.*x": "a" * 200,
    "a*a*a*a*$": WORST,
    "(?:.*a){4}$": WORST,
    r"\s*\s*\s*\s*x": " " * 200,
}
HARMLESS = {
    "(a+b)+$": "aaab" * 50,
    "foo|bar": WORST,
    "(a+)+": WORST,
    r"(\w+\s?)*": WORST,
    "(?:[^,]+,)*x": WORST,
    "^.*.*x": WORST,
    "a.*b.*c.*d.*e": "ab" * 100,
    "(?:foo|bar)+baz": "foobar" * 33,
    "[0-9]{1,3}年": "1" * 200,
    ".{0,9}.{0,9}.{0,9}x": WORST,
    "^(?!.*bad)ice": "ice" * 66,
    "ice(?=.{197}$)": "ice" * 66,
    r"(.)\1": "ab" * 100,
    "氷.*水": "氷" * 200,
}


@pytest.mark.parametrize("pattern", EXPONENTIAL)
def test_repeats_within_repeats_are_named(pattern):
    assert "a repeat within a repeat" in slowness(pattern)


@pytest.mark.parametrize("pattern", TOO_MANY_IN_A_ROW)
def test_too_many_repeats_in_a_row_are_named(pattern):
    assert "too many repeats in a row" in slowness(pattern)


@pytest.mark.parametrize("pattern", HARMLESS)
def test_harmless_patterns_are_not_named(pattern):
    re.search(pattern, HARMLESS[pattern])  # ends
    assert slowness(pattern) is None


def test_no_pattern_of_the_packaged_suite_is_named(mini):
    assert list(slow_patterns.slow_patterns(mini)) == []


def test_huge_patterns_are_not_analysed():
    for pattern in ("(a|b)" * 1000, "((a{8}){8}){8}b", f"({'(a|b)' * 60})*$", "(" * 90 + "a" + ")*" * 90):
        re.compile(pattern)
        slowness(pattern)  # ends
    assert slowness("x" * 250 + "(a+)+$") == "is too large to tell whether its search ends"


def test_suite_check_warns(call, make_suite):
    folder = make_suite({"keywords": [{"or": [{"t": "b.*c"}, {"t": "(a+)+$"}]}]})
    code, out, err = call("suite", "check", folder)
    assert (code, err) == (
        0,
        "warning: question Q01: the pattern '(a+)+$' may take practically forever, because a repeat within a repeat "
        "can match one text in ever more ways\n",
    )
    assert "no faults in 1 question\n" in out
    assert call("suite", "check", folder, "--json")[:2] == (0, "[]\n")


needs_timers = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers")


def suite_with(pattern, **keys):
    return Suite("made", (Question("Q01", "Why?", {"P": ("abc",)}, (Rule("t", pattern),), **keys),))


@needs_timers
@pytest.mark.parametrize("pattern", [*EXPONENTIAL, *TOO_MANY_IN_A_ROW])
def test_what_is_named_does_not_end_in_time(pattern):
    """Else the warning were a false alarm."""
    text = {**EXPONENTIAL, **TOO_MANY_IN_A_ROW}[pattern]
    with pytest.raises(PatternTimeout, match="here takes longer than"), pattern_time_limit(0.02):
        searched(re.compile(pattern).search, text, "here")


@needs_timers
def test_a_pattern_that_takes_too_long_is_named_with_its_question():
    scorer = Scorer(suite_with("(a+)+$"))
    with pattern_time_limit(0.05):
        scorer.score("Q01", ["aaaa"])
        with pytest.raises(PatternTimeout) as raised:
            scorer.score("Q01", ["ok", WORST])
    message = "question Q01: the pattern '(a+)+$' takes longer than 0.05 s on one answer; 'suite check' may tell why"
    assert str(raised.value) == message


@needs_timers
def test_many_quick_searches_are_not_one_slow_search():
    search = re.compile("a+b").search
    begin = time.monotonic()
    with pattern_time_limit(0.4):
        while time.monotonic() - begin < 0.5:
            searched(search, WORST, "here")


@needs_timers
def test_the_limit_gives_back_what_it_borrowed():
    def theirs(*_):
        raise AssertionError

    before = signal.signal(signal.SIGALRM, theirs)
    try:
        signal.setitimer(signal.ITIMER_REAL, 1000, 5)
        with pattern_time_limit(0.05):
            assert signal.getsignal(signal.SIGALRM) is not theirs
        assert signal.getsignal(signal.SIGALRM) is theirs
        delay, interval = signal.setitimer(signal.ITIMER_REAL, 0)
        assert 900 < delay <= 1000
        assert interval == 5
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_other_threads_have_no_limit():
    found = []

    def work():
        with pattern_time_limit(0.05):
            found.append(signal.getsignal(signal.SIGALRM) if hasattr(signal, "SIGALRM") else None)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [signal.getsignal(signal.SIGALRM) if hasattr(signal, "SIGALRM") else None]


@needs_timers
def test_a_run_whose_answers_take_too_long_fails_and_the_others_are_scored(tmp_path):
    for name, answer in (("a", "aaaa"), ("b", WORST), ("c", "aaa!")):
        make_run(tmp_path / name, [json.dumps({"question": "Why?", "answer": answer})])
    scoring = RunScorer(suite=suite_with("(a+)+$"), pattern_seconds=0.05)
    outcomes = list(scoring.score(find_runs([tmp_path])))
    assert [outcome.status for outcome in outcomes] == ["scored", "failed", "scored"]
    assert outcomes[1].error.startswith(f"{tmp_path / 'b' / 'trials.jsonl'}: question Q01: the pattern '(a+)+$' takes")
    assert [(tmp_path / name / "result.json").exists() for name in "abc"] == [True, False, True]


@needs_timers
def test_the_oracle_stands_under_the_same_limit(make_suite):
    suite = Suite.load(make_suite({"keywords": [{"t": "(a+)+$"}]}))
    with pytest.raises(PatternTimeout, match=r"the pattern .* takes longer than 0\.05 s"), pattern_time_limit(0.05):
        Oracle(suite).score_one("Q01", "a" * 60 + "b")
