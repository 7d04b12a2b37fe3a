"""Tables for `agreement`: answers, scores, and verdicts of judges, people or leaderboards. A row is a `Record`.

The columns of a table tell its kind: with a prompt and two models, its numbers are preferences; with a prompt and a
model, ratings or scores of answers; with a model only (or the
first column of unknown ones), figures such as win rates; with a prompt only, its category.
"""

from __future__ import annotations

import contextlib
import glob
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...base.errors import ExperimentError
from ...base.untrusted_text import from_csv_value, in_one_line
from ...runs.items.score_columns import label
from ...tables.formats import reader_of
from ...tables.table_rows import ChosenColumns, usual_columns

_USUAL = {
    "other": ("other", "model_2", "model_b", "generator_2", "baseline", "opponent"),
    "model": ("model", "model_1", "model_a", "generator_1", "generator", "model_name", "system", "run"),
    "prompt": ("item", "prompt_id", "question_id", "prompt", "instruction", "question", "id"),
    "answer": ("answer", "response", "output", "completion", "text"),
    "category": ("category", "subject", "topic", "dataset"),
}
"""Usual names of the columns that are no numbers, the most usual name first."""


@dataclass(frozen=True)
class Record:
    """A row of a table; a text that the table lacks is empty."""

    where: str  # location for messages
    prompt: str
    model: str
    other: str  # the model of the second answer of a pair
    answer: str
    category: str
    family: str
    numbers: dict[str, float]


def read_records(path: Path, *, family: str = "", category: str = "") -> Iterator[Record]:
    """The rows of a table; `family` and `category` name columns. A column of numbers has at least as many as others."""
    columns: dict[str, str] = {}
    balance: Counter[str] = Counter()  # by column, how many more of its values are numbers than are not
    problems: dict[str, str] = {}  # by column, its first value that is no number
    records = []
    with contextlib.closing(reader_of(path)(ChosenColumns(), 1024)) as batches:
        rows = ((batch, number, row) for batch in batches for number, row in enumerate(batch.rows()))
        for batch, number, row in rows:
            columns = columns or _columns(batch.names, {"family": family, "category": category})
            records.append(_record(row, columns, balance, problems, batch.location(number)))
    for name, problem in problems.items():
        if balance[name] >= 0:
            raise ExperimentError(problem)
    for record in records:
        for name in problems:
            record.numbers.pop(name, None)
    yield from records


def _record(
    row: Mapping[str, Any], columns: Mapping[str, str], balance: Counter[str], problems: dict[str, str], where: str
) -> Record:
    """A row as a record; `balance` and `problems` learn which of the other columns have numbers."""
    texts = {role: label(row.get(name)) if name else "" for role, name in columns.items()}
    texts |= {role: from_csv_value(texts[role].strip()) for role in ("model", "other")}
    for role in ("model", "other", "prompt", "family"):
        if columns[role] and not texts[role].strip():
            raise ExperimentError(f"{where}: column {columns[role]!r} is empty; expected a name")
    numbers = {}
    for name, value in row.items():
        if name in columns.values() or value is None or (isinstance(value, str) and not value.strip()):
            continue
        number = finite_number(value)
        balance[name] += 1 if number is not None else -1
        if number is not None:
            numbers[name] = number
        elif name not in problems:
            shown = in_one_line(value, 40)
            problems[name] = f"{where}, column {name!r}: expected a number, not {shown!r}; leave a missing score empty"
    return Record(where, numbers=numbers, **texts)


def _columns(names: Sequence[str], named: Mapping[str, str]) -> dict[str, str]:
    """The column of each role; empty for a role without a column."""
    free = [name for name in names if name]
    columns = {role: name if name in free else "" for role, name in named.items()}
    free = [name for name in free if name not in columns.values()]
    for role, usual in _USUAL.items():
        matches = [] if named.get(role) else usual_columns(free, usual)
        columns.setdefault(role, "")
        if matches:
            columns[role] = matches[0]
            free.remove(matches[0])
    if not columns["model"] and not columns["prompt"]:
        columns["model"] = names[0]  # often without a name, or named otherwise, in leaderboards
    return columns


def finite_number(value: Any) -> float | None:
    """A cell as a number; None for anything else, and for a number that is not finite."""
    if not isinstance(value, (str, int, float)):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


