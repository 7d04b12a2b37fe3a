"""Errors of long answers, found by rules (repetition, rejection, wrong length, and others), and their frequency.

If the text of an answer is missing, the figures in its judgement are used. There are two profiles, `ours` and
`published`. `published` follows the published figures: sentences of any length count, NLTK splits them if its data are
installed, and a rejection begins with `Given the`, as the phrase of the paper does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal

from ...base.errors import ChecklistError
from ...base.table import Column, Table
from ...base.untrusted_json import read_toml
from ..words import Counter as CounterName
from ..words import counter_name, counter_there, has_nltk, instead_of_nltk, nltk_sentences, sentences, words
from .checklist_runs import Answer, Run
from .checklist_scoring import LengthFigures, length_figures
from .checklist_suite import ChecklistSuite, OfModel, keys_in_order
from .judgements import Judgement
from .line_files import OnFault
from .tasks import AnswerKey, ChecklistTask, TaskKey, sha256_of

Profile = Literal["ours", "published"]

_PACKAGED = Path(__file__).parents[2] / "data" / "checklists" / "rejections.toml"
PUBLISHED_PHRASES = ("Given the", "Given the constraints of this platform")
"""The phrase that the published figures follow from, and the longer phrase that the paper names."""

_BEFORE = " \t\r\n\f\v\u3000\xa0*#>\"'`“”‘’«»「『【（("
_APOSTROPHES = str.maketrans("’‘ʼ", "'''")


class Rejections:
    """Finds the phrase that an answer begins with."""

    def __init__(self, phrases: Iterable[str]) -> None:
        self.phrases = tuple(phrases)
        # Longer phrases come first, so the most specific phrase is reported.
        longest_first = sorted(self.phrases, key=len, reverse=True)
        self._begins = {_folded(phrase): phrase for phrase in longest_first}
        # Case folding turns a character into one to three characters.
        self._n_characters = max(map(len, self._begins), default=0)

    def phrase_of(self, answer: str) -> str | None:
        """The longest phrase that the answer begins with, after white space, `*`, `#` and quotes; None without one."""
        begin = _folded(answer.lstrip(_BEFORE)[: self._n_characters])
        return next((phrase for folded, phrase in self._begins.items() if begin.startswith(folded)), None)

    def within(self, phrase: str) -> list[str]:
        """The phrases that a phrase begins with, and itself."""
        return [begin for folded, begin in self._begins.items() if _folded(phrase).startswith(folded)]


def phrases_for(language: str) -> tuple[str, ...]:
    """The packaged phrases of a language, such as `en` or `en-GB`; empty if there are none."""
    table = read_toml(_PACKAGED, error=ChecklistError).get(language.partition("-")[0].casefold(), {})
    return tuple(table.get("phrases", ()))


def _folded(phrase: str) -> str:
    return phrase.translate(_APOSTROPHES).casefold()


MIN_CHARACTERS = 20
"""Shorter sentences may occur several times."""


def most_repeated(listed: Sequence[str], min_characters: int = MIN_CHARACTERS) -> int:
    """How often the commonest sentence occurs; sentences shorter than the minimum are ignored."""
    return max(Counter(sentence for sentence in listed if len(sentence) >= min_characters).values(), default=0)


MIN_TIMES = 3
"""An answer repeats itself if it contains a sentence this many times."""


@dataclass(frozen=True, slots=True)
class AnswerErrors:
    """The errors of an answer; an error is None if the text or the number of words that it needs is unknown."""

    key: AnswerKey
    task: ChecklistTask
    words: int | None = None
    repeated: int | None = None
    rejection: str | None = None
    is_cut_off: bool | None = None
    is_filtered: bool | None = None
    is_empty: bool | None = None
    has_text: bool = False


MODES: Mapping[str, Callable[[AnswerErrors], bool | None]] = {
    "repetition": lambda errors: None if errors.repeated is None else errors.repeated >= MIN_TIMES,
    "rejection": lambda errors: (errors.rejection is not None) if errors.has_text else None,
    "cut_off": lambda errors: errors.is_cut_off,
    "filtered": lambda errors: errors.is_filtered,
    "empty": lambda errors: errors.is_empty,
}
"""The errors in the order of tables, and whether an answer has each."""


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

    @cached_property
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
        notes, effects = [], []
        if not self.rejections.phrases:
            notes.append(f"no phrases of rejection are packaged for the language {self.suite.language}")
        if self.counter != self.suite.words:
            effects.append(f"the counter {self.counter} counts words")
        if self.profile == "published" and not self.has_nltk_sentences:
            effects.append("our rules split answers whose commonest sentence was not published")
        return (*notes, instead_of_nltk(*effects)) if effects else tuple(notes)


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
    is_published, errors = rules.profile == "published", []
    for task, key in keys_in_order(rules.suite, answers.keys() | facts.keys()):
        fact, reply = facts.get(key), answers.get(key)
        if fact is not None and reply is not None and fact.response_sha256 != reply.sha256:
            fact = None
        n_words = None if fact is None else fact.words
        # The commonest sentence of a judgement may be short; only the published profile counts short sentences.
        repeated = fact.most_repeated_sentence if fact is not None and is_published else None
        if reply is None:
            errors.append(AnswerErrors(key, task, n_words, repeated))
            continue
        text = reply.response
        if repeated is None:
            parts = nltk_sentences(text) if rules.has_nltk_sentences else sentences(text)
            repeated = most_repeated(parts, 1 if is_published else MIN_CHARACTERS)
        errors.append(
            AnswerErrors(
                key,
                task,
                len(words(text, rules.counter)) if n_words is None else n_words,
                repeated,
                rejection=rules.rejections.phrase_of(text),
                is_cut_off=None if reply.finish_reason is None else reply.finish_reason == "length",
                is_filtered=bool(text.strip()) and len(tasks[text]) > 1,
                is_empty=not text.strip(),
                has_text=True,
            )
        )
    return errors


@dataclass(frozen=True, slots=True)
class Share:
    """The number of answers with an error."""

    count: int
    n: int

    @property
    def percent(self) -> float | None:
        """The share in percent; None if it is unknown for all answers."""
        return 100 * self.count / self.n if self.n else None


@dataclass(frozen=True)
class ErrorCounts:
    """The errors of some answers of a model."""

    n: int
    shares: Mapping[str, Share]
    phrases: Mapping[str, Share]  # answers that begin with each phrase of rejection, if any do
    length: LengthFigures | None

    def to_dict(self) -> dict[str, Any]:
        """The counts as JSON values."""
        shares, phrases = (
            {name: {**asdict(share), "percent": share.percent} for name, share in listed.items()}
            for listed in (self.shares, self.phrases)
        )
        return {"n": self.n, **shares, "rejection_phrases": phrases, "length": self.length and asdict(self.length)}


ModelErrors = OfModel[AnswerErrors, ErrorCounts]
"""The errors of the answers of a model."""


def model_errors(model: str, answers: Sequence[AnswerErrors], rules: ErrorRules) -> ModelErrors:
    """Counts the errors of a model; parts without any answer are left out."""
    return OfModel.of(model, answers, rules.suite, partial(_counts, rejections=rules.rejections))


def _counts(answers: Sequence[AnswerErrors], rejections: Rejections) -> ErrorCounts:
    begins = (phrase for answer in answers if answer.rejection for phrase in rejections.within(answer.rejection))
    n_texts, shares = sum(answer.has_text for answer in answers), {}
    for mode, has in MODES.items():
        known = [is_in for answer in answers if (is_in := has(answer)) is not None]
        shares[mode] = Share(sum(known), len(known))
    return ErrorCounts(
        len(answers),
        shares,
        {phrase: Share(count, n_texts) for phrase, count in Counter(begins).most_common()},
        length_figures((answer.words, answer.task.wanted_words) for answer in answers),
    )


def error_tables(models: Sequence[ModelErrors], *, with_areas: bool) -> Iterator[Table]:
    """The tables for readers: the frequency of errors and of phrases of rejection, and lengths."""
    parts = [row for model in models for row in model.parts(with_areas=with_areas)]
    columns = [Column("model"), Column("answers"), *(Column(mode.replace("_", " "), digits=1) for mode in MODES)]
    rows = [(name, part.n, *(part.shares[mode].percent for mode in MODES)) for name, part in parts]
    yield Table(columns, rows, "In % of the answers")
    columns = [Column("model"), Column("phrase"), Column("%", digits=1)]
    rows = [(name, phrase, share.percent) for name, part in parts for phrase, share in part.phrases.items()]
    yield Table(columns, rows, "Rejections in % by phrase; an answer counts for each phrase that it begins with")
    columns = [Column("model"), *(Column(name, digits=1) for name in ("words", "error", "shortfall", "long enough %"))]
    rows = [
        (
            name,
            *(part.length.mean_words, part.length.mean_absolute_length_error),
            *(part.length.mean_shortfall, 100 * part.length.share_long_enough),
        )
        for name, part in parts
        if part.length is not None
    ]
    yield Table(columns, rows, "Lengths: means in words")
