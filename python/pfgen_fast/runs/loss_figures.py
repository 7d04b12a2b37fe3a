"""What a run loses, in figures: of each question its means, the faults of its answers, and the cost of their lengths.

They come from all answers where the trials of the run and its suite are at hand. Otherwise they come from result.json:
of each question the means of its answers, and the recorded answers, which stand for the answers between them. Only the
part of an answer that its score reads is judged. The languages are those of the
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
from math import fsum, isfinite, nan, prod, sqrt
from operator import lt
from pathlib import Path
from typing import NamedTuple

from ..base.errors import PfgenError, SuiteError
from ..base.untrusted_json import WrittenJson
from ..suite.keywords import Rule, pattern_time_limit, searched
from ..suite.questions import Question, some_references
from ..suite.suite import Suite, hash_of_cut
from .run_result import QuestionResult, RunResult, ScoredAnswer, Scores
from .trials import Trials, packed_trials

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

_N_RECORDED = 5  # answers to a question in a result.json
_TOLERANCE = 1e-4  # of means of scores
_AT_THE_LIMIT = ("length", "max_tokens")
_SCRIPTS = {"HIRAGANA": "Japanese", "KATAKANA": "Japanese", "KATAKANA-HIRAGANA": "Japanese", "IDEOGRAPHIC": "CJK"}
_LANGUAGES = {"Japanese": "Japanese", "CJK": "Chinese", "HANGUL": "Korean"}
_WORD = re.compile(r"\w")
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
    # by fault: the share of the answers, their part of the score, and the number of judged answers
    faults: Mapping[str, tuple[float, float, int]] = {}
    # the number of judged answers: all, those whose keywords cost, and those whose length costs
    judged: tuple[int, int, int] = (0, 0, 0)
    # of each recorded answer: its fault, and what its keywords and its length cost of the score
    answers: Sequence[tuple[str | None, float, float]] = ()

    @classmethod
    def of_row(cls, row: Sequence[float]) -> QuestionFigures:
        """The figures of a reference."""
        return cls._make((*row, None, {}, (0, 0, 0), ()))


Figures = Mapping[str, QuestionFigures]
"""The figures of a run, by question ID."""

Weighted = Sequence[tuple[float, Sequence[float], str]]
"""The weights of answers, their scores, and their fault."""


class _Answer(NamedTuple):
    text: str
    scores: tuple[float, float, float, float]
    stored: ScoredAnswer  # for an answer of the trials, its line


def diagnosis_figures(
    run: RunResult, suite: Suite | None = None, folder: Path | None = None
) -> dict[str, QuestionFigures]:
    """The figures of a run, from which its losses to any reference follow (`question_losses`).

    With the folder of the run, they are of all its answers if its trials are those of the result. The recorded answers
    of a cause, clearest first: for a fault, those with `answers[n][0]` of that name by falling loss; for keywords and
    length, those without a fault by falling `answers[n][1]` and `[2]`; for wording by rising fluency + truthfulness.
    """
    faults = AnswerFaults(run, suite)
    everything = _all_answers(run, suite, folder) if suite and folder else {}
    figures = {}
    for name, question in run.questions.items():
        asked = suite[name] if suite and name in suite else Question(name, question.question, {})
        figures[name] = _figures(question, asked, everything.get(name, ()), run.num_trials, faults)
    return figures


def has_suite(result: RunResult, metadata_hash: str) -> bool:
    """Whether a result is of a suite, or of some of its questions."""
    return result.metadata_hash in (metadata_hash, hash_of_cut(metadata_hash, list(result.questions)))


def _all_answers(run: RunResult, suite: Suite, folder: Path) -> dict[str, list[_Answer]]:
    """All answers of a run by question, scored; none unless they are those of the result, and more than it records."""
    from ..scoring.scorer import LeanScorer
    from .aggregation import trials_of

    path = packed_trials(folder)
    if path is None or run.num_trials <= _N_RECORDED or not has_suite(run, suite.metadata_hash):
        return {}
    try:
        trials = Trials.read(path)
        if trials.input_hash != run.input_hash:
            return {}
        trials = trials_of(suite, trials, unknown="skip")
        with pattern_time_limit():
            scores, _ = LeanScorer(suite).score(trials.lines.questions, trials.lines.answers).part
    except PfgenError:  # a result can be diagnosed without its trials
        return {}
    everything: dict[str, list[_Answer]] = {}
    for name, question in run.questions.items():
        everything[name] = answers = []
        for row in trials.rows_by_question.get(question.question, ()):
            fluency, truthfulness, helpfulness, average, *_ = scores.row(row).values
            stored = ScoredAnswer(WrittenJson(trials.lines.line(row)))
            answers.append(_Answer(trials.answers[row], (average, fluency, truthfulness, helpfulness), stored))
        mean = fsum(answer.scores[0] for answer in answers) / (len(answers) or 1)
        if abs(mean - question.scores.average) > _TOLERANCE:  # scored with other settings
            return {}
    return everything


def _figures(
    question: QuestionResult, asked: Question, everything: Sequence[_Answer], n_trials: int, faults: AnswerFaults
) -> QuestionFigures:
    samples = everything or [_Answer(sample.answer, _four(sample.scores), sample) for sample in question.samples]
    weights = _weights(len(everything) or n_trials, len(samples))
    own = _four(question.scores) if isfinite(question.score) else (nan,) * 4
    costs: list[tuple[str | None, float, float]] = []
    faulty, clean = list[tuple[float, Sequence[float], str]](), list[tuple[float, Sequence[float], str]]()
    for answer, weight in zip(samples, weights, strict=True):
        (_, fluency, truthfulness, helpfulness), target = answer.scores, asked.lengths.target
        if not all(map(isfinite, answer.scores)):  # counts as not recorded
            costs.append((None, 0.0, 0.0))
        elif fault := faults.of(answer.text, answer.stored, asked, truthfulness):
            faulty.append((weight, answer.scores, fault))
            costs.append((fault, 0.0, 0.0))
        else:
            n = asked.n_units(answer.text)
            keywords = _missing(answer, asked, n)
            late = 1 - helpfulness - keywords
            short = min(fluency * target / n, max(fluency, 1.0)) - fluency if n < target else 0.0
            clean.append((weight, (*answer.scores, late, short), ""))
            costs.append((None, keywords / 3, (late + short) / 3))
    share, total = fsum(weight for weight, *_ in faulty), fsum(weight for weight, *_ in clean)
    means = [fsum(weight * values[n] for weight, values, _ in clean) / (total or 1) for n in range(6)]
    is_whole = len(everything or question.samples) >= n_trials
    scale = 1.0 if is_whole or not (faulty and clean) else _faulty_share(question, faulty, clean, n_trials) / share
    if not is_whole and clean:  # the mean of the faultless answers is what the others leave of the recorded means
        lost = [scale * fsum(weight * scores[n] for weight, scores, _ in faulty) for n in range(4)]
        means[:4] = [(mean - part) / (1 - scale * share) for mean, part in zip(own, lost, strict=True)]
    parts: dict[str, tuple[float, float, int]] = {}
    for weight, scores, fault in faulty:
        before, part, n = parts.get(fault, (0.0, 0.0, 0))
        parts[fault] = before + scale * weight, part + scale * weight * scores[0], n + 1
    judged = len(costs), sum(cost[1] > 0 for cost in costs), sum(cost[2] > 0 for cost in costs)
    if everything:
        known = {answer.text: cost for answer, cost in zip(everything, costs, strict=True)}
        costs = [known.get(sample.answer, (None, 0.0, 0.0)) for sample in question.samples]
    return QuestionFigures(*own, means[4], means[5], means[:4] if clean else None, parts, judged, costs)


def _four(scores: Scores) -> tuple[float, float, float, float]:
    return scores.average, scores.total("fluency"), scores.total("truthfulness"), scores.helpfulness


@lru_cache(maxsize=64)
def _weights(n_trials: int, n_samples: int) -> Sequence[float]:
    """The share of the answers that each recorded one stands for: an answer between two counts in part for both."""
    places: Sequence[int] = sorted({round(share * (n_trials - 1)) for share in (0, 0.25, 0.5, 0.75, 1)})
    if len(places) != n_samples:  # not the usual answers of a result
        places = range(n_samples)
    weights = [1.0] * n_samples
    for place, (begin, end) in enumerate(pairwise(places)):
        weights[place] += (end - begin - 1) / 2
        weights[place + 1] += (end - begin - 1) / 2
    return [weight / fsum(weights) for weight in weights]


def _faulty_share(question: QuestionResult, faulty: Weighted, clean: Weighted, n_trials: int) -> float:
    """The share of the answers that have a fault, from the mean and the deviation of the scores of all answers.

    If the share is s, the mean of faulty scores f and their variance u, the distance of the faultless scores' mean to f
    is d and their variance v, then mean - f = (1 - s) d, and deviation² + (mean - f)² = s u + (1 - s) (d² + v).
    """
    (share, f, u), (_, mean, v) = _moments(faulty), _moments(clean)
    below, distance = question.scores.average - f, mean - f
    if isfinite(question.score_std) and below > _TOLERANCE:
        ratio = (question.score_std**2 + below**2 - share * u) / below
        distance = (ratio + sqrt(max(0.0, ratio**2 - 4 * v))) / 2
    distance = min(distance, max(scores[0] for _, scores, _ in clean) - f)
    fitted = 1 - below / distance if distance > _TOLERANCE else share
    return min(max(fitted, len(faulty) / n_trials), 1 - len(clean) / n_trials)


def _moments(answers: Weighted) -> tuple[float, float, float]:
    """The weight of answers, their mean score and its variance."""
    total = fsum(weight for weight, *_ in answers)
    mean = fsum(weight * scores[0] for weight, scores, _ in answers) / total
    return total, mean, fsum(weight * (scores[0] - mean) ** 2 for weight, scores, _ in answers) / total


def _missing(answer: _Answer, asked: Question, n_units: int) -> float:
    """What helpfulness loses by the rules that the whole answer does not meet."""
    helpfulness = answer.scores[3]
    if helpfulness >= 1 or n_units <= asked.lengths.target:  # helpfulness has read the whole answer
        return 1 - helpfulness
    if asked.keywords:
        lefts = [1 - rule.importance for rule in asked.keywords if not _is_met(rule, answer.text)]
    else:
        unmet = answer.stored.unmet
        lefts = [left for name, left in unmet if not (name in answer.text or asked.excess_shown(name))]
    return 1 - max(prod(lefts), helpfulness)


def _is_met(rule: Rule, text: str) -> bool:
    if rule.form == "t":
        return searched(re.compile(rule.pattern).search, text, f"the pattern {rule.pattern}") is not None
    return (all if rule.form == "and" else any)(_is_met(part, text) for part in rule.parts)


def question_losses(own: QuestionFigures, reference: QuestionFigures) -> dict[str, float]:
    """The loss of a question by cause, which add up to the reference's score less its own."""
    losses = dict.fromkeys(CAUSES, 0.0)
    mean = reference.score if own.clean is None else own.clean[0]
    for fault, (share, part, _) in own.faults.items():
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
    all_rows = {name: [run[name][:6] for run in runs if name in run] for name in names}
    rows = {name: own for name, every in all_rows.items() if (own := [row for row in every if all(map(isfinite, row))])}
    medians = {name: [*map(_median, zip(*own, strict=True))] for name, own in rows.items()}
    return {name: QuestionFigures.of_row(row) for name, row in medians.items()}


