"""Logs of Inspect: `.eval`, a zip of JSON files, and `.json`.

Items are samples, subjects are tasks, trials are epochs, and the metric of a score with several values is
`SCORER/VALUE`. Values become numbers as in Inspect's `value_to_float`, but a value that it would count as 0 with a
warning is an error here.
"""

from __future__ import annotations

import codecs
import contextlib
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

from ...base.compression import DAMAGE, contents
from ...base.errors import TrialsError
from ...base.file_reading import MAX_BYTES, MAX_LINE_BYTES, opened, reading
from ...base.untrusted_json import parse_json
from ...base.untrusted_text import counted, few_names, in_one_line, shown_value
from ...tables.table_rows import decoded
from ...tables.text_formats import array_elements, object_members
from .score_columns import ColumnNames, label
from .score_rows import Records, ScoreRows

_ZSTANDARD = 93
_PIECE_BYTES = 1 << 20
_END, _END_BYTES = b"PK\5\6", 22
_MAX_COMMENT_BYTES = 1 << 16
_MAX_DIRECTORY_BYTES = 1 << 26
_LOCAL_BYTES = 30
_ZIP_DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, RuntimeError, *DAMAGE)


class LogZip:
    """An open zip; errors are `TrialsError` with the name of the file."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self._path, self._file = path, file
        _check_directory(file, path)
        with self._naming_damage():
            self._zip = zipfile.ZipFile(file)
        self.names = tuple(dict.fromkeys(self._zip.namelist()))

    @classmethod
    @contextlib.contextmanager
    def open(cls, path: Path) -> Iterator[LogZip]:
        """Opens a file."""
        with opened(path) as file:
            yield cls(path, file)

    def json(self, name: str) -> Any:
        """The value in a small member."""
        if name not in self.names:
            raise TrialsError(f"{self._path}: expected a log of Inspect with {name}")
        text, n_characters = [], 0
        for piece in self.text(name):
            text.append(piece)
            n_characters += len(piece)
            if n_characters > MAX_LINE_BYTES:
                raise TrialsError(f"{self._path}, {name}: larger than {MAX_LINE_BYTES >> 20} MiB, which is the limit")
        return parse_json("".join(text), f"{self._path}, {name}")

    def text(self, name: str) -> Iterator[str]:
        """The text of a member, in pieces."""
        try:
            yield from codecs.iterdecode(self._pieces(name), "utf-8")
        except UnicodeDecodeError:
            raise TrialsError(f"{self._path}, {in_one_line(name)}: not UTF-8") from None

    def _pieces(self, name: str) -> Iterator[bytes]:
        n_bytes = 0
        with self._naming_damage():
            info = self._zip.getinfo(name)
            is_own = info.compress_type == _ZSTANDARD
            for piece in self._zstandard(info) if is_own else self._usual(info):
                n_bytes += len(piece)
                if n_bytes > MAX_BYTES:
                    shown = in_one_line(name)
                    raise TrialsError(
                        f"{self._path}, {shown}: holds more than {MAX_BYTES >> 20} MiB, which is the limit"
                    )
                yield piece

    def _usual(self, info: zipfile.ZipInfo) -> Iterator[bytes]:
        with self._zip.open(info) as member:
            while piece := member.read(_PIECE_BYTES):
                yield piece

    def _zstandard(self, info: zipfile.ZipInfo) -> Iterator[bytes]:
        self._file.seek(info.header_offset)
        header = self._file.read(_LOCAL_BYTES)
        n_name, n_extra = struct.unpack("<HH", header[26:])
        self._file.seek(info.header_offset + _LOCAL_BYTES + n_name + n_extra)
        checksum = 0
        for piece in contents(self._stored(info.compress_size), ".zst"):
            checksum = zlib.crc32(piece, checksum)
            yield piece
        if checksum != info.CRC:
            raise zipfile.BadZipFile("wrong checksum")

    def _stored(self, n_bytes: int) -> Iterator[bytes]:
        while n_bytes:
            block = self._file.read(min(n_bytes, _PIECE_BYTES))
            if not block:
                raise EOFError("the end is missing")
            n_bytes -= len(block)
            yield block

    @contextlib.contextmanager
    def _naming_damage(self) -> Iterator[None]:
        try:
            yield
        except _ZIP_DAMAGE as error:
            raise TrialsError(f"{self._path}: damaged or cut off zip: {in_one_line(error)}") from None


def _check_directory(file: IO[bytes], path: Path) -> None:
    """Refuses a directory of members that would need much memory."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _END_BYTES - _MAX_COMMENT_BYTES))
    end = file.read()
    place = len(end) - _END_BYTES if end[-_END_BYTES:].startswith(_END) else end.rfind(_END)
    if place >= 0 and len(end) >= place + _END_BYTES:
        (n_bytes,) = struct.unpack("<I", end[place + 12 : place + 16])
        if n_bytes == 0xFFFFFFFF:  # the size is in the record of large files before it
            (n_bytes,) = struct.unpack("<Q", end[place - 36 : place - 28]) if place >= 76 else (0,)
        if n_bytes > _MAX_DIRECTORY_BYTES:
            raise TrialsError(f"{path}: the zip has too many members; expected a log of Inspect")


