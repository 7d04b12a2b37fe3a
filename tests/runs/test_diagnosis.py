"""Diagnoses: causes of made runs, losses that add up, and the plain computation of the rule from the answers."""

import json
import math
import random
import re
import shutil
from dataclasses import replace
from functools import cache
from itertools import pairwise
from math import prod
from statistics import fmean

import numpy as np
import pytest
from makers.runs import make_run, write_small_suite
from pfgen_fast import Rule, Scorer, Suite, diagnose
from pfgen_fast.oracle import Oracle, position_and_name
from pfgen_fast.runs import diagnosis as diagnosis_module
from pfgen_fast.runs.loss_figures import (
    CAUSES,
    FAULTS,
    _weights,
    diagnosis_figures,
    median_figures,
    question_losses,
)
from pfgen_fast.runs.result_tables import published
from pfgen_fast.runs.run_result import parse_result, read_result
from pfgen_fast.runs.run_scorer import RunScorer
from pfgen_fast.runs.trials import find_runs
from pfgen_fast.suite.published import NAMES_BY_HASH

N_TRIALS = 5  # all of them are recorded
MINI = Suite.load("mini")
LATIN = "The reason is a matter of physics, and it takes a long time to explain it to a curious child."


def keyword_spans(question, answer):
    patterns = [leaf.pattern for rule in question.keywords for leaf in rule.leaves()]
    return sorted({match.span() for pattern in patterns for match in re.finditer(pattern, answer)})


def without_keyword(question, answer):
    """The answer with another character in one keyword, whose wording counts least."""
    texts = [
        answer[:place] + "○" + answer[place + 1 :]
        for begin, end in keyword_spans(question, answer)
        for place in range(begin, end)
    ]
    scores = Scorer(MINI).score(question.question_id, texts)
    return texts[max(range(len(texts)), key=lambda row: (-scores["helpfulness"][row], scores["average"][row]))]


def shuffled(question, answer):
    """The answer with the characters between its keywords in another order; it ends as before."""
    ends = [0, *(place for span in keyword_spans(question, answer) for place in span), len(answer) - 1]
    pieces = [answer[begin:end] for begin, end in pairwise(ends)]
    pieces[::2] = ["".join(random.Random(0).sample(piece, len(piece))) for piece in pieces[::2]]
    return "".join(pieces) + answer[-1]


def is_japanese(question):
    return not question.question.isascii()


def looped(question, answer):
    return answer[:20] + answer[20:30] * 8


