"""Exports runs: finds and checks them, and writes the files of a format."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from pathlib import Path

from ..errors import PfgenError
from ..files.untrusted_text import counted, in_one_line, unknown_name
from ..files.writing import check_folder
from ..runs.trials import RunFolder, find_runs
from ..suite.rules import Profile
from ..suite.suite import Suite
from .about import About, FormatName
from .formats import FORMATS, Format
from .scored_run import RunReader, ScoredRun, parsed_date

_SUFFIXES = (".csv", ".eval", ".json", ".md", ".parquet", ".tsv", ".yaml", ".yml")


def export(
    runs: RunFolder | str | Path | Sequence[RunFolder | str | Path],
    output: str | Path,
    *,
    to: FormatName,
    suite: Suite | str | Path | None = None,
    profile: Profile = "leaderboard",
    model: str | None = None,
    date: str | None = None,
    about: About | None = None,
) -> list[Path]:
    """Exports runs into the format of another program, and returns the paths of the written files.

    Equal runs and arguments give equal files, which replace existing files. A README.md of a model keeps its contents.

    Args:
        runs: The runs, directories with a result.json and trials; or paths or globs that find them.
        output: The file, or a directory below which there is a file for each run or model.
        to: The name of a format, such as `"model-index"`.
        suite: A suite, or an argument of `Suite.load`; by default the suites of the runs' checkouts.
        profile: The profile with which the runs were scored.
        model: The model's name on the Hub; by default the one in config.json.
        date: The date of the runs in ISO 8601; by default that of the newest answer.
        about: What the format says beside the runs.

    Raises:
        PfgenError: A run cannot be read, its result.json is not that of its answers, or a file cannot be written.
    """
    form = format_named(to)
    given = suite if isinstance(suite, Suite | None) else Suite.load(suite)
    moment = checked_date(date)
    found = _found([runs] if isinstance(runs, RunFolder | str | Path) else runs)
    check_folder(Path(output).parent)
    reader = RunReader(given, profile, model, moment)
    scored = [reader.read(run) for run in found]
    if model is not None and len({str(run.config.get("model")) for run in scored}) > 1:
        raise PfgenError(f"model: names one model, but {counted(len(scored), 'run')} are of several")
    if form.needs_date:
        for run in scored:
            run.needed_date()
    targets = _targets(form, scored, Path(output))
    for path, of_path in targets.items():
        form.write(of_path, path, about or About())
    return list(targets)


def format_named(name: FormatName) -> Format:
    """A format by its name."""
    if name not in FORMATS:
        raise PfgenError(unknown_name("format", name, FORMATS))
    return FORMATS[name]


def checked_date(date: str | None) -> datetime.datetime | None:
    """A date in ISO 8601; None without one."""
    found = None if date is None else parsed_date(date)
    if date is not None and found is None:
        raise PfgenError(f"date: expected a date in ISO 8601, such as 2026-01-31, not {in_one_line(date)!r}")
    return found


def _found(runs: Sequence[RunFolder | str | Path]) -> list[RunFolder]:
    given = [run for run in runs if isinstance(run, RunFolder)]
    paths = [run for run in runs if not isinstance(run, RunFolder)]
    found = given + (find_runs(paths) if paths else [])
    if not found:
        raise PfgenError("no runs to export")
    return found


def _targets(form: Format, runs: list[ScoredRun], output: Path) -> dict[Path, list[ScoredRun]]:
    """The runs of each file."""
    is_file = output.name.lower().endswith(form.suffixes) and not output.is_dir()
    if not is_file and (form.per == "table" or output.suffix.lower() in _SUFFIXES):
        file = f"a file that ends with {', '.join(form.suffixes)}"
        wanted = {"table": [file], "model": [file, "a directory"], "run": [file, "a directory"]}[form.per]
        raise PfgenError(f"{output}: expected {' or '.join(wanted if form.suffixes else wanted[1:])}")
    if form.per == "table":
        return {output: runs}
    if is_file:
        names = {_name(form, run) for run in runs}
        if len(names) > 1:
            raise PfgenError(f"{output}: one file, but there are {len(names)} to write; give a directory")
        return {output: runs}
    targets: dict[Path, list[ScoredRun]] = {}
    for run in runs:
        targets.setdefault(Path(output, form.path_of(run)), []).append(run)
    for path, of_path in targets.items():
        if form.per == "run" and len(of_path) > 1:
            first, second, *_ = (run.run.folder for run in of_path)
            raise PfgenError(f"{path}: the file of both {first} and {second}; export them to different directories")
    return targets


def _name(form: Format, run: ScoredRun) -> object:
    return run.model if form.per == "model" else run.run
