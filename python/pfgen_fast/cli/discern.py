"""`pfgen-fast discern`: tests whether an evaluator notices texts that were damaged in known ways and degrees."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import discern_options as options
from . import discern_texts
from .app import Quiet, counting, fail, print_line, shown, stderr
from .commands import LINES, new_group
from .discern_asking import Asking
from .discern_source import Source
from .findings import show_finding
from .options import Threads

if TYPE_CHECKING:
    from ..discernment.damaged import Damage
    from ..discernment.items import Collection
    from ..discernment.made import Maker
    from ..discernment.plan import Plan
    from ..discernment.result import Discernment
    from ..discernment.weights import Weights
    from ..evaluators.evaluator import Evaluator, Item
    from ..evaluators.table import TableScores
    from ..native import _core
    from ..statistics.evaluator_agreement import Agreement
    from ..suite.suite import Suite

discern = new_group(LINES["discern"])
discern.command()(discern_texts.perturb)
discern.command()(discern_texts.show)
discern.command()(discern_texts.kinds)
discern.command()(discern_texts.votes)


@discern.command()
def run(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for the page, tables and pictures.", metavar="DIR")
    ],
    evaluator: Annotated[
        list[str],
        typer.Option(
            "--evaluator",
            "-e",
            help="ngram, metrics (BLEU, chrF, ROUGE-L), judge, python:MODULE:FUNCTION, 'command:PROGRAM ...' or "
            "table:FILE. Repeat to compare several.",
            metavar="NAME",
        ),
    ],
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
        int, typer.Option("--ratings", min=1, help="judge: how often each text is rated by each metric.")
    ] = 5,
    temperature: Annotated[
        float | None, typer.Option("--temperature", help="judge: default 0 for one rating, 1 for several.")
    ] = None,
    criteria: Annotated[
        Path | None, typer.Option("--criteria", help="judge: a TOML file of tasks and metrics.", metavar="FILE")
    ] = None,
    metric: Annotated[
        list[str] | None, typer.Option("--metric", help="judge: only this metric. May be repeated.")
    ] = None,
    max_tokens: Annotated[
        int, typer.Option("--max-tokens", min=1, help="judge: maximum number of tokens in a reply.")
    ] = 300,
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
    """
    from ..discernment.published import read_published
    from ..discernment.weights import open_weights
    from ..evaluators.opening import open_evaluator
    from ..files.writing import check_folder
    from ..judging.budget import Prices, Spending
    from ..judging.server import Server
    from ..report.discernment import finding_of
    from ..report.findings import check_libraries

    check_folder(output)
    if not dry_run:
        check_libraries()
    source = Source(collection, from_run, from_suite, per_question, items, suite, column, task, language, encoding)
    asking = Asking(
        None if offline else Server(base_url, key_env, concurrency, timeout, retries),
        Spending(Prices(prompt_price, reply_price), budget),
        is_partial=partial,
        is_dry=dry_run,
        quiet=quiet,
    )
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
    judged: dict[str, Any] = {
        "model": model,
        "n_ratings": ratings,
        "temperature": temperature,
        "max_tokens": max_tokens,
        "criteria": criteria,
        "metrics": metric,
        "server": asking.server,
        "spending": asking.spending,
        "partial": partial,
        "tasks": source.collection.tasks,
        "cache": output / "judge-ratings.jsonl",
    }
    if _has_models(test.plan):
        test.maker = asking.maker(_needed(maker or model, "--maker"), output / "perturbed-texts.jsonl")
        test.collection = asking.texts(test.maker, test.collection, test.plan)
    settings: dict[str, Any] = {
        "judge": judged,
        "metrics": {"allow_self_reference": allow_self_reference},
        "table": {"lower_is_better": lower_is_better or ()},
        "python": {"lower_is_better": lower_is_better or (), "cache": output / "scores.jsonl"},
        "command": {
            "lower_is_better": lower_is_better or (),
            "cache": output / "scores.jsonl",
            "time_limit": timeout,
            "show": lambda line: stderr().print(shown(line)),
        },
    }
    opened = []
    for name in evaluator:
        kind = name.partition(":")[0]
        if kind == "ngram":
            settings["ngram"] = {"suite": _suite_of_scores(source, leave_out=leave_out), "threads": threads}
        if kind == "judge":
            _needed(model, "--model")
        opened.append(open_evaluator(name, **settings.get(kind, {})))
    for one in opened:
        test.ask(one)
    if dry_run:
        return
    found = [test.run(one) for one in opened]
    agreements = {(i, j): test.agreement(found[i], found[j]) for j in range(len(found)) for i in range(j)}
    show_finding(finding_of(found, figures or (), agreements), output, report=report, quiet=quiet)
    if not quiet:
        for result in found:
            print_line((f"signature: {result.signature}", "dim"))


@dataclass
class Test:
    """A test as the options describe it.

    Attributes:
        collection: The items; fewer once those that lack replies are left out.
        plan: The perturbations.
        asking: How models are asked.
        maker: The model that makes texts.
    """

    collection: Collection
    plan: Plan
    asking: Asking
    seed: int
    donors: list[str] | None
    analyser: str | None
    weights: Weights | None
    zeros: Any
    min_items: int
    draws: int
    threads: int | None
    maker: Maker | None = None

    def damage(self) -> Damage:
        """The damaged texts."""
        from ..discernment.running import damage_of

        return damage_of(
            self.collection,
            self.plan,
            seed=self.seed,
            donors=self.donors,
            maker=self.maker,
            analyser=self.analyser,
            threads=self.threads,
        )

    def ask(self, evaluator: Evaluator | TableScores) -> None:
        """Asks for whatever an evaluator needs of a model, if it needs any."""
        from ..evaluators.criteria_judge import CriteriaJudge

        if isinstance(evaluator, CriteriaJudge):
            items, texts = self._all_texts()
            self.collection = self.asking.ratings(evaluator, items, texts, self.collection, self.plan)

    def _all_texts(self) -> tuple[list[Item], _core.TextColumn]:
        from ..discernment.damaged import all_texts

        stand_ins = None
        if self.maker is not None and self.asking.is_dry:
            stand_ins = self.asking.stand_ins(self.maker, self.collection, self.plan)
        return all_texts(self.damage(), stand_ins)

    def agreement(self, first: Discernment, second: Discernment) -> dict[str, Agreement]:
        """How far two evaluators agree, by task."""
        from ..discernment.agreement import agreement

        return agreement(first, second, zeros=self.zeros, min_items=self.min_items, draws=self.draws)

    def run(self, evaluator: Evaluator | TableScores) -> Discernment:
        """Scores all texts, and finds what follows."""
        from ..discernment.running import discern as find

        with counting("texts", quiet=self.asking.quiet) as count:
            return find(
                evaluator,
                self.collection,
                self.plan,
                self.weights,
                seed=self.seed,
                donors=self.donors,
                maker=self.maker,
                analyser=self.analyser,
                zeros=self.zeros,
                min_items=self.min_items,
                draws=self.draws,
                threads=self.threads,
                on_progress=count,
            )


def _has_models(plan: Plan) -> bool:
    return any(one.method == "model" for one in plan.perturbations)


def _needed(name: str | None, option: str) -> str:
    if name is None:
        fail(f"{option} is missing: expected the name of the model on the server")
    return name


def _suite_of_scores(source: Source, *, leave_out: bool) -> Suite:
    """The suite of the n-gram scores."""
    from ..discernment.originals import without_originals

    suite = source.loaded_suite
    return without_originals(suite, source.collection) if leave_out else suite
