"""Checks that a trusted file is ours: owned by this user or root, and not writable by others.

A checksum detects damage, but it does not detect a forged file. Windows has no such owners and modes, so there every
file counts as ours.
"""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path
from typing import IO

from .errors import PfgenError
from .file_reading import open_regular

OWN_FILE = 0o644
OWN_FOLDER = 0o755
"""The modes of our files and directories, for any umask."""


class ForeignFileError(PfgenError):
    """A file or directory is not ours. The message begins with its path."""


def open_own(path: Path) -> IO[bytes]:
    """Opens a file of ours for reading, without following a symbolic link."""
    check_own_file(path)
    file = open_regular(path, getattr(os, "O_NOFOLLOW", 0))
    try:
        _check_owner_and_mode(path, os.fstat(file.fileno()))  # it may have been replaced in the meantime
    except ForeignFileError:
        file.close()
        raise
    return file


def check_own_file(path: Path) -> None:
    """Raises ForeignFileError if a file exists, but is not a regular file of ours."""
    with contextlib.suppress(OSError):
        status = os.lstat(path)
        if not stat.S_ISREG(status.st_mode):
            raise ForeignFileError(f"{path}: expected a regular file, not {_kind(status)}")
        _check_owner_and_mode(path, status)


def check_own_folder(path: Path) -> None:
    """Raises ForeignFileError if a directory exists, but it or a link to it is not ours."""
    # Parents are not checked: if another user replaces the directory, it belongs to that user and is refused.
    with contextlib.suppress(OSError):
        _check_owner(path, os.lstat(path))
        _check_owner_and_mode(path, os.stat(path))


def _check_owner_and_mode(path: Path, status: os.stat_result) -> None:
    _check_owner(path, status)
    if os.name == "posix" and status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise ForeignFileError(f"{path}: other users can write to it (mode {stat.S_IMODE(status.st_mode):o})")


def _check_owner(path: Path, status: os.stat_result) -> None:
    if os.name == "posix" and status.st_uid not in (os.geteuid(), 0):
        raise ForeignFileError(f"{path}: belongs to {_name(status.st_uid)}")


def _name(user: int) -> str:
    import pwd  # not on Windows

    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return f"user {user}"


def _kind(status: os.stat_result) -> str:
    kinds = {stat.S_IFLNK: "a symbolic link", stat.S_IFDIR: "a folder", stat.S_IFIFO: "a FIFO"}
    return kinds.get(stat.S_IFMT(status.st_mode), "a device or socket")
