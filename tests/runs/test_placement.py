"""Runs among the published runs: ranks and verdicts by SciPy, what makes a comparison weaker, and what is refused."""

import json
import math
import shutil
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from makers import effort
from makers.documented import tool
from makers.runs import make_run, results_as_lines, trial_lines
from pfgen_fast import Suite, TrialsError
from pfgen_fast.base.untrusted_text import json_text
from pfgen_fast.runs import result_tables
from pfgen_fast.runs import run_placement as placement
from pfgen_fast.runs.leaderboard import find_results, rank
from pfgen_fast.runs.result_tables import published, quick_questions, read_entries
from pfgen_fast.runs.run_placement import Field, place
from pfgen_fast.runs.run_result import read_result
from pfgen_fast.runs.run_scorer import RunScorer
from pfgen_fast.runs.trials import find_runs
from pfgen_fast.suite.suite import hash_of_cut


@pytest.fixture(scope="module")
def table():
    return published()


@pytest.fixture(scope="module")
def field(table):
    return Field(table)


@pytest.fixture(scope="module")
def scored(tmp_path_factory, varied):
    """Six scored runs of the packaged suite."""
    folder = shutil.copytree(varied, tmp_path_factory.mktemp("scored") / "result")
    assert all(outcome.status == "scored" for outcome in RunScorer(suite=Suite.load("mini")).score(find_runs([folder])))
    return folder


def changed(entry, **config):
    """The same result of another run."""
    result = replace(entry.result, input_hash="other", config={**entry.config, **config})
    return replace(entry, name="our/model/abc", result=result)


