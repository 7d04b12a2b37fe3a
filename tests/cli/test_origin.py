"""Which suite each command takes, and what it says of the suite and of the signature of its scores."""

import json
import shutil
from pathlib import Path

import pytest
from makers.fault_server import answering, serving
from makers.runs import make_varied_runs, write_small_suite
from pfgen_fast import Scorer, Suite
from pfgen_fast.runs.run_scorer import RunScorer
from pfgen_fast.runs.trials import find_runs

pytestmark = pytest.mark.usefixtures("undrawn")

ANSWER = "Ice floats because it is less dense than water."


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A checkout with a suite of its own, which has fewer reference answers than the packaged one, and scored runs."""
    folder = tmp_path_factory.mktemp("checkout")
    write_small_suite(folder / "data")
    runs = make_varied_runs(folder / "result", Suite.load(folder / "data"), n_runs=3, n_trials=2)
    assert all(outcome.status == "scored" for outcome in RunScorer().score(find_runs([runs])))
    (folder / "answers.jsonl").write_text(json.dumps({"q": "Q07", "a": ANSWER}) + "\n")
    return folder


@pytest.fixture(scope="module")
def signature(checkout):
    return Scorer(checkout / "data").signature


NGRAM = "-e ngram -n 1 -o {out}/made"
EXPERIMENT = "{result} -o {out}/experiment"
LINES = {
    "score": "--force {result} --output {out}/scores",
    "score --question-column": "q --answer-column a {checkout}/answers.jsonl -o {out}/scored.jsonl",
    "report": "{result} -o {out}/report.html",
    "compare": "{result}/org/model-0/abc {result}/org/model-1/abc",
    "explain": "-q Q07 -a Ice.",
    "score --verify": "{result} --sample 1",
    "generate": NGRAM,
    "sweep": f"{NGRAM} --order 2 --order 3",
    "suite check": "",
    "suite compile": "",
    "experiment relations": EXPERIMENT,
    "experiment sets": EXPERIMENT,
    "experiment stability": f"{EXPERIMENT} --draws 1",
    "experiment agreement": f"{EXPERIMENT} --verdicts {{out}}/scores.csv",
    "discern run": ("--from-run {result}/org/model-0/abc -e ngram --kinds char_delete/300 -o {out}/discernment"),
    "discern perturb": "--from-run {result}/org/model-0/abc --kinds newline -o {out}/damaged.jsonl",
}
"""Each command that takes a suite, with arguments that name none."""

VERBOSE = ["score", "score --question-column", "compare", "score --verify", "sweep"]


def line_of(name, checkout, out):
    (out / "scores.csv").write_text("model,x\n" + "".join(f"org/model-{n},{n}\n" for n in range(3)))
    return f"{name} {LINES[name]}".format(checkout=checkout, result=checkout / "result", out=out).split()


@pytest.mark.slow
@pytest.mark.parametrize("name", LINES)
def test_the_suite_is_that_of_the_checkout_and_is_named(printed, checkout, tmp_path, monkeypatch, signature, name):
    monkeypatch.chdir(checkout / "result" / "org")
    out = printed(*line_of(name, checkout, tmp_path), *(["--verbose"] if name in VERBOSE else []))
    assert str(checkout / "data") in out
    if name in VERBOSE:
        assert f"suite: {checkout / 'data'}\nsignature: {signature}\n" in out
    else:
        assert "signature" not in out


@pytest.mark.slow
@pytest.mark.parametrize("name", LINES)
def test_without_a_checkout_a_suite_must_be_named(call, checkout, tmp_path, monkeypatch, name):
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(checkout, elsewhere, ignore=shutil.ignore_patterns("data"))
    monkeypatch.chdir(elsewhere)
    code, _, err = call(*line_of(name, elsewhere, tmp_path))
    assert code == (3 if name == "score --verify" else 2)  # which tries the other runs
    assert "; name a suite" in err.splitlines()[-1]
    if not name.startswith("suite"):
        code, out, err = call(*line_of(name, elsewhere, tmp_path), "--suite", "mini")
        assert code == (1 if name == "score --verify" else 0), err  # the recorded results are of the other suite
        assert "suite: mini" in out


def test_judge_takes_the_suite_of_the_checkout(call, checkout, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with serving(lambda request: answering(f"[[{1 + len(request.prompt) % 9}]]")) as server:
        arguments = ("-m", "a-judge", "--base-url", server.base_url, "-n", 1, "-o", tmp_path)
        code, out, err = call("experiment", "judge", checkout / "result", *arguments)
    assert code == 0, err
    assert f"suite: {checkout / 'data'}" in out.splitlines()
    assert err.splitlines()[0].startswith("24 of 24 ratings, 24 new in ")


@pytest.mark.parametrize("command", ["compare", "report", "experiment"])
def test_runs_of_different_suites_are_not_taken_for_runs_of_one(call, refused, checkout, tmp_path, command):
    other = tmp_path / "other"
    shutil.copytree(checkout, other)
    shutil.rmtree(other / "data")
    shutil.copytree(Path(Suite.load("mini").folder), other / "data")
    first, second = checkout / "result/org/model-0/abc", other / "result/org/model-1/abc"
    call("score", first, second)
    more = {"compare": [], "report": ["-o", tmp_path / "x.html"], "experiment": ["-o", tmp_path / "x"]}[command]
    names = ["experiment", "relations"] if command == "experiment" else [command]
    assert f"have different suites, {checkout / 'data'} and {other / 'data'}; expected runs on one suite" in refused(
        *names, first, second, *more
    )


def test_prompts_on_stdout_name_a_suite_that_was_found(call, checkout, monkeypatch):
    monkeypatch.chdir(checkout)
    _, out, err = call("prompts")
    assert len(list(map(json.loads, out.splitlines()))) == 8
    assert err == f"note: suite: {checkout / 'data'}\n"
    assert call("prompts", "--suite", "mini")[2] == ""


# Signatures in JSON, and where there is none


def test_json_has_suite_and_signature(call, checkout, tmp_path, signature):
    result = checkout / "result"
    runs = sorted(path.parent for path in result.rglob("trials.jsonl"))
    expected = (str(checkout / "data"), signature)
    lines = {
        "score": ("score", "--force", result),
        "compare": ("compare", *runs[:2]),
        "explain": ("explain", "-q", "Q07", "-a", ANSWER, "-s", checkout / "data"),
        "score --verify": ("score", "--verify", result, "--sample", 1),
        "generate": ("generate", "-e", "ngram", "-n", 1, "-s", checkout / "data", "-o", tmp_path),
    }
    for name, line in lines.items():
        parsed = json.loads(call(*line, "--json")[1])
        for row in parsed if isinstance(parsed, list) else [parsed]:
            assert (row["suite"], row["signature"]) == expected, name


def test_scores_that_are_only_read_have_no_signature(call, checkout, signature, tmp_path):
    """A result.json records neither version nor profile nor sum."""
    result = checkout / "result"
    call("score", result)
    _, out, _ = call("score", result)
    assert f"suite: {checkout / 'data'}" in out.splitlines()
    assert {row["signature"] for row in json.loads(call("score", result, "--json")[1])} == {None}
    rows = json.loads(call("leaderboard", result, "--json")[1])
    suites = {(row["metadata_hash"], row["signature"]) for row in rows}
    assert suites == {(Suite.load(checkout / "data").metadata_hash, None)}
    next(result.rglob("result.json")).unlink()
    _, out, _ = call("score", result, "--verbose")
    assert f"suite: {checkout / 'data'} (1 run)\nsignature: {signature}\n" in out
    assert f"suite: {checkout / 'data'} (2 runs)\n" in out
    _, out, _ = call("score", result, "--profile", "paper", "--float-sum", "naive", "--output", tmp_path, "-v")
    assert "|profile:paper|sum:naive|" in out.splitlines()[-1]
