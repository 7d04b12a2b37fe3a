"""What a run loses, in figures: of each question its means, the faults of its answers, and the cost of their lengths.

All figures come from result.json: of each question the means of its answers, and its recorded answers, which stand for
the answers between them. Only the part of an answer that its score reads is judged. The languages are those of the
questions' scripts, so no reference answer is read. Lengths and rules are those of the suite; without it, lengths are
the usual ones, and a rule is met if its name is in the answer. Rule: docs/diagnosis.md.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from math import fsum, isfinite, prod
from typing import NamedTuple

from ..base.errors import SuiteError
from ..suite.keywords import Rule, searched
from ..suite.questions import Question, some_references
from ..suite.suite import Suite
from .run_result import QuestionResult, RunResult, ScoredAnswer, Scores

FAULTS = ("empty", "language", "loop", "cut")
"""The faults in their order: an answer has the first of its faults."""

MIN_OVERLAP, MIN_LETTERS = 0.5, 10
"""An answer of at least so many letters is in another language if its scripts share less than this with the
questions' scripts; 1 is the same share of each script."""
MAX_TRUTHFULNESS = 0.5
"""An answer of at least this truthfulness has 3-grams of the references, so it is in their language."""
MIN_REPEATED, _WINDOW = 0.4, 10
"""An answer is a loop if at least this share of its windows of 10 characters occurred before in it."""
MIN_CUT = 25
"""A shorter text (in characters) that ends no sentence is a phrase, not a sentence that was cut off."""

CAUSES = (*FAULTS, "keywords", "wording", "length", "other")
"""The causes of a loss, in the order of tables."""

_AT_THE_LIMIT = ("length", "max_tokens")
_SCRIPTS = {"HIRAGANA": "Japanese", "KATAKANA": "Japanese", "KATAKANA-HIRAGANA": "Japanese", "IDEOGRAPHIC": "CJK"}
_LANGUAGES = {"Japanese": "Japanese", "CJK": "Chinese", "HANGUL": "Korean"}
_END = re.compile(r"[。．.｡！!？?…‥)）」』](?:\W|<[|/]?\w+\|?>)*$")  # special tokens may follow
_N_OF_END = 60


class QuestionFigures(NamedTuple):
    """What a diagnosis needs of a question of a run; the first six figures are all that it needs of a reference."""

    score: float  # recorded means of all answers
    fluency: float
    truthfulness: float
    helpfulness: float
    late: float = 0.0  # what faultless answers lose of helpfulness by their length
    short: float = 0.0  # what faultless answers would gain of fluency if they were as long as the target
    clean: Sequence[float] | None = None  # the first four means over the faultless answers; None without such answers
    faults: Mapping[str, tuple[float, float]] = {}  # by fault: the share of the answers, and their part of the score
    # of each recorded answer: its fault, and what its keywords and its length cost of the score
    answers: Sequence[tuple[str | None, float, float]] = ()

    @classmethod
    def of_row(cls, row: Sequence[float]) -> QuestionFigures:
        """The figures of a reference."""
        return cls._make((*row, None, {}, ()))


Figures = Mapping[str, QuestionFigures]
"""The figures of a run, by question ID."""


def diagnosis_figures(run: RunResult, suite: Suite | None = None) -> dict[str, QuestionFigures]:
    """The figures of a run, from which its losses to any reference follow (`question_losses`).

    The answers of a cause, clearest first: for a fault, those with `answers[n][0]` of that name by falling loss; for
    keywords and length, those without a fault by falling `answers[n][1]` and `[2]`; for wording by rising
    fluency + truthfulness.
    """
    faults = AnswerFaults(run, suite)
    figures = {}
    for name, question in run.questions.items():
        asked = suite[name] if suite and name in suite else Question(name, question.question, {})
        figures[name] = _figures(question, asked, run.num_trials, faults)
    return figures


