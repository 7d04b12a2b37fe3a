"""The commands as users call them: output, exit codes, no tracebacks, no lost data."""

import csv
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from makers.runs import make_run, trial_lines, write_small_suite
from makers.suite_files import forge_question
from pfgen_fast import Scorer
from pfgen_fast.base.mean_interval import mean_interval
from pfgen_fast.report import trying
from pfgen_fast.runs.checkout import run_name
from pfgen_fast.runs.leaderboard import find_results, rank
from pfgen_fast.runs.run_scorer import RunScorer
from pfgen_fast.runs.trials import RunFolder, find_runs
from pfgen_fast.suite import suite_reading as file_hashes


@pytest.fixture
def runs(tmp_path, mini):
    """Two runs of the packaged suite."""
    make_run(tmp_path / "runs/good", trial_lines(mini, 3), {"model": "me/good", "mode": "qa"})
    worse = [json.dumps({**json.loads(line), "answer": "Well."}) for line in trial_lines(mini, 2)]
    make_run(tmp_path / "runs/worse", worse, {"model": "me/worse", "mode": "completion"})
    return tmp_path / "runs"


def test_score_writes_results_and_skips_what_is_current(call, printed, runs):
    out = printed("score", "--suite", "mini", runs / "**" / "go*", runs / "worse")
    names = run_name(runs / "good"), run_name(runs / "worse")
    assert [line.split()[:2] for line in out.splitlines()[1:3]] == [[names[0], "3"], [names[1], "2"]]
    before = {path: path.stat().st_mtime_ns for path in runs.rglob("result.json")}
    assert len(before) == 2
    interval = mean_interval(rank(find_results([runs / "good"]))[0].question_scores)
    assert f" ±{interval.half_width:.4f} " in out
    out = printed("score", "--suite", "mini", runs, "-v")
    assert "2 runs: up to date (result.json has no signature; --force computes it)\n" in out
    assert f" ±{interval.half_width:.4f} " in out
    assert {path: path.stat().st_mtime_ns for path in runs.rglob("result.json")} == before
    (runs / "good/config.json").write_text('{"model": "me/better"}')
    _, out, _ = call("score", "--suite", "mini", runs)
    assert "1 run: replaces a result: config.json (model, mode) changed\n1 run: up to date\n" in out


def test_score_says_why_a_result_is_replaced(call, refused, runs):
    def replaced(*options):
        rows = json.loads(call("score", "--suite", "mini", "--json", *options, runs)[1])
        return [(row["status"], row["replaces"]) for row in rows]

    assert replaced() == [("scored", None), ("scored", None)]
    assert replaced() == [("current", None), ("current", None)]
    (runs / "good/result.json").write_text("{")
    with (runs / "worse/trials.jsonl").open("ab") as file:
        file.write(b"\n")
    (runs / "worse/config.json").unlink()
    reasons = ["it was damaged", "trials, config.json (model, mode) changed"]
    assert replaced() == [("scored", reason) for reason in reasons]
    assert replaced("--force") == [("scored", None), ("scored", None)]
    assert "give --output or --force" in refused("score", "--suite", "mini", runs, "--float-sum", "naive")
    assert call("score", "--suite", "mini", runs, "--float-sum", "naive", "--force")[0] == 0


def test_score_elsewhere_leaves_the_inputs_untouched(printed, runs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (runs / "worse/trials.jsonl").rename(runs / "worse/trial_001.jsonl")
    before = sorted(runs.rglob("*"))
    printed("score", "--suite", "mini", "runs", "--output", "out", "--float-sum", "naive")
    assert sorted(runs.rglob("*")) == before
    assert (tmp_path / "out/runs/good/result.json").is_file()
    assert (tmp_path / "out/runs/worse/result.json").is_file()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("trials.jsonl", b"{", "line 1, column 2: not JSON"),
        ("config.json", b'{"a": ' + b"9" * 5000 + b"}", "column 7: not JSON that can be read: an integer has more"),
    ],
)
def test_a_bad_run_is_named_and_the_others_are_done(call, runs, mini, name, content, message):
    bad = make_run(runs / "bad", trial_lines(mini, 1))
    (bad / name).write_bytes(content)
    (bad / "result.json").write_bytes(b"as it was")
    code, out, err = call("score", "--suite", "mini", runs)
    assert code == 3
    assert str(bad / name) in err
    assert message in err
    assert len(err.splitlines()) == 1
    assert len(out.splitlines()) == 7  # the heads, two runs, what ± means, their suite, and why each loses or gains
    assert (bad / "result.json").read_bytes() == b"as it was"


