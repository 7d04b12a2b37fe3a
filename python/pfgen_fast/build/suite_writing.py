"""Writes the directory of a built suite: all files or none, and only over another suite."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ..base.errors import BuildError, PfgenError, SuiteError
from ..base.file_reading import read_stored
from ..base.file_writing import write_whole
from ..base.journal import json_line
from ..base.untrusted_json import json_bytes
from ..suite.suite_reading import CARD_FILES, SAMPLES_FILE, SETTINGS_FILE, find_faults, read_suite_json
from ..suite.units import FileTokenizer, freeze_tokenizer, source_of
from .build_config import Config


def check_place(config: Config) -> None:
    """Raises BuildError if the folder of the suite contains other files, which writing would delete."""
    folder = config.suite
    if not folder.exists():
        return
    if not folder.is_dir():
        raise BuildError(f"{folder}: expected a folder for the suite, not a file")
    own = {SAMPLES_FILE, SETTINGS_FILE, *CARD_FILES, *_tokenizers_there(folder)}
    for path in sorted(folder.iterdir()):
        if path.name not in own and not (path.name.startswith("Q") and path.suffix == ".json"):
            raise BuildError(
                f"{folder}: contains {path.name!r}, which is not part of a suite and would be deleted; "
                "choose another folder"
            )


def _tokenizers_there(folder: Path) -> Iterator[str]:
    """The names of the tokenizer files of an existing suite in this folder."""
    for path in folder.glob("Q*.json"):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, RecursionError, SuiteError):
            tokenizer = freeze_tokenizer(read_suite_json(path), folder)
            if isinstance(tokenizer, FileTokenizer):
                tokenizer.checked_content()
                yield tokenizer.path.name


def write_suite(config: Config, answers: Mapping[str, Mapping[str, Sequence[str]]]) -> None:
    """Writes the suite, replacing an existing one."""
    check_place(config)
    fresh = config.suite.with_name(f".{config.suite.name}.part")
    old = config.suite.with_name(f".{config.suite.name}.old")
    try:
        for leftover in (fresh, old):
            shutil.rmtree(leftover, ignore_errors=True)
        fresh.mkdir(parents=True)
        cards = {name: read_stored(config.suite / name) for name in CARD_FILES if (config.suite / name).is_file()}
        for name, content in {**cards, **_files(config, answers)}.items():
            write_whole(fresh / name, content)
        for fault in find_faults(fresh):
            raise BuildError(fault.replace(f"{fresh}{os.sep}", ""))
        if config.suite.exists():
            os.replace(config.suite, old)
        os.replace(fresh, config.suite)
        shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        raise PfgenError(f"{config.suite}: cannot be written: {error.strerror or error}") from None
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _files(config: Config, answers: Mapping[str, Mapping[str, Sequence[str]]]) -> dict[str, bytes]:
    """The content of the suite's files, by name."""
    files = dict(config.tokenizer_files)
    for asked in config.questions:
        content = {
            **{key: getattr(asked, key) for key in ("question_id", "question", "category", "note", "keywords")},
            **source_of(asked.tokenizer),
            **asked.lengths.source,
            "answers": answers[asked.question_id],
        }
        files[f"{asked.question_id}.json"] = json_bytes(content) + b"\n"
    samples = [{"question": asked.question, "answer": asked.sample} for asked in config.questions if asked.sample]
    if samples:
        files[SAMPLES_FILE] = b"".join(map(json_line, samples))
    if config.instructions:
        files[SETTINGS_FILE] = json_bytes({"instructions": dict(config.instructions)}) + b"\n"
    return files
