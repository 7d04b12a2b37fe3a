"""The figures of docs/experiments.md, from published runs: the 17 with answers, and the results of all 522."""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
from makers import published
from pfgen_fast.lab.experiments.relations import relations
from pfgen_fast.lab.experiments.run_means import RunMeans, read_leaderboard
from pfgen_fast.lab.experiments.scored_runs import RunFigures, ScoredRuns, score_runs
from pfgen_fast.lab.experiments.sets import scores_by_set, sets
from pfgen_fast.lab.experiments.stability import stability
from pfgen_fast.lab.finding import Finding
from pfgen_fast.runs.result_tables import quick_questions

from .registry import figures

PARTS = ("truthfulness", "fluency", "helpfulness")
SLOW = (published.needs_published_runs, pytest.mark.slow)
NIGHTLY = (published.needs_published_runs, pytest.mark.nightly)
EXPERIMENTS = "experiments.md"
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
    """What the experiments find in pfgen-bench/result."""
    scored = score_runs([published.FOLDER / "result"])
    result = stability(scored), relations(scored)
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


def found_in(pattern: str, finding: Finding) -> Sequence[str]:
    """What the words of a finding say, by a pattern."""
    match = re.search(pattern, f"{finding.answer} {finding.paragraph}")
    assert match, (pattern, finding.paragraph)
    return match.groups()


def digits(*values: float, n: int = 3) -> str:
    return " ".join(f"{value:.{n}f}" for value in values)


@figures(EXPERIMENTS, "| 522 runs (`leaderboard.csv", *SLOW)
def parts_figures() -> Iterator[str]:
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


@figures(EXPERIMENTS, "| | Pearson over 522 runs (`leaderboard", *SLOW)
def correlations_figures() -> Iterator[str]:
    some = some_runs()
    yield f"522 {rows(some['relations'], 'correlations')[-1]['values']:,} {len(some['stability'].runs)}"
    for a, b in (*itertools.combinations(("fluency", "truthfulness", "helpfulness"), 2), ("fluency", "length")):
        pair = {"of": a, "with": b}
        yield f"{with_interval(row(all_runs()['relations'], 'correlations', **pair))}"
        yield f"{with_interval(row(some['relations'], 'correlations', over='answers', **pair), 'Spearman')}"


@figures(EXPERIMENTS, "Each run is scored with each reference set alone", *SLOW)
def sets_figures() -> Iterator[str]:
    kendall, change = found_in(r"Kendall ([\d.]+)\).*differ by ([\d.]+) at most", all_runs()["sets"])
    yield f"522 {digits(float(change), float(kendall))}"


def fewer(finding: Finding, what: str, n: int) -> str:
    """Kendall's correlation, and the share of close pairs that are swapped."""
    result = row(finding, "fewer", what=what, **{"how many": n})
    return f"{result['mean Kendall']:.3f} {100 * result['swapped close pairs']:.0f}"


@figures(EXPERIMENTS, "| Kendall (swapped close pairs) |", *SLOW)
def stability_figures() -> Iterator[str]:
    finding, computed = some_runs()["stability"], all_runs()["stability"]
    by_question = (
        f"{n} 50 {fewer(finding, 'questions', n)} {fewer(computed, 'questions', n)}" for n in (25, 20, 10, 5)
    )
    by_trials = (f"{n} 100 {fewer(finding, 'trials', n)}" for n in (50, 1))
    yield f"17 522 {' '.join((*by_question, *by_trials))}"


@figures(EXPERIMENTS, "13 of the 50 questions of pfgen-bench")
def quick_questions_figures() -> Iterator[str]:
    yield f"{len(quick_questions().questions)} 50"


@figures(EXPERIMENTS, "| | 13 questions | all 50 |")
def cost_figures() -> Iterator[str]:
    quick = quick_questions()
    widths = digits(quick.half_width, quick.half_width_of_all, n=4)
    yield f"{len(quick.questions)} 50 {quick.kendall:.3f} 1 {quick.score_difference:.4f} 0 95 {widths}"
    yield f"{quick.n_runs} {quick.rank_difference} 0"
