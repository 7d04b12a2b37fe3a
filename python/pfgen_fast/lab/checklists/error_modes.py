"""Errors of long answers, found by rules: repetition, rejection, wrong length, and others.

Rules cannot decide whether an answer makes sense; evidence that it does not is called a *signal*. If the text of an
answer is missing, the figures in its judgement are used.

There are two profiles, `ours` and `published`. `published` follows the published figures: sentences of any length
count, NLTK splits them if its data are installed, and a rejection begins with `Given the`, as the phrase of the paper
does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from ...base.errors import ChecklistError
from .answer_metrics import repetition
from .answer_texts import (
    MIN_CHARACTERS,
    PUBLISHED_PHRASES,
    LengthClaim,
    Rejections,
    claim_in,
    has_closing_punctuation,
    phrases_for,
    repeated,
    sentences,
)
from .checklist_runs import Answer, Run
from .checklist_suite import ChecklistSuite, keys_in_order
from .judgements import Judgement
from .line_files import OnFault
from .tasks import AnswerKey, ChecklistTask, TaskKey, sha256_of
from .words import Counter as CounterName
from .words import counter_name, counter_there, has_nltk, nltk_sentences, without, words

Profile = Literal["ours", "published"]
CutOff = Literal["by its limit", "without closing punctuation"]

MIN_TIMES = 3
"""An answer repeats itself if it contains a sentence this many times."""

_MOST_REPETITION = 0.5
_LEAST_DISTINCT = 0.1
_MOST_OTHER = 0.5
_REPLY_NAMES = ("checklist_id", "evaluation_score")
_LETTERS = re.compile(r"[^\W\d_]+")
_NO_ASCII_LETTERS = bytes(code for code in range(128) if not chr(code).isalpha())
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")


@dataclass(frozen=True, slots=True)
class AnswerErrors:
    """The errors of an answer; an error is None if the text or the number of words that it needs is unknown."""

    key: AnswerKey
    task: ChecklistTask
    words: int | None = None
    repeated: int | None = None
    longest_run: int | None = None
    sentence: str | None = None
    rejection: str | None = None
    claim: LengthClaim | None = None
    cut_off: CutOff | None = None
    is_filtered: bool | None = None
    is_empty: bool | None = None
    signals: tuple[str, ...] = ()
    has_text: bool = False

    @property
    def is_repetition(self) -> bool | None:
        """Whether a sentence occurs too often."""
        return None if self.repeated is None else self.repeated >= MIN_TIMES


@dataclass(frozen=True)
class ErrorRules:
    """How errors are found."""

    suite: ChecklistSuite
    profile: Profile = "ours"

    @cached_property
    def rejections(self) -> Rejections:
        """The phrases of rejection."""
        return Rejections(PUBLISHED_PHRASES if self.profile == "published" else phrases_for(self.suite.language))

    @cached_property
    def counter(self) -> CounterName:
        """How words are counted where no number was published."""
        return counter_there(self.suite.words)

    @property
    def has_nltk_sentences(self) -> bool:
        """Whether the sentences are NLTK's."""
        return self.profile == "published" and has_nltk()

    @property
    def signature(self) -> str:
        """The inputs of the figures, besides the answers."""
        from ... import __version__

        is_ours = self.profile == "ours"
        splitter = "nltk" if self.has_nltk_sentences else "rules"
        phrases = sha256_of("\n".join(sorted(self.rejections.phrases)))[:12]
        return (
            f"errors:{self.profile}|sentences:{'' if is_ours else 'published or '}{splitter}"
            f",min_characters={MIN_CHARACTERS if is_ours else 1},min_times={MIN_TIMES}|phrases:{phrases}"
            f"|words:published or {counter_name(self.counter)}|suite:{self.suite.hash[:12]}|pfgen-fast:{__version__}"
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for readers of the figures, one sentence each."""
        notes = []
        if not self.rejections.phrases:
            notes.append(
                f"no phrases of rejection are packaged for the language {self.suite.language}, so no rejection is found"
            )
        if self.counter != self.suite.words:
            notes.append(without(self.suite.words, self.counter))
        if self.profile == "published" and not self.has_nltk_sentences:
            notes.append(
                "NLTK's data are not installed: our rules split an answer if the count of its commonest sentence was "
                "not published"
            )
        return tuple(notes)


def errors_of(run: Run, rules: ErrorRules, *, on_fault: OnFault | None = None) -> list[AnswerErrors]:
    """The errors of the answers of a run, in the order of the suite; a judgement without its answer counts too."""
    answers = run.answers(rules.suite, on_fault=on_fault)
    judgements = run.judgements(rules.suite, with_reasons=False)
    if not answers and not judgements:
        raise ChecklistError(f"{run.folder}: has neither answers nor judgements")
    return errors_in(answers, judgements, rules)


def errors_in(
    answers: Mapping[AnswerKey, Answer], judgements: Iterable[Judgement], rules: ErrorRules
) -> list[AnswerErrors]:
    """Like `errors_of`, for answers and judgements that have been read."""
    facts: dict[AnswerKey, Judgement] = {}  # a judgement of each answer: one with a number of words, or else any
    for judgement in judgements:
        if judgement.key not in facts or (facts[judgement.key].words is None and judgement.words is not None):
            facts[judgement.key] = judgement
    tasks: dict[str, set[TaskKey]] = {}
    for answer in answers.values():
        tasks.setdefault(answer.response, set()).add((answer.id, answer.length))
    errors = []
    for task, key in keys_in_order(rules.suite, answers.keys() | facts.keys()):
        fact = facts.get(key)
        if key in answers:
            answer = answers[key]
            is_current = fact is not None and fact.response_sha256 == answer.sha256
            is_filtered = len(tasks[answer.response]) > 1
            errors.append(_errors(answer, task, fact if is_current else None, rules, is_filtered=is_filtered))
        elif fact is not None:
            # The commonest sentence of a judgement may be short; only the published profile counts short sentences.
            count = fact.most_repeated_sentence if rules.profile == "published" else None
            errors.append(AnswerErrors(key, task, fact.words, repeated=count))
    return errors


def _errors(
    answer: Answer, task: ChecklistTask, fact: Judgement | None, rules: ErrorRules, *, is_filtered: bool
) -> AnswerErrors:
    text = answer.response
    listed = words(text, rules.counter)
    n_words = len(listed) if fact is None or fact.words is None else fact.words
    parts = nltk_sentences(text) if rules.has_nltk_sentences else sentences(text)
    commonest = repeated(parts, MIN_CHARACTERS if rules.profile == "ours" else 1)
    count = commonest.count
    if rules.profile == "published" and fact is not None and fact.most_repeated_sentence is not None:
        count = fact.most_repeated_sentence
    is_empty = not text.strip()
    claim = claim_in(text, n_words)
    return AnswerErrors(
        answer.key,
        task,
        n_words,
        repeated=count,
        longest_run=commonest.longest_run,
        sentence=commonest.sentence if count >= MIN_TIMES else None,
        rejection=rules.rejections.phrase_of(text),
        claim=claim,
        cut_off=None if is_empty else _cut_off(answer, claim),
        is_filtered=is_filtered and not is_empty,
        is_empty=is_empty,
        signals=() if is_empty else signals(text, listed),
        has_text=True,
    )


def signals(text: str, listed: list[str]) -> tuple[str, ...]:
    """The signals in an answer: hints at errors."""
    names = [f"holds {name}" for name in _REPLY_NAMES if name in text]
    share = repetition(listed)
    if share is not None and share > _MOST_REPETITION:
        names.append("repetition-4 above 0.5")
    if len(set(listed)) < _LEAST_DISTINCT * len(listed):
        names.append("few distinct words")
    n_visible = sum(map(len, text.split()))
    if n_visible - _n_letters(text) > _MOST_OTHER * n_visible:
        names.append("few letters")
    return tuple(names)


def _n_letters(text: str) -> int:
    """The number of letters; those of ASCII, which most texts consist of, are counted four times as fast as others."""
    n_ascii = len(text.encode("ascii", "ignore").translate(None, _NO_ASCII_LETTERS))
    return n_ascii + sum(map(len, _LETTERS.findall("".join(_BEYOND_ASCII.findall(text)))))


def _cut_off(answer: Answer, claim: LengthClaim | None) -> CutOff | None:
    """How an answer is cut off, by the server's reason for stopping; if that is unknown, by the end of the text."""
    if answer.finish_reason == "length":
        return "by its limit"
    # An answer that states its number of words is complete.
    if answer.finish_reason is not None or claim is not None or has_closing_punctuation(answer.response):
        return None
    return "without closing punctuation"
