"""Which tables are scored into a folder, and under which names; what cannot be kept apart is refused."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator

from ...errors import PfgenError, TrialsError
from ..formats import format_of, is_table
from ..places.place_names import (
    FileInfo,
    base_name,
    check_name,
    check_target,
    has_magic,
    is_hidden,
    joined,
    place_of,
    shown_place,
)
from ..places.storage import storage_of
from .records import FileTask, recorded_name

OnPassedOver = Callable[[str], None]
"""Called with the place of a file that is left out, because it is no table."""


Sources = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
"""A file, folder or glob, or several of them."""


def listed(sources: Sources) -> list[str | os.PathLike[str]]:
    """The sources one by one; a text is one, and not its letters."""
    return [sources] if isinstance(sources, str | os.PathLike) else list(sources)


def plan_files(
    sources: Sources,
    target: str | os.PathLike[str],
    *,
    on_passed_over: OnPassedOver = lambda place: None,
) -> list[FileTask]:
    """The tables of some sources, each with its output in a folder.

    An output is named by the path of its input below the given folder, or by the last part of the name of a given file.
    Files in folders and matches of globs are skipped if their name, or that of a folder above them, begins with `_` or
    `.`, or if their extension is not that of a table.
    """
    folder = place_of(target)
    if not folder:
        raise PfgenError("the output directory has no name")
    check_target(folder)
    is_in_folder = _within(folder)
    tasks: dict[str, FileTask] = {}
    names: dict[str, str] = {}
    for given in listed(sources):
        source = place_of(given)
        is_empty = True
        for place, name, info in _tables(source, folder, on_passed_over):
            is_empty = False
            check_name(name, place)
            if is_in_folder(place):
                raise PfgenError(f"{shown_place(place)}: is in the output directory, {shown_place(folder)}")
            if is_hidden(name):
                raise PfgenError(
                    f"{shown_place(place)}: readers of directories skip names that begin with _ or ., so it can only "
                    "be scored into a file"
                )
            earlier = names.setdefault(recorded_name(place), name)
            if earlier != name:
                raise PfgenError(
                    f"{shown_place(place)}: would be scored twice, into {shown_place(joined(folder, earlier))} and "
                    f"{shown_place(joined(folder, name))}; name it once"
                )
            other = tasks.setdefault(name, FileTask(place, folder, name, info))
            if other.source != place and _key(other.source) != _key(place):
                raise PfgenError(
                    f"{shown_place(other.source)} and {shown_place(place)} would have the same output, "
                    f"{shown_place(joined(folder, name))}; give the folder above both, or score them separately"
                )
        if is_empty:
            raise TrialsError(f"{shown_place(source)}: there are no tables here, such as .parquet, .jsonl or .csv")
    return list(tasks.values())


def first_table(sources: Iterable[str | os.PathLike[str]]) -> str:
    """The first table of some sources, as `plan_files` would find it."""
    source = ""
    for source in map(place_of, sources):
        for place, _, _ in _tables(source, None, lambda place: None):
            return place
    raise TrialsError(f"{shown_place(source)}: there are no tables here")


def _tables(
    source: str, folder: str | None, on_passed_over: OnPassedOver
) -> Iterator[tuple[str, str, FileInfo | None]]:
    """The place, the name for the output, and the size of each table of a source."""
    storage = storage_of(source)
    info = storage.info(source)
    if info is not None and not storage.is_folder(source):
        format_of(shown_place(source))  # says what is expected of a file that was named
        yield source, base_name(source), info
    elif storage.is_folder(source):
        yield from _tables_below(source, folder, on_passed_over)
    elif has_magic(source) and (places := storage.matches(source)):
        for place in places:
            if storage.is_folder(place):
                if not is_hidden(base_name(place)):
                    yield from _tables_below(place, folder, on_passed_over)
            elif is_table(base_name(place)) and not is_hidden(base_name(place)):
                yield place, base_name(place), storage.info(place)
            else:
                on_passed_over(place)
    else:
        raise TrialsError(f"{shown_place(source)}: no such file or folder")


def _tables_below(source: str, folder: str | None, on_passed_over: OnPassedOver) -> Iterator[tuple[str, str, FileInfo]]:
    storage = storage_of(source)
    if folder is not None and _key(source) == _key(folder):
        raise PfgenError(f"{shown_place(folder)}: is the input directory itself; give another output directory")
    if folder is not None and _within(source)(folder):
        raise PfgenError(f"{shown_place(folder)}: is in the input directory, {shown_place(source)}; give another one")
    for name, info in storage.below(source):
        if is_table(name):
            yield joined(source, name), name, info
        else:
            on_passed_over(joined(source, name))


def _within(folder: str) -> Callable[[str], bool]:
    """Tells whether a place is below a folder, at any depth."""
    parts = _key(folder)
    return lambda place: (key := _key(place))[: len(parts)] == parts and len(key) > len(parts)


def _key(place: str) -> tuple[str, ...]:
    return storage_of(place).key(place)
