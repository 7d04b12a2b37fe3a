"""Writes the report of checklists: the page of runs, with models, tasks and verdicts; and the table next to it as CSV.

Untrusted text enters the page as in the report of runs. A page in one file is bounded: if all answers of many models
exceed that, the page says what it leaves out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ..base.errors import ChecklistError
from ..base.file_writing import write_whole
from ..base.untrusted_text import in_one_line, utf8
from ..lab.checklists.checklist_runs import Answer, Run
from ..lab.checklists.checklist_scoring import ChecklistScores, ModelScores
from ..lab.checklists.checklist_tables import full_table
from ..lab.checklists.error_modes import MODES, ErrorRules, errors_in
from ..lab.checklists.judged import State, is_stale
from ..lab.checklists.judgements import Judgement
from ..lab.checklists.line_files import OnFault
from ..lab.checklists.tasks import AnswerKey, ChecklistTask, TaskKey
from . import pages
from .answers import packed
from .checklists_overview import AnswerEvidence, ModelEvidence, figures_of, overview_of, shown_tasks
from .pages import PAGE, is_one_file, write_bounded_page, write_page_folder
from .run_page import SCRIPTS, overview_page

_OWN = {
    "report/answers.js": ("checklists/answers.js", "checklists/questions.js"),
    "report/plots.js": ("checklists/plots.js",),
}
"""The scripts of the page of runs that have others in their place."""

CHECKLISTS_SCRIPTS = [script for name in SCRIPTS for script in _OWN.get(name, (name,))]

Extent = tuple[int | None, int | None]
"""The maximum numbers of code points of an answer or instruction, and of a reason; None for no limit."""

# The parts that are left out first need the most space and are read least.
_EXTENTS: tuple[Extent, ...] = (
    *((n, None) for n in (None, 32_000, 16_000, 8_000, 4_000, 2_000, 1_000, 500, 0)),
    *((0, n) for n in (200, 100, 50, 0)),
)


def write_checklists(
    scores: ChecklistScores,
    runs: Sequence[Run],
    output: Path,
    *,
    judge: str | None = None,
    on_fault: OnFault | None = None,
) -> tuple[Path, Path]:
    """Writes a page, in a bounded file (.html) or in a folder, and the table next to it; returns their paths."""
    is_file = is_one_file(output)
    table = output.with_suffix(".csv") if is_file else output / "table.csv"
    page = _Page(scores, _evidence_of(scores, runs, judge, on_fault))
    if is_file:
        lines, n, error = page.lines_of_tasks, len(page.tasks), ChecklistError
        write_bounded_page(output, n, _EXTENTS, lines, page.pieces, n_runs=len(runs), error=error)
    else:
        data = {"answers": (task.split("\n") for task in page.lines_of_tasks(_EXTENTS[0]))}
        write_page_folder(output, data, lambda files: page.pieces(_EXTENTS[0], [], files))
    write_whole(table, utf8(full_table(scores).to_csv()))
    return output if is_file else output / PAGE, table


class _Page:
    """A page before it is known how much of the texts fits into it."""

    def __init__(self, scores: ChecklistScores, models: Sequence[ModelEvidence]) -> None:
        if not models:
            raise ChecklistError("a report needs at least one run")
        self._scores, self._models = scores, models
        self.tasks = shown_tasks(scores, models)
        self._overview = overview_of(scores, models)
        self._figures = packed(figures_of(self._overview))

    def lines_of_tasks(self, extent: Extent, step: int = 1) -> Iterator[str]:
        """The two lines of every `step`-th task: the task, and the answers."""
        categories = list(self._scores.suite.checklists)
        for task in self.tasks[::step]:
            answers = [model.get(task.key, ()) for model in self._models]
            yield packed(_task(task, categories.index(task.place), extent)) + "\n" + packed(_columns(answers, extent))

    def pieces(
        self, extent: Extent, lines: Sequence[str], files: Mapping[str, Sequence[str]] = MappingProxyType({})
    ) -> Iterator[str]:
        """The text of the page."""
        notes = [*self._overview["notes"], *_left_out(extent)]
        n_shown = 10**9 if extent[0] is None else extent[0]
        overview = {**self._overview, "files": files, "extent": extent, "n_shown": n_shown}
        return overview_page(
            overview,
            self._figures,
            scripts=CHECKLISTS_SCRIPTS,
            section="Checklists",
            suite=in_one_line(self._scores.suite.name),
            plots=[(place, "", plot["title"]) for place, plot in enumerate(self._overview["plots"])],
            notes=notes,
            answers=lines,
        )


def _left_out(extent: Extent) -> list[str]:
    """What a page leaves out to stay below the maximum size."""
    parts = [
        f"the {name}" if limit == 0 else f"the text of {name} after the first {limit:,} characters"
        for name, limit in zip(("answers", "reasons"), extent, strict=True)
        if limit is not None
    ]
    left_out = f"To stay below {pages.MAX_BYTES // 1_000_000} MB, this page leaves out {' and '.join(parts)}"
    return [f"{left_out}; a report in a folder (a name without .html) has everything"] if parts else []


def _evidence_of(
    scores: ChecklistScores, runs: Sequence[Run], judge: str | None, on_fault: OnFault | None
) -> list[ModelEvidence]:
    """The data of the answers of all models, in the order of the scores."""
    by_key = {run.key: run for run in runs}
    rules = ErrorRules(scores.suite)
    models: list[ModelEvidence] = []
    for model in scores.models:
        if model.model not in by_key:
            raise ChecklistError(f"the scores are of {model.model} too, but there is no such run")
        run = by_key[model.model]
        answers = run.answers(scores.suite, on_fault=on_fault)
        rows = [
            row
            for row in run.judgements(scores.suite, on_fault=on_fault)
            if row.method == scores.method and (judge is None or judge in (row.judge, row.version))
        ]
        models.append(_by_task(model, rules, run, answers, rows))
    return models


def _by_task(
    model: ModelScores, rules: ErrorRules, run: Run, answers: Mapping[AnswerKey, Answer], rows: Sequence[Judgement]
) -> dict[TaskKey, list[AnswerEvidence]]:
    judgements: dict[AnswerKey, list[Judgement]] = {}
    for row in rows:
        judgements.setdefault(row.key, []).append(row)
    scored = {answer.key: answer for answer in model.answers}
    errors = (answer for answer in errors_in(answers, rows, rules) if answer.has_text)
    marks = {answer.key: tuple(mode for mode, has in MODES.items() if has(answer)) for answer in errors}
    by_task: dict[TaskKey, list[AnswerEvidence]] = {}
    for key in sorted({*answers, *judgements, *scored}, key=lambda key: (key[0], key[1] or "", key[2])):
        own = [(row, is_stale(row, rules.suite, run, answers)) for row in judgements.get(key, ())]
        state: State = "judged"
        if key not in scored and own:
            state = "stale" if all(stale for _, stale in own) else "unjudged"
        elif key not in scored:
            state = "unjudged" if run.waits_for_replies and key in answers else "missing"
        evidence = (state, scored.get(key), answers.get(key), own, marks.get(key, ()))
        by_task.setdefault(key[:2], []).append(AnswerEvidence(key[2], *evidence))
    return by_task


# --- the data of a task


def _task(task: ChecklistTask, category: int, extent: Extent) -> dict[str, Any]:
    instruction = task.instruction or ""
    return {
        "category": category,
        "instruction": instruction[: extent[0]],
        "n_instruction": len(instruction),
        "is_whole": task.is_whole,
        "wanted": task.wanted_words,
        "reference": None if task.reference is None else task.reference[: extent[0]],
    }


def _columns(by_model: Sequence[Sequence[AnswerEvidence]], extent: Extent) -> dict[str, Any]:
    """The answers of all models in columns, because columns compress best."""
    listed = [answer for answers in by_model for answer in answers]
    texts = [None if entry.answer is None else entry.answer.response for entry in listed]
    scores = [entry.score for entry in listed]
    return {
        "runs": [number for number, answers in enumerate(by_model) if answers],
        "numbers": [list(range(len(answers))) for answers in by_model if answers],
        "trials": [entry.trial for entry in listed],
        "score": [None if score is None else round(score.score, 4) for score in scores],
        "words": [score and score.words for score in scores],
        "verdicts": [score and [round(verdict, 4) for verdict in score.verdicts] for score in scores],
        "texts": [(text or "")[: extent[0]] for text in texts],
        "length": [None if text is None else len(text) for text in texts],
        "finish": [entry.answer and entry.answer.finish_reason for entry in listed],
        "states": [entry.state for entry in listed],
        "marks": [entry.marks for entry in listed],
        "judgements": [[_judgement(*pair, extent) for pair in entry.judgements] for entry in listed],
    }


def _judgement(judgement: Judgement, is_stale: bool, extent: Extent) -> dict[str, Any]:
    """A judgement without its default values."""
    reasons = [None if text is None else text[: extent[1]] for text in judgement.reasons]
    entry: dict[str, Any] = {
        "judge": judgement.judge,
        "version": judgement.version,
        "rating": None if judgement.rating == 1 else judgement.rating,
        "scores": judgement.verdicts and [round(verdict, 4) for verdict in judgement.verdicts],
        "reasons": reasons if any(reasons) else None,
        "tries": None if judgement.tries == 1 else judgement.tries,
        "fault": judgement.fault,
        "cut": judgement.cut or None,
        "stale": is_stale or None,
    }
    return {name: value for name, value in entry.items() if value not in (None, "")}
