"""Trials: the answers of one run, read from its folder. Rules: docs/scoring.md, section 6."""

from __future__ import annotations

import glob
import json
import lzma
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from ..base.errors import TrialsError
from ..base.file_reading import MAX_BYTES, Content, read_content, too_large
from ..base.file_writing import write_whole
from ..base.journal import json_line
from ..base.native import _core
from ..base.untrusted_json import Fault, any_object, checked, parse_json, read_json, unique
from ..scoring.reply_text import CLOSING_TAGS, divided_text

_TRIALS_NAMES = ("trials.jsonl.xz", "trials.jsonl.zst", "trials.jsonl.gz", "trials.jsonl")
_MAX_CONFIG_BYTES = 1 << 20
_ONE_TRIAL = re.compile(r"trial_\d+\.jsonl")


@dataclass(frozen=True)
class RunFolder:
    """A folder with the answers of one model in one setting."""

    folder: Path  # folder of the run
    trials_path: Path | None  # file of all trials; None while there is only one file per trial (see `pack_trials`)

    @property
    def n_bytes(self) -> int:
        """The size of the stored trials; 0 if there is no file, which is reported when the run is read."""
        try:
            return self.trials_path.stat().st_size if self.trials_path else 0
        except OSError:
            return 0

    def config(self) -> dict[str, Any] | None:
        """The parameters of the run; None if there is no config.json."""
        path = self.folder / "config.json"
        if not os.path.exists(path):  # Path.exists raises for an unreadable folder; reading its trials reports it
            return None
        return checked(read_json(path, limit=_MAX_CONFIG_BYTES), any_object, str(path))


@dataclass(frozen=True)
class Trials:
    """The trials of one file, in the order of the file."""

    path: Path
    input_hash: str  # SHA-1 of the file as stored
    lines: _core.TrialLines = field(repr=False)  # trials as read by the core; their columns can be scored directly
    # for some of the trials of a file (see `part`): the line number of each trial in the file, from 1
    line_numbers: tuple[int, ...] | None = field(default=None, repr=False)

    @classmethod
    def of(cls, run: RunFolder) -> Trials:
        """Reads the trials of a run."""
        if run.trials_path is None:
            raise TrialsError(f"{run.folder}: the trials are not packed yet; run 'pfgen-fast score', which packs them")
        return cls.read(run.trials_path)

    @classmethod
    def read(cls, path: str | Path, *, on_piece: Callable[[], object] = lambda: None) -> Trials:
        """Reads a file of trials, compressed in the format that its extension names."""
        path = Path(path)
        content, sha1 = _read(path, on_piece)
        return cls(path, sha1, _core.TrialLines(content, partial(_parse, path, 1)))

    def __len__(self) -> int:
        return len(self.lines)

    @cached_property
    def questions(self) -> list[str]:
        """The question of each trial."""
        return self.lines.questions.tolist()

    @cached_property
    def answers(self) -> list[str]:
        """The answer of each trial."""
        return self.lines.answers.tolist()

    def trial(self, row: int) -> dict[str, Any]:
        """All keys of one trial, in their order."""
        texts: dict[str, Any] | None = self.lines.texts(row)
        if texts is not None:
            return texts
        where = f"{self.path}, line {self.line_number(row)}"
        return checked(parse_json(self.lines.line(row), where), any_object, where)

    def line_number(self, row: int) -> int:
        """The number of a trial's line in the file, from 1."""
        return self.lines.number(row) + 1 if self.line_numbers is None else self.line_numbers[row]

    def part(self, rows: Sequence[int]) -> Trials:
        """Some of the trials; each keeps the number of its line."""
        content = b"\n".join(map(self.lines.line, rows))
        numbers = tuple(map(self.line_number, rows))
        return Trials(self.path, self.input_hash, _core.TrialLines(content, partial(_parse, self.path, 1)), numbers)

    @cached_property
    def rows_by_question(self) -> dict[str, list[int]]:
        """The rows of each question, in the order of the file."""
        return self.lines.rows_by_question


def _read(path: Path, on_piece: Callable[[], object] = lambda: None) -> Content:
    def check(blocks: Iterable[bytes]) -> None:
        first_number = 1
        for block in blocks:
            _core.TrialLines(block, partial(_parse, path, first_number))
            first_number += block.count(b"\n")

    return read_content(path, check=check, on_piece=on_piece)


def _parse(path: Path, first_number: int, index: int, line: bytes) -> tuple[str, str]:
    """The question and answer of a line that the core cannot read: it is unusual (lone surrogates, NaN) or invalid."""
    try:
        trial = json.loads(line, object_pairs_hook=unique)  # `bad_line` says what is wrong with the line
        question, answer = trial["question"], trial["answer"]
        if isinstance(question, str) and isinstance(answer, str):
            return question, answer
    except (Fault, ValueError, KeyError, TypeError, RecursionError):
        pass
    raise bad_line(path, first_number + index, line)


def bad_line(path: Path, number: int, line: bytes) -> TrialsError:
    """The error that says why a line is not a trial."""
    where = f"{path}, line {number}"
    try:
        trial = parse_json(line.removesuffix(b"\r"), where)
    except TrialsError as error:
        return error
    if not isinstance(trial, dict):
        return TrialsError(f"{where}: expected an object with 'question' and 'answer', not {type(trial).__name__}")
    for key in ("question", "answer"):
        if key not in trial:
            return TrialsError(f"{where}: the key {key!r} is missing")
    key = "question" if not isinstance(trial["question"], str) else "answer"
    return TrialsError(f"{where}: {key!r}: expected a string, not {type(trial[key]).__name__}")


