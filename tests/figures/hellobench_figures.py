"""The figures of docs/papers/hellobench.md, which follow from the published judgements."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from makers.published import HELLOBENCH, hellobench_table, needs_hellobench
from pfgen_fast.lab.checklists.checklist_runs import Run, open_runs
from pfgen_fast.lab.checklists.checklist_scoring import ChecklistScores, ModelScores, score_judged_runs
from pfgen_fast.lab.checklists.error_modes import PUBLISHED_PHRASES, ErrorRules, ModelErrors, errors_of, model_errors
from pfgen_fast.lab.checklists.hellobench import import_suite
from pfgen_fast.lab.checklists.wins import JUDGE, by_scores, win_rates
from pfgen_fast.lab.statistics.correlation import kendall
from pfgen_fast.lab.words import length_table

from .registry import figures

PAGE = "papers/hellobench.md"
SLOW = (needs_hellobench, pytest.mark.slow)
NIGHTLY = (needs_hellobench, pytest.mark.nightly)


@cache
def suite() -> Any:
    return import_suite(HELLOBENCH)


@cache
def scores() -> ChecklistScores:
    return score_judged_runs(suite(), open_runs(sorted((HELLOBENCH / "judgements").iterdir())))


@cache
def cells() -> list[dict[str, str]]:
    """The published tables, beside the figures from the judgements."""
    return hellobench_table("main_table.csv")


def model(name: str) -> ModelScores:
    return next(item for item in scores().models if item.model == name)


@figures(PAGE, "*HelloBench: Evaluating", *SLOW)
def data_figures() -> Iterator[str]:
    n_tasks = sum(task.length is None for task in suite().tasks)
    yield f"2409.16191 {n_tasks} {len(suite().checklists)}"


@figures(PAGE, "The verdicts of a judge", *SLOW)
def models_figures() -> Iterator[str]:
    yield f"2024 {len({cell['key'] for cell in cells()})} {len(scores().models)}"


@figures(PAGE, "| area | in the paper | here |", *SLOW)
def instructions_figures() -> Iterator[str]:
    instructions: dict[str, list[str]] = {}
    for task in suite().tasks:
        if task.is_whole and task.length is None:
            instructions.setdefault(task.area, []).append(task.instruction)
    ours = {row[0]: row[1:] for row in length_table(instructions, "regex").rows}
    for row in hellobench_table("paper/instruction_words.csv"):
        if row["task"] in ours:
            _, _, mean, _, least, most = ours[row["task"]]
            yield f"{row['mean']} {int(row['min']):,} {int(row['max']):,} {mean:.1f} {least:,} {most:,}"


@figures(PAGE, "| table of the paper |", *SLOW)
def tables_figures() -> Iterator[str]:
    for number, name in ((2, "main (2)"), (3, "length (3)"), (23, "long context (23)")):
        yield f"{number}"
        rows = [cell for cell in cells() if cell["table"] == name]
        here = [cell for cell in rows if cell["score_recomputed"]]
        yield from (f"{len({cell['key'] for cell in part})}" for part in (here, rows))
        for what in ("score", "words"):
            yield f"{sum(cell[f'{what}_equal'] == 'yes' for cell in here)} {len(here)}"


@figures(PAGE, "* **Intervals.**", *SLOW)
def intervals_figures() -> Iterator[str]:
    yield "95"
    for name in ("gpt4o_0806", "mistral_large_api", "o1_mini"):
        average = model(name).average
        yield f"{average.rescaled:.2f} {average.interval[0]:.1f} {average.interval[1]:.1f}"
    ranks = [item.ranks for item in scores().models]
    assert ranks[:3] == [(1, 3)] * 3
    yield f"1 {sum(first < last for first, last in ranks)} {len(ranks)}"


@figures(PAGE, "* **Missing answers improve scores.**", *SLOW)
def missing_answers_figures() -> Iterator[str]:
    average = model("neo_7b_v01").average
    n_missing = sum(len(part.gaps["missing"]) for part in model("neo_7b_v01").areas.values())
    yield f"{n_missing} 647 {average.rescaled:.2f} {average.rescaled_missing_as_zero:.2f}"
    averages = [item.average.rescaled_missing_as_zero for item in scores().models]
    assert averages == sorted(averages, reverse=True)


PEOPLE_WIN = "paper/win_rates_against_gpt4o_0806.csv"


@figures(PAGE, "| model | wins according to the public verdicts |", *NIGHTLY)
def win_rates_figures() -> Iterator[str]:
    rates = {row.model: row.rate for row in win_rates(JUDGE, by_scores(scores()), reference="gpt4o_0806")}
    for row in hellobench_table(PEOPLE_WIN):
        if row["model"] in rates:
            rate = rates[row["model"]]
            yield f"{rate.value:.1f} {rate.low:.1f} {rate.high:.1f}"
        yield f"{float(row['win_rate_percent']):.1f}"


@figures(PAGE, "* **The weights change scores", *SLOW)
def weights_figures() -> Iterator[str]:
    runs = open_runs(sorted((HELLOBENCH / "judgements").iterdir()))
    equal = {item.model: item.average.rescaled for item in score_judged_runs(suite(), runs, weights="equal").models}
    usual = np.array([item.average.rescaled for item in scores().models])
    plain = np.array([equal[item.model] for item in scores().models])
    tau = kendall(usual.round(9), plain.round(9))
    yield f"{(plain - usual).min():.1f} {(plain - usual).max():.1f} {tau:.3f}"


@figures(PAGE, "For GPT-4o-2024-08-06, the published mean", *NIGHTLY)
def lengths_figures() -> Iterator[str]:
    short, long = model("gpt4o_0806").lengths["2k"], model("gpt4o_0806").lengths["16k"]
    yield f"{short.length.mean_absolute_length_error:,.1f} {long.length.mean_absolute_length_error:,.1f}"


def errors(name: str) -> ModelErrors:
    rules = ErrorRules(suite(), "published")
    paths = [HELLOBENCH / part / f"{name}.jsonl.xz" for part in ("generations", "judgements")]
    return model_errors(name, errors_of(Run(name, HELLOBENCH, *paths), rules), rules)


@figures(PAGE, "| published | by the paper's rule |", *NIGHTLY)
def errors_figures() -> Iterator[str]:
    by_length = {row["length"]: row for row in hellobench_table("paper/error_modes.csv") if row["mode"] == "rejection"}
    for length in ("2k", "16k"):
        part, printed = errors("yi_large").lengths[length], by_length[length]
        first, whole = (part.phrases[phrase].percent for phrase in PUBLISHED_PHRASES)
        assert first == part.shares["rejection"].percent
        longer = re.search(r"longer phrase[^;]*? gives ([\d.]+)", printed["rule that gives it"])
        assert whole == pytest.approx(float(longer[1]), abs=0.005)
        yield f"{printed['paper']} {first:.1f} {whole:.1f}"
    repeated = errors("suri_7b").areas["heuristic_text_generation"].shares["repetition"]
    yield f"43.1 {repeated.percent:.1f} {repeated.count} {repeated.n}"