def _figures(question: QuestionResult, asked: Question, n_trials: int, faults: AnswerFaults) -> QuestionFigures:
    target = asked.lengths.target
    parts: dict[str, tuple[float, float]] = {}
    clean: list[tuple[float, tuple[float, ...]]] = []
    answers: list[tuple[str | None, float, float]] = []
    all_scores = [_four(sample.scores) for sample in question.samples]
    weights = _fitted(question.scores.average, [scores[0] for scores in all_scores], n_trials)
    for sample, scores, weight in zip(question.samples, all_scores, weights, strict=True):
        n = asked.n_units(sample.answer)
        if not all(map(isfinite, scores)):  # counts as not recorded
            answers.append((None, 0.0, 0.0))
            continue
        fault = faults.of(sample, asked, scores[2])
        if fault is not None:
            share, part = parts.get(fault, (0.0, 0.0))
            parts[fault] = share + weight, part + weight * scores[0]
            answers.append((fault, 0.0, 0.0))
            continue
        keywords, fluency = _missing(sample, asked, n, scores[3]), scores[1]
        late = 1 - scores[3] - keywords
        short = min(fluency * target / n, max(fluency, 1.0)) - fluency if n < target else 0.0
        clean.append((weight, (*scores, late, short)))
        answers.append((None, keywords / 3, (late + short) / 3))
    total = fsum(weight for weight, _ in clean)
    *means, late, short = [fsum(weight * values[n] for weight, values in clean) / (total or 1) for n in range(6)]
    return QuestionFigures(*_four(question.scores), late, short, means if clean else None, parts, answers)


def _four(scores: Scores) -> tuple[float, float, float, float]:
    return scores.average, scores.total("fluency"), scores.total("truthfulness"), scores.helpfulness


@lru_cache(maxsize=64)
def _weights(n_trials: int, n_samples: int) -> Sequence[float]:
    """The share of the answers that each recorded one stands for: an answer between two counts in part for both."""
    places = sorted({round(share * (n_trials - 1)) for share in (0, 0.25, 0.5, 0.75, 1)})
    if len(places) != n_samples:  # not the usual answers of a result
        places = list(range(n_samples))
    weights = [0.0] * n_samples
    for place, (begin, end) in enumerate(pairwise(places)):
        weights[place] += (end - begin + 1) / 2
        weights[place + 1] += (end - begin - 1) / 2
    weights[-1:] = [weight + 1 for weight in weights[-1:]]
    return [weight / fsum(weights) for weight in weights]


def _fitted(mean: float, scores: Sequence[float], n_trials: int) -> list[float]:
    """The weights of answers; weight moves between the worst one and the one before it until their mean is this one.

    The worst answer stands for itself at least, and at most for all answers between both.
    """
    weights = list(_weights(n_trials, len(scores)))
    if len(scores) > 1 and isfinite(distance := scores[-2] - scores[-1]) and distance > 1e-9:
        surplus = fsum(weight * score for weight, score in zip(weights, scores, strict=True)) - mean
        least, both = 1 / n_trials, weights[-1] + weights[-2]
        if isfinite(surplus) and weights[-1] > least + 1e-9:
            weights[-1] = min(max(weights[-1] + surplus / distance, least), 2 * weights[-1] - least)
            weights[-2] = both - weights[-1]
    return weights


def _missing(sample: ScoredAnswer, asked: Question, n_units: int, helpfulness: float) -> float:
    """What helpfulness loses by the rules that the whole answer does not meet."""
    if n_units <= asked.lengths.target:  # helpfulness has read the whole answer
        return 1 - helpfulness
    if asked.keywords:
        lefts = [1 - rule.importance for rule in asked.keywords if not _is_met(rule, sample.answer)]
    else:
        lefts = [left for name, left in sample.unmet if not (name in sample.answer or asked.excess_shown(name))]
    return 1 - max(prod(lefts), helpfulness)


def _is_met(rule: Rule, text: str) -> bool:
    if rule.form == "t":
        return searched(re.compile(rule.pattern).search, text, f"the pattern {rule.pattern}") is not None
    return (all if rule.form == "and" else any)(_is_met(part, text) for part in rule.parts)


def question_losses(own: QuestionFigures, reference: QuestionFigures) -> dict[str, float]:
    """The loss of a question by cause, which add up to the reference's score less its own."""
    losses = dict.fromkeys(CAUSES, 0.0)
    mean = reference.score if own.clean is None else own.clean[0]
    for fault, (share, part) in own.faults.items():
        losses[fault] = share * mean - part
    if own.clean is not None:
        _, fluency, truthfulness, helpfulness = own.clean
        late, short = own.late - reference.late, own.short - reference.short
        losses["length"] = (late + short) / 3
        losses["keywords"] = (reference.helpfulness - helpfulness - late) / 3
        losses["wording"] = (reference.fluency + reference.truthfulness - fluency - truthfulness - short) / 3
    losses["other"] = reference.score - own.score - fsum(losses.values())
    return losses


