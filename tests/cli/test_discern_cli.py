"""`pfgen-fast discern` as users type it: sources, evaluators, formats, files, and bad input."""

import csv
import json
import math
import os
import re
from pathlib import Path

import pytest
from cli.discern_commands import KINDS, begin_work, cells, one_error, rows_of, run, tables, write_lines
from makers.hostile import NAMES, acting
from makers.runs import make_run, trial_lines
from pfgen_fast.cli.discern.run import DiscernRun

SCORE = ("texts.jsonl", "-e", "python:mine:score")


@pytest.fixture(autouse=True)
def _at_work(tmp_path, monkeypatch):
    begin_work(tmp_path, monkeypatch)


# Sources and formats


def n_texts():
    """How many texts each perturbation has or could not have."""
    return {int(row["n_items"]) + int(row["n_impossible"]) for row in cells()}


def test_from_a_run(call, mini, tmp_path):
    make_run(tmp_path / "run", trial_lines(mini, 3), {"model": "me/good"})
    usual = ("--from-run", "run", "--suite", "mini", "-e", "ngram")
    code, _, err = run(call, *usual)
    assert (code, "are reference answers of suite mini" in err) == (0, True)
    assert {row["metric"] for row in cells()} == {"fluency", "truthfulness", "helpfulness", "average"}
    assert n_texts() == {16}
    with_them = cells()
    code, _, err = run(call, *usual, "--leave-out")
    assert (code, "are reference answers" in err) == (0, False)
    assert [row["mean_original"] for row in cells()] != [row["mean_original"] for row in with_them]
    assert run(call, *usual, "--per-question", 3, "--items", 11)[0] == 0
    assert n_texts() == {11}


# Evaluators


