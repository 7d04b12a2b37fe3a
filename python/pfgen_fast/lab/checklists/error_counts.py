"""The frequency of each error in the answers of a model, and its tables: for all answers, by area, by wanted length."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from statistics import fmean
from typing import Any

from ...base.table import Column, Table
from ...base.untrusted_text import in_one_line
from .answer_metrics import ANSWER_COLUMNS
from .answer_texts import LengthFigures, Rejections, length_figures
from .checklist_runs import shown_key
from .checklist_suite import OfModel
from .error_modes import AnswerErrors, ErrorRules

_MODES: Mapping[str, Callable[[AnswerErrors], bool | None]] = {
    "repetition": lambda errors: errors.is_repetition,
    "rejection": lambda errors: (errors.rejection is not None) if errors.has_text else None,
    "cut_off": lambda errors: (errors.cut_off is not None) if errors.has_text else None,
    "filtered": lambda errors: errors.is_filtered,
    "empty": lambda errors: errors.is_empty,
    "signals": lambda errors: bool(errors.signals) if errors.has_text else None,
}
MODES = tuple(_MODES)
"""The errors in the order of tables, and `signals`, which are shown next to them."""


def named_errors(errors: AnswerErrors) -> tuple[str, ...]:
    """The names of all errors and signals of an answer."""
    return (*(mode for mode, is_there in _MODES.items() if mode != "signals" and is_there(errors)), *errors.signals)


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
    cut_off_by_limit: int
    longest_run: int | None
    signals: Mapping[str, int]
    n_claims: int
    n_wrong_claims: int
    mean_claim_error: float | None
    length: LengthFigures | None

    def to_dict(self) -> dict[str, Any]:
        """The counts as JSON values."""
        return {
            "n": self.n,
            **_listed(self.shares),
            "rejection_phrases": _listed(self.phrases),
            "cut_off_by_limit": self.cut_off_by_limit,
            "longest_run": self.longest_run,
            "signals_found": dict(self.signals),
            "claims": {"count": self.n_claims, "wrong": self.n_wrong_claims, "mean_error": self.mean_claim_error},
            "length": self.length and asdict(self.length),
        }


def _listed(shares: Mapping[str, Share]) -> dict[str, dict[str, Any]]:
    return {name: {**asdict(share), "percent": share.percent} for name, share in shares.items()}


ModelErrors = OfModel[AnswerErrors, ErrorCounts]
"""The errors of the answers of a model."""


def model_errors(model: str, answers: Sequence[AnswerErrors], rules: ErrorRules) -> ModelErrors:
    """Counts the errors of a model; parts without any answer are left out."""
    return OfModel.of(model, answers, rules.suite, partial(_counts, rejections=rules.rejections))


def _counts(answers: Sequence[AnswerErrors], rejections: Rejections) -> ErrorCounts:
    phrases = Counter(
        phrase for answer in answers if answer.rejection for phrase in rejections.within(answer.rejection)
    )
    n_texts = sum(answer.has_text for answer in answers)
    claims = [answer.claim for answer in answers if answer.claim is not None]
    runs = [answer.longest_run for answer in answers if answer.longest_run is not None]
    errors = [abs(claim.claimed - claim.counted) for claim in claims]
    return ErrorCounts(
        n=len(answers),
        shares={mode: _share(map(is_in, answers)) for mode, is_in in _MODES.items()},
        phrases={phrase: Share(count, n_texts) for phrase, count in phrases.most_common()},
        cut_off_by_limit=sum(answer.cut_off == "by its limit" for answer in answers),
        longest_run=max(runs, default=None),
        signals=dict(Counter(signal for answer in answers for signal in answer.signals).most_common()),
        n_claims=len(claims),
        n_wrong_claims=sum(claim.is_wrong for claim in claims),
        mean_claim_error=fmean(errors) if errors else None,
        length=length_figures((answer.words, answer.task.wanted_words) for answer in answers),
    )


def _share(values: Iterable[bool | None]) -> Share:
    known = [value for value in values if value is not None]
    return Share(sum(known), len(known))


def error_tables(models: Sequence[ModelErrors], *, with_areas: bool, n_examples: int) -> Iterator[Table]:
    """The tables for readers: the frequency of errors, of phrases of rejection, lengths, and examples."""
    parts = [row for model in models for row in model.parts(with_areas=with_areas)]
    yield Table(
        [
            Column("model"),
            Column("answers"),
            *(Column(mode.replace("_", " "), digits=1) for mode in MODES),
            Column("run"),
        ],
        [(name, part.n, *(part.shares[mode].percent for mode in MODES), part.longest_run) for name, part in parts],
        "In % of the answers; run: the largest number of equal sentences in a row",
    )
    yield Table(
        _columns("model", "phrase", "%"),
        [(name, phrase, share.percent) for name, part in parts for phrase, share in part.phrases.items()],
        "Rejections in % by phrase; an answer counts for each phrase that it begins with",
    )
    yield Table(
        _columns("model", "words", "error", "shortfall", "long enough", "claims", "wrong"),
        [
            (name, *_length_cells(part.length), part.n_claims, part.n_wrong_claims)
            for name, part in parts
            if part.length is not None or part.n_claims
        ],
        "Lengths: means in words, long enough in %; number of answers with a claim, and with a wrong claim",
    )
    yield Table(
        [*_columns("model", "error", "answer"), Column("evidence", form=lambda text: in_one_line(text, 200))],
        [
            (model.model, example["mode"].replace("_", " "), shown_key(key), example["seen"])
            for model in models
            for example in examples_of(model.answers, n_examples)
            for key in [(example["id"], example["length"], example["trial"])]
        ],
        "Examples",
    )


def _length_cells(length: LengthFigures | None) -> tuple[float | None, ...]:
    if length is None:
        return (None,) * 4
    figures = length.mean_words, length.mean_absolute_length_error, length.mean_shortfall
    return (*map(float, figures), 100 * float(length.share_long_enough))


def _columns(*names: str) -> list[Column]:
    return [Column(name, name.replace("_", " "), digits=1) for name in names]


def examples_of(answers: Sequence[AnswerErrors], most: int) -> list[dict[str, Any]]:
    """The first answers with each error, and the evidence for it, which may contain untrusted text of the answer."""
    return [
        {
            "mode": mode,
            "id": errors.key[0],
            "length": errors.key[1],
            "trial": errors.key[2],
            "seen": _seen(errors, mode),
        }
        for mode in MODES
        for errors in [errors for errors in answers if _MODES[mode](errors)][:most]
    ]


def _seen(errors: AnswerErrors, mode: str) -> str:
    """The evidence for an error, in a few words."""
    if mode == "repetition" and errors.sentence:
        run = f", {errors.longest_run} in a row" if errors.longest_run and errors.longest_run > 1 else ""
        return f"{errors.repeated} times{run}: {errors.sentence}"
    return {
        "repetition": f"{errors.repeated} times a sentence",
        "rejection": f"begins with: {errors.rejection}",
        "cut_off": str(errors.cut_off),
        "signals": ", ".join(errors.signals),
        "filtered": "equals the answer to another task",
        "empty": "has no text",
    }[mode]


ERROR_COLUMNS: Mapping[str, type] = {
    **ANSWER_COLUMNS,
    **dict.fromkeys(("wanted_words", "repeated", "longest_run"), int),
    "repetition": bool,
    "rejection": str,
    "cut_off": str,
    "filtered": bool,
    "empty": bool,
    "claimed": int,
    "counted": int,
    "signals": str,
}
"""The columns of `error_rows`, and their types."""


def error_rows(models: Iterable[ModelErrors]) -> Iterator[tuple[Any, ...]]:
    """A row for each answer."""
    for model in models:
        for errors in model.answers:
            claim = (None, None) if errors.claim is None else (errors.claim.claimed, errors.claim.counted)
            yield (
                *(model.model, *errors.key, *errors.task.place, errors.words, errors.task.wanted_words),
                *(errors.repeated, errors.longest_run, errors.is_repetition, errors.rejection, errors.cut_off),
                *(errors.is_filtered, errors.is_empty, *claim, ", ".join(errors.signals)),
            )
