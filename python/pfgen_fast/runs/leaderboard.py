"""Leaderboards: recorded results ranked by score, as the published table or with full precision."""

from __future__ import annotations

import itertools
import math
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from ..base.errors import TrialsError
from ..base.file_reading import read_stored
from ..base.file_writing import write_whole
from ..base.mean_interval import MeanInterval, competition_ranks, mean_interval
from ..base.table import Column, Table, TableResult
from ..base.untrusted_text import in_one_line, json_text, link_target, markdown_link, markdown_row, markdown_text, utf8
from ..suite.rules import add_up
from ..suite.suite import Suite, hash_of_cut
from .checkout import run_name, suite_of_all, yardsticks_beside
from .items.by_subject import by_subject, few_items, subject_columns, subject_record, subject_table
from .run_result import RunSummary, Scores, read_scores
from .trials import expand

METRICS = ("fluency", "truthfulness", "helpfulness", "average")
PARTS = {"fluency": "fluency", "truthfulness": "truthful", "helpfulness": "helpful"}
"""The parts of a score, and their heads on a terminal, as in `score`."""
_HEADS = ("Rank", "Score", "Model", "Length", "Fluency", "Truthfulness", "Helpfulness")
_MODEL = _HEADS.index("Model")
_MAX_NAME = 40
_NAME = "result.json"


@dataclass(frozen=True)
class Entry:
    """One run of a leaderboard."""

    folder: Path | None  # folder of its result; None in a table of results
    name: str  # its name, as `run_name` makes it
    result: RunSummary  # its result.json without the questions
    rank: int | None  # its rank by score; None for system runs, which are not models
    by_question: Mapping[str, float]  # mean score by question ID
    subjects: Mapping[str, MeanInterval] | None = None  # score of each subject, if `with_subjects` added them

    @property
    def config(self) -> Mapping[str, Any]:
        """The parameters of the run."""
        return self.result.config or {}

    @property
    def question_scores(self) -> tuple[float, ...]:
        """The mean score of each question."""
        return tuple(self.by_question.values())

    @property
    def model(self) -> str:
        """The name of the model; the name of the run if the config names none."""
        return model_of(self.result.config, self.name)

    @property
    def mark(self) -> str:
        """A symbol for system runs, otherwise for the mode in which the model was asked, or spaces."""
        mode = self.config.get("mode")
        return medal(self.model) or ("🟢" if mode == "completion" else "💬" if mode else "  ")

    def is_same_run(self, other: Entry) -> bool:
        """Whether both are results of one run: of the same trials, or with the same name and the same scores."""
        return self.result.input_hash == other.result.input_hash or (
            self.name == other.name and self.by_question == other.by_question
        )

    def part(self, metric: str) -> float:
        """One metric over all sets."""
        return self.result.scores.total(metric)

    def interval(self) -> MeanInterval:
        """The 95 % interval of the score by Student's t over questions: docs/statistics.md."""
        return mean_interval(self.question_scores)


