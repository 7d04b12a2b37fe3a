"""Untrusted results: any result.json is either shown or rejected in one sentence that names file and location."""

from __future__ import annotations

import copy
import json
import random
import re

import pytest
from makers.runs import make_run, trial_lines
from pfgen_fast import TrialsError
from pfgen_fast.files.untrusted_json import MAX_DEPTH
from pfgen_fast.report import ReportRun, write_readme, write_report
from pfgen_fast.report.safe_runs import check_run
from pfgen_fast.runs.aggregation import evaluate
from pfgen_fast.runs.leaderboard import rank, to_csv, to_html, to_json, to_markdown
from pfgen_fast.runs.result import encode, parse_result, read_result, read_scores
from pfgen_fast.runs.trials import find_runs

N_MUTATIONS = 250


@pytest.fixture(scope="module")
def good(tmp_path_factory, mini, scorer):
    """The decoded content of a result.json."""
    config = {"model": "org/model", "mode": "qa", "stop": ["Q:", "\n"], "temperature": 1.0}
    (run,) = find_runs([make_run(tmp_path_factory.mktemp("run"), trial_lines(mini, 3), config)])
    return json.loads(encode(evaluate(run, scorer)))


def nested(n):
    value = []
    for _ in range(n):
        value = [value]
    return value


ODD_VALUES = (
    *(None, True, False, 0, -1, 10**400, -(10**400), 2**70, 1e308, 5e-324, float("nan"), float("inf")),
    *("", "0.5", "\ud800\x1b[31m\u202e", "x" * 10_000, "</script>", [], {}, [[]], {"": {}}, [None] * 3, {"a": None}),
    *(nested(MAX_DEPTH // 2), nested(400), {"\ud800\n|": nested(3)}),
)
ODD_TEXTS = (b"", b"\xff", b"[]", b"null", b"{", b"[" * 100_000, b"1" * 5000, b'{"a": ' + b"9" * 5000 + b"}")


def places(value, path=()):
    """The paths of all values within a decoded value, each as a tuple of keys."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        yield from places(part, (*path, key))


def mutated(value, of_level, generator):
    """The value with one to three changes; all depths are equally likely to change."""
    value = copy.deepcopy(value)
    for _ in range(generator.randint(1, 3)):
        path = generator.choice(of_level[generator.choice(sorted(of_level))])
        try:
            holder = value
            for key in path[:-1]:
                holder = holder[key]
            change = generator.choice(["drop", "replace", "replace", "replace", "add"])
            if change == "drop":
                del holder[path[-1]]
            elif change == "replace":
                holder[path[-1]] = generator.choice(ODD_VALUES)
            else:
                holder["new\n'|<b>"] = generator.choice(ODD_VALUES)
        except (LookupError, TypeError):
            continue  # an earlier change removed this path
    return value


@pytest.mark.parametrize("n_mutations", [N_MUTATIONS // 8, pytest.param(N_MUTATIONS, marks=pytest.mark.slow)])
def test_whatever_a_result_holds_is_shown_or_one_sentence_names_the_file(good, tmp_path, mini, n_mutations):
    generator = random.Random(16)
    of_level = {}
    for path in places(good):
        if path:
            of_level.setdefault(len(path), []).append(path)
    texts = [json.dumps(mutated(good, of_level, generator)).encode() for _ in range(n_mutations)]
    path = tmp_path / "bad" / "result.json"
    path.parent.mkdir()
    n_ranked, reported = 0, []
    for content in (*ODD_TEXTS, *texts):
        path.write_bytes(content)
        try:
            entries = rank([path])
            for to_text in (to_markdown, to_json, to_csv, to_html):
                assert to_text(entries)
            n_ranked += 1
        except TrialsError as error:
            assert_names(error, path)
        try:
            run = ReportRun(f"run {len(reported)}", None, read_result(path))
        except TrialsError as error:
            assert_names(error, path)
            continue
        try:
            check_run(run, mini)
        except TrialsError as error:
            assert_names(error, run.name)
            continue
        write_readme(run, mini, tmp_path / "README.md")
        reported.append(run)
    write_report(reported, mini, tmp_path / "report.html")
    for n_shown in (n_ranked, len(reported)):
        assert n_mutations // 10 < n_shown < n_mutations * 9 // 10  # mutations are neither too coarse nor too mild


def assert_names(error, path):
    assert str(error).startswith(str(path))
    assert len(str(error)) < len(str(path)) + 250
    assert not re.search("[\n\x1b\u202e\ud800]", str(error))


Q01 = ("questions", "Q01")


@pytest.mark.parametrize(
    ("keys", "value", "message"),
    [
        ([*Q01, "scores", "fluency"], [1], "questions['Q01'].scores.fluency: expected an object, not a list"),
        ([*Q01, "scores", "fluency", "A"], "1", "questions['Q01'].scores.fluency['A']: expected a number, not '1'"),
        ([*Q01, "samples", 1, "answer"], None, "questions['Q01'].samples[1].answer: expected a string, not null"),
        ([*Q01, "samples"], {}, "questions['Q01'].samples: expected a list, not an object"),
        (["questions"], [], "questions: expected an object, not an empty list"),
        (["scores"], 1, "scores: expected an object, not 1"),
        (["scores"], {}, "scores: the key 'fluency' is missing"),
        (["score"], True, "score: expected a number, not true"),
        (["num_trials"], 10**400, f"num_trials: expected a whole number from 0 to 1e+15, not 1{'0' * 38}…"),
        (["config"], [1], "config: expected an object, not a list"),
        (["config"], {"a": nested(MAX_DEPTH)}, f"config: nested more than {MAX_DEPTH} deep"),
        (["input_hash"], 1, "input_hash: expected a string, not 1"),
    ],
)
def test_a_fault_is_named_with_its_place(good, keys, value, message):
    changed = copy.deepcopy(good)
    holder = changed
    for key in keys[:-1]:
        holder = holder[key]
    holder[keys[-1]] = value
    with pytest.raises(TrialsError) as raised:
        parse_result(changed, "x/result.json")
    assert str(raised.value) == f"x/result.json: not a result: {message}"


def test_scores_can_be_read_beside_samples_that_are_wrong(good, tmp_path):
    path = tmp_path / "result.json"
    path.write_text(json.dumps({**good, "questions": {"Q01": {**good["questions"]["Q01"], "samples": 1}}}))
    summary, scores = read_scores(path)
    assert summary == parse_result(good, "x").summary()
    assert scores == {"Q01": parse_result(good, "x").questions["Q01"].scores}
    with pytest.raises(TrialsError, match=r"questions\['Q01'\]\.samples: expected a list, not 1"):
        read_result(path)


def test_a_result_that_is_read_is_the_one_that_was_written(good):
    assert encode(parse_result(good, "x")) == json.dumps(good, ensure_ascii=False, indent=2).encode()


def test_a_leaderboard_needs_its_numbers(good, tmp_path):
    path = tmp_path / "result.json"
    path.write_text(json.dumps({**good, "score_std": None}))
    with pytest.raises(TrialsError, match=r"result\.json: score_std: a leaderboard needs a finite number here"):
        rank([path])
    problems = []
    assert rank([path], on_problem=problems.append) == []
    assert len(problems) == 1
