"""Pages as files: in one file of bounded size, or as the index.html of a folder with files of data next to it.

A page on disk can load only scripts, so the files of data are scripts that call `register`. Their names contain the
hash of their content, so the old page finds its own data until the new page replaces it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from ..base.errors import PfgenError
from ..base.file_reading import open_regular
from ..base.file_writing import write_whole, writing_whole
from .templating import page_json

PAGE = "index.html"
"""The name of the page in a folder."""

MAX_BYTES = 20_000_000
"""The maximum size of a page in one file."""

_DATA = "data"
_PART_SIZE = 500_000
_N_SAMPLED = 40
_MARK_WITHIN = 4096

T = TypeVar("T")


def write_page(path: Path, pieces: Iterable[str]) -> None:
    """Writes a page in one file of any size."""
    with writing_whole(path) as file:
        for piece in pieces:
            file.write(piece.encode())


def write_bounded_page(
    path: Path,
    n_lines: int,
    forms: Sequence[T],
    lines: Callable[[T, int], Iterable[str]],
    page: Callable[[T, Sequence[str]], Iterable[str]],
    *,
    n_runs: int,
    error: type[PfgenError],
) -> None:
    """Writes a page in one file of at most `MAX_BYTES`, with its data in the first form that fits.

    `lines(form, n)` returns every n-th of the `n_lines` lines of the data; `page(form, lines)` returns the page.
    """
    room = MAX_BYTES - sum(len(piece.encode()) for piece in page(forms[0], [])) - 100 * n_lines
    step = max(1, n_lines // _N_SAMPLED)
    for form in forms:
        if step > 1 and step * sum(map(len, lines(form, step))) > 1.1 * room:
            continue
        fitting = list(_while_they_fit(lines(form, 1), room))
        if len(fitting) == n_lines:
            write_page(path, page(form, fitting))
            return
    raise error(
        f"{n_runs} runs are too many for one page of {MAX_BYTES // 1_000_000} MB; report fewer runs, or write a folder "
        "(a name without .html)"
    )


def _while_they_fit(lines: Iterable[str], n_bytes: int) -> Iterator[str]:
    for line in lines:
        n_bytes -= len(line) + 1
        if n_bytes < 0:
            return
        yield line


def in_parts(values: Iterable[T], size: Callable[[T], int]) -> Iterator[list[T]]:
    """Groups values into parts, each of which ends with the value that makes it large enough."""
    part: list[T] = []
    so_far = 0
    for value in values:
        part.append(value)
        so_far += size(value)
        if so_far >= _PART_SIZE:
            yield part
            part, so_far = [], 0
    if part:
        yield part


def may_replace(page: Path, generator: str) -> bool:
    """Whether a page does not exist or is from this generator, which page.html.jinja names near the beginning."""
    return not page.exists() or f'<meta name="generator" content="{generator}">'.encode() in _begin(page)


def write_page_folder(
    folder: Path,
    generator: str,
    data: Mapping[str, Iterable[Any]],
    page: Callable[[Mapping[str, Sequence[str]]], Iterable[str]],
) -> None:
    """Writes files of data, then the page with their addresses, and removes the files of data of earlier pages.

    The names of `data` begin the names of files; a value of None has no file and the address "".
    """
    if not may_replace(folder / PAGE, generator):
        raise PfgenError(f"{folder / PAGE}: not from a report; choose another folder, or remove the file")
    mark = f"// Data of a {generator}.\n".encode()
    addresses: dict[str, list[str]] = {name: [] for name in data}
    for name, all_values in data.items():
        for values in all_values:
            address = ""
            if values is not None:
                content = mark + f"register({page_json(values)});\n".encode()
                address = f"{_DATA}/{name}-{hashlib.sha256(content).hexdigest()[:16]}.js"
                write_whole(folder / address, content)
            addresses[name].append(address)
    write_page(folder / PAGE, page(addresses))
    written = {address for places in addresses.values() for address in places}
    for path in sorted(path for name in data for path in (folder / _DATA).glob(f"{name}-*.js")):
        if f"{_DATA}/{path.name}" not in written and _begin(path).startswith(mark):
            path.unlink(missing_ok=True)


def _begin(path: Path) -> bytes:
    try:
        with open_regular(path) as file:
            return file.read(_MARK_WITHIN)
    except OSError:
        return b""
