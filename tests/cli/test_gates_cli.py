"""Gates of `score`, `place`, `compare`, and `checklists table` as users type them."""

import json
import re
from xml.etree import ElementTree

import pytest
from makers.own_checklists import own_suite_in, some_runs
from makers.runs import make_run, trial_lines

MINI = ("--suite", "mini")


@pytest.fixture
def good_and_bad(varied):
    return varied / "org/model-0/abc", varied / "org/model-5/abc"


def outcomes(text):
    return [line.split(":")[0] for line in text.splitlines() if line.startswith(("passed:", "failed:", "undecided:"))]


def test_score_has_a_check_for_each_run_and_threshold(call, good_and_bad, tmp_path):
    junit = tmp_path / "new" / "gate.xml"
    line = ("score", *good_and_bad, *MINI, "-o", tmp_path / "out", "--fail-under", "0.5", "--fail-under", "fluency=0.4")
    code, out, _ = call(*line, "--junit", junit)
    assert (code, outcomes(out)) == (1, ["passed", "passed", "failed", "failed"])
    suite = ElementTree.parse(junit).getroot()[0]
    assert (suite.get("name"), suite.get("tests"), suite.get("failures")) == ("pfgen-fast score", "4", "2")
    code, out, err = call(*line, "--json")
    records = json.loads(out)
    assert (code, [[check["outcome"] for check in record["checks"]] for record in records]) == (
        1,
        [["passed"] * 2, ["failed"] * 2],
    )
    assert records[1]["checks"][0]["sentence"].endswith(f"score {records[1]['score']:.4f} is below 0.5")
    code, out, err = call(*line, "--quiet")
    assert (code, out, err.count("failed: ")) == (1, "", 2)
    for recorded in (tmp_path / "out").rglob("result.json"):
        recorded.write_text(re.sub(r'"score": [0-9.]+', '"score": 0.9', recorded.read_text("utf-8"), count=1), "utf-8")
    assert outcomes(call(*line)[1]) == ["passed", "passed", "failed", "failed"]
    written = recorded.stat().st_mtime_ns
    assert call(*line)[0] == 1
    assert recorded.stat().st_mtime_ns == written  # a directory that is read-only has a gate, too
    low = records[0]["score_low"]
    for threshold, expected in ((low, 0), (low + 1e-9, 1)):
        limit = f"score_low={threshold!r}"
        assert call("score", good_and_bad[0], *MINI, "-o", tmp_path / "out", "--fail-under", limit)[0] == expected


def test_a_failed_check_wins_over_a_run_that_cannot_be_scored(call, good_and_bad, tmp_path):
    broken = make_run(tmp_path / "broken", ["{"])
    code, _, err = call("score", good_and_bad[0], broken, *MINI, "-o", tmp_path / "out", "--fail-under", "0.5", "-q")
    assert (code, "error: " in err, "no figures to check" in err) == (3, True, True)
    assert call("score", *good_and_bad, broken, *MINI, "-o", tmp_path / "out", "--fail-under", "0.5")[0] == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "code", "expected"),
    [
        (("--fail-if-worse",), 1, ["failed"]),
        (("--fail-if-worse", "--margin", "0.9"), 0, ["passed"]),
        (("--fail-if-worse", "--margin", "0.9", "--metric", "fluency", "--metric", "score"), 0, ["passed"] * 2),
        (("--fail-if-worse", "--confidence", "0.9999999999"), 0, ["undecided"]),
        (("--fail-if-worse", "--confidence", "0.9999999999", "--undecided", "fail"), 1, ["undecided"]),
        (("--fail-if-worse", "--questions", "Q01,Q02,Q03"), 0, ["undecided"]),
    ],
)
def test_compare_has_a_gate(call, good_and_bad, options, code, expected):
    line = ("compare", *good_and_bad[::-1], *MINI, *options)
    actual, out, _ = call(*line)
    assert (actual, outcomes(out)) == (code, expected)
    actual, out, _ = call(*line, "--json")
    assert (actual, [check["outcome"] for check in json.loads(out)["checks"]]) == (code, expected)
    actual, out, _ = call(*line, "-f", "markdown")
    assert (actual, out.count(f"\n| {expected[0]} | ")) == (code, len(expected))


