"""Imports answers and judgements of HelloBench's repository as runs.

    results/{generations,judgements}/EXPERIMENT/MODEL/AREA[_LENGTH]_results.jsonl

Invalid lines, and lines that contradict each other, are reported and left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ....base.errors import ChecklistError
from ....base.file_writing import check_folder
from ....base.untrusted_json import Fault, checked, items, member, number, unexpected
from ....base.untrusted_text import in_one_line
from ..checklist_runs import REPLIES_FILE, Answer, shown_key, write_run
from ..checklist_suite import ChecklistSuite, keys_in_order
from ..judgements import AnswerKey, Judgement
from ..line_files import check_is_folder, is_data_file, numbered_objects, report_two, stem, whole_text

PUBLISHED_JUDGE = "gpt-4o"
"""The judge of the published judgements, which give no date."""

_RESULTS = "_results.jsonl"

_CLOSE = 1e-9


@dataclass(frozen=True)
class Imported:
    """The outcome for one model; `folder` is None if nothing was written."""

    key: str
    folder: Path | None
    n_answers: int = 0
    n_judgements: int = 0
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def import_runs(
    folder: str | Path, suite: ChecklistSuite, output: Path, *, judge: str = PUBLISHED_JUDGE
) -> Iterator[Imported]:
    """Writes a run for each model in a directory; yields the outcome for each."""
    check_is_folder(Path(folder))
    root = Path(folder, "results") if Path(folder, "results").is_dir() else Path(folder)
    models: dict[str, list[Path]] = {}
    for path in sorted(root.rglob(f"*{_RESULTS}*")):
        if is_data_file(path) and path.is_file():
            models.setdefault(path.resolve().parent.name, []).append(path)
    if not models:
        raise ChecklistError(
            f"{folder}: no answers or judgements of HelloBench; expected results/judgements/EXPERIMENT/MODEL/"
            f"AREA{_RESULTS}"
        )
    check_folder(output)
    for key, paths in sorted(models.items()):
        yield _imported(key, paths, suite, output, judge)


@dataclass
class _Content:
    answers: dict[AnswerKey, Answer] = field(default_factory=dict)
    judgements: dict[AnswerKey, Judgement] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    n_replaced: int = 0


def _imported(key: str, paths: Sequence[Path], suite: ChecklistSuite, output: Path, judge: str) -> Imported:
    folder = output / key
    content = _Content()
    try:
        if (folder / REPLIES_FILE).exists():
            raise ChecklistError(f"{folder}: holds replies of a judge; expected a folder without judge-replies.jsonl")
        _read_results(paths, suite, content)
        if not content.answers and not content.judgements:
            raise ChecklistError(f"{key}: its files contain no usable answer or judgement")
        answers = [content.answers[answer] for _, answer in keys_in_order(suite, content.answers)]
        judgements = [
            replace(content.judgements[answer], judge=judge, checklist_sha256=suite.checklist(task).sha256)
            for task, answer in keys_in_order(suite, content.judgements)
        ]
        write_run(folder, answers, judgements, {"model": key})
    except ChecklistError as error:
        return Imported(key, None, problems=(*content.problems, str(error)))
    note = f"{key}: {content.n_replaced} answers differ from the judged answers; the judged answers are kept"
    notes = (note,) if content.n_replaced else ()
    return Imported(key, folder, len(answers), len(judgements), tuple(content.problems), notes)


def _read_results(paths: Iterable[Path], suite: ChecklistSuite, content: _Content) -> None:
    """Reads the files of a model; a judged answer takes the place of one without a judgement."""
    judged: dict[AnswerKey, Answer] = {}
    judgements = content.judgements
    contradicted: list[tuple[dict[AnswerKey, Any], AnswerKey]] = []
    for where, answer, judgement in (line for path in paths for line in _lines(path, suite, content.problems)):
        key, answers = answer.key, content.answers if judgement is None else judged
        differing: list[Any] = [answers] if answers.setdefault(key, answer).response != answer.response else []
        if judgement is not None and (judgements.setdefault(key, judgement).scores != judgement.scores or differing):
            differing.append(judgements)
        if differing:
            what = "answer" if judgement is None else "judgement of the answer"
            before = f"{where}: another {what} to {shown_key(key)} came before"
            report_two(f"{before}; expected one {what.split()[0]}", content.problems.append)
            contradicted += [(contents, key) for contents in differing]
    for contents, key in contradicted:
        contents.pop(key, None)
    content.n_replaced = sum(
        content.answers[key].response != answer.response for key, answer in judged.items() if key in content.answers
    )
    content.answers.update(judged)


def _lines(path: Path, suite: ChecklistSuite, problems: list[str]) -> Iterator[tuple[str, Answer, Judgement | None]]:
    try:
        area, length = _area_and_length(path, suite)
        for where, value in numbered_objects(path, on_fault=problems.append):
            try:
                yield where, *_line(value, suite, area, length, where)
            except ChecklistError as fault:
                problems.append(str(fault))
    except ChecklistError as error:
        problems.append(str(error))


def _area_and_length(path: Path, suite: ChecklistSuite) -> tuple[str, str | None]:
    name = stem(path).removesuffix("_results")
    for area in suite.areas:
        for length in (None, *suite.lengths):
            if name == (area if length is None else f"{area}_{length}"):
                return area, length
    raise ChecklistError(
        f"{path}: expected the name of an area of the suite ({', '.join(suite.areas)}), with or without a length"
    )


def _line(
    value: Any, suite: ChecklistSuite, area: str, length: str | None, where: str
) -> tuple[Answer, Judgement | None]:
    def check(line: Any) -> tuple[Answer, Judgement | None]:
        answer = Answer(member(line, "id", whole_text), member(line, "response", whole_text), length)
        task = suite.task(answer.id, length, where)
        if task.area != area:
            raise ChecklistError(f"{where}: the task {in_one_line(answer.id)} is of the area {task.area}")
        n_questions, levels = suite.n_questions[task.key], suite.levels
        judged = member(line, "checklist_wise_evaluation", lambda listed: _judgement(listed, n_questions, levels), None)
        return answer, judged and replace(judged, id=answer.id, length=length, response_sha256=answer.sha256)

    return checked(value, check, where, error=ChecklistError)


def _judgement(listed: Any, n_questions: int, levels: Sequence[float]) -> Judgement:
    """Verdicts and reasons in the order of the questions. Without verdicts, as after three tries, it is unjudged."""

    def level(value: Any) -> float:
        if isinstance(value, int | float) and not isinstance(value, bool):
            for known in levels:
                if abs(number(value) - known) <= _CLOSE:
                    return known
        raise unexpected(f"a level ({', '.join(f'{level:g}' for level in levels)})", value)

    def verdict(value: Any) -> tuple[float, float, str | None]:
        reason = member(value, "reason", lambda text: text if isinstance(text, str) else None, None)
        return member(value, "checklist_id", number), member(value, "evaluation_score", level), reason

    verdicts = sorted(items(listed, verdict), key=lambda row: row[0])
    if not verdicts:
        return Judgement("", "", None, fault="number")
    numbers, scores, reasons = zip(*verdicts, strict=True)
    if list(numbers) != list(range(n_questions)):
        shown = in_one_line(", ".join(f"{number:g}" for number in numbers), 60)
        raise Fault(f"expected each question from 0 to {n_questions - 1} once, not {shown}")
    return Judgement("", "", scores, reasons=reasons)
