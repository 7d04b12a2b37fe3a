"""`pfgen-fast discern perturb`, `show`, `kinds` and `votes`: damaged texts and weights, without an evaluator."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .app import counted, counting, fail, print_line, shown, stdout, styled
from .discern_asking import Asking
from .discern_source import Analyser, Language, Seed, Source
from .engine_options import with_options
from .server_options import asking_options

if TYPE_CHECKING:
    from ..experiments.finding import Piece

_SAMPLES = {
    "ja": "富士山の高さは3776メートルで、日本で最も高い山です。夏には多くの人が登ります。",
    "en": "Ice floats on water. It isn't heavier than 1 litre of water, and the Arctic shows it.",
}
"""What `kinds` shows damage on."""

_DONORS = {
    "ja": ["琵琶湖は滋賀県にある湖です。", "カレーは辛い料理です。"],
    "en": ["Rain fell in Paris. The streets were wet.", "Mars is red."],
}


_ROWS_AT_A_TIME = 10_000


@with_options(source=Source, asking=asking_options(Asking))
def perturb(
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="Write a .parquet, .jsonl, .csv or .tsv table, also packed.", metavar="FILE"
        ),
    ],
    *,
    source: Source,
    asking: Asking,
) -> None:
    """Writes damaged texts to a table, to be scored elsewhere.

    The columns are item, perturbation ('original', or a name such as char_delete/30) and text. A table of their scores,
    with item, perturbation, metric and score, is then an evaluator: discern run -e table:FILE.

    Example

      pfgen-fast discern perturb texts.jsonl -o damaged.parquet
    """
    from ..discernment.damaged import texts_of as rows_of
    from ..tables.value_table import check_value_table, writing_values

    check_value_table(output)
    maker, found = asking.texts(
        asking.maker, output.with_name("perturbed-texts.jsonl"), source.collection, source.opened_plan
    )
    n_texts = len(found.items) * (1 + len(source.opened_plan.perturbations))
    if asking.dry_run:
        print_line(f"{counted(n_texts, 'text')} at most of {counted(len(found.items), 'item')}: {shown(str(output))}")
        return
    damage = source.damage(found, maker)
    n_written = 0
    types = dict.fromkeys(("item", "perturbation", "text"), str)
    with writing_values(output, types) as write, counting("texts", quiet=asking.quiet) as count:
        rows = rows_of(damage)
        while batch := list(islice(rows, _ROWS_AT_A_TIME)):
            write(batch)
            n_written += len(batch)
            count(n_written, n_texts)
    if not asking.quiet:
        print_line(f"{counted(n_written, 'text')} of {counted(len(found.items), 'item')}: {shown(str(output))}")
        source.print_suite()


def show(
    text: Annotated[str, typer.Argument(help="The text.", metavar="TEXT")],
    kind: Annotated[
        list[str] | None, typer.Option("--kind", help="Show this kind of damage. May be repeated. Default: all kinds.")
    ] = None,
    permille: Annotated[
        int | None, typer.Option("--permille", min=1, max=1000, help="Damage this per mille of the sites in the text.")
    ] = None,
    k: Annotated[int | None, typer.Option("--k", min=1, help="Damage this number of sites.")] = None,
    degree: Annotated[
        int | None, typer.Option("--degree", min=1, max=5, help="Damage by this step of the kind's usual ladder.")
    ] = None,
    language: Language = None,
    donor: Annotated[
        list[str] | None,
        typer.Option("--donor", help="Take from this text for answer_swap, sentence_insert, term_swap. Repeatable."),
    ] = None,
    alternative: Annotated[str | None, typer.Option("--alternative", help="Give the text of wrong_ending.")] = None,
    seed: Seed = 0,
    analyser: Analyser = None,
) -> None:
    """Shows what damage does to a text, with the changes marked; all degrees, unless one is named.

    Examples

      pfgen-fast discern show --kind char_typo --permille 30 "Ice floats."

      pfgen-fast discern show "Ice floats on water. It is light."
    """
    from ..discernment.choosing import chosen_plan
    from ..discernment.kinds import KINDS, LADDERS
    from ..discernment.perturbing import perturb as damaged
    from ..discernment.plan import kind_named

    if not text or text.isspace():
        fail("TEXT is empty; expected one with more than white space")
    if sum(value is not None for value in (permille, k, degree)) > 1:
        fail("--permille, --k and --degree: expected one of them")
    names = kind or [name for name, known in KINDS.items() if known.method == "rule"]
    for name in names:
        known = kind_named(name)
        if known.method == "model":
            fail(f"{name}: is made by a language model; expected a kind that a rule makes")
        ladder = LADDERS.get(known.ladder or "", ())
        if known.has_degrees and degree is not None:
            plan = chosen_plan(kinds=[name], permille=[ladder[degree - 1]])
        elif known.has_degrees and (permille is not None or k is not None):
            plan = chosen_plan(
                kinds=[name], permille=None if permille is None else [permille], k=None if k is None else [k]
            )
        else:
            plan = chosen_plan(kinds=[name])
        for one in plan.perturbations:
            (found,) = damaged(
                [text],
                one.kind,
                permille=one.permille if known.has_degrees else None,
                k=one.k,
                seed=seed,
                language=language,
                donors=donor,
                alternatives=None if alternative is None else [alternative],
                analyser=analyser,
            )
            _print_damaged(one.name, text, found)


def _print_damaged(name: str, text: str, found: str | None) -> None:
    from ..report.differences import marked

    if found is None:
        stdout().print(styled((f"{name:22}", "bold"), (" impossible", "dim")))
        return
    before, after = marked(text, found)
    stdout().print(styled((f"{name:22}", "bold"), " ", *_styled(before, "red")))
    stdout().print(styled(" " * 23, *_styled(after, "green")))


def _styled(pieces: tuple[Piece, ...], color: str) -> list[str | tuple[str, str]]:
    """Pieces for a terminal; where there are no colours, changes stand in brackets."""
    if stdout().color_system is None:
        return [f"[{shown(piece.text)}]" if piece.is_changed else shown(piece.text) for piece in pieces]
    return [(shown(piece.text), f"reverse {color}") if piece.is_changed else shown(piece.text) for piece in pieces]


def kinds(
    language: Annotated[str, typer.Option("--language", help="Choose the language of the examples, ja or en.")] = "en",
) -> None:
    """Lists all kinds of damage with their levels and usual degrees, and an example of each.

    Example

      pfgen-fast discern kinds --language ja
    """
    from ..discernment.kinds import KINDS, LADDERS, MODEL_DEGREES
    from ..discernment.perturbing import perturb as damaged

    if language not in _SAMPLES:
        fail(f"--language {shown(language)}: expected ja or en")
    text = _SAMPLES[language]
    stdout().print(styled(("original", "bold"), f" {text}"))
    for kind in KINDS.values():
        degrees = LADDERS.get(kind.ladder or "", ())
        listed = ", ".join(map(str, degrees)) + " per mille" if kind.has_degrees else ""
        if kind.method == "model":
            listed = "by a model" if kind.level == "control" else f"{', '.join(MODEL_DEGREES)}; by a model"
        stdout().print(styled((kind.name, "bold"), f" ({kind.level}{f': {listed}' if listed else ''})"))
        if kind.method == "model":
            continue
        (found,) = damaged(
            [text],
            kind.name,
            permille=degrees[2] if kind.has_degrees else None,
            language=language,
            donors=_DONORS[language],
            alternatives=_DONORS[language][:1],
        )
        stdout().print(f"  {'impossible here' if found is None else shown(found)}")


def votes(
    survey: Annotated[
        Path, typer.Argument(help="Table with the columns voter, task, perturbation, metric.", metavar="SURVEY")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Write a CSV for discern run --weights.", metavar="FILE.csv")
    ],
) -> None:
    """Makes weights of a survey, in which experts chose for each kind of damage the metric that it harms most.

    Example

      pfgen-fast discern votes survey.csv -o weights.csv
    """
    from ..discernment.weights import read_survey

    found = read_survey(survey)
    found.write(output)
    for task in found.tasks:
        agreement = "undefined" if task.kappa is None else f"{task.kappa:.3f}"
        print_line(
            f"{shown(task.task)}: {counted(task.n_voters, 'voter')}, {counted(len(task.votes), 'kind')} of damage, "
            f"agreement (Fleiss' kappa) {agreement}"
        )
    print_line(f"weights: {shown(str(output))}")
