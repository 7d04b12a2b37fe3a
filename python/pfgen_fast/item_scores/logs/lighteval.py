"""Details of lighteval (`--save-details`): `details/MODEL/DATE/details_TASK_DATE.parquet`.

Items are documents, and subjects are tasks.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ...errors import TrialsError
from ...files.untrusted_json import read_json
from ...files.untrusted_text import did_you_mean, few_names, in_one_line
from ...tables.formats import column_names
from ...tables.parquet import read_parquet
from ...tables.rows import ChosenColumns
from ..cells import NO_NAME, Codes, Names, scores_of
from ..columns import ColumnNames
from ..rows import ScoreRows
from ..tables import location_of_row

NAMES = re.compile(r"details_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT[\d.-]+)\.parquet")
"""The names of files of details."""
_COLUMNS = ("doc", "metric")
_MAX_RESULTS_BYTES = 1 << 26


def is_log(path: Path) -> bool:
    """Whether a file has details."""
    return path.suffix == ".parquet" and {*_COLUMNS, "model_response"} <= set(column_names(path))


def add_logs(rows: ScoreRows, paths: Sequence[Path], columns: ColumnNames) -> None:
    """Adds the details of files; of several evaluations of a model on a task, the newest."""
    files: dict[tuple[str, str], list[Path]] = {}
    for path in paths:
        files.setdefault((_model_of(path), _task_of(path)), []).append(path)
    for (model, task), same in files.items():
        newest = max(same, key=lambda path: path.name)
        if len(same) > 1:
            older = few_names([path.name for path in same if path != newest], 2)
            rows.remark(f"the newest details of the task are used, instead of {older}", str(newest))
        _add_file(rows, newest, columns, model, task)


def _task_of(path: Path) -> str:
    found = NAMES.fullmatch(path.name)
    return found["task"] if found else path.stem


def _model_of(path: Path) -> str:
    """The directories between `details` and the date."""
    folders = path.absolute().parent.parts
    if "details" in folders:
        place = len(folders) - 1 - folders[::-1].index("details")
        between = folders[place + 1 : -1]
        if between:
            return "/".join(between)
    return folders[-1]


def _add_directions(rows: ScoreRows, path: Path, task: str) -> None:
    """Learns for which metrics lower is better from the results of the evaluation, if they are there."""
    date, folders = path.absolute().parent.name, path.absolute().parent.parts
    if "details" not in folders:
        return
    place = len(folders) - 1 - folders[::-1].index("details")
    results = Path(*folders[:place], "results", *folders[place + 1 : -1], f"results_{date}.json")
    if not results.is_file():
        return
    found = read_json(results, limit=_MAX_RESULTS_BYTES)
    try:
        metrics = found["config_tasks"][task]["metrics"]
        for metric in metrics:
            higher = metric["higher_is_better"]
            rows.higher_is_better |= higher if isinstance(higher, dict) else {metric["metric_name"]: higher}
    except (KeyError, TypeError):
        rows.remark("the results beside the details do not say for which metrics higher is better", str(path))


def _add_file(rows: ScoreRows, path: Path, columns: ColumnNames, model: str, task: str) -> None:
    _add_directions(rows, path, task)
    n_rows = 0
    with contextlib.closing(read_parquet(str(path), ChosenColumns(_COLUMNS, "", ()), None)) as parts:
        for part in parts:
            doc, metrics = (_Fields(part.values(name), path) for name in _COLUMNS)
            item = rows.items.numbers(doc.of(columns.item or "id"), "doc.id", part.location, task=task)

            def codes(key: str | None, names: Names, doc: _Fields = doc, part: Any = part, **of: str) -> Codes | int:
                return names.numbers(doc.of(key), key, part.location, may_be_empty=True, **of) if key else NO_NAME

            subject = codes(columns.subject, rows.subjects) if columns.subject else rows.subjects.number(task)
            trial, cluster = codes(columns.trial, rows.trials), codes(columns.cluster, rows.clusters, task=task)
            n_numbers = 0
            for name, values in metrics.fields.items():
                if not _is_number(values):
                    rows.remark(f"the values of {in_one_line(name)} are no numbers and are not used", str(path))
                    continue
                n_numbers += 1
                score, _ = scores_of(values, f"metric.{name}", part.location)
                rows.add(
                    score,
                    metric=rows.metrics.number(name),
                    model=rows.models.number(model),
                    item=item,
                    trial=trial,
                    subject=subject,
                    cluster=cluster,
                    locate=partial(_locate, str(path), n_rows),
                )
            if not n_numbers:
                raise TrialsError(f"{path}: no metric with a number for each sample")
            n_rows += len(part)


def _locate(path: str, n_rows_before: int, row: int) -> str:
    return location_of_row(path, None, n_rows_before + row)


class _Fields:
    """The fields of a column of objects; the fields of `specific`, the task's own data, are among them."""

    def __init__(self, column: Any, path: Path) -> None:
        self._path = path
        self.fields = _fields(column)
        self.fields = {**_fields(self.fields.get("specific")), **self.fields}

    def of(self, key: str) -> Any:
        """A field."""
        if key not in self.fields:
            there = few_names(list(self.fields), 12) or "no keys"
            raise TrialsError(
                f"{self._path}, column 'doc': no key '{in_one_line(key)}'; there are {there}"
                f"{did_you_mean(key, self.fields)}"
            )
        return self.fields[key]


def _fields(column: Any) -> dict[str, Any]:
    """The fields of an array of objects; none of another array."""
    if not hasattr(column, "flatten") or not hasattr(column, "field"):
        return {}
    return {field.name: values for field, values in zip(column.type, column.flatten(), strict=True)}


def _is_number(values: Any) -> bool:
    import pyarrow as pa

    kind = values.type
    return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind))
