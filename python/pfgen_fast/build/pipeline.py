"""Builds a suite: every question and set passes through the stages, each of which leaves files and a record.

A stage is skipped if its record names the same answers and parameters, so a stopped build resumes. A record is written
last and removed first, so the files of a stage with a record are complete.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .. import __version__
from ..base.errors import BuildError, PfgenError
from ..base.file_reading import file_sha1
from ..base.file_writing import held, make_folder, write_whole
from ..base.native import default_threads
from ..base.untrusted_json import read_json
from ..suite.units import source_of
from .answer_fit import N_TEXTS, WORDS, Fit, fit_answers, fit_sentences, mixed_scripts, text_figures
from .answer_tables import gather, input_files, read_table, write_table
from .build_config import Config, QuestionConfig, read_config
from .stages import NAMES, Stage, describe, examples, most_frequent_reasons, stages_of
from .suite_writing import check_place, write_suite

RAW = NAMES[0]

OnStep = Callable[[int, int, str], None]
"""Called with the number of finished stages, the total, and a description of the current step."""


@dataclass(frozen=True)
class Branch:
    """One set of one question, and the files of its stages."""

    asked: QuestionConfig
    set_name: str
    folder: Path  # folder of its stages

    @property
    def name(self) -> str:
        """The branch's name in messages."""
        return f"question {self.asked.question_id}, set {self.set_name}"

    def path(self, stage: str, ending: str) -> Path:
        """The path of a stage's file: `.parquet`, `.removed.parquet` or `.json`."""
        return self.folder / f"{NAMES.index(stage)}-{stage}{ending}"

    def remove(self, stage: str) -> None:
        """Removes a stage's files, the record first, so that a record never describes other files."""
        for ending in (".json", ".parquet", ".removed.parquet"):
            self.path(stage, ending).unlink(missing_ok=True)

    def record(self, stage: str) -> dict[str, Any] | None:
        """The record of a stage; None if the stage is not done."""
        try:
            record = read_json(self.path(stage, ".json"))
        except PfgenError:
            return None
        return record if isinstance(record, dict) and "made_from" in record else None

    def answers(self, stage: str) -> Any:
        """The table of answers that a stage has kept."""
        return read_table(self.path(stage, ".parquet"))

    def removed(self, stage: str) -> Any:
        """The table of answers that a stage has removed, with reasons."""
        return read_table(self.path(stage, ".removed.parquet"))


@dataclass(frozen=True)
class Built:
    """The outcome of a build."""

    config: Config
    branches: tuple[Branch, ...]  # every set of every question
    problems: tuple[str, ...] = ()  # reasons why no suite was written, one sentence each
    n_run: int = 0  # number of stages that were run in this call
    is_written: bool = False  # whether the suite was written
    notes: tuple[str, ...] = ()  # deviations from the config, one sentence each
    fits: Mapping[str, Fit] = field(default_factory=dict)  # the unit and the lengths of each question, by ID
    decisions: tuple[str, ...] = ()  # units and lengths that the answers decided, and why, one sentence each


def branches_of(config: Config) -> tuple[Branch, ...]:
    """Every set of every question, with the folder of its stages."""
    return tuple(
        Branch(asked, name, config.work / asked.question_id / name)
        for asked in config.questions
        for name in config.set_names(asked)
    )


def build_suite(
    config: Config | str | Path,
    *,
    stage: str | None = None,
    threads: int | None = None,
    force: bool = False,
    on_step: OnStep | None = None,
) -> Built:
    """Builds a suite, starting from the first stage that is not done, and writes it.

    Args:
        config: A config as `read_config` returns it, or the path of its TOML file.
        stage: Run only this stage, on the result of the previous one.
        threads: Number of threads; by default one per core. The result does not depend on it.
        force: Whether to run finished stages again.
        on_step: Called with the progress; see `OnStep`.

    Returns:
        The outcome. If too few answers are left, no suite is written, and `problems` names the question, the stage, and
        the settings to relax.

    Raises:
        BuildError: The stage is unknown, its input is missing, or another process is building in the same folder.
        TrialsError: A file of answers cannot be read.
        PfgenError: A file cannot be written.
    """
    if stage is not None and stage not in NAMES:
        raise BuildError(f"stage: expected one of {', '.join(NAMES)}, not {stage!r}")
    config = config if isinstance(config, Config) else read_config(config)
    check_place(config)
    make_folder(config.work)
    with building_alone(config):
        return _Build(config, stage, threads or default_threads(), force, on_step).run()


@contextmanager
def building_alone(config: Config) -> Iterator[None]:
    """Keeps other processes from building in the same folder, or from reading an incomplete build there."""
    with held(config.work / ".building") as alone:
        if not alone:
            raise BuildError(f"{config.work}: another process is building here; wait until it is done")
        yield


