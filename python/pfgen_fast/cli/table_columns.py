"""What `score` finds in a table of answers: its columns and its suite; the means of models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ..base.untrusted_text import few_names
from .app import fail, note, print_line, shown
from .layout import aligned
from .score_options import ScoreOptions
from .suite_line import about_interval, fitting_suites

if TYPE_CHECKING:
    from ..rewards.references.reference_scorer import ReferenceScorer
    from ..tables.model_means import MeansOfModels, ModelMeans

T = TypeVar("T", bound=ScoreOptions)
_QUESTION_NAMES = ("question", "question_id", "q", "prompt", "質問")
_REFERENCE_NAMES = ("references", "reference", "refs", "ref", "targets", "target", "参照")
_ANSWER_NAMES = ("answer", "a", "response", "output", "completion", "回答")
_MAX_SHOWN_COLUMNS = 20


def with_columns(options: T, path: Path, name: str, scorer: ReferenceScorer | None) -> T:
    """The options with the columns and the suite of a table; what is guessed is printed."""
    from ..runs.checkout import checkout_of
    from ..suite.published import how_to_name_a_suite
    from ..tables.formats import first_rows
    from ..tables.model_means import MODEL_NAMES, usual_column

    needs_references = scorer is not None and scorer.needs_references and not options.reference_columns
    has_suite = scorer is not None or options.suite is not None or checkout_of(Path.cwd() / "run") is not None
    if options.answer_column and not needs_references and (scorer or options.question_column) and has_suite:
        return options
    head = first_rows(path, options.encoding, name=name)
    names = [column for column in head.names if column]
    answer = options.answer_column or usual_column(names, _ANSWER_NAMES)
    question = None if scorer else options.question_column or usual_column(names, _QUESTION_NAMES)
    reference = usual_column(names, _REFERENCE_NAMES) if needs_references else None
    for what, column in (("question", scorer or question), ("answer", answer), ("reference", reference)):
        if column is None and (what != "reference" or needs_references):
            there = few_names(list(map(repr, names)), _MAX_SHOWN_COLUMNS) or "no columns"
            fail(f"{name}: name the column of {what}s (--{what}-column); there are {there}")
    columns = {"answers": answer, "questions": question, "references": reference}
    columns["models"] = None if options.target else usual_column(names, MODEL_NAMES)
    told = ", ".join(f"{what} from {column!r}" for what, column in columns.items() if column)
    suite = options.suite
    if not has_suite:
        suites = fitting_suites([str(row.get(str(question))) for row in head.rows()])
        if len(suites) > 1:
            fail(f"the questions are those of {' and '.join(suites)}: name the suite (--suite)")
        if not suites:
            fail(f"{name}: no suite on this machine has the questions in column {question!r}; {how_to_name_a_suite()}")
        (suite,) = suites
        told += f"; suite {suite}, which has these questions"
    if not options.is_silent:
        note(f"read {told}")
    chosen: T = replace(
        cast(Any, options),
        suite=suite,
        answer_column=answer,
        question_column=question,
        reference_columns=[reference] if reference else options.reference_columns,
    )
    return chosen


def print_means(models: Sequence[ModelMeans], means: MeansOfModels, told: str) -> None:
    """Prints the means of the models in a table, best first."""
    metric, *others = means.metrics
    rows = [["score" if metric == "average" else metric, "±95 %", *others, "questions", "answers", "model"]]
    for model in models:
        half = model.score.half_width
        figures = [f"{model.score.mean:.4f}", "–" if half is None else f"±{half:.4f}"]
        figures += [f"{model.means[other]:.4f}" for other in others]
        rows.append([*figures, f"{model.n_questions:,}", f"{model.n_answers:,}", shown(model.model)])
    hidden = {"questions": not means.question_column, "model": not means.model_column}
    kept = [number for number, name in enumerate(rows[0]) if not hidden.get(name)]
    to_left = [len(kept) - 1] if means.model_column else []
    head, *lines = aligned([[row[number] for number in kept] for row in rows], to_left=to_left)
    print_line((head, "bold"))
    for line in lines:
        print_line(line)
    print_line((about_interval("questions" if means.question_column else "answers"), "dim"))
    if not means.are_comparable:
        note("the models have answers to different questions, so their means are not comparable")
    print_line((f"{told}; --output FILE writes the scores of each row", "dim"))
