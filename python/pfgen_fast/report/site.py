"""A site: the pages of all that some paths hold, with one navigation and a start page; published as files, or served.

Pages of runs, tables of scores, judged checklists and annotators' progress are written; finished pages of other
commands are copied. A page is copied only if this version wrote its policy, which allows only our scripts. Links are
not followed. A site that is served is written again when something has changed.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from itertools import count
from pathlib import Path
from typing import Any

from ..base.errors import AnnotationError, ChecklistError, PfgenError, TrialsError
from ..base.file_reading import read_stored, read_text
from ..base.file_writing import write_whole
from ..base.untrusted_text import counted, few_names
from ..lab.annotations.annotation_plan import progress_of
from ..lab.annotations.annotation_rows import is_export, read_rows
from ..lab.checklists.checklist_runs import Run, open_runs
from ..lab.checklists.checklist_scoring import score_judged_runs
from ..lab.checklists.checklist_suite import ChecklistSuite
from ..lab.checklists.marks import read_marks
from ..lab.checklists.rater_agreement import MarkedAnswers, agreement_finding
from ..lab.checklists.suite_files import packaged_suites
from ..runs.checkout import yardsticks_beside
from ..runs.items.item_table import ItemScores
from ..runs.items.score_columns import ColumnNames, used_columns
from ..runs.items.score_tables import is_score_table
from ..runs.trials import expand
from ..suite.compiled import cached_path
from ..suite.suite import Suite
from ..tables.formats import column_names
from .checklists_page import CHECKLISTS_SCRIPTS, write_checklists
from .findings import finding_page
from .pages import EMPTY_NAVIGATION, LOOKS, MAX_BYTES, PAGE, beginning, page_head, page_text, publishing, write_page
from .run_page import SCRIPTS, TRY_SCRIPTS, Track, untracked, with_intervals, write_report
from .safe_runs import ReportRun, read_run
from .score_page import LEFT_OUT, write_score_report
from .trying import MODULE

_NOUNS = {
    "Runs": "run",
    "Scores": "score table",
    "Checklists": "judged model",
    "Discernment": "discernment",
    "Experiments": "experiment",
    "Suites": "suite",
    "Annotation": "annotation plan",
}
SECTIONS = (*_NOUNS,)
"""The sections of a site; the pages of each are in a directory of its name in lower case."""

_REPORTS = {"runs": "report", "scores": "report", "checklists": "checklists report"}
_COMMANDS = {**_REPORTS, "discernment": "discern run", "experiments": "experiment", "suites": "suite build"}
_NAMES = {"result.json": "result", "plan.json": "plan", "checklists.json": "suite"}
_SHOWN = "files that 'pfgen-fast score' wrote, tables of scores, judgements with their suite, or finished pages"
_ENDS = {".html": "page", ".jsonl": "export", ".csv": "table", ".tsv": "table", ".parquet": "table"}
_MAX_FILES = 200_000
_Pages = Iterator[tuple[Path, Sequence[Path]]]  # pages with the files that they are made of
_Stamp = tuple[int, int, int]  # time, inode and size of a file, which differ if the file has changed
_Sources = defaultdict[str, dict[Path, _Stamp]]  # files by what they are for a site


@dataclass
class Site:
    """The site of all that some paths hold."""

    paths: Sequence[str]  # files or directories
    folder: Path  # directory for the site
    on_problem: Callable[[str], None]  # called once with each error of a part, which is then left out
    suite_of: Callable[[Path], Suite]  # returns the suite of a result
    read_scores: Callable[[Sequence[str]], ItemScores]  # reads a table of scores
    metric: str | None = None  # metric that ranks the models of tables
    title: str | None = None  # title of the start page; by default what the site has
    is_live: bool = False
    can_try: bool = False  # pages of runs score other answers, too; live ones also if the index needs no building
    problems: dict[str, None] = field(default_factory=dict, init=False)
    _read: dict[Path, tuple[_Stamp, tuple[ReportRun, Suite] | None]] = field(default_factory=dict, init=False)
    _seen: dict[Path, _Stamp] = field(default_factory=dict, init=False)
    _written: dict[Path, _Stamp] = field(default_factory=dict, init=False)

    def write_waiting(self) -> str:
        """Writes a page that loads itself again until the site replaces it; returns what the site will show."""
        sources = self._sources()
        scripts = ("plain.js", "waiting.js")
        text = page_text("waiting.html.jinja", section="", headline="Reading results …", scripts=scripts)
        write_page(self.folder / PAGE, text)
        return ", ".join(counted(len(files), kind) for kind, files in sources.items() if kind != "export")

    def write(self, track: Track[Any] = untracked) -> int:
        """Writes the site, and returns the number of its pages; reads only the results that have changed."""
        sources = self._sources()
        self._written = self._seen
        with publishing(self.folder) as work:
            sources_of: dict[Path, Sequence[Path]] = {}
            for write in (self._runs, self._scores, self._checklists, self._progress, self._finished):
                with self._leaving_out():
                    sources_of.update(write(sources, work, track))
            shown = {file for files in sources_of.values() for file in files}
            about = few_names([Path(path).resolve().name for path in self._shown_paths(sources, shown)])
            self._finish(work, sources_of, about, len(sources["result"].keys() - shown))
        return len(sources_of)

    def _shown_paths(self, sources: _Sources, shown: set[Path]) -> list[str]:
        """The paths of which something is shown; names what others lack, unless a fault of theirs has been named."""
        kinds = defaultdict[Path, set[str]](set)
        for kind, files in {**sources, "shown": shown}.items():
            for place in (place for file in files if kind != "export" for place in (file, *file.parents)):
                kinds[place].add(kind)
        paths = []
        for path in self.paths:
            held = {kind for place in expand(path) for kind in kinds[place]}
            if "shown" in held:
                paths.append(path)
            elif not held or "suite" in held:
                need = "judgements of answers to its checklists" if held else _SHOWN
                self._on_fault(f"{path}: nothing in it can be shown; expected {need}")
        return paths

    def write_if_changed(self) -> None:
        """Writes the site if something has changed since it was written, but not since the last call."""
        with self._leaving_out():
            before = self._seen
            self._sources()
            if self._seen == before != self._written:
                self.write()

    @contextlib.contextmanager
    def _leaving_out(self) -> Iterator[None]:
        try:
            yield
        except PfgenError as problem:
            self._on_fault(str(problem))

    def _on_fault(self, fault: str) -> None:
        if fault not in self.problems:
            self.problems[fault] = None
            self.on_problem(fault)

    def _sources(self) -> _Sources:
        """The files that the pages are made of, by what they are; no file is reached by a link."""
        sources: _Sources = defaultdict(dict)
        n_files, own = 0, self.folder.resolve()
        for place in (match for path in self.paths for match in expand(path)):
            if place.resolve().is_relative_to(own):
                raise PfgenError(f"{self.folder}: holds {place}, which the site shows; choose another directory")
            if is_score_table(place):
                sources["table"][place] = _stamp(place)
                continue
            for root in filter(None, (place, yardsticks_beside(place))):
                file = (str(root.parent), list[str](), [root.name])
                for at, folders, names in [file] if root.is_file() else os.walk(root):
                    folders[:] = sorted(name for name in folders if Path(at, name).resolve() != own)
                    n_files += len(names)
                    if n_files > _MAX_FILES:
                        raise PfgenError(f"{root}: more than {_MAX_FILES:,} files; name the directories to show")
                    for path in (Path(at, name) for name in sorted(names)):
                        is_judged = ".jsonl" in path.name and path.parent.name == "judgements"
                        is_judged |= path.name.startswith("judgements.json")
                        kind = "judgement" if is_judged else _NAMES.get(path.name) or _ENDS.get(path.suffix)
                        if kind and not path.is_symlink() and (kind != "table" or _has_scores(path)):
                            sources[kind][path] = _stamp(path)
        if not sources.keys() - {"export"}:
            raise TrialsError(f"{few_names(self.paths)}: no result.json found, and nothing else; expected {_SHOWN}")
        self._seen = {path: stamp for files in sources.values() for path, stamp in files.items()}
        return sources

    def _runs(self, sources: _Sources, work: Path, track: Track[Any]) -> _Pages:
        if results := sources["result"]:
            known = track(results.items(), len(results), "results")
            self._read = {path: self._read_again(path, stamp) for path, stamp in known}
        by_suite = defaultdict[Suite, list[tuple[Path, ReportRun]]](list)
        for path, run, suite in ((path, *read) for path, (_, read) in self._read.items() if read and path in results):
            by_suite[suite].append((path, run))
        for suite, runs in sorted(by_suite.items(), key=lambda own: -len(own[1])):
            with self._leaving_out():
                folder = work / "runs"
                output = _unused(folder, suite.title) if folder.exists() else folder
                entries, index = with_intervals(runs, suite), cached_path(suite.metadata_hash, "leaderboard")
                can_try = self.can_try or (self.is_live and MODULE.is_file() and index is not None and index.is_file())
                write_report(entries, suite, output, track=track, is_live=self.is_live, can_try=can_try)
                yield output if output != folder else folder / PAGE, [path for path, _ in runs]

    def _read_again(self, path: Path, stamp: _Stamp) -> tuple[_Stamp, tuple[ReportRun, Suite] | None]:
        known = self._read.get(path)
        if known and known[0] == stamp:
            return known
        with self._leaving_out():
            return stamp, (read_run(path, suite := self.suite_of(path)), suite)
        return stamp, None

    def _scores(self, sources: _Sources, work: Path, track: Track[Any]) -> _Pages:
        for path in sources["table"]:
            with self._leaving_out():
                page = _unused(work / "scores", path.stem)
                write_score_report(self.read_scores([str(path)]), page, metric=self.metric, name=path.name)
                yield page, [path]

    def _checklists(self, sources: _Sources, work: Path, track: Track[Any]) -> _Pages:
        runs = open_runs(path.parent for path in sources["judgement"])
        for source in _suites(sources) if runs else ():
            suite = ChecklistSuite.load(source)
            if judged := [run for run in runs if _is_of(run, suite)]:
                runs = [run for run in runs if run not in judged]
                scores = score_judged_runs(suite, judged, on_fault=self._on_fault)
                folder = work / "checklists"
                output = _unused(folder, suite.name) if folder.exists() else folder
                page, _ = write_checklists(scores, judged, output, on_fault=self._on_fault)
                own = [path for path in sources["suite"] if path.parent == source]
                yield page, [*own, *(run.judgements_path for run in judged if run.judgements_path)]
        if runs:
            names = few_names([str(run.folder) for run in runs])
            raise ChecklistError(f"{names}: judgements without their suite; expected its directory below the paths")

    def _progress(self, sources: _Sources, work: Path, track: Track[Any]) -> _Pages:
        exports = [path for path in sources["export"] if is_export(path)] if sources["plan"] else []
        rows = [read_rows(path, error=AnnotationError) for path in exports]
        for plan in sources["plan"]:
            with self._leaving_out():
                page, finding = _unused(work / "annotation", plan.absolute().parent.name), progress_of(plan, rows)
                sheets = read_text(plan, error=AnnotationError)
                own = [file.path for file in rows if file.header and (file.header.sheet or "?") in sheets]
                for source in _suites(sources) if len(own) > 1 else ():
                    with contextlib.suppress(ChecklistError):  # of another suite, or without marks in common
                        marks = MarkedAnswers(suite := ChecklistSuite.load(source), read_marks(own, suite).marks)
                        agreement = agreement_finding(marks)
                        sentences, tables = (finding.answer, agreement.answer), (*finding.tables, *agreement.tables)
                        about = f"{finding.paragraph} {agreement.paragraph}"
                        finding = replace(finding, sentences=sentences, paragraph=about, tables=tables)
                        break
                write_page(page, finding_page(finding))
                yield page, [plan, *exports]

    def _finished(self, sources: _Sources, work: Path, track: Track[Any]) -> _Pages:
        of_one_metric = [script for script in SCRIPTS if script not in LEFT_OUT]
        looks = SCRIPTS, of_one_metric, CHECKLISTS_SCRIPTS, *([TRY_SCRIPTS] if MODULE.is_file() else [])
        reports = [("report/answers.css", scripts) for scripts in looks]
        beginnings = tuple(beginning(*look) for look in (*LOOKS.values(), *reports))
        others = defaultdict[str, list[str]](list)
        written = {path.name for path in work.iterdir()}
        for path in sources["page"]:
            head = page_head(path)
            section = head[0].lower() if head else "?"
            if not section or section in written:  # of an annotator, or written anew
                continue
            content = read_stored(path, limit=MAX_BYTES)
            if not content.startswith(beginnings) or section.capitalize() not in SECTIONS:
                others[section].append(str(path))
            elif EMPTY_NAVIGATION in content:  # otherwise it is a page of another site
                page = _unused(work / section, path.stem)
                write_whole(page, content)
                yield page, [path]
        for section, names in others.items():
            again = f"; 'pfgen-fast {_COMMANDS[section]}' writes it again" if section in _COMMANDS else ""
            self._on_fault(f"{few_names(names)}: expected a page in one file by this build{again}")

    def _finish(self, work: Path, sources_of: dict[Path, Sequence[Path]], about: str, n_left_out: int) -> None:
        """Fills the navigation of all pages and writes the start page; a page alone becomes the start page."""
        pages = sorted(sources_of, key=lambda page: (SECTIONS.index(page.parent.name.capitalize()), page.name != PAGE))
        if not pages:
            raise TrialsError(f"{few_names(self.paths)}: expected {_SHOWN}, or plan.json of annotators")
        if len(pages) == 1:
            for path in [*pages, *pages[0].parent.glob("data")]:
                path.rename(work / (path.name if path.is_dir() else PAGE))
            return
        own = {work / PAGE: "Start"} | {page: page.parent.name.capitalize() for page in pages}
        addresses: dict[str, str] = {}
        for page, section in own.items():
            address = page.relative_to(work).as_posix()
            addresses[section] = f"{PAGE}#of-{section.lower()}" if section in addresses else address
        heads = {page: page_head(page) or ("",) * 4 for page in pages}
        n_alike = Counter((own[page], head[2]) for page, head in heads.items())
        cards = []
        for page, head in heads.items():
            files = sources_of[page]
            time = datetime.fromtimestamp(max(self._seen[file][0] for file in files) / 1e9, tz=timezone.utc)
            place = "/".join(files[0].absolute().parent.parts[-2:]) if n_alike[own[page], head[2]] > 1 else ""
            cards.append((own[page], page.relative_to(work).as_posix(), place, head, _best(head), time))
        contents = _contents([(own[page], *head[1:3]) for page, head in heads.items()], n_left_out)
        text = page_text(
            "site.html.jinja",
            section="",
            headline=self.title or f"{contents}.",
            about=f"{contents} · {about}" if self.title else about,
            cards=cards,
            faults=sorted(self.problems) if self.is_live else (),
            is_live=self.is_live,
        )
        write_page(work / PAGE, text)
        for page, section in own.items():
            up, current = "../" if page in sources_of else "", {section: ' aria-current="true"'}
            links = (f'<a href="{up}{to}"{current.get(name, "")}>{name}</a>' for name, to in addresses.items())
            filled = EMPTY_NAVIGATION.replace(b" hidden><", f">{' '.join(links)}<".encode())
            page.write_bytes(page.read_bytes().replace(EMPTY_NAVIGATION, filled, 1))


def _contents(pages: Sequence[tuple[str, str, str]], n_left_out: int) -> str:
    """What a site has, lacks and asks of annotators, by the sections, headlines and titles of its pages."""
    counts, waiting = Counter[str](), 0
    for section, headline, title in pages:
        n_runs = re.match(r"\d+(?= run| model)", title) if section in ("Runs", "Checklists") else None
        counts[_NOUNS[section]] += int(n_runs[0]) if n_runs else 1
        if items := re.search(r"([\d,]+) of ([\d,]+) items? are decided", headline):
            waiting += int(items[2].replace(",", "")) - int(items[1].replace(",", ""))
    n_suites = len({title.partition(", ")[2] for section, _, title in pages if section == "Runs"})
    of_suites = f" of {n_suites} suites" if n_suites > 1 else ""
    names = ", ".join(counted(n, noun) + of_suites * (noun == "run") for noun, n in counts.items())
    waits = f"; {counted(waiting, 'item')} wait{'s' * (waiting == 1)} for annotators" if waiting else ""
    lost = f"; {counted(n_left_out, 'run')} {'is' if n_left_out == 1 else 'are'} left out" if n_left_out else ""
    return names + waits + lost


def _best(head: Any) -> list[tuple[Any, ...]]:
    """The best runs of a page: name, score as text, and the score between the ends of its interval, in % of an axis."""
    with contextlib.suppress(TypeError, LookupError, ValueError, ArithmeticError):  # another kind of page
        rows = json.loads(head[3])
        low, high = min(row[2] for row in rows), max(row[-1] for row in rows)
        scale = 100 / (high - low or 1)
        places = [[end if end is None else round(scale * (end - low), 1) for end in row[2:5]] for row in rows]
        return [(str(row[0]), str(row[1]), *ends) for row, ends in zip(rows, places, strict=True)]
    return []


def _has_scores(path: Path) -> bool:
    """Whether a table has columns of items, models and scores."""
    with contextlib.suppress(PfgenError):
        columns, _ = used_columns(ColumnNames(), column_names(path), path.name)
        return bool(columns.item and columns.model and columns.score)
    return False


def _suites(sources: _Sources) -> list[Path | str]:
    """The suites of checklists below the paths, and those of this package."""
    return [*(path.parent for path in sources["suite"]), *packaged_suites()]


def _is_of(run: Run, suite: ChecklistSuite) -> bool:
    """Whether a run has judgements of answers to a suite."""
    with contextlib.suppress(ChecklistError):
        return bool(run.judgements(suite, with_reasons=False, on_fault=lambda _: None))
    return False


def _stamp(path: Path) -> _Stamp:
    with contextlib.suppress(OSError):
        status = os.stat(path)
        return status.st_mtime_ns, status.st_ino, status.st_size
    return 0, 0, 0


def _unused(folder: Path, source: str) -> Path:
    """The path of a new page in a directory, named after its source."""
    name = re.sub(r"[^\w-]+", "-", source, flags=re.ASCII).strip("-")[:60] or "page"
    pages = (folder / f"{name}{number or ''}.html" for number in count())
    return next(page for page in pages if not page.exists())
