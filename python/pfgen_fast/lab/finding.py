"""The result of an experiment as data: sentences, tables and charts. `pfgen_fast.report.findings` writes the files."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Literal

from ..base.table import Column, Table
from ..base.untrusted_text import in_one_line, markdown_block, markdown_link, markdown_text
from .chart_data import Chart, Thresholds
from .statistics.correlation import COEFFICIENTS, Correlation

Cell = str | int | float | bool | None
"""The value of a table cell; None is an empty cell."""

N_SHOWN = 300
"""The maximum number of characters shown of a text."""

_N_IN_FRONT = 60
_JOINER = "\u200d"
_LONGEST_NOTE, _LONGEST_SENTENCE = 400, 1000
N_EXAMPLES = 3  # examples that readers see first


def finding_table(
    name: str,
    title: str,
    columns: Sequence[str | Column],
    rows: Iterable[Sequence[Cell]],
    digits: int = 4,
    shown: Sequence[str] | None = None,
) -> Table:
    """A table of a finding, whose CSV file has 12 significant digits.

    `shown` has the names of the columns that readers see, by default all; a table without any is only a file.
    """
    described = [
        Column(column, digits=digits, view="all" if shown is None or column in shown else "files")
        if isinstance(column, str)
        else column
        for column in columns
    ]
    return Table(described, tuple(rows), title, name, significant=12)


@dataclass(frozen=True)
class Picture:
    """A chart with a name and a caption."""

    name: str  # part of the file names
    title: str
    chart: Chart


Change = Literal["equal", "deleted", "inserted"]
Changes = tuple[tuple[str, Change], ...]
"""Two texts as one text in pieces, each of which both have, or only the first or the second."""


def marked(before: str, after: str) -> Changes:
    """Marks what differs between two texts; no character is split from its marks.

    Of long texts, only the part around the first difference is compared, so that marking is never slow.
    """
    is_long = max(len(before), len(after)) > N_SHOWN
    start = max(0, n_equal(before, after) - _N_IN_FRONT) if is_long else 0
    # A cut may split a character from its marks; dots show where the text is cut.
    first, second = (_characters(text[start : start + N_SHOWN]) for text in (before, after))
    changes: list[tuple[str, Change]] = [("…", "equal")] if start else []
    is_cut, is_cut_after = (len(text) > start + N_SHOWN for text in (before, after))
    steps = SequenceMatcher(None, first, second, autojunk=False).get_opcodes()
    if is_cut and is_cut_after and len(steps) > 2 and steps[-1][0] in ("delete", "insert"):
        del steps[-1]  # only one text reaches this far, because it is shorter before this point
    _join_changes(steps)
    for tag, begin, end, begin_after, end_after in steps:
        if tag == "equal":
            changes.append(("".join(first[begin:end]), "equal"))
            continue
        texts: Changes = (("".join(first[begin:end]), "deleted"), ("".join(second[begin_after:end_after]), "inserted"))
        changes += [(text, change) for text, change in texts if text]
    if is_cut or is_cut_after:
        changes.append(("…", "equal" if is_cut and is_cut_after else "deleted" if is_cut else "inserted"))
    return tuple(changes)


def _join_changes(steps: list[tuple[Any, int, int, int, int]]) -> None:
    """Joins changes that are not shorter than the text between them, which is then equal by chance."""
    at = 1
    while at < len(steps) - 1:
        (tag, begin, _, begin_after, _), (own, *_), (next_tag, _, end, _, end_after) = steps[at - 1 : at + 2]
        before, size, after = (max(step[2] - step[1], step[4] - step[3]) for step in steps[at - 1 : at + 2])
        is_noise = own == "equal" and size <= min(before, after) and size < max(before, after)
        if is_noise and (tag != next_tag or tag == "replace"):
            steps[at - 1 : at + 2] = [("replace", begin, end, begin_after, end_after)]
            at = max(at - 2, 0)
        at += 1


def n_equal(first: str, second: str) -> int:
    """The length of the longest common beginning of two texts."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(first), len(second)))


def _characters(text: str) -> list[str]:
    """The characters of a text, each with the marks that are joined to it."""
    parts: list[str] = []
    for char in text:
        if parts and (parts[-1].endswith(_JOINER) or char == _JOINER or unicodedata.category(char).startswith("M")):
            parts[-1] += char
        else:
            parts.append(char)
    return parts


