"""Discernment: texts damaged by rule, signed-rank tests, and whole tests of the n-gram scores.

What runs on one thread is processor time: the time that passes, without that of other processes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pfgen_fast import Scorer, Suite
from pfgen_fast.discernment.kinds import KINDS, LADDERS, Impossible, Kind
from pfgen_fast.discernment.oracle import perturbed
from pfgen_fast.discernment.perturbing import Donors, Perturbed, perturbed_columns
from pfgen_fast.discernment.plan import Perturbation, Plan, perturbation, usual_plan
from pfgen_fast.discernment.running import discern
from pfgen_fast.evaluators.evaluator import text_column
from pfgen_fast.evaluators.ngram import NgramEvaluator
from pfgen_fast.oracle import Oracle
from pfgen_fast.statistics.resampling import bootstrap_counts, interval, resampled
from pfgen_fast.statistics.signed_rank import signed_rank

from .inputs import Inputs, Mix, evenly
from .measuring import REPORTED, Disagreement, Measure, agree
from .processes import Work, in_a_new_process, items

pytestmark = pytest.mark.benchmark(group="discernment", timer=time.process_time)
_N_TEXTS, _N_COMPARED, _LENGTH, _ROUNDS = 10_000, 60, 100, 5
_KINDS = tuple(kind for kind in KINDS.values() if kind.method == "rule")
_SHORT, _LONG = 1 << 14, 1 << 20
"""Lengths far apart, so that cache sizes matter little; backtracking would give an exponent of 2."""
_DONORS = ("琵琶湖とガラス。", "We like Venus.")
_N_ITEMS, _N_DRAWS, _N_TESTS, _N_EXACT = 100, 1_000, 20_000, 1_000
_N_CELLS = 105 * 4
"""Cells of the usual plan: its perturbations, by the metrics of the n-gram scores."""
_THREADS = 2

Floats = NDArray[np.float64]


@pytest.fixture(scope="module")
def damaged(pytestconfig: pytest.Config, mix: Mix) -> Mix:
    """Published answers of one length, for which core and oracle make the same damaged texts."""
    rows = [row for row, answer in enumerate(mix.answers) if len(answer) >= _LENGTH]
    found = mix.part(evenly(rows, 100 if pytestconfig.getoption("quick") else _N_TEXTS))
    texts = Mix(found.questions, [answer[:_LENGTH] for answer in found.answers])
    compared = Mix(*(evenly(column, _N_COMPARED) for column in (texts.questions, texts.answers)))
    for kind in _KINDS:
        _compare(kind, compared)
    return texts


def _compare(kind: Kind, mix: Mix) -> None:
    expected = []
    for row, (text, question) in enumerate(zip(mix.answers, mix.questions, strict=True)):
        donors = [other for other, of in zip(mix.answers, mix.questions, strict=True) if of != question]
        of_text: dict[str, Any] = {"donors": donors, "alternative": mix.answers[-1 - row]}
        expected.append(perturbed(text, kind.name, _usual(kind), language="ja", **of_text))
    for threads in (1, 2):
        found = [_outcomes(column) for column in _damage(kind, _usual(kind), mix, threads=threads)()]
        agree(f"{kind.name}, threads: {threads}", [list(row) for row in zip(*found, strict=True)], expected)


def _outcomes(column: Perturbed) -> list[str | Impossible]:
    pairs = zip(column.texts.tolist(), column.impossible.tolist(), strict=True)
    return [Impossible(reason) if text is None else text for text, reason in pairs]


def _usual(kind: Kind) -> list[Perturbation]:
    if not kind.has_degrees:
        return [perturbation(kind.name)]
    return [perturbation(kind.name, permille=permille) for permille in LADDERS[kind.ladder or ""]]


def _damage(
    kind: Kind, degrees: Sequence[Perturbation], mix: Mix, *, language: str = "ja", threads: int = 1
) -> Callable[[], list[Perturbed]]:
    """Damages all texts, with finished columns and donors. A single text has generated donors."""
    donors = Donors(mix.answers, mix.questions) if len(mix) > 1 else Donors(_DONORS)
    options: dict[str, Any] = {
        "donors": donors if kind.needs == "donors" else None,
        "alternatives": text_column(mix.answers[::-1] if len(mix) > 1 else _DONORS[:1]),
        "languages": language,
        "threads": threads,
    }
    if kind.needs != "alternative":
        del options["alternatives"]
    return partial(perturbed_columns, text_column(mix.answers), kind.name, degrees, **options)


def _by_kind(measure: Measure, rounds: int, works: dict[str, Work]) -> list[float]:
    """Times by kind, in turns; the benchmark itself shows the first."""
    (first, work), *others = works.items()
    measure.info["measured"] = first
    return measure.times(rounds, work, dict(others))


@pytest.mark.parametrize("together", [True, False], ids=["degrees_together", "one_degree"])
def test_perturbing(measure: Measure, damaged: Mix, together: bool) -> None:
    """Every kind in all its usual degrees at once, or in its highest degree only."""
    degrees = {kind: _usual(kind) if together else _usual(kind)[-1:] for kind in _KINDS}
    works: dict[str, Work] = {kind.name: _damage(kind, degrees[kind], damaged) for kind in _KINDS}
    times = _by_kind(measure, _ROUNDS, works)
    rates = [len(damaged) * len(degrees[kind]) / taken for kind, taken in zip(_KINDS, times, strict=True)]
    for kind, rate in zip(_KINDS, rates, strict=True):
        n = len(degrees[kind])
        if together:
            of_kind = f"{kind.name}, {n} degree{'s' if n > 1 else ''}"
            measure.row(f"perturbing, 1 thread: {of_kind}", rate, "texts/s")
    slowest = min(range(len(rates)), key=lambda number: rates[number])
    mean = len(rates) / sum(1 / rate for rate in rates)  # the rate at which all kinds make equally many texts
    what = f"perturbing, {_LENGTH} characters, 1 thread, {'degrees together' if together else 'one degree alone'}"
    measure.row(f"{what}: mean over {len(rates)} kinds", mean, "texts/s")
    measure.row(f"{what}: slowest ({_KINDS[slowest].name})", rates[slowest], "texts/s")


@pytest.mark.parametrize(("unit", "language"), [("、", "ja"), ("」", "ja"), ("a.", "en")])
def test_perturbing_hostile_texts(measure: Measure, unit: str, language: str) -> None:
    """The growth of the time of the slowest kind with the length of a text that is prone to backtracking."""
    works: dict[str, Work] = {
        f"{kind.name}, {n:,}": _damage(kind, _usual(kind), Mix([""], [unit * (n // len(unit))]), language=language)
        for kind in _KINDS
        for n in (_SHORT, _LONG)
    }
    times = _by_kind(measure, _ROUNDS, works)
    slowest = max(range(len(_KINDS)), key=lambda number: times[2 * number + 1])
    exponent = math.log(times[2 * slowest + 1] / times[2 * slowest], _LONG / _SHORT)
    what = f"perturbing {_LONG:,} characters {unit}, slowest kind ({_KINDS[slowest].name})"
    measure.row(what, times[2 * slowest + 1], "s")
    measure.row("  cost against length: exponent", exponent)


@pytest.mark.parametrize("what", ["scores", "ratings"])
def test_rank_tests(measure: Measure, what: str) -> None:
    """Distinct scores, or ratings from 1 to 5; SciPy finds the same p-values."""
    original, lower = _made(what, measure.amount(_N_TESTS, _N_CELLS))
    _compare_with_scipy(original[:200], lower[:200])
    n_exact = measure.amount(_N_EXACT)
    works: dict[str, Work] = {
        "tests": lambda: signed_rank(original, lower).d,
        "exact": lambda: signed_rank(original[:n_exact], lower[:n_exact]).exact_d,
        "bootstrap": partial(_bootstrap, original[:_N_CELLS], lower[:_N_CELLS]),
    }
    tests, exact, bootstrap = _by_kind(measure, 3, works)
    of_100 = f"{what} of {_N_ITEMS} items"
    drawing = f"bootstrap, {_N_DRAWS:,} draws of {_N_CELLS} cells, {of_100}"
    measure.row(f"signed-rank tests, {of_100}", len(original) / tests, "tests/s")
    measure.row(f"exact tests, {of_100}", n_exact / exact, "tests/s")
    measure.row(drawing, bootstrap, "s")


def _made(what: str, n: int) -> tuple[Floats, Floats]:
    generator = np.random.default_rng(0)
    if what == "scores":
        original = generator.random((n, _N_ITEMS))
        return original, original - generator.normal(0.05, 0.3, original.shape)
    original, lower = generator.integers(1, 6, (2, n, _N_ITEMS)).astype(np.float64)
    return original, lower


def _compare_with_scipy(original: Floats, lower: Floats) -> None:
    from scipy.stats import wilcoxon

    options: dict[str, Any] = {"alternative": "greater", "method": "approx", "correction": False}
    expected = [wilcoxon(x - y, **options).pvalue for x, y in zip(original, lower, strict=True)]
    if not np.allclose(signed_rank(original, lower).p, expected, rtol=1e-11, atol=0):
        raise Disagreement("signed-rank tests: results differ from those of SciPy")


def _bootstrap(original: Floats, lower: Floats) -> object:
    drawn = resampled(original, lower, bootstrap_counts(_N_ITEMS, _N_DRAWS))
    return [interval(figures) for figures in (drawn.d, drawn.mean_drop, drawn.share_lower)]


@pytest.fixture(scope="module")
def _compared(suite: Suite, mix: Mix) -> None:
    """Scores of the usual plan are those that the oracles find, text by text."""
    some, plan, oracle = list(items(mix, 5))[:10], usual_plan(), Oracle(suite)
    found = discern(NgramEvaluator(Scorer(suite, threads=_THREADS)), some, plan, draws=0, threads=_THREADS).scored
    for number, item in enumerate(some):
        for each, text in zip(found.perturbed, _by_oracle(item, some, plan), strict=True):
            what = f"{each.perturbation.name} of {item.id}"
            agree(what, bool(each.is_possible[number]), text is not None)
            if text is not None:
                expected = oracle.score_one(item.question, text)["average"]
                agree(what, float(each.scores["average"][number]), expected)


def _by_oracle(item: Any, some: list[Any], plan: Plan) -> list[str | None]:
    donors = [other.text for other in some if other.question != item.question]
    made = [
        text
        for kind in plan.kinds
        for text in perturbed(item.text, kind, plan.of_kind(kind), language=item.language or "ja", donors=donors)
    ]
    return [text if isinstance(text, str) else None for text in made]


@pytest.mark.usefixtures("_compared")
@pytest.mark.benchmark(group="discernment", timer=REPORTED)
@pytest.mark.parametrize(
    ("n_per_question", "draws", "rounds"),
    [(2, 0, 3), (2, _N_DRAWS, 3), (225, 0, 1), (1_000, 0, 1)],
    ids=["usual", "bootstrap", "a_million_texts", "five_million_texts"],
)
def test_discern(
    measure: Measure, inputs: Inputs, mix_file: Path, n_per_question: int, draws: int, rounds: int
) -> None:
    """The usual plan in a new process, on several threads, without the loading of suite and answers."""
    found: list[dict[str, float]] = []
    n = measure.amount(n_per_question, 2)

    def run() -> None:
        found.append(in_a_new_process("discern_mix", inputs.suite, mix_file, n, draws, _THREADS))
        REPORTED.add(found[-1]["seconds"])

    measure.seconds(rounds, run)
    fastest = min(found, key=lambda one: one["seconds"])
    with_draws = f"{draws:,} draws" if draws else "no bootstrap"
    what = f"discern, {int(fastest['n_items']):,} originals, {with_draws}"
    if rounds == 1:
        what = f"discern, {int(fastest['n_texts']):,} texts made and scored"
    measure.row(f"{what}, {_THREADS} threads", fastest["seconds"], "s")
    measure.row("  processor time, which other load hardly changes", fastest["cpu"], "s")
    if rounds == 1:
        measure.row("  peak memory of that process", fastest["n_bytes"] / 1e6, "MB")
