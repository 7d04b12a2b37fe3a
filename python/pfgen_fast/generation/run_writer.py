"""Writes a run: creates its folder, finds existing answers, and stores new answers. A killed command loses no answer.

Each answer is appended to a hidden file when it arrives. When a trial is complete, its answers are written
atomically to a file for this trial. Only one process at a time may write to a folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..base.errors import EngineError
from ..base.file_reading import read_stored
from ..base.file_writing import timestamp, write_whole
from ..base.journal import Journal, json_line, sole_writer
from ..base.untrusted_text import folder_names, in_one_line, utf8
from ..runs.trials import RunFolder, Trials, pack_trials, packed_trials, single_trials
from ..suite.suite import Suite
from .protocol import without_none
from .raw_replies import RawReplies

_UNFINISHED = ".unfinished.jsonl"
MAX_TRIALS = 999_999
"""The maximum trial number, because a larger number in a damaged file may be too long for a file name."""


def check_trials(trials: int) -> None:
    """Raises EngineError for a number of trials that a run cannot have."""
    if not 1 <= trials <= MAX_TRIALS:
        raise EngineError(f"trials: expected a number from 1 to {MAX_TRIALS:,}, not {trials:,}")


def config_line(config: Mapping[str, Any]) -> str:
    """The single line of a run's config.json, without parameters that are None."""
    return utf8(json.dumps(without_none(config), ensure_ascii=False, sort_keys=True)).decode()


def config_hash(config: Mapping[str, Any]) -> str:
    """The seven hex digits that name the folder of a run with these parameters."""
    return hashlib.sha1(config_line(config).encode()).hexdigest()[:7]


def run_folder(root: Path, config: Mapping[str, Any]) -> Path:
    """The folder below `root` of a run with these parameters; `/data/step-7` and `../data/step-7` stay below it too."""
    model = config["model"]
    names = folder_names(model)
    if not names or not model.isprintable() or any(len(name.encode()) > 255 for name in names):
        raise EngineError(
            f"model: expected a name that can be a folder, such as 'org/model', not {in_one_line(model)!r}"
        )
    return root.joinpath(*names, config_hash(config))


@contextlib.contextmanager
def writing_run(folder: Path, config: Mapping[str, Any], suite: Suite) -> Iterator[RunWriter]:
    """Opens a run's folder for writing. The folder is created if necessary, and removed at the end if it is empty."""
    with (
        sole_writer(folder, doing="generating into this folder", error=EngineError),
        contextlib.closing(RunWriter(folder, config, suite)) as writer,
    ):
        yield writer


