"""`pfgen-fast discern perturb`, `kinds`, `votes` and `collect`: damaged texts, weights and collections."""

from __future__ import annotations

import sys
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ...base.untrusted_text import counted
from ..app import Quiet, counting, fail, has_colours, note, print_line, shown
from ..parser import Argument, Option
from .source import MADE_TEXTS, Analyser, Asking, Language, Seed, Source, TableOptions

if TYPE_CHECKING:
    from ...lab.discernment.discernment_plan import Perturbation
    from ...lab.finding import Change, Changes

_ROWS_AT_A_TIME = 10_000


class DiscernPerturb:
    """Writes damaged texts to a table, to be scored elsewhere.

    The columns are item, perturbation ('original', or a name such as char_delete/30) and text. A table of their scores,
    with item, perturbation, metric and score, is then an evaluator: discern run -e table:FILE.

    Example

      pfgen-fast discern perturb texts.jsonl -o damaged.parquet
    """

    output: Path = Option(..., "Write a .parquet, .jsonl, .csv or .tsv table.", "-o")
    source: Source
    asking: Asking

    def __call__(self) -> None:
        from ...lab.discernment.perturbing import texts_of
        from ...tables.formats import check_value_table, writing_values

        check_value_table(self.output)
        source, asking = self.source, self.asking
        path = self.output.with_name(MADE_TEXTS)
        maker, collection = asking.texts(asking.maker, path, source.collection, source.opened_plan)
        n_texts = len(collection.items) * (1 + len(source.opened_plan.perturbations))
        written_items = f"{counted(len(collection.items), 'item')}: {shown(self.output)}"
        if asking.dry_run:
            print_line(f"{counted(n_texts, 'text')} at most of {written_items}")
            return
        damage = source.damage(collection, maker)
        n_written = 0
        types = dict.fromkeys(("item", "perturbation", "text"), str)
        with writing_values(self.output, types) as write, counting("texts", quiet=asking.quiet) as count:
            rows = texts_of(damage)
            while batch := list(islice(rows, _ROWS_AT_A_TIME)):
                write(batch)
                n_written += len(batch)
                count(n_written, n_texts)
        if not asking.quiet:
            print_line(f"{counted(n_written, 'text')} of {written_items}")
            source.print_suite()


class DiscernKinds:
    """Lists the kinds of damage with their levels and usual degrees, and an example of each; or shows a text damaged.

    Examples

      pfgen-fast discern kinds --language ja
      pfgen-fast discern kinds "Ice floats on water. It is light."
      pfgen-fast discern kinds --kind char_typo/30 "Ice floats."
    """

    text: str | None = Argument(None, "Damage this text, and mark the changes.", metavar="[TEXT]")
    kind: list[str] | None = Option(
        None,
        "Use this kind, such as char_typo; in all its degrees, or in one: char_typo/30 (per mille of the sites), "
        "char_typo/k2 (two sites). May be repeated. Default: all kinds.",
        metavar="KIND[/DEGREE]",
    )
    language: Language = None
    donor: list[str] | None = Option(None, "Take foreign answers, sentences and terms from this text. May be repeated.")
    alternative: str | None = Option(None, "Set the text for wrong_ending.")
    seed: Seed = 0
    analyser: Analyser = None

    def __call__(self) -> None:
        from ...lab.discernment.discernment_plan import perturbations_named
        from ...lab.discernment.kinds import KINDS

        if self.text is None:
            self.list_kinds()
            return
        if not self.text.strip():
            fail("TEXT is empty: expected a text with more than white space")
        rules = [name for name, known in KINDS.items() if known.method == "rule"]
        for perturbation in [perturbation for name in self.kind or rules for perturbation in perturbations_named(name)]:
            self.show_damaged(self.text, perturbation)

    def show_damaged(self, text: str, perturbation: Perturbation) -> None:
        """Prints the text without and with the damage."""
        from ...lab.discernment.kinds import KINDS
        from ...lab.discernment.perturbing import perturb
        from ...lab.finding import marked

        if perturbation.method == "model":
            fail(f"{perturbation.kind}: is made by a language model; expected a kind that is made by a rule")
        (damaged,) = perturb(
            [text],
            perturbation.kind,
            permille=perturbation.permille if KINDS[perturbation.kind].has_degrees else None,
            k=perturbation.k,
            seed=self.seed,
            language=self.language,
            donors=self.donor,
            alternatives=None if self.alternative is None else [self.alternative],
            analyser=self.analyser,
        )
        name = (f"{perturbation.name:22}", "bold")
        if damaged is None:
            print_line(name, (" impossible", "dim"))
            return
        changes = marked(text, damaged)
        print_line(name, " ", *_styled(changes, "deleted", "red"))
        print_line(" " * 23, *_styled(changes, "inserted", "green"))

    def list_kinds(self) -> None:
        """Prints the kinds, with an example in the language."""
        from ...lab.discernment.discernment_plan import kind_named
        from ...lab.discernment.kinds import KINDS, LADDERS, MODEL_DEGREES
        from ...lab.discernment.votes import SAMPLES, example

        language = self.language or "en"
        if language not in SAMPLES:
            fail(f"--language {shown(language)}: expected ja or en")
        kinds = [kind_named(name.partition("/")[0]) for name in self.kind or KINDS]
        print_line(("original", "bold"), f" {SAMPLES[language]}")
        for kind in kinds:
            degrees = LADDERS.get(kind.ladder or "", ())
            listed = ", ".join(map(str, degrees)) + " per mille" if kind.has_degrees else ""
            if kind.method == "model":
                listed = "by a model" if kind.level == "control" else f"{', '.join(MODEL_DEGREES)}; by a model"
            print_line((kind.name, "bold"), f" ({kind.level}{f': {listed}' if listed else ''})")
            if kind.method == "rule":
                damaged = example(kind, language)
                print_line(f"  {'impossible here' if damaged is None else shown(damaged)}")


