"""The overview of the page of checklists: models are its runs, tasks its questions; and what models lose on."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median
from typing import Any

from ..base.mean_interval import MeanInterval
from ..base.table import Column
from ..base.untrusted_text import in_one_line
from ..lab.checklists.checklist_runs import Answer
from ..lab.checklists.checklist_scoring import GAPS, ChecklistScores, ModelScores, ScoredPart
from ..lab.checklists.checklist_tables import missing_sentences, scale_sentences
from ..lab.checklists.error_modes import MODES
from ..lab.checklists.judged import State, Verdicts
from ..lab.checklists.judgements import Judgement
from ..lab.checklists.tasks import ChecklistTask, TaskKey
from ..lab.finding import n_equal
from .overview import about_page, sweep_of
from .score_page import page_words, run_entry

STATES: tuple[State | None, ...] = ("judged", "stale", "unjudged", "missing", None)
"""The states from best to worst; None is the state of a model that was not asked for tasks of that length."""

_OTHER_WORDS = {"subject": "category", "Subject": "Category", "subjects": "categories"}
_WORDS = page_words("model", "task", **_OTHER_WORDS, interval="Student’s t; areas have equal weights")
_DIGITS = 2
_N_LOSSES = 12
_N_NAMED = 20
_N_NAME = 40
_N_TITLE = 160
_N_READ = 2000
_MIN_COMMON = 20
_MIN_ALIKE = 3
_SIZE = re.compile(r"(?<![a-z0-9.])(?:(\d{1,3})x)?(\d{1,4}(?:\.\d{1,3})?)b(?![a-z0-9])", re.IGNORECASE)
_CONTEXT = re.compile(r"[-_. ](\d{1,4}(?=k)|\d(?=m))([km])(?![a-z0-9])", re.IGNORECASE)


@dataclass(frozen=True)
class AnswerEvidence:
    """The data of one answer of a model."""

    trial: int  # number of the answer
    state: State  # whether it is judged, and if not, why
    score: Verdicts | None  # its score, if it is judged
    answer: Answer | None  # answer, if the run has it
    # judgements of it, in the order of the file, and whether each is stale: of another text or another checklist
    judgements: Sequence[tuple[Judgement, bool]]
    marks: tuple[str, ...]  # error modes that its text has


ModelEvidence = Mapping[TaskKey, Sequence[AnswerEvidence]]
"""The answers of a model to each task, by trial; those without a text, a judgement and a score are not there."""


def overview_of(scores: ChecklistScores, models: Sequence[ModelEvidence]) -> dict[str, Any]:
    """The overview, as `overview.overview_of` makes it for runs.

    All scores are rescaled. A task with a length is in no area, so the average leaves it out.
    """
    suite, tasks = scores.suite, shown_tasks(scores, models)
    names = {key: _words(name) for key, name in suite.category_names.items()}
    texts = [
        [(key, answer) for key, trials in model.items() for answer in trials if answer.answer is not None]
        for model in models
    ]
    marks = [mark for mark in MODES if any(mark in answer.marks for own in texts for _, answer in own)]
    cells = [[_cell(task, model, scores, marks) for model in models] for task in tasks]
    runs = []
    for number, (model, own, losses) in enumerate(
        zip(scores.models, texts, losses_of(scores, tasks, models), strict=True)
    ):
        parts = {f"area {place}": model.areas.get(area) for place, area in enumerate(suite.areas)}
        parts |= {f"length {place}": model.lengths.get(length) for place, length in enumerate(suite.lengths)}
        gaps = {gap: tuple(name for part in model.areas.values() for name in part.gaps[gap]) for gap in GAPS}
        parts["score"] = replace(model.average, gaps=gaps)
        run = _run(model, scores, [row[number][0] for row in cells]) | {
            **{key: part and part.rescaled for key, part in parts.items()},
            "remarks": {key: remark for key, part in parts.items() if part and (remark := _remark(part, scores))},
            "losses": losses,
            "errors": _errors_of(own),
            **{f"mark {mark}": 100 * sum(mark in a.marks for _, a in own) / len(own) for mark in marks if own},
        }
        for place in range(len(suite.lengths)):
            if (part := parts[f"length {place}"]) and part.length:
                run[f"error {place}"] = float(part.length.mean_absolute_length_error)
                run[f"shortfall {place}"] = float(part.length.mean_shortfall)
                run[f"enough {place}"] = 100 * float(part.length.share_long_enough)
        runs.append(run)
    columns = [Column(f"area {place}", _words(area), 2) for place, area in enumerate(suite.areas)]
    of_suite = [note[:1].upper() + note[1:] for note in scores.notes]
    notes = (*of_suite, *scale_sentences(scores)[1:], *missing_sentences(scores))
    return {
        "questions": [
            {
                "id": in_one_line("/".join(filter(None, task.key)), 200),
                "text": title,
                "subject": names[task.place],
                "area": _words(task.area),
                "length": (task.length or "main table") if suite.lengths else "",
            }
            for task, title in zip(tasks, titles(tasks), strict=True)
        ],
        "runs": runs,
        "sweep": sweep_of([(run["name"], None) for run in runs]),
        **about_page(_WORDS, columns, _DIGITS, has_answers=True),
        "verdict_digits": _DIGITS,
        "optional": _optional_columns(scores, marks),
        "strata": [None if task.length is not None else suite.areas.index(task.area) for task in tasks],
        "single_trials": [],
        "checklists": [
            {"name": names.get(key, ""), "questions": checklist.questions, "weights": _weights(scores, key)}
            for key, checklist in suite.checklists.items()
        ],
        "levels": (suite.levels[0], suite.levels[-1]),
        "rescaling": (suite.rescaling.centre, suite.rescaling.factor),
        "means": question_means(scores),
        "plots": plots_of(scores),
        "marks": marks,
        "state_names": STATES,
        "states": ["".join(str(STATES.index(state)) for _, state, _ in row) for row in cells],
        "marked": [[bits for *_, bits in row] for row in cells],
        "notes": [note.removesuffix(".") for note in notes],
    }


def figures_of(overview: Mapping[str, Any]) -> dict[str, list[list[float | None]]]:
    """The scores by task and model: of all tasks, and of those in each area."""
    average = [list(values) for values in zip(*(run["questions"] for run in overview["runs"]), strict=True)]
    nothing: list[float | None] = [None] * len(overview["runs"])
    return {"average": average} | {
        key: [row if stratum == place else nothing for row, stratum in zip(average, overview["strata"], strict=True)]
        for place, (key, _, _) in enumerate(overview["columns"])
    }


def _words(name: str) -> str:
    """The name of an area or a category to read."""
    return in_one_line(name.replace("_", " "), _N_NAME)


def _run(model: ModelScores, scores: ChecklistScores, questions: Sequence[float | None]) -> dict[str, Any]:
    """A model with its average, what describes it, and where answers are missing."""
    average, place = model.average, model.place
    is_unique = [other.name for other in scores.models].count(model.name) == 1
    name = in_one_line(model.name if is_unique else f"{model.name} ({model.model})", 200)
    low, high = average.interval or (None, None)
    interval = None if average.rescaled is None else MeanInterval(average.rescaled, low, high, average.n)
    rank = int(place) if place is not None and place.is_integer() else place
    return run_entry(name, interval, _DIGITS, rank, model.ranks, questions) | {
        "parameters": dict(pair.split(":", 1) for pair in f"run:{model.model}|{model.signature}".split("|")),
        "words": average.words,
        "zero": average.rescaled_missing_as_zero,
        "plain": average.rescaled_plain,
        "answers": average.rescaled_over_answers,
        "gaps": [
            [where, gap, part.gaps[gap][:_N_NAMED], len(part.gaps[gap])]
            for where, part in {**model.areas, **model.lengths}.items()
            for gap in GAPS
            if part.gaps[gap]
        ],
    }


def _errors_of(answers: Sequence[tuple[TaskKey, AnswerEvidence]]) -> list[tuple[str, list[tuple[int, int]]]]:
    """The errors that answers have, and how many of the answers without and with a wanted length have each."""
    parts = [[answer.marks for (_, length), answer in answers if bool(length) == is_long] for is_long in (False, True)]
    counts = {mode: [(sum(mode in marks for marks in part), len(part)) for part in parts] for mode in MODES}
    return [(mode, own) for mode, own in counts.items() if any(n for n, _ in own)]


def _remark(part: ScoredPart, scores: ChecklistScores) -> str:
    """What a figure leaves out, in words."""
    counts, as_zero = [f"{len(part.gaps[gap])} {gap}" for gap in GAPS if part.gaps[gap]], part.rescaled_missing_as_zero
    is_counted = not part.gaps["missing"] or as_zero is None or scores.missing == "zero"
    return ", ".join(counts if is_counted else [*counts, f"{as_zero:,.2f} if missing answers count as zero"])


def _optional_columns(scores: ChecklistScores, marks: Sequence[str]) -> list[tuple[str, str, int]]:
    """The columns that the leaderboard shows on demand: key, head and digits."""
    unit = "characters" if scores.suite.words == "characters" else "words"
    columns = [("words", unit.capitalize(), 0), ("zero", "Missing as zero", 2), ("plain", "Equal weights", 2)]
    columns.append(("answers", "Over answers", 2))
    for place, length in enumerate(scores.suite.lengths):
        if any(length in model.lengths for model in scores.models):
            columns += [(f"length {place}", length, 2), (f"error {place}", f"{length}: mean length error, {unit}", 1)]
            columns += [(f"shortfall {place}", f"{length}: mean shortfall, {unit}", 1)]
            columns += [(f"enough {place}", f"{length}: long enough, %", 1)]
    return columns + [(f"mark {mark}", f"{mark}, % of answers", 1) for mark in marks]


def _weights(scores: ChecklistScores, key: tuple[str, str]) -> tuple[float, ...]:
    """The weights with which the scores of a category were computed."""
    weights = scores.suite.checklists[key].weights
    return weights if scores.weights == "suite" else (100 / len(weights),) * len(weights)


def _cell(
    task: ChecklistTask, model: ModelEvidence, scores: ChecklistScores, marks: Sequence[str]
) -> tuple[float | None, State | None, int]:
    """The mean rescaled score of a model's trials of a task, the state of the worst trial, and all marks as bits."""
    trials = model.get(task.key, ())
    is_asked = task.length is None or any(length == task.length for _, length in model)
    states: list[State | None] = [trial.state for trial in trials] or ["missing" if is_asked else None]
    values = [trial.score.score for trial in trials if trial.score is not None]
    if scores.missing == "zero":
        values += [0.0] * states.count("missing")
    bits = sum(1 << number for number, mark in enumerate(marks) if any(mark in trial.marks for trial in trials))
    score = round(scores.suite.rescaling(math.fsum(values) / len(values)), 9) if values else None
    return score, max(states, key=STATES.index), bits


