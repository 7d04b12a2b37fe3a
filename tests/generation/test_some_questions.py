"""Runs of some questions: the same prompts and answers as in a run of all, in a separate folder, and no result."""

from __future__ import annotations

import json

import pytest
from pfgen_fast.generation.generating import Generation
from pfgen_fast.runs.trials import Trials

NGRAM = ("generate", "--engine", "ngram", "--suite", "mini", "--trials", "2")


def folder_of(out):
    return out.splitlines()[0].split(": ")[1]


def answers(folder):
    trials = Trials.read(f"{folder}/trials.jsonl.xz")
    return set(zip(trials.questions, trials.answers, strict=True))


def test_some_questions_are_a_separate_run_however_they_are_named(call, mini, tmp_path):
    _, all_of_them, _ = call(*NGRAM, "-o", tmp_path)
    code, some, err = call(*NGRAM, "-o", tmp_path, "--questions", "Q01,Q02")
    assert code == 0
    assert some.startswith("4 new answers: ")
    assert "  (2 of 8 questions)\n" in some
    assert "note: a score of some questions is not a result of the suite" in err
    whole, part = folder_of(all_of_them), folder_of(some)
    assert whole != part
    assert sorted(path.parent for path in tmp_path.rglob("result.json")) == [tmp_path.joinpath(whole)]
    names = {mini["Q01"].question, mini["Q02"].question}
    assert answers(part) == {(question, answer) for question, answer in answers(whole) if question in names}
    assert json.loads((tmp_path / part / "config.json").read_text())["questions"] == ["Q01", "Q02"]
    for options, folder in (
        (("--limit", "2"), part),
        (("--questions", "Q0[12]"), part),
        (("--questions", "Q*"), whole),
    ):
        _, again, _ = call(*NGRAM, "-o", tmp_path, *options)
        assert again.startswith("0 new answers: ")
        assert folder_of(again) == folder
    code, _, err = call(*NGRAM, "-o", tmp_path / "other", "--questions", "Q7")
    assert (code, err) == (2, "error: unknown question 'Q7' in suite mini; nearest: 'Q07'\n")
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("engine", ["ground-truth", "reference", "replay"])
def test_stored_answers_serve_some_questions(mini, tmp_path, engine):
    rows = [{"question": question.question, "answer": "So."} for question in mini]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    options = {"input": tmp_path / "in.jsonl"} if engine == "replay" else {}
    generation = Generation.of(engine, model="me", options=options)
    made = generation.run(mini.only(["Q07"]), trials=1, output=tmp_path / "result")
    assert Trials.of(made.run).questions == [mini["Q07"].question]
