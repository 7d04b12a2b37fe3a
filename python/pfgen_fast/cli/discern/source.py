"""The options of `pfgen-fast discern` for texts, their damage, and the models that are asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, reduce
from itertools import compress
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ..app import Exit, Quiet, fail, note, print_line, shown
from ..engine_options import ServerOptions
from ..options import Threads, names_of
from ..parser import Argument, Option, option_group
from ..progress import Watch
from ..suite_line import given_suite, print_origin, suite_or_here

if TYPE_CHECKING:
    from ...lab.discernment.discernment_items import Collection
    from ...lab.discernment.discernment_plan import Plan
    from ...lab.discernment.model_damage import DamageModel, Making
    from ...lab.discernment.perturbing import Damage
    from ...lab.evaluators.asking_evaluator import AskedTexts, AskingEvaluator
    from ...suite.suite import Suite

MADE_TEXTS = "perturbed-texts.jsonl"
"""The file of the output directory that stores the texts of a model."""

Language = Annotated[str | None, Option(..., "Set the language of the texts, ja or en. Default: found in each text.")]


@option_group
class Source:
    """The texts to damage, and the damage."""

    help_group = "Damage"
    file: str | None = Argument(
        None,
        "Texts to damage: JSON lines, CSV, TSV or Parquet with id, text and task. Optional columns: language, "
        "question, context, references, alternative, perturbed. - is stdin.",
        metavar="[COLLECTION]",
    )
    run: str | None = Option(
        None, "Damage the first answers of a run to each question.", "--from-run", metavar="RUN", group=""
    )
    from_suite: bool = Option(False, "Damage answers of the suite: human answers, or else references.", group="")
    suite: str | None = Option(
        None,
        "Name the suite of ngram, --from-run and --from-suite: a directory with Q*.json files, or 'mini'. "
        "Default: data/ of the checkout that contains the run, or the working directory.",
        "-s",
        metavar="FOLDER",
        group="",
    )
    per_question: int = Option(2, "Use this many answers to each question of a run or suite.", min=1, group="")
    column: list[str] | None = Option(
        None,
        "Read a key of the items from this column: context=article, or perturbed.char_typo/minor=typos for ready-made "
        "damage. May be repeated.",
        metavar="KEY=COLUMN",
        group="",
    )
    longer_than: int = Option(0, "Leave out texts of at most N characters.", min=0, metavar="N", group="")
    items: int | None = Option(None, "Use only the first N items.", min=1, group="")
    task: str | None = Option(None, "Set the task of items without one, such as answers.", metavar="TEXT", group="")
    language: Language = None
    plan: str = Option(
        "usual",
        "Choose the kinds of damage: usual (all kinds made by rules), a data set of the paper (SummEval, "
        "SumPubMed, 'Story Cloze Test', 'Answer Equivalence', 'WMT-22 de-en', 'WMT-22 zh-en').",
        metavar="NAME",
    )
    kinds: list[str] | None = Option(
        None, "Use only these kinds, or perturbations such as char_delete/30. May be repeated.", metavar="KIND,..."
    )
    seed: int = Option(0, "Set the seed of the damage; the same seed gives the same damage.", min=0)
    threads: Threads = None

    @cached_property
    def collection(self) -> Collection:
        """The items; ends the command unless exactly one source is given."""
        from ...lab.discernment import originals
        from ...lab.discernment.discernment_items import KEYS, read_collection

        n_sources = sum([self.file is not None, self.run is not None, self.from_suite])
        if n_sources != 1:
            fail(f"{n_sources or 'no'} sources of texts: expected one of COLLECTION, --from-run RUN and --from-suite")
        if self.file is not None:
            columns = {key: name for key, _, name in (pair.partition("=") for pair in self.column or ())}
            for key, column in columns.items():
                if not column or (key not in KEYS and not key.startswith("perturbed.")):
                    fail(f"--column {shown(key)}: expected KEY=COLUMN with one of the keys {', '.join(KEYS)}")
            reading: Any = {"task": self.task, "language": self.language, "columns": columns}
            whole = read_collection(self.file, longer_than=self.longer_than, **reading)
        elif self.task or self.language or self.column or self.longer_than:
            fail("--task, --language, --column, --longer-than: expected only with COLLECTION, not with answers")
        elif self.run is not None:
            whole = originals.from_run(self.run, self.loaded_suite, per_question=self.per_question)
        else:
            whole = originals.from_suite(self.loaded_suite, per_question=self.per_question)
        return whole if self.items is None else replace(whole, items=whole.items[: self.items])

    @cached_property
    def loaded_suite(self) -> Suite:
        """The named suite, or the suite of the checkout of the run or of the working directory."""
        if self.run is None:
            return suite_or_here(self.suite)
        from ...runs.checkout import suite_of
        from ...runs.trials import one_run

        return suite_of(one_run(self.run).folder, given_suite(self.suite))

    def print_suite(self) -> None:
        """Prints the suite, if a suite was used."""
        if "loaded_suite" in vars(self):
            print_origin(self.loaded_suite)

    @cached_property
    def opened_plan(self) -> Plan:
        """The plan, or the part of it with the given kinds."""
        from ...lab.discernment.discernment_plan import open_plan

        return open_plan(self.plan, self.collection.items, kinds=names_of(self.kinds) or None)

    def damage(self, collection: Collection, maker: DamageModel | None) -> Damage:
        """Damages the items of this collection, or of a part of it."""
        from ...lab.discernment.perturbing import Damage

        return Damage(collection, self.opened_plan, seed=self.seed, maker=maker)


@option_group
class Asking(ServerOptions):
    """The options of models that are asked: a model that writes texts, and a judge. Costs are printed first."""

    maker: str | None = Option(
        None,
        "Name the model that writes texts for kinds that rules cannot make. Default: the judge.",
        group="Evaluators",
    )
    partial: bool = Option(False, "Use the items that are complete, and leave out the others.", group="")
    quiet: Quiet = False

    def texts(
        self, model: str | None, cache: Path, collection: Collection, plan: Plan, temperature: Any = None
    ) -> tuple[DamageModel | None, Collection]:
        """Asks a model for the texts of a plan that rules cannot make; returns the model and the complete items."""
        from ...lab.discernment.model_damage import Making, open_maker

        perturbations = [change for change in plan.perturbations if change.method == "model"]
        if not perturbations:
            return None, collection
        if model is None:
            fail("--maker is missing: name the language model that some kinds of the plan need, or choose --kinds")
        if self.maker is not None and self.served_model:
            fail("--maker and --served-model: expected one of them, because --served-model names the judge")
        maker = open_maker(model, cache=cache, **self.opening(temperature))
        making = Making(collection.items, perturbations, maker)
        complete = self._complete([making], maker, collection, "damaged texts")
        return replace(maker, stands_in=self.dry_run), complete

    def opening(self, temperature: Any) -> dict[str, Any]:
        """The options of a model, as the library takes them."""
        asked = {"request_options": self.request_options(temperature), "spending": self.spending}
        return {**asked, "server": self.server, "partial": self.partial}

    def ratings(self, judge: AskingEvaluator, damage: Damage, collection: Collection) -> Collection:
        """Asks for all ratings of a test; returns the complete items."""
        from ...lab.discernment.perturbing import all_texts

        asked = [judge.asked(*all_texts(damage))]
        if "identity" in damage.plan.kinds:
            asked.append(judge.again().asked(collection.items, damage.originals))
        complete = self._complete(asked, judge, collection, "ratings")
        if not self.dry_run:
            note(*filter(None, [judge.check_rated(asked[0])]))
        return complete

    def _complete(
        self,
        asked: Sequence[AskedTexts | Making],
        model: AskingEvaluator | DamageModel,
        collection: Collection,
        what: str,
    ) -> Collection:
        """Estimates the cost, and asks for the missing replies about a collection; returns the complete items."""
        if self.dry_run or not self.quiet:
            print_line(reduce(add, (texts.estimate(model.spending.prices) for texts in asked)).sentence(what))
        if self.dry_run:
            return collection
        problem: str | None = None
        with Watch(what, quiet=self.quiet) as watch:
            how: Any = {"spending": model.spending, "on_progress": watch.count, "events": watch.events}
            for texts in asked:
                problem = texts.ask_with(model.connect, **how) or problem
        n_items = len(collection)
        done = [texts.is_complete().all(axis=1).reshape(-1, n_items).all(axis=0).tolist() for texts in asked]
        items = tuple(compress(collection.items, map(all, zip(*done, strict=True))))
        if len(items) == n_items:
            return collection
        lacking = f"{n_items - len(items)} of {n_items} items lack {what}"
        if not self.partial:
            again = "run the same command again" + (" without --offline" if self.offline else "")
            why = problem or f"{model.replies.path}: {lacking}"
            fail(f"{why}; {again} to continue, or with --offline --partial to use the complete items", Exit.PARTIAL)
        note(f"{lacking} and are left out")
        return replace(collection, items=items, notes=(*collection.notes, f"{lacking} and are left out."))