@dataclass(frozen=True, eq=False)
class Verdicts:
    """What a judge, people or a leaderboard say of models: one of the three mappings has entries."""

    name: str
    figures: dict[str, float] = field(default_factory=dict)  # by model
    ratings: dict[tuple[str, str], list[float]] = field(default_factory=dict)  # by prompt and model
    # prompt, first and second model, and the share from 0 to 1 by which the answer of the first one is preferred
    pairs: list[tuple[str, str, str, float]] = field(default_factory=list)

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models."""
        paired = (model for _, first, second, _ in self.pairs for model in (first, second))
        return tuple(dict.fromkeys((*self.figures, *(model for _, model in self.ratings), *paired)))

    @property
    def prompts(self) -> tuple[str, ...]:
        """The prompts; empty if the verdicts are of models only."""
        return tuple(dict.fromkeys((*(prompt for prompt, _ in self.ratings), *(pair[0] for pair in self.pairs))))


def read_verdicts(
    sources: Sequence[str], chosen: Sequence[str] = (), *, family: str = ""
) -> tuple[list[Verdicts], dict[str, str]]:
    """Reads verdicts and, from the column `family`, the families of models; a source is `[NAME=]FILE` or a glob.

    Each column of numbers is a list of verdicts of its own; `chosen` names the columns to use.
    """
    verdicts: list[Verdicts] = []
    families: dict[str, str] = {}
    unknown = set(chosen)
    for source in sources:
        name, paths = files_of(source)
        records = [record for path in paths for record in read_records(path, family=family)]
        add_families(families, records)
        there = dict.fromkeys(name for record in records for name in record.numbers)
        columns = [column for column in chosen if column in there] or ([] if chosen else list(there))
        if records and records[0].other and not chosen and "preference" in columns:
            columns = ["preference"]
        if not columns and not chosen:
            raise ExperimentError(f"{source}: no column of verdicts; expected a column of numbers")
        unknown -= set(columns)
        for column in columns:
            title = name if name and len(columns) == 1 else f"{name or paths[0].name.split('.')[0]}: {column}"
            alone = len(sources) == 1 and not name
            verdicts.append(_verdicts(in_one_line(column if alone else title, 60), column, records))
    names = [part.name for part in verdicts]
    if repeated := [name for name in names if names.count(name) > 1]:
        raise ExperimentError(f"two verdicts have the name {repeated[0]!r}; name them, as in --verdicts NAME=FILE")
    if unknown:
        raise ExperimentError(f"no table of verdicts has a column {min(unknown)!r} with numbers")
    return verdicts, families


def add_families(families: dict[str, str], records: Iterable[Record]) -> None:
    """Adds the family of each model; raises ExperimentError for a model with two families."""
    for record in records:
        if record.family and families.setdefault(record.model, record.family) != record.family:
            raise ExperimentError(
                f"{record.where}: {record.model!r} has two families, {families[record.model]!r} and {record.family!r}"
            )


def files_of(source: str) -> tuple[str, list[Path]]:
    """The name of a source, which may be empty, and its files."""
    before, mark, after = source.partition("=")
    has_name = bool(mark) and not Path(source).exists()
    name, pattern = (before, after) if has_name else ("", source)
    paths = [Path(pattern)] if Path(pattern).exists() else sorted(map(Path, glob.glob(pattern, recursive=True)))
    if not paths:
        raise ExperimentError(f"{pattern}: no such file")
    return name, paths


def _verdicts(name: str, column: str, records: Iterable[Record]) -> Verdicts:
    verdicts = Verdicts(name)
    used = [record for record in records if column in record.numbers]
    values = [record.numbers[column] for record in used]
    top = 2.0 if max(values, default=0) > 1 else 1.0
    for record, value in zip(used, values, strict=True):
        if not record.model:
            raise ExperimentError(f"{record.where}: expected a column of models, such as 'model'")
        if record.other:
            if not (0 if top == 1 else 1) <= value <= top:
                raise ExperimentError(
                    f"{record.where}, column {column!r}: expected a preference, {value:g} is none: 1 for the first "
                    "answer and 0 for the second one, or 1 and 2"
                )
            if not record.prompt:
                raise ExperimentError(f"{record.where}: expected a column of prompts, such as 'prompt'")
            if record.model != record.other:  # leaderboards may also compare a baseline with itself
                verdicts.pairs.append((record.prompt, record.model, record.other, value if top == 1 else 2 - value))
        elif record.prompt:
            verdicts.ratings.setdefault((record.prompt, record.model), []).append(value)
        elif record.model in verdicts.figures:
            raise ExperimentError(f"{record.where}: {record.model!r} is repeated")
        else:
            verdicts.figures[record.model] = value
    return verdicts


# --- names of models


def _plain_name(name: str) -> str:
    """A name in lower case, with the same separator everywhere."""
    return re.sub(r"[\s_.:@-]+", "-", unicodedata.normalize("NFKC", name).casefold()).strip("-")


_RULES: tuple[Callable[[str], str], ...] = (
    lambda name: name,
    _plain_name,
    lambda name: _plain_name(name.rstrip("/").rsplit("/", 1)[-1]),
)
"""The rules for matching names, in order; a pair matches by the first rule for which it is unambiguous."""


def match_names(ours: Sequence[str], theirs: Sequence[str]) -> dict[str, str]:
    """Matches our names with theirs: the partner by our name. Ambiguous names have no partner."""
    matches: dict[str, str] = {}
    for form in _RULES:
        taken = set(matches.values())
        left = _unambiguous([name for name in ours if name not in matches], form)
        by_form = _unambiguous([name for name in theirs if name not in taken], form)
        matches |= {name: by_form[formed] for formed, name in left.items() if formed in by_form}
    return matches


def _unambiguous(names: Sequence[str], form: Callable[[str], str]) -> dict[str, str]:
    formed = [form(name) for name in names]
    return {key: name for key, name in zip(formed, names, strict=True) if formed.count(key) == 1}
