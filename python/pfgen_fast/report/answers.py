"""The answers of all runs to one question, as the page unpacks them: short lines of compressed JSON.

The first line describes the question, and each further line holds the answers of some runs. An answer that the page
cannot tint (because of a tokenizer, or of characters that are shown as escapes) comes with its tints.
"""

from __future__ import annotations

import base64
import gzip
import math
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from ..base.errors import TrialsError
from ..base.untrusted_text import harmless, harmless_with_tints, in_one_line, shown_value
from ..runs.trials import Trials, one_run
from ..scoring.tinting import QuestionTints
from ..suite.keywords import Rule, searched
from ..suite.questions import Question
from ..suite.suite import Suite
from .pages import in_parts, page_json
from .safe_runs import N_SHOWN, CheckedAnswer, ReportRun, keyword_words

N_REFERENCES = 10
"""The maximum number of reference answers shown of a set."""

_MAX_MATCHES = 50


RunAnswers = tuple[int, Sequence[CheckedAnswer]]
"""The number of a run in the page, and its answers."""


class _Shown(NamedTuple):
    text: str  # escaped; if the page tints it, with two more code points, for the 3-grams at its last code point
    tints: str | None  # a digit for each code point of the text; None if the page tints it
    spans: list[tuple[int, int]]  # matches of keyword patterns that the page cannot search for, in code points


def packed(value: Any, level: int = 6) -> str:
    """Bytes, or another value as JSON, compressed in Base64."""
    content = value if isinstance(value, bytes) else page_json(value).encode()
    return base64.b64encode(gzip.compress(content, level, mtime=0)).decode("ascii")


def packed_answers(question: Question, answers: Sequence[RunAnswers], n_shown: int, every: int = 1) -> list[str]:
    """The lines of a question; with `every` 2, those of every second answer of each run, the worst one among them."""
    numbered = [(run, list(enumerate(samples))[(len(samples) - 1) % every :: every]) for run, samples in answers]
    # Evenly spaced texts of each set, because sets are often sorted.
    references = {
        name: [texts[int(n * max(1, len(texts) / N_REFERENCES))] for n in range(min(len(texts), N_REFERENCES))]
        for name, texts in question.answers.items()
    }
    samples = [sample for _, run_samples in numbered for _, sample in run_samples]
    texts = [*(text for group in references.values() for text in group), *(sample.answer for sample in samples)]
    tinting = QuestionTints(question)
    shown = _shown_texts(tinting, texts, n_shown)
    table = tinting.table([text.text for text in shown if text.tints is None])
    names = list(dict.fromkeys(name for sample in samples for name in sample.missing))
    n_references = len(texts) - len(samples)
    plain = list(dict.fromkeys(leaf.pattern for leaf in _leaves(question) if leaf.is_plain_text and leaf.pattern))
    head = {
        "grams": table.grams,
        "counts": table.counts,
        "sizes": table.sizes,
        "rules": [_words(rule) for rule in question.keywords],
        "patterns": plain if question.spelling is None else [],
        "look_ahead": question.lengths.look_ahead,
        "names": names,
        "sets": {name: len(group) for name, group in references.items()},
        "length": [len(text) for text in texts[:n_references]],
        **_text_columns(shown[:n_references]),
    }
    rest = iter(shown[n_references:])
    parts = in_parts(numbered, lambda run: sum(len(sample.answer) for _, sample in run[1]))
    numbers = {name: number for number, name in enumerate(names)}
    return [packed(head), *(packed(_line(part, rest, numbers)) for part in parts)]


def packed_trial_answers(run: ReportRun, suite: Suite) -> list[str] | None:
    """All answers of a run, a line for each question of the suite; None if its trials are unknown or cannot be read."""
    if run.folder is None:
        return None
    try:
        trials = Trials.of(one_run(run.folder))
    except TrialsError:  # a result can be reported without its trials
        return None
    answers, rows = trials.answers, trials.rows_by_question
    return [packed([answers[row][:N_SHOWN] for row in rows.get(question.question, ())]) for question in suite]


