"""The figures of docs/experiments.md, from published runs: the 17 with answers, and the results of all 522."""

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
from makers import published
from pfgen_fast.lab.experiments.aligned_verdicts import values_of_runs
from pfgen_fast.lab.experiments.metric_agreement import agreement
from pfgen_fast.lab.experiments.relations import relations
from pfgen_fast.lab.experiments.run_means import RunMeans, read_leaderboard
from pfgen_fast.lab.experiments.scored_runs import RunFigures, ScoredRuns, score_runs
from pfgen_fast.lab.experiments.sets import scores_by_set, sets
from pfgen_fast.lab.experiments.stability import stability
from pfgen_fast.lab.experiments.verdict_tables import Verdicts
from pfgen_fast.lab.finding import Finding
from pfgen_fast.runs.result_tables import quick_questions

from .registry import Compute, figures

PARTS = ("truthfulness", "fluency", "helpfulness")
SLOW = (published.needs_published_runs, pytest.mark.slow)
NIGHTLY = (published.needs_published_runs, pytest.mark.nightly)
EXPERIMENTS, PAIRS = "experiments.md", (("P", "S"), ("P", "T"), ("S", "T"))
Row = Mapping[str, Any]


@cache
def leaderboard() -> RunMeans:
    return read_leaderboard(published.FOLDER / "leaderboard.csv")


@cache
def results() -> RunFigures:
    """All 522 published runs, from their result.json."""
    rows, questions = published.results(), [question.question_id for question in published.suite()]
    scores = [[row["questions"][question]["scores"] for question in questions] for row in rows]

    def means_of(part: str) -> Any:
        values = [[item[part] for item in run_scores] for run_scores in scores]
        return np.array([[sum(v.values()) if isinstance(v, dict) else v for v in run_scores] for run_scores in values])

    def in_set(part: str, name: str) -> Any:
        return np.array(
            [[item[part].get(name, np.nan) * len(item[part]) for item in run_scores] for run_scores in scores]
        )

    by_question = {"score": means_of("average"), **{part: means_of(part) for part in PARTS}}
    means = {metric: values.mean(axis=1) for metric, values in by_question.items()}
    return RunFigures(
        suite=published.suite(),
        names=tuple(row["run"] for row in rows),
        models=tuple(row["config"]["model"] for row in rows),
        means={**means, "length": np.array([row["length"] for row in rows])},
        question_scores=by_question,
        set_scores={part: {name: in_set(part, name) for name in published.suite().set_names} for part in PARTS[:2]},
    )


@cache
def some_runs() -> dict[str, Finding]:
    """What the experiments find in pfgen-bench/result, and `agreement` with the best published scores."""
    best = leaderboard().one_per_model("best")
    scores = dict(zip(best.models, best.means["score"].tolist(), strict=True))
    scored = score_runs([published.FOLDER / "result"])
    outside = agreement(values_of_runs(scored), [Verdicts("best", scores)])
    result = stability(scored), relations(scored), sets(scores_by_set(scored)), outside
    return {finding.name: finding for finding in result}


@cache
def all_runs() -> dict[str, Finding]:
    """What the experiments find in the results of all published runs, as far as no answers are needed."""
    figures_of_all = results()
    n_runs, n_questions = figures_of_all.question_scores["score"].shape
    one_answer_each = ScoredRuns(
        **vars(figures_of_all),
        run_numbers=np.repeat(np.arange(n_runs), n_questions),
        question_numbers=np.tile(np.arange(n_questions), n_runs),
        answer_scores={name: values.ravel() for name, values in figures_of_all.question_scores.items()},
    )
    return {
        "relations": relations(leaderboard()),
        "sets": sets(scores_by_set(results())),
        "stability": stability(one_answer_each),
    }


def rows(finding: Finding, name: str) -> list[Row]:
    """The rows of a table of a finding."""
    return next(table for table in finding.tables if table.name == name).to_dicts()


def row(finding: Finding, name: str, **cells: Any) -> Row:
    """The row with these cells."""
    (result,) = (item for item in rows(finding, name) if cells.items() <= item.items())
    return result


def with_interval(result: Row, name: str = "Pearson", digits: int = 3) -> str:
    return " ".join(f"{result[column]:.{digits}f}" for column in (name, f"{name} low", f"{name} high"))


def pair_of_sets(finding: Finding, pair: tuple[str, str]) -> str:
    return with_interval(row(finding, "pairs", set=pair[0], **{"and": pair[1]}), digits=5)


def found_in(pattern: str, finding: Finding) -> Sequence[str]:
    """What the words of a finding say, by a pattern."""
    match = re.search(pattern, f"{finding.answer} {finding.paragraph}")
    assert match, (pattern, finding.paragraph)
    return match.groups()


def blocks_at(*begins: str) -> Callable[[Compute], Compute]:
    """Registers a function that yields the numbers of several blocks of the page, a text for each block."""

    def register(compute: Compute) -> Compute:
        computed = cache(lambda: dict(zip(begins, compute(), strict=True)))
        for begin in begins:
            figures(EXPERIMENTS, begin, *SLOW)(lambda begin=begin: [computed()[begin]])
        return compute

    return register


def digits(*values: float, n: int = 3) -> str:
    return " ".join(f"{value:.{n}f}" for value in values)