def find_runs(paths: Iterable[str | Path]) -> list[RunFolder]:
    """Finds the runs at the given paths, without duplicates, sorted by folder."""
    runs: dict[Path, RunFolder] = {}
    for path in paths:
        runs_here = [run for match in expand(path) for run in _runs_in(match)]
        if not runs_here:
            if any(Path(path).glob("Q*.json")):
                raise TrialsError(
                    f"{path}: a suite, not a run; 'pfgen-fast generate --engine ground-truth --suite {path}' makes a "
                    "run of its sample answers"
                )
            from ..tables.formats import tables_hint

            hint = tables_hint(Path(path))
            raise TrialsError(
                f"{path}: no run here; a run has {', '.join(_TRIALS_NAMES)} or trial_NNN.jsonl files{hint}"
            )
        runs.update((run.trials_path or run.folder, run) for run in runs_here)
    return sorted(runs.values(), key=lambda run: run.folder)


def one_run(run: RunFolder | str | Path) -> RunFolder:
    """The only run at a path; a run is returned as it is."""
    if isinstance(run, RunFolder):
        return run
    runs = find_runs([run])
    if len(runs) != 1:
        raise TrialsError(f"{run}: contains {len(runs)} runs; expected one")
    return runs[0]


def expand(path: str | Path) -> list[Path]:
    """The files and folders that a path or glob matches, sorted; raises TrialsError if there are none."""
    if os.path.lexists(path):
        return [Path(path)]
    matches = sorted(glob.glob(str(path), recursive=True))
    if not matches:
        raise TrialsError(f"{path}: no such file or folder")
    return [Path(match) for match in matches]


def _runs_in(path: Path) -> Iterator[RunFolder]:
    if not path.is_dir():
        if path.name.split(".", 1)[-1] in ("jsonl", "jsonl.xz", "jsonl.zst", "jsonl.gz"):
            yield RunFolder(path.parent, path)
        return

    unreadable: list[OSError] = []
    for folder, subfolders, files in os.walk(path, onerror=unreadable.append):
        subfolders.sort()
        for name in _TRIALS_NAMES:
            if name in files:
                yield RunFolder(Path(folder), Path(folder, name))
                break
        else:
            if any(_ONE_TRIAL.fullmatch(name) for name in files):
                yield RunFolder(Path(folder), None)
    # An unreadable folder counts as a run, so that its failure is reported while the other runs are still scored.
    yield from (RunFolder(Path(error.filename), None) for error in unreadable)


def packed_trials(folder: Path) -> Path | None:
    """The file of all trials in a run's folder; None if there is none."""
    return next((folder / name for name in _TRIALS_NAMES if (folder / name).exists()), None)


def single_trials(folder: Path) -> list[Path]:
    """The files of single trials in a run's folder, sorted by number."""
    try:
        paths = [path for path in folder.iterdir() if _ONE_TRIAL.fullmatch(path.name)]
    except OSError as error:
        raise TrialsError(f"{folder}: cannot be read: {error.strerror}") from None
    return sorted(paths, key=lambda path: (len(path.name), path.name))


def pack_trials(run: RunFolder, folder: Path | None = None) -> RunFolder:
    """Packs the single trials of a run into one trials.jsonl.xz, with all lines sorted bytewise."""
    packed = (folder or run.folder) / _TRIALS_NAMES[0]
    lines: list[bytes] = []
    n_bytes = 0
    for path in single_trials(run.folder):
        content = _read(path).content
        n_bytes += len(content)
        if n_bytes > MAX_BYTES:
            raise too_large(packed, MAX_BYTES)
        _core.TrialLines(content, partial(_parse, path, 1))
        of_file = content.removeprefix(b"\xef\xbb\xbf").split(b"\n")
        lines.extend(line.removesuffix(b"\r") for line in of_file if line and not line.isspace())
    lines.sort()
    write_whole(packed, lzma.compress(b"".join(line + b"\n" for line in lines)))
    return RunFolder(run.folder, packed)


def reasoning_notes(trials: Trials) -> list[str]:
    """Returns one sentence if answers contain reasoning; otherwise the list is empty."""
    n_reasoning = trials.lines.answers.n_with_any(CLOSING_TAGS)
    if not n_reasoning:
        return []
    return [
        f"{trials.path}: {n_reasoning:,} of {len(trials):,} answers contain reasoning, which is scored too; "
        "'pfgen-fast score --reasoning strip --output FOLDER' scores the answers without it"
    ]


def stripped(trials: Trials, config: Mapping[str, Any] | None) -> Trials:
    """Returns the trials without the reasoning in their answers."""
    rows = (trials.trial(row) for row in range(len(trials)))
    tags = recorded_tags(config or {}) or []
    lines = [json_line({**row, "answer": divided_text(row["answer"], tags).answer}) for row in rows]
    numbers = tuple(map(trials.line_number, range(len(trials))))
    content = _core.TrialLines(b"".join(lines), partial(_parse, trials.path, 1))
    return Trials(trials.path, trials.input_hash, content, numbers)


def recorded_tags(config: Mapping[str, Any]) -> list[tuple[str, str]] | None:
    """The additional tags that a config.json records; None if they are not a list of pairs of texts."""
    pairs = config.get("reasoning_tags") or []
    is_valid = isinstance(pairs, list) and all(
        isinstance(pair, list) and len(pair) == 2 and all(isinstance(tag, str) and tag for tag in pair)
        for pair in pairs
    )
    return [(opening, closing) for opening, closing in pairs] if is_valid else None