NAMES = re.compile(r".+\.eval|\d{4}-\d\d-\d\dT.+\.json")
"""The names of logs in a directory."""
_VERSION = 2
_PEEKED_CHARACTERS = 1 << 16
_WORDS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_LOWER_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_JOURNAL = re.compile(r"_journal/summaries/(\d+)\.json")


def is_log(path: Path) -> bool:
    """Whether a file is a log."""
    if path.suffix != ".json":
        return path.suffix == ".eval"
    with reading(path) as file:
        begin = file.read(_PEEKED_CHARACTERS).decode(errors="replace")
    return begin.lstrip("\ufeff \t\r\n").startswith("{") and all(
        f'"{key}"' in begin for key in ("version", "status", "eval")
    )


class _Head(NamedTuple):
    """What is known about an evaluation before its samples."""

    path: Path
    status: str
    model: str
    task: str
    created: str
    attempt_of: str  # equal for an evaluation and its retries
    is_invalidated: bool

    @classmethod
    def of(cls, path: Path, header: Mapping[str, Any]) -> _Head:
        """Checks the head of a log."""
        version, about = header.get("version"), header.get("eval")
        if version != _VERSION:
            raise TrialsError(
                f"{path}: a log of Inspect in version {in_one_line(version)} of its format; expected version {_VERSION}"
            )
        if not isinstance(about, dict):
            raise TrialsError(f"{path}: expected a log of Inspect with the key 'eval'")
        model, task, created, attempt = (about.get(key) for key in ("model", "task", "created", "task_id"))
        if not (isinstance(model, str) and model.strip() and isinstance(task, str) and task.strip()):
            raise TrialsError(f"{path}, eval: expected the names of a model and a task")
        return cls(
            path=path,
            status=str(header.get("status", "started")),
            model=model,
            task=task.rpartition("/")[2],
            created=str(created),
            attempt_of=str(attempt or path),
            is_invalidated=header.get("invalidated") is True,
        )


def add_logs(rows: ScoreRows, paths: Sequence[Path], columns: ColumnNames) -> None:
    """Adds logs; of several attempts at an evaluation, the last that succeeded, or else the last."""
    attempts: dict[tuple[str, str], list[_Head]] = {}
    for path in paths:
        head = _Head.of(path, _head(path))
        attempts.setdefault((head.model, head.attempt_of), []).append(head)
    for same in attempts.values():
        best = max(same, key=lambda head: (head.status == "success", head.created))
        if len(same) > 1:
            others = few_names([head.path.name for head in same if head != best], 2)
            rows.remark(f"the last successful attempt at an evaluation is used, instead of {others}", str(best.path))
        _add_log(rows, best, columns)


