"""Samples of lm-evaluation-harness (`--log_samples`): `samples_TASK_DATE.jsonl` beside `results_DATE.json`.

Items are documents, subjects are tasks, and the metric of a filter other than `none` is `METRIC,FILTER`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...base.errors import TrialsError
from ...base.untrusted_json import MAX_NUMBER, any_object, checked, read_json
from ...base.untrusted_text import did_you_mean, few_names, in_one_line
from ...tables.formats import column_names, table_rows
from .score_columns import NO_NAME, ColumnNames, label, location_of_row, named_in, score_of
from .score_rows import ScoreRows

_DATE = r"\d{4}-\d\d-\d\dT[\d.-]+"
_SAMPLES = re.compile(rf"samples_(?P<task>.+?)(_(?P<date>{_DATE}))?\.jsonl")
_RESULTS = re.compile(rf".+_(?P<date>{_DATE})\.json")
NAMES = re.compile(rf"samples_.+\.jsonl|results_{_DATE}\.json")
"""The names of files in a directory of results."""
_MAX_RESULTS_BYTES = 1 << 26
_NO_METRICS = frozenset(
    ("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "doc_hash", "prompt_hash")
)
"""The keys of a sample that are not metrics, for releases whose samples do not list their metrics."""


def is_log(path: Path) -> bool:
    """Whether a file has samples, or the results of an evaluation with samples beside it."""
    if _RESULTS.fullmatch(path.name):
        return bool(_samples_of(path)) or NAMES.fullmatch(path.name) is not None
    if path.suffix != ".jsonl":
        return False
    names = column_names(path)
    return "doc_id" in names and "doc" in names and not {"resps", "filtered_resps"}.isdisjoint(names)


def add_logs(rows: ScoreRows, paths: Sequence[Path], columns: ColumnNames) -> None:
    """Adds the samples of files; of several evaluations of a task in one directory, the newest."""
    files: dict[tuple[Path, str], list[Path]] = {}
    samples = [path for path in paths if not _RESULTS.fullmatch(path.name)]
    samples += [path for file in paths for path in _samples_of(file)]
    if not samples:
        raise TrialsError(f"{paths[0]}: no scores of samples beside these results; evaluate with --log_samples")
    for path in dict.fromkeys(samples):
        files.setdefault((path.parent, _task_and_date(path)[0]), []).append(path)
    for same in files.values():
        newest = max(same, key=lambda path: _task_and_date(path)[1])
        if len(same) > 1:
            older = few_names([path.name for path in same if path != newest], 2)
            rows.remark(f"the newest samples of the task are used, instead of {older}", str(newest))
        _add_file(rows, newest, columns)


def _samples_of(path: Path) -> list[Path]:
    """The samples beside a file of results."""
    match = _RESULTS.fullmatch(path.name)
    return sorted(path.parent.glob(f"samples_*_{match['date']}.jsonl")) if match else []


def _task_and_date(path: Path) -> tuple[str, str]:
    match = _SAMPLES.fullmatch(path.name)
    return (match["task"], match["date"] or "") if match else (path.stem, "")


def _add_file(rows: ScoreRows, path: Path, columns: ColumnNames) -> None:
    task, date = _task_and_date(path)
    results = _results(path, date)
    model = results.get("model_name")
    if not isinstance(model, str) or not model.strip():
        model = path.absolute().parent.name
    higher = results.get("higher_is_better")
    is_higher = higher.get(task) if isinstance(higher, dict) else None
    left_out: Counter[str] = Counter()  # for each reason, how many values
    numbers: list[tuple[int, ...]] = []
    scores, samples = list[float](), list[int]()
    for sample, (location, row) in enumerate(table_rows(path)):
        metrics = row.get("metrics", [key for key in row if key not in _NO_METRICS])
        doc = row.get("doc")
        if not isinstance(metrics, list) or "doc_id" not in row or not isinstance(doc, dict):
            raise TrialsError(f"{location}: expected a sample with 'doc_id', 'doc' and 'metrics'")
        codes, kept = _codes(rows, columns, task, row["doc_id"], doc, location), row.get("filter") or "none"
        for metric in dict.fromkeys(map(str, metrics)):
            value = row.get(metric)
            score = score_of(value) if isinstance(value, (bool, int, float)) else None
            if score is None:
                left_out[f"values of {in_one_line(metric)} that are no numbers and are not used"] += 1
                continue
            name = metric if kept == "none" else f"{metric},{in_one_line(kept)}"
            if isinstance(is_higher, dict) and isinstance(is_higher.get(metric), bool):
                rows.direction(name, f"task {in_one_line(task)}", higher_is_better=is_higher[metric])
            if not abs(score) <= MAX_NUMBER:
                raise TrialsError(f"{location}: the score '{in_one_line(name)}' is {score:g}; expected a finite number")
            numbers.append((*codes, rows.metrics.number(name)))
            scores.append(score)
            samples.append(sample)
        rows.same_item(f"{task}/{row['doc_id']}", row.get("doc_hash"), str(path))
    for reason, n in left_out.items():
        rows.remark(f"{reason}: {n:,}", str(path))
    if not scores:
        raise TrialsError(f"{path}: no scores of samples")
    item, trial, subject, cluster, number = np.array(numbers, dtype=np.int32).T
    rows.add(
        np.array(scores),
        metric=number,
        model=rows.models.number(model),
        item=item,
        trial=trial,
        subject=subject,
        cluster=cluster,
        locate=lambda at: location_of_row(str(path), None, samples[at]),
    )


def _codes(
    rows: ScoreRows, columns: ColumnNames, task: str, doc_id: object, doc: Mapping[str, Any], location: str
) -> tuple[int, int, int, int]:
    """The numbers of item, trial, subject and cluster of a sample; options of columns name keys of its document."""

    def cell(key: str) -> Any:
        if key in doc:
            return doc[key]
        keys = list(map(str, doc))
        there = few_names(keys, 12) or "no keys"
        raise TrialsError(f"{location}: no key '{in_one_line(key)}'; there are {there}{did_you_mean(key, keys)}")

    name = label(cell(columns.item) if columns.item else doc_id)
    if not name.strip():
        raise TrialsError(f"{location}: the name of the item is empty")
    return (
        rows.items.number(named_in(task, name)),
        rows.trials.number_of(cell(columns.trial)) if columns.trial else NO_NAME,
        rows.subjects.number_of(cell(columns.subject) if columns.subject else task),
        rows.clusters.number_of(cell(columns.cluster), task) if columns.cluster else NO_NAME,
    )


def _results(path: Path, date: str) -> Mapping[str, Any]:
    """The results of the evaluation that wrote samples; empty if there are none."""
    beside = [file for file in sorted(path.parent.glob("*.json")) if _RESULTS.fullmatch(file.name)]
    own = [file for file in beside if date and file.name.endswith(f"_{date}.json")] or beside[-1:]
    if not own:
        return {}
    return checked(read_json(own[0], limit=_MAX_RESULTS_BYTES), any_object, str(own[0]))
