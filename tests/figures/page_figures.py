"""The figures of the other pages, from published runs, and from the simulation beside them."""

import itertools
import tempfile
from collections.abc import Iterator
from functools import cache
from operator import eq
from pathlib import Path
from statistics import fmean, median

import numpy as np
from makers import published
from makers.documented import DOCS, tool
from pfgen_fast import Scorer
from pfgen_fast.lab.experiments.sets import published_by_set
from pfgen_fast.runs.result_tables import published as published_entries
from pfgen_fast.runs.run_scorer import RunScorer
from pfgen_fast.runs.trials import RunFolder, find_runs
from pfgen_fast.suite.rules import add_up

from .experiment_figures import NIGHTLY, SLOW, Row, leaderboard
from .registry import figures, numbers

PAPER = "papers/pfgen_bench.md"
TABLE_1 = """
system/ground-truth|system|1.0501,1.155,0.996,1.000
anthropic/claude-3-5-sonnet-20240620|qa|0.9303,0.949,0.959,0.883
openai/gpt-4o|qa|0.8615,0.919,0.980,0.686
system/criteria|system|0.8494,0.936,0.978,0.505
openai/gpt-4|qa|0.7916,0.888,0.951,0.536
tokyotech-llm/Swallow-70b-NVE-instruct-hf|completion|0.7766,0.884,0.938,0.507
pfnet/plamo-100b-base|completion|0.7469,0.861,0.920,0.460
CohereForAI/c4ai-command-r-plus|completion|0.7365,0.818,0.913,0.478
nvidia/nemotron-4-340b-instruct|completion|0.7175,0.816,0.908,0.429
meta-llama/Meta-Llama-3.1-405B|completion|0.6759,0.767,0.892,0.368
google/gemini-1.5-pro-001|qa|0.6745,0.666,0.980,0.377
tokyotech-llm/Swallow-MX-8x7b-NVE-v0.1|completion|0.6368,0.753,0.870,0.287
stabilityai/japanese-stablelm-base-beta-70b|completion|0.6202,0.733,0.848,0.280
openai/gpt-35-turbo|qa|0.6136,0.658,0.944,0.239
stockmark/stockmark-100b|completion|0.5971,0.709,0.842,0.240
meta-llama/Meta-Llama-3.1-70B|completion|0.5659,0.665,0.822,0.211
Qwen/Qwen-72B-Chat|completion|0.5002,0.614,0.716,0.171
mistralai/Mixtral-8x22B-v0.1|completion|0.4050,0.517,0.615,0.084
mistralai/Mixtral-8x7B-Instruct-v0.1|completion|0.3914,0.488,0.636,0.050
tokyotech-llm/Swallow-70b-NVE-hf|completion|0.7766,0.884,0.938,0.507
"""
"""Table 1 of the paper of pfgen-bench by our names and modes; the last row has the figures of the row of `SWALLOW`."""
SWALLOW = ("tokyotech-llm/Swallow-70b-NVE-instruct-hf", "tokyotech-llm/Swallow-70b-NVE-hf")
NOT_IN_JAPANESE = ("system/criteria", "tokyotech-llm/Swallow-MX-8x7b-NVE-v0.1", "stockmark/stockmark-100b")


@cache
def equal_figures() -> dict[str, int]:
    """By row of Table 1, how many of its four figures the published run has."""
    entries, counts = published_entries(yardsticks=True), {}
    for name, mode, cells in (line.split("|") for line in TABLE_1.split()):
        runs = [entry for entry in entries if (entry.model, entry.config["mode"]) == (name, mode)]
        rows = ([f"{entry.result.score:.4f}", *(f"{entry.part(part):.3f}" for part in PARTS)] for entry in runs)
        counts[name] = max((sum(map(eq, row, cells.split(","))) for row in rows), default=0)
    return counts


def of_all(*left_out: str) -> str:
    counts = [n for name, n in equal_figures().items() if name not in left_out]
    return f"{sum(counts)} {4 * len(counts)}"


@figures(PAPER, "| row | row here | equal figures |")
def table_1_figures() -> Iterator[str]:
    counts = equal_figures()
    others = "system/ground-truth", "system/criteria", "pfnet/plamo-100b-base", SWALLOW[0], "google/gemini-1.5-pro-001"
    yield f"{len(counts.keys() - {*others, SWALLOW[1]})} {of_all(*others, SWALLOW[1])}"
    yield from (f"{counts[name]} 4" for name in others)
    n_rows = len(counts) - 1
    yield f"{n_rows} {of_all(SWALLOW[1])} {n_rows - 3} {of_all(SWALLOW[1], *NOT_IN_JAPANESE)}"


@figures(PAPER, "With Swallow under its other name")
def other_name_figures() -> Iterator[str]:
    yield f"{of_all(SWALLOW[0])} {of_all(SWALLOW[0], *NOT_IN_JAPANESE)}"


@figures(PAPER, "The Reference Answer Set has")
def reference_answers_figures() -> Iterator[str]:
    (entry,) = (e for e in published_entries(models=False, yardsticks=True) if e.model == "system/criteria")
    [printed] = (line.rpartition("|")[2].split(",")[1:] for line in TABLE_1.split() if line.startswith(entry.model))
    average = fmean(map(float, printed))
    yield f"{entry.result.score:.4f} {entry.part('average'):.4f} {average:.4f} {entry.result.num_trials:,}"


