"""The options of `pfgen-fast discern` that say which texts are damaged and how, for `with_options`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..files.untrusted_text import in_one_line
from .app import fail
from .options import Threads
from .suite_line import given_suite, print_origin, suite_or_here

if TYPE_CHECKING:
    from ..discernment.damaged import Damage
    from ..discernment.items import Collection
    from ..discernment.model_damage import DamageModel
    from ..discernment.plan import Plan
    from ..suite.suite import Suite

Seed = Annotated[
    int, typer.Option("--seed", min=0, help="Set the seed of the damage; the same seed gives the same damage.")
]
Language = Annotated[
    str | None,
    typer.Option("--language", help="Set the language of all texts, ja or en. Default: detected in each text."),
]
Analyser = Annotated[
    str | None,
    typer.Option(
        "--analyser",
        help="Find Japanese words, names and particles with sudachi instead of rules (needs pfgen-fast[japanese]).",
        metavar="NAME",
    ),
]


def _pair(text: str) -> str:
    """A value of the form KEY=VALUE, checked."""
    key, sign, value = text.partition("=")
    if not (sign and key.strip() and value.strip()):
        raise typer.BadParameter(f"expected KEY=COLUMN, not {in_one_line(text)!r}")
    return text


@dataclass(frozen=True)
class Source:
    """The texts to damage, and the damage."""

    file: Annotated[
        str | None,
        typer.Argument(
            help="Texts to damage: JSON lines, CSV, TSV or Parquet with id, text and task. Optional columns: language, "
            "question, context, references, alternative, perturbed. - is stdin.",
            metavar="[COLLECTION]",
        ),
    ] = None
    run: Annotated[
        str | None,
        typer.Option("--from-run", help="Damage the first answers of a run to each question instead.", metavar="RUN"),
    ] = None
    from_suite: Annotated[
        bool,
        typer.Option("--from-suite", help="Damage answers of the suite instead: human answers, or else references."),
    ] = False
    suite: Annotated[
        str | None,
        typer.Option(
            "--suite",
            "-s",
            help="Name the suite of ngram, --from-run and --from-suite: a folder with Q*.json files, or 'mini'. "
            "Default: data/ of the checkout that contains the run, or the working directory.",
            metavar="FOLDER",
        ),
    ] = None
    per_question: Annotated[
        int,
        typer.Option(
            "--per-question", min=1, help="Take this many answers to each question, with --from-run and --from-suite."
        ),
    ] = 2
    items: Annotated[int | None, typer.Option("--items", min=1, help="Use only the first N items.", metavar="N")] = None
    column: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            help="Read a key from another column, such as text=summary or perturbed.typo/1=worse. May be repeated.",
            parser=_pair,
            metavar="KEY=COLUMN",
        ),
    ] = None
    task: Annotated[
        str | None, typer.Option("--task", help="Set the task of items without one, such as answers or translation.")
    ] = None
    language: Language = None
    encoding: Annotated[
        str | None,
        typer.Option("--encoding", help="Set the encoding of a CSV or TSV file. Default: UTF-8.", metavar="NAME"),
    ] = None
    plan: Annotated[
        str,
        typer.Option(
            "--plan",
            help="Choose the kinds of damage: usual (all kinds made by rules), a data set of the paper (SummEval, "
            "SumPubMed, 'Story Cloze Test', 'Answer Equivalence', 'WMT-22 de-en', 'WMT-22 zh-en'), or a TOML file.",
            metavar="NAME|FILE",
        ),
    ] = "usual"
    kinds: Annotated[
        list[str] | None,
        typer.Option(
            "--kinds",
            help="Use only these kinds, or perturbations such as char_delete/30, separated by commas. 'discern kinds' "
            "lists the kinds. May be repeated.",
            metavar="KIND,...",
        ),
    ] = None
    level: Annotated[
        list[str] | None,
        typer.Option("--level", help="Use only this level: character, word, sentence or control. May be repeated."),
    ] = None
    rules_only: Annotated[
        bool, typer.Option("--rules-only", help="Replace kinds of the paper that need a model by kinds made by rules.")
    ] = False
    donors: Annotated[
        Path | None,
        typer.Option(
            "--donors",
            help="Take texts for answer_swap, sentence_insert and term_swap from this collection. Default: the other "
            "items.",
            metavar="FILE",
        ),
    ] = None
    seed: Seed = 0
    analyser: Analyser = None
    threads: Threads = None

    @cached_property
    def collection(self) -> Collection:
        """The items; ends the command unless exactly one source is given."""
        n_sources = sum([self.file is not None, self.run is not None, self.from_suite])
        if n_sources != 1:
            fail(f"{n_sources or 'no'} sources of texts: expected one of COLLECTION, --from-run RUN and --from-suite")
        found = self._read()
        if self.language is not None and self.file is None:
            found = replace(found, items=tuple(replace(item, language=self.language) for item in found.items))
        return found if self.items is None else replace(found, items=found.items[: self.items])

    def _read(self) -> Collection:
        from ..discernment import originals
        from ..discernment.item_files import ItemColumns, read_collection

        if self.run is not None:
            return originals.from_run(self.run, self.loaded_suite, per_question=self.per_question)
        if self.from_suite:
            return originals.from_suite(self.loaded_suite, per_question=self.per_question)
        assert self.file is not None
        names, perturbed = _columns_of(self.column)
        columns = ItemColumns(names, perturbed, task=self.task, language=self.language)
        return read_collection(self.file, columns=columns, encoding=self.encoding)

    @cached_property
    def loaded_suite(self) -> Suite:
        """The suite that is named, or that of the run's checkout, or that of the working folder."""
        if self.run is None:
            return suite_or_here(self.suite)
        from ..runs.checkout import suite_of

        return suite_of(Path(self.run), given_suite(self.suite))

    def print_suite(self) -> None:
        """Prints which suite was used, if one was."""
        if "loaded_suite" in vars(self):
            print_origin(self.loaded_suite)

    @cached_property
    def opened_plan(self) -> Plan:
        """The plan, or the part of it with the given kinds and levels."""
        from ..discernment.choosing import chosen_plan, open_plan

        found = open_plan(self.plan, self.collection.items, rules_only=self.rules_only)
        kinds = [name.strip() for text in self.kinds or () for name in text.split(",") if name.strip()]
        return chosen_plan(found, kinds=kinds or None, levels=self.level) if kinds or self.level else found

    @cached_property
    def damaging(self) -> dict[str, Any]:
        """The arguments that say how texts are damaged."""
        donors = None
        if self.donors is not None:
            from ..discernment.item_files import ItemColumns, read_collection

            columns = ItemColumns(task=self.task or "answers")
            donors = [item.text for item in read_collection(self.donors, columns=columns).items]
        return {"seed": self.seed, "donors": donors, "analyser": self.analyser, "threads": self.threads}

    def damage(self, collection: Collection, maker: DamageModel | None) -> Damage:
        """Damages the items of a collection, which is this one or a part of it."""
        from ..discernment.damaged import Damage

        return Damage(collection, self.opened_plan, maker=maker, **self.damaging)


def _columns_of(pairs: list[str] | None) -> tuple[dict[str, str], dict[str, str]]:
    """The columns of the keys of an item, and those of perturbations, of the values of `Columns`."""
    names: dict[str, str] = {}
    perturbed: dict[str, str] = {}
    for pair in pairs or ():
        key, _, column = (part.strip() for part in pair.partition("="))
        first, dot, name = key.partition(".")
        if dot and first == "perturbed":
            perturbed[name] = column
        else:
            names[key] = column
    return names, perturbed