# --- verdicts on the questions of checklists


def _judged(scores: ChecklistScores) -> dict[tuple[str | None, str, str], list[list[Verdicts]]]:
    """The answers with verdicts on questions by length, area and category, of each model."""
    judged: dict[Any, list[list[Verdicts]]] = {}
    for row, model in enumerate(scores.models):
        for answer in model.answers if scores.method == "checklist" else ():
            place = (answer.task.length, *answer.task.place)
            judged.setdefault(place, [[] for _ in scores.models])[row].append(answer)
    return judged


def _means(answers: Sequence[Verdicts], n_missing: int = 0) -> list[float]:
    """The mean verdicts on the questions, with missing answers as zero; empty without an answer."""
    columns = zip(*(answer.verdicts for answer in answers), strict=True)
    return [math.fsum(column) / (len(answers) + n_missing) for column in columns]


def question_means(scores: ChecklistScores) -> list[dict[str, Any]]:
    """The mean verdict of each model on each question, by length (first the main table) and judged category."""
    judged, keys = _judged(scores), list(scores.suite.checklists)
    return [
        {
            "category": keys.index(key),
            "length": length,
            "means": [[round(mean, 6) for mean in _means(own)] or None for own in rows],
            "n": list(map(len, rows)),
        }
        for length in (None, *scores.suite.lengths)
        for key in sorted(keys, key=lambda key: scores.suite.areas.index(key[0]))
        if (rows := judged.get((length, *key))) is not None
    ]


