"""What annotators of a suite are asked: its questions and levels, and the guideline beside them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ...annotations.plan import Asked
from ...annotations.sheets import packaged_guideline, read_guideline
from ..suite import ChecklistSuite
from ..suite_files import GUIDELINE_FILE
from .marks import questions_sha256

_LEVELS: Mapping[str, Mapping[float, str]] = {
    "en": {0: "fails", 0.25: "in part", 0.5: "about half", 0.75: "mostly", 1: "nothing to improve"},
    "ja": {0: "満たさない", 0.25: "一部のみ", 0.5: "およそ半分", 0.75: "おおむね", 1: "直すところなし"},
}
"""The texts of the usual levels; other levels have only their number."""


def asked_of(suite: ChecklistSuite, *, language: str | None = None, guideline: Path | None = None) -> Asked:
    """What annotators are asked, with the given guideline, that of the suite, or the packaged one."""
    chosen = language or (suite.language if suite.language in _LEVELS else "en")
    path = guideline
    if path is None and suite.folder is not None and (suite.folder / GUIDELINE_FILE).exists():
        path = suite.folder / GUIDELINE_FILE
    return Asked(
        suite.name,
        questions_sha256(suite),
        chosen,
        packaged_guideline(chosen) if path is None else read_guideline(path),
        [{"value": level, "text": _LEVELS[chosen].get(level, "")} for level in suite.levels],
        suite.language,
    )
