"""The float sum of an earlier result is found and kept, so that scoring again changes no byte."""

import json
import re
import shutil

import pytest
from makers import published
from makers.runs import make_run, trial_lines
from pfgen_fast.runs.run_scorer import RunScorer
from pfgen_fast.runs.trials import find_runs


@pytest.fixture
def both_sums(mini, tmp_path):
    """A run for which the two sums give different results, and its result with each."""
    run = make_run(tmp_path / "run", trial_lines(mini, 8), {"model": "me"})
    results = {}
    for float_sum in ("compensated", "naive"):
        (outcome,) = RunScorer(suite=mini, float_sum=float_sum, force=True).score(find_runs([run]))
        assert sum_of(outcome) == float_sum
        results[float_sum] = outcome.path.read_bytes()
    assert results["compensated"] != results["naive"]
    return run, results


def sum_of(outcome):
    return re.search(r"\|sum:(\w+)\|", outcome.signature)[1]


def again(mini, run, **options):
    (outcome,) = RunScorer(suite=mini, float_sum="auto", force=True, **options).score(find_runs([run]))
    return outcome


@pytest.mark.parametrize("float_sum", ["compensated", "naive"])
def test_scoring_again_keeps_the_sum(mini, both_sums, float_sum):
    run, results = both_sums
    (run / "result.json").write_bytes(results[float_sum])
    outcome = again(mini, run)
    assert (sum_of(outcome), outcome.notes) == (float_sum, ())
    assert (run / "result.json").read_bytes() == results[float_sum]


def test_other_parameters_keep_the_sum_and_other_trials_do_not(mini, both_sums):
    run, _ = both_sums
    (run / "config.json").write_text('{"model": "you"}')
    assert sum_of(again(mini, run)) == "naive"
    assert json.loads((run / "result.json").read_bytes())["config"] == {"model": "you"}
    make_run(run, trial_lines(mini, 9))
    assert (sum_of(again(mini, run)), again(mini, run).notes) == ("compensated", ())


def test_results_in_another_folder_have_the_sum_of_the_results_beside_the_trials(mini, both_sums, tmp_path):
    run, results = both_sums
    for _ in range(2):
        outcome = again(mini, run, output=tmp_path / "out")
        assert outcome.path.read_bytes() == results["naive"]
        (run / "result.json").unlink(missing_ok=True)


@pytest.mark.parametrize("earlier", [None, b"", b"[]", b"{}", b'{"input_hash": 1, "metadata_hash": []}'])
def test_without_an_earlier_result_the_sum_is_the_usual_one(mini, both_sums, earlier):
    run, results = both_sums
    (run / "result.json").unlink()
    if earlier is not None:
        (run / "result.json").write_bytes(earlier)
    outcome = again(mini, run)
    assert (sum_of(outcome), outcome.notes) == ("compensated", ())
    assert (run / "result.json").read_bytes() == results["compensated"]


def test_figures_that_neither_sum_gives_are_named(call, both_sums):
    run, results = both_sums
    figures = {**json.loads(results["naive"]), "score": 0.1}
    (run / "result.json").write_text(json.dumps(figures))
    code, _, err = call("score", "--suite", "mini", run, "--force")
    note = f"note: {run}/result.json: neither float sum reproduces its figures; the compensated sum is used\n"
    assert (code, err) == (0, note)
    assert (run / "result.json").read_bytes() == results["compensated"]


def test_a_named_sum_is_the_one_that_is_used(call, both_sums):
    run, results = both_sums
    assert "1 run: up to date" in call("score", "--suite", "mini", run)[1]
    assert call("score", "--suite", "mini", run, "--force", "--float-sum", "compensated")[0] == 0
    assert (run / "result.json").read_bytes() == results["compensated"]


@pytest.mark.slow
def test_verify_takes_a_result_of_either_sum_unless_one_is_named(call, printed, both_sums):
    run, _ = both_sums
    out = printed("score", "--verify", "--suite", "mini", run, "--sample", "1")
    assert "result.json matches these inputs (naive sum)" in out
    code, out, _ = call("score", "--verify", "--suite", "mini", run, "--sample", "1", "--float-sum", "compensated")
    assert code == 1
    assert "matches these inputs with the naive sum, not the compensated one" in out


@pytest.mark.slow
@published.needs_published_runs
def test_scoring_the_published_runs_again_changes_no_byte(call, tmp_path):
    """Nine of the results were made with the one sum, the others with the other or with either."""
    for run in published.runs():
        shutil.copytree(run.folder, tmp_path / run.name)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for options in (("--force",), ("--force", "--float-sum", "auto")):
        code, out, err = call("score", "--suite", published.FOLDER / "data", tmp_path / "result", *options)
        assert (code, err) == (0, "")
        assert "up to date" not in out
        assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