class Leaderboard(TableResult, list[Entry]):
    """Ranked runs, best first."""

    def __repr__(self) -> str:
        best = f"; best {in_one_line(self[0].name, 60)} {self[0].result.score:.4f}" if self else ""
        return f"Leaderboard({len(self)} runs{best})"

    def __getitem__(self, index: Any) -> Any:
        chosen = super().__getitem__(index)
        return Leaderboard(chosen) if isinstance(index, slice) else chosen

    @property
    def table(self) -> Table:
        """The runs: for readers, the score that is recorded, with four digits; for files, all figures."""
        from .statistics.verdicts import shown_range  # imports NumPy

        names = shown_names([(entry.model, entry.name) for entry in self])
        start = 0 if any(entry.mark.strip() for entry in self) else 3
        records = [{name: value for name, value in record_of(entry).items() if name != "config"} for entry in self]
        shown = [
            Column("rank"),
            Column("model", is_text=True, form=str),
            Column("trials"),
            Column("score"),
            Column("interval", "±95 %", form=lambda interval: interval.shown(), picture="interval"),
            Column("ranks", "rank range", form=shown_range),
            Column("length", digits=1, is_optional=True),
            *(Column(part, head, digits=3, is_optional=True) for part, head in PARTS.items()),
        ]
        columns = [replace(column, view="readers") for column in shown]
        columns += [Column(name, view="files") for name in dict.fromkeys(chain(*records))]
        rows = []
        for entry, name, ranks, record in zip(self, names, ties_of(self), records, strict=True):
            model = f"{entry.mark} {in_one_line(name, 1000)}"[start:]
            figures = entry.result.score, entry.interval(), ranks, entry.result.length, *map(entry.part, PARTS)
            others = (record.get(column.name) for column in columns[len(shown) :])
            rows.append([entry.rank, model, entry.result.num_trials, *figures, *others])
        return Table(columns, rows)

    @property
    def subject_table(self) -> Table:
        """The scores by subject, which `with_subjects` added."""
        return subject_table([entry.model for entry in self], [entry.subjects or {} for entry in self])

    def to_markdown(self) -> str:
        """The tables as Markdown; `to_published` has the layout of the published table."""
        return self.table.to_markdown() + self._subjects_as_markdown()

    def _subjects_as_markdown(self) -> str:
        if not self or self[0].subjects is None:
            return ""
        few = (f"\n- {markdown_text(sentence)}\n" for sentence in few_items(self[0].subjects, "questions"))
        return f"\n{self.subject_table.to_markdown()}{''.join(few)}"

    def to_json(self) -> str:
        """All figures as JSON; the signatures are null, because result.json records none."""
        return json_text([{**record_of(entry), "signature": None} for entry in self], indent=2) + "\n"

    def to_csv(self) -> str:
        """All figures as CSV, with a column for each parameter; values other than numbers and texts become JSON."""
        rows = []
        for entry in self:
            record = record_of(entry)
            parameters = {f"config_{key}": value for key, value in record.pop("config").items() if key != "model"}
            record.pop("subjects", None)
            rows.append({**record, **subject_columns(entry.subjects or {}), **parameters})
        columns = list(dict.fromkeys(key for row in rows for key in row))
        return Table(list(map(Column, columns)), [[row.get(column) for column in columns] for row in rows]).to_csv()


def shown_names(runs: Sequence[tuple[str, str]]) -> list[str]:
    """The names of runs, given their models and paths: the model, or the path of runs that have one model."""
    n_runs = Counter(model for model, _ in runs)
    return [with_organisation(model, name) if n_runs[model] == 1 else name for model, name in runs]


def with_organisation(model: str, name: str) -> str:
    """A model as ORGANISATION/MODEL, if the path of the run has both and the model only its own name."""
    folder = name.rpartition("/")[0]
    return folder if "/" not in model and folder.endswith(f"/{model}") else model


def model_of(config: Mapping[str, Any] | None, name: str) -> str:
    """The model of a run; the name of the run if its config names none."""
    return str((config or {}).get("model") or name)


def is_system(model: str) -> bool:
    """Whether a name denotes a yardstick (the human answers, the reference answers) rather than a model."""
    return model.startswith("system/")


def medal(model: str) -> str:
    """The symbol of a yardstick; "" for a model."""
    return "" if not is_system(model) else "👑" if model.split("/")[1] == "ground-truth" else "🎯"


def order_key(score: float | None, name: str) -> tuple[float, str]:
    """The key that sorts runs by score, best first; runs without a score are last, equal scores are sorted by path."""
    return math.inf if score is None or math.isnan(score) else -score, f"{name}/{_NAME}"


def ranks(runs: Iterable[tuple[str, float | None]]) -> list[int | None]:
    """The ranks of ordered runs, given their models and scores; yardsticks and runs without a score have no rank.

    Runs with the same score have the same rank.
    """
    scores = [None if is_system(model) or score is None or math.isnan(score) else score for model, score in runs]
    numbers = iter(competition_ranks(score for score in scores if score is not None))
    return [None if score is None else next(numbers) for score in scores]


def find_results(paths: Iterable[str | Path]) -> list[Path]:
    """Finds the result.json files at or below the given paths, and those of `yardsticks_beside`, without duplicates."""
    files: dict[Path, Path] = {}
    for path in (match for place in paths for match in expand(place)):
        results = [path] if path.name == _NAME else _results_below(path)
        if not results and not path.exists():
            raise TrialsError(f"{path}: no such directory; expected a directory with results of runs")
        if not results:
            from ..tables.formats import tables_hint

            raise TrialsError(
                f"{path}: no result.json found; 'pfgen-fast score {path}' writes it{tables_hint(Path(path))}"
            )
        yardsticks = yardsticks_beside(path)
        for result in (*results, *(_results_below(yardsticks) if yardsticks else ())):
            files.setdefault(result.resolve(), result)
    return list(files.values())


