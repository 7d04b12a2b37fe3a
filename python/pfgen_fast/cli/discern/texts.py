"""`pfgen-fast discern perturb`, `kinds` and `votes`: damaged texts and weights."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from ...base.untrusted_text import counted
from ..app import counting, fail, note, print_line, shown
from ..parser import Argument, Option
from .source import MADE_TEXTS, Asking, Language, Source

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
    """Lists the kinds of damage with their levels and usual degrees, and shows a text damaged by each.

    Deleted parts are in [-...-] and new parts in {+...+}.

    Examples

      pfgen-fast discern kinds --language ja
      pfgen-fast discern kinds --kind char_typo --kind negate "Ice floats on water. It is light."
    """

    text: str | None = Argument(None, "Damage this text. Default: an example.", metavar="[TEXT]")
    kind: list[str] | None = Option(
        None,
        "Use this kind, such as char_typo; in all its degrees, or in one: char_typo/30 (per mille of the sites), "
        "char_typo/k2 (two sites). May be repeated. Default: all kinds.",
        metavar="KIND[/DEGREE]",
    )
    language: Language = None

    def __call__(self) -> None:
        from ...lab.discernment.damage.text_reading import LANGUAGES
        from ...lab.discernment.discernment_plan import kind_named, perturbations_named
        from ...lab.discernment.kinds import KINDS, LADDERS
        from ...lab.discernment.votes import SAMPLES, damaged_example
        from ...lab.finding import Pair, marked
        from ...suite.questions import language_of

        if self.text is not None and not self.text.strip():
            fail("TEXT is empty: expected a text with more than white space")
        language = self.language or language_of(self.text or "")
        if language not in LANGUAGES:
            fail(f"--language {shown(language)}: expected ja or en")
        text = self.text or SAMPLES[language]
        print_line(("original", "bold"), f" {shown(text)}")
        for name in self.kind or KINDS:
            kind = kind_named(name.partition("/")[0])
            degrees = LADDERS.get(kind.ladder or "", ())
            listed = f": {', '.join(map(str, degrees))} per mille" if kind.has_degrees else ""
            listed = f": {', '.join(filter(None, kind.model_degrees))} by a model" if kind.method == "model" else listed
            print_line((kind.name, "bold"), f" ({kind.level}{listed})")
            changes = perturbations_named(name)
            for change in changes if self.kind else changes[len(changes) // 2 :][:1]:
                if change.method == "rule":
                    damaged = damaged_example(text, change, language)
                    differences = "impossible" if damaged is None else Pair("", marked(text, damaged)).text
                    print_line(f"  {change.degree:5}" if change.degree else " ", f" {shown(differences)}")


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