def median_figures(runs: Sequence[Figures]) -> dict[str, QuestionFigures]:
    """The median of each figure of each question over the runs that have it."""
    names = dict.fromkeys(name for run in runs for name in run)
    rows = {name: [run[name][:6] for run in runs if name in run] for name in names}
    medians = {name: [*map(_median, zip(*own, strict=True))] for name, own in rows.items()}
    return {name: QuestionFigures.of_row(row) for name, row in medians.items()}


def _median(values: Iterable[float]) -> float:  # the module `statistics` takes long to import
    ordered = sorted(values)
    return (ordered[len(ordered) // 2] + ordered[(len(ordered) - 1) // 2]) / 2


# --- faults of answers


class AnswerFaults:
    """The faults of the answers of a run; without a suite, of answers that consist of sentences."""

    def __init__(self, run: RunResult, suite: Suite | None) -> None:
        self._scripts = {name: _scripts(question.question) for name, question in run.questions.items()}
        self._pools: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for own in self._scripts.values():
            self._pools[_main(own)] += own
        self._has_sentences = suite is None or _ends_sentences(suite)

    @property
    def language(self) -> str:
        """The language of most questions, or their script."""
        name = max(self._pools, key=lambda name: self._pools[name].total(), default="")
        return _LANGUAGES.get(name, f"{name.capitalize()} script")

    def of(self, sample: ScoredAnswer, asked: Question, truthfulness: float) -> str | None:
        """The first fault of an answer."""
        answer, lengths = sample.answer, asked.lengths
        n_read, spelling = lengths.look_ahead, asked.spelling
        text = answer[:n_read] if spelling is None else spelling.read(answer).cut(n_read)
        if not re.search(r"\w", text):
            return "empty"
        if truthfulness < MAX_TRUTHFULNESS and self._is_other_language(asked.question_id, text):
            return "language"
        n = len(text) - _WINDOW + 1
        if n > _WINDOW and len({text[i : i + _WINDOW] for i in range(n)}) <= (1 - MIN_REPEATED) * n:
            return "loop"
        if asked.n_units(answer) >= lengths.limit:  # the score does not read its end
            return None
        reason = sample.record.get("finish_reason")
        if isinstance(reason, str):
            return "cut" if reason in _AT_THE_LIMIT else None
        may_be_cut = self._has_sentences and len(answer) >= MIN_CUT
        return "cut" if may_be_cut and not _END.search(answer[-_N_OF_END:]) else None

    def _is_other_language(self, question_id: str, text: str) -> bool:
        expected, own = self._pools[_main(self._scripts[question_id])], _scripts(text)
        n, n_expected = own.total(), expected.total()
        overlap = fsum(min(own[name] / n, expected[name] / (n_expected or 1)) for name in own)
        return n >= MIN_LETTERS and n_expected > 0 and overlap < MIN_OVERLAP


def _ends_sentences(suite: Suite) -> bool:
    """Whether most sample answers end a sentence; without them, most references of the first question."""
    try:
        texts: Sequence[str] = [sample.answer for sample in suite.samples]
    except SuiteError:
        try:
            texts = some_references(suite.questions[0])
        except SuiteError:  # a compiled suite has none
            return True
    return 2 * sum(bool(_END.search(text[-_N_OF_END:])) for text in texts) >= len(texts)


def _main(scripts: Counter[str]) -> str:
    """The language of a text, as far as its scripts tell; a Japanese text has kana."""
    return "Japanese" if scripts["Japanese"] else max(scripts, key=lambda name: scripts[name], default="")


def _scripts(text: str) -> Counter[str]:
    """The number of letters of each script."""
    scripts: Counter[str] = Counter()
    for character, n in Counter(text).items():
        if script := _script(character):
            scripts[script] += n
    return scripts


@lru_cache(maxsize=1 << 15)
def _script(character: str) -> str:
    """The script of a letter, by its name; hiragana and katakana are `Japanese`. "" if it is no letter."""
    if not character.isalpha():
        return ""
    name = unicodedata.name(character, "").removeprefix("HALFWIDTH ").removeprefix("FULLWIDTH ").partition(" ")[0]
    return _SCRIPTS.get(name, name)
