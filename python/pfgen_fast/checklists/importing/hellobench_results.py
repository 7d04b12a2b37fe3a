"""Imports answers and judgements of HelloBench, in the form of its repository or in the compact one, as runs.

    results/{generations,judgements}/EXPERIMENT/MODEL/AREA[_LENGTH]_results.jsonl    of the repository
    {judgements,generations}/MODEL.jsonl, models.csv                                 compact

Invalid lines are named and left out; a model with contradictory lines is named and left out as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ...errors import ChecklistError, TrialsError
from ...files.untrusted_json import Fault, checked, items, member, unexpected
from ...files.untrusted_text import in_one_line
from ...files.writing import check_folder
from ...tables.formats import table_rows
from ..judgement_files import read_judgements
from ..judgements import AnswerKey, Judgement
from ..line_files import check_is_folder, data_file, is_data_file, numbered_objects, stem, whole_text
from ..runs import REPLIES_FILE, Answer, read_answers, shown_key, write_run
from ..suite import ChecklistSuite, keys_in_order

PUBLISHED_JUDGE = "gpt-4o"
"""The judge of the published judgements, which give no date."""

MODELS_FILE = "models.csv"
_RESULTS = "_results.jsonl"

_CLOSE = 1e-9


@dataclass(frozen=True)
class Imported:
    """The outcome for one model; `folder` is None where nothing was written."""

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
    sources = _sources(Path(folder))
    if not sources:
        raise ChecklistError(
            f"{folder}: no answers or judgements of HelloBench; expected results/judgements/EXPERIMENT/MODEL/"
            f"AREA{_RESULTS}, or judgements/MODEL.jsonl"
        )
    check_folder(output)
    for source in sources:
        yield _imported(source, suite, output, judge)


@dataclass(frozen=True)
class _Source:
    """The files of a model: those of the repository, or those of the compact form."""

    key: str
    results: tuple[Path, ...] = ()
    judgements: Path | None = None
    answers: Path | None = None
    config: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class _Content:
    answers: dict[AnswerKey, Answer] = field(default_factory=dict)
    judgements: dict[AnswerKey, Judgement] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    n_replaced: int = 0


def _sources(folder: Path) -> list[_Source]:
    check_is_folder(folder)
    compact = _compact_sources(folder)
    if compact:
        return compact
    root = folder / "results" if (folder / "results").is_dir() else folder
    found: dict[str, list[Path]] = {}
    for path in sorted(root.rglob(f"*{_RESULTS}*")):
        if is_data_file(path) and path.is_file():
            found.setdefault(path.resolve().parent.name, []).append(path)
    if not found:  # perhaps the directory of compact judgements itself
        return [_Source(key, (), path, config={"model": key}) for key, path in sorted(_by_model(folder).items())]
    return [_Source(key, tuple(paths), config={"model": key}) for key, paths in sorted(found.items())]


def _compact_sources(folder: Path) -> list[_Source]:
    judgements, answers = _by_model(folder / "judgements"), _by_model(folder / "generations")
    if not judgements and not answers:
        return []
    configs = _configs(folder / MODELS_FILE)
    return [
        _Source(key, (), judgements.get(key), answers.get(key), configs.get(key, {"model": key}))
        for key in sorted({*judgements, *answers})
    ]


def _by_model(folder: Path) -> dict[str, Path]:
    names = {stem(path) for path in folder.iterdir() if is_data_file(path)} if folder.is_dir() else set()
    found = {name: data_file(folder, name, ".parquet") for name in names if not name.endswith("_results")}
    return {name: path for name, path in found.items() if path is not None}


def _configs(path: Path) -> dict[str, dict[str, Any]]:
    """The rows of models.csv by model, with the keys of config.json."""
    if not path.is_file():
        return {}
    try:
        return {row["key"]: _config(row) for _, row in table_rows(path) if row.get("key")}
    except TrialsError as error:
        raise ChecklistError(str(error)) from None


def _config(row: Mapping[str, Any]) -> dict[str, Any]:
    names = {"model": "version", "name": "name", "group": "group"}
    config: dict[str, Any] = {name: row[column] for name, column in names.items() if row.get(column)}
    for name, column, kind in (("max_tokens", "max_new_tokens", int), ("temperature", "temperature", float)):
        with suppress(KeyError, TypeError, ValueError):  # not known
            config[name] = kind(row[column])
    return config


def _imported(source: _Source, suite: ChecklistSuite, output: Path, judge: str) -> Imported:
    folder = output / source.key
    content = _Content()
    try:
        if (folder / REPLIES_FILE).exists():
            raise ChecklistError(f"{folder}: holds replies of a judge, which an import would part from its judgements")
        if source.results:
            _read_results(source.results, suite, content)
        else:
            _read_compact(source, suite, content)
        if not content.answers and not content.judgements:
            raise ChecklistError(f"{source.key}: its files hold nothing that can be used")
    except ChecklistError as error:
        return Imported(source.key, None, problems=(*content.problems, str(error)))
    judgements = []
    for judgement in _in_order(content.judgements, suite):
        questions = judgement.checklist_sha256 or suite.checklist(suite.by_key[judgement.key[:2]]).sha256
        judgements.append(replace(judgement, judge=judgement.judge or judge, checklist_sha256=questions))
    answers, n_replaced = _in_order(content.answers, suite), content.n_replaced
    write_run(folder, answers, judgements, source.config)
    note = f"{source.key}: {n_replaced} answers differ from the judged ones; the judged ones are kept"
    notes = (note,) if n_replaced else ()
    return Imported(source.key, folder, len(answers), len(judgements), tuple(content.problems), notes)


def _in_order(found: Mapping[AnswerKey, Any], suite: ChecklistSuite) -> list[Any]:
    return [found[key] for _, key in keys_in_order(suite, found)]


def _read_compact(source: _Source, suite: ChecklistSuite, content: _Content) -> None:
    if source.answers is not None:
        content.answers = read_answers(source.answers, suite, on_fault=content.problems.append)
    if source.judgements is not None:
        content.judgements = {judgement.key: judgement for judgement in read_judgements(source.judgements, suite)}


def _read_results(paths: Iterable[Path], suite: ChecklistSuite, content: _Content) -> None:
    """Reads the files of a model; a judged answer takes the place of one without a judgement."""
    judged: dict[AnswerKey, Answer] = {}
    for path in paths:
        for where, answer, judgement in _lines(path, suite, content):
            if judgement is None:
                is_equal = content.answers.setdefault(answer.key, answer).response == answer.response
            else:
                judged.setdefault(answer.key, answer)
                known = content.judgements.setdefault(answer.key, judgement)
                is_equal = (known.response_sha256, known.scores) == (answer.sha256, judgement.scores)
            if not is_equal:
                what = "answer" if judgement is None else "judgement of the answer"
                raise ChecklistError(f"{where}: another {what} to {shown_key(answer.key)} came before; expected one")
    content.n_replaced = sum(
        content.answers[key].response != answer.response for key, answer in judged.items() if key in content.answers
    )
    content.answers.update(judged)


def _lines(path: Path, suite: ChecklistSuite, content: _Content) -> Iterator[tuple[str, Answer, Judgement | None]]:
    try:
        area, length = _area_and_length(path, suite)
        for where, value in numbered_objects(path, on_fault=content.problems.append):
            try:
                answer, judgement = _line(value, suite, area, length, where)
            except ChecklistError as fault:
                content.problems.append(str(fault))
            else:
                yield where, answer, judgement
    except ChecklistError as error:
        content.problems.append(str(error))


def _area_and_length(path: Path, suite: ChecklistSuite) -> tuple[str, str | None]:
    name = stem(path).removesuffix("_results")
    for area in suite.areas:
        for length in (None, *suite.lengths):
            if name == (area if length is None else f"{area}_{length}"):
                return area, length
    raise ChecklistError(
        f"{path}: its name is no area of the suite ({', '.join(suite.areas)}), alone or followed by a length"
    )


def _line(
    value: Any, suite: ChecklistSuite, area: str, length: str | None, where: str
) -> tuple[Answer, Judgement | None]:
    def answer_of(line: Any) -> Answer:
        return Answer(member(line, "id", whole_text), member(line, "response", whole_text), length)

    answer = checked(value, answer_of, where, error=ChecklistError)
    task = suite.task(answer.id, length, where)
    if task.area != area:
        raise ChecklistError(f"{where}: the task {in_one_line(answer.id)} is of the area {task.area}")

    def judgement_of(listed: Any) -> Judgement:
        scores, reasons = _verdicts(listed, len(suite.checklist(task).questions), suite.levels)
        fault = "number" if scores is None else None
        return Judgement(answer.id, answer.sha256, scores, length, reasons=reasons, fault=fault)

    def check(line: Any) -> Judgement | None:
        return member(line, "checklist_wise_evaluation", judgement_of, None)

    return answer, checked(value, check, where, error=ChecklistError)


def _verdicts(
    listed: Any, n_questions: int, levels: tuple[float, ...]
) -> tuple[tuple[float, ...] | None, tuple[str | None, ...]]:
    """Verdicts and reasons in the order of the questions; None for an empty list, as after three failed tries."""
    if isinstance(listed, list) and len(listed) not in (0, n_questions):
        raise Fault(f"expected {n_questions} verdicts, one for each question, not {len(listed)}")
    scores: dict[int, float] = {}
    reasons: dict[int, str | None] = {}

    def question(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1:
            raise unexpected("a whole number", value)
        if value in scores or not 0 <= value < n_questions:
            raise Fault(f"expected each question from 0 to {n_questions - 1} once, not {value:g}")
        return int(value)

    def level(value: Any) -> float:
        if isinstance(value, int | float) and not isinstance(value, bool):
            for known in levels:
                if abs(value - known) <= _CLOSE:
                    return known
        raise unexpected(f"a level ({', '.join(f'{level:g}' for level in levels)})", value)

    def entry(value: Any) -> None:
        number = member(value, "checklist_id", question)
        scores[number] = member(value, "evaluation_score", level)
        reasons[number] = member(value, "reason", lambda said: said if isinstance(said, str) else None, None)

    if not items(listed, entry):
        return None, ()
    numbers = range(n_questions)
    return tuple(scores[number] for number in numbers), tuple(reasons[number] for number in numbers)
