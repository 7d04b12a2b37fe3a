"""The options of `pfgen-fast discern` for the texts and their damage."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ..base.untrusted_text import in_one_line
from .app import fail
from .options import Threads
from .parser import Argument, BadValue, Option, option_group
from .suite_line import given_suite, print_origin, suite_or_here

if TYPE_CHECKING:
    from ..lab.discernment.discernment_items import Collection
    from ..lab.discernment.discernment_plan import Plan
    from ..lab.discernment.model_damage import DamageModel
    from ..lab.discernment.perturbing import Damage
    from ..suite.suite import Suite

MADE_TEXTS = "perturbed-texts.jsonl"
"""The file of the output directory that stores the texts of a model."""

Seed = Annotated[int, Option(min=0, help="Set the seed of the damage; the same seed gives the same damage.")]
Language = Annotated[
    str | None, Option(help="Set the language of all texts, ja or en. Default: detected in each text.")
]
Task = Annotated[
    str | None, Option(help="Set the task of items without one, such as answers or translation.", metavar="TEXT")
]
Analyser = Annotated[
    str | None,
    Option(
        help="Find Japanese words, names and particles with sudachi instead of rules (needs pfgen-fast[japanese]).",
        metavar="NAME",
    ),
]


def pair(text: str) -> tuple[str, str]:
    """Splits `KEY=COLUMN`."""
    key, _, column = (part.strip() for part in text.partition("="))
    if not (key and column):
        raise BadValue(f"expected KEY=COLUMN, not {in_one_line(text)!r}")
    return key, column


@option_group
class Source:
    """The texts to damage, and the damage."""

    file: str | None = Argument(
        None,
        help="Texts to damage: JSON lines, CSV, TSV or Parquet with id, text and task. Optional columns: language, "
        "question, context, references, alternative, perturbed. - is stdin.",
        metavar="[COLLECTION]",
    )
    run: str | None = Option(
        None, "--from-run", help="Damage the first answers of a run to each question instead.", metavar="RUN"
    )
    from_suite: bool = Option(False, help="Damage answers of the suite instead: human answers, or else references.")
    suite: str | None = Option(
        None,
        "-s",
        help="Name the suite of ngram, --from-run and --from-suite: a directory with Q*.json files, or 'mini'. "
        "Default: data/ of the checkout that contains the run, or the working directory.",
        metavar="FOLDER",
    )
    per_question: int = Option(
        2, min=1, help="Use this many answers to each question, with --from-run and --from-suite."
    )
    items: int | None = Option(None, min=1, help="Use only the first N items.", metavar="N")
    column: list[Any] | None = Option(
        None,
        help="Read a key from another column, such as text=summary or perturbed.typo/1=worse. May be repeated.",
        parser=pair,
        metavar="KEY=COLUMN",
    )
    task: Task = None
    language: Language = None
    encoding: str | None = Option(None, help="Set the encoding of a CSV or TSV file. Default: UTF-8.", metavar="NAME")
    plan: str = Option(
        "usual",
        help="Choose the kinds of damage: usual (all kinds made by rules), a data set of the paper (SummEval, "
        "SumPubMed, 'Story Cloze Test', 'Answer Equivalence', 'WMT-22 de-en', 'WMT-22 zh-en'), or a TOML file.",
        metavar="NAME|FILE",
    )
    kinds: list[str] | None = Option(
        None,
        help="Use only these kinds, or perturbations such as char_delete/30, separated by commas. 'discern kinds' "
        "lists the kinds. May be repeated.",
        metavar="KIND,...",
    )
    level: list[str] | None = Option(
        None, help="Use only this level: character, word, sentence or control. May be repeated."
    )
    rules_only: bool = Option(False, help="Replace kinds of the paper that need a model by kinds made by rules.")
    donors: Path | None = Option(
        None,
        help="Take texts for answer_swap, sentence_insert and term_swap from this collection. Default: the other "
        "items.",
        metavar="FILE",
    )
    seed: Seed = 0
    analyser: Analyser = None
    threads: Threads = None

    @cached_property
    def collection(self) -> Collection:
        """The items; ends the command unless exactly one source is given."""
        n_sources = sum([self.file is not None, self.run is not None, self.from_suite])
        if n_sources != 1:
            fail(f"{n_sources or 'no'} sources of texts: expected one of COLLECTION, --from-run RUN and --from-suite")
        whole = self._read()
        if self.language is not None and self.file is None:
            whole = replace(whole, items=tuple(replace(item, language=self.language) for item in whole.items))
        return whole if self.items is None else replace(whole, items=whole.items[: self.items])

    def _read(self) -> Collection:
        from ..lab.discernment import originals
        from ..lab.discernment.discernment_items import read_collection

        if self.run is not None:
            return originals.from_run(self.run, self.loaded_suite, per_question=self.per_question)
        if self.from_suite:
            return originals.from_suite(self.loaded_suite, per_question=self.per_question)
        assert self.file is not None
        described: Any = {"task": self.task, "language": self.language, "encoding": self.encoding}
        return read_collection(self.file, columns=dict(self.column or ()), **described)

    @cached_property
    def loaded_suite(self) -> Suite:
        """The named suite, or the suite of the checkout of the run or of the working directory."""
        if self.run is None:
            return suite_or_here(self.suite)
        from ..runs.checkout import suite_of
        from ..runs.trials import one_run

        return suite_of(one_run(self.run).folder, given_suite(self.suite))

    def print_suite(self) -> None:
        """Prints the suite, if a suite was used."""
        if "loaded_suite" in vars(self):
            print_origin(self.loaded_suite)

    @cached_property
    def opened_plan(self) -> Plan:
        """The plan, or the part of it with the given kinds and levels."""
        from ..lab.discernment.plan_sources import open_plan

        kinds = [name.strip() for text in self.kinds or () for name in text.split(",") if name.strip()]
        chosen: Any = {"kinds": kinds or None, "levels": self.level or None, "rules_only": self.rules_only}
        return open_plan(self.plan, self.collection.items, **chosen)

    @cached_property
    def damaging(self) -> dict[str, Any]:
        """The arguments for the damage."""
        donors = None
        if self.donors is not None:
            from ..lab.discernment.discernment_items import read_collection

            donors = [item.text for item in read_collection(self.donors, task=self.task or "answers").items]
        return {"seed": self.seed, "donors": donors, "analyser": self.analyser}

    def damage(self, collection: Collection, maker: DamageModel | None) -> Damage:
        """Damages the items of this collection, or of a part of it."""
        from ..lab.discernment.perturbing import Damage

        return Damage(collection, self.opened_plan, maker=maker, **self.damaging)
