import hashlib
import json
import pickle
import signal
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from makers.runs import make_run
from pfgen_fast import PatternTimeout, Question, Rule, Scorer, Suite, SuiteError, TrialsError
from pfgen_fast.oracle import Oracle
from pfgen_fast.runs.run_scorer import RunScorer
from pfgen_fast.runs.trials import find_runs
from pfgen_fast.scoring.score_table import signature_of
from pfgen_fast.suite.compiled import describe_question
from pfgen_fast.suite.keywords import WHY, freeze_rule, pattern_time_limit, regex_searchers
from pfgen_fast.suite.rules import Lengths
from pfgen_fast.suite.suite_reading import find_faults, slow_patterns


def test_questions_are_found_by_id_and_by_text_and_an_unknown_one_names_the_nearest(mini):
    question = mini["Q07"]
    assert question.question_id == "Q07"
    assert mini[question.question] is question
    assert [key in mini for key in ("Q07", question.question, "Q99")] == [True, True, False]
    with pytest.raises(TrialsError, match=r"unknown question 'Q77' in suite mini; nearest: .*'Q07'"):
        mini["Q77"]
    with pytest.raises(TrialsError, match="not int"):
        mini[7]
    for long in ("x" * 30_000_000, "Why does ice " * 2_000_000):  # took a minute and a gigabyte
        with pytest.raises(TrialsError, match=r"unknown question '.{77}\.\.\.' in suite mini; ") as error:
            mini[long]
        assert len(str(error.value)) < 300


def test_questions_have_the_order_of_file_names_and_sets_that_of_the_file(make_suite):
    folder = make_suite(
        {"question_id": "later", "answers": {"S": ["a"], "P": ["b"]}},
        {"question_id": "earlier", "answers": {"R": ["c"], "P": ["d"]}},
    )
    suite = Suite.load(folder)
    assert [question.question_id for question in suite] == ["later", "earlier"]
    assert list(suite["later"].answers) == ["S", "P"]
    assert suite.set_names == ("S", "P", "R")


def test_metadata_hash_is_the_hash_of_the_files_hashes_and_a_byte_order_mark_is_tolerated(make_suite):
    folder = make_suite({}, {})
    digests = [hashlib.sha1(path.read_bytes()).hexdigest() for path in sorted(folder.glob("Q*.json"))]
    assert Suite.load(folder).metadata_hash == hashlib.sha1("".join(digests).encode()).hexdigest()
    path = folder / "Q01.json"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert len(Suite.load(folder)) == 2


SHORT_IN_WORDS = {"target": 1, "limit": 3, "unit": "token", "tokenizer": "words"}
BAD_QUESTIONS = [
    ({"answers": {}}, "at least one set name"),
    ({"answers": {"P": []}}, r"answers\['P'\]: expected a list of at least one"),
    ({"answers": {"P": ["a", None]}}, r"answers\['P'\]\[1\]: expected a string, not NoneType"),
    ({"answers": {"P": ["", ""]}}, "baseline would be 0"),
    ({"question_id": "\ud800"}, "'question_id' .* contains a control character or a lone surrogate"),
    ({"answers": {"a\0": ["b"]}}, "the set name .* contains a control character"),
    ({"question": 7}, "'question': expected a non-empty string, not 7"),
    ({"category": None}, "'category': expected a string"),
    ({"keywords": {"t": "a"}}, "'keywords': expected a list"),
    ({"colour": "red"}, "unknown key 'colour'"),
    ({"keywords": [{}]}, r"keywords\[0\]: expected exactly one of the keys 't', 'and', 'or'; found no such key"),
    ({"keywords": ["a"]}, r"keywords\[0\]: expected an object"),
    ({"keywords": [{"t": "a"}, {"and": []}]}, r"keywords\[1\]\.and: expected a list of at least one rule"),
    ({"keywords": [{"or": [{"t": "("}]}]}, r"keywords\[0\]\.or\[0\]\.t: the pattern '\(' does not compile"),
    ({"keywords": [{"t": 3}]}, r"keywords\[0\]\.t: expected a string, not 3"),
    ({"keywords": [{"t": "a", "importance": 1.5}]}, r"importance: expected a number from 0 to 1, not 1\.5"),
    ({"keywords": [{"t": "a", "importance": True}]}, "importance: expected a number"),
    ({"keywords": [{"t": "a", "name": 1}]}, "name: expected a string"),
    ({"keywords": [{"t": "a", "weight": 1}]}, "unknown key 'weight'"),
    ({"target": 100}, "'target' and 'limit': expected a target of .* in whole numbers, not 100 and None"),
    ({"target": 150, "limit": 150}, "a limit above it and up to 20,000, .* not 150 and 150"),
    ({**SHORT_IN_WORDS, "keywords": [{"t": "hot tea"}, {"t": "tea"}]}, "'hot tea' has a length of 2, above the"),
    ({"target": 1, "limit": 20_001}, "not 1 and 20001"),
    ({"target": True, "limit": 2}, "not True and 2"),
    ({"target": 2, "limit": 4.0}, "not 2 and 4.0"),
    (
        {"target": 2, "limit": 3, "keywords": [{"or": [{"t": "ab"}, {"t": "abc"}]}]},
        "'abc' has a length of 3, above the",
    ),
]


