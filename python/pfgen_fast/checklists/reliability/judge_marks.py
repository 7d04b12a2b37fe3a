"""Judges as annotators: the judgements of runs as marks, beside the marks of people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from ...errors import ChecklistError, PfgenError
from ...files.untrusted_text import counted, first_names, in_one_line, unknown_name
from ...tables.formats import table_rows
from ..judgements import Judgement
from ..line_files import OnFault
from ..people.marks import Mark, MarkedAnswer
from ..runs import open_runs
from ..scoring.judged import is_stale, variant_of
from ..scoring.scores import WHY_STALE
from ..scoring.scoring import score_of
from ..suite import ChecklistSuite


@dataclass(frozen=True)
class JudgeMarks:
    """The verdicts of judges as marks; the overall mark is the tenth part of the score."""

    marks: tuple[Mark, ...] = ()
    judges: tuple[str, ...] = ()  # names with versions and prompts, for the signature
    notes: tuple[str, ...] = ()


def is_of_judges(path: Path) -> bool:
    """Whether a path is a directory or pattern of runs, or a file of judgements; other files have marks of people."""
    if path.is_dir() or (not path.exists() and "*" in str(path)):
        return True
    try:
        return any("scores" in cells for _, cells in next(zip(table_rows(path), strict=False), ()))
    except PfgenError:
        return False  # the reader of marks names the fault


def judge_marks(
    paths: Iterable[Path],
    suite: ChecklistSuite,
    *,
    answers: Iterable[MarkedAnswer] = (),
    judge: str | None = None,
    mixed: bool = False,
    on_fault: OnFault | None = None,
) -> JudgeMarks:
    """The marks of each judge and version in some runs, by default of all answers; several ratings are averaged."""
    wanted, known = set(answers), dict[str, None]()
    of_judges: dict[tuple[str, str | None], list[Judgement]] = {}
    stale: list[str] = []
    for run in (run for path in paths for run in open_runs([path])):
        texts = run.answers(suite, on_fault=on_fault)
        for row in run.judgements(suite, with_reasons=False, on_fault=on_fault):
            known |= dict.fromkeys(filter(None, (row.judge, row.version)))
            if row.method != "checklist" or row.scores is None or judge not in (None, row.judge, row.version):
                continue
            if is_stale(row, suite, texts):
                stale.append(row.id)
            elif not wanted or (row.id, row.length, row.response_sha256) in wanted:
                of_judges.setdefault((row.judge, None if mixed else row.version), []).append(row)
    listed = ", ".join(map(str, paths))
    if judge is not None and known and judge not in known:
        raise ChecklistError(f"{listed}: {unknown_name('judge', judge, list(known))}")
    n_stale = f"{counted(len(stale), 'judgement')} {'is' if len(stale) == 1 else 'are'}"
    left_out = f"{n_stale} stale ({WHY_STALE}): {first_names([*dict.fromkeys(stale)])}"
    if not of_judges:
        why = left_out if stale else "no judgements by checklists of these answers; ask a judge first"
        raise ChecklistError(f"{listed}: {why}")
    names = _names(list(of_judges))
    return JudgeMarks(
        tuple(mark for key, rows in of_judges.items() for mark in _marks(names[key], rows, suite)),
        tuple(
            f"{names[key]} ({'; '.join(sorted({str(variant_of(row)) for row in rows}))})"
            for key, rows in of_judges.items()
        ),
        (left_out,) if stale else (),
    )


def _names(judges: Sequence[tuple[str, str | None]]) -> dict[tuple[str, str | None], str]:
    """The name of each judge, with its version if it is one of several."""
    names = [name for name, _ in judges]
    return {
        (name, version): in_one_line(name or "judge") if names.count(name) == 1 else in_one_line(f"{name} {version}")
        for name, version in judges
    }


def _marks(name: str, rows: Sequence[Judgement], suite: ChecklistSuite) -> Iterable[Mark]:
    ratings: dict[MarkedAnswer, list[Sequence[float]]] = {}
    for row in rows:
        ratings.setdefault((row.id, row.length, row.response_sha256), []).append(row.scores or ())
    for (id, length, sha256), listed in ratings.items():
        task = suite.by_key[id, length]
        verdicts = tuple(map(fmean, zip(*listed, strict=True)))
        yield Mark(
            id=id,
            length=length,
            annotator=name,
            area=task.area,
            category=task.category,
            response_sha256=sha256,
            verdicts=verdicts,
            overall=score_of(verdicts, suite.checklist(task).weights) / 10,
        )
