"""Reads a leaderboard as CSV, for experiments that need only the means of the runs.

The published leaderboard.csv and the output of `pfgen-fast leaderboard --format csv` are such files.
"""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path

import numpy as np

from ...base.errors import ExperimentError
from ...base.file_reading import read_text
from ...base.untrusted_text import from_csv_value, in_one_line
from ...runs.leaderboard import rank, to_csv
from ...runs.result_tables import PUBLISHED, published
from ...suite.rules import PARTS
from ..statistics.correlation import MIN_VALUES
from .run_means import RunMeans

_NEEDED = ("run", "model", "score", "length", "helpfulness")
_BY_SET = PARTS[:2]
_MAX_BYTES = 1 << 26


def read_leaderboard(path: Path) -> RunMeans:
    """Reads a leaderboard from a CSV file; the path `published` stands for the published results.

    Fluency and truthfulness are sums over the sets. The file needs the columns `run`, `model`, `score`, `length`,
    `helpfulness`, and `fluency_<set>` and `truthfulness_<set>` of each set; other columns are ignored. Rows that lack a
    number are left out and named.
    """
    is_published = str(path) == PUBLISHED
    header, rows = parse_rows(to_csv(rank([], others=published())), path) if is_published else read_rows(path)
    sets = [name.removeprefix("fluency_") for name in header if name.startswith("fluency_")]
    columns = (*_NEEDED[2:], *(f"{metric}_{name}" for metric in _BY_SET for name in sets))
    missing = [name for name in (*_NEEDED, *columns) if name not in header] or ([] if sets else ["fluency_<set>"])
    if missing:
        raise ExperimentError(
            f"{path}: no column {missing[0]!r}; expected a leaderboard, as 'pfgen-fast leaderboard --format csv' "
            "writes it"
        )
    names, models, values, problems = [], [], [], []
    for line, row in rows:
        cells = dict(zip(header, row, strict=True))
        name = from_csv_value(cells["run"]).removeprefix("result/")  # as runs are named elsewhere
        lacking = next((column for column in columns if not cells[column].strip()), None)
        if lacking is not None:
            problems.append(f"left out: {path}, line {line} ({in_one_line(name, 80)}): no {lacking}")
            continue
        values.append([number_in(cells[column], f"{path}, line {line}, column {column!r}") for column in columns])
        names.append(name)
        models.append(from_csv_value(cells["model"]))
    if len(names) < MIN_VALUES:
        why = f"; {problems[0]}" if problems else ""
        raise ExperimentError(f"{path}: an experiment needs at least {MIN_VALUES} runs; there are {len(names)}{why}")
    columns_by_name = dict(zip(columns, np.array(values).T, strict=True))
    means = {
        "score": columns_by_name["score"],
        **{metric: np.sum([columns_by_name[f"{metric}_{name}"] for name in sets], axis=0) for metric in _BY_SET},
        "helpfulness": columns_by_name["helpfulness"],
        "length": columns_by_name["length"],
    }
    return RunMeans(tuple(names), tuple(models), means, tuple(problems))


def read_rows(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The names of the columns, and the rows that are not blank, each with the number of its line."""
    return parse_rows(read_text(path, error=ExperimentError, limit=_MAX_BYTES), path)


def parse_rows(text: str, path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The columns and rows of a text, as of `read_rows`; errors name the path."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        rows = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise ExperimentError(f"{path}, line {reader.line_num}: not CSV: {error}") from None
    header = [from_csv_value(cell.strip()) for cell in rows[0][1]] if rows else []
    for number, row in rows:
        if len(row) != len(header):
            raise ExperimentError(f"{path}, line {number}: expected {len(header)} cells, not {len(row)}")
    if len(set(header)) < len(header) or not all(header[1:]):
        raise ExperimentError(f"{path}, line 1: expected distinct column names")
    return header, rows[1:]


def number_in(cell: str, where: str) -> float:
    """The finite number in a cell; raises ExperimentError for any other content."""
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ExperimentError(f"{where}: expected a number, not {in_one_line(cell, 40)!r}; leave a missing score empty")
    return value
