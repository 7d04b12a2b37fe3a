"""Drafts checklists with a model, in the steps of HelloBench's Appendix E.

Experts propose questions, equal ones merge, voters choose, and four to six questions stay, which a person edits.
Experts and voters are requests to one model with different seeds. Replies are stored, so an equal call sends none.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...base.errors import ChecklistError
from ...base.file_writing import write_whole
from ...base.untrusted_json import Fault, items, json_bytes, unexpected
from ...base.untrusted_text import counted, few_names
from ...generation.prompts import sampling_seed
from ..judging.judge_asking import Tries, open_tries
from ..judging.judge_requests import Judge, JudgeRequest, Template
from ..judging.reply_store import ReplyStore
from ..words import first_words
from . import suite_files as files
from .line_files import checked_objects, data_file, json_file
from .parse_reply import value_of_reply

REPLIES_FILE, DRAFT_FILE = "draft-replies.jsonl", "draft.json"

PLACES = {"propose": ("area", "category", "tasks"), "merge": ("questions",), "vote": ("most", "questions")}
"""The prompts (files such as propose.txt) with their placeholders; the last one is needed."""

_FEWEST, _MOST = 4, 6  # questions of a checklist
_N_TASKS, _N_WORDS = 5, 500  # shown to an expert
_N_TRIES = 3

Category = tuple[str, str]


class DraftStep(Tries):
    """A request whose reply is a JSON list, which a check converts to a value; None without a usable reply."""

    def __init__(self, replies: ReplyStore, judge: Judge, name: str, content: str, check: Callable[[Any], Any]) -> None:
        super().__init__(replies, _N_TRIES)
        self._judge, self._name, self._content, self._check = judge, name, content, check
        self.value: Any = None

    def request_of_try(self, number: int) -> JudgeRequest:
        """The request of a try, from 1."""
        seed, name = sampling_seed(self._name, number), f"try {number} of {self._name}"
        return self._judge.request(self._content, seed=seed, name=name)

    def is_usable(self, reply: str) -> bool:
        """Whether the reply has the expected list."""
        try:
            self.value = self._check(value_of_reply(reply))
        except Fault:
            return False
        return True


Ask = Callable[[Sequence[Tries]], str | None]
"""Asks for missing replies, and returns why some are still missing; see `ask_in_rounds`."""


class UnfinishedDraft(ChecklistError):
    """Replies are missing; those that arrived are stored."""


@dataclass(frozen=True)
class Draft:
    """The proposed questions of a category after merging, most votes first."""

    votes: Mapping[str, int]  # by question
    n_proposed: int
    n_voters: int

    @property
    def kept(self) -> tuple[str, ...]:
        """The questions that at least half of the voters chose, but four to six."""
        n_chosen = sum(2 * n >= self.n_voters for n in self.votes.values())
        return tuple(self.votes)[: min(max(n_chosen, _FEWEST), _MOST)]


class Drafting:
    """Drafts the missing checklists of a suite, whose directory has suite.json and tasks.jsonl.

    Args:
        folder: The directory of the suite.
        judge: The model that proposes, merges and votes.
        n_experts: The number of lists of proposals for a category.
        n_voters: The number of votes on a category's questions.
        prompts: A directory with propose.txt, merge.txt or vote.txt, which replace the packaged prompts.
        only: Names of categories; by default all without a checklist.
        offline: Whether only stored replies are used, which then must exist.

    Raises:
        ChecklistError: A file is missing or invalid, or no task needs a checklist.
        JudgingError: A prompt is invalid, or the file of replies holds something else.
    """

    def __init__(
        self,
        folder: Path,
        judge: Judge,
        *,
        n_experts: int = 5,
        n_voters: int = 10,
        prompts: Path | None = None,
        only: Sequence[str] = (),
        offline: bool = False,
    ) -> None:
        self.folder, self._judge, self._n_experts, self._n_voters = folder, judge, n_experts, n_voters
        settings = json_file(folder / files.SETTINGS_FILE, files.settings_of)
        path, tasks = folder / files.CHECKLISTS_FILE, data_file(folder, "tasks")
        if tasks is None:
            raise ChecklistError(f"{folder}: expected tasks.jsonl, which may be compressed")
        self._known = json_file(path, files.by_category(files.questions_of)) if path.exists() else {}
        self._counter: Any = "characters" if settings["words"] == "characters" else "regex"
        self._tasks: files.Categories[list[str]] = {}
        for _, task in checked_objects(tasks, files.task_of):
            if task.instruction and task.place not in self._known and task.category in (only or (task.category,)):
                self._tasks.setdefault(task.place, []).append(task.instruction)
        if not self._tasks:
            wanted = f" of {few_names(only)}" if only else ""
            raise ChecklistError(f"{tasks}: no task{wanted} without a checklist; remove a checklist to draft it again")
        self._templates: dict[str, Template] = {}
        for name, places in PLACES.items():
            own = prompts and prompts / f"{name}.txt"
            file = own if own and own.exists() else files.prompt_folder(settings["language"]) / f"{name}.txt"
            self._templates[name] = Template.read(file, placeholders=places, needed=places[-1:])
        self._replies = ReplyStore(folder / REPLIES_FILE, must_exist=offline)

    def experts(self) -> files.Categories[list[DraftStep]]:
        """The requests for questions; each expert sees other tasks of the category."""
        return {key: [self._expert(key, n) for n in range(1, self._n_experts + 1)] for key in self._tasks}

    def draft(self, ask: Ask | None) -> files.Categories[Draft]:
        """Asks step by step, and writes checklists.json, and draft.json with all questions and votes.

        Stored replies alone are used if `ask` is None.

        Raises:
            UnfinishedDraft: Replies are missing.
        """
        proposals = self._values(self.experts(), ask)
        texts = {key: _distinct(text for own in lists for text in own) for key, lists in proposals.items()}
        merges = {key: [self._merge(key, listed)] for key, listed in texts.items() if len(listed) > 1}
        for key, (*groups,) in self._values(merges, ask).items():
            repeated = {number for group in groups[0] for number in group[1:]} if groups else set()
            texts[key] = [text for number, text in enumerate(texts[key], start=1) if number not in repeated]
        votes = {
            key: [self._vote(key, listed, n) for n in range(1, self._n_voters + 1)]
            for key, listed in texts.items()
            if listed
        }
        drafts: files.Categories[Draft] = {}
        for key, chosen in self._values(votes, ask).items():
            n_votes = Counter(text for own in chosen for text in own)
            ranked = sorted(texts[key], key=lambda text: -n_votes[text])
            drafts[key] = Draft({text: n_votes[text] for text in ranked}, sum(map(len, proposals[key])), len(chosen))
        questions = {**self._known, **{key: draft.kept for key, draft in drafts.items()}}
        write_whole(self.folder / files.CHECKLISTS_FILE, json_bytes(files.by_area(questions)))
        write_whole(
            self.folder / DRAFT_FILE, json_bytes(files.by_area({key: draft.votes for key, draft in drafts.items()}))
        )
        return drafts

    def _values(self, steps: files.Categories[list[DraftStep]], ask: Ask | None) -> files.Categories[list[Any]]:
        """The values of the usable replies."""
        every = [step for listed in steps.values() for step in listed]
        problem = ask(every) if ask else None
        if n_open := len(open_tries(every)):
            raise UnfinishedDraft(problem or f"{self._replies.path}: {counted(n_open, 'reply')} missing")
        return {key: [step.value for step in listed if step.value is not None] for key, listed in steps.items()}

    def _expert(self, key: Category, number: int) -> DraftStep:
        name, tasks = f"expert {number} on {files.shown_category(key)}", self._tasks[key]
        chosen = random.Random(name).sample(tasks, min(_N_TASKS, len(tasks)))
        shown = _numbered(first_words(task, _N_WORDS, self._counter) for task in chosen)
        return self._step("propose", name, files.questions_of, area=key[0], category=key[1], tasks=shown)

    def _merge(self, key: Category, texts: Sequence[str]) -> DraftStep:
        number = _number_to(len(texts))
        return self._step(
            "merge",
            f"merging of {files.shown_category(key)}",
            lambda value: items(value, lambda group: items(group, number)),
            questions=_numbered(texts),
        )

    def _vote(self, key: Category, texts: Sequence[str], number: int) -> DraftStep:
        name = f"voter {number} on {files.shown_category(key)}"
        shown = random.Random(name).sample(texts, len(texts))  # the place in a list attracts votes

        def chosen(value: Any) -> list[str]:
            numbers = items(value, _number_to(len(shown)))
            if not 0 < len(set(numbers)) == len(numbers) <= _MOST:
                raise unexpected(f"up to {_MOST} different numbers", value)
            return [shown[number - 1] for number in numbers]

        return self._step("vote", name, chosen, most=str(_MOST), questions=_numbered(shown))

    def _step(self, prompt: str, name: str, check: Callable[[Any], Any], **values: str) -> DraftStep:
        return DraftStep(self._replies, self._judge, name, self._templates[prompt].fill(**values), check)


def _distinct(texts: Iterable[str]) -> list[str]:
    """Texts in order, without those that repeat another one but for case, spaces and punctuation."""
    by_words: dict[str, str] = {}
    for text in texts:
        by_words.setdefault("".join(filter(str.isalnum, text.casefold())), " ".join(text.split()))
    return list(by_words.values())


def _numbered(texts: Iterable[str]) -> str:
    return "\n".join(f"{number}. {text}" for number, text in enumerate(texts, start=1))


def _number_to(last: int) -> Callable[[Any], int]:
    def check(value: Any) -> int:
        if type(value) is not int or not 1 <= value <= last:
            raise unexpected(f"a number from 1 to {last}", value)
        return value

    return check