def _add_log(rows: ScoreRows, head: _Head, columns: ColumnNames) -> None:
    path = head.path
    if head.is_invalidated:
        rows.remark("the log is marked as invalidated", str(path))
    # A sample that was run again is in the log twice; the last one counts.
    samples = {(label(sample.get("id")), label(sample.get("epoch"))): sample for sample in map(_thin, _samples(path))}
    records = Records(
        rows, columns, file=str(path), model=head.model, task=head.task, locate=lambda n: f"{path}, sample {n + 1}"
    )
    n_scored = 0
    for number, ((item, epoch), sample) in enumerate(samples.items()):
        scores: dict[str, float | None] = {}
        where = f"{path}, sample {in_one_line(item, 40)}"
        for scorer, score in sample["scores"].items():
            for metric, value in _values(scorer, score):
                scores[metric] = _number(value, f"{where}, score '{in_one_line(metric)}'", rows, str(path))
        if scores:
            n_scored += 1
            records.add(number, item, scores, sample["metadata"], trial=epoch)
        else:
            records.leave_out("samples without a score, such as after an error")
    if head.status != "success":
        status = f"the status of the evaluation is '{in_one_line(head.status)}'"
        if not n_scored:
            raise TrialsError(f"{path}: no scores of samples; {status}")
        rows.remark(f"{status}; {counted(n_scored, 'sample')} with scores", str(path))
    records.end()


def _thin(sample: Mapping[str, Any]) -> Mapping[str, Any]:
    """What is used of a sample; a sample can have a long transcript."""
    scores, metadata = sample.get("scores"), sample.get("metadata")
    return {
        "id": sample.get("id"),
        "epoch": sample.get("epoch", 1),
        "scores": {name: score.get("value") for name, score in scores.items() if isinstance(score, dict)}
        if isinstance(scores, dict)
        else {},
        "metadata": metadata if isinstance(metadata, dict) else {},
    }


def _values(scorer: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from ((f"{scorer}/{key}", inner) for key, inner in value.items())
    elif isinstance(value, list):
        yield from ((f"{scorer}/{place}", inner) for place, inner in enumerate(value, start=1))
    else:
        yield scorer, value


def _number(value: Any, where: str, rows: ScoreRows, file: str) -> float | None:
    if value is None or value != value:  # Inspect writes NaN where a scorer could not decide
        return None
    if isinstance(value, (bool, int, float)):
        with contextlib.suppress(OverflowError):
            return float(value)
    elif isinstance(value, str):
        score = _WORDS.get(value, _LOWER_WORDS.get(value.lower()))
        if score is not None:
            rows.remark("C, P, I and N count as 1, 0.5, 0 and 0, and yes and no as 1 and 0", file)
            return score
        try:
            if "_" not in value:
                return float(value)
        except ValueError:
            pass
    raise TrialsError(f"{where}: expected a number or one of C, P, I, N, yes and no, not {shown_value(value)}")


def _head(path: Path) -> Mapping[str, Any]:
    """The members of a log before its samples."""
    if path.suffix == ".eval":
        with LogZip.open(path) as log:
            # An evaluation that is running, or was killed, has no header.
            header = log.json("header.json" if "header.json" in log.names else "_journal/start.json")
            return header if isinstance(header, dict) else {}
    wanted = ("version", "status", "eval", "invalidated")
    head: dict[str, Any] = {}
    for key, _, text in _members(path):
        if key == "samples":
            break
        if key in wanted:
            head[key] = parse_json(text, f"{path}, {key}")
    return head


def _members(path: Path) -> Iterator[tuple[str, int, str]]:
    with reading(path) as file:
        _, blocks = decoded(file, "utf-8", str(path))
        yield from object_members(blocks, str(path), "samples")


def _samples(path: Path) -> Iterator[Mapping[str, Any]]:
    if path.suffix == ".json":
        texts = ((f"{path}, sample {number}", text) for key, number, text in _members(path) if number)
        yield from _objects(texts)
        return
    with LogZip.open(path) as log:
        journal = sorted((int(match[1]), name) for name in log.names if (match := _JOURNAL.fullmatch(name)))
        if "summaries.json" in log.names or journal:
            for name in ["summaries.json"] if "summaries.json" in log.names else [name for _, name in journal]:
                where = f"{path}, {name}"
                elements = array_elements(log.text(name), where)
                yield from _objects((f"{where}, sample {number}", text) for number, text in elements)
        else:
            for name in log.names:
                if name.startswith("samples/") and name.endswith(".json"):
                    yield from _objects([(f"{path}, {in_one_line(name)}", "".join(log.text(name)))])


def _objects(texts: Any) -> Iterator[Mapping[str, Any]]:
    for where, text in texts:
        content = parse_json(text, where)
        if not isinstance(content, dict):
            raise TrialsError(f"{where}: expected a sample")
        yield content
