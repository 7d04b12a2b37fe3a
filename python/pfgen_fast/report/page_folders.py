"""Pages that are a folder: index.html with files of data beside it, which are scripts that call `register`.

A page on disk can load nothing but scripts. The files are named by the hash of their content, so an old page and its
data fit together until the new page takes its place.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import PfgenError
from ..files.reading import open_regular
from ..files.writing import write_whole
from .templating import page_json

PAGE = "index.html"
"""The name of the page in a folder."""

_DATA = "data"


@dataclass(frozen=True)
class PageKind:
    """What the files of a page are known by, so that nothing else is ever replaced."""

    generator: str  # what the page says that it is from
    data_name: str  # what the names of its files of data begin with

    @property
    def page_mark(self) -> bytes:
        """What the page begins with, somewhere."""
        return f'<meta name="generator" content="{self.generator}">'.encode()

    @property
    def data_mark(self) -> bytes:
        """The first line of a file of data."""
        return f"// Data of a {self.generator}.\n".encode()

    def data_files(self, folder: Path) -> list[Path]:
        """The files of data beside a page in a folder, which may be of earlier pages too."""
        return sorted((folder / _DATA).glob(f"{self.data_name}-*.js"))


def write_page_folder(folder: Path, kind: PageKind, data: Iterable[Any], page: Callable[[Sequence[str]], str]) -> None:
    """Writes a page and its data. The files of an earlier one are replaced, the page after its data."""
    if (folder / PAGE).exists() and kind.page_mark not in _begin(folder / PAGE):
        raise PfgenError(f"{folder / PAGE}: not from a report; choose another folder, or remove the file")
    files = []
    for values in data:
        content = kind.data_mark + f"register({page_json(values)});\n".encode()
        files.append(f"{kind.data_name}-{hashlib.sha256(content).hexdigest()[:16]}.js")
        write_whole(folder / _DATA / files[-1], content)
    write_whole(folder / PAGE, page([f"{_DATA}/{name}" for name in files]).encode())
    for path in kind.data_files(folder):
        if path.name not in files and _begin(path).startswith(kind.data_mark):
            path.unlink(missing_ok=True)


def _begin(path: Path) -> bytes:
    try:
        with open_regular(path) as file:
            return file.read(4096)
    except OSError:
        return b""
