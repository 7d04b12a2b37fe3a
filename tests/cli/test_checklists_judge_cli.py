"""`pfgen-fast checklists judge` as users type it: costs, refusals, exit codes, and what stays on disk."""

import re

import pytest
from makers.checklists_to_judge import MODEL, N_TASKS, as_judge, honest, judge_command, reply_of, run, suite
from makers.fault_server import refusing
from pfgen_fast.lab.checklists.checklist_runs import Answer
from pfgen_fast.lab.checklists.checklist_suite import write_suite
from pfgen_fast.lab.checklists.judgements import read_judgements

VERSION = f"{MODEL} fp_1"


@pytest.fixture
def runs(tmp_path):
    write_suite(suite(), tmp_path / "suite")
    for name in ("a", "b"):
        run(tmp_path / "runs" / name)
    return tmp_path / "runs"


@pytest.fixture
def judge(call, runs):
    return lambda *options, **more: judge_command(call, runs, *options, **more)[:3]


def rows_of(folder):
    return read_judgements(folder / "judgements.jsonl", suite())


def test_the_answers_of_several_runs_are_judged_and_judgements_follow_again_from_replies(judge, runs):
    code, out, err = judge(behave=honest)
    assert code == 0, err
    assert out.splitlines()[0].startswith("24 ratings; 24 requests of about ")
    assert out.splitlines()[1:] == [f"{name}: 12 of 12 ratings; judged by {VERSION}" for name in ("a", "b")]
    assert err.startswith("24 of 24 replies, 24 new") or err == ""
    assert len(rows_of(runs / "a")) == len(rows_of(runs / "b")) == N_TASKS
    path = runs / "a" / "judgements.jsonl"
    written = path.read_bytes()
    path.unlink()
    code, _, err = judge("--offline")
    assert (code, err, path.read_bytes()) == (0, "", written)
    code, out, err = judge("--offline", model="other-2024-08-06")
    assert code == 3
    assert "a: 0 of 12 ratings; 12 without a reply" in out


def test_a_dry_run_says_the_cost_and_changes_nothing(judge, runs):
    before = sorted(runs.rglob("*"))
    code, out, err = judge("--dry-run", "--prompt-price", "2.5", "--reply-price", "10", behave=refuse_all)
    assert (code, err) == (0, "")
    assert re.fullmatch(
        r"24 ratings; 24 requests of about [\d,]+ tokens, and replies of 98,304 at most: costs up to about 0\.99\n", out
    )
    assert sorted(runs.rglob("*")) == before


def refuse_all(request):
    raise AssertionError("nothing may be asked")


def test_unjudged_answers_and_missing_replies_are_named_and_make_the_exit_code_3(judge, runs):
    code, out, err = judge(behave=lambda r: refusing(500, "no") if "number 3." in r.prompt else honest(r))
    assert code == 3
    assert "a: 11 of 12 ratings; 1 without a reply" in out
    assert err.splitlines()[-1].endswith("run the same command again to continue")
    code, out, err = judge(behave=lambda r: as_judge("no") if "number 3." in r.prompt else honest(r))
    assert code == 3
    assert f"a: 11 of 12 ratings; 1 unjudged after all tries: T03 (form); judged by {VERSION}" in out
    assert err.splitlines()[-1].startswith("error: some answers have no verdicts")
    assert [row.fault for row in rows_of(runs / "a") if row.verdicts is None] == ["form"]


def test_a_budget_is_shared_by_all_runs(judge, runs):
    prices = ("--prompt-price", "100", "--reply-price", "1000", "--budget", "5")
    code, _, err = judge(*prices, behave=honest)
    assert code == 3
    kept = [len((runs / name / "judge-replies.jsonl").read_bytes().splitlines()) for name in ("a", "b")]
    assert re.search(rf"the budget of 5 is used up after {sum(kept)} requests", err)
    assert kept[0]
    assert judge("--budget", "5", "--dry-run")[2].startswith("error: --budget needs prices")


def test_an_impossible_call_is_one_sentence(judge):
    code, _, err = judge("--temperature", "-1", "--dry-run")
    assert (code, err) == (2, "error: temperature: expected a number from 0, not -1.0\n")


def test_names_and_models_of_strangers_are_harmless(judge, runs):
    acting = "\x1b[2J\u202e"
    run(runs / "a", [Answer("T00", acting)])
    code, out, err = judge(behave=lambda r: as_judge(reply_of(r.prompt, r.body["seed"]), model=f"m{acting}"))
    assert code == 0
    assert "judged by m\\u001b[2J\\u202e" in out
    assert acting not in out + err
