"""`pfgen-fast discern`: tests whether an evaluator notices texts that were damaged in known ways and degrees."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import discern_options as options
from . import discern_texts
from .app import Quiet
from .commands import LINES, new_group
from .discern_asking import Asking, ServerOptions
from .discern_evaluators import Evaluators
from .discern_run import Test
from .discern_source import Source
from .findings import show_finding
from .options import Threads
from .suite_line import print_signature

discern = new_group(LINES["discern"])
discern.command()(discern_texts.perturb)
discern.command()(discern_texts.show)
discern.command()(discern_texts.kinds)
discern.command()(discern_texts.votes)


@discern.command()
def run(
    evaluator: Annotated[
        list[str],
        typer.Option(
            "--evaluator",
            "-e",
            help="ngram, metrics (BLEU, chrF, ROUGE-L), judge, checklists:SUITE, python:MODULE:FUNCTION, "
            "'command:PROGRAM ...' or table:FILE. Repeat to compare several.",
            metavar="NAME",
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for the page, tables and pictures.", metavar="DIR")
    ] = Path("discernment"),
    collection: options.CollectionFile = None,
    from_run: options.FromRun = None,
    from_suite: options.FromSuite = False,
    suite: options.SuiteOption = None,
    per_question: options.PerQuestion = 2,
    items: options.MaxItems = None,
    leave_out: Annotated[
        bool, typer.Option("--leave-out", help="ngram: score with a suite without the originals that it holds.")
    ] = False,
    column: options.Columns = None,
    task: options.Task = None,
    language: options.Language = None,
    encoding: options.Encoding = None,
    plan: options.PlanOption = "usual",
    kinds: options.Kinds = None,
    level: options.Levels = None,
    rules_only: options.RulesOnly = False,
    donors: options.Donors = None,
    seed: options.Seed = 0,
    analyser: options.AnalyserOption = None,
    weights: Annotated[
        str | None,
        typer.Option(
            "--weights",
            help="How much each metric counts for each kind: a CSV file, or 'assumed' for the packaged ones, which "
            "nobody has voted on.",
            metavar="FILE",
        ),
    ] = None,
    published: Annotated[
        Path | None,
        typer.Option("--published", help="CSV of figures read off the paper, to be shown beside ours.", metavar="FILE"),
    ] = None,
    zeros: Annotated[
        options.ZerosChoice, typer.Option("--zeros", help="Scores that do not change: left out, or ranked first.")
    ] = options.ZerosChoice.drop,
    draws: Annotated[int, typer.Option("--draws", min=0, help="Bootstrap draws for the intervals; 0 for none.")] = 1000,
    min_items: Annotated[
        int, typer.Option("--min-items", min=5, help="A cell with fewer items than this is undefined.")
    ] = 10,
    lower_is_better: Annotated[
        list[str] | None,
        typer.Option("--lower-is-better", help="A metric of which lower is better. May be repeated.", metavar="METRIC"),
    ] = None,
    allow_self_reference: Annotated[
        bool, typer.Option("--allow-self-reference", help="metrics: allow items whose text is among their references.")
    ] = False,
    model: options.Model = None,
    maker: options.Maker = None,
    base_url: options.BaseUrl = None,
    key_env: options.KeyEnv = None,
    ratings: Annotated[
        int | None,
        typer.Option(
            "--ratings",
            min=1,
            help="How often each text is rated: judge: by each metric, default 5; checklists: by all, default 1.",
        ),
    ] = None,
    temperature: Annotated[
        float | None,
        typer.Option("--temperature", help="judge, checklists: default 0 for one rating, 1 for several."),
    ] = None,
    category: Annotated[
        str | None,
        typer.Option(
            "--category", help="checklists: whose checklist judges items that are no task of the suite.", metavar="NAME"
        ),
    ] = None,
    criteria: Annotated[
        Path | None, typer.Option("--criteria", help="judge: a TOML file of tasks and metrics.", metavar="FILE")
    ] = None,
    metric: Annotated[
        list[str] | None, typer.Option("--metric", help="judge: only this metric. May be repeated.")
    ] = None,
    max_tokens: Annotated[
        int | None,
        typer.Option(
            "--max-tokens",
            min=1,
            help="Maximum number of tokens in a reply. Default: judge 300, checklists 4096.",
        ),
    ] = None,
    prompt_price: options.PromptPrice = 0.0,
    reply_price: options.ReplyPrice = 0.0,
    budget: options.Budget = None,
    offline: options.Offline = False,
    partial: Annotated[
        bool, typer.Option("--partial", help="Use the items of which everything is there, and leave out the others.")
    ] = False,
    dry_run: options.DryRun = False,
    concurrency: options.Concurrency = 16,
    timeout: options.Timeout = 120.0,
    retries: options.Retries = 5,
    report: Annotated[
        Path | None,
        typer.Option("--report", help="A report of the same run (pfgen-fast report), to link to.", metavar="FILE.html"),
    ] = None,
    threads: Threads = None,
    quiet: Quiet = False,
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
    if not dry_run:
        check_libraries()
    source = Source(collection, from_run, from_suite, per_question, items, suite, column, task, language, encoding)
    source.collection.check_size(min_items)
    server = ServerOptions(base_url, key_env, concurrency, timeout, retries, offline=offline)
    asking = Asking.opened(server, prompt_price, reply_price, budget, is_partial=partial, is_dry=dry_run, quiet=quiet)
    test = Test(
        source.collection,
        source.plan(plan, options.listed(kinds), level, rules_only=rules_only),
        asking,
        seed=seed,
        donors=source.donors(donors),
        analyser=analyser,
        weights=None if weights is None else open_weights(weights),
        zeros=zeros.value,
        min_items=min_items,
        draws=draws,
        threads=threads,
    )
    figures = None if published is None else read_published(published)
    judge = {
        "model": model,
        "n_ratings": ratings,
        "temperature": temperature,
        "max_tokens": max_tokens,
        "criteria": criteria,
        "metrics": metric,
        "category": category,
    }
    evaluators = Evaluators(
        output, source, asking, judge, leave_out, allow_self_reference, lower_is_better or (), timeout, threads
    )
    opened = [evaluators.open(name) for name in evaluator]
    for one in opened:
        test.check(one)
    test.make_texts(maker or model, output)
    for one in opened:
        test.ask(one)
    if dry_run:
        return
    found = [test.run(one) for one in opened]
    show_finding(finding_of(found, figures or (), test.agreements(found)), output, report=report, quiet=quiet)
    if not quiet:
        source.print_suite()
        for result in found:
            print_signature(result.signature)