def losses_of(
    scores: ChecklistScores, tasks: Sequence[ChecklistTask], models: Sequence[ModelEvidence]
) -> list[dict[str, Any] | None]:
    """What each model loses to a model with the median verdicts of all models, in points of the average.

    The losses on all questions add up to the whole loss, and so do those of `causes`: the first error of an answer, or
    the number of its area. `categories` has the loss on each category, `questions` the largest losses: the category and
    the question, the mean verdict and the median, the loss, and the task of the answer with the lowest verdict, among
    those to tasks without a larger loss here if there are any. None for a model without an average, and if there are no
    verdicts on questions.
    """
    places = {task.key: number for number, task in enumerate(tasks)}
    numbers = {key: number for number, key in enumerate(scores.suite.checklists)}
    judged = {(area, category): own for (length, area, category), own in _judged(scores).items() if length is None}

    def n_missing(row: int, key: tuple[str, str]) -> int:
        return len(scores.models[row].categories[key].gaps["missing"]) if scores.missing == "zero" else 0

    means = {key: [_means(own, n_missing(row, key)) for row, own in enumerate(rows)] for key, rows in judged.items()}
    medians = {key: list(map(median, zip(*filter(None, rows), strict=True))) for key, rows in means.items()}
    losses: list[dict[str, Any] | None] = []
    for row, model in enumerate(scores.models):
        counts = {key: len(rows[row]) + n_missing(row, key) for key, rows in judged.items()}
        categories, questions = [], []
        causes: dict[str | int, float] = {}
        marks = {(*task, answer.trial): answer.marks for task, own in models[row].items() for answer in own}
        for key in judged:
            in_area = sum(n for other, n in counts.items() if other[0] == key[0])
            share = scores.suite.rescaling.factor * counts[key] / max(1, in_area) / len(model.areas)
            points = []
            for question, own in enumerate(means[key][row]):
                reference = medians[key][question]
                points.append(share * _weights(scores, key)[question] * (reference - own))
                questions.append((key, question, own, reference, points[-1]))
            categories.append((numbers[key], math.fsum(points)))
            weights, area = _weights(scores, key), scores.suite.areas.index(key[0])
            lost: list[tuple[str | int, Sequence[float]]] = [
                (next(iter(marks[answer.key]), area), answer.verdicts) for answer in judged[key][row]
            ]
            for cause, verdicts in [*lost, *[("missing", (0.0,) * len(weights))] * n_missing(row, key)]:
                points = [w * (r - v) for w, r, v in zip(weights, medians[key], verdicts, strict=True)]
                causes[cause] = causes.get(cause, 0) + share * math.fsum(points) / counts[key]
        categories.sort(key=lambda part: -part[1])
        questions.sort(key=lambda part: -part[4])
        total = math.fsum(loss for _, loss in categories)
        largest = []
        named: set[TaskKey] = set()
        for key, question, *figures in questions[:_N_LOSSES]:
            others = [answer for answer in judged[key][row] if answer.task.key not in named] or judged[key][row]
            worst = min(others, key=lambda answer: (answer.verdicts[question], answer.score))
            named.add(worst.task.key)
            largest.append((numbers[key], question, *figures, places[worst.task.key]))
        by_size = sorted(causes.items(), key=lambda part: -part[1])
        whole = {"total": total, "causes": by_size, "categories": categories, "questions": largest}
        losses.append(whole if questions and model.average.rescaled is not None else None)
    return losses


