"""What `score` finds in a table of answers: its columns and its suite, or a complete command; the means of models."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

from ..errors import PfgenError
from ..files.untrusted_text import few_names
from .app import fail, note, print_line, shown
from .layout import aligned
from .score_options import ScoreOptions
from .suite_line import about_interval, fitting_suites, source_or_here

if TYPE_CHECKING:
    from ..references.reference_scorer import ReferenceScorer
    from ..tables.model_means import MeansOfModels, ModelMeans

T = TypeVar("T", bound=ScoreOptions)
_QUESTION_NAMES = ("question", "question_id", "q", "prompt", "質問")
_REFERENCE_NAMES = ("references", "reference", "refs", "ref", "targets", "target", "参照")
_ANSWER_NAMES = ("answer", "a", "response", "output", "completion", "回答")
_MAX_SHOWN_COLUMNS = 20


def with_columns(options: T, path: Path, scorer: ReferenceScorer | None) -> T:
    """The options with the columns and the suite of a table, which are guessed and named; see `ask`."""
    from ..tables.formats import first_rows
    from ..tables.model_means import MODEL_NAMES, usual_column

    has_references = scorer is None or options.reference_columns or not scorer.needs_references
    has_suite = scorer is not None or options.suite is not None or _has_suite()
    if options.answer_column and has_references and (scorer or options.question_column) and has_suite:
        return options
    head = first_rows(path, options.encoding)
    names = [name for name in head.names if name]
    answer = options.answer_column or usual_column(names, _ANSWER_NAMES)
    question = None if scorer else options.question_column or usual_column(names, _QUESTION_NAMES)
    reference = None if has_references else usual_column(names, _REFERENCE_NAMES)
    if answer is None or (question is None and scorer is None) or not (has_references or reference):
        ask(options)
    columns = {"answers": answer, "questions": question, "references": reference}
    columns["models"] = None if options.target else usual_column(names, MODEL_NAMES)
    told = ", ".join(f"{what} from {column!r}" for what, column in columns.items() if column)
    suite = options.suite
    if not has_suite:
        texts = [str(row.get(str(question))) for row in head.rows()]
        suites = fitting_suites(texts)
        if not suites and options.answer_column and options.question_column:
            return options  # the lack of a suite is an error of its own
        if len(suites) != 1:
            ask(options, " and ".join(suites))
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
    if len({model.n_questions for model in models}) > 1:
        note("the models have answers to different numbers of questions, so their means are not comparable")
    print_line((f"{told}; --output FILE writes the scores of each row", "dim"))


def ask(options: ScoreOptions, suites: str = "") -> NoReturn:
    """Ends the command with the columns of the first table and a complete command, or with the suites that fit."""
    if suites:
        fail(f"the questions are those of {suites}: name the suite (--suite)")
    if options.places == ["-"]:
        compared_with = "--reference-column" if options.metrics else "--question-column"
        fail(f"a table on stdin needs {compared_with}, --answer-column and --output ('-' for stdout)")
    from ..tables.folders.plans import first_table
    from ..tables.formats import column_names
    from ..tables.places import fetched, shown_place

    table = first_table(options.places)
    with fetched(table) as (path, _):
        names = column_names(path, options.encoding)
    command = shlex.join(["pfgen-fast", "score", *_words(options, names)])
    fail(f"{shown_place(table)}: a table with {_columns(names)}; to score it, type: {command}")


def _words(options: ScoreOptions, names: Sequence[str]) -> list[str]:
    """The arguments with which a table with these columns is scored."""
    from ..tables.model_means import usual_column
    from ..tables.places import shown_place

    is_folder = options.is_many() and not (len(options.places) == 1 and os.path.isdir(options.places[0]))
    usual = "scored/" if is_folder else _beside(options.places[0])
    arguments: dict[str, str | list[str] | None]
    if options.metrics:
        from ..references.reference_scorer import ReferenceScorer

        references = options.reference_columns
        if not references and ReferenceScorer(options.metrics).needs_references:
            references = [usual_column(names, _REFERENCE_NAMES) or "REFERENCES"]
        arguments = {"--metric": options.metrics, "--reference-column": references, "--tokenize": options.tokenize}
    else:
        question = options.question_column or usual_column(names, _QUESTION_NAMES) or "QUESTION"
        arguments = {
            "--suite": options.suite or (None if _has_suite() else "SUITE"),
            "--question-column": question,
        }
    arguments |= {
        "--answer-column": options.answer_column or usual_column(names, _ANSWER_NAMES) or "ANSWER",
        "--columns": options.columns,
        "--filter": options.where,
        "--encoding": options.encoding,
        "--reasoning": "strip" if options.reasoning == "strip" else None,
    }
    words = []
    for name, value in arguments.items():
        values = [] if value is None else [value] if isinstance(value, str) else value
        words += [word for argument in values for word in (name, argument)]
    words += [f"--{name}" for name in ("lowercase", "nulls") if getattr(options, name)]
    destination = ["--in-place"] if options.in_place else ["-o", options.target or usual]
    return [*words, *map(shown_place, options.places), *destination]


def _beside(source: str) -> str:
    """A name for a scored table or directory, such as `answers.scored.csv` or `answers.scored/`."""
    from ..tables.places import base_name, is_remote

    if os.path.isdir(source):
        return f"{os.path.normpath(source)}.scored/"
    path = Path(base_name(source) if is_remote(source) else source)
    stem, dot, ending = path.name.partition(".")
    return str(path.with_name(f"{stem}.scored{dot}{ending}"))


def _has_suite() -> bool:
    """Whether the working directory has a suite."""
    try:
        source_or_here(None)
    except PfgenError:
        return False
    return True


def _columns(names: Sequence[str]) -> str:
    if not names:
        return "no columns"
    return f"the column{'s' if len(names) > 1 else ''} {few_names(list(map(repr, names)), _MAX_SHOWN_COLUMNS)}"
