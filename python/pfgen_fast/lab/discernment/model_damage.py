"""Damaged texts that a language model makes once; its replies are stored and used again.

There is a prompt for each kind, degree and language. It ends with a label, and asks the model to write only the text
after it. A reply that is not usable is stored too, and the request is made again with the next seed. A text without a
usable reply after all tries cannot be damaged in this way. The first usable stored reply counts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...base.errors import DiscernmentError
from ...base.untrusted_text import in_one_line
from ...generation.prompts import sampling_seed
from ...suite.questions import language_of
from ..evaluators.criteria import LANGUAGES, Criteria, read_criteria
from ..evaluators.evaluator import Item, text_column
from ..judging import judge_asking
from ..judging.judge_asking import Connect, Spending
from ..judging.judge_requests import Judge, JudgeRequest, RequestOptions, Server, Template
from ..judging.reply_store import ReplyStore
from .discernment_plan import perturbations_named
from .kinds import KINDS, Impossible, Perturbation, unknown
from .perturbing import Perturbed

N_TRIES = 3
"""The maximum number of requests for a text, each with the next seed, until a reply is usable."""


@dataclass(frozen=True)
class DamageModel:
    """A language model that damages texts; calling it requests missing replies, and returns the texts."""

    judge: Judge  # model; its temperature is 0, and its longest reply must have room for a whole text
    replies: ReplyStore
    # opens the engine of the model, such as `Server(...).engine`; None uses only stored replies
    connect: Connect | None = None
    spending: Spending = field(default_factory=Spending)  # prices and budget; counts the requests
    is_partial: bool = False  # whether missing texts count as impossible; otherwise they raise an error
    stands_in: bool = False  # whether placeholders replace missing texts for an estimate, and nothing is requested
    criteria: Criteria = field(default_factory=read_criteria)  # descriptions of the texts of each task

    def __call__(self, items: Sequence[Item], perturbations: Sequence[Perturbation]) -> list[Perturbed]:
        """Makes the texts of perturbations: requests missing replies, and reads all replies."""
        making = Making(items, perturbations, self)
        problem = None if self.stands_in else making.ask_with(self.connect, spending=self.spending)
        n_missing = making.n_missing
        if n_missing and not (self.is_partial or self.stands_in):
            why = problem or "no server is given"
            raise DiscernmentError(
                f"{self.replies.path}: {n_missing:,} of {len(making):,} texts of a model are missing ({why}); repeat "
                "the call to continue, or use only complete items (--partial)"
            )
        return making.texts()


class Making(judge_asking.AskedTries["_Place"]):
    """The texts of some perturbations of some items, for which replies may be missing."""

    def __init__(self, items: Sequence[Item], perturbations: Sequence[Perturbation], maker: DamageModel) -> None:
        self._shape = len(perturbations), len(items)
        for item in items:
            if (n_tokens := judge_asking.estimated_tokens(item.text)) > maker.judge.max_tokens:
                raise DiscernmentError(
                    f"item {in_one_line(item.id)}: expected a text that fits into a reply of at most "
                    f"{maker.judge.max_tokens:,} tokens, not one of about {n_tokens:,}"
                )
        super().__init__([_Place(item, change, maker) for change in perturbations for item in items])

    def is_complete(self) -> NDArray[np.bool_]:
        """Whether each text has a usable reply, or needs no more replies: by perturbation, then item, in a column."""
        return np.array([[place.next_key() is None] for place in self.tries], dtype=np.bool_)

    def texts(self) -> list[Perturbed]:
        """The texts so far, for each perturbation; a text without a usable reply is `NO_CANDIDATE`."""
        n_perturbations, n = self._shape
        return [_damage(self.tries[i * n : (i + 1) * n]) for i in range(n_perturbations)]


class _Place(judge_asking.Tries):
    """One text to be made."""

    def __init__(self, item: Item, perturbation: Perturbation, maker: DamageModel) -> None:
        super().__init__(maker.replies, N_TRIES)
        self.item = item
        self._perturbation, self._maker = perturbation, maker
        self._prompt = made_prompt(item, perturbation, maker.criteria)
        self._text: str | None = None

    def request_of_try(self, number: int) -> JudgeRequest:
        maker, name = self._maker, f"try {number} of {self._perturbation.name} for {self.item.id}"
        return maker.judge.request(self._prompt, seed=sampling_seed("", number), name=name)

    def is_usable(self, reply: str) -> bool:
        language = self.item.language or language_of(self.item.text)
        kind, label = self._perturbation.kind, label_of(self._prompt)
        self._text = usable_text(reply, self.item.text, kind=kind, language=language, label=label)
        return self._text is not None

    def text(self) -> str | None:
        """The damaged text; for an estimate, a missing text is the original with a mark."""
        if self._maker.stands_in and self.next_key() is not None:
            return f"{self.item.text} [{self._perturbation.name}]"
        return self._text if self.n_replied else None


def open_maker(
    model: str,
    *,
    max_tokens: int = 2000,
    request_options: RequestOptions | None = None,
    server: Server | None = Server(),  # noqa: B008 - immutable
    spending: Spending | None = None,
    cache: Path = Path("perturbed-texts.jsonl"),
    partial: bool = False,
) -> DamageModel:
    """Opens a language model that damages texts; nothing is requested yet."""
    return DamageModel(
        Judge(model, max_tokens=max_tokens, options=request_options or RequestOptions()),
        ReplyStore(cache, must_exist=server is None),
        connect=None if server is None else server.engine,
        spending=spending or Spending(),
        is_partial=partial,
    )


def _damage(places: Sequence[_Place]) -> Perturbed:
    texts = [place.text() for place in places]
    impossible = np.array([0 if text is not None else Impossible.NO_CANDIDATE for text in texts], dtype=np.uint8)
    return Perturbed(text_column(texts), impossible)


MADE = {part.name: part for kind in KINDS.values() if kind.method == "model" for part in perturbations_named(kind.name)}
"""The perturbations whose texts a model makes, by name."""

_FOLDER = Path(__file__).with_name("prompts")

_COUNTS: Mapping[str, Mapping[int, str]] = {
    "en": {1: "one", 2: "two", 3: "three", 5: "five"},
    "ja": {1: "一つ", 2: "二つ", 3: "三つ", 5: "五つ"},
}
_N_ERRORS = {"minor": 2, "major": 5}
_FEWER_ERRORS = {("story", "minor"): 1, ("qa", "minor"): 1, ("qa", "major"): 3}
"""The number of grammatical errors, and that in the short texts of some tasks."""
_PLACEHOLDERS = ("text", "what", "language", "count")

_FENCED = re.compile(r"```[^\n`]*\n(.*?)\n?```", re.DOTALL)
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "「": "」", "『": "』", "«": "»"}
_SCRIPTS = {
    "ja": re.compile(
        "[\u3041-\u3096\u30a1-\u30fa\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9d\U00020000-\U0003ffff]"
    ),
    "en": re.compile("[A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f]"),
}


def made_prompt(item: Item, perturbation: Perturbation, criteria: Criteria) -> str:
    """The prompt that asks for the damaged text of an item."""
    if perturbation.name not in MADE:
        raise unknown("perturbation by a model", perturbation.name, MADE)
    language = item.language or language_of(item.text)
    spoken = language if language in LANGUAGES else "en"
    count = _FEWER_ERRORS.get((item.task, perturbation.degree), _N_ERRORS.get(perturbation.degree, 0))
    return _template(perturbation.kind, perturbation.degree, spoken).fill(
        text=item.text,
        what=criteria.what(item.task, spoken),
        language=LANGUAGES[spoken].get(language, language),
        count=_COUNTS[spoken].get(count, ""),
    )


def label_of(prompt: str) -> str:
    """The label with which a prompt ends."""
    return prompt.rstrip().rpartition("\n")[2]


@cache
def _template(kind: str, degree: str, language: str) -> Template:
    name = ".".join(part for part in (kind, degree, language, "txt") if part)
    return Template.read(_FOLDER / name, placeholders=_PLACEHOLDERS, needed=("text", "what", "language"))


def usable_text(reply: str, original: str, *, kind: str, language: str, label: str) -> str | None:
    """The damaged text in a reply; None if it is not usable by docs/discernment_rules.md."""
    original = original.strip()
    text = _bare(reply, original, label)
    n, n_original = len(text), len(original)
    low, high = (1, 3) if kind == "rewrite_insert" else (0.5, 2)
    if not text or text == original or not low * n_original <= n <= high * n_original:
        return None
    # A text needs a letter of the script of the language, or else of another script that the original has.
    scripts = [_SCRIPTS[name] for name in sorted(_SCRIPTS, key=lambda name: name != language)]
    script = next((script for script in scripts if script.search(original)), None)
    return text if script is None or script.search(text) else None


def _bare(reply: str, original: str, label: str) -> str:
    text = reply.strip()
    unlabelled = _without_label(text, label)
    bare = _without_pair(unlabelled, original)
    return bare if unlabelled != text else _without_label(bare, label)  # the label may be inside the pair


def _without_label(text: str, label: str) -> str:
    """The text without a label at its beginning, in any case, with any colon, and also in bold type."""
    words = re.escape(label.rstrip(":： "))
    return re.sub(rf"\A\**{words}\**\s*[:：]\**", "", text, count=1, flags=re.IGNORECASE).strip()


def _without_pair(text: str, original: str) -> str:
    fenced = _FENCED.fullmatch(text)
    if fenced:
        return fenced[1].strip()
    # An original in quotes keeps its quotes.
    return text[1:-1].strip() if _is_quoted(text) and not _is_quoted(original) else text


def _is_quoted(text: str) -> bool:
    """Whether one pair of quotes surrounds the whole text."""
    end = _QUOTES.get(text[:1])
    if end is None or len(text) < 2 or text[-1] != end:
        return False
    begin, inner = text[0], text[1:-1]
    if begin == end:
        return begin not in inner
    depth = 0
    for character in inner:
        depth += (character == begin) - (character == end)
        if depth < 0:
            return False
    return depth == 0
