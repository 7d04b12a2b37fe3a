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
from ...base.untrusted_text import counted
from ...generation.prompts import sampling_seed
from ..judging.judge_asking import Tries, open_tries
from ..judging.judge_requests import Judge, JudgeRequest, Template
from ..judging.reply_store import ReplyStore
from . import suite_files as files
from .line_files import checked_objects, data_file, json_file
from .parse_reply import value_of_reply

PLACES = {"propose": ("area", "category", "tasks"), "merge": ("questions",), "vote": ("most", "questions")}
"""The prompts (ours, or propose.txt and so on in the suite's `prompts`) with placeholders; the last one is needed."""

_FEWEST, _MOST = 4, 6  # questions of a checklist
_N_TASKS, _N_CODE_POINTS = 5, 3000  # shown to an expert

Check = Callable[[Any], Any]
Ask = Callable[[Sequence[Tries]], str | None]
"""Asks for missing replies, or for none, and returns why some are still missing; see `ask_in_rounds`."""


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


class Step(Tries):
    """A request whose reply is a JSON list, which a check converts to a value; None without a usable reply."""

    def __init__(self, drafting: Drafting, prompt: str, name: str, check: Check, **values: str) -> None:
        super().__init__(drafting.replies, n_tries=3)
        self._judge, self._name, self._check = drafting.judge, name, check
        self._content = drafting.templates[prompt].fill(**values)
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


class Drafting:
    """Drafts the checklists of the categories that have none in a directory with suite.json and tasks.jsonl."""

    def __init__(self, folder: Path, judge: Judge, *, offline: bool = False) -> None:
        self.folder, self.judge = folder, judge
        language = json_file(folder / files.SETTINGS_FILE, files.settings_of)["language"]
        path, tasks = folder / files.CHECKLISTS_FILE, data_file(folder, "tasks")
        if tasks is None:
            raise ChecklistError(f"{folder}: expected tasks.jsonl, which may be compressed")
        self._known = json_file(path, files.by_category(files.questions_of)) if path.exists() else {}
        self._tasks: files.Categories[list[str]] = {}  # instructions
        for _, task in checked_objects(tasks, files.task_of):
            if task.instruction and task.place not in self._known:
                self._tasks.setdefault(task.place, []).append(task.instruction)
        if not self._tasks:
            raise ChecklistError(f"{tasks}: no task without a checklist; remove a checklist to draft it again")
        self.templates: dict[str, Template] = {}
        for name, places in PLACES.items():
            own, ours = (place / f"{name}.txt" for place in (folder / "prompts", files.prompt_folder(language)))
            file = own if own.exists() else ours
            self.templates[name] = Template.read(file, placeholders=places, needed=places[-1:])
        self.replies = ReplyStore(folder / "draft-replies.jsonl", must_exist=offline)

    def draft(self, ask: Ask, n_experts: int, n_voters: int) -> files.Categories[Draft]:
        """Asks step by step, and writes checklists.json, and draft.json with all questions and votes.

        Raises:
            UnfinishedDraft: Replies are missing.
        """
        proposals = self._values({key: [self._expert(key, n) for n in range(n_experts)] for key in self._tasks}, ask)
        texts = {
            key: list(dict.fromkeys(" ".join(text.split()) for own in lists for text in own))
            for key, lists in proposals.items()
        }
        merges = self._values({key: [self._merge(key, own)] for key, own in texts.items() if own}, ask)
        for key, values in merges.items():
            repeated: set[int] = set()
            for first, *others in (group for groups in values for group in groups):
                repeated.update(others if first not in repeated else ())  # [[1, 2], [2, 1]]: 1 stays
            texts[key] = [text for number, text in enumerate(texts[key], start=1) if number not in repeated]
        voters = {key: [self._vote(key, own, n) for n in range(n_voters)] for key, own in texts.items() if own}
        drafts: files.Categories[Draft] = {}
        ballots = self._values(voters, ask)
        for key in self._tasks:
            chosen = ballots.get(key, [])
            votes = Counter(text for own in chosen for text in own)
            ranked = sorted(texts[key], key=lambda text: -votes[text])
            drafts[key] = Draft({text: votes[text] for text in ranked}, sum(map(len, proposals[key])), len(chosen))
        kept = {**self._known, **{key: draft.kept for key, draft in drafts.items() if draft.votes}}
        votes_of = {key: draft.votes for key, draft in drafts.items()}
        write_whole(self.folder / files.CHECKLISTS_FILE, json_bytes(files.by_area(kept)))
        write_whole(self.folder / "draft.json", json_bytes(files.by_area(votes_of)))
        return drafts

    def _values(self, steps: files.Categories[list[Step]], ask: Ask) -> files.Categories[list[Any]]:
        """The values of the usable replies."""
        every = [step for listed in steps.values() for step in listed]
        problem = ask(every)
        if n_open := len(open_tries(every)):
            raise UnfinishedDraft(problem or f"{self.replies.path}: {counted(n_open, 'reply')} missing")
        return {key: [step.value for step in listed if step.value is not None] for key, listed in steps.items()}

    def _expert(self, key: tuple[str, str], number: int) -> Step:
        """The request for questions; each expert sees other tasks of the category."""
        name, tasks = f"expert {number} on {files.shown_category(key)}", self._tasks[key]
        chosen = random.Random(name).sample(tasks, min(_N_TASKS, len(tasks)))
        shown = _numbered(task[:_N_CODE_POINTS] for task in chosen)
        return Step(self, "propose", name, files.questions_of, area=key[0], category=key[1], tasks=shown)

    def _merge(self, key: tuple[str, str], texts: Sequence[str]) -> Step:
        """The request for groups of equal questions."""
        check, name = _numbers(len(texts), len(texts)), f"merging of {files.shown_category(key)}"
        return Step(self, "merge", name, lambda groups: items(groups, check), questions=_numbered(texts))

    def _vote(self, key: tuple[str, str], texts: Sequence[str], number: int) -> Step:
        """The request for a vote; each voter sees another order, because places in a list attract votes."""
        name, check = f"voter {number} on {files.shown_category(key)}", _numbers(len(texts), _MOST)
        shown = random.Random(name).sample(texts, len(texts))

        def chosen(value: Any) -> list[str]:
            return [shown[number - 1] for number in check(value)]

        return Step(self, "vote", name, chosen, most=str(_MOST), questions=_numbered(shown))


def _numbered(texts: Iterable[str]) -> str:
    return "\n".join(f"{number}. {text}" for number, text in enumerate(texts, start=1))


def _numbers(last: int, most: int) -> Check:
    """A check of a list of at most so many different numbers from 1 to the last."""

    def check(value: Any) -> tuple[int, ...]:
        numbers = items(value, lambda number: number if type(number) is int else 0)
        if not 0 < len(set(numbers)) == len(numbers) <= most or not 0 < min(numbers) <= max(numbers) <= last:
            raise unexpected(f"up to {most} different numbers from 1 to {last}", value)
        return numbers

    return check