DAMAGES = {
    "empty": lambda question, answer: " ",
    "language": lambda question, answer: LATIN if is_japanese(question) else answer,
    "loop": looped,
    "cut": lambda question, answer: answer[: max(25, len(answer) // 2)].rstrip("。.、 "),
    "keywords": without_keyword,
    "wording": shuffled,
}
LATE = Suite("late", tuple(replace(q, keywords=(Rule("t", pattern="ZQ"),)) for q in MINI if is_japanese(q)))
"""A suite whose keyword is in no reference, so that its place does not matter to the wording."""


@cache
def good_answers(question_id, n=N_TRIALS):
    """The best references; the first ones meet all rules."""
    texts = MINI[question_id].answers["A"]
    scores = Scorer(MINI).score(question_id, texts)["average"]
    return [texts[row] for row in sorted(range(len(texts)), key=lambda row: -scores[row])[:n]]


def answers_of(damage, every):
    """Good answers by question ID, of which every so manieth has the damage."""
    damaged = [trial % every == every - 1 for trial in range(N_TRIALS)]
    return {
        question.question_id: [
            damage(question, answer) if is_damaged else answer
            for answer, is_damaged in zip(good_answers(question.question_id), damaged, strict=True)
        ]
        for question in MINI
    }


def scored(folder, answers, suite=MINI):
    """The result of a run with these answers by question ID."""
    lines = [
        json.dumps({"question": suite[name].question, "answer": texts[trial]})
        for trial in range(len(next(iter(answers.values()))))
        for name, texts in answers.items()
    ]
    make_run(folder, lines, {"model": folder.name})
    [outcome] = RunScorer(suite=suite, threads=1).score(find_runs([folder]))
    assert outcome.error is None
    return read_result(outcome.path)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A good run, and for each cause one with its damage: faults in every fifth answer, the others in all."""
    folder = tmp_path_factory.mktemp("result")
    everywhere = ("keywords", "wording")
    answers = {cause: answers_of(damage, 1 if cause in everywhere else 5) for cause, damage in DAMAGES.items()}
    answers["good"] = answers_of(lambda question, answer: answer, 1)
    return folder, answers, {name: scored(folder / name, texts) for name, texts in answers.items()}


@pytest.mark.parametrize("n_trials", [10, 20])
@pytest.mark.parametrize("cause", [*DAMAGES, "length"])
def test_the_loss_of_a_random_damage_is_that_of_its_cause(tmp_path, cause, n_trials):
    """Of answers that differ in score; with more trials than are recorded, the figures are those of all answers."""
    generator, suite = random.Random(f"{cause} {n_trials}"), LATE if cause == "length" else MINI
    damage, good, changed = DAMAGES.get(cause, lambda question, text: f"{text[2:118]}ZQ。"), {}, {}
    for question in suite:
        texts = generator.sample(good_answers(question.question_id, 40), n_trials)
        if cause == "length":
            texts = [f"ZQ{first}{second}" for first, second in pairwise([*texts, texts[0]])]
        good[question.question_id] = texts
        changed[question.question_id] = [damage(question, text) if generator.random() < 0.4 else text for text in texts]
    for name, answers in (("changed", changed), ("good", good)):
        scored(tmp_path / name, answers, suite)
    diagnosis = diagnose(tmp_path / "changed", tmp_path / "good", suite=suite)
    row = diagnosis.causes[CAUSES.index(cause)]
    assert 0.015 < row.loss == pytest.approx(diagnosis.loss, rel=0.1)
    assert diagnosis.n_answers == n_trials * len(suite)
    if cause in FAULTS:
        n = sum(text != before for name in good for text, before in zip(changed[name], good[name], strict=True))
        assert (row.answers, row.share) == (n, pytest.approx(n / diagnosis.n_answers))
        assert f" in {n} of {n_trials * len(suite)} answers " in diagnosis.sentence()
        for name in ("changed", "good"):
            (tmp_path / name / "trials.jsonl").unlink()
        estimated = diagnose(tmp_path / "changed", tmp_path / "good", suite=suite)
        assert estimated.causes[CAUSES.index(cause)].loss == pytest.approx(diagnosis.loss, rel=0.1)
        assert estimated.n_answers == 5 * len(suite)


def test_the_losses_of_any_two_runs_add_up_and_a_run_loses_nothing_to_itself_without_faults(runs):
    results = runs[2]
    for name, result in results.items():
        for other in results.values():
            diagnosis = diagnose(result, other, suite=MINI)
            assert [row.cause for row in diagnosis.causes] == [*CAUSES]
            assert sum(row.loss for row in diagnosis.causes) == pytest.approx(diagnosis.loss, abs=1e-12)
            assert diagnosis.loss == pytest.approx(other.scores.average - result.scores.average, abs=1e-4)
        if name in ("good", "keywords", "wording"):
            assert [row.loss for row in diagnose(result, result).causes] == pytest.approx([0] * len(CAUSES), abs=1e-5)


def plain_losses(oracle, question, answers, faults, reference):
    """The rule of docs/diagnosis.md for a question all of whose answers are known, in plain steps."""
    scores = [oracle.score_one(question.question_id, answer) for answer in answers]
    rows = []
    for answer, parts, fault in zip(answers, scores, faults, strict=True):
        fluency, truthfulness = sum(parts["fluency"].values()), sum(parts["truthfulness"].values())
        positions = [(rule, position_and_name(rule, answer, lambda end: end)[0]) for rule in question.keywords]
        kept = prod([1 - rule.importance for rule, position in positions if position == 9999])
        n = question.n_units(answer)
        longer = min(fluency * 100 / n, max(1, fluency)) if 0 < n < 100 else fluency
        rows.append((fault, parts["average"], fluency, truthfulness, kept, parts["helpfulness"], longer))
    others = [row for row in rows if row[0] is None]
    mean = fmean(row[1] for row in others) if others else reference.score
    losses = dict.fromkeys(CAUSES, 0.0)
    for fault, score, *_ in rows:
        if fault is not None:
            losses[fault] += (mean - score) / len(rows)
    if others:
        columns = list(zip(*others, strict=True))
        fluency, truthfulness, kept, helpfulness, longer = map(fmean, columns[2:])
        short, late = longer - fluency - reference.short, kept - helpfulness - reference.late
        losses["length"] = (short + late) / 3
        losses["keywords"] = (reference.helpfulness + reference.late - kept) / 3
        losses["wording"] = (reference.fluency + reference.truthfulness + reference.short - truthfulness - longer) / 3
    losses["other"] = reference.score - fmean(row[1] for row in rows) - sum(losses.values())
    return losses


def test_the_losses_are_those_of_the_plain_rule_on_answers_with_all_damages(tmp_path):
    suite = Suite.load(write_small_suite(tmp_path / "suite", n_answers=20))
    generator, names = random.Random(1), [*DAMAGES, "length", "none", "none"]
    damages = {
        **DAMAGES,
        "length": lambda q, text: good_answers(q.question_id)[0][:50] + text,
        "none": lambda q, text: text,
    }
    answers, faults = {}, {}
    for question in suite:
        plain, chosen = good_answers(question.question_id), [generator.choice(names) for _ in range(N_TRIALS)]
        texts = [damages[name](question, text) for name, text in zip(chosen, plain, strict=True)]
        answers[question.question_id] = texts
        faults[question.question_id] = [
            name if text != before and name in FAULTS else None
            for name, text, before in zip(chosen, texts, plain, strict=True)
        ]
    figures = diagnosis_figures(scored(tmp_path / "run", answers, suite), suite)
    shuffled_figures = diagnosis_figures(scored(tmp_path / "other", answers_of(shuffled, 2), suite), suite)
    other, oracle = median_figures([figures, shuffled_figures]), Oracle(suite)
    for question in suite:
        name = question.question_id
        expected = plain_losses(oracle, question, answers[name], faults[name], other[name])
        assert question_losses(figures[name], other[name]) == pytest.approx(expected, abs=2e-5)
    assert {fault for own in faults.values() for fault in own} == {None, *FAULTS}


def test_a_command_explains_the_loss_of_a_run(runs, call):
    folder = runs[0]
    code, out, _ = call("explain", folder / "language", "--against", folder / "good", "--suite", "mini", "--json")
    content = json.loads(out)
    losses = {cause["cause"]: cause["loss"] for cause in content["causes"]}
    assert code == 0
    assert [*losses] == [*CAUSES]
    assert sum(losses.values()) == pytest.approx(content["loss"])
    assert (content["causes"][1]["answers"], content["causes"][1]["share"]) == (6, pytest.approx(0.15))
    sentence = "Loses 0.136 to good: 0.138 in 6 of 40 answers not in Japanese."
    assert content["sentence"].replace(f"{folder.parent.name}/{folder.name}/", "") == sentence
    out = call("explain", folder / "language" / "result.json")[1]  # the packaged suite by its hash, and the run itself
    assert f"the median of {len(DAMAGES) + 1} runs: 0.051 by keywords, 0.042 by wording" in out
    assert "loses 0.138 in 6 of 40 answers not in Japanese" in out
    assert re.search(r"cause +change .*\nlanguage +-0\.138 +█", out, re.IGNORECASE)
    assert re.search(r"\nkeywords +\+0\.051 +░+ +– ", out)  # a gain has no answers that lose
    assert f"the median of {len(DAMAGES) + 1} runs: in {folder}, for each question" in out
    best = json.loads(call("explain", folder / "empty", "--against", "best", "--json")[1])
    assert best["reference_score"] == pytest.approx(runs[2]["good"].scores.average, abs=1e-4)


def test_a_broken_result_beside_a_run_is_left_out(runs, call, tmp_path):
    folder = shutil.copytree(runs[0], tmp_path / "result")
    sentence = call("explain", folder / "empty")[1]
    (folder / "broken").mkdir()
    (folder / "broken/result.json").write_text("{")
    code, out, err = call("explain", folder / "empty")
    assert (code, out, err.count("\n")) == (3, sentence, 1)
    assert re.search(r"broken/result\.json, .*: not JSON", err)


def test_figures_that_are_not_numbers_leave_out_their_question_or_answer(runs):
    result = runs[2]["empty"].to_dict()
    result["questions"]["Q01"]["scores"]["average"] = None
    result["questions"]["Q03"]["score"] = math.nan
    for sample in result["questions"]["Q02"]["samples"][1:]:
        sample["scores"]["helpfulness"] = math.nan
    diagnosis = diagnose(parse_result(result, "x"), runs[2]["good"], suite=MINI)
    assert (diagnosis.n_questions, diagnosis.causes[0].answers) == (6, 5)
    assert sum(cause.loss for cause in diagnosis.causes) == pytest.approx(diagnosis.loss)


def test_a_run_without_a_reference_is_one_sentence(runs, call, tmp_path):
    alone = shutil.copytree(runs[0] / "good", tmp_path / "alone" / "run")
    code, _, err = call("explain", alone)
    assert (code, err.count("\n")) == (2, 1)
    assert "no other result of the suite of" in err
    assert "expected a run or a directory of runs to compare with (--against)" in err
    for words in (["explain"], ["explain", alone, "-q", "Q01"], ["explain", "-q", "Q01", "--against", "best"]):
        assert call(*words)[0] == 2


def test_score_says_why_a_run_of_the_published_suite_loses(runs, call, monkeypatch, tmp_path):
    folder = shutil.copytree(runs[0], tmp_path / "result")
    of_median = "Loses 0.011 to the median of 7 runs: 0.182 in 8 of 40 answers that are empty; gains 0.051 by keywords"
    assert of_median in call("score", "--suite", "mini", folder / "empty")[1]
    outcomes = json.loads(call("score", "--suite", "mini", folder / "empty", folder / "good", "--json")[1])
    assert of_median in outcomes[0]["diagnosis"]["sentence"]
    good = {name: list(own[:6]) for name, own in diagnosis_figures(runs[2]["good"], MINI).items()}
    content = {"metadata_hash": MINI.metadata_hash, "n_runs": 1, "best_run": "x", "median": good, "best": good}
    monkeypatch.setattr(diagnosis_module, "_published", lambda: content)
    line = "Loses 0.180 to the median: 0.182 in 8 of 40 answers that are empty.\n"
    assert call("score", "--suite", "mini", folder / "empty")[1].endswith(line)
    assert f"result/empty: {line}" in call("score", "--suite", "mini", folder / "empty", folder / "good")[1]
    assert "Loses" not in call("score", "--suite", "mini", folder / "empty", "--quiet")[1]


@pytest.mark.parametrize("n_trials", [1, 2, 5, 6, 9, 10, 100])
def test_an_answer_between_two_recorded_ones_counts_in_part_for_both(n_trials):
    places = sorted({round(share * (n_trials - 1)) for share in (0, 0.25, 0.5, 0.75, 1)})
    scores = [random.Random(place).random() for place in places]
    all_scores = np.interp(range(n_trials), places, scores)
    weighted = sum(weight * score for weight, score in zip(_weights(n_trials, len(places)), scores, strict=True))
    assert weighted == pytest.approx(all_scores.mean())


def test_the_packaged_references_are_those_of_the_published_table():
    content, entries = diagnosis_module._published(), published()
    best = next(entry for entry in entries if entry.name == content["best_run"])
    assert content["n_runs"] == len(entries)
    assert content["metadata_hash"] == best.result.metadata_hash == next(iter(NAMES_BY_HASH))
    assert best.result.score == max(entry.result.score for entry in entries)
    assert {name: row[0] for name, row in content["best"].items()} == best.by_question
    for name, row in content["median"].items():
        assert row[0] == pytest.approx(np.median([entry.by_question[name] for entry in entries]), abs=1e-5)
