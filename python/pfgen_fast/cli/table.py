"""`pfgen-fast score` for a table: checks the options, says what to type where some are missing, and scores."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import PfgenError
from ..files.foreign_text import in_one_line
from .app import counted, counting, fail, print_line, shown
from .origin import print_origin, source_or_here, suite_or_here

if TYPE_CHECKING:
    from ..suite.rules import FloatSum, Profile

_STDIN = "-"
_ENDINGS = tuple(f"{kind}{packed}" for kind in (".csv", ".tsv", ".json") for packed in ("", ".gz", ".xz", ".zst"))
_QUESTION_NAMES = ("question", "question_id", "q", "prompt", "質問")
_ANSWER_NAMES = ("answer", "a", "response", "output", "completion", "回答")
_MAX_SHOWN_COLUMNS = 20


def is_table(paths: Sequence[str]) -> bool:
    """Whether the only input is a file that can be nothing but a table; JSON lines may be a run's trials."""
    return len(paths) == 1 and paths[0].endswith((".parquet", *_ENDINGS)) and os.path.isfile(paths[0])


@dataclass(frozen=True)
class TableJob:
    """What the command line says about scoring a table."""

    paths: Sequence[str]
    suite: str | None
    output: Path | None
    in_place: bool
    question_column: str | None
    answer_column: str | None
    nulls: bool
    encoding: str | None

    def score(self, *, profile: Profile, float_sum: FloatSum, threads: int | None, quiet: bool) -> None:
        """Scores the table and prints how many rows were scored; ends the command if options are missing."""
        if len(self.paths) != 1:
            fail(f"a table is scored alone; expected one input, not {len(self.paths)}")
        if not (self.question_column and self.answer_column and (self.output or self.in_place)):
            fail(self._what_to_type())
        target = self._target()
        from ..scoring.scorer import Scorer
        from ..tables.streaming import score_table

        scorer = Scorer(suite_or_here(self.suite), profile=profile, float_sum=float_sum, threads=threads)
        with counting("rows", quiet=quiet) as count:
            n_rows = score_table(
                self.paths[0],
                target,
                scorer,
                question_column=self.question_column,
                answer_column=self.answer_column,
                nulls="null" if self.nulls else "error",
                encoding=self.encoding,
                on_batch=lambda done: count(done, None),
            )
        if not quiet and str(target) != _STDIN:
            print_line(f"{counted(n_rows, 'row')} scored: {shown(str(target))}")
            print_origin(scorer.suite, scorer.signature)

    def _target(self) -> Path:
        """The file to write; the input only if that was asked for, by whatever name it is given."""
        source = Path(self.paths[0])
        is_input = self.output is not None and self.output.exists() and source.exists() and source.samefile(self.output)
        if not self.in_place and self.output is not None:
            if is_input:
                fail(f"{self.output}: is the input itself; --in-place replaces it by the scored table")
            return self.output
        if str(source) == _STDIN:
            fail("--in-place replaces the input, and stdin cannot be replaced")
        if self.output is not None and not is_input:
            fail(f"--in-place replaces the input, {source}, so --output cannot be {self.output}")
        return source.resolve() if source.is_symlink() else source  # a link stays a link

    def _what_to_type(self) -> str:
        """The message that says which columns there are, and the whole command."""
        from ..tables.formats import column_names

        source = self.paths[0]
        if source == _STDIN:
            return "a table on stdin needs --question-column, --answer-column and --output ('-' for stdout)"
        names = column_names(source, self.encoding)
        words = ["pfgen-fast", "score", *(["--suite", self.suite or "SUITE"] if self.suite or not _has_suite() else [])]
        words += ["--question-column", self.question_column or _first(_QUESTION_NAMES, names) or "QUESTION"]
        words += ["--answer-column", self.answer_column or _first(_ANSWER_NAMES, names) or "ANSWER"]
        words += ["--nulls"] if self.nulls else []
        words += ["--encoding", self.encoding] if self.encoding is not None else []
        words += [source, *(["--in-place"] if self.in_place else ["-o", str(self.output or _beside(source))])]
        return f"{source}: a table with {_columns(names)}; to score it, type: {shlex.join(words)}"


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


def _beside(source: str) -> str:
    """A name for the scored table, beside the given one: `answers.scored.csv`."""
    path = Path(source)
    stem, dot, ending = path.name.partition(".")
    return str(path.with_name(f"{stem}.scored{dot}{ending}"))