@figures(PAPER, "The paper reports correlations above")
def sets_of_the_paper_figures() -> Iterator[str]:
    by_set = published_by_set()
    (n_questions,) = numbers(by_set.questions)
    yield f"0.999 {n_questions}"
    for a, b in itertools.combinations(by_set.sets, 2):
        yield f"{np.corrcoef(by_set.scores[a], by_set.scores[b])[0, 1]:.5f}"


PARTS = ("fluency", "truthfulness", "helpfulness")


@figures("scoring.md", "Tables show fluency and truthfulness", published.needs_published_runs)
def float_sum_figures() -> Iterator[str]:
    def is_other(row: Row) -> bool:
        shares = [list(row["scores"][part].values()) for part in PARTS[:2]]
        return any(f"{add_up(share, 'naive'):.3f}" != f"{add_up(share):.3f}" for share in shares)

    yield f"{sum(map(is_other, published.results()))} {len(leaderboard().names)}"


def run_named(part: str) -> RunFolder:
    (result,) = (run for run in find_runs([published.FOLDER / "result"]) if part in str(run.folder))
    return result


@figures("scoring.md", "| run | profile | score |", *SLOW)
def profiles_figures() -> Iterator[str]:
    for name, profile in itertools.product(("system/ground-truth", "openai/gpt-4o/5e1e9f4"), ("leaderboard", "paper")):
        with tempfile.TemporaryDirectory() as folder:
            scorer = RunScorer(profile=profile, float_sum="naive", force=True, output=Path(folder))
            (outcome,) = scorer.score([run_named(name)])
        assert outcome.summary, outcome.error
        scores = outcome.summary.scores
        yield f"{outcome.summary.score:.4f}"
        yield from (f"{scores.total(part):.5f}" for part in PARTS)


@figures("what_the_score_sees.md", "Both profiles measure the same")
def agreement_figures() -> Iterator[str]:
    program = tool("normalised")
    pearson, kendall = program.agreement(program.read())
    yield f"{len(program.read())} {pearson:.4f} {kendall:.3f}"


@figures("footguns.md", "* **Values above 1 are normal.**", published.needs_published_runs)
def human_answers_figures() -> Iterator[str]:
    means = leaderboard().of_models(yardsticks=True).means
    yield f"1 1.0 {means['fluency'][0]:.5f} {means['score'][0]:.4f} 2 7 0 1"


@figures("what_the_score_sees.md", "The score is the mean of fluency")
def meaning_figures() -> Iterator[str]:
    scores = {entry.model: entry.result.score for entry in published_entries(yardsticks=True)}
    models = [entry.result.score for entry in published_entries()]
    yield " ".join(
        [
            "1 0.71 71 1",
            *(f"{scores[name]:.2f}" for name in ("system/ground-truth", "openai/gpt-4o", "openai/gpt-35-turbo")),
        ]
    )
    yield f"{len(models)} {median(models):.2f} 0.71 {1 + sum(score > 0.71 for score in models)}"


@cache
def simulated() -> dict[str, str]:
    """The shares that tools/simulation found, by what they are of."""
    text = (DOCS / "statistics_coverage.md").read_text(encoding="utf-8").partition("<!-- simulated -->")[2]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]
    return {line_cells[1]: line_cells[-1] for line_cells in cells}


@figures("statistics.md", "Pearson's intervals are reliable")
def correlations_figures() -> Iterator[str]:
    yield f"40 {100 * float(simulated()['Pearson, 40 values, columns with long tails']):.0f} 95"


@figures("statistics_coverage.md", "*Coverage* is the share of draws")
def draws_figures() -> Iterator[str]:
    yield "0.95"
    for place, n in enumerate((4_000, 500)):
        yield f"{1.96 * (0.95 * 0.05 / n) ** 0.5:.3f} {'' if place else 95} {n:,}"


@cache
def sampler_scores() -> dict[tuple[float, int], dict[str, float]]:
    """The scores of the n-gram engine, by temperature and order."""
    program, scorer = tool("ngram_scores"), Scorer(published.suite())
    points = itertools.product(program.TEMPERATURES, program.ORDERS)
    return {(t, order): program.score(scorer, order, t) for t, order in points}


@figures("ngram_engine.md", "| order | score |", *NIGHTLY)
def orders_figures() -> Iterator[str]:
    program = tool("ngram_scores")
    table = program.table(sampler_scores(), program.read_runs(published.FOLDER / "leaderboard.csv"))
    yield from numbers(" ".join(table))


@figures("ngram_engine.md", "* **The score therefore has a high floor.**", *NIGHTLY)
def floor_figures() -> Iterator[str]:
    models = leaderboard().of_models().means["score"]
    third, fifth = (sampler_scores()[point]["average"] for point in ((1.0, 3), (0.3, 5)))
    assert 0.64 < (models < third).mean() < 0.69
    yield f"3 1 {third:.2f} {len(models)} 5 0.3 {(models >= fifth).sum()}"
