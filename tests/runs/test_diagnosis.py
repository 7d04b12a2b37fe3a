"""Diagnoses: causes of made runs, losses that add up, and the plain computation of the rule from the answers."""

import json
import random
import re
from dataclasses import replace
from functools import cache
from itertools import pairwise

import pytest
from makers.runs import make_run
from pfgen_fast import Rule, Scorer, Suite, diagnose
from pfgen_fast.runs.loss_figures import CAUSES
from pfgen_fast.runs.run_result import read_result
from pfgen_fast.runs.run_scorer import RunScorer
from pfgen_fast.runs.trials import find_runs

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


@cache
def good_answers(question_id):
    """The best references, which meet all rules."""
    texts = MINI[question_id].answers["A"]
    scores = Scorer(MINI).score(question_id, texts)["average"]
    return [texts[row] for row in sorted(range(len(texts)), key=lambda row: -scores[row])[:N_TRIALS]]


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
        for trial in range(N_TRIALS)
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


@pytest.mark.parametrize("cause", DAMAGES)
def test_the_loss_of_a_known_damage_is_that_of_its_cause(runs, cause):
    diagnosis = diagnose(runs[2][cause], runs[2]["good"], suite=MINI)
    print(diagnosis.table.to_text())
    losses = {row.cause: row.loss for row in diagnosis.causes}
    assert losses[cause] == pytest.approx(diagnosis.loss, rel=0.1)
    assert losses[cause] > 0.02


CHANGES = {"late": lambda text: f"{text[:118]}ZQ。", "short": lambda text: f"ZQ{text[:40]}。"}


@pytest.mark.parametrize("change", CHANGES)
def test_length_takes_the_loss_by_a_late_keyword_and_by_short_answers(tmp_path, change):
    """In a suite whose keyword is in no reference, so that its place does not matter to the wording."""
    questions = [replace(question, keywords=(Rule("t", pattern="ZQ"),)) for question in MINI if is_japanese(question)]
    suite = Suite("late", tuple(questions))
    texts = {question.question_id: good_answers(question.question_id) for question in suite}
    texts = {name: [first + second for first, second in pairwise([*own, own[0]])] for name, own in texts.items()}
    good = {name: [f"ZQ{text[:98]}" for text in own] for name, own in texts.items()}
    changed = {name: list(map(CHANGES[change], own)) for name, own in texts.items()}
    results = [scored(tmp_path / name, own, suite) for name, own in (("changed", changed), ("good", good))]
    diagnosis = diagnose(*results, suite=suite)
    losses = {row.cause: row.loss for row in diagnosis.causes}
    assert losses["length"] >= 0.9 * diagnosis.loss > 0.02
    assert all(abs(loss) < 0.15 * diagnosis.loss for cause, loss in losses.items() if cause != "length")


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
