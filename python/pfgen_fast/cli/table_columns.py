"""What to type to score tables, where options are missing: the columns that there are, and the whole command."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path

from ..errors import PfgenError
from ..files.untrusted_text import in_one_line
from .suite_line import source_or_here

_QUESTION_NAMES = ("question", "question_id", "q", "prompt", "質問")
_ANSWER_NAMES = ("answer", "a", "response", "output", "completion", "回答")
_MAX_SHOWN_COLUMNS = 20


def what_to_type(
    table: str,
    *,
    paths: Sequence[str],
    question_column: str | None,
    answer_column: str | None,
    suite: str | None,
    encoding: str | None,
    options: Sequence[str],
    destination: Sequence[str],
) -> str:
    """The message that says which columns a table has, and how it is scored."""
    from ..tables.formats import column_names
    from ..tables.places.fetching import Fetching
    from ..tables.places.place_names import is_remote, shown_place

    if is_remote(table):
        with Fetching([table]) as fetching:
            names = column_names(fetching.get(0).path, encoding)
    else:
        names = column_names(table, encoding)
    words = ["pfgen-fast", "score", *(["--suite", suite or "SUITE"] if suite or not _has_suite() else [])]
    words += ["--question-column", question_column or _first(_QUESTION_NAMES, names) or "QUESTION"]
    words += ["--answer-column", answer_column or _first(_ANSWER_NAMES, names) or "ANSWER"]
    command = shlex.join([*words, *options, *map(shown_place, paths), *destination])
    return f"{shown_place(table)}: a table with {_columns(names)}; to score it, type: {command}"


def beside(source: str) -> str:
    """A name for a scored table or folder, beside the given one: `answers.scored.csv`, `answers.scored/`."""
    from ..tables.places.place_names import base_name, is_remote

    if os.path.isdir(source):
        return f"{os.path.normpath(source)}.scored/"
    path = Path(base_name(source) if is_remote(source) else source)
    stem, dot, ending = path.name.partition(".")
    return str(path.with_name(f"{stem}.scored{dot}{ending}"))


def _has_suite() -> bool:
    """Whether there is a suite at the working folder, so that none need be named."""
    try:
        source_or_here(None)
    except PfgenError:
        return False
    return True


def _first(usual: Sequence[str], names: Sequence[str]) -> str | None:
    """The column that is most likely meant, by its name."""
    by_name = {name.lower(): name for name in reversed(names)}
    return next((by_name[name] for name in usual if name in by_name), None)


def _columns(names: Sequence[str]) -> str:
    if not names:
        return "no columns"
    shown_names = [in_one_line(repr(name), 60) for name in names[:_MAX_SHOWN_COLUMNS]]
    more = f" and {len(names) - _MAX_SHOWN_COLUMNS} more" if len(names) > _MAX_SHOWN_COLUMNS else ""
    return f"the column{'s' if len(names) > 1 else ''} {', '.join(shown_names)}{more}"
