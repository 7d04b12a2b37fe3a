"""A checklist score as an evaluator, `checklists:SUITE`: one request with all questions for each text and rating.

The judge sees one text at a time; a request does not say whether the text is an original. Scores are from 0 to 100,
before rescaling. The verdicts on single questions are further metrics.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...base.arrays import Floats
from ...base.errors import ChecklistError
from ...base.untrusted_text import in_one_line, unknown_name
from ..evaluators.asking_evaluator import AskingEvaluator
from ..evaluators.evaluator import Item, Metric, Texts, column_of
from ..judging.judge_asking import AskedTries, Connect, Spending
from ..judging.judge_requests import Server
from ..judging.reply_store import ReplyStore
from .checklist_requests import JudgeOptions, Rating, Wording
from .checklist_runs import Answer
from .checklist_suite import ChecklistSuite
from .judged import score_of
from .tasks import Checklist, ChecklistTask

SCORE, PLAIN = "checklist", "plain"
"""The metrics with the weighted and with the plain mean of the verdicts."""

_AGAIN = 1_000_000
"""The distance between the seeds of two replicates, where seeds are numbers."""


@dataclass(frozen=True)
class ChecklistJudge(AskingEvaluator):
    """Asks a judge the questions of the checklists of texts.

    An item belongs to the task whose ID is the item's question, or the item's own ID if it has no question. Its
    instruction is the task's instruction. Other items belong to the chosen category, or to the suite's only category.
    Their instruction is their question, their context or both.

    Attributes:
        suite: The suite.
        options: The judge and its parameters.
        replies: The stored replies.
        category: The category of items that are not tasks of the suite, as `NAME` or `AREA/NAME`; None for the suite's
            only category.
        replicate: The number of the replicate, from 0; see `again`.
        connect: Opens the engine that asks the judge, such as `Server(...).engine`; None for stored replies only.
        spending: Prices and budget, to which the cost is added.
        is_partial: Whether, without a connection, texts may lack replies; otherwise that is an error.
    """

    suite: ChecklistSuite
    options: JudgeOptions
    replies: ReplyStore
    category: str | None = None
    replicate: int = 0
    connect: Connect | None = None
    spending: Spending = field(default_factory=Spending)
    is_partial: bool = False

    name = "checklists"

    def __post_init__(self) -> None:
        _ = self._wording, self._usual_checklist  # reports an error before any request

    @property
    def n_ratings(self) -> int:  # type: ignore[override]  # it is read only
        """How often each text is judged."""
        return self.options.n_ratings

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The score, the plain mean, and `q0`, `q1`, ... for the questions; only these can be combined.

        A text has no score for a question that its checklist lacks.
        """
        n_questions = max(len(checklist.questions) for checklist in self.suite.checklists.values())
        means = (Metric(name, low=0, high=100, combined=False) for name in (SCORE, PLAIN))
        return (*means, *(Metric(f"q{number}", low=0, high=1) for number in range(n_questions)))

    @property
    def signature(self) -> str:
        """Suite, judge, prompts and profile, parameters, and the number of ratings."""
        options, wording = self.options, self._wording
        parts = [
            f"checklists:{self.suite.hash}|judge:{json.dumps(options.model)}|prompt:{wording.prompt_sha256}",
            f"profile:{wording.profile_name}|{wording.judge.signature}{'|structured' if options.structured else ''}",
            f"ratings:{options.n_ratings}|tries:{options.n_tries}|seed:{json.dumps(options.seed)}",
        ]
        if self.category is not None:
            parts.append(f"category:{json.dumps(self.category)}")
        if self.replicate:
            parts.append(f"replicate:{self.replicate}")
        return "|".join(parts)

    def notes_on(self, items: Sequence[Item]) -> tuple[str, ...]:
        """Notes on the scores of these items; includes the questions if all items have the same questions."""
        checklists = {task.place: self.suite.checklist(task) for task in map(self._task, items)}
        notes = [f"The suite {self.suite.name}: {in_one_line(note, 300)}." for note in self.suite.notes]
        if len(checklists) == 1:
            (checklist,) = checklists.values()
            asked = enumerate(checklist.questions)
            notes.append("The questions: " + " ".join(f"q{number}: {in_one_line(text, 300)}" for number, text in asked))
        else:
            notes.append(f"The items have {len(checklists)} checklists; q0 is the first question of each checklist.")
        return tuple(notes)

    def again(self) -> ChecklistJudge:
        """The same judge with other seeds: everything is requested again, and stored in the same file."""
        seed = self.options.seed
        is_number = self.options.profile == "upstream"
        other = str(int(seed or 0) + _AGAIN) if is_number else f"{seed}::again"
        return replace(self, options=replace(self.options, seed=other), replicate=self.replicate + 1)

    @cached_property
    def _wording(self) -> Wording:
        return Wording(self.suite, self.options)

    @cached_property
    def _tasks(self) -> Mapping[str, ChecklistTask]:
        """The tasks by ID; a task of the main table takes precedence over a task with a length."""
        return {task.id: task for task in sorted(self.suite.tasks, key=lambda task: task.length is None)}

    @cached_property
    def _usual_checklist(self) -> Checklist | None:
        """The checklist of items that are not tasks of the suite; None if there are several."""
        known = self.suite.checklists
        if self.category is None:
            return next(iter(known.values())) if len(known) == 1 else None
        entries = [entry for key, entry in known.items() if self.category in (key[1], "/".join(key))]
        if len(entries) != 1:
            expected = unknown_name("category", self.category, map("/".join, known))
            raise ChecklistError(f"suite {self.suite.name}: {expected}")
        return entries[0]

    def _task(self, item: Item) -> ChecklistTask:
        """The task of an item, with its instruction."""
        known = self._tasks.get(item.id if item.question is None else item.question)
        if known is not None and known.is_whole:
            return known
        question = item.question if known is None else None  # otherwise it is an ID
        own = "\n\n".join(part for part in (question, item.context) if part and part.strip())
        checklist = self._usual_checklist if known is None else self.suite.checklist(known)
        shown = in_one_line(item.id, 60)
        if checklist is None:
            raise ChecklistError(
                f"item {shown}: is not a task of the suite {self.suite.name}, which has {len(self.suite.checklists)} "
                "checklists; expected the ID of a task, or the name of a category (--category)"
            )
        if not own:
            what = "has no question and no context" if known is None else "its task lacks the whole instruction"
            raise ChecklistError(f"item {shown}: {what}; expected an instruction for the judge")
        length = None if known is None else known.length
        return ChecklistTask(item.id if known is None else known.id, checklist.area, checklist.category, own, length)

    def asked(self, items: Sequence[Item], texts: Texts) -> _JudgedTexts:
        """The verdicts on texts, some of which may still be missing."""
        texts = column_of(items, texts)
        tasks: dict[int, ChecklistTask] = {}  # the variants of a text have one item

        def task_of(item: Item) -> ChecklistTask:
            return tasks.setdefault(id(item), self._task(item))

        pairs = zip(items, texts.tolist(), strict=True)
        wanted = ((row, task_of(item), text) for row, (item, text) in enumerate(pairs) if text is not None)
        return _JudgedTexts(wanted, self, (len(items), len(self.metrics)))


