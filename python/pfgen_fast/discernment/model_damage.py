"""Damaged texts that a language model makes once; its replies are stored, and replayed from then on.

A reply that is not usable is stored too, and asked for again with the next seed. A text without a usable reply after
all tries cannot be damaged in this way. Which reply counts depends on the stored replies only: the first usable one.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray

from ..errors import DiscernmentError
from ..evaluators.criteria import Criteria, read_criteria
from ..evaluators.evaluator import Item, language_of, text_column
from ..files.untrusted_text import in_one_line
from ..generation.events import Events
from ..generation.prompts import sampling_seed
from ..judging.asking import Progress
from ..judging.budget import Estimate, Prices, Spending, estimated_tokens
from ..judging.reply_store import Replies
from ..judging.requests import Judge, JudgeRequest, RequestOptions, Server
from ..judging.tries import Connect, Tries, ask_in_rounds, estimate_of_tries, open_tries
from ..native import _core
from .kinds import Impossible
from .model_damage_prompts import label_of, made_prompt, prompts_hash, usable_text
from .plan import Perturbation

N_TRIES = 3
"""How often a text is asked for, each time with the next seed, until a reply is usable."""

FILE = "perturbed-texts.jsonl"
"""The usual name of the file of replies."""


@dataclass(frozen=True, eq=False)
class Made:
    """The damaged texts of one perturbation."""

    perturbation: Perturbation
    texts: _core.TextColumn  # A text for each item; null where it is impossible, or missing
    # by item, 0, or `Impossible.NO_CANDIDATE` where no reply was usable, or where replies are missing
    impossible: NDArray[np.uint8]
    # median edit distance from the originals as a share of their lengths, in code points; None without texts
    edit_share: float | None
    n_missing: int  # how many texts still need a reply


@dataclass(frozen=True)
class Maker:
    """A language model that damages texts; calling it asks for what is missing, and returns the texts."""

    judge: Judge  # model. Its temperature is 0, and its longest reply must hold a whole text
    replies: Replies
    seed: str = ""  # any text; determines the sampling seeds
    # opens the engine that asks the model, such as `Server(...).engine`; None uses the stored replies only
    connect: Connect | None = None
    spending: Spending = field(default_factory=Spending)  # prices and budget; whatever is asked is added to it
    is_partial: bool = False  # whether texts may be missing, which then are impossible; otherwise that is an error
    criteria: Criteria = field(default_factory=read_criteria)  # say what the texts of a task are

    @property
    def signature(self) -> str:
        """Model, prompts, parameters and seed."""
        return (
            f"maker:{json.dumps(self.judge.model)}|prompts:{prompts_hash()}|criteria:{self.criteria.hash}"
            f"|{self.judge.signature}|seed:{json.dumps(self.seed)}"
        )

    def __call__(self, items: Sequence[Item], perturbations: Sequence[Perturbation]) -> list[Made]:
        """As `made_texts`."""
        return made_texts(items, perturbations, self)


class Making:
    """The texts of some perturbations of some items, as far as there are replies."""

    def __init__(self, items: Sequence[Item], perturbations: Sequence[Perturbation], maker: Maker) -> None:
        self._items, self._perturbations, self._maker = items, perturbations, maker
        for item in items:
            _check_length(item, maker.judge.max_tokens)
        self._places = [_Place(item, each, maker) for each in perturbations for item in items]

    def __len__(self) -> int:
        return len(self._places)

    @property
    def n_missing(self) -> int:
        """The number of texts that still need a reply."""
        return len(open_tries(self._places))

    def is_complete(self) -> NDArray[np.bool_]:
        """By item, whether each of its texts has a usable reply, or needs no more replies."""
        is_done = np.array([place.next_key() is None for place in self._places], dtype=bool)
        return np.asarray(is_done.reshape(len(self._perturbations), len(self._items)).all(axis=0))

    def estimate(self, prices: Prices | None = None) -> Estimate:
        """Estimates the cost of the missing replies if each is usable; by default at the maker's prices."""
        return estimate_of_tries(self._places, prices or self._maker.spending.prices)

    def ask(self, *, on_progress: Progress | None = None, events: Events | None = None) -> str | None:
        """Asks for the missing replies, and for others in the place of those that are not usable; stores each."""
        maker = self._maker
        if maker.connect is None or maker.spending.is_used_up:
            return None
        return ask_in_rounds(
            self._places, maker.connect, spending=maker.spending, on_progress=on_progress, events=events
        )

    def texts(self) -> list[Made]:
        """The texts so far, for each perturbation."""
        return [_made(each, self._of(number)) for number, each in enumerate(self._perturbations)]

    def stand_ins(self) -> list[_core.TextColumn]:
        """Texts to estimate with: in the place of what is missing each original, marked so that no two are equal."""
        return [
            text_column([place.stand_in(each.name) for place in self._of(number)])
            for number, each in enumerate(self._perturbations)
        ]

    def _of(self, number: int) -> list[_Place]:
        n = len(self._items)
        return self._places[number * n : (number + 1) * n]


