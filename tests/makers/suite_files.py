"""Files of suites: a published suite with a manifest, and compiled suites that were damaged, or forged.

In a forged one, all checksums are right.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from makers.fault_server import Reply, Request
from pfgen_fast.base.native import _core
from pfgen_fast.suite.suite_reading import PACKAGED

FILES = {f"data/{path.name}": path.read_bytes() for path in sorted((PACKAGED / "mini").iterdir())}
Q03 = "data/Q03.json"


def write_manifest(folder: Path) -> Path:
    """Writes the manifest of a suite `pfgen-bench` with the files of the packaged one."""
    files = {path: [len(content), hashlib.sha256(content).hexdigest()] for path, content in FILES.items()}
    about = {"repository": "org/suite", "commit": "c0ffee", "licence": "as its owners say"}
    folder.mkdir()
    (folder / "pfgen-bench.json").write_text(json.dumps({**about, "files": files}), encoding="utf-8")
    return folder


def write_checkout(folder: Path, **changes: bytes) -> Path:
    """Writes a checkout of the repository; files by their stems have other contents."""
    (folder / "data").mkdir(parents=True)
    for path, content in FILES.items():
        (folder / path).write_bytes(changes.get(Path(path).stem, content))
    return folder


def whole(request: Request) -> Reply:
    """Replies with the file of the requested path, or 404."""
    content = FILES.get(request.path.partition("/v1/")[2])
    return Reply(b"not found", 404) if content is None else Reply(content)


def but_for_q03(reply: Callable[[Request], Reply]) -> Callable[[Request], Reply]:
    """Replies with every file but one, which has another reply."""
    return lambda request: reply(request) if request.path.endswith(Q03) else whole(request)


def forge_question(path: Path, question: int) -> None:
    """Puts the index of other reference answers in the place of the index of a question."""
    file = _core.IndexFile(path.read_bytes())
    index = list(file.questions)
    sets = [["forged"]] * len(index[question].baselines)
    (index[question],) = _core.compile([sets], file.profile, 1)
    _replace(path, file, file.details, index)


def damage_last_byte(path: Path) -> None:
    """Damages the section of the last question."""
    content = path.read_bytes()
    replace(path, content[:-1] + bytes([content[-1] ^ 1]))


def _replace(path: Path, file: _core.IndexFile, details: bytes, index: Sequence[Any]) -> None:
    head = _core.index_file_head(file.profile, file.metadata_hash.decode(), details, index)
    replace(path, b"".join([head, *index]))


def replace(path: Path, content: bytes) -> None:
    """Puts a new file in the place of one that may be mapped."""
    mode = path.stat().st_mode
    path.unlink()
    path.write_bytes(content)
    path.chmod(mode)
