"""The formats of exports. A new format needs a module and an entry here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from ..files.untrusted_text import folder_names
from .about import About, FormatName
from .eval_results import write_eval_results
from .every_eval_ever import record_path, write_record
from .inspect_log import log_path, write_log
from .lm_eval_results import results_path, write_results
from .model_index import write_model_index
from .scored_run import ScoredRun
from .tables import write_table


class Format(NamedTuple):
    """How runs are written in a format."""

    per: Literal["table", "model", "run"]  # which runs share a file: all, those of a model, or none
    suffixes: tuple[str, ...]  # endings of its files; empty if their names are fixed
    path_of: Callable[[ScoredRun], Path]  # path of a file below a directory
    write: Callable[[Sequence[ScoredRun], Path, About], None]
    needs_date: bool = False


def _of_model(name: str) -> Callable[[ScoredRun], Path]:
    return lambda run: Path(*folder_names(run.model), name)


def _of_run(suffix: str) -> Callable[[ScoredRun], Path]:
    return lambda run: Path(*folder_names(run.name + suffix))


_TABLES = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".csv.zst", ".tsv.zst")

FORMATS: dict[FormatName, Format] = {
    "model-index": Format("model", (".md", ".yaml", ".yml"), _of_model("README.md"), write_model_index),
    "eval-results": Format("model", (".yaml", ".yml"), _of_model(".eval_results/pfgen.yaml"), write_eval_results),
    "lm-eval": Format("run", (), results_path, write_results, needs_date=True),
    "inspect": Format("run", (".json", ".eval"), log_path, write_log, needs_date=True),
    "every-eval-ever": Format("run", (".json",), record_path, write_record, needs_date=True),
    "csv": Format("table", _TABLES, _of_run(".csv"), write_table),
    "parquet": Format("table", (".parquet",), _of_run(".parquet"), write_table),
}
"""The formats by name."""
