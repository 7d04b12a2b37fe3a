"""Judges the answers of runs: estimates the cost, asks in rounds of tries, and writes the judgements that follow.

Requests are sent in the order of their keys, which are hashes. If a budget or a kill ends the asking, all models are
equally complete. Each reply is stored when it arrives. Rules: docs/checklists.md.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ....base.errors import ChecklistError
from ....base.file_writing import held, writing_whole
from ....base.untrusted_text import first_names, in_one_line, json_text, utf8
from ....generation.batch_api import batch_form
from ....generation.engines.hosted import RequestForm
from ....generation.events import Events
from ....generation.protocol import Details
from ...judging.budget import Estimate, Prices, Spending
from ...judging.judge_asking import Progress
from ...judging.reply_store import Replies
from ...judging.tries import Connect, ask_in_rounds, estimate_of_tries
from ..checklist_runs import JUDGEMENTS_FILE, Run
from ..checklist_suite import ChecklistSuite
from ..judgement_files import read_judgements, write_judgements
from ..judgements import Judgement
from ..line_files import numbered_objects
from ..scoring.judged import is_stale
from .checklist_requests import JudgeOptions
from .runs_to_judge import Rating, RunToJudge

_PATIENCE_SECONDS = 60.0
"""The longest wait for another process that writes a file of judgements."""

_USUAL_REPLY_TOKENS = 65
"""Typical number of reply tokens per question in the published judgements."""

_DATE_OR_HASH = re.compile(
    r"\d{4}-?\d{2}-?\d{2}|(?<!\d)\d{4}(?!\d)|(?<![0-9a-zA-Z])(?=[a-f]*\d)[0-9a-f]{7,64}(?![0-9a-zA-Z])"
)


def names_a_version(model: str) -> bool:
    """Whether the name of a model holds a date or a hash, and so means one version."""
    return _DATE_OR_HASH.search(model) is not None


@dataclass
class Judging:
    """The judging of several runs by one judge.

    Attributes:
        runs: The runs with the stored replies.
    """

    runs: Sequence[RunToJudge]
    _former: dict[str, list[Judgement]] = field(default_factory=dict, init=False)

    @classmethod
    def open(
        cls, runs: Iterable[Run], suite: ChecklistSuite, options: JudgeOptions, *, offline: bool = False
    ) -> Judging:
        """Opens the replies of runs; nothing is asked yet.

        Args:
            runs: The runs.
            suite: Their suite.
            options: How answers are judged.
            offline: Whether only stored replies are used, which then must exist.

        Raises:
            ChecklistError: An option does not fit the suite, a run has no answers or imported judgements of the same
                judge, or a task has no whole instruction.
            JudgingError: A file of replies is missing or holds something else.
        """
        wording = options.wording(suite)
        replies = ((run, Replies(run.replies_path, must_exist=offline)) for run in runs)
        judging = cls([RunToJudge(run, wording, file) for run, file in replies])
        for judged in judging.runs:
            judging._former[judged.run.key] = judged.run.judgements(suite)
            _refuse_imported(judged, judging._former[judged.run.key])
        return judging

    def estimate(self, prices: Prices | None = None) -> Estimate:
        """Estimates the maximum cost of the missing replies, if each is usable."""
        return estimate_of_tries(self._ratings(), prices)

    def likely_reply_tokens(self) -> int:
        """Estimates the tokens of the missing replies from their typical length."""
        n_tokens = 0
        for rating in self.open_ratings():
            wording = rating.wording
            is_overall = wording.options.method != "checklist"
            n_verdicts = 1 if is_overall else len(wording.suite.checklist(rating.task).questions)
            n_tokens += min(n_verdicts * _USUAL_REPLY_TOKENS, wording.judge.max_tokens)
        return n_tokens

    def ask(
        self,
        connect: Connect,
        *,
        spending: Spending | None = None,
        on_progress: Progress | None = None,
        events: Events | None = None,
    ) -> str | None:
        """Asks for the missing replies, and again with another seed where a reply is unusable; stores each.

        Args:
            connect: Opens the engine that asks the judge, such as `Server(...).engine`.
            spending: Prices and budget, to which the cost is added.
            on_progress: Called with the number of finished requests and the total, which grows with each new try.
            events: Counts retries and other events.

        Returns:
            A sentence on why some replies are still missing; None if all are there.

        Raises:
            EngineError: An error affects all requests. Replies that were stored before are kept.
            JudgingError: Another process is adding replies to a file.
        """
        ratings = list(self._ratings())
        return ask_in_rounds(
            ratings, connect, keeps_empty=True, spending=spending, on_progress=on_progress, events=events
        )

    @property
    def n_open(self) -> int:
        """The number of ratings that still need a reply."""
        return sum(1 for _ in self.open_ratings())

    def write(self) -> list[Judgement]:
        """Writes the judgements of each run that follow from the replies, and returns them.

        They replace all judgements by the same judge and method, with any prompts and temperature; other judgements
        stay. A file is only written if it changes.

        Raises:
            ChecklistError: Another process keeps writing the file, or it holds imported judgements of the judge.
        """
        return [judgement for judged in self.runs for judgement in self._write(judged)]

    def _write(self, judged: RunToJudge) -> list[Judgement]:
        path = judged.run.judgements_path or judged.run.folder / JUDGEMENTS_FILE
        judgements, rows, former = _derived(judged, path)
        if rows != former:
            with held(path.with_name(f".{path.name}.lock"), patience=_PATIENCE_SECONDS) as alone:
                if not alone:
                    raise ChecklistError(f"{path}: another process is still writing to it after a minute")
                judged.replies.refresh()  # other processes may have added replies and judgements since
                judgements, rows, former = _derived(judged, path)
                if rows != former:
                    write_judgements(path, rows)
        self._former[judged.run.key] = rows
        return judgements

    def stale(self, judged: RunToJudge) -> list[str]:
        """The IDs of a run's tasks whose former judgement is stale; see `scoring.judged.is_stale`."""
        suite, answers = judged.wording.suite, {rating.answer.key: rating.answer for rating in judged.ratings}
        rows = (row for row in self._former.get(judged.run.key, []) if row.key in answers and _is_of(row, judged))
        return list(dict.fromkeys(row.id for row in rows if is_stale(row, suite, judged.run, answers)))

    def open_ratings(self) -> Iterator[Rating]:
        """The ratings of all runs that need another reply."""
        return (rating for judged in self.runs for rating in judged.open_ratings())

    def _ratings(self) -> Iterator[Rating]:
        return (rating for judged in self.runs for rating in judged.ratings)


