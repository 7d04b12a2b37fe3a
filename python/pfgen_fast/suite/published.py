"""Published suites: their files with checksums, their address, and the directory of fetched and added suites."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from ..base.errors import PfgenError, SuiteError
from ..base.untrusted_json import read_json
from ..base.untrusted_text import unknown_name

_MANIFESTS = Path(__file__).parents[1] / "data" / "published"
ORIGIN_FILE = "origin.json"
"""The file in a fetched suite that says where the suite is from."""
NAMES_BY_HASH = {"13581cc9df3fb849ec9293bcec2b03de1a48ecc2": "pfgen-bench"}


@dataclass(frozen=True)
class PublishedFile:
    """A file of a repository."""

    path: str
    n_bytes: int
    sha256: str

    @property
    def name(self) -> str:
        """Its name in the fetched suite, which has no subdirectories."""
        return PurePosixPath(self.path).name

    @property
    def is_needed(self) -> bool:
        """Whether scores or prompts depend on it."""
        return self.name == "questions.jsonl" or bool(re.fullmatch(r"Q[0-9]+\.json", self.name))


@dataclass(frozen=True)
class PublishedSuite:
    """A suite in a public repository at one commit, or an added one: its source, and the hash of its manifest."""

    name: str
    repository: str
    commit: str
    licence: str
    files: tuple[PublishedFile, ...]

    @property
    def base_url(self) -> str:
        """The address that the paths of its files follow."""
        return f"https://raw.githubusercontent.com/{self.repository}/{self.commit}"

    @property
    def origin(self) -> dict[str, Any]:
        """The content of `ORIGIN_FILE`."""
        return {name: getattr(self, name) for name in ("name", "repository", "commit", "licence")}


def published_names() -> list[str]:
    """The names of the published suites."""
    return sorted(path.stem for path in _MANIFESTS.glob("*.json"))


def published_suite(name: str) -> PublishedSuite:
    """A published suite by name."""
    if name not in published_names():
        raise SuiteError(unknown_name("published suite", name, published_names()))
    content = read_json(_MANIFESTS / f"{name}.json", error=SuiteError)
    return PublishedSuite(
        name, content["repository"], content["commit"], content["licence"], files_of(content["files"])
    )


def files_of(files: Mapping[str, tuple[int, str]]) -> tuple[PublishedFile, ...]:
    """The files of a manifest: size and SHA-256 by path."""
    return tuple(PublishedFile(path, n_bytes, sha256) for path, (n_bytes, sha256) in files.items())


def suites_folder() -> Path:
    """The directory of installed suites: below `$PFGEN_FAST_HOME`, or `pfgen-fast` in the user's data directory."""
    chosen = os.environ.get("PFGEN_FAST_HOME")
    if chosen:
        return Path(chosen, "suites").absolute()
    usual = {"win32": "~/AppData/Local", "darwin": "~/Library/Application Support"}.get(sys.platform, "~/.local/share")
    data = os.environ.get("LOCALAPPDATA" if sys.platform == "win32" else "XDG_DATA_HOME", "")
    if not os.path.isabs(data):  # the XDG specification ignores relative paths
        data = os.path.expanduser(usual)
    if not os.path.isabs(data):
        raise SuiteError("the user has no home directory to keep suites in; set PFGEN_FAST_HOME to a directory")
    return Path(data, "pfgen-fast", "suites")


def fetched_names() -> list[str]:
    """The names of the suites that have been fetched or added."""
    with contextlib.suppress(SuiteError, OSError):  # the user has no home directory, or no suites
        names = {path.name for path in suites_folder().iterdir() if path.is_dir() and not path.name.startswith(".")}
        return sorted(names, key=lambda name: (name not in published_names(), name))
    return []


def fetched_folder(name: str) -> Path | None:
    """The directory of a suite that has been fetched or added; None for other names.

    A directory with question files precedes an added suite of its name, so that authors score what they edit.
    """
    if name not in fetched_names() or (name not in published_names() and any(Path(name).glob("Q*.json"))):
        return None
    return suites_folder() / name


def how_to_name_a_suite() -> str:
    """The end of an error message for a command without a suite."""
    names = ["mini", *fetched_names()]
    fetch = "" if names[1:] else "; for the published one, run: pfgen-fast suite add pfgen-bench"
    return f"name a suite (--suite DIRECTORY, or {' or '.join(names)}{fetch})"


def origin_of(folder: Path) -> dict[str, Any] | None:
    """Where a fetched suite is from, as its directory says; None for other suites."""
    try:
        origin = read_json(folder / ORIGIN_FILE, error=SuiteError)
    except PfgenError:
        return None
    return {str(key): value for key, value in origin.items()} if isinstance(origin, dict) else None
