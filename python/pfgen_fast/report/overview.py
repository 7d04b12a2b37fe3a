"""The uncompressed data of the report page: runs with scores, intervals and parameters, and lines of a sweep."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from ..base.mean_interval import INTERVAL_HEADS, MeanInterval, mean_interval
from ..base.table import Column
from ..base.untrusted_text import in_one_line
from ..runs.checkpoint_steps import STEP, step_of
from ..runs.diagnosis import CAUSE_WORDS
from ..runs.items.by_subject import FEW_ITEMS
from ..runs.leaderboard import ranks, shown_names, with_organisation
from ..runs.loss_figures import CAUSES, FAULTS, AnswerFaults
from ..runs.statistics.paired_tests import MIN_QUESTIONS, TESTS
from ..runs.statistics.verdicts import SENTENCES, tied_ranks
from ..runs.trial_intervals import Interval
from ..scoring.tinting import BOUNDS
from ..suite.rules import PARTS
from ..suite.suite import Suite
from .safe_runs import CheckedQuestion, CheckedRun

FLUENT = 0.7
"""An answer of at least this fluency is fluent; the fluency of reference answers is 1 on average."""

UNHELPFUL = 0.3
"""An answer of at most this helpfulness is not helpful."""

RUN_WORDS = {
    **{name.capitalize(): name.capitalize() for name in ("run", "question", "questions", "subject")},
    **{name: name for name in ("run", "runs", "question", "questions", "suite", "subject", "subjects")},
    "score": "Score",
    "test": "paired t-tests",
    "interval": "Student’s t",
}
"""What a page calls its subjects."""

RUN_COLUMNS = (
    Column("length", "Length", 1),
    *(Column(part, part.capitalize(), 3) for part in PARTS),
)
"""The metrics beside the score, with the digits of the leaderboard in a terminal."""

_HASH = re.compile("[0-9a-f]{7}")  # directory of a run, after its model
_MAX_SETTINGS = 3
_MAX_SETTING = 40
_MAX_SWEPT, _MAX_SWEPT_VALUES, _MAX_SWEEP = 4, 30, 500
# These may follow from other parameters: a model's name may be derived from them, the stop texts depend on the mode.
_MAY_FOLLOW = ("model", "stop")
_NOT_THERE = "–"
Settings = dict[str, float | str]
"""The swept parameters of a run, as numbers and bounded texts."""


def overview_of(runs: Sequence[CheckedRun], suite: Suite) -> dict[str, Any]:
    """The overview of runs that are sorted by score."""
    run_ranks = ranks((run.model, run.figures["score"]) for run in runs)
    scores, averages = ([_by_question(run, suite, figure) for run in runs] for figure in ("score", "average"))
    ranges = tied_ranks(run_ranks, averages)
    return {
        "questions": [
            {"id": question.question_id, "text": question.question, "subject": in_one_line(question.category, 40)}
            for question in suite
        ],
        "runs": [
            {
                **_figures(run),
                **name,
                **shown_interval(mean_interval(known) if known else None),
                "rank": rank,
                "ranks": tied,
                "questions": by_question,
                "worst": _worst(run, suite),
            }
            for run, rank, tied, by_question, exact, name in zip(
                runs, run_ranks, ranges, scores, averages, _parts_of_names(runs), strict=True
            )
            for known in [[score for score in exact if score is not None]]
        ],
        "sweep": sweep_of(
            [(run.name, run.source.result.config) for run in runs], [run.source.intervals for run in runs]
        ),
        "target": " or ".join(dict.fromkeys(question.target_shown for question in suite)),
        "bounds": BOUNDS,
        "causes": CAUSES,
        "faults": FAULTS,
        "cause_words": {**CAUSE_WORDS, "language": f"not in {AnswerFaults(runs[0].source.result, suite).language}"},
        **about_page(RUN_WORDS, RUN_COLUMNS, has_answers=True),
    }


def about_page(
    words: Mapping[str, str],
    columns: Sequence[Column],
    digits: int = 4,
    *,
    is_share: bool = False,
    has_answers: bool = False,
) -> dict[str, Any]:
    """The words of a page, its columns, the digits of its scores, and what its verdicts need."""
    return {
        "words": words,
        "columns": [(column.name, column.head, column.digits) for column in columns],
        "digits": digits,
        "is_share": is_share,  # whether all scores are 0 or 1
        "interval_head": INTERVAL_HEADS[is_share],
        "has_answers": has_answers,
        "has_parts": words is RUN_WORDS,  # whether scores have the parts fluency, truthfulness and helpfulness
        "higher_is_better": True,
        "clusters": None,
        "min_questions": MIN_QUESTIONS,
        "few_items": FEW_ITEMS,
        "sentences": SENTENCES,
        "tests": TESTS,
    }


def headline(overview: Mapping[str, Any]) -> tuple[str, list[tuple[str, str]]]:
    """A sentence about the best run with {} in place of names, and for each the name to show and that of its run."""
    ranked, words = [run for run in overview["runs"] if run["rank"] is not None], overview["words"]
    if not ranked and "checklists" in overview and len(overview["runs"]) == 1:
        is_judged = [overview["runs"][0][key] is not None for key, *_ in overview["columns"]]
        return f"{{}}: {sum(is_judged)} of {len(is_judged)} areas are judged.", [(overview["runs"][0]["name"],) * 2]
    if not ranked:
        return f"No {words['run']} has a rank.", []
    best, n, runs = ranked[0], len(ranked), words["runs"]
    n_titles = Counter(run["title"] for run in ranked)
    name, *others = [(run["title" if n_titles[run["title"]] == 1 else "name"], run["name"]) for run in ranked]
    if n == 1:
        return f"{{}} is the only ranked {words['run']}; its score is {best['score']:.{overview['digits']}f}.", [name]
    n_equal = sum(run["rank"] == best["rank"] for run in ranked[1:])
    equal, having = "{}" if n_equal == 1 else f"{n_equal:,} other {runs}", [name, *others[: n_equal == 1]]
    subject, has = ("{}", f"{{}} and {equal} have") if n_equal else ("it", "{} has")
    has_score = f"{has} the {'highest' if overview['higher_is_better'] else 'lowest'} score"
    (_, last), *ranges = [run["ranks"] or (0, 0) for run in ranked]
    if not last:
        return has_score + ("; the questions are too few to tell runs apart." if words is RUN_WORDS else "."), having
    # The others that no run is better than, named if they are all that the best run is not better than.
    close = {other: ends for other, ends in zip(others, ranges, strict=True) if ends[0] == 1}
    last = max(last, 1 + len(close))  # each range has a family of its own, so two may disagree about a pair
    if last == 1:
        rest = "{}" if n == 2 else f"every other {words['run']}"
        return f"{{}} leads: it is better than {rest}.", [name, *others[: n == 2]]
    if last == n and set(ranges) == {(1, n)}:
        return f"{has_score}; no difference between the {n:,} {runs} is significant.", having
    having += [name] * (n_equal > 0)
    if len(close) != last - 1 or last >= min(4, n):
        return f"{has_score}; {subject} is better than {n - last or 'none'} of the {n - 1:,} other {runs}.", having
    if set(close.values()) == {(1, last)}:
        lead = "{}" + ", {}" * (last - 2) + " and {} lead"
        return f"{lead}: better than the rest, not distinguished from each other.", [name, *close]
    rest = f"every other {words['run']} except {{}}" + " and {}" * (last - 2)
    return f"{has_score}; {subject} is better than {rest}.", [*having, *close]


def _parts_of_names(runs: Sequence[CheckedRun]) -> Iterator[dict[str, str]]:
    """The name of each run as a title, the settings that tell it from other runs of its model, and the rest."""
    by_model: dict[str, list[Mapping[str, str]]] = {}
    for run in runs:
        by_model.setdefault(run.model, []).append(run.parameters)
    differing = {
        model: [
            key
            for key in dict.fromkeys(chain.from_iterable(parameters))
            if key not in ("mode", "model") and len({settings.get(key) for settings in parameters}) > 1
        ]
        for model, parameters in by_model.items()
    }
    names = shown_names([(run.model, run.name) for run in runs])
    for run, name in zip(runs, names, strict=True):
        folder, _, last = run.name.rpartition("/")
        model, is_path = with_organisation(run.model, run.name), name == run.name
        title, rest = name, "" if is_path else run.name
        if folder == model or _HASH.fullmatch(last):
            title, rest = folder if is_path else name, last
        keys = [key for key in differing[run.model] if key in run.parameters][:_MAX_SETTINGS]
        settings = [run.parameters.get("mode", ""), *(f"{key} {run.parameters[key]}" for key in keys)]
        shown = (text if len(text) <= _MAX_SETTING else f"own {text.split()[0]}" for text in settings if text)
        yield {
            "title": in_one_line(title, 200),
            "settings": " · ".join(shown),
            "rest": rest,
            "organisation": in_one_line(model.partition("/")[0], 60) if "/" in model else "",
        }


def _by_question(run: CheckedRun, suite: Suite, figure: str) -> list[float | None]:
    questions = (run.questions.get(question.question_id) for question in suite)
    return [question.figures[figure] if question else None for question in questions]


def _worst(run: CheckedRun, suite: Suite) -> tuple[int, int] | None:
    """The places of the question and of the sample with the lowest score; None if no sample has a score."""
    scores = (
        (sample.figures["score"], place, number)
        for place, question in enumerate(suite)
        if question.question_id in run.questions
        for number, sample in enumerate(run.questions[question.question_id].samples)
        if sample.figures["score"] is not None
    )
    worst = min(scores, default=None)
    return worst and worst[1:]


def missed_keywords(by_run: Sequence[CheckedQuestion | None]) -> dict[str, list[int]]:
    """In how many samples of each run a keyword of a question is missing, by keyword."""
    samples = (question.samples if question else () for question in by_run)
    counts = [Counter(name for sample in own for name in sample.missing) for own in samples]
    return {name: [count[name] for count in counts] for name in dict.fromkeys(chain.from_iterable(counts))}


def shown_interval(interval: MeanInterval | None, digits: int = 4) -> dict[str, float | str | None]:
    """The ends of the interval of a score, and the interval in words."""
    if interval is None:
        return {"low": None, "high": None, "spread": "–"}
    return {"low": interval.low, "high": interval.high, "spread": interval.shown(digits)}


def _figures(run: CheckedRun) -> dict[str, Any]:
    samples = [sample for question in run.questions.values() for sample in question.samples]
    return {
        "name": run.name,
        "medal": run.medal,
        "group": "system" if run.medal else run.parameters.get("mode", "")[:20] or "mode unknown",
        **{name: run.figures[name] for name in ("score", "length", *PARTS)},
        "trials": float(run.source.result.num_trials),
        "link": run.link,
        "parameters": run.parameters,
        "replies": run.source.replies,
        "sets": [[name, *values] for name, values in run.by_set.items()],
        "samples": len(samples),
        "missing": sum(bool(sample.missing) for sample in samples),
        "too_long": sum(sample.is_long for sample in samples),
        "unhelpful": sum(
            fluency is not None and helpfulness is not None and fluency >= FLUENT and helpfulness <= UNHELPFUL
            for sample in samples
            for fluency, helpfulness in [(sample.figures["fluency"], sample.figures["helpfulness"])]
        ),
    }


# --- sweeps


def sweep_of(
    runs: Sequence[tuple[str, Mapping[str, Any] | None]], intervals: Sequence[Mapping[str, Interval]] = ()
) -> dict[str, Any] | None:
    """The lines over steps and over each parameter but the model in which runs (names, configs) differ, or None."""
    steps = [step_of(config, name) for name, config in runs]
    configs = [
        config if step is None else {**(config or {}), "model": step[0], STEP: step[1]}
        for step, (_, config) in zip(steps, runs, strict=True)
    ]
    swept = swept_values(configs)
    settings = zip(steps, swept or [Settings()] * len(runs), strict=True)
    points: list[dict[str, Any]] = [{**values, STEP: step and float(step[1])} for step, values in settings]
    over_step = series_of(steps, configs)
    by_parameter = {STEP: over_step} if over_step else {}
    for key in swept[0] if swept else ():
        grouped = lines(swept or (), key)
        if max(map(len, grouped.values())) > 1 and key != "model" and not (over_step and key == STEP):
            by_parameter[key] = grouped
    if not by_parameter:
        return None
    half_widths = [{metric: interval.half_width for metric, interval in own.items()} for own in intervals]
    return {
        "parameters": [
            {
                "name": key,
                "values": _axis([values for values in points if values[key] is not None], key),
                "points": [values[key] for values in points],
                "lines": [{"name": name, "runs": numbers} for name, numbers in grouped.items()],
            }
            for key, grouped in by_parameter.items()
        ],
        "names": [_settings_in_words(values) for values in swept] if swept else [name for name, _ in runs],
        "intervals": half_widths,
        # bands are intervals over trials if one is known
        "over": "trials" if any(own.get("score") is not None for own in half_widths) else "questions",
    }


def series_of(
    steps: Sequence[tuple[str, int] | None], configs: Sequence[Mapping[str, Any] | None]
) -> dict[str, list[int]]:
    """The runs of each series with at least two steps, by step; runs of one step are on lines of their own.

    The name of such a line has the parameters in which the runs of a step differ.
    """
    by_step: dict[tuple[str, int], list[int]] = {}
    for number, step in enumerate(steps):
        if step is not None:
            by_step.setdefault(step, []).append(number)
    settings = [_settings_of(config) for config in configs]
    differing: dict[str, dict[str, None]] = {}
    for (series, _), numbers in by_step.items():
        for key in chain.from_iterable(settings[number] for number in numbers):
            if len({settings[number].get(key) for number in numbers}) > 1:
                differing.setdefault(series, {})[key] = None
    named: dict[str, list[int]] = {}
    for (series, _), numbers in sorted(by_step.items()):
        for number in numbers:
            own = {key: settings[number].get(key, _NOT_THERE) for key in differing.get(series, ())}
            name = ", ".join(filter(None, (series, _settings_in_words(own))))
            named.setdefault(in_one_line(name, 200), []).append(number)
    return {name: numbers for name, numbers in named.items() if len({steps[number] for number in numbers}) > 1}


def swept_values(configs: Sequence[Mapping[str, Any] | None]) -> list[Settings] | None:
    """The values of each run for the parameters in which the runs differ; None if the runs are not a sweep."""
    known = [_settings_of(config) for config in configs]
    columns = {key: [config.get(key, _NOT_THERE) for config in known] for config in known for key in config}
    differing = {key: values for key, values in columns.items() if len(set(values)) > 1}
    if None in configs or not 2 <= len(configs) <= _MAX_SWEEP or (len(configs) == 2 and "model" in differing):
        return None
    for key in _MAY_FOLLOW:
        others = [values for other, values in differing.items() if other != key]
        own = differing.get(key)
        if own and any(len(set(zip(other, own, strict=True))) == len(set(other)) for other in others):
            del differing[key]
    if not 1 <= len(differing) <= _MAX_SWEPT or any(len(set(v)) > _MAX_SWEPT_VALUES for v in differing.values()):
        return None
    return [dict(zip(differing, values, strict=True)) for values in zip(*differing.values(), strict=True)]


def _settings_of(config: Mapping[str, Any] | None) -> Settings:
    """The parameters of a run; the hash of a file is no setting."""
    return {in_one_line(key): _plain(value) for key, value in (config or {}).items() if not key.endswith("_hash")}


def _plain(value: object) -> float | str:
    """A parameter as a number if possible, otherwise as a bounded text; a missing parameter is a dash."""
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e15:
        return float(value)
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return in_one_line("+".join(value), 60)
    try:
        return _NOT_THERE if value is None else in_one_line(value, 60) or "(empty)"
    except RecursionError:
        return "(nested)"


def lines(points: Sequence[Settings], parameter: str) -> dict[str, list[int]]:
    """The points as lines over one parameter, one for each combination of the others, by its words."""
    orders = {key: {value: number for number, value in enumerate(_axis(points, key))} for key in points[0]}

    def order(number: int) -> tuple[list[int], int]:
        values = points[number]
        return [orders[key][values[key]] for key in values if key != parameter], orders[parameter][values[parameter]]

    grouped: dict[str, list[int]] = {}
    for number in sorted(range(len(points)), key=order):
        others = {key: value for key, value in points[number].items() if key != parameter}
        grouped.setdefault(_settings_in_words(others), []).append(number)
    return grouped


def _axis(points: Sequence[Settings], parameter: str) -> list[float | str]:
    """The values of a parameter in the order of an axis: numbers in ascending order, then others as they occur."""
    values = list(dict.fromkeys(point[parameter] for point in points))
    numbers = sorted(value for value in values if isinstance(value, float))
    return [*numbers, *(value for value in values if isinstance(value, str))]


def _settings_in_words(values: Settings) -> str:
    return ", ".join(f"{key} {f'{value:.12g}' if isinstance(value, float) else value}" for key, value in values.items())