def test_compare_checks_the_models_of_a_table(call, tmp_path):
    path = tmp_path / "scores.csv"
    rows = [f"i{n},{(n * 7 % 10) / 10 - 0.2},{(n * 7 % 10) / 10},{(n * 3 % 10) / 10 - 0.1}" for n in range(10)]
    path.write_text("item,new,old,older\n" + "\n".join(rows) + "\n", encoding="utf-8")
    assert call("compare", path, "--models", "new,old", "--fail-if-worse")[0] == 1
    assert call("compare", path, "--models", "old,new", "--fail-if-worse", "--undecided", "fail")[0] == 0
    turned = ("--lower-is-better", "score") if "score" in call("compare", path, "--json")[1] else ()
    assert call("compare", path, "--models", "old,new", "--fail-if-worse", *turned)[0] == int(bool(turned))
    code, out, _ = call("compare", path, "--fail-if-worse")
    assert (code, outcomes(out)) == (1, ["failed", "undecided"])


def test_items_and_questions_that_the_first_lost_are_an_error(call, good_and_bad, mini, tmp_path):
    few = make_run(tmp_path / "few", trial_lines(mini)[:1])
    path, junit = tmp_path / "scores.csv", tmp_path / "gate.xml"
    path.write_text("item,new,old\n" + "".join(f"{n},{n % 3 if n < 8 else ''},{n % 3}\n" for n in range(20)))
    runs = few, good_and_bad[0], *MINI
    for line, lost in (((path,), "12 of the 20 items of old"), (runs, "7 of the 8 questions of")):
        for gate in (("--fail-if-worse",), ("--fail-if-worse", "--margin", "0.02", "--undecided", "fail")):
            code, out, _ = call("compare", *line, *gate, "--junit", junit, "--deciding", 0)
            assert (code, f" lacks {lost}" in out, lost in junit.read_text(encoding="utf-8")) == (3, True, True)
        code, out, _ = call("compare", *line, "--fail-if-worse", "--allow-missing")
        assert (code, lost in out) == (0, True)
    assert "--allow-missing: expected with --fail-if-worse" in call("compare", path, "--allow-missing")[2]


def test_place_fails_above_a_rank_and_below_a_percentile(call, varied, tmp_path):
    for path in sorted(varied.glob("org/*/abc")):
        assert call("score", path, *MINI, "-o", tmp_path / "placed", "-q")[0] == 0
    placed = tmp_path / "placed"
    best = next(path.parent for path in placed.rglob("result.json") if "model-0" in str(path))
    line = ("place", best, "--against", placed)
    passes = ("--fail-under", "rank=1", "--fail-under", "percentile=100", "--fail-under", "0.1")
    code, out, _ = call(*line, *passes)
    assert (code, outcomes(out)) == (0, ["passed"] * 3)
    code, out, _ = call(*line, *passes, "--fail-under", "rank=0.5", "--json")
    assert (code, [check["passes"] for check in json.loads(out)[0]["checks"]]) == (1, [True, True, True, False])

    code, _, err = call(*line, tmp_path / "nothing", "--fail-under", "0.1")
    assert (code, err.count("nothing: no such file or folder")) == (3, 1)


def test_place_turns_the_sign_for_models_of_which_less_is_better(call, tmp_path):
    path = tmp_path / "scores.csv"
    rows = [f"i{n},{n % 3},{n % 3 + 1},{n % 3 + 2}" for n in range(9)]
    path.write_text("item,a,b,c\n" + "\n".join(rows) + "\n", encoding="utf-8")
    line = ("place", path, "--models", "a", "--lower-is-better", "score")
    passes = ("1", "score_high=1.9", "rank=1", "percentile=100")
    code, out, _ = call(*line, *(word for limit in passes for word in ("--fail-under", limit)))
    assert (code, outcomes(out)) == (0, ["passed"] * 4)
    code, out, _ = call(*line, "--fail-under", "0.99")
    assert (code, "a: score 1 is above 0.99" in out) == (1, True)
    path.write_text("item,a,b,c\n" + "\n".join([*rows, "i9,,1,2"]) + "\n", encoding="utf-8")
    code, out, _ = call(*line, "--fail-under", "1")
    assert (code, "a: no figures to check: it lacks 1 item that other models have" in out) == (3, True)


