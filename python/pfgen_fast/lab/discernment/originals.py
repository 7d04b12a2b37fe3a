"""Makes collections of answers to a suite's questions: the answers of a run, of humans, or reference answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha1
from itertools import islice
from pathlib import Path

from ...base.errors import DiscernmentError
from ...base.untrusted_text import few_names
from ...runs.aggregation import trials_of
from ...runs.trials import Trials, one_run
from ...suite.questions import language_of
from ...suite.suite import Suite
from ...suite.suite_reading import SAMPLES_FILE
from .discernment_items import MIN_ITEMS, Collection, CollectionItem

N_ANSWERS = 2
"""The number of answers to each question; 50 questions give 100 answers, the number of the paper's tests."""


def from_run(path: str | Path, suite: Suite, *, per_question: int = N_ANSWERS) -> Collection:
    """Takes the first answers of a run to each question of a suite; the path is that of its folder or file of trials.

    Blank answers are skipped.
    """
    trials = trials_of(suite, Trials.of(one_run(path)))
    answers = {question: map(trials.answers.__getitem__, rows) for question, rows in trials.rows_by_question.items()}
    return _collection(suite, answers, _samples(suite), per_question, str(path))


def from_suite(suite: Suite, *, per_question: int = N_ANSWERS) -> Collection:
    """Takes the sample answers of humans to each question of a suite, or reference answers if there are too few.

    Sample answers are in the order of the file. Reference answers of all sets are in the order of their hashes, because
    sets are often sorted.

    Example:
        >>> from pfgen_fast import Suite
        >>> collection = from_suite(Suite.load("mini"))
        >>> len(collection), collection.items[0].id, collection.name
        (16, 'Q01-1', 'reference answers of suite mini')
    """
    samples = _samples(suite)
    if sum(min(per_question, len(texts)) for texts in samples.values()) >= MIN_ITEMS:
        return _collection(suite, samples, {}, per_question, f"sample answers of suite {suite.name}", wanted=1)
    references: dict[str, list[str]] = {}
    for question in suite:
        texts = {text for texts in question.answers.values() for text in texts}
        by_hash = sorted(texts, key=lambda text: sha1(text.encode("utf-8", "surrogatepass")).digest())
        references[question.question] = by_hash
    return _collection(suite, references, samples, per_question, f"reference answers of suite {suite.name}")


def _samples(suite: Suite) -> dict[str, list[str]]:
    """The sample answers by question; empty if the suite has no file of sample answers."""
    answers: dict[str, list[str]] = {}
    folder = (suite.whole or suite).folder
    if folder is not None and (folder / SAMPLES_FILE).exists():
        for sample in suite.samples:
            if sample.question in suite:
                answers.setdefault(sample.question, []).append(sample.answer)
    return answers


def _collection(
    suite: Suite,
    answers: Mapping[str, Iterable[str]],
    good: Mapping[str, Sequence[str]],
    per_question: int,
    name: str,
    *,
    wanted: int | None = None,
) -> Collection:
    """Makes an item of each of the first answers; other good answers to its question are its references.

    A note names the questions with fewer answers than `wanted`, by default `per_question`.
    """
    wanted = wanted or per_question
    if per_question < 1:
        raise DiscernmentError(f"answers to each question: expected at least 1, not {per_question}")
    items: list[CollectionItem] = []
    few: list[str] = []
    for question in suite:
        texts = (text for text in answers.get(question.question, ()) if text and not text.isspace())
        own = [
            CollectionItem(
                f"{question.question_id}-{number}",
                text,
                "answers",
                language_of(text),
                question=question.question,
                references=tuple(sample for sample in good.get(question.question, ()) if sample != text),
            )
            for number, text in enumerate(islice(texts, per_question), start=1)
        ]
        items += own
        few += [question.question_id] if len(own) < wanted else []
    note = f"Of {len(suite)} questions, {len(few)} have fewer than {wanted} answers that are not blank"
    return Collection(tuple(items), name, (f"{note}: {few_names(few, 5)}.",) if few else ())