def _results_below(folder: Path) -> list[Path]:
    return sorted(Path(below, _NAME) for below, _, names in os.walk(folder) if _NAME in names)


def rank(
    paths: Iterable[Path], *, on_problem: Callable[[TrialsError], None] | None = None, others: Iterable[Entry] = ()
) -> Leaderboard:
    """Reads results, best first, with those of `others` that are different runs; ranks those of the commonest suite."""
    entries: list[Entry] = []
    for path in paths:
        try:
            run = entry_of(*read_scores(path), run_name(path.parent), path)
            entries.append(replace(run, folder=path.parent))
        except TrialsError as problem:
            if on_problem is None:
                raise
            on_problem(problem)
    entries += [other for other in others if not any(map(other.is_same_run, entries))]
    entries.sort(key=lambda entry: order_key(entry.result.score, entry.name))
    suites = Counter(entry.result.metadata_hash for entry in entries).most_common(1)
    ranked = [entry for entry in entries if entry.result.metadata_hash == suites[0][0]]
    of_ranked = dict(zip(map(id, ranked), ranks((entry.model, entry.result.score) for entry in ranked), strict=True))
    return Leaderboard(replace(entry, rank=of_ranked.get(id(entry))) for entry in entries)


def ties_of(entries: Sequence[Entry]) -> list[tuple[int, int] | None]:
    """The rank range of each run; None without a rank."""
    from .statistics.verdicts import tied_ranks

    questions = dict.fromkeys(chain(*(entry.by_question for entry in entries)))
    scores = [[entry.by_question.get(question) for question in questions] for entry in entries]
    return tied_ranks([entry.rank for entry in entries], scores)


def mixed_suites(results: Iterable[RunSummary]) -> str | None:
    """A warning if results were made with different suites, or different questions of one suite; otherwise None."""
    suites = Counter(result.metadata_hash for result in results)
    if len(suites) < 2:
        return None
    hashes = ", ".join(f"{in_one_line(name)} ({n:,})" for name, n in suites.most_common(3))
    return f"scores of {len(suites)} suites, which cannot be compared: metadata hashes {hashes}"


def with_subjects(entries: Iterable[Entry], suite: Suite | None = None) -> Leaderboard:
    """Adds the scores by the category of the questions, of the given suite or of that of the runs' checkouts."""
    entries = list(entries)
    if suite is None:
        folders = [entry.folder for entry in entries if entry.folder is not None]
        if not folders:
            raise TrialsError(
                "scores by subject need the suite, whose questions have the subjects; name it (for the published "
                "results: --suite pfgen-bench)"
            )
        suite = suite_of_all(folders)
    ranked = []
    for entry in entries:
        result_hash = entry.result.metadata_hash
        if result_hash not in (suite.metadata_hash, hash_of_cut(suite.metadata_hash, list(entry.by_question))):
            raise TrialsError(
                f"{entry.name}: not scored with suite {suite.name}, whose subjects were asked for (--suite)"
            )
        ranked.append(replace(entry, subjects=scores_by_subject(suite, entry.by_question)))
    return Leaderboard(ranked)


def scores_by_subject(suite: Suite, by_question: Mapping[str, float]) -> dict[str, MeanInterval]:
    """The mean score of each category of a suite, given the scores by question ID."""
    subjects = {question.question_id: in_one_line(question.category) for question in suite}
    if not any(subjects.values()):
        raise TrialsError(f"suite {suite.name}: no question has a category, so there are no scores by subject")
    return by_subject(map(subjects.get, by_question), by_question.values())


def entry_of(result: RunSummary, by_question: Mapping[str, Scores], name: str, where: object) -> Entry:
    """A result as an entry without a rank; raises TrialsError if a figure that is shown is missing."""
    if not by_question:
        raise TrialsError(f"{where}: a leaderboard needs a result with questions")
    averages = {question_id: scores.average for question_id, scores in by_question.items()}
    figures = {
        **{name: getattr(result, name) for name in ("score", "score_std", "length", "length_std")},
        **{f"scores.{metric}": result.scores.total(metric) for metric in METRICS},
        **{f"questions['{in_one_line(key)}'].scores.average": average for key, average in averages.items()},
    }
    for place, value in figures.items():
        if math.isnan(value):
            raise TrialsError(f"{where}: {place}: a leaderboard needs a finite number here")
    return Entry(None, name, result, None, averages)


