"""Alternative libraries (peers) on one question, on one thread; each must first give the oracle's results."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from pfgen_fast import Question, Scorer, Suite
from pfgen_fast.oracle import Oracle

from .bench_scoring import each_in_turn
from .figures import Row
from .inputs import QUESTION_ID, Mix, suite_of_one_question
from .measuring import Disagreement, Measure, agree
from .peers.automaton import AUTOMATA, AutomatonScorer, ReferenceSet
from .processes import Work

pytestmark = pytest.mark.benchmark(group="peers")
_COUNTER, _ROUNDS = "scikit-learn", 7
_ENOUGH = 149  # the number of code points of an answer that every side reads


def _imported(name: str) -> Any:
    """A module; None if its library is not installed."""
    try:
        return import_module(name, __package__)
    except ImportError:
        return None


_AUTOMATA = {name: build for name, (module, build) in AUTOMATA.items() if _imported(module)}


@pytest.fixture(scope="module")
def question(sample: Mix, suite: Suite) -> Question:
    """The first of the questions of the sample with the most sets."""
    return max((suite[text] for text in sample.by_question()), key=lambda question: len(question.answers))


@pytest.fixture(scope="module")
def answers(sample: Mix, question: Question) -> list[str]:
    return sample.by_question()[question.question]


_BUILDERS: dict[str, Callable[[tuple[str, ...]], Any]] = {
    name: partial(ReferenceSet, build=build) for name, build in _AUTOMATA.items()
}
if _counter := _imported(".peers.scikit_learn"):
    _BUILDERS[_COUNTER] = _counter.Counts


def test_building_a_set(measure: Measure, question: Question, oracle: Oracle) -> None:
    """Set by set with all sides in turns, after all find the same document frequencies; the mean of all sets."""
    for set_name, table in oracle.tables(question).items():
        for name, build in _BUILDERS.items():
            actual, expected = build(question.answers[set_name]).document_frequencies(), table.document_frequency
            agree(f"document frequencies of {name}, {set_name}", sorted(actual.items()), sorted(expected.items()))
    sets = list(question.answers.values())
    builders = {"pfgen-fast": _core_of_a_set, "oracle": _oracle_of_a_set, **_BUILDERS}
    core, *others = (each_in_turn([partial(build, references) for references in sets]) for build in builders.values())
    times = measure.all_times(len(sets), core, dict(zip([*builders][1:], others, strict=True)))
    mean = {name: sum(side_times) / len(side_times) for name, side_times in zip(builders, times, strict=True)}
    ours = mean["pfgen-fast"]
    measure.row(f"build a set of {len(sets[-1]):,} references: pfgen-fast", ours * 1e3, "ms")
    for name in ("oracle", *AUTOMATA, _COUNTER):
        taken = mean.get(name)
        measure.rows(_beside(name, name, taken and taken * 1e3, "ms", (taken or 0) / ours))


def test_scoring(
    measure: Measure, question: Question, answers: list[str], oracle: Oracle, scorers: Mapping[int, Scorer]
) -> None:
    """In turns with the automata, whose scores equal the oracle's scores."""
    automata = {
        name: AutomatonScorer(question, {part: ReferenceSet(texts, build) for part, texts in question.answers.items()})
        for name, build in _AUTOMATA.items()
    }
    for answer in answers:
        expected = oracle.score_one(question.question_id, answer)
        del expected["fluency_discount"], expected["helpfulness_results"]
        for name, automaton in automata.items():
            agree(f"scores of {name}", automaton.score_one(answer), expected)
    works: dict[str, Work] = {name: partial(_score_each, automaton, answers) for name, automaton in automata.items()}
    core_times, *peer_times = measure.times(_ROUNDS, partial(scorers[1].score, question.question_id, answers), works)
    what = f"score {len(answers)} answers to one question ({len(question.answers)} sets)"
    measure.row(f"{what}: pfgen-fast", len(answers) / core_times, "answers/s")
    times = dict(zip(automata, peer_times, strict=True))
    for name in AUTOMATA:
        taken = times.get(name)
        measure.rows(_beside(name, name, taken and len(answers) / taken, "answers/s", (taken or 0) / core_times))


def test_looking_up(measure: Measure, question: Question, answers: list[str], scratch: Path) -> None:
    """Queries; a query is one code point of an answer against one set."""
    texts = [answer[:_ENOUGH] for answer in answers]
    references = next(iter(question.answers.values()))
    n_queries, kenlm = sum(map(len, texts)), _imported(".peers.kenlm")
    others: dict[str, Work] = {}
    if kenlm:
        model = kenlm.CodePointModel(references, scratch)
        for text in texts:
            if not math.isclose(model.score(text), model.score_plainly(text), rel_tol=1e-4, abs_tol=1e-4):
                raise Disagreement("kenlm: not what the file of the model says")
        others["kenlm"] = lambda: [model.score(text) for text in texts]
    core = partial(_core_of_a_set(references).score, QUESTION_ID, texts)
    core_times, *kenlm_times = measure.times(_ROUNDS, core, others)
    rate, taken = n_queries / core_times / 1e6, kenlm_times[0] if kenlm_times else None
    what, unit = "kenlm (5 orders, one log probability)", "M queries/s"
    measure.rows(
        Row("look up in one set: pfgen-fast (10 orders, and scores)", rate, "M code points/s"),
        _beside("kenlm", what, taken and n_queries / taken / 1e6, unit, (taken or 0) / core_times),
    )


def _beside(name: str, what: str, value: float | None, unit: str, ratio: float) -> Row:
    """The row of a peer, which may not be installed."""
    if value is None:
        return Row(f"  peer: {what}", None, note=f"{name} is not installed")
    return Row(f"  peer: {what}", value, unit, ratio, "slower than pfgen-fast")


def _core_of_a_set(references: tuple[str, ...]) -> Scorer:
    return Scorer(suite_of_one_question({"A": references}), threads=1)


def _oracle_of_a_set(references: tuple[str, ...]) -> object:
    suite = suite_of_one_question({"A": references})
    return Oracle(suite).tables(suite[QUESTION_ID])


def _score_each(automaton: AutomatonScorer, answers: list[str]) -> None:
    for answer in answers:
        automaton.score_one(answer)
