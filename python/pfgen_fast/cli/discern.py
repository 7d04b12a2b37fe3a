"""`pfgen-fast discern`: tests whether an evaluator notices texts that were damaged in known ways and degrees."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from . import discern_texts
from .app import fail
from .commands import LINES, new_group
from .discern_asking import Asking
from .discern_evaluators import Evaluators
from .discern_run import Test
from .discern_source import Source
from .engine_options import with_options
from .findings import show_finding
from .server_options import asking_options, retried_without_schema
from .suite_line import print_signature

discern = new_group(LINES["discern"])
discern.command()(discern_texts.perturb)
discern.command()(discern_texts.show)
discern.command()(discern_texts.kinds)
discern.command()(discern_texts.votes)


ZerosChoice = Literal["drop", "pratt"]


@discern.command()
@with_options(source=Source, evaluators=Evaluators, asking=asking_options(Asking))
@retried_without_schema("evaluators")
def run(
    evaluator: Annotated[
        list[str],
        typer.Option(
            "--evaluator",
            "-e",
            help="Test an evaluator: ngram, metrics (BLEU, chrF, ROUGE-L), judge, checklists:SUITE, "
            "python:MODULE:FUNCTION, 'command:PROGRAM ...' or table:FILE. Repeat to compare several.",
            metavar="NAME",
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Write page, tables and pictures to this directory.", metavar="DIR")
    ] = Path("discernment"),
    weights: Annotated[
        str | None,
        typer.Option(
            "--weights",
            help="Weight the metrics for each kind: a CSV file, or 'assumed' for the packaged weights, which no "
            "expert has voted on.",
            metavar="FILE",
        ),
    ] = None,
    published: Annotated[
        Path | None,
        typer.Option("--published", help="Show figures of the paper from this CSV beside ours.", metavar="FILE"),
    ] = None,
    zeros: Annotated[
        ZerosChoice, typer.Option("--zeros", help="Leave out scores that do not change, or rank them first.")
    ] = "drop",
    draws: Annotated[
        int, typer.Option("--draws", min=0, help="Set the bootstrap draws of intervals; 0 computes no intervals.")
    ] = 1000,
    min_items: Annotated[int, typer.Option("--min-items", min=5, help="Leave cells with fewer items undefined.")] = 10,
    report: Annotated[
        Path | None,
        typer.Option("--report", help="Link to a report of the same run (pfgen-fast report).", metavar="FILE.html"),
    ] = None,
    *,
    source: Source,
    evaluators: Evaluators,
    asking: Asking,
) -> None:
    """Does an evaluator notice damage: from which degree on, what does it miss, what does it reward?

    Good texts are damaged in known ways and degrees, originals and damaged texts are scored apart, and a paired rank
    test asks whether the damaged ones got less. D is its p-value on a scale on which 1 is p = 0.05. Controls are
    changes that should not matter. Most kinds of damage are made by rules, so no model is needed.

    Examples

      pfgen-fast discern run --from-run result/openai/gpt-4o/run --evaluator ngram -o discernment

      pfgen-fast discern run --from-suite --suite mini --evaluator ngram -o discernment

      pfgen-fast discern run texts.jsonl -e python:mine:score -e metrics -o discernment

      pfgen-fast discern run texts.jsonl -e judge -m org/judge --base-url http://localhost:8000/v1 --dry-run -o d

      pfgen-fast discern run texts.jsonl -e checklists:essays-en -m org/judge --category advice --dry-run -o d
    """
    from ..discernment.paper import read_published
    from ..discernment.weights import open_weights
    from ..files.writing import check_folder
    from ..report.discernment import finding_of
    from ..report.findings import check_libraries

    check_folder(output)
    if evaluators.structured and not any(name.startswith("checklists:") for name in evaluator):
        fail("--structured: expected with an evaluator checklists:SUITE, whose replies are JSON")
    if not asking.dry_run:
        check_libraries()
    source.collection.check_size(min_items)
    opened_weights = None if weights is None else open_weights(weights)
    test = Test(source, asking, opened_weights, zeros, min_items, draws)
    figures = None if published is None else read_published(published)
    opened = [evaluators.open(name, output, source, asking) for name in evaluator]
    for one in opened:
        test.check(one)
    test.make_texts(asking.maker or evaluators.model, output)
    for one in opened:
        test.ask(one)
    if asking.dry_run:
        return
    found = [test.run(one) for one in opened]
    show_finding(finding_of(found, figures or (), test.agreements(found)), output, report=report, quiet=asking.quiet)
    if not asking.quiet:
        source.print_suite()
        for result in found:
            print_signature(result.signature)