class _Build:
    """A single call of `build`."""

    def __init__(self, config: Config, stage: str | None, threads: int, force: bool, on_step: OnStep | None) -> None:
        self._config, self._stage, self._threads, self._force = config, stage, threads, force
        self._branches = branches_of(config)
        self._numbers = {asked.question_id: number for number, asked in enumerate(config.questions)}
        self._on_step = on_step or (lambda done, total, what: None)
        self._n_done = self._n_run = 0
        self._notes: list[str] = []
        self._fits: dict[str, Fit] = {}
        self._decisions: list[str] = []

    def run(self) -> Built:
        if self._stage in (None, RAW):
            self._gather()
        self._decide()
        if self._config.frequency.among == "question" and self._stage in (None, "frequency"):
            for number, branch in enumerate(self._branches):  # the sets of a question count each other's answers
                self._sift(number, branch, last="filter")
        sifted = (self._sift(number, branch) for number, branch in enumerate(self._branches))
        problems = tuple(problem for problem in sifted if problem)
        is_complete = self._stage is None and not problems
        if is_complete:
            self._n_done = len(self._branches) * len(NAMES)
            self._say("writing the suite")
            write_suite(self._config, self._chosen())
        notes, decisions = tuple(self._notes), tuple(self._decisions)
        return Built(self._config, self._branches, problems, self._n_run, is_complete, notes, self._fits, decisions)

    def _say(self, what: str) -> None:
        self._on_step(self._n_done, len(self._branches) * len(NAMES), what)

    # Raw answers

    def _gather(self) -> None:
        """Reads the answers of all sets, starting with files about all questions."""
        digests: dict[Path, str] = {}
        for set_name in dict.fromkeys(branch.set_name for branch in self._branches):
            stale = []
            for branch in self._branches:
                if branch.set_name == set_name:
                    key = self._key_of_raw(branch, digests)
                    record = branch.record(RAW)
                    if self._force or record is None or record["made_from"] != key:
                        stale.append((branch, key))
            if stale:
                self._read(set_name, stale)
        self._n_done += len(self._branches)

    def _key_of_raw(self, branch: Branch, digests: dict[Path, str]) -> str:
        """Everything that the raw answers of a branch depend on: the question and the files."""
        files = []
        shared, own = self._sources(branch)
        for path in (*shared, *own):
            if path not in digests:
                self._say(f"checking {path.name}")
                digests[path] = file_sha1(path)
            files.append([path.name.endswith(".parquet"), digests[path]])
        texts = [[asked.question_id, asked.question] for asked in self._config.questions]
        unit = source_of(branch.asked.tokenizer) if branch.asked.has_unit else None  # of the figures in the record
        return _hash([RAW, __version__, branch.asked.question_id, texts, files, len(own), unit])

    def _sources(self, branch: Branch) -> list[list[Path]]:
        """The files about all questions, and the files about the question of a branch."""
        lists = (self._config.sets, branch.asked.answers)
        return [input_files(files.get(branch.set_name, ()), self._config.path.parent) for files in lists]

    def _read(self, set_name: str, stale: list[tuple[Branch, str]]) -> None:
        """Reads each file of a set once, for the branches that are not up to date."""
        codes = self._numbers | {asked.question: number for number, asked in enumerate(self._config.questions)}
        targets = {self._numbers[branch.asked.question_id]: branch for branch, _ in stale}
        for branch in targets.values():
            branch.remove(RAW)
        counts, n_unknown = gather(
            self._sources(stale[0][0])[0],
            {number: self._sources(branch)[1] for number, branch in targets.items()},
            {number: branch.path(RAW, ".parquet") for number, branch in targets.items()},
            codes,
            on_rows=lambda n_rows: self._say(f"reading set {set_name}: {n_rows:,} answers"),
        )
        for branch, key in stale:
            figures = {"n_other": n_unknown} if not counts[self._numbers[branch.asked.question_id]] else {}
            answers, asked = branch.answers(RAW), branch.asked
            texts = [row["answer"] for row in examples(answers, N_TEXTS)]
            figures |= text_figures(texts, (asked.tokenizer,) if asked.has_unit else (None, WORDS))
            self._write_record(branch, RAW, key, answers, figures)

    def _decide(self) -> None:
        """Decides the units and the lengths that the config leaves open, from the figures of the raw answers."""
        config = self._config
        records = [record for branch in self._branches if (record := branch.record(RAW)) is not None]
        if len(records) < len(self._branches):  # of which `_sift` names the first
            return
        figures: dict[str, list[dict[str, Any]]] = {}
        for branch, record in zip(self._branches, records, strict=True):
            figures.setdefault(branch.asked.question_id, []).append(record["figures"])
        units = {asked.question_id: asked.tokenizer for asked in config.questions if asked.has_unit}
        self._fits = fit_answers(figures, units, lengths=config.lengths, typical=config.length.target or None)
        questions = tuple(
            replace(asked, tokenizer=fit.tokenizer, lengths=fit.lengths, typical=fit.typical)
            if (fit := self._fits.get(asked.question_id))
            else asked
            for asked in config.questions
        )
        sentences = fit_sentences(self._fits, units, decides_lengths=config.lengths is None)
        self._decisions = [*sentences, *mixed_scripts(figures)]
        self._config = replace(config, questions=questions)
        self._branches = branches_of(self._config)
        for branch, record in zip(self._branches, records, strict=True):
            if record["left"]["unit"] != source_of(branch.asked.tokenizer):
                left = describe(branch.answers(RAW), branch.asked.tokenizer)
                self._store(branch, RAW, {**record, "left": left})

    # Stages

    def _sift(self, number: int, branch: Branch, *, last: str | None = None) -> str | None:
        """Runs the stages of a branch up to a last one as needed; returns the problem if too few answers are left."""
        record = branch.record(RAW)
        if record is None:
            raise _not_done(branch, RAW)
        if self._stage in (None, RAW) and record["left"]["n"] < branch.asked.size:
            n_other, n_left = record["figures"].get("n_other", 0), record["left"]["n"]
            others = f" (and {n_other:,} answers to questions outside the config)" if n_other else ""
            raw = f"{n_left:,} raw answer{'' if n_left == 1 else 's'}{others}"
            return self._too_few(branch, raw, "add raw answers, or lower select.size")
        beside = [] if self._config.frequency.among == "set" else [*self._branches]
        beside = [b for b in beside if b is not branch and b.asked is branch.asked and b.record("filter")]
        stages = stages_of(
            self._config, branch.asked, branch.set_name, lambda: [other.answers("filter") for other in beside]
        )
        last = last or self._stage
        for step, (before, stage) in enumerate(zip(NAMES, stages, strict=False)):
            if last is not None and NAMES.index(stage.name) > NAMES.index(last):
                break
            self._n_done = len(self._branches) + number * len(stages) + step
            self._say(f"{branch.name}: {stage.name}")
            keys = [record["made_from"], *(other.record("filter") for other in beside if stage.name == "frequency")]
            key = _hash([stage.name, __version__, *keys, stage.parameters])
            was, record = record, branch.record(stage.name)
            is_done = record is not None and record["made_from"] == key
            if self._stage in (None, stage.name):
                if record is None or not is_done or self._force:
                    record = self._run(branch, before, stage, key)
                if note := record["figures"].get("note"):
                    self._notes.append(f"{branch.name}: stage {stage.name}: {note}")
                if record["left"]["n"] < branch.asked.size:
                    left = f"stage {stage.name} leaves {record['left']['n']:,} of {was['left']['n']:,} answers"
                    return self._too_few(branch, left, stage.advice)
            elif record is None or not is_done:
                raise _not_done(branch, stage.name)
        return None

    def _run(self, branch: Branch, before: str, stage: Stage, key: str) -> dict[str, Any]:
        branch.remove(stage.name)
        sifted = stage.run(
            branch.answers(before), self._threads, lambda what: self._say(f"{branch.name}: {stage.name}, {what}")
        )
        write_table(branch.path(stage.name, ".parquet"), sifted.kept)
        write_table(branch.path(stage.name, ".removed.parquet"), sifted.removed)
        figures = {**sifted.figures, "reasons": most_frequent_reasons(sifted.removed)}
        return self._write_record(branch, stage.name, key, sifted.kept, figures)

    def _write_record(
        self, branch: Branch, stage: str, key: str, answers: Any, figures: Mapping[str, Any]
    ) -> dict[str, Any]:
        record = {"made_from": key, "left": describe(answers, branch.asked.tokenizer), "figures": figures}
        self._store(branch, stage, record)
        self._n_run += 1
        return record

    def _store(self, branch: Branch, stage: str, record: dict[str, Any]) -> None:
        write_whole(branch.path(stage, ".json"), (json.dumps(record, ensure_ascii=False) + "\n").encode())

    def _too_few(self, branch: Branch, what: str, advice: str) -> str:
        return f"{branch.name}: {what}, fewer than the {branch.asked.size:,} of select.size; {advice}"

    def _chosen(self) -> dict[str, dict[str, list[str]]]:
        chosen: dict[str, dict[str, list[str]]] = {}
        for branch in self._branches:
            answers = branch.answers(NAMES[-1]).column("answer").to_pylist()
            chosen.setdefault(branch.asked.question_id, {})[branch.set_name] = answers
        return chosen


def _not_done(branch: Branch, stage: str) -> BuildError:
    return BuildError(f"{branch.name}: stage {stage} is not done with this config; run it first (stage={stage!r})")


def _hash(value: Any) -> str:
    return hashlib.sha1(json.dumps(value, ensure_ascii=True, sort_keys=True).encode()).hexdigest()


def records(branch: Branch) -> Iterator[tuple[str, dict[str, Any]]]:
    """The finished stages of a branch, with their records."""
    for stage in NAMES:
        record = branch.record(stage)
        if record is None:
            return
        yield stage, record
