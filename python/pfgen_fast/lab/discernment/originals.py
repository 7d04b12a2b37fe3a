"""Originals of the task `answers`: good answers to a suite's questions, from a run or from the suite itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha1
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from ...base.errors import DiscernmentError, SuiteError
from ...base.untrusted_text import few_names
from ...runs.aggregation import trials_of
from ...runs.trials import Trials, find_runs
from ...suite.questions import Question
from ...suite.suite import Suite
from ...suite.suite_reading import SAMPLES_FILE
from ..evaluators.evaluator import language_of
from .discernment_items import MIN_ITEMS, Collection, CollectionItem
from .names import unknown

Source = Literal["samples", "references"]
SOURCES: tuple[Source, ...] = ("samples", "references")
"""The sources in a suite: the sample answers of humans, or reference answers."""

N_ANSWERS = 2
"""The number of answers to each question; 50 questions give 100 answers, the number of the paper's tests."""


def from_run(path: str | Path, suite: Suite, *, per_question: int = N_ANSWERS) -> Collection:
    """Takes the first answers of a run to each question of a suite; the path is that of its folder or file of trials.

    Blank answers are skipped.
    """
    runs = find_runs([path])
    if len(runs) > 1:
        raise DiscernmentError(f"{path}: {len(runs)} runs, such as {runs[0].folder}; expected one run")
    trials = trials_of(suite, Trials.of(runs[0]))
    answers = {
        question: _first(map(trials.answers.__getitem__, rows), per_question)
        for question, rows in trials.rows_by_question.items()
    }
    return Collection(_items(suite, answers, _samples(suite)), str(path), _fewer(suite, answers, per_question))


def from_suite(suite: Suite, source: Source | None = None, *, per_question: int = N_ANSWERS) -> Collection:
    """Takes answers of a suite.

    Args:
        suite: The suite.
        source: The answers to take; by default the sample answers of humans, or reference answers if there are too few.
        per_question: The number of answers to each question. Sample answers are in the order of the file. Reference
            answers of all sets are in the order of their hashes, because sets are often sorted.

    Example:
        >>> from pfgen_fast import Suite
        >>> collection = from_suite(Suite.load("mini"))
        >>> len(collection), collection.items[0].id, collection.name
        (16, 'Q01-1', 'reference answers of suite mini')
    """
    if source not in (None, *SOURCES):
        raise unknown("source of originals", source, SOURCES)
    samples = _samples(suite)
    answers = {question: _first(texts, per_question) for question, texts in samples.items()}
    n_samples = sum(map(len, answers.values()))
    if source == "samples" or (source is None and n_samples >= MIN_ITEMS):
        if not n_samples:
            raise SuiteError(f"suite {suite.name}: no sample answers to its questions in {SAMPLES_FILE}")
        name, references, per_question = f"sample answers of suite {suite.name}", {}, 1
    else:
        answers = {question.question: _first(_by_hash(question), per_question) for question in suite}
        name, references = f"reference answers of suite {suite.name}", samples
    return Collection(_items(suite, answers, references), name, _fewer(suite, answers, per_question))


def known_originals(suite: Suite, collection: Collection) -> tuple[str, ...]:
    """A note for n-gram scores by a suite, if originals are among its reference answers."""
    n_known = 0
    for question, texts in _by_question(suite, collection).items():
        known = {text for answers in suite[question].answers.values() for text in answers}
        n_known += sum(text in known for text in texts)
    if not n_known:
        return ()
    return (
        f"{n_known} of {len(collection)} originals are reference answers of suite {suite.name}, which its n-gram "
        "scores count; --leave-out removes them from the suite before scoring.",
    )


def without_originals(suite: Suite, collection: Collection) -> Suite:
    """Removes the originals of a collection from the reference answers; returns the suite itself if there are none."""
    texts = _by_question(suite, collection)
    questions = [_without(question, set(texts.get(question.question, ()))) for question in suite]
    if all(new is old for new, old in zip(questions, suite, strict=True)):
        return suite
    for question in questions:
        for set_name, left in question.answers.items():
            if not left:
                raise SuiteError(
                    f"suite {suite.name}, question {question.question_id}: the originals are all reference answers of "
                    f"set {set_name}, so the set would be empty"
                )
    return Suite(f"{suite.name} without the originals", tuple(questions), derived_from=suite.metadata_hash)


def _first(texts: Iterable[str], n: int) -> list[str]:
    if n < 1:
        raise DiscernmentError(f"answers to each question: expected at least 1, not {n}")
    return list(islice((text for text in texts if text and not text.isspace()), n))


def _samples(suite: Suite) -> dict[str, list[str]]:
    """The sample answers by question; empty if the suite has no file of sample answers."""
    answers: dict[str, list[str]] = {}
    folder = (suite.whole or suite).folder
    if folder is not None and (folder / SAMPLES_FILE).exists():
        for sample in suite.samples:
            if sample.question in suite:
                answers.setdefault(sample.question, []).append(sample.answer)
    return answers


def _by_hash(question: Question) -> list[str]:
    texts = dict.fromkeys(text for texts in question.answers.values() for text in texts)
    return sorted(texts, key=lambda text: sha1(text.encode("utf-8", "surrogatepass")).digest())


def _by_question(suite: Suite, collection: Collection) -> dict[str, list[str]]:
    texts: dict[str, list[str]] = {}
    for item in collection.items:
        if item.question is not None and item.question in suite:
            texts.setdefault(suite[item.question].question, []).append(item.text)
    return texts


def _items(
    suite: Suite, answers: Mapping[str, Sequence[str]], good: Mapping[str, Sequence[str]]
) -> tuple[CollectionItem, ...]:
    """Makes an item of each answer; other good answers to its question are its references."""
    return tuple(
        CollectionItem(
            f"{question.question_id}-{number}",
            text,
            "answers",
            language_of(text),
            question=question.question,
            references=tuple(sample for sample in good.get(question.question, ()) if sample != text),
        )
        for question in suite
        for number, text in enumerate(answers.get(question.question, ()), start=1)
    )


def _fewer(suite: Suite, answers: Mapping[str, Sequence[str]], per_question: int) -> tuple[str, ...]:
    """A note on questions that have too few answers."""
    few = [question.question_id for question in suite if len(answers.get(question.question, ())) < per_question]
    if not few:
        return ()
    counted = f"fewer than {per_question} answers that are not blank" if per_question > 1 else "only blank answers"
    return (f"Of {len(suite)} questions, {len(few)} have {counted}: {few_names(few, 5)}.",)


def _without(question: Question, texts: set[str]) -> Question:
    answers = {
        name: tuple(answer for answer in group if answer not in texts) for name, group in question.answers.items()
    }
    if all(len(answers[name]) == len(group) for name, group in question.answers.items()):
        return question
    return replace(question, answers=MappingProxyType(answers))