@pytest.mark.slow
def test_ranks_and_verdicts_are_those_of_scipy(table, field):
    from scipy.stats import ttest_rel

    scores = np.array([entry.question_scores for entry in table])
    names = [entry.name for entry in table]
    n_tied = 0
    for row, entry in [*enumerate(table)][:: effort.divisor]:
        placement = field.place(entry)
        others = [other for other in range(len(table)) if other != row]
        differences = scores[row] - scores[others]
        with np.errstate(invalid="ignore", divide="ignore"):
            p = ttest_rel(scores[[row]], scores[others], axis=1).pvalue
        p = np.where((differences == differences[:, :1]).all(axis=1), 1.0, p)  # without spread: runs of zeros
        order = np.argsort(p, kind="stable")
        by_holm = np.minimum(1, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
        corrected = dict(zip([names[others[at]] for at in order], by_holm, strict=True))
        actual, expected = zip(*((other.corrected, corrected[other.run]) for other in placement.others), strict=True)
        np.testing.assert_allclose(actual, expected, atol=1e-12)
        means = dict(zip([names[other] for other in others], differences.mean(axis=1), strict=True))
        for other in placement.others:
            is_close, gain = corrected[other.run] > 0.05, means[other.run]
            assert other.verdict == ("not distinguished" if is_close else "better" if gain > 0 else "worse")
        assert placement.rank == 1 + sum(other.result.score > entry.result.score for other in table)
        low, high = placement.ranks
        assert (low, high) == (1 + len(placement.named("worse")), 522 - len(placement.named("better")))
        assert low <= placement.rank <= high <= placement.n_ranked == 522
        n_tied += len(placement.named("not distinguished"))
    assert n_tied > 10_000 // effort.divisor


@pytest.mark.slow
def test_only_unusual_runs_have_notes(table, field):
    entry = next(entry for entry in table if entry.name == "pfnet/plamo-1.0-prime/def2a6f")
    usual = changed(entry, temperature=1.0, top_p=0.98, max_tokens=300)
    placement = field.place(usual)
    assert (placement.n_ranked, placement.notes) == (523, ())
    greedy = field.place(changed(usual, temperature=0, mode="mine")).notes
    assert greedy == ("mode: mine, which no other run has",)
    assert field.place(changed(usual, temperature=0.0)).notes[0].startswith("temperature: 0, but 1 in 14")
    unknown = replace(usual, result=replace(usual.result, config=None, num_trials=1))
    assert [note.split(":")[0] for note in field.place(unknown).notes] == ["1 trial", "mode"]


def test_some_questions_are_compared_alone(table, field):
    entry = changed(table[0])
    few = dict(list(entry.by_question.items())[:20])
    result = replace(entry.result, metadata_hash=hash_of_cut(entry.result.metadata_hash, list(few)))
    placed = replace(entry, by_question=few, result=replace(result, score=round(sum(few.values()) / 20, 4)))
    placement = field.place(placed)
    assert placement.notes[0].startswith("20 of 50 questions: ")
    others = [round(sum(other.by_question[name] for name in few) / 20, 4) for other in table]
    assert placement.rank == 1 + sum(score > placed.result.score for score in others)
    signs = [(other.difference > 0, placed.result.score > other.score) for other in placement.others]
    assert sum(single != two for single, two in signs) < 10  # scores have four digits
    misleading = replace(placed, by_question={**few, "Q99": 1.0}, result=replace(placed.result, score=1.0))
    misleading = replace(misleading, result=replace(misleading.result, metadata_hash=entry.result.metadata_hash))
    assert (field.place(misleading).score, field.place(misleading).rank) == (placement.score, placement.rank)
    five = dict(list(few.items())[:5])
    result = replace(entry.result, metadata_hash=hash_of_cut(entry.result.metadata_hash, list(five)))
    placement = field.place(replace(entry, by_question=five, result=result))
    assert placement.ranks is None  # too few questions for any verdict
    assert json.loads(json_text(placement.to_dict()))["nearest"][0]["corrected"] is None


def test_runs_that_lack_questions_are_not_ranked_by_the_others(table):
    few = dict(sorted(table[-1].by_question.items(), key=lambda item: item[1])[-5:])  # its best questions
    part = replace(changed(table[-1]), by_question=few, result=replace(table[-1].result, input_hash="-", score=1.5))
    placement = Field([*table[:9], part]).place(table[0])
    assert (placement.n_ranked, placement.notes[0]) == (9, "1 run left out, without some of these questions")
    assert [other.run for other in placement.others] == [other.run for other in Field(table[:9]).place(table[0]).others]
    whole = Field([part]).place(table[0])  # on the five questions of the other run
    assert whole.score == pytest.approx(sum(table[0].by_question[name] for name in few) / 5, abs=1e-4)
    assert whole.notes[0].startswith("5 of 50 questions: ")
    apart = Field([replace(part, by_question={"Q1": 0.5}), replace(part, by_question={"Q2": 0.5})])
    with pytest.raises(TrialsError, match="expected at least one other run that has the same questions"):
        apart.place(table[0])


@pytest.mark.slow
def test_a_run_of_another_suite_is_refused(scored):
    with pytest.raises(TrialsError, match=r"model-0/abc: scored with the suite of .*\(--against\)"):
        place(scored / "org/model-0")


def test_runs_are_placed_among_the_users_runs(call, scored, tmp_path):
    placement = place(scored / "org/model-2", against=scored)
    assert (placement.rank, placement.n_ranked) == (3, 6)
    result = read_result(next(scored.glob("org/model-2/*/result.json")))
    assert place(result, against=scored).others == placement.others
    table = tmp_path / "table.jsonl"
    lines = results_as_lines(scored)
    table.write_text("".join(lines), encoding="utf-8")
    own = [rank([path])[0] for path in find_results([scored])]
    assert [entry.by_question for entry in read_entries(table)] == [entry.by_question for entry in own]
    code, out, err = call("place", scored / "org/model-2", "--against", table)
    assert (code, err) == (0, "")
    assert out.startswith("org/model-2/abc: ")
    assert ", rank 3 of 6, between " in out.splitlines()[0]
    table.write_text("".join([*lines[:2], '{"run": 7}\n']), encoding="utf-8")
    problem = f"error: {table}, line 3: not a result: run: expected a string, not 7\n"
    assert call("place", scored, "--against", table)[::2] == (2, problem)
    table.write_text("\n")
    assert "expected lines of JSON" in call("place", scored, "--against", table)[2]
    with pytest.raises(TrialsError, match="contains 6 results; expected one"):
        place(scored, against=scored)


def test_every_output_has_the_same_ranks(call, scored, tmp_path):
    against = "--against", scored
    parsed = json.loads(call("place", scored, *against, "--json")[1])
    ranks = [(item["run"], item["rank"], item["of"]) for item in parsed]
    assert ranks == [(f"org/model-{n}/abc", n + 1, 6) for n in range(6)]
    assert set(parsed[0]) >= {"score", "low", "high", "rank_low", "rank_high", "better_than", "worse_than", "nearest"}
    markdown = call("place", scored, *against, "-f", "markdown")[1]
    assert markdown.count("| run | score |") == 6
    code, out, err = call("place", scored)  # among the published runs
    assert (code, out, err.count("error: org/model-")) == (3, "", 6)


def test_yardsticks_have_no_rank(scored, table, field):
    yardstick = changed(table[0], model="system/ground-truth")
    placement = field.place(yardstick)
    assert (placement.rank, placement.ranks) == (None, None)
    assert placement.figures().endswith("a yardstick without a rank")
    assert Field([*table, yardstick]).place(table[0]).n_ranked == 522
    with pytest.raises(TrialsError, match="no runs to compare with"):
        Field([yardstick])


@pytest.mark.slow
def test_a_leaderboard_takes_the_published_results(call, table):
    rows = json.loads(call("leaderboard", "--published", "--json")[1])
    assert len({row["rank"] for row in rows}) < len(rows) == 522  # equal scores
    for number, (before, row) in enumerate(zip([rows[0], *rows], rows, strict=False), 1):
        assert row["rank"] == number or (row["rank"] == before["rank"] and before["score"] - row["score"] < 2e-4)
    assert "| <code>522</code> |" in call("leaderboard", "--published", "--format", "published")[1]
    assert all(math.isclose(row["score"], row["average"], abs_tol=1e-4) for row in rows)
    assert call("leaderboard")[0] == 2
    yardsticks = json.loads(call("leaderboard", "--yardsticks", "--json")[1])
    assert {row["model"]: row["rank"] for row in yardsticks} == {"system/ground-truth": None, "system/criteria": None}


# ---- The questions of a quick evaluation: how they are chosen, and how a run that has only these is placed


@pytest.fixture(scope="module")
def program():
    return tool("quick_questions")


@pytest.mark.slow
def test_the_packaged_list_is_what_its_program_chooses(program):
    content = json.loads(result_tables.QUICK_FILE.read_text(encoding="utf-8"))
    assert program.quick_questions(published()) == content


def test_a_run_of_the_quick_questions_is_placed_on_these_and_says_what_that_costs():
    quick, entries = quick_questions(), published()
    assert len(quick.questions) == 13
    whole = entries[100]
    few = {name: whole.by_question[name] for name in sorted(quick.questions)}
    score = round(sum(few.values()) / 13, 4)
    cut = hash_of_cut(quick.metadata_hash, list(few))
    result = replace(whole.result, input_hash="other", metadata_hash=cut, score=score)
    placed = Field(entries).place(replace(whole, name="our/run", by_question=few, result=result))
    assert placed.notes[0] == "13 of 50 questions: all runs are ranked and compared on these questions only"
    assert placed.notes[1] == quick.cost()
    means = [round(sum(other.by_question[name] for name in few) / 13, 4) for other in entries]
    assert placed.rank == 1 + sum(mean > score for mean in means)
    assert "Kendall 0.95" in quick.cost()


def test_a_run_of_some_questions_is_scored_when_it_is_placed(call, tmp_path, mini, varied, monkeypatch):
    others = tmp_path / "others"
    call("score", varied, "-s", "mini", "-o", others)
    table = tmp_path / "table.jsonl"
    table.write_text("".join(results_as_lines(others)), encoding="utf-8")
    names = [question.question_id for question in mini][:6]
    some = [line for line in trial_lines(mini, 2) if json.loads(line)["question"] in {mini[n].question for n in names}]
    run = make_run(tmp_path / "run", some, {"model": "me", "mode": "qa", "questions": names})
    whole = make_run(tmp_path / "unscored", trial_lines(mini, 2), {"model": "me"})
    monkeypatch.setattr(placement, "Suite", SimpleNamespace(load=lambda _: mini))
    placed = place(run, table)
    assert placed.notes[0].startswith("6 of 8 questions: ")
    code, out, _ = call("place", run, "--against", table)
    assert (code, f"rank {placed.rank} of 7" in out) == (0, True)
    assert not (run / "result.json").exists()
    with pytest.raises(TrialsError, match=r"unscored: no result\.json found"):
        place(whole, table)
    code, out, err = call("place", whole, run, "--against", table)
    assert (code, ", rank " in out, "no result.json found" in err) == (3, True, True)
