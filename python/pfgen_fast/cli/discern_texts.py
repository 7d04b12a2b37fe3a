"""`pfgen-fast discern perturb`, `show`, `kinds` and `votes`: damaged texts and weights, without an evaluator."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typer import Argument, Option

from .app import counted, counting, fail, note, print_line, shown, stdout, styled
from .discern_asking import Asking
from .discern_source import MADE_TEXTS, Analyser, Language, Seed, Source

if TYPE_CHECKING:
    from ..experiments.finding import Piece

_ROWS_AT_A_TIME = 10_000


class _Perturb:
    """Writes damaged texts to a table, to be scored elsewhere.

    The columns are item, perturbation ('original', or a name such as char_delete/30) and text. A table of their scores,
    with item, perturbation, metric and score, is then an evaluator: discern run -e table:FILE.

    Example

      pfgen-fast discern perturb texts.jsonl -o damaged.parquet
    """

    output: Path = Option(
        ..., "-o", help="Write a .parquet, .jsonl, .csv or .tsv table, which may be compressed.", metavar="FILE"
    )
    source: Source
    asking: Asking

    def __call__(self) -> None:
        from ..discernment.damaged import texts_of as rows_of
        from ..tables.value_table import check_value_table, writing_values

        check_value_table(self.output)
        source, asking = self.source, self.asking
        path = self.output.with_name(MADE_TEXTS)
        maker, found = asking.texts(asking.maker, path, source.collection, source.opened_plan)
        n_texts = len(found.items) * (1 + len(source.opened_plan.perturbations))
        of_items = f"{counted(len(found.items), 'item')}: {shown(self.output)}"
        if asking.dry_run:
            print_line(f"{counted(n_texts, 'text')} at most of {of_items}")
            return
        damage = source.damage(found, maker)
        n_written = 0
        types = dict.fromkeys(("item", "perturbation", "text"), str)
        with writing_values(self.output, types) as write, counting("texts", quiet=asking.quiet) as count:
            rows = rows_of(damage)
            while batch := list(islice(rows, _ROWS_AT_A_TIME)):
                write(batch)
                n_written += len(batch)
                count(n_written, n_texts)
        if not asking.quiet:
            print_line(f"{counted(n_written, 'text')} of {of_items}")
            source.print_suite()


class _Show:
    """Shows a damaged text with the changes marked, in all degrees or in the named degree.

    Examples

      pfgen-fast discern show --kind char_typo --permille 30 "Ice floats."

      pfgen-fast discern show "Ice floats on water. It is light."
    """

    text: str = Argument(help="The text.", metavar="TEXT")
    kind: list[str] | None = Option(None, help="Show this kind of damage. May be repeated. Default: all kinds.")
    permille: int | None = Option(
        None, min=1, max=1000, help="Damage this share of the sites in the text, in per mille."
    )
    k: int | None = Option(None, min=1, help="Damage this number of sites.")
    degree: int | None = Option(None, min=1, max=5, help="Damage by this step of the kind's usual degrees.")
    language: Language = None
    donor: list[str] | None = Option(
        None, help="Use parts of this text for answer_swap, sentence_insert, term_swap. May be repeated."
    )
    alternative: str | None = Option(None, help="Set the text for wrong_ending.")
    seed: Seed = 0
    analyser: Analyser = None

    def __call__(self) -> None:
        from ..discernment.kinds import KINDS

        if not self.text or self.text.isspace():
            fail("TEXT is empty: expected a text with more than white space")
        if sum(value is not None for value in (self.permille, self.k, self.degree)) > 1:
            fail("--permille, --k and --degree: expected one of them")
        for name in self.kind or [name for name, known in KINDS.items() if known.method == "rule"]:
            self.show_kind(name)

    def show_kind(self, name: str) -> None:
        from ..discernment.choosing import chosen_plan
        from ..discernment.kinds import LADDERS
        from ..discernment.perturbing import perturb as damaged
        from ..discernment.plan import kind_named

        known = kind_named(name)
        if known.method == "model":
            fail(f"{name}: is made by a language model; expected a kind that is made by a rule")
        degrees: dict[str, Any] = {}
        if known.has_degrees:
            ladder = LADDERS.get(known.ladder or "", ())
            permille = self.permille if self.degree is None else ladder[self.degree - 1]
            chosen = {"permille": permille, "k": self.k}
            degrees = {unit: [value] for unit, value in chosen.items() if value is not None}
        for one in chosen_plan(kinds=[name], **degrees).perturbations:
            (found,) = damaged(
                [self.text],
                one.kind,
                permille=one.permille if known.has_degrees else None,
                k=one.k,
                seed=self.seed,
                language=self.language,
                donors=self.donor,
                alternatives=None if self.alternative is None else [self.alternative],
                analyser=self.analyser,
            )
            _print_damaged(one.name, self.text, found)


def _print_damaged(name: str, text: str, found: str | None) -> None:
    from ..report.differences import marked

    if found is None:
        stdout().print(styled((f"{name:22}", "bold"), (" impossible", "dim")))
        return
    before, after = marked(text, found)
    stdout().print(styled((f"{name:22}", "bold"), " ", *_styled(before, "red")))
    stdout().print(styled(" " * 23, *_styled(after, "green")))


def _styled(pieces: tuple[Piece, ...], color: str) -> list[str | tuple[str, str]]:
    """Formats pieces for a terminal; without colours, changes are in brackets."""
    if stdout().color_system is None:
        return [f"[{shown(piece.text)}]" if piece.is_changed else shown(piece.text) for piece in pieces]
    return [(shown(piece.text), f"reverse {color}") if piece.is_changed else shown(piece.text) for piece in pieces]


class _Kinds:
    """Lists all kinds of damage with their levels and usual degrees, and an example of each.

    Example

      pfgen-fast discern kinds --language ja
    """

    language: str = Option("en", help="Choose the language of the examples, ja or en.")

    def __call__(self) -> None:
        from ..discernment.kinds import KINDS, LADDERS, MODEL_DEGREES
        from ..discernment.vote_items import SAMPLES, example

        if self.language not in SAMPLES:
            fail(f"--language {shown(self.language)}: expected ja or en")
        stdout().print(styled(("original", "bold"), f" {SAMPLES[self.language]}"))
        for kind in KINDS.values():
            degrees = LADDERS.get(kind.ladder or "", ())
            listed = ", ".join(map(str, degrees)) + " per mille" if kind.has_degrees else ""
            if kind.method == "model":
                listed = "by a model" if kind.level == "control" else f"{', '.join(MODEL_DEGREES)}; by a model"
            stdout().print(styled((kind.name, "bold"), f" ({kind.level}{f': {listed}' if listed else ''})"))
            if kind.method == "model":
                continue
            found = example(kind, self.language)
            stdout().print(f"  {'impossible here' if found is None else shown(found)}")


class _Votes:
    """Computes weights from a survey in which experts chose, for each kind of damage, the metric that it harms most.

    Examples

      pfgen-fast discern votes survey.csv -o weights.csv

      pfgen-fast discern votes experts/exports/*.jsonl -o weights.csv
    """

    survey: list[Path] = Argument(
        help="Exports of experts, or tables with the columns voter, task, perturbation, metric.", metavar="SURVEY..."
    )
    output: Path = Option(..., "-o", help="Write a CSV for discern run --weights.", metavar="FILE.csv")

    def __call__(self) -> None:
        from ..discernment.weights import read_survey

        found = read_survey(*self.survey)
        note(*found.notes)
        found.write(self.output)
        for task in found.tasks:
            agreement = "undefined" if task.kappa is None else f"{task.kappa:.3f}"
            n_voters, n_kinds = counted(task.n_voters, "voter"), counted(len(task.votes), "kind")
            agree = f"agreement (Fleiss' kappa) {agreement}"
            print_line(f"{shown(task.task)}: {n_voters}, {n_kinds} of damage, {agree}")
        print_line(f"weights: {shown(self.output)}")
