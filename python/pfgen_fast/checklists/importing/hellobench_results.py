"""Imports answers and judgements of HelloBench, in the form of its repository or in the compact one, as runs.

    results/{generations,judgements}/EXPERIMENT/MODEL/AREA[_LENGTH]_results.jsonl    of the repository
    {judgements,generations}/MODEL.jsonl, models.csv                                 compact

A line that breaks the rules is named and left out; a model that contradicts itself is named and left out as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
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
from ..line_files import data_file, is_data_file, numbered_objects, stem, whole_text
from ..runs import REPLIES_FILE, Answer, read_answers, shown_key, write_run
from ..suite import ChecklistSuite

PUBLISHED_JUDGE = "gpt-4o"
"""The judge of the published judgements, which are no more precise."""

MODELS_FILE = "models.csv"
_RESULTS = "_results.jsonl"

_CLOSE = 1e-9


@dataclass(frozen=True)
class Imported:
    """What became of a model."""

    key: str
    folder: Path | None
    n_answers: int = 0
    n_judgements: int = 0
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def import_runs(
    folder: str | Path, suite: ChecklistSuite, output: Path, *, judge: str = PUBLISHED_JUDGE
) -> Iterator[Imported]:
    """Writes a run for each model of a folder, and says what became of it."""
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
    if not folder.is_dir():
        raise ChecklistError(f"{folder}: {'expected a folder, not a file' if folder.exists() else 'no such folder'}")
    compact = _compact_sources(folder)
    if compact:
        return compact
    root = folder / "results" if (folder / "results").is_dir() else folder
    found: dict[str, list[Path]] = {}
    for path in sorted(root.rglob(f"*{_RESULTS}*")):
        if is_data_file(path) and path.is_file():
            found.setdefault(path.resolve().parent.name, []).append(path)
    if not found:  # perhaps the folder of compact judgements itself
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
    """What models.csv says of each model, in the words of config.json."""
    if not path.is_file():
        return {}
    try:
        rows = [row for _, row in table_rows(path)]
    except TrialsError as error:
        raise ChecklistError(str(error)) from None
    return {row["key"]: _config(row) for row in rows if row.get("key")}


def _config(row: Mapping[str, Any]) -> dict[str, Any]:
    names = {"model": "version", "name": "name", "group": "group"}
    config: dict[str, Any] = {name: row[column] for name, column in names.items() if row.get(column)}
    for name, column in (("max_tokens", "max_new_tokens"), ("temperature", "temperature")):
        try:
            config[name] = int(row[column]) if name == "max_tokens" else float(row[column])
        except (KeyError, TypeError, ValueError):
            continue  # not known
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
    judgements = [
        replace(
            judgement,
            judge=judgement.judge or judge,
            checklist_sha256=judgement.checklist_sha256
            or suite.checklist(suite.by_key[judgement.id, judgement.length]).sha256,
        )
        for judgement in _in_order(content.judgements, suite)
    ]
    answers = _in_order(content.answers, suite)
    write_run(folder, answers, judgements, source.config)
    notes = [f"{source.key}: {content.n_replaced} answers differ from those that were judged, and the judged were kept"]
    return Imported(
        source.key,
        folder,
        len(answers),
        len(judgements),
        tuple(content.problems),
        tuple(notes if content.n_replaced else ()),
    )


def _in_order(found: Mapping[AnswerKey, Any], suite: ChecklistSuite) -> list[Any]:
    """In the order of the tasks, so that it does not depend on the names of files."""
    places = {key: place for place, key in enumerate(suite.by_key)}
    return [found[key] for key in sorted(found, key=lambda key: (places[key[0], key[1]], key[2]))]


def _read_compact(source: _Source, suite: ChecklistSuite, content: _Content) -> None:
    if source.answers is not None:
        content.answers = read_answers(source.answers, suite, on_fault=content.problems.append)
    if source.judgements is not None:
        for judgement in read_judgements(source.judgements, suite):
            content.judgements[judgement.key] = judgement


def _read_results(paths: Iterable[Path], suite: ChecklistSuite, content: _Content) -> None:
    """Reads the files of a model; an answer of a judgement comes before one that has none."""
    judged: dict[AnswerKey, Answer] = {}
    for path in paths:
        for line in _lines(path, suite, content):
            answer = line.answer
            if line.judgement is None:
                former = content.answers.setdefault(answer.key, answer)
                _refuse_other(former.response == answer.response, line)
                continue
            judged.setdefault(answer.key, answer)
            known = content.judgements.setdefault(answer.key, line.judgement)
            is_equal = (known.response_sha256, known.scores) == (answer.sha256, line.judgement.scores)
            _refuse_other(is_equal, line)
    content.n_replaced = sum(
        content.answers[key].response != answer.response for key, answer in judged.items() if key in content.answers
    )
    content.answers.update(judged)


def _refuse_other(is_equal: bool, line: UpstreamLine) -> None:
    if not is_equal:
        what = "answer to" if line.judgement is None else "judgement of the answer to"
        raise ChecklistError(f"{line.where}: another {what} {shown_key(line.answer.key)} came before; expected one")


def _lines(path: Path, suite: ChecklistSuite, content: _Content) -> Iterator[UpstreamLine]:
    try:
        area, length = _area_and_length(path, suite)
        for where, value in numbered_objects(path, on_fault=content.problems.append):
            try:
                line = upstream_line(value, suite, length, where)
                if line.area != area:
                    raise ChecklistError(f"{where}: the task {in_one_line(line.answer.id)} is of the area {line.area}")
            except ChecklistError as fault:
                content.problems.append(str(fault))
            else:
                yield line
    except ChecklistError as error:
        content.problems.append(str(error))


def _area_and_length(path: Path, suite: ChecklistSuite) -> tuple[str, str | None]:
    name = stem(path).removesuffix("_results")
    for area in suite.areas:
        for length in (None, *suite.lengths):
            if name == (area if length is None else f"{area}_{length}"):
                return area, length
    raise ChecklistError(f"{path}: its name is no area of the suite ({', '.join(suite.areas)}), nor one with a length")


@dataclass(frozen=True)
class UpstreamLine:
    """A line of results."""

    where: str
    area: str
    answer: Answer
    judgement: Judgement | None


def upstream_line(value: Any, suite: ChecklistSuite, length: str | None, where: str) -> UpstreamLine:
    """Reads a line."""

    def answer_of(line: Any) -> Answer:
        return Answer(member(line, "id", whole_text), member(line, "response", whole_text), length)

    answer = checked(value, answer_of, where, error=ChecklistError)
    task = suite.task(answer.id, length, where)
    n_questions = len(suite.checklist(task).questions)

    def judgement_of(verdicts: Any) -> Judgement:
        scores, reasons = _verdicts(items(verdicts, lambda one: one), n_questions, suite.levels)
        fault = "number" if scores is None else None
        return Judgement(answer.id, answer.sha256, scores, length, reasons=reasons, fault=fault)

    def check(line: Any) -> Judgement | None:
        return member(line, "checklist_wise_evaluation", judgement_of, None)

    return UpstreamLine(where, task.area, answer, checked(value, check, where, error=ChecklistError))


def _verdicts(
    listed: tuple[Any, ...], n_questions: int, levels: tuple[float, ...]
) -> tuple[tuple[float, ...] | None, tuple[str | None, ...]]:
    """Verdicts and reasons in the order of the questions; none where the list is empty, as after three failed tries."""
    if not listed:
        return None, ()
    if len(listed) != n_questions:
        raise Fault(f"expected {n_questions} verdicts, one for each question, not {len(listed)}")
    found: dict[int, tuple[float, str | None]] = {}
    for place, entry in enumerate(listed):
        try:
            number = member(entry, "checklist_id", _whole)
            if number in found or not 0 <= number < n_questions:
                raise Fault(f"expected each question from 0 to {n_questions - 1} once, not {number}").inside(
                    ".checklist_id"
                )
            score = member(entry, "evaluation_score", lambda verdict: level_of(verdict, levels))
            found[number] = score, member(entry, "reason", lambda said: said if isinstance(said, str) else None, None)
        except Fault as fault:
            raise fault.inside(f"[{place}]") from None
    in_order = [found[number] for number in range(n_questions)]
    return tuple(score for score, _ in in_order), tuple(reason for _, reason in in_order)


def level_of(value: Any, levels: tuple[float, ...]) -> float:
    """A check of a verdict, which is a level up to rounding."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        for level in levels:
            if abs(value - level) <= _CLOSE:
                return level
    raise unexpected(f"a level ({', '.join(f'{level:g}' for level in levels)})", value)


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1:
        raise unexpected("a whole number", value)
    return int(value)