def test_checklists_have_gates(call, refused, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    some_runs(tmp_path / "runs", own_suite_in(tmp_path / "suite"))
    line = ("checklists", "table", "runs", "--suite", "suite", "--missing", "zero")
    average = json.loads(call(*line, "--json")[1])["rows"][0]["rescaled"]
    assert call(*line, "--fail-under", "-400", "--fail-under", "average_low=-400")[0] == 0
    code, out, _ = call(*line, "--fail-under", f"average={average}", "--json")
    assert (code, [check["passes"] for check in json.loads(out)["checks"]]) == (1, [True, False, False])
    assert "did you mean 'average'?" in refused(*line, "--fail-under", "avrage=1")
    code, out, _ = call(*line[:-1], "skip", "--fail-under", "-400")
    assert (code, "error: beta: no figures to check: 1 answer left out (1 missing)" in out) == (3, True)
    answers = tmp_path / "runs/alpha/answers.jsonl"
    first = answers.read_text().splitlines(keepends=True)[0]
    for left, n in ((first, 4), ("", 5)):  # judgements of answers that are gone do not count
        answers.write_text(left)
        code, out, _ = call(*line, "--fail-under", "-400")
        assert (code, f"error: alpha: no figures to check: {n} answers left out ({n} stale)" in out) == (3, True)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("compare A B --fail-if-worse --margin -0.1", "--margin: expected a number of at least 0"),
        ("compare A B --fail-if-worse --confidence 95", "confidence 95.0: expected a number between 0 and 1"),
        ("compare A B --difference inf", "--difference: expected a finite number above 0"),
        ("compare A B --margin 0.1", "--margin: expected with --fail-if-worse"),
        ("compare A B --undecided fail", "--undecided: expected with --fail-if-worse"),
        ("compare A B --junit a.xml", "--junit: expected with --fail-if-worse"),
        ("compare A B --fail-if-worse --all-pairs", "--all-pairs: gates check the first run against the others"),
        ("compare A B --fail-if-worse --junit A", "cannot be written: expected a file, not a directory"),
        ("score A --junit a.xml", "--junit: expected with --fail-under"),
        ("score A --fail-under flency=1", "--fail-under: unknown figure 'flency'"),
        ("score a.csv --fail-under 1", "no such option for tables; it is for runs: --fail-under"),
        ("place A --fail-under rnk=1", "did you mean 'rank'?"),
    ],
)
def test_bad_options_are_found_before_any_work(refused, good_and_bad, monkeypatch, tmp_path, line, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("question,answer\na,b\n")
    for name, path in zip("AB", good_and_bad, strict=True):
        (tmp_path / name).symlink_to(path)
    err = refused(*line.split(), *(MINI if line.startswith(("compare", "score")) else ()))
    assert message in " ".join(err.split())


@pytest.mark.parametrize(
    ("start", "escaped"),
    [
        ("::stop-commands::", "\\u003a:stop-commands::"),
        ("##[error]", "\\u0023#[error]"),
        ("a ##vso[task.complete]", "a \\u0023#vso[task.complete]"),
    ],
)
def test_a_hostile_item_is_no_command_of_a_log(call, tmp_path, start, escaped):
    rows = [f"{start}{item},{model},{score}" for item in range(6) for model, score in (("a", item), ("b", 3.5))]
    (tmp_path / "scores.csv").write_text("\n".join(("item,model,score", *rows)) + "\n", encoding="utf-8")
    code, out, _ = call("compare", tmp_path / "scores.csv", "--fail-if-worse")
    assert (code, out.count(escaped), re.search(r"##(vso)?\[", out)) == (0, 6, None)
    assert [line[:10] for line in out.splitlines() if line.lstrip().startswith("::")] == []
