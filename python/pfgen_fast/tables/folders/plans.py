"""Lists the tables to score and names their outputs; names that conflict are refused."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator

from ...errors import PfgenError, TrialsError
from ..formats import format_of, is_table
from ..places import (
    FileInfo,
    base_name,
    check_name,
    check_target,
    file_info,
    files_below,
    glob_matches,
    has_magic,
    is_folder,
    is_hidden,
    joined,
    place_key,
    place_of,
    shown_place,
)
from .records import FileTask, recorded_name

OnPassedOver = Callable[[str], None]
"""Called with the place of each file that is skipped because it is not a table."""

Sources = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
"""One file, directory or glob, or an iterable of these."""


def listed(sources: Sources) -> list[str | os.PathLike[str]]:
    """The sources as a list; a string is one source."""
    return [sources] if isinstance(sources, str | os.PathLike) else list(sources)


def plan_files(
    sources: Sources,
    target: str | os.PathLike[str],
    *,
    on_passed_over: OnPassedOver = lambda place: None,
) -> list[FileTask]:
    """Lists the tables of some sources, and assigns to each table its output in the target directory.

    If the source is a directory, the name of an output is the path of its input below that directory. Otherwise it is
    the name of the file. Files in directories and matches of globs are skipped if they are not tables, or if a part of
    their path begins with `_` or `.`.
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
                    f"{shown_place(joined(folder, name))}; give it only once"
                )
            other = tasks.setdefault(name, FileTask(place, folder, name, info))
            if other.source != place and place_key(other.source) != place_key(place):
                raise PfgenError(
                    f"{shown_place(other.source)} and {shown_place(place)} would have the same output, "
                    f"{shown_place(joined(folder, name))}; give the directory above both, or score them separately"
                )
        if is_empty:
            raise TrialsError(f"{shown_place(source)}: there are no tables here, such as .parquet, .jsonl or .csv")
    return list(tasks.values())


def first_table(sources: Iterable[str | os.PathLike[str]]) -> str:
    """The first table that `plan_files` would find in some sources."""
    source = ""
    for source in map(place_of, sources):
        for place, _, _ in _tables(source, None, lambda place: None):
            return place
    raise TrialsError(f"{shown_place(source)}: there are no tables here")


def _tables(
    source: str, folder: str | None, on_passed_over: OnPassedOver
) -> Iterator[tuple[str, str, FileInfo | None]]:
    """The place of each table in a source, the name of its output, and its file information."""
    info = file_info(source)
    if info is not None and not is_folder(source):
        format_of(shown_place(source))  # raises an error if the extension is unknown
        yield source, base_name(source), info
    elif is_folder(source):
        yield from _tables_below(source, folder, on_passed_over)
    elif has_magic(source) and (places := glob_matches(source)):
        for place in places:
            if is_folder(place):
                if not is_hidden(base_name(place)):
                    yield from _tables_below(place, folder, on_passed_over)
            elif is_table(base_name(place)) and not is_hidden(base_name(place)):
                yield place, base_name(place), file_info(place)
            else:
                on_passed_over(place)
    else:
        raise TrialsError(f"{shown_place(source)}: no such file or folder")


def _tables_below(source: str, folder: str | None, on_passed_over: OnPassedOver) -> Iterator[tuple[str, str, FileInfo]]:
    if folder is not None and place_key(source) == place_key(folder):
        raise PfgenError(f"{shown_place(folder)}: is the input directory itself; give another output directory")
    if folder is not None and _within(source)(folder):
        raise PfgenError(f"{shown_place(folder)}: is in the input directory, {shown_place(source)}; give another one")
    for name, info in files_below(source):
        if is_table(name):
            yield joined(source, name), name, info
        else:
            on_passed_over(joined(source, name))


def _within(folder: str) -> Callable[[str], bool]:
    """A function that returns whether a place is below a directory, at any depth."""
    parts = place_key(folder)
    return lambda place: (key := place_key(place))[: len(parts)] == parts and len(key) > len(parts)
