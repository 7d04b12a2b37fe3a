"""`python tools/ngram_scores.py`: scores of the n-gram engine on the published suite, next to the published runs.

Prints the table of docs/ngram_engine.md and draws its plot. Needs matplotlib, and a checkout with `leaderboard.csv`.
"""

from __future__ import annotations

import csv
import os
import statistics
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pfgen_fast import NgramSampler, Scorer, Suite
from pfgen_fast.report.drawing import look, stored, style

PICTURE = Path(__file__).resolve().parent.parent / "docs" / "pictures" / "ngram_scores.svg"
METRICS = ("average", "fluency", "truthfulness", "helpfulness")
TRIALS = 100
WHOLE = 1000
"""An order longer than any answer, which reproduces reference answers unchanged."""
ORDERS = (*range(1, 11), WHOLE)
TEMPERATURES = (0.0, 0.3, 0.7, 1.0, 1.3)

Scores = dict[str, float]
"""Scores by metric."""


def main() -> int:
    """Scores every order at every temperature; returns 1 without the published suite."""
    checkout = Path(os.environ.get("PFGEN_BENCH", "../shared/pfgen-bench"))
    recorded = checkout / "leaderboard.csv"
    if not recorded.is_file():
        print(f"no {recorded}: set PFGEN_BENCH to a pfgen-bench checkout that has it", file=sys.stderr)
        return 1
    scorer = Scorer(Suite.load(checkout / "data"))
    scores = {(t, order): score(scorer, order, t) for t in TEMPERATURES for order in ORDERS}
    runs = read_runs(recorded)
    print("\n".join(table(scores, runs)))
    PICTURE.parent.mkdir(exist_ok=True)
    with style():
        PICTURE.write_bytes(stored(draw(scores, runs), "svg"))
    return 0


def score(scorer: Scorer, order: int, temperature: float) -> Scores:
    """The mean scores over all questions and trials; only the length of answers is limited."""
    sampler = NgramSampler(scorer.suite, order=order, temperature=temperature)
    questions, answers = [], []
    for question in scorer.suite:
        answers += sampler.sample(question.question_id, range(TRIALS))
        questions += [question.question_id] * TRIALS
    scored = scorer.score(questions, answers)
    return {metric: float(np.mean(scored[metric])) for metric in METRICS}


def read_runs(recorded: Path) -> dict[str, Scores]:
    """The published runs to compare with: the human answers, the best model, and the median of all models."""
    with recorded.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    model_scores = [_scores_of(row) for row in rows if not row["model"].startswith("system/")]
    human = next(_scores_of(row) for row in rows if row["model"] == "system/ground-truth")
    middle = {metric: statistics.median(scores[metric] for scores in model_scores) for metric in METRICS}
    return {
        "human answers": human,
        "best published run": max(model_scores, key=lambda scores: scores["average"]),
        f"median of {len(model_scores)} published runs": middle,
    }


def _scores_of(row: Mapping[str, str]) -> Scores:
    summed = {
        metric: sum(float(value) for name, value in row.items() if name.startswith(f"{metric}_") and value)
        for metric in ("fluency", "truthfulness")
    }
    return {"average": float(row["score"]), **summed, "helpfulness": float(row["helpfulness"])}


def table(scores: Mapping[tuple[float, int], Scores], runs: Mapping[str, Scores]) -> list[str]:
    """A table of all metrics at temperature 1, the score at other temperatures, and the published runs."""
    others = [t for t in TEMPERATURES if t != 1]
    lines = [
        f"| order | score | {' | '.join(METRICS[1:])} | {' | '.join(f'score at {t:g}' for t in others)} |",
        f"| --- |{' ---: |' * (len(METRICS) + len(others))}",
    ]
    for order in ORDERS:
        values = [scores[1, order][metric] for metric in METRICS] + [scores[t, order]["average"] for t in others]
        lines.append(f"| {_name_of(order)} | {' | '.join(f'{value:.3f}' for value in values)} |")
    for name, run_scores in runs.items():
        values = [run_scores[metric] for metric in METRICS]
        lines.append(f"| {name} | {' | '.join(f'{value:.3f}' for value in values)} |{' |' * len(others)}")
    return lines


def draw(scores: Mapping[tuple[float, int], Scores], runs: Mapping[str, Scores]) -> Figure:
    """Draws a panel for each metric, with a line for each temperature."""
    figure = Figure(figsize=(9, 6.5), layout="constrained")
    panels = list(figure.subplots(2, 2, sharex=True).flat)
    for axes, metric in zip(panels, METRICS, strict=True):
        _draw_metric(axes, metric, scores, runs)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    return figure


def _draw_metric(
    axes: Axes, metric: str, scores: Mapping[tuple[float, int], Scores], runs: Mapping[str, Scores]
) -> None:
    ticks = range(1, len(ORDERS) + 1)
    for number, t in enumerate(TEMPERATURES):
        by_order = [scores[t, order][metric] for order in ORDERS]
        axes.plot(ticks, by_order, **look(number), label=f"temperature {t:g}")
    for (name, run_scores), line_style in zip(runs.items(), ("-", "--", ":"), strict=True):
        axes.axhline(run_scores[metric], color="crimson", linestyle=line_style, linewidth=1.2, label=name)
    axes.set_title("score (mean of the three)" if metric == "average" else metric)
    axes.set_xticks(ticks, list(map(_name_of, ORDERS)))
    if metric in METRICS[2:]:
        axes.set_xlabel("order of the n-grams")


def _name_of(order: int) -> str:
    return "whole" if order == WHOLE else str(order)


if __name__ == "__main__":
    sys.exit(main())
