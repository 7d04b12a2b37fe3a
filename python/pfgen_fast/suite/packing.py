"""Packs a suite into an archive with a manifest of hashes, and adds suites of others to the user's data directory.

Everything in an archive is untrusted: its size, its paths, its links and its texts are checked before a file is
written, and the suite must be one that `Suite.load` accepts.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import re
import struct
import tarfile
import unicodedata
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any, cast
from urllib.parse import urlsplit

from ..base.compression import DAMAGE, contents
from ..base.errors import SuiteError
from ..base.file_reading import read_stored
from ..base.file_writing import write_whole
from ..base.untrusted_json import Fault, checked, count, entries, keyed, one_of, parse_json, text, unexpected
from ..base.untrusted_text import in_one_line
from .fetching import Download, FetchedSuite, Redirects, Take, install
from .published import ORIGIN_FILE, PublishedFile, PublishedSuite, files_of, origin_of, published_names, suites_folder
from .suite import Suite
from .suite_reading import (
    CARD_FILES,
    MAX_BYTES,
    SAMPLES_FILE,
    SETTINGS_FILE,
    find_faults,
    packaged_names,
    question_files,
    suite_folder,
)
from .units import FileTokenizer

MANIFEST = "manifest.json"
MOST_FILES = 10_000
MOST_BYTES = 1 << 29  # of all files of a suite; an archive may have a quarter of it
_MAX_MANIFEST_BYTES = 1 << 22
_FORMAT = "pfgen-fast suite 1"
_OTHER_FILES = (SAMPLES_FILE, SETTINGS_FILE, *CARD_FILES)
_NAME = re.compile(r"(?!(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$))[^\W_][\w.-]{0,62}\w", re.IGNORECASE)
_FILE_NAME = re.compile(r"[^\W_][\w.-]{0,95}\.json")
_LICENCE = re.compile(r"---\n(?:(?!---\n).*\n)*?license:[ \t]*(\S.*)\n")
_CARD_HASH = re.compile(r"\| version \| metadata hash (\w+)")
_LOCAL = ("localhost", "127.0.0.1", "::1")
_BROKEN = (tarfile.TarError, zipfile.BadZipFile, struct.error, RuntimeError, ValueError, OverflowError, *DAMAGE)

_Entry = tuple[str, bool, int, Callable[[], bytes]]
"""An entry of an archive: name, whether it is a regular file, size, and a function that reads its content."""


def pack_suite(source: str | Path, output: str | Path) -> str:
    """Writes a suite with a manifest to an archive (.zip, .tar.gz), whose bytes depend only on the suite.

    Returns the SHA-256 of the archive.

    Raises:
        SuiteError: The suite has faults, or the ending of the output is unknown.
    """
    output, content = Path(output), io.BytesIO()
    if output.name.endswith(".zip"):
        with zipfile.ZipFile(content, "w") as pack:
            for name, file in _suite_files(source).items():
                pack.writestr(zipfile.ZipInfo(name), file, zipfile.ZIP_DEFLATED)
        archive = content.getvalue()
    elif output.name.endswith(".tar.gz"):
        with tarfile.open(fileobj=content, mode="w") as pack_tar:
            for name, file in _suite_files(source).items():
                info = tarfile.TarInfo(name)
                info.size = len(file)
                pack_tar.addfile(info, io.BytesIO(file))
        archive = gzip.compress(content.getvalue(), mtime=0)
    else:
        raise SuiteError(f"{output}: expected a name that ends in .zip or .tar.gz")
    write_whole(output, archive)
    return hashlib.sha256(archive).hexdigest()


def add_suite(source: str, *, name: str | None = None, taken: Iterable[str] = ()) -> FetchedSuite:
    """Checks a suite and installs it into the user's data directory, so that `Suite.load(name)` finds it.

    Args:
        source: The directory of a suite, an archive that `pack_suite` has written, or its address (https, or http of
            this machine). The last two may end in `#sha256=...`, the expected SHA-256 of the archive.
        name: The name of the suite; by default the one in the archive, or that of the directory.
        taken: Names that the suite may not have, besides those of packaged, published and added suites.

    Raises:
        SuiteError: The source cannot be read or is not a suite, or the name is taken. Nothing is written.
    """
    address, _, fragment = (source, "", "") if os.path.exists(source) else source.partition("#")
    where = in_one_line(address.partition("?")[0] if "://" in source else address, 200)  # without secrets
    if fragment and (os.path.isdir(address) or not re.fullmatch("sha256=[0-9a-fA-F]{64}", fragment)):
        raise SuiteError(f"{where}: expected an archive, and sha256= and 64 hexadecimal digits after #, or no #")
    if "://" not in address and os.path.isdir(address):
        files = _suite_files(os.path.abspath(address))  # not a suite of this name
    elif "://" in address or os.path.exists(address):
        archive = _archive(address, where)
        digest = hashlib.sha256(archive).hexdigest()
        if fragment and fragment.lower() != f"sha256={digest}":
            raise SuiteError(f"{where}: the archive has the SHA-256 {digest}, not that after #; use another copy")
        files = _unpacked(archive, where)
    else:
        raise SuiteError(f"{where}: no such file or directory; expected a suite or an archive, or an address")
    if MANIFEST not in files:
        hint = "expected an archive of pfgen-fast suite pack; unpack this one, and add its directory"
        raise SuiteError(f"{where}: the archive has no {MANIFEST}; {hint}")
    manifest = files.pop(MANIFEST)
    place = f"{where}, {MANIFEST}"
    about = checked(parse_json(manifest, place, error=SuiteError), _MANIFEST, place, error=SuiteError)
    listed = files_of(about["files"])
    if others := sorted(files.keys() ^ {file.path for file in listed}):
        lack = "archive" if others[0] not in files else "manifest"
        raise SuiteError(f"{where}: {others[0]} is not in the {lack}; use another copy")
    name = about["name"] if name is None else name
    if not _NAME.fullmatch(name):
        expected = "expected 2 to 64 letters, digits, '-', '_' and '.', and no name of a device, such as 'con'"
        raise SuiteError(f"name {in_one_line(repr(name))}: {expected}; choose another name (--name)")
    if name in (*packaged_names(), *published_names(), *taken):
        raise SuiteError(f"name {name!r}: a suite of pfgen-fast has this name; choose another name (--name)")
    suite = PublishedSuite(name, where, hashlib.sha256(manifest).hexdigest(), about["licence"], listed)
    folder = suites_folder() / name
    if folder.exists():
        if (origin_of(folder) or {}).get("commit") == suite.commit and not find_faults(folder):
            return FetchedSuite(suite, folder, 0)
        raise _taken(name, folder)

    def read(wanted: Sequence[PublishedFile], take: Take) -> None:
        for file in wanted:
            take(file, iter([files[file.path]]), f"{where}, {file.path}")

    def check(part: Path) -> None:
        if folder.exists():  # since another process has added it
            raise _taken(name, folder)
        for fault in find_faults(part):
            raise SuiteError(f"{where}: not a suite: {fault.replace(f'{part}{os.sep}', '')}")

    return install(suite, folder, read, source=where, check=check)


def _taken(name: str, folder: Path) -> SuiteError:
    hint = "choose another name (--name), or delete that directory"
    return SuiteError(f"name {name!r}: another suite has this name ({folder}); {hint}")


def _suite_files(source: str | Path) -> dict[str, bytes]:
    """The files of a suite without faults, in the order of an archive; the first is the manifest."""
    for fault in find_faults(source):
        raise SuiteError(fault)
    folder = suite_folder(source).resolve()
    suite = Suite.load(folder)
    tokenizers = {question.tokenizer for question in suite}
    names = {path.name for path in question_files(folder)}
    names |= {tokenizer.path.name for tokenizer in tokenizers if isinstance(tokenizer, FileTokenizer)}
    names |= {name for name in _OTHER_FILES if (folder / name).exists()}
    files = _gathered(map(_entry, (folder / name for name in sorted(names))), str(folder))
    card = files.get(CARD_FILES[0], b"").decode(errors="replace")
    stated = _CARD_HASH.search(card)
    if stated and stated[1] != suite.metadata_hash:
        raise SuiteError(
            f"{folder / CARD_FILES[0]}: the card describes another suite (metadata hash {stated[1]}; this one has "
            f"{suite.metadata_hash}); write it anew with pfgen-fast suite make, or correct its figures and its hash"
        )
    header = _LICENCE.match(card)
    manifest = {
        "format": _FORMAT,
        "name": folder.name,
        "licence": header[1].strip() if header else "not stated",
        "files": {name: [len(content), hashlib.sha256(content).hexdigest()] for name, content in files.items()},
    }
    return {MANIFEST: json.dumps(manifest, ensure_ascii=False, indent=1).encode(), **files}


def _entry(path: Path) -> _Entry:
    read = partial(read_stored, path, limit=MAX_BYTES, error=SuiteError)
    return path.name, path.is_file() and not path.is_symlink(), path.stat().st_size, read


def _file_name(name: str) -> str:
    """A name of a file of a suite, which has no directories."""
    if name == ORIGIN_FILE or not (name in _OTHER_FILES or _FILE_NAME.fullmatch(name)):
        expected = f"expected a .json file without a directory, or {', '.join(_OTHER_FILES)}"
        raise Fault(f"the file name {in_one_line(repr(name))}: {expected}")
    return name


def _listed_files(value: Any) -> dict[str, tuple[int, str]]:
    def check(pair: Any) -> tuple[int, str]:
        if not (isinstance(pair, list) and len(pair) == 2 and re.fullmatch("[0-9a-f]{64}", text(pair[1]))):
            raise unexpected("a size and a SHA-256", pair)
        return count(pair[0]), pair[1]

    return {_file_name(name): pair for name, pair in entries(value, check).items()}


_MANIFEST = keyed(
    {"format": one_of([_FORMAT]), "name": text, "licence": text, "files": _listed_files},
    *("format", "name", "licence", "files"),
)


# Archives


def _gathered(listed: Iterable[_Entry], where: str) -> dict[str, bytes]:
    """The contents of a directory or an archive; every limit is checked before the content is read."""
    files: dict[str, bytes] = {}
    taken: dict[str, str] = {}
    left = MOST_BYTES
    for name, is_file, n_bytes, read in listed:
        shown = f"{where}, {in_one_line(name)}"
        if not is_file:
            raise SuiteError(f"{shown}: expected a regular file, stored or deflated, not a link or a directory")
        if name != MANIFEST:
            checked(name, _file_name, where, error=SuiteError)
        key = unicodedata.normalize("NFKC", name).casefold()
        if key in taken:
            raise SuiteError(f"{shown}: a second file of this name ({in_one_line(taken[key])})")
        taken[key] = name
        if len(taken) > MOST_FILES:
            raise SuiteError(f"{where}: more than {MOST_FILES:,} files, which is the limit")
        most = min(left, MAX_BYTES if name != MANIFEST else _MAX_MANIFEST_BYTES)
        content = read() if n_bytes <= most else b""
        if max(n_bytes, len(content)) > most:
            raise SuiteError(f"{shown}: larger than {most:,} bytes, which is the limit")
        files[name] = content
        left -= len(content)
    return files


def _unpacked(archive: bytes, where: str) -> dict[str, bytes]:
    try:
        if archive[:2] == b"PK":
            if archive.count(b"PK\1\2") > 2 * MOST_FILES:  # entries, each of which takes memory before it is seen
                raise SuiteError(f"{where}: more than {MOST_FILES:,} files, which is the limit")
            with zipfile.ZipFile(io.BytesIO(archive)) as pack:
                return _gathered((_zip_entry(pack, info) for info in pack.infolist()), where)
        if archive[:2] == b"\x1f\x8b":
            tar = bytearray()
            for piece in contents([archive], ".gz"):
                tar += piece
                if len(tar) > MOST_BYTES:  # before tarfile sees it, whose headers may have any size
                    raise SuiteError(f"{where}: holds more than {MOST_BYTES:,} bytes, which is the limit")
            with tarfile.open(fileobj=io.BytesIO(tar), mode="r:") as pack_tar:
                return _gathered((_tar_entry(pack_tar, info) for info in pack_tar), where)
    except SuiteError:
        raise
    except _BROKEN as error:
        raise SuiteError(f"{where}: a damaged archive ({in_one_line(error) or type(error).__name__})") from None
    raise SuiteError(f"{where}: expected a .zip or .tar.gz of pfgen-fast suite pack, or the directory of a suite")


def _zip_entry(pack: zipfile.ZipFile, info: zipfile.ZipInfo) -> _Entry:
    is_file = not info.is_dir() and info.external_attr >> 28 in (0, 8)  # no type of file, or a regular file
    is_file &= info.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # others may take gigabytes of memory
    return info.orig_filename, is_file, info.file_size, partial(pack.read, info)


def _tar_entry(pack: tarfile.TarFile, info: tarfile.TarInfo) -> _Entry:
    return info.name, info.isreg(), info.size, lambda: cast(IO[bytes], pack.extractfile(info)).read()


# Addresses


def _is_secure(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOCAL)


def _archive(address: str, where: str) -> bytes:
    """The bytes of an archive in a file or at an address."""
    if "://" not in address:
        return read_stored(Path(address), limit=MAX_BYTES, error=SuiteError)
    if not _is_secure(address):
        raise SuiteError(f"{where}: expected an address with https, or with http of this machine")
    archive = bytearray()

    def take(file: PublishedFile, blocks: Iterator[bytes], _: str) -> None:
        archive.clear()  # of an earlier try
        for block in blocks:
            archive.extend(block)
            if len(archive) > MAX_BYTES:
                raise SuiteError(f"{where}: larger than {MAX_BYTES:,} bytes, which is the limit")

    base, path = re.fullmatch("([^/]*//[^/]*)/*(.*)", address).groups()  # type: ignore[union-attr]
    secure = Redirects(lambda old, new: _is_secure(new) and (new.startswith("https:") or not old.startswith("https:")))
    Download(base, secure).read([PublishedFile(path, MAX_BYTES, "")], take)
    if not archive:
        raise SuiteError(f"{where}: no such file, or an empty one; check the address")
    return bytes(archive)
