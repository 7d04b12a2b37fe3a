"""`pfgen-fast discern` as users type it: sources, evaluators, formats, files, and bad input."""

import csv
import json
import os
import re
from pathlib import Path

import pytest
from cli.discern_commands import KINDS, begin_work, cells, one_error, rows_of, run, write_lines
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
    assert run(call, *usual)[0] == 0
    assert {row["metric"] for row in cells()} == {"fluency", "truthfulness", "helpfulness", "average"}
    assert n_texts() == {16}
    assert run(call, *usual, "--per-question", 3, "--items", 11)[0] == 0
    assert n_texts() == {11}
    assert "expected only with COLLECTION" in run(call, *usual, "--language", "ja")[2]


# Evaluators


def test_a_table_of_texts_that_were_written_and_scored_by_hand(call):
    run(call, *SCORE)
    expected = [{**row, "evaluator": ""} for row in cells()]
    code, out, _ = call("discern", "perturb", "texts.jsonl", "-o", "damaged.csv", "--kinds", KINDS)
    assert (code, out.splitlines()[-1]) == (0, "48 texts of 12 items: damaged.csv")
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
    assert result.startswith("the weights (assumed) are for fluency, ")
    Path("mine.py").write_text("def score(items, texts):\n    raise SystemExit('scored')\n", encoding="utf-8")
    Path("w.csv").write_text("task,perturbation,metric,weight\nanswers,negat,same,1\n", encoding="utf-8")
    result = one_error(run(call, source, *SCORE[1:], "--weights", "w.csv"))
    assert result.startswith("w.csv, line 2: unknown kind 'negat'; expected one of negate, ")


def test_a_plan_of_the_paper_needs_a_model_for_some_kinds(call):
    usual = ("texts.jsonl", "-e", "metrics", "--plan", "SummEval")
    assert one_error(run(call, *usual, kinds=None)).startswith("--maker is missing: ")
    assert run(call, *usual, kinds="char_delete,char_typo")[0] == 0
    assert {(row["kind"], row["degree"]) for row in cells()} == {
        (kind, degree) for kind in ("char_delete", "char_typo") for degree in ("minor", "major")
    }


# kinds


def test_kinds_shows_a_text_damaged(call):
    code, out, err = call("discern", "kinds", "--kind", "char_typo/3%", "Ice floats.")
    assert (code, err) == (0, "")
    kind, _, original, damaged = out.splitlines()[1:]
    assert kind == "char_typo  character  characters mistyped  1, 3, 7, 15, 30 %"
    assert original == "original       Ice floats."
    assert re.fullmatch(r"char_typo 3 %  .*(\[-.+-\]|\{\+.+\+\}).*", damaged)
    assert len(call("discern", "kinds", "--kind", "char_delete", "Ice floats on water.")[1].splitlines()) == 9


def test_kinds_says_what_is_wrong(call):
    message = "char_typo/x: expected a degree such as 3% or k5, not 'x'"
    assert message in call("discern", "kinds", "--kind", "char_typo/x", "a b")[2]
    assert one_error(call("discern", "kinds", " \n")) == "TEXT is empty: expected a text with more than white space"
    assert one_error(call("discern", "kinds", "--language", "de")) == "--language de: expected ja or en"
    assert call("discern", "kinds", "--kind", "pronoun")[0] == 2


def test_all_kinds_are_listed_with_examples(call):
    from pfgen_fast.lab.discernment.kinds import KINDS as ALL

    for arguments in (["--language", "en"], ["--language", "ja"], ["氷は水に浮く。軽いからだ。"]):
        code, out, err = call("discern", "kinds", *arguments)
        assert (code, err) == (0, "")
        assert set(ALL) <= {line.partition(" ")[0] for line in out.splitlines()}


def test_the_terminal_has_one_table_of_the_damage_that_scores_notice(call):
    chosen = "negate,loop,truncate,punctuation"
    code, out, _ = run(call, "--from-suite", "--suite", "mini", "-e", "ngram", kinds=chosen)
    assert code == 0
    title, heads, *lines = out.splitlines()
    assert title == "The lightest damage that each score of ngram notices"
    assert heads.split() == ["damage", "fluency", "truthfulness", "helpfulness", "average"]
    assert max(map(len, (heads, *lines[:4]))) <= 80
    assert re.search(r"negated? +20 % +20 % +never +20 %$", out, re.MULTILINE)
    assert re.search(r"punctuation.*( +penalised){2} +ignored +penalised$", out, re.MULTILINE)
    assert "Not noticed by some score: " in out
    two = "--from-suite", "--suite", "mini", "-e", "ngram", "-e", "python:mine:score"
    _, out, _ = run(call, *two, kinds=chosen)
    assert re.search(r"loop +never +", out, re.MULTILINE)


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
    "key": (("--column", "article=text"), "--column article: expected KEY=COLUMN with one of the keys id, text, "),
    "no column": (("--column", "context"), "--column context: expected KEY=COLUMN "),
    "source": (("--from-suite",), "2 sources of texts: expected one of COLLECTION, --from-run RUN and --from-suite"),
    "no-model": (("-e", "judge"), "--model is missing: "),
    "plan file": (("--plan", "p.toml"), "unknown plan 'p.toml'; expected one of "),
}


@pytest.mark.parametrize("name", BAD_OPTIONS)
def test_a_bad_option_is_one_sentence(call, name):
    options, message = BAD_OPTIONS[name]
    assert message in one_error(run(call, *SCORE, *options, kinds=None))
    assert not Path("out").exists()


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


def test_a_directory_with_the_name_of_a_file_is_refused_by_all_commands_that_write_directories(call):
    for command in ("discern run -e ngram", "experiment sets runs", "generate -e ngram", "sweep a.toml", "annotate"):
        message = "error: page.html: the command writes a directory, not a file of the kind .html\n"
        assert call(*command.split(), "-o", "page.html")[::2] == (2, message), command


def test_a_folder_that_cannot_be_written_to_is_said_before_any_work(call, refused, monkeypatch):
    Path("file").touch()
    assert (
        refused("discern", "run", "texts.jsonl", "-e", "python:mine:stops", "-o", "file/out")
        == f"error: file/out: expected a directory, but {Path('file').absolute()} is a file\n"
    )
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert "is not writable" in one_error(run(call, "texts.jsonl", "-e", "python:mine:stops"))