@dataclass(frozen=True)
class Pair:
    """A text before and after a change."""

    title: str  # description of the change and its effect
    changes: Changes
    about: str = ""  # where the text is from and what it scores
    kind: str = ""  # kind of the change, whose row in a picture leads here

    @property
    def text(self) -> str:
        """The text, with deleted parts in [-...-] and new parts in {+...+}."""
        forms = {"equal": "{}", "deleted": "[-{}-]", "inserted": "{{+{}+}}"}
        return "".join(forms[change].format(text) for text, change in self.changes)

    def to_markdown(self) -> str:
        """The titles and the text with its changes."""
        return "\n\n".join([*map(markdown_text, filter(None, (self.title, self.about))), markdown_block(self.text)])


@dataclass(frozen=True)
class Finding:
    """The outcome of an experiment."""

    name: str  # name of the experiment
    answer: str  # result in one sentence, which is shown first
    paragraph: str  # details of the result in short sentences, with numbers; a line for each paragraph
    tables: tuple[Table, ...]  # one or more tables
    pictures: tuple[Picture, ...]  # one or more pictures
    notes: tuple[str, ...] = ()  # limits of the result, such as runs that were left out, one sentence each
    question: str = ""  # question that the experiment answers
    runs: tuple[str, ...] = ()  # names of the runs; pages link to them
    sentences: tuple[str, ...] = ()  # result in a few sentences, which pages and terminals show instead of the answer
    examples: tuple[Pair, ...] = ()  # texts before and after a change
    title: str = ""  # title of the page, by default the name

    def to_markdown(self) -> str:
        """The finding as Markdown, with links to pictures in the same folder."""
        blocks = [f"# {markdown_text(self.name)}"]
        blocks += [f"**{markdown_text(sentence)}**" for sentence in self.first]
        if self.notes:
            blocks.append("\n".join(f"* {markdown_text(sentence)}" for sentence in self.shown_notes))
        blocks += [self._picture_markdown(picture) for picture in self.first_pictures]
        blocks += [example.to_markdown() for example in self.examples[:N_EXAMPLES]]
        blocks += map(markdown_text, self.paragraph.split("\n"))
        blocks += [self._picture_markdown(picture) for picture in self.pictures if picture not in self.first_pictures]
        for table in self.shown_tables:
            blocks += [f"## {markdown_text(table.title)}", table.to_markdown().rstrip("\n")]
        return "\n\n".join(blocks) + "\n"

    def _picture_markdown(self, picture: Picture) -> str:
        link = markdown_link(picture.title, self.file_name(picture) + ".svg")
        return f"## {markdown_text(picture.title)}\n\n!{link}"

    def to_dict(self) -> dict[str, Any]:
        """The finding as data for JSON, with full digits: sentences, and tables as lists of rows."""
        return {
            "name": self.name,
            "question": self.question,
            "answer": self.answer,
            "paragraph": self.paragraph,
            "notes": list(self.notes),
            "tables": {table.name: table.to_dicts() for table in self.file_tables},
        }

    @property
    def first(self) -> list[str]:
        """The sentences that readers see first, bounded in length and safe to print."""
        return [in_one_line(sentence, _LONGEST_SENTENCE) for sentence in self.sentences or (self.answer,)]

    @property
    def first_pictures(self) -> list[Picture]:
        """The pictures that readers see before the details: thresholds, if there are any, and their averages."""
        return [own for own in self.pictures if isinstance(own.chart, Thresholds) or own.name == "averages"]

    @property
    def shown_notes(self) -> list[str]:
        """The notes, bounded in length and safe to print."""
        return [in_one_line(note, _LONGEST_NOTE) for note in self.notes]

    @property
    def shown_tables(self) -> list[Table]:
        """The tables that readers see."""
        return [table for table in self.tables if any(column.view != "files" for column in table.columns)]

    @property
    def file_tables(self) -> list[Table]:
        """The tables that files contain; such a table has the same name as a shorter one that only readers see."""
        return [table for table in self.tables if any(column.view != "readers" for column in table.columns)]

    def file_name(self, part: Table | Picture) -> str:
        """The file name of a table or picture, without its ending."""
        return f"{self.name}-{part.name}"


def correlation_table(
    name: str,
    title: str,
    heads: Sequence[str],
    rows: Iterable[tuple[Sequence[Cell], Mapping[str, Correlation]]],
    digits: int = 4,
) -> Table:
    """A table whose rows begin with cells below `heads`, and go on with each coefficient and its interval."""
    columns = [*heads, *(f"{name}{end}" for name in COEFFICIENTS for end in ("", " low", " high"))]
    cells = [(*first, *(end for r in by_name.values() for end in (r.value, r.low, r.high))) for first, by_name in rows]
    return finding_table(name, title, columns, cells, digits)


def with_interval(r: Correlation, n_digits: int = 3) -> str:
    """A coefficient and its interval for a sentence."""
    interval = "" if r.low is None else f" (95 % interval {r.low:.{n_digits}f} to {r.high:.{n_digits}f})"
    return f"{r.value:.{n_digits}f}{interval}"