# --- plots


def plots_of(scores: ChecklistScores) -> list[dict[str, Any]]:
    """The charts of models: score against size, score and words by wanted length, and longer contexts beside the base.

    Sizes in billions of parameters (`7b`, `8x7b`) and contexts (`16k`, `1m`) are parts of names. A series has the
    number of its model, and points of x and y.
    """
    models, words, plots = scores.models, "characters" if scores.suite.words == "characters" else "words", []
    sizes = []
    for number, model in enumerate(models):
        match = _SIZE.search(model.name) or _SIZE.search(model.model)
        if size := int(match[1] or 1) * float(match[2]) if match else 0:
            sizes.append(_series(number, [(size, model.average.rescaled)]))
    if len(sizes) > 1:
        plots.append(_plot("Score against model size", "billions of parameters (log)", "score", sizes, isLog=True))
    by_length = [(number, own) for number, model in enumerate(models) if (own := _by_length(model, scores))]
    if by_length:
        x, longest = f"wanted {words} (0: no wanted length)", max(row[0] for _, own in by_length for row in own)
        below = {"run": None, "points": [(end, 0, 0, end) for end in (0, longest)], "hasBand": True}
        for place, y in enumerate(("score", words), start=1):
            lines = [
                _series(number, [(row[0], row[place]) for row in own], dash="solid", look=look)
                for look, (number, own) in enumerate(by_length)
            ]
            plots.append(_plot(f"{y.capitalize()} by wanted length", x, y, [*lines, *[below] * (place - 1)]))
    families: dict[str, list[tuple[int, int]]] = {}
    for number, model in enumerate(models):
        context = _CONTEXT.search(model.name)
        tokens = int(context[1]) * (1000 if context[2] in "mM" else 1) if context else 0
        families.setdefault(_CONTEXT.sub("", model.name).lower(), []).append((tokens, number))
    lines = []
    for look, family in enumerate(sorted(family) for family in families.values() if len(family) > 1):
        for place, (_, number) in enumerate(family):
            parts = [*map(models[number].areas.get, scores.suite.areas), models[number].average]
            points = [(x, part.rescaled) for x, part in enumerate(parts) if part]
            lines.append(_series(number, points, dash="dash" if place else "solid", look=look))
    if lines:
        names = [*map(_words, scores.suite.areas), "all areas"]
        plots.append(_plot("Longer contexts beside the base", "", "score", lines, names=names))
    return plots