class _Place(Tries):
    """One text to be made."""

    def __init__(self, item: Item, perturbation: Perturbation, maker: Maker) -> None:
        super().__init__(maker.replies, N_TRIES)
        self.item = item
        self._perturbation, self._maker = perturbation, maker
        self._prompt = made_prompt(item, perturbation, maker.criteria)
        self._text: str | None = None

    def request_of_try(self, number: int) -> JudgeRequest:
        maker, name = self._maker, f"try {number} of {self._perturbation.name} for {self.item.id}"
        return maker.judge.request(self._prompt, seed=sampling_seed(maker.seed, number), name=name)

    def is_usable(self, reply: str) -> bool:
        language = self.item.language or language_of(self.item.text)
        kind, label = self._perturbation.kind, label_of(self._prompt)
        self._text = usable_text(reply, self.item.text, kind=kind, language=language, label=label)
        return self._text is not None

    def text(self) -> str | None:
        return self._text if self.n_replied else None

    def stand_in(self, mark: str) -> str | None:
        """The damaged text, or as long as it is missing the original with a mark; None if there will be none."""
        return self.text() if self.next_key() is None else f"{self.item.text} [{mark}]"


def made_texts(
    items: Sequence[Item],
    perturbations: Sequence[Perturbation],
    maker: Maker,
    *,
    on_progress: Progress | None = None,
    events: Events | None = None,
) -> list[Made]:
    """Makes the texts of perturbations: asks for the replies that are missing, and reads all."""
    making = Making(items, perturbations, maker)
    problem = making.ask(on_progress=on_progress, events=events)
    n_missing = making.n_missing
    if n_missing and not maker.is_partial:
        why = problem or "there is no server to ask"
        raise DiscernmentError(
            f"{maker.replies.path}: {n_missing:,} of {len(making):,} texts of a model are missing ({why}); expected "
            "all of them: repeat the call to continue, or take the items that are complete (--partial)"
        )
    return making.texts()


def open_maker(
    model: str,
    *,
    temperature: float = 0.0,
    max_tokens: int = 2000,
    seed: str = "",
    request_options: RequestOptions | None = None,
    server: Server | None = Server(),  # noqa: B008 - immutable
    spending: Spending | None = None,
    cache: Path = Path(FILE),
    partial: bool = False,
) -> Maker:
    """Opens a language model that damages texts; nothing is asked yet."""
    return Maker(
        Judge(model, temperature, max_tokens, request_options or RequestOptions()),
        Replies(cache, must_exist=server is None),
        seed=seed,
        connect=None if server is None else server.engine,
        spending=spending or Spending(),
        is_partial=partial,
    )


def _made(perturbation: Perturbation, places: Sequence[_Place]) -> Made:
    texts = [place.text() for place in places]
    impossible = np.array([0 if text is not None else Impossible.NO_CANDIDATE for text in texts], dtype=np.uint8)
    shares = [
        edit_distance(place.item.text, text) / len(place.item.text)
        for place, text in zip(places, texts, strict=True)
        if text is not None
    ]
    n_missing = len(open_tries(places))
    return Made(perturbation, text_column(texts), impossible, median(shares) if shares else None, n_missing)


def _check_length(item: Item, max_tokens: int) -> None:
    n_tokens = estimated_tokens(item.text)
    if n_tokens > max_tokens:
        raise DiscernmentError(
            f"item {in_one_line(item.id)}: a text of about {n_tokens:,} tokens, but a reply has {max_tokens:,} at "
            "most; expected room for the whole text (--max-tokens)"
        )


def edit_distance(one: str, other: str) -> int:
    """Levenshtein's distance in code points.

    The time is about the product of the lengths divided by 64: the bits of an integer hold a column of the usual table
    (Myers 1999, in the form of Hyyrö 2003).
    """
    one, other = _without_common_ends(one, other)
    if not one or not other:
        return len(one) + len(other)
    places: dict[str, int] = {}
    for row, character in enumerate(one):
        places[character] = places.get(character, 0) | 1 << row
    every, last = (1 << len(one)) - 1, 1 << len(one) - 1
    rises, falls, distance = every, 0, len(one)  # vertical differences of +1 and -1, and the last row's value
    for character in other:
        equal = places.get(character, 0)
        diagonal = (((equal & rises) + rises) ^ rises) | equal | falls
        right_rises = falls | ~(diagonal | rises) & every
        right_falls = rises & diagonal
        distance += bool(right_rises & last) - bool(right_falls & last)
        right_rises = (right_rises << 1 | 1) & every
        right_falls = right_falls << 1 & every
        rises = right_falls | ~(diagonal | right_rises) & every
        falls = right_rises & diagonal
    return distance


def _without_common_ends(one: str, other: str) -> tuple[str, str]:
    start, most = 0, min(len(one), len(other))
    while start < most and one[start] == other[start]:
        start += 1
    end = 0
    while end < most - start and one[-1 - end] == other[-1 - end]:
        end += 1
    return one[start : len(one) - end], other[start : len(other) - end]
