"""Suggests the command that scores a table, if options are missing."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from ..errors import PfgenError
from ..files.untrusted_text import few_names
from .app import fail
from .suite_line import source_or_here

if TYPE_CHECKING:
    from .score_options import ScoreOptions

_QUESTION_NAMES = ("question", "question_id", "q", "prompt", "質問")
_REFERENCE_NAMES = ("references", "reference", "refs", "ref", "targets", "target", "参照")
_ANSWER_NAMES = ("answer", "a", "response", "output", "completion", "回答")
_MAX_SHOWN_COLUMNS = 20


def ask(options: ScoreOptions) -> NoReturn:
    """Ends the command with the columns of the first table and a complete command."""
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
    from ..tables.places import shown_place

    is_folder = options.is_many() and not (len(options.places) == 1 and os.path.isdir(options.places[0]))
    usual = "scored/" if is_folder else _beside(options.places[0])
    given: dict[str, str | list[str] | None]
    if options.metrics:
        from ..references.reference_scorer import ReferenceScorer

        references = options.reference_columns
        if not references and ReferenceScorer(options.metrics).needs_references:
            references = [_first(_REFERENCE_NAMES, names) or "REFERENCES"]
        given = {"--metric": options.metrics, "--reference-column": references, "--tokenize": options.tokenize}
    else:
        question = options.question_column or _first(_QUESTION_NAMES, names) or "QUESTION"
        given = {
            "--suite": options.suite or (None if _has_suite() else "SUITE"),
            "--question-column": question,
        }
    given |= {
        "--answer-column": options.answer_column or _first(_ANSWER_NAMES, names) or "ANSWER",
        "--columns": options.columns,
        "--filter": options.where,
        "--encoding": options.encoding,
        "--reasoning": "strip" if options.reasoning == "strip" else None,
    }
    words = []
    for name, value in given.items():
        values = [] if value is None else [value] if isinstance(value, str) else value
        words += [word for one in values for word in (name, one)]
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


def _first(usual: Sequence[str], names: Sequence[str]) -> str | None:
    """The most likely column by its name."""
    by_name = {name.lower(): name for name in reversed(names)}
    return next((by_name[name] for name in usual if name in by_name), None)


def _columns(names: Sequence[str]) -> str:
    if not names:
        return "no columns"
    return f"the column{'s' if len(names) > 1 else ''} {few_names(list(map(repr, names)), _MAX_SHOWN_COLUMNS)}"
