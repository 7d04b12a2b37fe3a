"""Logs of evaluation programs, which need not be installed. A new program needs a module and an entry here."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from ..item_columns import ColumnNames
from ..score_rows import ScoreRows
from . import inspect_logs
from . import lm_eval_logs as lm_eval


class Program(NamedTuple):
    """How the logs of an evaluation program are found and read."""

    names: re.Pattern[str]  # names of logs in a directory
    is_log: Callable[[Path], bool]  # whether an existing file is a log, or a file beside logs
    add_logs: Callable[[ScoreRows, Sequence[Path], ColumnNames], None]


PROGRAMS = (
    Program(inspect_logs.NAMES, inspect_logs.is_log, inspect_logs.add_logs),
    Program(lm_eval.NAMES, lm_eval.is_log, lm_eval.add_logs),
)