def _derived(judged: RunToJudge, path: Path) -> tuple[list[Judgement], list[Judgement], list[Judgement]]:
    """The judgements that follow from the replies, the new rows of the file, and its present rows."""
    former = read_judgements(path, judged.wording.suite) if path.exists() else []
    _refuse_imported(judged, former)
    judgements = judged.judgements()
    kept = [row for row in former if not _is_replaced(row, judged)]
    return judgements, sorted([*kept, *judgements], key=lambda row: (row.judge, row.method)), former


def _is_of(row: Judgement, judged: RunToJudge) -> bool:
    """Whether a judgement is by the same judge and method."""
    return (row.judge, row.method) == (judged.wording.judge.model, judged.wording.options.method)


def _is_replaced(row: Judgement, judged: RunToJudge) -> bool:
    """Whether a judgement in the file is replaced; judgements of areas that are not judged now stay."""
    task = judged.wording.suite.by_key.get((row.id, row.length))
    is_in_areas = task is None or not judged.wording.options.areas or task.area in judged.wording.options.areas
    return _is_of(row, judged) and is_in_areas


def _refuse_imported(judged: RunToJudge, former: Sequence[Judgement]) -> None:
    """Raises ChecklistError if judgements without replies would be replaced."""
    if any(_is_of(row, judged) and row.prompt_sha256 is None for row in former):
        raise ChecklistError(
            f"{judged.run.judgements_path}: holds imported judgements of {judged.wording.judge.model}, which judging "
            "would replace; copy the answers to another folder, and judge them there"
        )


def kept_by_others(judging: Judging) -> list[str]:
    """A sentence for each file of replies that holds replies of other judges only."""
    notes = []
    for judged in judging.runs:
        model = judged.wording.judge.model
        others = [name for name in judged.replies.models if name != model]
        if others and model not in judged.replies.models:
            notes.append(f"{judged.replies.path}: holds replies of {first_names(others)}, but not of {model}")
    return notes


def write_batch(judging: Judging, path: Path) -> int:
    """Writes the open requests as an input file of OpenAI's Batch API; returns their number."""
    ratings = {key: rating for rating in judging.open_ratings() if (key := rating.next_key()) is not None}
    form = _form(judging)
    with writing_whole(path) as file:
        for key, rating in sorted(ratings.items()):
            file.write(utf8(f"{json_text(form.batch_line(key, rating.next_request()))}\n"))
    return len(ratings)


def read_batch(judging: Judging, sources: Iterable[Path]) -> tuple[int, list[str]]:
    """Adds the replies in output files of a batch; returns the number of new replies, and sentences on bad lines."""
    known, form = _known_requests(judging), _form(judging)
    problems: list[str] = []
    n_new = n_lines = 0
    with contextlib.ExitStack() as stack:
        files = {id(judged.replies): judged.replies for judged in judging.runs}
        keeps = {name: stack.enter_context(replies.adding()) for name, replies in files.items()}
        for where, key, reply, problem, details in _lines(sources, form, problems):
            if key not in known:
                problems.append(f"{where}: is the reply to another request; expected a reply about these runs")
                continue
            n_lines += 1
            if reply is None:
                problems.append(f"{where}: {problem}")
                continue
            rating, number, owners = known[key]
            lacking = [replies for replies in owners if key not in replies]
            n_new += bool(lacking)
            for replies in lacking:
                keeps[id(replies)](rating.request_of_try(number), reply, details)
    if not n_lines and problems:
        raise ChecklistError(problems[0])
    return n_new, problems


def _form(judging: Judging) -> RequestForm:
    return batch_form(judging.runs[0].wording.judge.form)


def _known_requests(judging: Judging) -> dict[str, tuple[Rating, int, list[Replies]]]:
    """By key of the requests that may be in a batch: rating and try, and the files for the reply."""
    known: dict[str, tuple[Rating, int, list[Replies]]] = {}
    for judged in judging.runs:
        for rating in judged.ratings:
            for number, key in enumerate(rating.known_keys(), start=1):
                _, _, owners = known.setdefault(key, (rating, number, []))
                if judged.replies not in owners:
                    owners.append(judged.replies)
    return known


def _lines(
    sources: Iterable[Path], form: RequestForm, problems: list[str]
) -> Iterator[tuple[str, str, str | None, str, Details]]:
    """Place, key of the request, reply, why there is no reply, and the server's details."""
    for source in sources:
        try:
            for where, row in numbered_objects(source, on_fault=problems.append):
                key = row.get("custom_id")
                if not isinstance(key, str):
                    problems.append(f"{where}: expected an object with the text 'custom_id'")
                    continue
                body, reply, problem = form.batch_answer(row)
                text = None if reply is None else reply.text
                yield f"{where} ({in_one_line(key)})", key, text, problem, form.details_in(body)
        except ChecklistError as error:
            problems.append(str(error))
