"""The figures of the other pages, from published runs, and from the simulation beside them."""

from __future__ import annotations

import csv
import itertools
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
from pfgen_fast import Scorer
from pfgen_fast.runs.precision import TrialScores
from pfgen_fast.runs.run_scorer import RunScorer
from pfgen_fast.runs.trials import RunFolder, find_runs
from pfgen_fast.suite.rules import add_up

from . import published
from .documented import DOCS, tool
from .figures import figures, numbers
from .figures_of_experiments import SLOW, Row, leaderboard

PARTS = ("fluency", "truthfulness", "helpfulness")


@figures("scoring.md", "Tables show fluency and truthfulness", published.needs_published_runs)
def of_the_float_sum() -> list[str]:
    def is_other(row: Row) -> bool:
        shares = [list(row["scores"][part].values()) for part in PARTS[:2]]
        return any(f"{add_up(each, 'naive'):.3f}" != f"{add_up(each):.3f}" for each in shares)

    rows_of_sets = list(published.results())
    return [f"{sum(map(is_other, rows_of_sets))}", f"{len(leaderboard().runs.names)}"]


def run_named(part: str) -> RunFolder:
    (found,) = (run for run in find_runs([published.FOLDER / "result"]) if part in str(run.folder))
    return found


@figures("scoring.md", "| run | profile | score |", *SLOW)
def of_the_profiles() -> list[str]:
    found = []
    for name, profile in itertools.product(("system/ground-truth", "openai/gpt-4o/5e1e9f4"), ("leaderboard", "paper")):
        with tempfile.TemporaryDirectory() as folder:
            scorer = RunScorer(profile=profile, float_sum="naive", force=True, output=Path(folder))
            (outcome,) = scorer.score([run_named(name)])
        assert outcome.summary, outcome.error
        scores = outcome.summary.scores
        found += [f"{outcome.summary.score:.4f}", *(f"{scores.total(part):.5f}" for part in PARTS)]
    return found


@figures("generation.md", "| published run | trials |", *SLOW)
def of_the_trials() -> list[str]:
    scorer, found = Scorer(published.suite()), ["0.02", "0.01", "0.005"]
    for part in ("claude-opus-4", "DeepSeek-V3", "plamo-100b", "Mistral-Large", "llm-jp-3-7.2b", "Mistral-7B"):
        trials = TrialScores.of(run_named(part), scorer)
        interval = trials.interval()
        needed = [f"{trials.trials_for(wanted)}" for wanted in (0.02, 0.01, 0.005)]
        found += [f"{trials.n_trials}", f"{interval.value:.3f}", f"{interval.half_width:.3f}", *needed]
    return found


@figures("footguns.md", "* **Values above 1 are normal.**", published.needs_published_runs)
def of_the_human_answers() -> list[str]:
    means = leaderboard().runs.chosen(leaderboard().runs.rows_of_systems()[:1]).means
    return ["1", "1.0", f"{means['fluency'][0]:.5f}", f"{means['score'][0]:.4f}", "2", "7", "0", "1"]


@figures("commands.md", "The first is the human row", published.needs_published_runs)
def of_the_yardsticks() -> list[str]:
    human, criteria = (leaderboard().runs.chosen([row]).means for row in leaderboard().runs.rows_of_systems())
    with (published.FOLDER / "leaderboard.csv").open(encoding="utf-8", newline="") as file:
        (recorded,) = (line for line in csv.DictReader(file) if line["model"] == "system/criteria")
    parts_of_it = [f"{criteria[part][0]:.3f}" for part in PARTS]
    n_answers = len(published.suite()) * int(recorded["num_trials"])
    scores = [f"{human['score'][0]:.4f}", recorded["score"], recorded["score_std"]]
    return [*scores, recorded["num_trials"], f"{n_answers:,}", *parts_of_it, recorded["length"]]


@cache
def simulated() -> dict[str, str]:
    """The shares that tests/simulate_statistics.py found, by what they are of."""
    text = (DOCS / "statistics.md").read_text(encoding="utf-8").partition("<!-- simulated -->")[2]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]
    return {of_line[0]: of_line[-1] for of_line in cells}


@figures("statistics.md", "Pearson's intervals hold from ten values on")
def of_correlations() -> list[str]:
    few = [
        float(simulated()[f"{name}, 10 values, of {of}"]) for name in ("Spearman", "Kendall") for of in (0, 0.5, 0.9)
    ]
    tails = float(simulated()["Pearson, 40 values, of columns with long tails"])
    alone = (f"Pearson, runs of {n} models, of 0.5, as if they were independent (not used)" for n in (12, 40))
    return [f"{max(few):.2f}", "40", f"{tails:.2f}", "40", *(f"{float(simulated()[name]):.2f}" for name in alone)]


@figures("statistics.md", "*Coverage* is the share of draws")
def of_draws() -> list[str]:
    known = ((n, 1.96 * (0.95 * 0.05 / n) ** 0.5) for n in (2_000, 1_000, 500))
    return ["0.95", *(text for n, half in known for text in (f"{n:,}", f"{half:.3f}"))]


@cache
def recorded_spreads() -> list[float]:
    """The recorded score_std of the runs of ten trials or more, in shares of that of independent trials."""
    found = []
    for run in published.runs():
        result = run.result()
        if result["num_trials"] >= 10:
            of_questions = [question["score_std"] ** 2 for question in result["questions"].values()]
            found.append(result["score_std"] * len(of_questions) / sum(of_questions) ** 0.5)
    return found


@figures("statistics.md", "`result.json` has `score_std`", published.needs_published_runs)
def of_the_spreads() -> list[str]:
    spreads = recorded_spreads()
    return [f"{len(spreads)}", *(f"{spread:.2f}" for spread in (min(spreads), max(spreads), np.median(spreads)))]


@cache
def of_the_sampler() -> dict[tuple[float, int], dict[str, float]]:
    """The scores of the n-gram engine, by temperature and order."""
    program, scorer = tool("ngram_scores"), Scorer(published.suite())
    points = itertools.product(program.TEMPERATURES, program.ORDERS)
    return {(t, order): program.score(scorer, order, t) for t, order in points}


@figures("ngram_engine.md", "| order | score |", *SLOW)
def of_the_orders() -> list[str]:
    program = tool("ngram_scores")
    head, *lines = program.table(of_the_sampler(), program.read_runs(published.FOLDER / "leaderboard.csv"))
    return numbers(" ".join([head, *lines]))


@figures("ngram_engine.md", "* **The score therefore has a high floor.**", *SLOW)
def of_the_floor() -> list[str]:
    models = leaderboard().runs.chosen(leaderboard().runs.rows_of_models()).means["score"]
    third, fifth = (of_the_sampler()[point]["average"] for point in ((1.0, 3), (0.3, 5)))
    assert 0.64 < (models < third).mean() < 0.69
    return ["3", "1", f"{third:.2f}", f"{len(models)}", "5", "0.3", f"{(models >= fifth).sum()}", "0.6"]