@blocks_at("The published leaderboard (commit")
def data_figures() -> Iterator[str]:
    models = {model for model in leaderboard().models if not model.startswith("system/")}
    n_answers = sum(row["values"] for row in rows(some_runs()["relations"], "correlations")[-1:])
    n_runs = len(some_runs()["stability"].runs)
    yield f"9 2025 {len(published.results())} {len(models)} 522 {n_runs} {n_runs - 1} {n_answers:,}"


@blocks_at(
    "| 522 runs (`leaderboard.csv",
    "Truthfulness is above fluency",
    "| | Pearson over 522 runs (`leaderboard",
    "The 522 runs are of",
)
def relations_figures() -> Iterator[str]:
    part_rows = {item["part"]: item for item in rows(all_runs()["relations"], "parts")}
    columns = (
        "mean",
        "first quartile",
        "median",
        "third quartile",
        "best run",
        "system/ground-truth",
        "system/criteria",
    )
    yield "522 " + " ".join(digits(*(part_rows[part][name] for name in columns)) for part in (*PARTS, "score"))
    in_order = found_in(r"(\d+) of 522 runs have truthfulness > fluency > helpfulness", all_runs()["relations"])[0]
    yield f"{in_order} 522 1 {digits(part_rows['score']['system/ground-truth'], part_rows['score']['best run'])}"
    result = "522 16 57,100"
    for a, b in (*itertools.combinations(("fluency", "truthfulness", "helpfulness"), 2), ("fluency", "length")):
        pair = {"of": a, "with": b}
        result += f" {with_interval(row(all_runs()['relations'], 'correlations', **pair))}"
        result += f" {with_interval(row(some_runs()['relations'], 'correlations', over='runs', **pair))}"
        result += f" {with_interval(row(some_runs()['relations'], 'correlations', over='answers', **pair), 'Spearman')}"
    yield result
    runs = leaderboard()
    by = {name: row(relations(runs, cluster=name), "correlations", **pair) for name in ("none", "organisation")}
    best = row(relations(runs.one_per_model("best")), "correlations", **pair)
    intervals = " ".join(with_interval(outcome).partition(" ")[2] for outcome in by.values())
    n = f"{by['none']['values']} {best['clusters']} {by['organisation']['clusters']}"
    yield f"{n} {intervals} {with_interval(best)}"


@blocks_at("| | 522 runs, the 37 questions", "With one set instead of another")
def sets_figures() -> Iterator[str]:
    findings = all_runs()["sets"], some_runs()["sets"]
    yield "522 37 16 37 " + " ".join(pair_of_sets(finding, pair) for pair in PAIRS for finding in findings)
    listed = [
        found_in(r"Kendall ([\d.]+)\).*differ by ([\d.]+) at most", part["sets"]) for part in (all_runs(), some_runs())
    ]
    (kendall, change), (kendall_16, change_16) = ([f"{float(text):.3f}" for text in texts] for texts in listed)
    yield f"522 {change} 16 {change_16} {kendall} {kendall_16}"


def fewer(finding: Finding, what: str, n: int) -> str:
    """Kendall's correlation, and the share of close pairs that are swapped."""
    result = row(finding, "fewer", what=what, **{"how many": n})
    return f"{result['mean Kendall']:.3f} {100 * result['swapped close pairs']:.0f}"


def close_pairs(finding: Finding) -> Sequence[str]:
    return found_in(r"Of ([\d,]+) pairs of runs, ([\d,]+) are close: their scores differ by at most ([\d.]+),", finding)


@blocks_at("`pfgen-fast experiment stability pfgen-bench/result -o DIR` on", "| Kendall (swapped close pairs) |")
def stability_figures() -> Iterator[str]:
    finding, computed = some_runs()["stability"], all_runs()["stability"]
    n_pairs, n_close, within = close_pairs(finding)
    n, moved, still = found_in(
        r"of the (\d+) questions, no run moves by more than (\d+) rank.*?(\d+) of 17 runs never", finding
    )
    assert moved == "1"
    text = f"17 {n} {still} {n_close} {n_pairs} {within}"
    n_pairs, n_close, within = close_pairs(computed)
    moved, still = found_in(r"no run moves by more than (\d+) ranks. (\d+) of 522 runs never", computed)
    yield f"{text} 522 {n_close} {n_pairs} {within} {moved} {still}"
    by_question = (
        f"{n} 50 {fewer(finding, 'questions', n)} {fewer(computed, 'questions', n)}" for n in (25, 20, 10, 5)
    )
    by_trials = (f"{n} 100 {fewer(finding, 'trials', n)}" for n in (50, 1))
    yield f"17 522 {' '.join((*by_question, *by_trials))}"


@blocks_at("With the best published score of each")
def agreement_figures() -> Iterator[str]:
    n_models = len(leaderboard().of_models().one_per_model("best").models)
    yield f"{n_models} 16 {with_interval(row(some_runs()['agreement'], 'metrics', metric='score', prompts='all'))}"


@figures(EXPERIMENTS, "13 of the 50 questions of pfgen-bench")
def quick_questions_figures() -> Iterator[str]:
    yield f"{len(quick_questions().questions)} 50"


@figures(EXPERIMENTS, "| | 13 questions | all 50 |")
def cost_figures() -> Iterator[str]:
    quick = quick_questions()
    widths = digits(quick.half_width, quick.half_width_of_all, n=4)
    yield f"{len(quick.questions)} 50 {quick.kendall:.3f} 1 {quick.score_difference:.4f} 0 95 {widths}"
    yield f"{quick.n_runs} {quick.rank_difference} 0"