def to_published(entries: Leaderboard, root: Path | None = None) -> str:
    """The Markdown of the published table, with links relative to a directory: by default the working directory."""
    numbers = itertools.count(1)  # the published table numbers runs with the same score on
    rows = [_cells(entry, "N/A" if entry.rank is None else str(next(numbers))) for entry in entries]
    heads = [_padded_head(name, [row[column] for row in rows]) for column, name in enumerate(_HEADS)]
    lines = [markdown_row(heads), "|" + "-----|" * len(heads) + "\n"]
    for entry, row in zip(entries, rows, strict=True):
        if entry.folder is None:
            row[_MODEL] = markdown_text(row[_MODEL])
        else:
            row[_MODEL] = markdown_link(row[_MODEL], link_target(entry.folder / "README.md", root or Path.cwd()))
        lines.append(markdown_row([f"<code>{cell}</code>" for cell in row]))
    return "".join(lines) + entries._subjects_as_markdown()


def _padded_head(name: str, cells: Sequence[str]) -> str:
    """The head of a column, padded to its widest cell, because Markdown cannot set the width of a column."""
    width = max((sum(1 if character.isascii() else 2 for character in cell) for cell in cells), default=0)
    return f"<code>{name}{'&nbsp;' * (width - len(name))}</code>"


def _cells(entry: Entry, number: str) -> list[str]:
    """The texts of a row in the order of `_HEADS`, not yet escaped."""
    result, model, mark = entry.result, entry.model, entry.mark.strip() or "💬"
    return [
        number,
        f"{result.score:.4f} (±{result.score_std:.4f}/√{result.num_trials})",
        f"{mark} {model if len(model) <= _MAX_NAME else model[: _MAX_NAME - 3] + '...'}",
        f"{result.length:.1f} (±{result.length_std:.1f})",
        f"{entry.part('fluency'):.3f}",
        f"{entry.part('truthfulness'):.3f}",
        f"{result.scores.helpfulness:.3f}",
    ]


def record_of(entry: Entry) -> dict[str, Any]:
    """All figures with full precision: rank, parameters, score with its interval, length and parts."""
    interval, result = entry.interval(), entry.result
    return {
        "rank": entry.rank,
        "run": entry.name if entry.folder is None else entry.folder.as_posix(),
        "model": entry.model,
        "config": entry.config,
        "metadata_hash": result.metadata_hash,
        "num_trials": result.num_trials,
        "score": add_up(entry.question_scores) / len(entry.question_scores),
        "score_std": result.score_std,
        "score_low": interval.low,
        "score_high": interval.high,
        "num_questions": interval.n,
        "length": result.length,
        "length_std": result.length_std,
        **{f"fluency_{name}": value for name, value in result.scores.fluency.items()},
        **{f"truthfulness_{name}": value for name, value in result.scores.truthfulness.items()},
        **{metric: entry.part(metric) for metric in METRICS},
        **({} if entry.subjects is None else {"subjects": subject_record(entry.subjects)}),
    }


BEGIN, END = "<!-- leaderboard -->", "<!-- /leaderboard -->"

_CODE = re.compile(
    r"^(?:[ ]{0,3}>)*[ ]{0,3}(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})[^\n]*"
    r"(?:\n(?s:.*?)^[ \t>]*(?P=fence)[`~]*[ \t]*\r?$|(?s:.*))"
    r"|(?P<ticks>`+)[^\n]*?(?P=ticks)",
    re.MULTILINE,
)
"""Fenced blocks (an unclosed block extends to the end of the text) and inline code."""


def update_markdown(path: Path, table: str) -> None:
    """Replaces the text between the two leaderboard comments of a Markdown file; comments in code are ignored."""
    try:
        text = read_stored(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise TrialsError(f"{path}: not UTF-8 (byte {error.start})") from None
    without_code = _CODE.sub(lambda code: " " * len(code[0]), text)
    begin, end = without_code.find(BEGIN), without_code.find(END)
    if not 0 <= begin < end or (without_code.count(BEGIN), without_code.count(END)) != (1, 1):
        raise TrialsError(f"{path}: expected one '{BEGIN}' followed by one '{END}', which mark the place of the table")
    line_end = "\r\n" if text.startswith("\r\n", begin + len(BEGIN)) else "\n"
    lines = f"{BEGIN}\n{table}\n".replace("\n", line_end)
    write_whole(path, utf8(f"{text[:begin]}{lines}{text[end:]}"))