class RunWriter:
    """Writes one run; see `writing_run`."""

    def __init__(self, folder: Path, config: Mapping[str, Any], suite: Suite) -> None:
        self.folder = folder
        self._config = config_line(config) + "\n"
        self._questions = [question.question for question in suite]
        self._suite = suite.name
        self._finished: dict[int, bool] = {}
        self._answers: dict[int, dict[str, tuple[str, str]]] = {}
        self._journal = Journal(folder / _UNFINISHED)
        self.replies = RawReplies(folder)
        timestamp()  # reports an invalid SOURCE_DATE_EPOCH before any request
        self._check_config()
        self._packed = None if single_trials(folder) else packed_trials(folder)
        self._n_packed = self._count_packed()
        self._read_unfinished()

    def missing(self, trial: int) -> list[str]:
        """The questions of a trial without an answer, in the order of the suite."""
        if self._is_finished(trial):
            return []
        known = self._answers.get(trial, {})
        return [question for question in self._questions if question not in known]

    def oldest_answer(self) -> str:
        """The time at which the oldest answer was stored; empty if no answer has a time."""
        finished = (self._trial_path(trial) for trial, is_finished in self._finished.items() if is_finished)
        paths = [self._packed] if self._packed else list(finished)
        times = [moment for answers in self._answers.values() for _, moment in answers.values()]
        for path in paths:
            trials = Trials.read(path)
            times += (str(trials.trial(row).get("timestamp", "")) for row in range(len(trials)))
        return min(filter(None, times), default="")

    def add(self, trial: int, question: str, answer: str) -> None:
        """Stores an answer. After the last answer of a trial, the trial's file is written."""
        moment = timestamp()
        config = self.folder / "config.json"
        if not config.exists():
            write_whole(config, self._config.encode())
        self._journal.add({"trial": trial, "question": question, "answer": answer, "timestamp": moment})
        self._answers.setdefault(trial, {})[question] = (answer, moment)
        self._finish_if_complete(trial)

    def pack(self) -> RunFolder | None:
        """Packs all complete trials into trials.jsonl.xz; returns None without a complete trial."""
        if self._packed is not None:
            return RunFolder(self.folder, self._packed)
        if not single_trials(self.folder):
            return None
        return pack_trials(RunFolder(self.folder, None))

    def _trial_path(self, trial: int) -> Path:
        return self.folder / f"trial_{trial:03}.jsonl"

    def _is_finished(self, trial: int) -> bool:
        if self._packed is not None:
            if trial > self._n_packed:
                raise EngineError(
                    f"{self._packed}: has {self._n_packed} trials, but its trial_NNN.jsonl files are missing, "
                    "so nothing can be added to it; choose another output folder"
                )
            return True
        if trial not in self._finished:
            path = self._trial_path(trial)
            self._finished[trial] = path.exists()
            if self._finished[trial] and Trials.read(path).questions != self._questions:
                raise EngineError(
                    f"{path}: has other questions than suite {self._suite}; "
                    "the folder belongs to another suite; choose another output folder"
                )
        return self._finished[trial]

    def _check_config(self) -> None:
        """Checks that the folder has exactly this configuration, because its name is only a short hash."""
        path = self.folder / "config.json"
        if path.exists() and read_stored(path).strip() != self._config.strip().encode():
            raise EngineError(f"{path}: has other parameters than {self._config.strip()}; was it edited by hand?")

    def _count_packed(self) -> int:
        """The number of complete trials in a run with only the packed file."""
        if self._packed is None:
            return 0
        times = Counter(Trials.read(self._packed).questions)
        return min(times[question] for question in self._questions)

    def _read_unfinished(self) -> None:
        """Reads the answers of a stopped process. After a kill, the last line may be incomplete."""
        for leftover in self.folder.glob(".*.part"):  # a killed process has not renamed the file
            leftover.unlink(missing_ok=True)
        if not self._journal.path.exists():
            return
        kept = [entry for entry in self._journal.entries() if self._is_usable(entry)]
        for entry in kept:
            self._answers.setdefault(entry["trial"], {})[entry["question"]] = (entry["answer"], entry["timestamp"])
        self._journal.rewrite(kept)
        for trial in list(self._answers):
            self._finish_if_complete(trial)

    def _is_usable(self, entry: Mapping[str, Any]) -> bool:
        """Whether an entry has valid values and belongs to an incomplete trial."""
        trial, *texts = (entry.get(name) for name in ("trial", "question", "answer", "timestamp"))
        return (
            isinstance(trial, int)
            and 1 <= trial <= MAX_TRIALS
            and all(isinstance(text, str) for text in texts)
            and texts[0] in self._questions
            and not self._is_finished(trial)
        )

    def _finish_if_complete(self, trial: int) -> None:
        answers = self._answers[trial]
        if len(answers) < len(self._questions):
            return
        lines = (
            json_line({"question": question, "answer": answers[question][0], "timestamp": answers[question][1]})
            for question in self._questions
        )
        write_whole(self._trial_path(trial), b"".join(lines))
        self._finished[trial] = True
        del self._answers[trial]

    def close(self) -> None:
        """Closes the hidden file, and removes it if the files of trials have all its answers."""
        self.replies.close()
        self._journal.close()
        if not self._answers:
            self._journal.remove()