def test_a_table_of_texts_that_were_written_and_scored_by_hand(call):
    run(call, *SCORE)
    expected = [{**row, "evaluator": ""} for row in cells()]
    code, out, _ = call("discern", "perturb", "texts.jsonl", "-o", "damaged.csv", "--kinds", KINDS)
    assert (code, out) == (0, "48 texts of 12 items: damaged.csv\n")
    original = {row["id"]: row["text"] for row in rows_of()}
    with open("damaged.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        text = original[row["item"]]
        same = sum(a == b for a, b in zip(text, row.pop("text"), strict=False)) / len(text)
        row |= {"metric": "same", "score": same}
    write_lines("scores.jsonl", rows)
    assert run(call, "texts.jsonl", "-e", "table:scores.jsonl", kinds=None)[0] == 0
    assert [{**row, "evaluator": ""} for row in cells()] == expected
    assert run(call, "texts.jsonl", "-e", "table:scores.jsonl", "--lower-is-better", "same", kinds=None)[0] == 0
    assert {row["share_higher"] for row in cells() if row["kind"] == "char_delete"} == {"1"}


# Weights, the paper


def test_weights_assumed_and_of_votes(call):
    usual = (write_lines("qa.jsonl", rows_of(task="answers", question="Q07")), "--suite", "mini", "-e", "ngram")
    code, _, err = run(call, *usual, "--weights", "assumed")
    assert (code, "assumed weights: no expert was asked" in err) == (0, True)
    rows = [
        f"{voter},answers,{kind},{'fluency' if voter < 4 else 'truthfulness'}"
        for voter in range(5)
        for kind in ("char_delete", "negate")
    ]
    Path("survey.csv").write_text("voter,task,perturbation,metric\n" + "\n".join(rows) + "\n", encoding="utf-8")
    code, out, err = call("discern", "votes", "survey.csv", "-o", "weights.csv")
    assert (code, err) == (0, "")
    assert out.startswith("answers: 5 voters, 2 kinds of damage, agreement (Fleiss' kappa) ")
    assert out.endswith("weights: weights.csv\n")
    code, _, err = run(call, *usual, "--weights", "weights.csv")
    assert (code, "assumed" in err) == (0, False)
    assert [bool(row["weighted_d"]) for row in cells("perturbations")] == [True, True, False]


def test_weights_that_do_not_fit_are_said_before_anything_is_scored(call):
    source = write_lines("qa.jsonl", rows_of(task="answers", question="Q07"))
    result = one_error(run(call, source, "-e", "metrics", "--weights", "assumed"))
    assert result.startswith("evaluator metrics, task answers: the weights (assumed) are for fluency, ")
    Path("mine.py").write_text("def score(items, texts):\n    raise SystemExit('scored')\n", encoding="utf-8")
    Path("w.csv").write_text("task,perturbation,metric,weight\nanswers,negat,same,1\n", encoding="utf-8")
    result = one_error(run(call, source, *SCORE[1:], "--weights", "w.csv"))
    assert result.startswith("w.csv, line 2: unknown kind 'negat'; expected one of negate, ")


def test_a_plan_of_the_paper_beside_published_figures(call):
    Path("read.csv").write_text("dataset,model,score,value\nSummEval,GPT4-Turbo,d_average,2.5\n", encoding="utf-8")
    usual = ("texts.jsonl", "-e", "metrics", "--plan", "SummEval")
    result = one_error(run(call, *usual, kinds=None))
    assert result.startswith("--maker is missing: ")
    assert "--rules-only" in result
    code, _, err = run(call, *usual, "--rules-only", "--published", "read.csv", kinds=None)
    assert code == 0
    assert "No language model damages texts: term_swap stands in for fictional_entity" in err
    assert len({(row["kind"], row["degree"]) for row in cells()}) == 12
    assert "GPT4-Turbo" in "".join(content.decode() for content in tables().values())


# collect, kinds, votes


def test_a_data_set_becomes_a_collection_with_held_out_donors(call):
    rows = [
        {"doc": i, "good": [f"Ice {i} floats.", f"Ice {i} does not sink in lake {i}, and floats."]} for i in range(30)
    ]
    write_lines("data.jsonl", [*rows, {"doc": "short", "good": ["Ice."]}])
    how = ("collect", "data.jsonl", "--column", "id=doc", "--column", "references=good", "--task", "summarization")
    assert "no item is left for donors" in one_error(call("discern", *how, "--donors", "d.jsonl", "-o", "c.jsonl"))
    same = one_error(call("discern", *how, "--donors", "./c.jsonl", "-o", "c.jsonl"))
    assert "-o and --donors: expected two different files" in same
    assert "data.jsonl: is the data set itself; expected another file" in one_error(
        call("discern", *how, "-o", "./data.jsonl")
    )
    code, out, err = call("discern", *how, "--items", 20, "--min-length", 10, "--donors", "donors.csv", "-o", "c.jsonl")
    assert (code, out) == (0, "20 of 30 items: c.jsonl\n10 donors: donors.csv\n")
    assert "1 of 31 items left out: no text of at least 10 characters" in err
    code, *_ = run(call, "c.jsonl", "-e", "metrics", "--donors", "donors.csv", kinds="answer_swap,char_delete/300")
    assert (code, n_texts()) == (0, {20})


def test_kinds_shows_a_text_damaged(call):
    code, out, err = call("discern", "kinds", "--kind", "char_typo/30", "Ice floats.")
    assert (code, err) == (0, "")
    first, second = out.splitlines()
    assert first.split() == ["char_typo/30", "Ice", "floats."]
    assert "[" in second
    code, out, _ = call("discern", "kinds", "--kind", "char_delete/k2", "Ice floats.")
    assert (code, out.split()[0]) == (0, "char_delete/k2")
    code, out, _ = call("discern", "kinds", "Ice floats on water. It is light.")
    assert code == 0
    assert {"negate/1000", "answer_swap", "identity"} & {line.split()[0] for line in out.splitlines() if line.strip()}


def test_kinds_says_what_is_wrong(call):
    message = "char_typo/x: expected a degree such as 30 (per mille) or k5, not 'x'"
    assert one_error(call("discern", "kinds", "--kind", "char_typo/x", "a b")).startswith(message)
    assert one_error(call("discern", "kinds", " \n")) == "TEXT is empty: expected a text with more than white space"


def test_kinds_are_listed_with_examples(call):
    from pfgen_fast.lab.discernment.kinds import KINDS as ALL

    for language in ("en", "ja"):
        code, out, err = call("discern", "kinds", "--language", language)
        assert (code, err) == (0, "")
        assert set(ALL) <= {line.split()[0] for line in out.splitlines()}
    assert call("discern", "kinds", "--kind", "newline")[1].splitlines()[1].startswith("newline (control)")
    assert one_error(call("discern", "kinds", "--language", "de")) == "--language de: expected ja or en"
    assert call("discern", "kinds", "--kind", "pronoun")[:2] == (2, "")


def test_the_terminal_has_one_table_of_the_damage_that_scores_notice(call):
    chosen = "negate,loop,truncate,punctuation"
    code, out, _ = run(call, "--from-suite", "--suite", "mini", "-e", "ngram", kinds=chosen)
    assert code == 0
    assert re.search("^damage +fluency +truthfulness +helpfulness +average$", out, re.MULTILINE)
    assert re.search(r"negated? +20 % +20 % +no \(\S+\) +20 %$", out, re.MULTILINE)
    assert re.search(r"punctuation.*( +penalised \(\S+\)){2} +no \(0.0\) +penalised \(\S+\)$", out, re.MULTILINE)
    two = "--from-suite", "--suite", "mini", "-e", "ngram", "-e", "python:mine:score"
    _, out, _ = run(call, *two, kinds=chosen)
    assert re.search(r"loop +no \(\S+\) +", out, re.MULTILINE)
    assert max(map(len, out[out.index("damage  ") :].splitlines()[:6])) <= 80


@pytest.mark.slow
def test_the_examples_of_the_help_work_as_typed_with_texts_that_have_no_task(call):
    write_lines("texts.jsonl", [{"id": row["id"], "text": row["text"]} for row in rows_of()])
    examples = re.findall("pfgen-fast (discern run (?:texts|--from-suite).*)", DiscernRun.__doc__)
    assert len(examples) == 3
    for example in examples:
        assert call(*example.split())[0] == 0, example
    assert "runs/none: no such file or folder" in one_error(run(call, "--from-run", "runs/none", "-e", "ngram"))
    assert "no task in column 'task'; expected a task, or one for all items (--task)" in one_error(run(call, *SCORE))


# Bad input


BAD_OPTIONS = {
    "source": (("--from-suite",), "2 sources of texts: expected one of COLLECTION, --from-run RUN and --from-suite"),
    "donors": (("--donors", "none.jsonl"), "none.jsonl: "),
    "column": (("--column", "text=nothing"), "nothing"),
    "no-model": (("-e", "judge"), "--model is missing: "),
}


@pytest.mark.parametrize("name", BAD_OPTIONS)
def test_a_bad_option_is_one_sentence(call, name):
    options, message = BAD_OPTIONS[name]
    assert message in one_error(run(call, *SCORE, *options, kinds=None))
    assert not Path("out").exists()


def test_a_text_may_be_among_its_references_if_an_option_says_so(call):
    write_lines("self.jsonl", [{**row, "references": [row["text"]]} for row in rows_of()])
    assert "its text is one of its references" in one_error(run(call, "self.jsonl", "-e", "metrics"))
    assert run(call, "self.jsonl", "-e", "metrics", "--allow-self-reference")[0] == 0


# Hostile names and texts, long ones, and the machine


def test_hostile_texts_and_ids_are_harmless_wherever_they_are_shown(call):
    task = "a\x1b[2J\u202e\nb"
    rows = [{"id": name, "text": f"Ice floats{name} in lake {n}.", "task": task} for n, name in enumerate(NAMES[:14])]
    write_lines("hostile.jsonl", rows)
    write_lines("twice.jsonl", [rows[11], rows[11]])
    for expected, *arguments in (
        (0, "run", "hostile.jsonl", "-e", "python:mine:restless", *SCORE[1:], "-o", "out", "--kinds", KINDS),
        (0, "kinds", "--kind", "char_delete/k3", "\x1b[2Jabc def \u202e\udcff"),
        (2, "run", "twice.jsonl", "-e", "metrics", "-o", "other"),
        (0, "perturb", "hostile.jsonl", "-o", "p.jsonl", "--kinds", "char_delete/30"),
    ):
        code, out, err = call("discern", *arguments)
        assert (code, acting(out + err)) == (expected, set())
    written = map(json.loads, Path("p.jsonl").read_bytes().splitlines())
    assert {line["item"] for line in written} == {row["id"] for row in rows}


def test_a_folder_that_cannot_be_written_to_is_said_before_any_work(call, monkeypatch):
    Path("file").touch()
    code, _, err = call("discern", "run", "texts.jsonl", "-e", "python:mine:stops", "-o", "file/out")
    assert (code, err) == (2, f"error: file/out: expected a directory, but {Path('file').absolute()} is a file\n")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert "is not writable" in one_error(run(call, "texts.jsonl", "-e", "python:mine:stops"))


def test_metrics_say_beforehand_how_long_they_take(call, monkeypatch):
    from pfgen_fast.lab.evaluators.ngram_evaluator import MetricsEvaluator

    usual = ("texts.jsonl", "-e", "metrics")
    monkeypatch.setattr(MetricsEvaluator, "expected_seconds", lambda self, items, n_texts: n_texts * 2.5)
    _, _, err = run(call, *usual, "--dry-run")
    assert err == "note: metrics takes about 2 min 0 s for 48 texts\n"
    assert run(call, *usual, "--quiet") == (0, "", "")
    assert math.isfinite(float(cells()[0]["d"]))
    monkeypatch.setattr(MetricsEvaluator, "expected_seconds", lambda self, items, n_texts: 1.0)
    assert "takes about" not in run(call, *usual)[2]