@pytest.mark.parametrize(("changes", "message"), BAD_QUESTIONS)
def test_a_bad_question_is_refused_with_its_file_and_place(make_suite, changes, message):
    with pytest.raises(SuiteError, match=message) as caught:
        Suite.load(make_suite({}, changes))
    assert "Q02.json" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("same", ["question_id", "question"])
def test_duplicate_ids_and_texts_are_refused(make_suite, same):
    folder = make_suite({same: "twice"}, {same: "twice"})
    with pytest.raises(SuiteError, match=r"Q02\.json: the id or text 'twice' is already"):
        Suite.load(folder)


BAD_FILES = [
    (b'{\n"question_id": "Q01"\n"question"}', r"Q01\.json, line 3, column 1: not JSON"),
    (b'{"question_id": ' + b"1" * 5000 + b"}", "Q01.json"),
    (b'{\n"question_id": "\xff"}', r"Q01\.json, line 2: not UTF-8 \(byte 18"),
    (b"[]", "expected a JSON object, not list"),
    (b'{"question_id": "Q01"}', "the key 'question' is missing"),
    (b'{"question_id": "Q01", "question_id": "Q02"}', "the key 'question_id' appears twice"),
    (b"[" * 100_000, "nested too deeply"),
]


@pytest.mark.parametrize(("content", "message"), BAD_FILES)
def test_a_file_without_a_question_is_refused(tmp_path, content, message):
    (tmp_path / "Q01.json").write_bytes(content)
    with pytest.raises(SuiteError, match=message):
        Suite.load(tmp_path)


def test_rules_nested_too_deeply_are_refused(make_suite):
    rule: dict = {"t": "a"}
    for _ in range(32):
        rule = {"and": [rule]}
    with pytest.raises(SuiteError, match="nested more than 32 levels deep"):
        Suite.load(make_suite({"keywords": [rule]}))


def test_a_path_without_a_suite_is_refused(tmp_path):
    with pytest.raises(SuiteError, match=r"no such folder, and no suite of that name \(mini, pfgen-bench\)"):
        Suite.load(tmp_path / "nowhere")
    with pytest.raises(SuiteError, match=r"no question files; expected at least one Q\*\.json"):
        Suite.load(tmp_path)
    (tmp_path / "Q01.json").mkdir()
    with pytest.raises(SuiteError, match=r"Q01\.json: cannot be read"):
        Suite.load(tmp_path)


def test_all_faults_of_a_folder_are_found_at_once(make_suite):
    folder = make_suite({"colour": 1, "keywords": [{"t": "("}, {"or": []}]}, {}, {"question_id": "Q02"})
    (folder / "Q04.json").write_text("{")
    (folder / "Q05.json").symlink_to("nowhere")
    places = [fault.split(": ", 1)[0].rsplit("/", 1)[-1] for fault in find_faults(folder)]
    assert places == [*["Q01.json"] * 3, "Q03.json", "Q04.json, column 2", "Q05.json"]
    assert find_faults("mini") == []


@pytest.mark.parametrize(
    ("patterns", "is_plain"),
    [
        (["", "22回", "a b#c", "<>=!-,:", "改\n行", "\x00"], True),
        ([r"\.", "a|b", "[0-9]", "^a", "a$", "a+", "a*", "a?", "(a)", "a{2}", "."], False),
    ],
)
def test_text_without_regex_syntax_is_plain(patterns, is_plain):
    assert {freeze_rule({"t": pattern}).is_plain_text for pattern in patterns} == {is_plain}


def test_searchers_give_the_end_of_the_leftmost_match():
    rules = (freeze_rule({"or": [{"t": "plain"}, {"t": "b+"}]}), freeze_rule({"t": "c|d"}))
    searchers = regex_searchers(rules, "Q01")
    assert [search("abbab") for search in searchers] == [3, None]


# ---- Patterns that backtrack without bound: `suite check` tries them, and scoring ends after a stated time


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
    created = (question for pattern in [*HARMLESS.split(), "[a]" * 1000] for question in suite_with(pattern))
    assert list(slow_patterns([*created, *mini])) == []


@pytest.mark.slow
@needs_timers
def test_suite_check_warns(call, make_suite):
    folder = make_suite({"answers": {"P": ["氷"] * 100}, "keywords": [{"or": [{"t": "b.*c"}, {"t": "(a+)+$"}]}]})
    code, out, err = call("suite", "check", folder)
    warning = f"question Q01: the pattern '(a+)+$' takes longer than 0.5 s on a test text of 200 characters: {WHY}"
    assert (code, err) == (0, f"warning: {warning}\n")
    assert ": 0 errors, 1 warning\n" in out


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
def test_the_limit_restores_timer_and_handler_and_other_threads_have_none():
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


def test_lengths_are_in_the_hash_the_signature_and_the_compiled_form_unless_they_are_usual(make_suite, mini):
    question = mini["Q07"]
    assert "target" not in describe_question(question)
    assert "target" not in signature_of(mini)
    longer = replace(question, lengths=Lengths(400, 600))
    assert Suite("longer", (longer,)).metadata_hash != Suite("longer", (question,)).metadata_hash
    assert signature_of(Suite("both", (question, longer))).endswith("|orders:1-10|target:100,400|limit:150,600")
    assert pickle.loads(pickle.dumps(longer)).lengths == Lengths(400, 600)
    assert Suite.load(make_suite({"target": 400, "limit": 600}))["Q01"].lengths.look_ahead == 800
