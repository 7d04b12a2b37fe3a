"""The language models of `pfgen-fast discern`: one that makes texts, and a judge; what they cost is said beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from ..evaluators.evaluator import text_column
from .app import Exit, counted, fail, note, print_line
from .asking import watch_over

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..discernment.items import Collection
    from ..discernment.model_damage import Maker
    from ..discernment.plan import Plan
    from ..evaluators.asking_evaluator import AskingEvaluator
    from ..evaluators.evaluator import Item
    from ..judging.budget import Spending
    from ..judging.requests import Server
    from ..native import _core

_TO_CONTINUE = "run the same command again to continue, or with --offline --partial to use what is complete"
_OFFLINE = "run the same command without --offline to ask for them, or with --partial to use what is complete"


@dataclass(frozen=True)
class ServerOptions:
    """The options that say where a model is, and how patiently it is asked."""

    base_url: str | None
    key_env: str | None
    concurrency: int = 16
    timeout: float = 120.0
    retries: int = 5
    offline: bool = False


@dataclass(frozen=True)
class Asking:
    """How models are asked.

    Attributes:
        server: The server; None sends nothing.
        spending: Prices and budget, shared by judge and maker.
        is_partial: Whether items that lack a reply are left out.
        is_dry: Whether only the cost is shown.
        quiet: Whether nothing but errors is printed.
    """

    server: Server | None
    spending: Spending
    is_partial: bool
    is_dry: bool
    quiet: bool

    @classmethod
    def opened(
        cls,
        server: ServerOptions,
        prompt_price: float,
        reply_price: float,
        budget: float | None,
        *,
        is_partial: bool,
        is_dry: bool,
        quiet: bool,
    ) -> Asking:
        """How models are asked, as the options say; nothing is connected to."""
        from ..judging.budget import Prices, Spending
        from ..judging.requests import Server

        at = Server(server.base_url, server.key_env, server.concurrency, server.timeout, server.retries)
        spending = Spending(Prices(prompt_price, reply_price), budget)
        return cls(None if server.offline else at, spending, is_partial=is_partial, is_dry=is_dry, quiet=quiet)

    def maker(self, model: str, cache: Path) -> Maker:
        """The model that makes texts."""
        from ..discernment.model_damage import open_maker
        from ..judging.requests import Server

        server = self.server or Server()
        found = open_maker(model, server=server, spending=self.spending, cache=cache, partial=self.is_partial)
        return found if self.server is not None else replace(found, connect=None)

    def texts(self, maker: Maker, collection: Collection, plan: Plan) -> Collection:
        """Asks for all texts that a model makes; returns the items that have them."""
        from ..discernment.model_damage import Making

        perturbations = [one for one in plan.perturbations if one.method == "model"]
        making = Making(collection.items, perturbations, maker)
        self._say(making.estimate().sentence("damaged texts"))
        if self.is_dry:
            return collection
        with watch_over("damaged texts", quiet=self.quiet) as watch:
            problem = making.ask(on_progress=watch.count, events=watch.events)
        if not making.n_missing:
            return collection
        if not self.is_partial:
            n_texts = len(collection.items) * len(perturbations)
            self._fail_for(
                problem, f"{maker.replies.path}: {making.n_missing:,} of {n_texts:,} damaged texts are missing"
            )
        return _complete(collection, making.is_complete(), "damaged texts")

    def stand_ins(self, maker: Maker, collection: Collection, plan: Plan) -> list[_core.TextColumn]:
        """The texts that a model makes as far as there are any, and originals in the place of the others."""
        from ..discernment.model_damage import Making

        return Making(collection.items, [one for one in plan.perturbations if one.method == "model"], maker).stand_ins()

    def ratings(
        self, judge: AskingEvaluator, items: Sequence[Item], texts: _core.TextColumn, collection: Collection, plan: Plan
    ) -> Collection:
        """Asks for all ratings of a test; returns the items that have them."""
        asked: list[tuple[AskingEvaluator, Sequence[Item], _core.TextColumn]] = [(judge, items, texts)]
        if any(one.kind == "identity" for one in plan.perturbations):
            originals = text_column([item.text for item in collection.items])
            asked.append((judge.again(), collection.items, originals))
        estimates = [one.estimate(rated, column) for one, rated, column in asked]
        self._say(sum(estimates[1:], estimates[0]).sentence("ratings"))
        if self.is_dry:
            self._say_cheaper(judge)
            return collection
        problem: str | None = None
        is_complete = np.ones(len(collection.items), dtype=np.bool_)
        with watch_over("ratings", quiet=self.quiet) as watch:
            for one, rated, column in asked:
                ask = one.partial().ask
                problem = ask(rated, column, on_progress=watch.count, events=watch.events) or problem
                is_complete &= one.is_complete(rated, column).reshape(-1, len(collection.items)).all(axis=0)
        if is_complete.all():
            return collection
        if not self.is_partial:
            n_missing = sum(one.n_missing(rated, column) for one, rated, column in asked)
            of_items = f"{int((~is_complete).sum()):,} of {counted(len(collection.items), 'item')}"
            what = f"{n_missing:,} of {sum(one.n_replies for one in estimates):,} ratings are missing, of {of_items}"
            self._fail_for(problem, f"{judge.replies.path}: {what}")
        return _complete(collection, is_complete, "ratings")

    def _fail_for(self, problem: str | None, missing: str) -> NoReturn:
        """Ends the command because replies are missing."""
        if self.server is None:
            fail(f"{missing}; {_OFFLINE}", Exit.PARTIAL)
        fail(f"{problem or missing}; {_TO_CONTINUE}", Exit.PARTIAL)

    def _say(self, sentence: str) -> None:
        if self.is_dry or not self.quiet:
            print_line(sentence)

    def _say_cheaper(self, judge: AskingEvaluator) -> None:
        """What else could be asked, in words."""
        ways = ["fewer kinds or degrees (--kinds char_delete/30,negate,...)", "half of the items (--items)"]
        if judge.n_ratings > 1:
            ways.insert(0, f"one rating of each text, 1/{judge.n_ratings} of it (--ratings 1)")
        if judge.asks_by_metric and len(judge.metrics) > 1:
            ways.append("only the metrics that matter (--metric)")
        note(f"cheaper: {'; '.join(ways)}")


def _complete(collection: Collection, is_complete: NDArray[np.bool_], what: str) -> Collection:
    """The items of which all is there, with a note."""
    items = tuple(item for item, done in zip(collection.items, is_complete, strict=True) if done)
    sentence = f"{len(collection.items) - len(items)} of {len(collection.items)} items lack {what} and are left out"
    note(sentence)
    return replace(collection, items=items, notes=(*collection.notes, f"{sentence}."))