def _plot(title: str, x: str, y: str, series: Sequence[Mapping[str, Any]], **of_x: Any) -> dict[str, Any]:
    of_y = {"title": y, "digits": _DIGITS if y == "score" else 0}
    return {"title": title, "x": {"title": x, **of_x}, "y": of_y, "series": series}


def _series(number: int, points: Sequence[tuple[float, float | None]], **look: Any) -> dict[str, Any]:
    return {"run": number, "points": [point for point in points if point[1] is not None], **look}


def _by_length(model: ModelScores, scores: ChecklistScores) -> list[tuple[int, float | None, float | None]]:
    """The wanted words of each length, and the score and the words of a model; 0 stands for these tasks without one."""
    wanted = {task.length: task.wanted_words for task in scores.suite.tasks}
    rows = [(n, part.rescaled, part.words) for length, part in model.lengths.items() if (n := wanted[length])]
    ids = {answer.task.id for answer in model.answers if answer.task.length is not None}
    free = [answer for answer in model.answers if answer.task.length is None and answer.task.id in ids]
    words = [answer.words for answer in free if answer.words is not None]
    if rows and words:
        rows.append((0, scores.suite.rescaling(fmean(answer.score for answer in free)), fmean(words)))
    return sorted(rows)


# --- tasks


def shown_tasks(scores: ChecklistScores, models: Sequence[ModelEvidence]) -> list[ChecklistTask]:
    """The tasks of the main table, and those of a length of which any model has an answer or judgement."""
    return [task for task in scores.suite.tasks if task.length is None or any(task.key in model for model in models)]


def titles(tasks: Sequence[ChecklistTask]) -> list[str]:
    """The beginning of each task's instruction, without the words with which all of its category and length begin."""
    texts = [" ".join((task.instruction or "")[:_N_READ].split()) for task in tasks]
    groups: dict[Any, list[str]] = {}
    keys = [(*task.place, task.length) for task in tasks]
    for key, text in zip(keys, texts, strict=True):
        groups.setdefault(key, []).append(text)
    common = {key: min(own).rfind(" ", 0, n_equal(min(own), max(own))) + 1 for key, own in groups.items()}
    begins = [common[key] * (len(groups[key]) >= _MIN_ALIKE and common[key] >= _MIN_COMMON) for key in keys]
    return [in_one_line(text[begin:], _N_TITLE) for text, begin in zip(texts, begins, strict=True)]
