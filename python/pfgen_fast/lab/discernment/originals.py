"""Makes collections: of answers to a suite's questions, or of a data set with several texts for each item.

Rules of data sets: docs/discernment_rules.md, section 9.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha1
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from ...base.errors import DiscernmentError, SuiteError
from ...base.untrusted_text import counted, few_names, in_one_line, utf8
from ...runs.aggregation import trials_of
from ...runs.trials import Trials, find_runs
from ...suite.questions import Question
from ...suite.suite import Suite
from ...suite.suite_reading import SAMPLES_FILE
from ...tables.formats import check_value_table, writing_values
from ..evaluators.evaluator import language_of
from .damage.text_reading import TextReading
from .discernment_items import MIN_ITEMS, Collection, CollectionItem, checked_item, item_rows
from .kinds import unknown

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
        answers = {}
        for question in suite:
            texts = {text for texts in question.answers.values() for text in texts}
            by_hash = sorted(texts, key=lambda text: sha1(text.encode("utf-8", "surrogatepass")).digest())
            answers[question.question] = _first(by_hash, per_question)
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


Choice = Literal["longest", "sentences"]

COLUMNS = ("id", "task", "language", "question", "context", "text", "references", "alternative")
"""The columns of a written collection."""

_SAME = ("task", "language", "question", "context", "alternative")
"""What must be the same in all rows of an item."""


@dataclass(frozen=True)
class Bounds:
    """The allowed lengths of a text, in code points."""

    low: int = 1
    high: int | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.low <= (self.low if self.high is None else self.high):
            raise DiscernmentError(f"lengths from {self.low} to {self.high}: expected two numbers in ascending order")

    def __str__(self) -> str:
        if self.high is None:
            return f"at least {counted(self.low, 'character')}"
        return f"{self.low:,} to {counted(self.high, 'character')}"

    def hold(self, text: str) -> bool:
        """Whether a text has an allowed length."""
        return self.low <= len(text) and (self.high is None or len(text) <= self.high) and not text.isspace()


@dataclass(frozen=True)
class Collected:
    """A collection that was made from a data set."""

    collection: Collection
    donors: tuple[CollectionItem, ...]  # items that were not drawn and whose questions the collection does not have
    n_read: int  # number of items in the data set
    n_fitting: int  # number of items with a text of an allowed length


def collect(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    choice: Choice = "longest",
    bounds: Bounds | None = None,
    n_items: int | None = None,
    seed: int = 0,
    **more: Any,
) -> Collected:
    """Chooses one text of each item, and draws items; the other texts of an item become its references.

    `more` are the task, language and encoding, as for `read_collection`.
    """
    bounds = bounds or Bounds()
    read = _merged(item_rows(path, columns or {}, needs_text=False, **more))
    seen: dict[str, str] = {}
    fitting = [checked_item(item, where, seen) for where, whole in read if (item := _chosen(whole, choice, bounds))]
    wanted = len(fitting) if n_items is None else n_items
    if not fitting or wanted > len(fitting):
        expected = f"expected {counted(max(1, wanted), 'item')} with a text of {bounds}"
        raise DiscernmentError(f"{path}: {expected}, found {len(fitting):,} of {len(read):,}")
    drawn = set(sorted((item.id for item in fitting), key=lambda name: _order(seed, name))[:wanted])
    items = tuple(item for item in fitting if item.id in drawn)
    questions = {item.question for item in items} - {None}
    texts = {text for item in items for text in (item.text, *item.references)}
    donors = tuple(
        item for item in fitting if item.id not in drawn and item.question not in questions and item.text not in texts
    )
    return Collected(Collection(items, str(path)), donors, len(read), len(fitting))


def _merged(rows: Iterable[tuple[str, CollectionItem]]) -> list[tuple[str, CollectionItem]]:
    """The items with all their texts as references; several rows may have texts of one item."""
    merged: dict[str, tuple[str, CollectionItem]] = {}
    for where, item in rows:
        if item.perturbed:
            raise DiscernmentError(
                f"{where}: has damaged texts, which belong to one text; leave out the column perturbed"
            )
        first, known = merged.setdefault(item.id, (where, item))
        for key in _SAME:
            if getattr(item, key) != getattr(known, key):
                raise DiscernmentError(
                    f"{where}: the {key} of item {in_one_line(item.id, 60)} differs from that in {first}; expected the "
                    "same in all rows of an item"
                )
        texts = (*(() if first == where else known.references), item.text, *item.references)
        merged[item.id] = first, replace(known, references=tuple(dict.fromkeys(texts)))
    return list(merged.values())


def _chosen(item: CollectionItem, choice: Choice, bounds: Bounds) -> CollectionItem | None:
    """The item with one of its texts, and the others as references; None if no text has an allowed length."""
    fitting = [text for text in item.references if bounds.hold(text)]
    if not fitting:
        return None

    def n_sentences(text: str) -> int:
        return len(TextReading(text, item.language or language_of(text)).sentences)

    text = max(fitting, key=len if choice == "longest" else n_sentences)
    return replace(item, text=text, references=tuple(other for other in item.references if other != text))


def _order(seed: int, name: str) -> bytes:
    """The place of an item in the random order, which does not depend on other items."""
    return hashlib.sha256(utf8(f"discern collect\0{seed}\0{name}")).digest()


def write_items(path: Path, items: Iterable[CollectionItem]) -> None:
    """Writes items as a table that `read_collection` reads."""
    has_lists = check_value_table(path) == ".jsonl"

    def cells(item: CollectionItem) -> list[Any]:
        listed: Any = list(item.references)
        if not has_lists:
            listed = json.dumps(listed, ensure_ascii=False) if listed else None
        return [listed if name == "references" else getattr(item, name) for name in COLUMNS]

    with writing_values(path, dict.fromkeys(COLUMNS, str)) as write:
        write(map(cells, items))