class _JudgedTexts(AskedTries[Rating]):
    keeps_empty = True

    def __init__(
        self, texts: Iterator[tuple[int, ChecklistTask, str]], judge: ChecklistJudge, shape: tuple[int, int]
    ) -> None:
        self._suite, self._shape = judge.suite, shape
        self._rows: list[int] = []
        ratings: list[Rating] = []
        for row, task, text in texts:
            answer = Answer(task.id, text, task.length)
            numbers = range(1, judge.n_ratings + 1)
            ratings += (Rating(answer, task, number, judge._wording, judge.replies) for number in numbers)
            self._rows += [row] * judge.n_ratings
        super().__init__(ratings)

    def is_complete(self) -> NDArray[np.bool_]:
        done = np.ones((self._shape[0], 1), dtype=np.bool_)
        for row, rating in zip(self._rows, self.tries, strict=True):
            done[row] &= rating.next_key() is None
        return done

    def unrated(self) -> list[str]:
        judged = ((rating.last_key(), rating.judgement()) for rating in self.tries)
        return [key for key, judgement in judged if key and judgement is not None and judgement.verdicts is None]

    def means(self) -> Floats:
        """By text: its score, the plain mean of its verdicts, and the verdicts; means of its ratings."""
        verdicts: dict[tuple[int, ChecklistTask], list[tuple[float, ...]]] = {}
        for row, rating in zip(self._rows, self.tries, strict=True):
            judgement = rating.judgement()
            if judgement is not None and judgement.verdicts is not None:
                verdicts.setdefault((row, rating.task), []).append(judgement.verdicts)
        means_of_texts = np.full(self._shape, np.nan)
        for (row, task), rated in verdicts.items():
            weights = self._suite.checklist(task).weights
            means = [math.fsum(column) / len(rated) for column in zip(*rated, strict=True)]
            means_of_texts[row, : len(means) + 2] = [
                min(score_of(means, weights), 100.0),
                100 * math.fsum(means) / len(means),
                *means,
            ]
        return means_of_texts


def open_checklists(
    suite: ChecklistSuite | str | Path,
    *,
    model: str,
    category: str | None = None,
    server: Server | None = Server(),  # noqa: B008 - immutable
    spending: Spending | None = None,
    cache: Path = Path("checklist-replies.jsonl"),
    partial: bool = False,
    **options: Any,
) -> ChecklistJudge:
    """Opens an evaluator by checklists; nothing is asked yet.

    Args:
        suite: The suite, its directory, or the name of a packaged one.
        model: The judge's name on the server.
        category: The category of items that are not tasks of the suite; by default the suite's only category.
        server: The server that runs the judge; None uses stored replies only.
        spending: Prices and budget, to which the cost is added.
        cache: The file of stored replies.
        partial: Whether, without a server, texts may lack replies.
        options: Other fields of `JudgeOptions`; stored replies are found by the same options.

    Example:
        >>> judge = open_checklists("essays-en", model="org/judge")
        >>> [metric.name for metric in judge.metrics][:4]
        ['checklist', 'plain', 'q0', 'q1']
    """
    return ChecklistJudge(
        suite if isinstance(suite, ChecklistSuite) else ChecklistSuite.load(suite),
        JudgeOptions(model, **options),
        ReplyStore(cache, must_exist=server is None),
        category,
        connect=None if server is None else server.engine,
        spending=spending or Spending(),
        is_partial=partial,
    )