def _line(
    part: Sequence[tuple[int, Sequence[tuple[int, CheckedAnswer]]]], shown: Iterator[_Shown], names: dict[str, int]
) -> dict[str, Any]:
    """Some runs in columns, because columns compress best."""
    samples = [sample for _, run_samples in part for _, sample in run_samples]
    figures = [sample.figures for sample in samples]
    return {
        "runs": [number for number, _ in part],
        "numbers": [[number for number, _ in run_samples] for _, run_samples in part],
        **{
            metric: [None if (value := scores[metric]) is None else round(value, n_digits) for scores in figures]
            for metric, n_digits in (("score", 4), ("fluency", 3), ("truthfulness", 3), ("helpfulness", 3))
        },
        "length": [sample.n_code_points for sample in samples],
        "missing": [[names[name] for name in sample.missing] for sample in samples],
        "excess": [sample.excess for sample in samples],
        "fault": [sample.costs[0] for sample in samples],
        **{
            name: [None if math.isnan(cost) else round(cost, 2) for cost in costs]
            for name, costs in (
                ("by_keywords", [sample.costs[1] for sample in samples]),
                ("by_length", [sample.costs[2] for sample in samples]),
            )
        },
        **_text_columns(list(islice(shown, len(samples)))),
    }


def _text_columns(shown: Sequence[_Shown]) -> dict[str, Any]:
    """The texts, and the tints and spans of the few texts that have them, by position."""
    return {
        "texts": [text.text for text in shown],
        "tints": {str(place): text.tints for place, text in enumerate(shown) if text.tints is not None},
        "spans": {str(place): text.spans for place, text in enumerate(shown) if text.spans},
    }


def _shown_texts(tinting: QuestionTints, texts: Sequence[str], n_shown: int) -> list[_Shown]:
    question = tinting.question
    kept = [text[: n_shown + 2] for text in texts]
    tinted = list(dict.fromkeys(text for text in kept if question.spelling is not None or harmless(text) != text))
    levels_of = dict(zip(tinted, tinting.levels(tinted), strict=True))
    matches = _matcher(question)
    shown = []
    for text in kept:
        spans = matches(text[:n_shown])
        if text in levels_of:
            harmless_text, levels = harmless_with_tints(text[:n_shown], levels_of[text][:n_shown])
            # Escapes are longer than the characters that they replace.
            moved = [(len(harmless(text[:begin])), len(harmless(text[:end]))) for begin, end in spans]
            shown.append(_Shown(harmless_text, levels, moved))
        else:
            shown.append(_Shown(text, None, spans))
    return shown


def _words(rule: Rule) -> str:
    all_words = [(part, _words(part)) for part in rule.parts]
    parts = [words if part.form == "t" and " or " not in words else f"({words})" for part, words in all_words]
    words = rule.name or keyword_words(rule.pattern) or f" {rule.form} ".join(parts)
    return in_one_line(words, 200)


def _matcher(question: Question) -> Callable[[str], list[tuple[int, int]]]:
    """Returns a function that finds the patterns that the page cannot search for, where keyword rules read."""
    spelling, n_searched = question.spelling, question.lengths.look_ahead
    patterns = [leaf.pattern for leaf in _leaves(question) if spelling is not None or not leaf.is_plain_text]
    if not patterns:
        return lambda text: []
    where = f"question {question.question_id}: the pattern "
    searches = [(re.compile(pattern), where + shown_value(pattern)) for pattern in patterns]

    def matches(text: str) -> list[tuple[int, int]]:
        read = text[:n_searched] if spelling is None else spelling.read(text).cut(n_searched)
        return sorted({span for pattern, named in searches for span in _spans(pattern, read, named)})

    return matches


def _leaves(question: Question) -> list[Rule]:
    return [leaf for rule in question.keywords for leaf in rule.leaves()]


def _spans(pattern: re.Pattern[str], text: str, where: str) -> Iterator[tuple[int, int]]:
    """The first matches that are not empty, each found within the time limit of patterns."""
    at = n_found = 0
    while at <= len(text) and n_found < _MAX_MATCHES:
        match = searched(partial(pattern.search, pos=at), text, where)
        if match is None:
            return
        if match.end() > match.start():
            n_found += 1
            yield match.span()
        at = max(match.end(), match.start() + 1)
