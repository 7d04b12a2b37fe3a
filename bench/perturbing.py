"""Texts damaged by rule on one thread, kind by kind, and hostile texts; after core and oracle agree.

All is processor time: on one thread it is the time that passes, without that of other processes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from functools import partial

from pfgen_fast.discernment.kinds import KINDS, LADDERS, Impossible, Kind
from pfgen_fast.discernment.oracle import perturbed
from pfgen_fast.discernment.perturbing import Donors, Perturbed, perturbed_columns
from pfgen_fast.discernment.plan import Perturbation, perturbation
from pfgen_fast.evaluators.evaluator import text_column

from .agreement import agree
from .published import Mix, evenly
from .table import Bound, Row
from .timing import take_turns

_N_TEXTS, _N_COMPARED, _LENGTH = 10_000, 60, 100
_ROUNDS = 5
_KINDS = tuple(kind for kind in KINDS.values() if kind.method == "rule")

_HOSTILE = {"、": "ja", "」": "ja", "a.": "en"}
"""What is repeated, and the language as which it is read."""
_SHORT, _LONG = 1 << 14, 1 << 20
"""So far apart that the step where texts outgrow a cache weighs little; backtracking would give an exponent of 2."""
_DONORS = ("琵琶湖とガラス。", "We like Venus.")


def perturb_the_mix(mix: Mix) -> list[Row]:
    """Measures every kind in all its usual degrees at once, and in its highest degree alone.

    Raises:
        Disagreement: The core makes other texts than the oracle.
    """
    long_enough = [row for row, answer in enumerate(mix.answers) if len(answer) >= _LENGTH]
    rows = evenly(long_enough, _N_TEXTS)
    texts, questions = [mix.answers[row][:_LENGTH] for row in rows], [mix.questions[row] for row in rows]
    for kind in _KINDS:
        _compare(kind, evenly(texts, _N_COMPARED), evenly(questions, _N_COMPARED))
    works = [_work(kind, degrees, texts, questions) for kind in _KINDS for degrees in (_usual(kind), _usual(kind)[-1:])]
    times = take_turns(_ROUNDS, *works, clock=time.process_time)
    together = [len(texts) * len(_usual(kind)) / taken for kind, taken in zip(_KINDS, times[::2], strict=True)]
    alone = [len(texts) / taken for taken in times[1::2]]
    return [
        *(_of_kind(kind, rate) for kind, rate in zip(_KINDS, together, strict=True)),
        *_summary(f"perturbing, {_LENGTH} characters, 1 thread, degrees together", together),
        *_summary(f"perturbing, {_LENGTH} characters, 1 thread, one degree alone", alone),
    ]


def perturb_hostile_texts() -> list[Row]:
    """Measures how the time of the slowest kind grows with the length of a text that invites backtracking."""
    rows = []
    for unit, language in _HOSTILE.items():
        works = [_hostile(kind, unit, n, language) for kind in _KINDS for n in (_SHORT, _LONG)]
        times = take_turns(_ROUNDS, *works, clock=time.process_time)
        slowest = max(range(len(_KINDS)), key=lambda number: times[2 * number + 1])
        exponent = math.log(times[2 * slowest + 1] / times[2 * slowest], _LONG / _SHORT)
        what = f"perturbing {_LONG:,} characters {unit}, slowest kind ({_KINDS[slowest].name})"
        rows += [
            Row(what, times[2 * slowest + 1], "s", must=Bound("value", "<=", 1)),
            Row("  cost against length: exponent", exponent, must=Bound("value", "<=", 1.2)),
        ]
    return rows


def _usual(kind: Kind) -> list[Perturbation]:
    if not kind.has_degrees:
        return [perturbation(kind.name)]
    return [perturbation(kind.name, permille=permille) for permille in LADDERS[kind.ladder or ""]]


def _work(
    kind: Kind, degrees: Sequence[Perturbation], texts: Sequence[str], questions: Sequence[str], threads: int = 1
) -> partial[list[Perturbed]]:
    """Damages all texts; the columns and the donors are made before."""
    return partial(
        perturbed_columns,
        text_column(texts),
        kind.name,
        degrees,
        languages="ja",
        donors=Donors(texts, questions) if kind.needs == "donors" else None,
        alternatives=text_column(texts[::-1]) if kind.needs == "alternative" else None,
        threads=threads,
    )


def _hostile(kind: Kind, unit: str, n: int, language: str) -> partial[list[Perturbed]]:
    donors = Donors.pool(_DONORS) if kind.needs == "donors" else None
    text = unit * (n // len(unit))
    return partial(
        perturbed_columns,
        text_column([text]),
        kind.name,
        _usual(kind),
        languages=language,
        donors=donors,
        alternatives=text_column([_DONORS[0]]),
        threads=1,
    )


def _compare(kind: Kind, texts: list[str], questions: list[str]) -> None:
    expected = []
    for row, (text, question) in enumerate(zip(texts, questions, strict=True)):
        donors = [other for other, of in zip(texts, questions, strict=True) if of != question]
        alternative = texts[-1 - row]
        expected.append(perturbed(text, kind.name, _usual(kind), language="ja", donors=donors, alternative=alternative))
    for threads in (1, 2):
        found = [_outcomes(column) for column in _work(kind, _usual(kind), texts, questions, threads)()]
        agree(f"{kind.name}, threads: {threads}", [list(row) for row in zip(*found, strict=True)], expected)


def _outcomes(column: Perturbed) -> list[str | Impossible]:
    pairs = zip(column.texts.tolist(), column.impossible.tolist(), strict=True)
    return [Impossible(reason) if text is None else text for text, reason in pairs]


def _of_kind(kind: Kind, rate: float) -> Row:
    n = len(_usual(kind))
    return Row(f"perturbing, 1 thread: {kind.name}, {n} degree{'s' if n > 1 else ''}", rate, "texts/s")


def _summary(what: str, rates: Sequence[float]) -> list[Row]:
    """The harmonic mean is the rate at which all kinds make equally many texts."""
    slowest = min(range(len(rates)), key=lambda number: rates[number])
    mean = len(rates) / sum(1 / rate for rate in rates)
    return [
        Row(f"{what}: mean over {len(rates)} kinds", mean, "texts/s", must=Bound("value", ">=", 300_000)),
        Row(f"{what}: slowest ({_KINDS[slowest].name})", rates[slowest], "texts/s", must=Bound("value", ">=", 100_000)),
    ]