def test_a_folder_that_cannot_be_read_is_named_and_the_others_are_done(call, runs, mini):
    (run,) = find_runs([runs / "good"])
    outcomes = list(RunScorer(suite=mini).score([RunFolder(runs / "gone", None), run]))
    assert [outcome.status for outcome in outcomes] == ["failed", "scored"]
    assert "gone: cannot be read: No such file or directory" in outcomes[0].error
    if os.geteuid() != 0:  # root reads every folder
        (runs / "locked").mkdir(mode=0)
        code, out, err = call("score", "--suite", "mini", runs)
        assert (code, "runs/good " in out) == (3, True)
        assert f"{runs / 'locked'}: cannot be read: Permission denied" in err


def test_a_full_disk_keeps_the_old_result(runs, mini):
    """A limit on file sizes imitates a full disk: writing past it fails."""
    (runs / "good/result.json").write_bytes(b"old")
    script = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))\n"
        "from pfgen_fast.cli import main; main()"
    )
    command = [sys.executable, "-c", script, "score", "--suite", "mini", str(runs)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 3
    assert "cannot be written: File too large" in run.stderr
    assert (runs / "good/result.json").read_bytes() == b"old"
    assert sorted(path.name for path in (runs / "good").iterdir()) == ["config.json", "result.json", "trials.jsonl"]


def test_leaderboard_in_all_formats(call, runs):
    assert call("leaderboard", runs)[0] == 2  # nothing scored yet
    call("score", "--suite", "mini", runs)
    text = call("leaderboard", runs)[1].splitlines()
    assert [line.split()[:4] for line in text[1:3]] == [["1", "💬", "me/good", "3"], ["2", "🟢", "me/worse", "2"]]
    assert "| 1 | 💬 me/good | 3 | " in call("leaderboard", runs, "--format", "markdown")[1]
    _, markdown, _ = call("leaderboard", runs, "--format", "published")
    rows = markdown.splitlines()
    assert "<code>1</code>" in rows[2]
    assert "💬 me/good" in rows[2]
    assert "🟢 me/worse" in rows[3]
    records = json.loads(call("leaderboard", runs, "--json")[1])
    assert json.loads(call("leaderboard", runs, "--json")[1]) == records
    assert [record["model"] for record in records] == ["me/good", "me/worse"]
    for record in records:
        assert record["score_low"] <= record["score"] <= record["score_high"]
    table = list(csv.DictReader(io.StringIO(call("leaderboard", runs, "--format", "csv")[1])))
    assert table[1]["config_mode"] == "completion"
    assert float(table[0]["score"]) == records[0]["score"]


@pytest.mark.slow
def test_report_writes_a_page_a_folder_or_readmes(call, printed, runs, tmp_path):
    call("score", "--suite", "mini", runs)
    code, out, _ = call("report", "--suite", "mini", runs, "-o", tmp_path / "report.html")
    assert code == 0
    assert "2 runs" in out
    assert "<title>" in (tmp_path / "report.html").read_text(encoding="utf-8")
    (tmp_path / "there.html").mkdir()
    for folder in (tmp_path / "new/report", tmp_path / "there.html"):
        out = printed("report", "--suite", "mini", runs, "-o", folder)
        assert f"2 runs: {folder}\n" in out
        assert (folder / "index.html").is_file()
        assert len(list((folder / "data").iterdir())) == 8 + 2  # questions and runs
    assert call("report", "--suite", "mini", runs, "--markdown")[0] == 0
    assert sorted(path.parent.name for path in runs.rglob("README.md")) == ["good", "worse"]
    page = tmp_path / "page.html"
    for options in (
        (),
        ("-o", tmp_path / "page.pdf"),
        ("-o", tmp_path / "page.md"),
        ("-o", page, "--serve"),
        ("-o", page, "--open"),
    ):
        assert call("report", "--suite", "mini", runs, *options)[0] == 2
    assert not list(tmp_path.glob("page.*"))


@pytest.mark.slow
def test_report_serves_the_results_until_ctrl_c(call, refused, runs):
    assert "no result.json found" in refused("report", "--serve", "--suite", "mini", runs)
    call("score", "--suite", "mini", runs)
    command = [sys.executable, "-m", "pfgen_fast", "report", "--serve", "--suite", "mini", str(runs)]
    served = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        line = served.stdout.readline()
        address, rest = line.split(" ", 1)
        assert rest == "shows 2 results; Ctrl-C ends it\n"
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", address)
        page = b""
        while b"report: 2 runs" not in page:  # it waits until the report is ready
            assert not page or b"location.reload()" in page
            with urllib.request.urlopen(address, timeout=60) as reply:
                page = reply.read()
        assert (b'"data/try-' in page) == trying.MODULE.is_file()  # it scores other answers with the cached index
        served.send_signal(signal.SIGINT)
        assert served.communicate(timeout=60) == ("", "")
        assert served.returncode == 0
    finally:
        served.kill()
        served.wait()


def test_one_result_of_another_suite_does_not_stop_the_others(call, runs, tmp_path):
    call("score", "--suite", "mini", runs)
    path = runs / "worse/result.json"
    path.write_text(path.read_text().replace('"question": "', '"question": "Not: '))
    code, _, err = call("report", "--suite", "mini", runs, "-o", tmp_path / "one.html")
    assert (code, "worse" in err) == (3, True)
    assert "report: 1 run" in (tmp_path / "one.html").read_text(encoding="utf-8")


def test_compare_says_which_run_is_better(call, printed, runs):
    out = printed("compare", "--suite", "mini", runs / "good", runs / "worse")
    assert "A is better by" in out
    same = json.loads(call("compare", "--suite", "mini", runs / "good", runs / "good", "--json")[1])
    assert same["metrics"][0]["difference"] == 0
    assert (same["metrics"][0]["low"], same["metrics"][0]["p_value"]) == (None, 1)
    assert same["verdict"] == "not distinguished: A - B is +0.0000, the same on all 8 questions"
    assert call("compare", "--suite", "mini", runs, runs / "good")[0] == 2


def test_explain_takes_a_score_apart(call, refused, scorer):
    answer = "Ice floats because it is less dense than water. Zebra."
    parsed = json.loads(call("explain", "--suite", "mini", "--question", "Q07", "--answer", answer, "--json")[1])
    assert parsed["scores"] == scorer.score_one("Q07", answer)
    for part in parsed["sets"]:
        total = sum(part["by_order"]) * part["discount"] / part["baseline"]
        assert round(total / 2, 6) == parsed["scores"]["fluency"][part["name"]]
        assert round(part["truthfulness"] / 2, 6) == parsed["scores"]["truthfulness"][part["name"]]
        assert len(part["cover"]) == 12  # words and punctuation
    assert [keyword["position"] for keyword in parsed["keywords"]] == [7, None, None]
    _, out, _ = call("explain", "--suite", "mini", "--question", "Q07", "--answer", answer)
    words = re.findall("^keyword (.*): (missing|met)", out, re.MULTILINE)
    assert words == [("open structure", "missing"), ("9%", "missing"), ("lower density", "met")]
    assert out.index("keyword ") < out.index("best prefix")
    normalised_options = ("--profile", "normalised", "--suite", "mini", "--question", "Q07", "--answer", f"{answer} …")
    parsed = json.loads(call("explain", *normalised_options, "--json")[1])
    assert parsed["scores"] == Scorer("mini", profile="normalised").score_one("Q07", answer)
    assert parsed["normalised"] == "ice floats because it is less dense than water zebra"
    assert parsed["left_out"][-1] == [len(answer) - 1, len(answer) + 2]
    assert f"\n{parsed['normalised']}\n" in call("explain", *normalised_options)[1]
    late = "x " * 110 + "density, hydrogen bonds, 9%"
    out = call("explain", "--suite", "mini", "--question", "Q07", "--answer", late)[1]
    assert "the last keyword ends 17 words over 100, which leaves 0.66 of helpfulness" in out
    assert "best prefix, words" in out
    assert "\n117 words, 247 code points; " in out
    assert "nearest" in refused("explain", "--suite", "mini", "--question", "Q77", "--answer", "")


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return write_small_suite(tmp_path_factory.mktemp("small") / "suite", 20)


def test_verify_agrees_and_names_differences(call, printed, runs, small, tmp_path):
    out = printed("score", "--verify", "--suite", small, runs / "good")
    assert "there is no result.json" in out
    assert call("score", "--verify", "--suite", small, runs / "good", "--junit", "x.xml")[0] == 2
    error = call("score", "--verify", "--suite", small, runs / "good", "--threads", "2")[2]
    assert error.startswith("error: --threads: --verify checks results of runs and writes nothing")
    (tmp_path / "empty.jsonl").touch()
    code, out, err = call("score", "--verify", "--suite", small, tmp_path / "empty.jsonl")
    assert (code, "empty.jsonl: no answers to the questions" in err, out.startswith("0 of 1 run ok")) == (3, True, True)
    call("score", "--suite", small, runs)
    out = printed("score", "--verify", "--suite", small, runs)
    assert "\n2 of 2 runs ok, 40 answers compared\n" in out
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken/trials.jsonl").write_text("{")
    code, out, _ = call("score", "--verify", "--suite", small, runs, tmp_path / "broken")
    assert (code, "\n2 of 3 runs ok, 40 answers compared\n" in out) == (3, True)
    path = runs / "good/result.json"
    path.write_text(path.read_text().replace('"num_trials": 3', '"num_trials": 4'))
    code, out, _ = call("score", "--verify", "--suite", small, runs, "--sample", "2")
    assert code == 1
    assert "result.json differs at num_trials: recorded 4, these inputs give 3" in out


@pytest.fixture
def forgeable(call, runs, small, tmp_path, monkeypatch):
    """The cached file of the suite, after its runs have been scored and verified."""
    monkeypatch.setenv("PFGEN_FAST_CACHE", str(tmp_path / "cache"))
    assert call("score", "--suite", small, runs, "--output", tmp_path / "results")[0] == 0
    assert call("score", "--verify", "--suite", small, runs, "--sample", "2")[0] == 0
    (path,) = (tmp_path / "cache").glob("*.pfgen")
    return path


@pytest.mark.slow
def test_verify_names_the_question_whose_index_is_forged(call, runs, small, forgeable):
    forge_question(forgeable, 6)
    code, out, _ = call("score", "--verify", "--suite", small, runs / "good")
    assert code == 1
    assert (
        f"differs  suite {small}, question Q07: its index is not what the suite's files give; delete {forgeable}" in out
    )
    assert not re.search("question Q0[1-689]", out)
    assert re.search(r"differs .*good: \d of 24 answers differ; the index differs;", out)
    assert ": fluency" in out or "fluency." in out  # the answers that the oracle scores otherwise
    (verdict,) = json.loads(call("score", "--verify", "--suite", small, runs / "good", "--sample", "1", "--json")[1])
    assert not verdict["right"]
    assert len(verdict["index_differences"]) == 1


@pytest.mark.slow
def test_verify_hashes_the_files_itself(call, runs, tmp_path, monkeypatch):
    """The cache remembers the hashes of files; a forged memory would make the index of another suite fit."""
    other = tmp_path / "other"
    shutil.copytree(Path(file_hashes.__file__).parents[1] / "data/mini", other)
    (other / "Q01.json").write_text((other / "Q01.json").read_text(encoding="utf-8").replace("physics", "weather", 1))
    call("score", "--suite", other, runs, "--output", tmp_path / "results")
    hashes = file_hashes.file_hashes(sorted(other.glob("Q*.json")))
    monkeypatch.setattr(file_hashes, "_WORTH_BYTES", 0)
    monkeypatch.setattr(file_hashes, "_remembered", lambda memory, state: hashes)
    code, out, _ = call("score", "--verify", "--suite", "mini", runs / "good", "--sample", "1")
    assert code == 1
    assert re.search("differs  suite mini: its files have the hash [0-9a-f]{40}, not [0-9a-f]{40}", out)


def test_suite_commands(call, make_suite):
    _, out, _ = call("suite", "info", "mini", "--json")
    assert [(row["target"], row["limit"]) for row in json.loads(out)["questions"]] == [(100, 150)] * 8
    row = r"Q07 +3 +A 220 × 113, B 220 × 119 +words +100 +150 +Why does ice float on water\?\n"
    assert re.search(row, call("suite", "info", "mini")[1])
    code, out, err = call("suite", "check", "mini")
    assert (code, out.splitlines()[-1], err) == (0, "mini: 0 errors, 0 warnings", "")
    assert "states" in call("suite", "compile", "mini")[1]
    code, out, err = call("suite", "check", make_suite({"answers": {}, "keywords": [{}]}, {"colour": 1}))
    assert code == 1
    assert len(err.splitlines()) == 3
    assert out.endswith(": 3 errors, 0 warnings\n")
    assert json.loads(call("suite", "check", "mini", "--json")[1])["faults"] == []


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        ("scroe", "score"),
        ("suite chek", "check"),
        ("generate -e opnai -s mini", "openai"),
        ("score run --profile papr", "paper"),
        ("suite info mni", "mini"),
        ("discern run -e ngrm --from-suite --suite mini", "ngram"),
        ("checklists metrics . --suite essays-em", "essays-en"),
    ],
)
def test_a_misspelt_name_comes_with_the_nearest_known_one(refused, arguments, meant):
    err = refused(*arguments.split())
    assert re.search(f"[Dd]id you mean '{meant}'\\?\n$", err)
