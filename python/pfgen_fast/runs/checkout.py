"""Checkouts of pfgen-bench, or of projects with the same layout, which hold both runs and their suite.

The suite of a run is in `data/` of the nearest parent folder that has one; elsewhere, it is the packaged or fetched
suite whose hash its result.json records. Commands without runs search from the working folder in the same way. Commands
that need one suite for several runs require that all runs have the same suite.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from ..base.errors import PfgenError, SuiteError

if TYPE_CHECKING:  # imported on demand, while the first runs are already being read
    from ..suite.suite import Suite


def checkout_of(folder: Path) -> Path | None:
    """The nearest parent folder of a run that holds a suite in `data/`; None if there is none."""
    for parent in folder.resolve().parents:
        if any((parent / "data").glob("Q*.json")):
            return parent
    return None


def yardsticks_beside(folder: Path) -> Path | None:
    """The folder `data` next to the folder `result` of a checkout, which has more results; None for other folders."""
    root = checkout_of(folder)
    if root is None or folder.resolve() != root / "result":
        return None
    return Path(os.path.normpath(folder / ".." / "data"))


def run_name(folder: Path) -> str:
    """The path of a run within its checkout, such as `openai/gpt-4o/5e1e9f4`."""
    folder = folder.resolve()
    root = checkout_of(folder)
    inside = folder.relative_to(root) if root else Path(*folder.parts[-3:])
    return inside.as_posix().removeprefix("result/").removeprefix("/")


def short_name(folder: Path) -> str:
    """The name of a run, or its path if that is shorter."""
    return min(folder.as_posix(), run_name(folder), key=len)


def suite_of(folder: Path, suite: Suite | None = None) -> Suite:
    """The suite of a run: the given one, that of the checkout that contains the run, or the one that its result has."""
    if suite is not None:
        return suite
    root = checkout_of(folder)
    with _loading:  # without the lock, threads would load the same suite at once
        if root is not None:
            return _loaded(root / "data")
        if (recorded := recorded_suite(folder)) is not None:
            return recorded
    from ..suite.published import how_to_name_a_suite

    raise SuiteError(
        f"{folder}: the run is not in a checkout with a data/ folder of Q*.json files; {how_to_name_a_suite()}"
    )


def recorded_suite(folder: Path) -> Suite | None:
    """The packaged or fetched suite that a run was scored with, wholly or in part."""
    from ..suite.published import fetched_names
    from ..suite.suite import hash_of_cut
    from .run_result import read_scores

    try:
        result, by_question = read_scores(folder / "result.json")
    except PfgenError:
        return None
    for name in ("mini", *fetched_names()):
        with contextlib.suppress(PfgenError):  # such as a damaged suite
            whole = _loaded(name).metadata_hash
            if result.metadata_hash in (whole, hash_of_cut(whole, list(by_question))):
                return _loaded(name)
    return None


def suite_of_all(folders: Iterable[Path], suite: Suite | None = None) -> Suite:
    """The one suite of several runs: the given one, or else that of their checkouts."""
    if suite is not None:
        return suite
    # Runs in the same folder have the same checkout. It is searched for only once, because the search is slow.
    first, *others = {folder.resolve().parent: folder for folder in folders}.values()
    suite = suite_of(first)
    for folder in others:
        other = suite_of(folder)
        if other.metadata_hash != suite.metadata_hash:
            raise SuiteError(
                f"{first} and {folder} have different suites, {suite.name} and {other.name}; expected runs on one "
                "suite, or the suite of all runs (--suite)"
            )
    return suite


def suite_here() -> Suite:
    """The suite of the checkout that contains the working folder."""
    return _loaded(suite_folder_here())


def suite_folder_here() -> Path:
    """The folder of the suite of `suite_here`."""
    root = checkout_of(Path.cwd() / "run")
    if root is None:
        from ..suite.published import how_to_name_a_suite

        raise SuiteError(
            f"the working folder is not in a checkout with a data/ folder of Q*.json files; {how_to_name_a_suite()}"
        )
    return root / "data"


_loading = Lock()


@lru_cache(maxsize=8)
def _loaded(source: Path | str) -> Suite:
    from ..suite.suite import Suite

    return Suite.load(source)