def _median(values: Iterable[float]) -> float:  # the module `statistics` takes long to import
    ordered = sorted(values)
    return (ordered[len(ordered) // 2] + ordered[(len(ordered) - 1) // 2]) / 2


# --- faults of answers


class AnswerFaults:
    """The faults of the answers of a run; without a suite, of answers that consist of sentences."""

    def __init__(self, run: RunResult, suite: Suite | None) -> None:
        scripts = {name: _scripts(question.question) for name, question in run.questions.items()}
        self._pools: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for own in scripts.values():
            self._pools[_main(own)] += own
        shares = {main: {name: n / pool.total() for name, n in pool.items()} for main, pool in self._pools.items()}
        self._expected = {name: shares[_main(own)] for name, own in scripts.items()}
        self._has_sentences = suite is None or _ends_sentences(suite)

    @property
    def language(self) -> str:
        """The language of most questions, or their script."""
        name = max(self._pools, key=lambda name: self._pools[name].total(), default="")
        return _LANGUAGES.get(name, f"{name.capitalize()} script")

    def of(self, answer: str, stored: ScoredAnswer, asked: Question, truthfulness: float) -> str | None:
        """The first fault of an answer."""
        lengths, spelling = asked.lengths, asked.spelling
        text = answer[: lengths.look_ahead] if spelling is None else spelling.read(answer).cut(lengths.look_ahead)
        if not _WORD.search(text):
            return "empty"
        if truthfulness < MAX_TRUTHFULNESS and self._is_other_language(asked.question_id, text):
            return "language"
        if _is_loop(text):
            return "loop"
        if asked.n_units(answer) >= lengths.limit:  # the score does not read its end
            return None
        line = stored.stored if isinstance(stored.stored, bytes) else None
        is_recorded = line is None or line.find(b"finish_reason") >= 0  # quicker than reading the line
        reason = stored.record.get("finish_reason") if is_recorded else None
        if isinstance(reason, str):
            return "cut" if reason in _AT_THE_LIMIT else None
        may_be_cut = self._has_sentences and len(answer) >= MIN_CUT
        return "cut" if may_be_cut and not _END.search(answer[-_N_OF_END:]) else None

    def _is_other_language(self, question_id: str, text: str) -> bool:
        expected, own = self._expected[question_id], _scripts(text)
        n = own.total()
        overlap = fsum(min(n_own / n, expected.get(name, 0.0)) for name, n_own in own.items())
        return n >= MIN_LETTERS and bool(expected) and overlap < MIN_OVERLAP


def _is_loop(text: str) -> bool:
    n = len(text) - _WINDOW + 1
    if n <= _WINDOW:
        return False
    # Quick check: a repeated window contains one of these 4-grams, which also occurred before and is in 7 windows.
    places = range(step := _WINDOW - 3, n + step - 1, step)
    if step * sum(map(lt, map(text.find, [text[i : i + 4] for i in places]), places)) < MIN_REPEATED * n:
        return False
    return len({text[i : i + _WINDOW] for i in range(n)}) <= (1 - MIN_REPEATED) * n


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
    if text.isascii():  # counted in half the time
        return Counter(LATIN=n) if (n := sum(map(str.isalpha, text))) else Counter()
    scripts = Counter(map(_SCRIPT_OF.__getitem__, text))
    del scripts[""]
    return scripts


class _ScriptOf(dict[str, str]):
    """The scripts of letters, by their names; hiragana and katakana are `Japanese`. "" for other characters."""

    def __missing__(self, character: str) -> str:
        name = unicodedata.name(character, "") if character.isalpha() else ""
        name = name.removeprefix("HALFWIDTH ").removeprefix("FULLWIDTH ").partition(" ")[0]
        script = _SCRIPTS.get(name, name)
        return self.setdefault(character, script) if character <= "\uffff" else script  # which bounds memory


_SCRIPT_OF = _ScriptOf()
