"""The language models of `pfgen-fast discern`: a model that writes texts, and a judge. Costs are printed first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..lab.evaluators.evaluator import text_column
from .app import Exit, Quiet, counted, fail, note, print_line
from .asking import Watch
from .engine_options import ServerOptions
from .parser import Option, option_group

if TYPE_CHECKING:
    from ..base.native import _core
    from ..lab.discernment.discernment_items import Collection
    from ..lab.discernment.discernment_plan import Plan
    from ..lab.discernment.model_damage import DamageModel, Making
    from ..lab.evaluators.asking_evaluator import AskedTexts, AskingEvaluator
    from ..lab.evaluators.evaluator import Item

_TO_CONTINUE = "run the same command again to continue, or with --offline --partial to use the complete items"
_OFFLINE = "run the same command without --offline to ask for them, or with --partial to use the complete items"


@option_group
class Asking(ServerOptions):
    """The options of models that are asked."""

    maker: str | None = Option(
        None,
        help="Name the model that writes texts for kinds that rules cannot make. Default: the judge.",
        metavar="NAME",
    )
    partial: bool = Option(False, help="Use the items that are complete, and leave out the others.")
    quiet: Quiet = False

    def texts(
        self, model: str | None, cache: Path, collection: Collection, plan: Plan, temperature: Any = None
    ) -> tuple[DamageModel | None, Collection]:
        """Asks a model for the texts of a plan that rules cannot make; returns the model and the complete items."""
        from ..lab.discernment.model_damage import Making, open_maker
        from ..lab.judging.judge_requests import Server

        perturbations = [perturbation for perturbation in plan.perturbations if perturbation.method == "model"]
        if not perturbations:
            return None, collection
        if model is None:
            fail("--maker is missing: some kinds of the plan need a language model; name it, or give --rules-only")
        server = self.server or Server()
        options = self.request_options(temperature)
        if self.maker is not None and self.served_model:
            fail(
                "--maker and --served-model: expected one of them, because --served-model names the judge on the server"
            )
        maker = open_maker(
            model, request_options=options, server=server, spending=self.spending, cache=cache, partial=self.partial
        )
        if self.server is None:
            maker = replace(maker, connect=None)
        making = Making(collection.items, perturbations, maker)
        self._say(making.estimate().sentence("damaged texts"))
        if self.dry_run:
            return replace(maker, stands_in=True), collection
        return maker, self._complete([making], maker, collection, "damaged texts")

    def ratings(
        self, judge: AskingEvaluator, items: Sequence[Item], texts: _core.TextColumn, collection: Collection, plan: Plan
    ) -> Collection:
        """Asks for all ratings of a test; returns the complete items."""
        asked = [judge.asked(items, texts)]
        if any(perturbation.kind == "identity" for perturbation in plan.perturbations):
            asked.append(judge.again().asked(collection.items, text_column([item.text for item in collection.items])))
        estimates = [texts.estimate(judge.spending.prices) for texts in asked]
        self._say(sum(estimates[1:], estimates[0]).sentence("ratings"))
        if self.dry_run:
            self._say_cheaper(judge)
            return collection
        complete = self._complete(asked, judge, collection, "ratings")
        judge.check_rated(asked[0])
        return complete

    def _complete(
        self,
        asked: Sequence[AskedTexts | Making],
        model: AskingEvaluator | DamageModel,
        collection: Collection,
        what: str,
    ) -> Collection:
        """Asks for the missing replies about a collection; returns the complete items, with a note on the others."""
        problem: str | None = None
        n_items = len(collection.items)
        is_complete = np.ones(n_items, dtype=np.bool_)
        with Watch(what, quiet=self.quiet) as watch:
            how: Any = {"spending": model.spending, "on_progress": watch.count, "events": watch.events}
            for texts in asked:
                problem = texts.ask_with(model.connect, **how) or problem
                is_complete &= texts.is_complete().all(axis=1).reshape(-1, n_items).all(axis=0)
        n_lacking = int((~is_complete).sum())
        if not n_lacking:
            return collection
        if not self.partial:
            n_missing, n_wanted = sum(texts.n_missing for texts in asked), sum(map(len, asked))
            missing = f"{model.replies.path}: {n_missing:,} of {n_wanted:,} {what} are missing"
            if what == "ratings":
                missing += f", of {n_lacking:,} of {counted(n_items, 'item')}"
            ends = f"{missing}; {_OFFLINE}" if self.server is None else f"{problem or missing}; {_TO_CONTINUE}"
            fail(ends, Exit.PARTIAL)
        items = tuple(item for item, done in zip(collection.items, is_complete, strict=True) if done)
        sentence = f"{n_lacking} of {n_items} items lack {what} and are left out"
        note(sentence)
        return replace(collection, items=items, notes=(*collection.notes, f"{sentence}."))

    def _say(self, sentence: str) -> None:
        if self.dry_run or not self.quiet:
            print_line(sentence)

    def _say_cheaper(self, judge: AskingEvaluator) -> None:
        """Notes options that reduce the cost."""
        ways = ["fewer kinds or degrees (--kinds char_delete/30,negate,...)", "half of the items (--items)"]
        if judge.n_ratings > 1:
            ways.insert(0, f"one rating of each text, 1/{judge.n_ratings} of it (--ratings 1)")
        if judge.asks_by_metric and len(judge.metrics) > 1:
            ways.append("only the metrics that matter (--metric)")
        note(f"cheaper: {'; '.join(ways)}")
