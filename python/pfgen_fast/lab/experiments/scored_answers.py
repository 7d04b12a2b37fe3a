"""Metrics of the answers in tables: columns of numbers, or metrics with the answers of other models as references.

A candidate is scored without the answers of its own family, which would be closer to it than equally good ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import get_args

import numpy as np

from ...base.arrays import Floats
from ...base.errors import ExperimentError
from ...base.file_reading import read_text
from ...base.untrusted_text import counted, few_names
from ...build.answer_fit import WORDS, fit_answers, lengths_of, text_figures
from ...rewards.references.metrics import BLEU, CORPUS_BLEU, METRICS, read_metrics
from ...rewards.references.reference_scorer import Reduce, ReferenceScorer
from ...rewards.references.reference_scores import ReferenceScores
from ...scoring.score_table import ScoreTable
from ...scoring.scorer import Scorer
from ...suite.questions import Question
from ...suite.rules import Lengths
from ...suite.suite import Suite
from ...suite.units import PATTERNS, PatternTokenizer, Spelling, Tokenizer
from .aligned_verdicts import LENGTH, MetricValues, uneven
from .run_means import families_of
from .verdict_tables import Record, Verdicts, add_families, files_of, match_names, read_records

OWN = ("fluency", "truthfulness", "average")
"""The metrics of a suite whose references are the answers of other models."""

_UNITS: dict[str, Tokenizer | None] = {"characters": None, **{name: PatternTokenizer(name) for name in PATTERNS}}
_LENGTH = re.compile(r"(?=.*[1-9])(\d+(?:\.\d+)?)(x?)")
_EACH = "each"


@dataclass(frozen=True)
class Metric:
    """A metric by its name and settings, such as `chrf:mean` and `fluency:words,2x,3x`."""

    spec: str
    name: str
    reduce: Reduce = "best"  # of the metrics of references
    unit: str = ""  # of our own metrics; decided as by `suite build` if it is empty
    lengths: tuple[str, ...] = ()  # target and limit: numbers, or multiples of the median length of references
    is_each: bool = False  # whether these are multiples of the median of each prompt

    @classmethod
    def of(cls, spec: str) -> Metric:
        """Reads a metric; raises ExperimentError."""
        name, colon, rest = spec.partition(":")
        settings = rest.split(",") if colon else []
        lengths = tuple(setting for setting in settings if _LENGTH.fullmatch(setting))
        words = [setting for setting in settings if setting not in lengths and setting != _EACH]
        is_own, is_each = name in OWN, _EACH in settings
        if name == CORPUS_BLEU:
            raise ExperimentError(f"metric {spec!r}: expected a metric of single answers, such as {BLEU!r}")
        if not is_own:
            try:
                read_metrics(name, choices=[*OWN, *(other for other in METRICS if other not in (*OWN, CORPUS_BLEU))])
            except ValueError as error:
                raise ExperimentError(f"{error}; or name a column of the tables") from None
        choices = (*_UNITS,) if is_own else get_args(Reduce)
        has_lengths = len(lengths) == 2 and is_own
        is_plain = len(words) <= 1 and {*words} <= {*choices} and len({*settings}) == len(settings)
        if not (is_plain and (has_lengths or not (lengths or is_each))):
            more = ", a target and a limit such as 200,300 or 2x,3x, and 'each' after them" if is_own else ""
            raise ExperimentError(f"metric {spec!r}: expected {' or '.join(choices)} after the colon{more}")
        if is_own:
            return cls(spec, name, unit="".join(words), lengths=lengths, is_each=is_each)
        return cls(spec, name, "mean" if "mean" in words else "best")

    @property
    def settings(self) -> tuple[object, ...]:
        """Metrics with the same settings are computed together."""
        return self.name in OWN, self.reduce, self.unit, self.lengths, self.is_each

    def fits(self, texts: Mapping[str, Sequence[str]]) -> dict[str, tuple[Tokenizer | None, Lengths]]:
        """The unit and the lengths of each prompt, from all texts that may be references."""
        units = (_UNITS[self.unit],) if self.unit else ()
        figures = {prompt: [text_figures(answers, units or (None, WORDS))] for prompt, answers in texts.items()}
        decided = fit_answers(figures, dict.fromkeys(texts, units[0]) if units else {})
        if not self.lengths:
            return {prompt: (fit.tokenizer, fit.lengths) for prompt, fit in decided.items()}
        whole = median(fit.median for fit in decided.values())
        return {
            prompt: (fit.tokenizer, self._lengths(fit.median if self.is_each else whole))
            for prompt, fit in decided.items()
        }

    def _lengths(self, typical: float) -> Lengths:
        numbers = (_LENGTH.fullmatch(length) for length in self.lengths)
        target, limit = (float(match[1]) * (typical if match[2] else 1) for match in numbers if match)
        if not target < limit:
            raise ExperimentError(f"metric {self.spec!r}: expected a limit above the target")
        shortest = max(1, round(target))
        return lengths_of(shortest, max(shortest + 1, round(limit))) or Lengths()


@dataclass(eq=False)
class _Answers:
    """The rows of tables by prompt and model."""

    texts: dict[str, dict[str, list[str]]] = field(default_factory=dict)  # by prompt and model
    numbers: dict[str, _Cells] = field(default_factory=dict)  # by column
    categories: dict[str, str] = field(default_factory=dict)  # by prompt
    models: dict[str, None] = field(default_factory=dict)

    def add(self, record: Record) -> None:
        """Adds a row; one without a model has the category of a prompt."""
        if not record.prompt:
            return
        if record.category:
            self.categories[record.prompt] = record.category
        if record.model:
            self.models[record.model] = None
            by_model = self.texts.setdefault(record.prompt, {})
            if record.answer.strip():
                by_model.setdefault(record.model, []).append(record.answer)
            for name, value in record.numbers.items():
                self.numbers.setdefault(name, {}).setdefault((record.prompt, record.model), []).append(value)


def read_metric_values(
    sources: Sequence[str],
    metrics: Sequence[str],
    verdicts: Sequence[Verdicts],
    *,
    family: str = "model",
    families: Mapping[str, str] | None = None,
    category: str = "",
    references: Path | None = None,
    most: int | None = None,
    threads: int | None = None,
    on_progress: Callable[[int, int | None], None] | None = None,
) -> MetricValues:
    """Reads or computes metrics of the answers of the models with verdicts; other models are references only.

    Without `metrics`, all columns of numbers are used. `family` is `model`, `organisation`, or a column of any of the
    tables, beside the known `families`. `references` is a file with the names of the models whose answers are
    references, the best first; `most` is their largest number for a prompt. `on_progress` is called with the numbers of
    families that are scored and to score.
    """
    answers, known = _Answers(), dict(families or {})
    column = "" if family in ("model", "organisation") else family
    for path in (path for source in sources for path in files_of(source)[1]):
        for record in read_records(path, family=column, category=category):
            answers.add(record)
            add_families(known, [record])
    models = list(answers.models)
    if not models:
        raise ExperimentError(f"{sources[0]}: expected a column of models, such as 'model', and one of prompts")
    if category and not answers.categories:
        raise ExperimentError(f"column {category!r}: no table has such a column of categories")
    lacking = [name for name in models if column and name not in known]
    if lacking:
        raise ExperimentError(f"column {column!r}: no family of {few_names(lacking, 3)}")
    family_of = known if column else dict(zip(models, families_of(models, family), strict=True))
    names = dict.fromkeys(name for part in verdicts for name in part.models)
    matched = match_names(models, list(names))
    candidates = [name for name in models if name in matched] or models
    mute = [name for name in models if name not in candidates]
    note = f"{counted(len(mute), 'model')} without verdicts count as references at most: {few_names(mute, 5)}"
    prompts = list(answers.texts)
    values: dict[str, Floats] = {}
    lengths = {
        (prompt, name): [float(len(text)) for text in texts]
        for prompt, by_model in answers.texts.items()
        for name, texts in by_model.items()
    }
    if lengths:
        values[LENGTH] = _matrix(candidates, prompts, lengths)
    for name in metrics or answers.numbers:
        if name in answers.numbers and name not in values:  # `length` is that of the answers
            values[name] = _matrix(candidates, prompts, answers.numbers[name])
    computed = [Metric.of(name) for name in dict.fromkeys(metrics) if name not in values]
    if computed and LENGTH not in values:
        raise ExperimentError(f"metric {computed[0].spec!r}: expected a column of answers, such as 'answer'")
    likely = models if references is None else _names_in(references, models)
    scorer = _AnswersAsReferences(answers.texts, computed, likely, most, threads)
    cells: dict[str, _Cells] = {metric.spec: {} for metric in computed}
    left_out = dict.fromkeys((family_of[name] for name in candidates if computed), 0)  # with numbers of references
    for number, excluded in enumerate(left_out, start=1):
        of_family = [name for name in candidates if family_of[name] == excluded]
        left = scorer.references({name for name in likely if family_of[name] != excluded})
        left_out[excluded] = int(median([len(texts) for texts in left.values() if texts] or [0]))
        for spec, scores in scorer.score(of_family, left).items():
            cells[spec] |= scores
        if on_progress is not None:
            on_progress(number, len(left_out))
    values |= {spec: _matrix(candidates, prompts, scores) for spec, scores in cells.items()}
    return MetricValues(
        names=tuple(candidates),
        models=tuple(candidates),
        families=tuple(family_of[name] for name in candidates),
        prompts=tuple(prompts),
        categories=tuple(answers.categories.get(prompt, "") for prompt in prompts),
        values=values,
        notes=(*([note] if mute else []), *_notes_on_references(left_out)),
    )


def _notes_on_references(numbers: Mapping[str, int]) -> Iterator[str]:
    """What to know of the numbers of references for a prompt by family; raises ExperimentError if all are 0."""
    if lacking := [name for name, number in numbers.items() if not number]:
        note = (
            f"{few_names(lacking, 3)}: no references are left without the own family; expected those of other families"
        )
        if len(lacking) == len(numbers):
            raise ExperimentError(note)
        yield note
    known = [number for number in numbers.values() if number]
    if differ := uneven(known):
        yield (
            f"families have {differ} references for a prompt, and fluency, truthfulness and metrics of the best "
            f"reference grow with the number; --most-references {min(known)} makes them equal"
        )


def _names_in(path: Path, models: Sequence[str]) -> list[str]:
    """The names in the lines of a file."""
    lines = read_text(path, error=ExperimentError).splitlines()
    names = list(dict.fromkeys(line.strip() for line in lines if line.strip()))
    unknown = [name for name in names if name not in models]
    if unknown or not names:
        raise ExperimentError(f"{path}: no answers of {few_names(unknown, 3) or 'any model'}; expected names of models")
    return names


_Cells = dict[tuple[str, str], list[float]]
"""The scores of the answers to a prompt by a model."""


def _matrix(models: Sequence[str], prompts: Sequence[str], cells: _Cells) -> Floats:
    """The means of the cells by prompt and model; NaN for an empty one."""
    means = {place: float(np.mean(values)) for place, values in cells.items()}
    return np.array([[means.get((prompt, model), np.nan) for prompt in prompts] for model in models])


class _AnswersAsReferences:
    """Scores answers with the answers of other models as references."""

    def __init__(
        self,
        texts: Mapping[str, Mapping[str, Sequence[str]]],
        metrics: Sequence[Metric],
        likely: Sequence[str],
        most: int | None,
        threads: int | None,
    ) -> None:
        self._texts, self._likely, self._most, self._threads = texts, likely, most, threads
        whole = {at: [text for name in likely for text in by_model.get(name, ())] for at, by_model in texts.items()}
        self._groups: dict[tuple[object, ...], list[Metric]] = {}
        for metric in metrics:
            self._groups.setdefault(metric.settings, []).append(metric)
        self._fits = {key: same[0].fits(whole) for key, same in self._groups.items() if same[0].name in OWN}
        self._spelled: dict[tuple[str, Tokenizer], dict[str, str]] = {}

    def references(self, others: Container[str]) -> dict[str, list[str]]:
        """The references of each prompt, of `others` only."""
        return {
            prompt: [text for name in self._likely if name in others for text in by_model.get(name, ())][: self._most]
            for prompt, by_model in self._texts.items()
        }

    def score(self, candidates: Sequence[str], references: Mapping[str, Sequence[str]]) -> dict[str, _Cells]:
        """The scores of the answers of candidates by metric."""
        rows = [
            (prompt, name, text)
            for prompt in references
            for name in candidates
            for text in self._texts[prompt].get(name, ())
            if references[prompt]
        ]
        cells: dict[str, _Cells] = {}
        for settings, same in self._groups.items() if rows else ():
            scores: ScoreTable | ReferenceScores
            if same[0].name in OWN:
                scores = self._own_scores(self._fits[settings], rows, references)
            else:
                scorer = ReferenceScorer([metric.name for metric in same], reduce=same[0].reduce, threads=self._threads)
                scores = scorer.score([text for *_, text in rows], [references[prompt] for prompt, *_ in rows])
            for metric in same:
                column = cells.setdefault(metric.spec, {})
                for (prompt, name, _), value in zip(rows, scores[metric.name].tolist(), strict=True):
                    column.setdefault((prompt, name), []).append(value)
        return cells

    def _own_scores(
        self,
        fits: Mapping[str, tuple[Tokenizer | None, Lengths]],
        rows: Sequence[tuple[str, str, str]],
        references: Mapping[str, Sequence[str]],
    ) -> ScoreTable:
        """The scores of a suite in memory."""
        spell = {prompt: self._speller(prompt, tokenizer) for prompt, (tokenizer, _) in fits.items()}
        ids = {prompt: str(number) for number, prompt in enumerate(fits)}
        questions = [
            Question(ids[at], f"prompt {ids[at]}", {"answers": tuple(map(spell[at], references[at]))}, lengths=lengths)
            for at, (_, lengths) in fits.items()
            if references[at]
        ]
        scorer = Scorer(Suite("answers", tuple(questions)), threads=self._threads)
        return scorer.score([ids[prompt] for prompt, *_ in rows], [spell[prompt](text) for prompt, _, text in rows])

    def _speller(self, prompt: str, tokenizer: Tokenizer | None) -> Callable[[str], str]:
        """Spells answers to a prompt with one character for each token; each is spelled once for all families."""
        if tokenizer is None:
            return str
        if (prompt, tokenizer) not in self._spelled:
            texts = list(dict.fromkeys(text for several in self._texts[prompt].values() for text in several))
            spelled = Spelling.learned(tokenizer, texts).spelled(texts)
            self._spelled[prompt, tokenizer] = dict(zip(texts, spelled, strict=True))
        return self._spelled[prompt, tokenizer].__getitem__
