"""Patterns that backtrack without bound: `suite check` tries them, and scoring ends after a stated time."""

import json
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest
from makers.runs import make_run
from pfgen_fast import PatternTimeout, Question, Rule, Scorer, Suite
from pfgen_fast.oracle import Oracle
from pfgen_fast.runs.run_scorer import RunScorer
from pfgen_fast.runs.trials import find_runs
from pfgen_fast.suite.keywords import WHY, pattern_time_limit
from pfgen_fast.suite.suite_reading import slow_patterns

WORST = "a" * 199 + "!"

EXPONENTIAL = r"""
    (a+)+$  (a|a)*$  (a|ab|b)*$  (a*)*b  ((a?)?b)+$  (\w+\s?)*$  (\d{1,3},?)+$  (?:\s*a\s*)+$  (?=(a+)+$)a  (?i:A+)+!?$
    (a{1,50}){1,50}b  (x+x+)+y  ^(([a-z])+.)+[A-Z]  (a|b|ab)*c  (?:foo|fo+)+$
"""
TOO_MANY_IN_A_ROW = r".*.*.*.*x  a*a*a*a*$  (?:.*a){4}$  \s*\s*\s*\s*x"
HARMLESS = r"""
    (a+b)+$  foo|bar  (a+)+  (\w+\s?)*  (?:[^,]+,)*x  ^.*.*x  a.*b.*c.*d.*e  (?:foo|bar)+baz  [0-9]{1,3}年
    .{0,9}.{0,9}.{0,9}x  ^(?!.*bad)ice  ice(?=.{197}$)  (.)\1  氷.*水
"""

needs_timers = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers")


def suite_with(pattern, **keys):
    return Suite("made", (Question("Q01", "Why?", {"P": ("abc",)}, (Rule("t", pattern),), **keys),))


@needs_timers
@pytest.mark.parametrize("pattern", [*EXPONENTIAL.split(), *TOO_MANY_IN_A_ROW.split()])
def test_patterns_that_do_not_end_in_time_are_named(pattern):
    assert list(slow_patterns(suite_with(pattern), seconds=0.02)) == [
        f"question Q01: the pattern {pattern!r} takes longer than 0.02 s on a test text of 200 characters: {WHY}"
    ]


@needs_timers
def test_harmless_patterns_and_those_of_the_packaged_suite_are_not_named(mini):
    made = (question for pattern in [*HARMLESS.split(), "[a]" * 1000] for question in suite_with(pattern))
    assert list(slow_patterns([*made, *mini])) == []


@pytest.mark.slow
@needs_timers
def test_suite_check_warns(call, make_suite):
    folder = make_suite({"answers": {"P": ["氷"] * 100}, "keywords": [{"or": [{"t": "b.*c"}, {"t": "(a+)+$"}]}]})
    code, out, err = call("suite", "check", folder)
    warning = f"question Q01: the pattern '(a+)+$' takes longer than 0.5 s on a test text of 200 characters: {WHY}"
    assert (code, err) == (0, f"warning: {warning}\n")
    assert "1 warning in 1 question\n" in out


@needs_timers
def test_a_pattern_that_takes_too_long_is_named_with_its_question():
    suite = suite_with("(a+)+$")
    with pattern_time_limit(0.05):
        Scorer(suite).score("Q01", ["aaaa"])
        for scorer, place in ((Scorer(suite), "question Q01: "), (Oracle(suite), "")):
            with pytest.raises(PatternTimeout) as raised:
                scorer.score_one("Q01", WORST)
            message = f"{place}the pattern '(a+)+$' takes longer than 0.05 s on one answer: {WHY}"
            assert str(raised.value) == message


@needs_timers
def test_the_limit_restores_timer_and_handler():
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


@needs_timers
def test_other_threads_have_no_limit():
    def handler():
        with pattern_time_limit(0.05):
            return signal.getsignal(signal.SIGALRM)

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(handler).result() == signal.getsignal(signal.SIGALRM)


@needs_timers
def test_a_run_whose_answers_take_too_long_fails_and_the_others_are_scored(tmp_path):
    for name, answer in (("a", "aaaa"), ("b", WORST), ("c", "aaa!")):
        make_run(tmp_path / name, [json.dumps({"question": "Why?", "answer": answer})])
    scoring = RunScorer(suite=suite_with("(a+)+$"), pattern_seconds=0.05)
    outcomes = list(scoring.score(find_runs([tmp_path])))
    assert [outcome.status for outcome in outcomes] == ["scored", "failed", "scored"]
    assert outcomes[1].error.startswith(f"{tmp_path / 'b' / 'trials.jsonl'}: question Q01: the pattern '(a+)+$' takes")
    assert [(tmp_path / name / "result.json").exists() for name in "abc"] == [True, False, True]