def _styled(changes: Changes, kind: Change, color: str) -> list[str | tuple[str, str]]:
    """Formats the text with changes of one kind for a terminal; without colours, they are in brackets."""
    pieces = [(shown(text), change == kind) for text, change in changes if change in ("equal", kind)]
    if not has_colours(sys.stdout):
        return [f"[{text}]" if is_changed else text for text, is_changed in pieces]
    return [(text, f"reverse {color}") if is_changed else text for text, is_changed in pieces]


class DiscernVotes:
    """Computes weights from a survey in which experts chose, for each kind of damage, the metric that it harms most.

    Examples

      pfgen-fast discern votes survey.csv -o weights.csv
      pfgen-fast discern votes experts/exports/*.jsonl -o weights.csv
    """

    survey: list[Path] = Argument(
        ..., "Exports of experts, or tables with the columns voter, task, perturbation, metric.", metavar="SURVEY..."
    )
    output: Path = Option(..., "Write a CSV for discern run --weights.", "-o", metavar="FILE.csv")

    def __call__(self) -> None:
        from ...lab.discernment.votes import read_survey

        survey = read_survey(*self.survey)
        note(*survey.notes)
        survey.write(self.output)
        for task in survey.tasks:
            agreement = "undefined" if task.kappa is None else f"{task.kappa:.3f}"
            n_voters, n_kinds = counted(task.n_voters, "voter"), counted(len(task.votes), "kind")
            agree = f"agreement (Fleiss' kappa) {agreement}"
            print_line(f"{shown(task.task)}: {n_voters}, {n_kinds} of damage, {agree}")
        print_line(f"weights: {shown(self.output)}")


class DiscernCollect:
    """Makes a collection for discern run from a data set with several references or answers for each item.

    One text of each item is chosen, and the others become its references. The items are drawn at random. An item is a
    row with its texts in 'text' and 'references', or several rows with the same ID.

    Example

      pfgen-fast discern collect data.jsonl --column references=summaries --task summarization -o texts.jsonl
    """

    data: str = Argument(
        ...,
        "Data set: JSON lines, CSV, TSV or Parquet with id, and text or references. Optional columns: task, "
        "language, question, context, alternative. - is stdin.",
        metavar="DATA",
    )
    output: Path = Option(..., "Write a .jsonl, .csv, .tsv or .parquet table.", "-o")
    reading: TableOptions
    choose: Literal["longest", "sentences"] = Option(
        "longest", "Choose the longest text of each item, or the text with the most sentences."
    )
    min_length: int = Option(1, "Choose only texts of at least this number of characters.", min=1)
    max_length: int | None = Option(None, "Choose only texts of at most this length.", min=1)
    items: int | None = Option(None, "Draw this number of items. Default: all items.", min=1)
    seed: int = Option(0, "Set the seed of the draw; the same seed draws the same items.", min=0)
    donors: Path | None = Option(None, "Write the items that are not drawn, without those with a drawn question.")
    quiet: Quiet = False

    def __call__(self) -> None:
        from ...lab.discernment.originals import Bounds, collect, write_items
        from ...tables.formats import check_value_table, is_same

        for path in (self.output, *([] if self.donors is None else [self.donors])):
            check_value_table(path)
            if is_same(self.data, str(path)):
                fail(f"{shown(path)}: is the data set itself; expected another file")
        if self.donors is not None and self.donors.resolve() == self.output.resolve():
            fail("-o and --donors: expected two different files")
        bounds = Bounds(self.min_length, self.max_length)
        drawn: Any = {"choice": self.choose, "bounds": bounds, "n_items": self.items, "seed": self.seed}
        collected = collect(self.data, **drawn, **self.reading.described)
        if self.donors is not None and not collected.donors:
            fail("--donors: no item is left for donors; draw fewer (--items)")
        n_drawn = len(collected.collection)
        if self.donors is not None:
            write_items(self.donors, collected.donors)
        write_items(self.output, collected.collection.items)
        if collected.n_fitting < collected.n_read:
            n_left_out = collected.n_read - collected.n_fitting
            note(f"{n_left_out:,} of {counted(collected.n_read, 'item')} left out: no text of {bounds}")
        if not self.quiet:
            print_line(f"{n_drawn:,} of {counted(collected.n_fitting, 'item')}: {shown(self.output)}")
            if self.donors is not None:
                print_line(f"{counted(len(collected.donors), 'donor')}: {shown(self.donors)}")
