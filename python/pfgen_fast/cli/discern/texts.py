"""`pfgen-fast discern perturb`, `kinds` and `votes`: damaged texts and weights."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from ...base.table import Column, Table
from ...base.untrusted_text import counted
from ..app import broken, counting, fail, note, print_line, print_table, rest, shown
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
        if asking.dry_run:
            return
        n_texts, n_written = len(collection) * (1 + len(source.opened_plan.perturbations)), 0
        types = dict.fromkeys(("item", "perturbation", "text"), str)
        rows = texts_of(source.damage(collection, maker))
        with writing_values(self.output, types) as write, counting("texts", quiet=asking.quiet) as count:
            while batch := list(islice(rows, _ROWS_AT_A_TIME)):
                write(batch)
                n_written += len(batch)
                count(n_written, n_texts)
        if not asking.quiet:
            print_table(collection.lengths())
            print_line(f"{counted(n_written, 'text')} of {counted(len(collection), 'item')}: {shown(self.output)}")
            source.print_suite()


class DiscernKinds:
    """Lists the kinds of damage with their levels and usual degrees, and shows a text damaged by each kind of a rule.

    Deleted parts are in [-...-] and new parts in {+...+}.

    Examples

      pfgen-fast discern kinds --language ja
      pfgen-fast discern kinds --kind char_typo --kind negate "Ice floats on water. It is light."
    """

    text: str | None = Argument(None, "Damage this text. Default: an example.", metavar="[TEXT]")
    kind: list[str] | None = Option(
        None,
        "Use this kind, such as char_typo; in all its degrees, or in one: char_typo/3% (of the sites), char_typo/k2 "
        "(two sites). May be repeated. Default: all kinds.",
        metavar="KIND[/DEGREE]",
    )
    language: Language = None

    def __call__(self) -> None:
        from ...lab.discernment.damage.text_reading import LANGUAGES
        from ...lab.discernment.discernment_plan import kind_named, perturbations_named
        from ...lab.discernment.kinds import KINDS, LADDERS, in_words
        from ...lab.discernment.votes import SAMPLES, damaged_example
        from ...lab.finding import Pair, marked
        from ...suite.questions import language_of

        language = self.language or language_of(self.text or "")
        if language not in LANGUAGES:
            fail(f"--language {shown(language)}: expected ja or en")
        text = SAMPLES[language] if self.text is None else self.text
        if not text.strip():
            fail("TEXT is empty: expected a text with more than white space")
        rows, examples = {}, [("original", text)]
        for name in self.kind or KINDS:
            kind = kind_named(name.partition("/")[0])
            words = (language == "ja" and kind.japanese) or in_words(kind.name)
            words += ", by a model" * (kind.method == "model")
            shares = ", ".join(f"{permille / 10:g}" for permille in LADDERS.get(kind.ladder or "", ()))
            degrees = f"{shares} %" if kind.has_degrees else ", ".join(kind.model_degrees * (kind.method == "model"))
            rows[kind.name] = kind.name, kind.level, words, degrees
            changes = [change for change in perturbations_named(name) if change.method == "rule"]
            for change in changes if self.kind else changes[len(changes) // 2 :][:1]:
                damaged = damaged_example(text, change, language)
                differences = "impossible in this text" if damaged is None else Pair("", marked(text, damaged)).text
                degree = f" {change.permille / 10:g} %" if change.permille else f" {change.degree}"
                examples.append((change.kind + degree * kind.has_degrees, differences))
        heads = [Column("kind"), Column("level", is_optional=True), Column("damage"), Column("degrees")]
        print_table(Table(heads, list(rows.values())))
        print_line()
        width = max(len(name) for name, _ in examples) + 2
        for name, example in examples:
            for number, line in enumerate(broken(shown(example), rest(width))):
                print_line((f"{'' if number else name:{width}}", "bold"), line)


class DiscernVotes:
    """Computes weights from a survey in which experts chose, for each kind of damage, the metric that it harms most.

    Examples

      pfgen-fast discern votes survey.csv -o weights.csv
      pfgen-fast discern votes experts/exports/*.jsonl -o weights.csv --page weights
    """

    survey: list[Path] = Argument(
        ..., "Exports of experts, or tables with the columns voter, task, perturbation, metric.", metavar="SURVEY..."
    )
    output: Path = Option(..., "Write a CSV for discern run --weights.", "-o", metavar="FILE.csv")
    page: Path | None = Option(None, "Write a page with pictures of the weights to this directory.", metavar="FOLDER")

    def __call__(self) -> None:
        from ...lab.discernment.votes import read_survey
        from ...report.findings import write_finding

        survey = read_survey(*self.survey)
        note(*survey.notes)
        survey.write(self.output)
        if self.page is not None:
            write_finding(survey.finding(), self.page)
        for task in survey.tasks:
            print_line(shown(task.sentence))
        print_line(f"weights: {shown(self.output)}")
