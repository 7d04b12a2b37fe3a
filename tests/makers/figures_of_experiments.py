"""The figures of docs/experiments.md, from published runs: the 17 with answers, and the results of all 522."""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pfgen_fast.experiments import Finding, RunFigures, ScoredRuns
from pfgen_fast.experiments.external import OutsideScores
from pfgen_fast.experiments.leaderboard_table import LeaderboardTable, read_leaderboard
from pfgen_fast.experiments.parts import parts
from pfgen_fast.experiments.relations import relations
from pfgen_fast.experiments.sensitivity import SET_WEIGHTS, Variation, weighted_scores
from pfgen_fast.experiments.sets import scores_by_set, scores_in_table, sets
from pfgen_fast.experiments.significance import significance
from pfgen_fast.experiments.stability import stability
from pfgen_fast.experiments.together import Experiments

from . import published
from .figures import figures

PARTS = ("truthfulness", "fluency", "helpfulness")
SLOW = (published.needs_published_runs, pytest.mark.slow)
EXPERIMENTS, PAIRS = "experiments.md", (("P", "S"), ("P", "T"), ("S", "T"))
Row = Mapping[str, Any]


@cache
def leaderboard() -> LeaderboardTable:
    return read_leaderboard(published.FOLDER / "leaderboard.csv")


@cache
def results() -> RunFigures:
    """All 522 published runs, from their result.json."""
    rows, questions = published.results(), [question.question_id for question in published.suite()]
    scores = [[row["questions"][question]["scores"] for question in questions] for row in rows]

    def of(part: str) -> Any:
        values = [[each[part] for each in of_run] for of_run in scores]
        return np.array([[sum(v.values()) if isinstance(v, dict) else v for v in of_run] for of_run in values])

    def in_set(part: str, name: str) -> Any:
        return np.array([[each[part].get(name, np.nan) * len(each[part]) for each in of_run] for of_run in scores])

    of_questions = {"score": of("average"), **{part: of(part) for part in PARTS}}
    means = {metric: values.mean(axis=1) for metric, values in of_questions.items()}
    return RunFigures(
        suite=published.suite(),
        names=tuple(row["run"] for row in rows),
        models=tuple(row["config"]["model"] for row in rows),
        means={**means, "length": np.array([row["length"] for row in rows])},
        scores=np.array([row["score"] for row in rows]),
        question_scores=of_questions,
        set_scores={part: {name: in_set(part, name) for name in published.suite().set_names} for part in PARTS[:2]},
    )


@cache
def of_17() -> dict[str, Finding]:
    """What `pfgen-fast experiment all pfgen-bench/result` finds, and `external` with the best published scores."""
    best = leaderboard().runs.one_per_model("best")
    scores = dict(zip(best.models, best.means["score"].tolist(), strict=True))
    outside = OutsideScores(Path("best.csv"), {"score": scores}, best.models)
    everything = Experiments([published.FOLDER / "result"], [outside])
    found = {finding.name: finding for finding in everything.findings()}
    assert not everything.problems
    return found


@cache
def of_522() -> dict[str, Finding]:
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
        "parts": parts(leaderboard().runs),
        "relations": relations(leaderboard().runs),
        "sets": sets(scores_by_set(results())),
        "sets of the table": sets(scores_in_table(leaderboard(), published.suite())),
        "significance": significance(results()),
        "stability": stability(one_answer_each),
    }


def rows(finding: Finding, name: str) -> list[Row]:
    """The rows of a table of a finding."""
    return next(table for table in finding.tables if table.name == name).to_dicts()


def row(finding: Finding, name: str, **cells: Any) -> Row:
    """The row with these cells."""
    (found,) = (each for each in rows(finding, name) if cells.items() <= each.items())
    return found


def with_interval(found: Row, name: str = "Pearson", digits: int = 3) -> str:
    return " ".join(f"{found[column]:.{digits}f}" for column in (name, f"{name} low", f"{name} high"))


def pair_of_sets(finding: Finding, pair: tuple[str, str]) -> str:
    return with_interval(row(finding, "pairs", set=pair[0], **{"and": pair[1]}), digits=5)


def found_in(pattern: str, finding: Finding) -> Sequence[str]:
    """What the words of a finding say, by a pattern."""
    found = re.search(pattern, f"{finding.answer} {finding.paragraph}")
    assert found, (pattern, finding.paragraph)
    return found.groups()


@figures(EXPERIMENTS, "The published leaderboard (commit", *SLOW)
def of_the_data() -> Iterator[str]:
    models = {model for model in leaderboard().runs.models if not model.startswith("system/")}
    n_answers = sum(row["values"] for row in rows(of_17()["relations"], "correlations")[-1:])
    n_runs = len(of_17()["significance"].runs)
    yield f"9 2025 {len(published.results())} {len(models)} 522 {n_runs} {n_runs - 1} {n_answers:,}"


@figures(EXPERIMENTS, "| claim | result | data |", *SLOW)
def of_the_claims() -> Iterator[str]:
    assert min(float(pair_of_sets(of_522()["sets"], pair).split()[0]) for pair in PAIRS) >= 0.999
    kept, n_variations = found_in(r"In (\d+) of (\d+) variations", of_17()["sensitivity"])
    yield f"0.999 37 522 0.9896 0.7 53 53 49 2026 516 {kept} {n_variations} 17"  # of the paper: 0.9896 and 0.7


@figures(EXPERIMENTS, "| | mean | quartiles", *SLOW)
def of_the_parts() -> Iterator[str]:
    finding = of_522()["parts"]
    for part in (*PARTS, "score"):
        if part != "score":
            means = row(finding, "difficulty", part=part)
            yield from (f"{means[name]:.3f}" for name in ("mean", "first quartile", "median", "third quartile"))
        ceiling = row(finding, "ceiling", part=part)
        yield from (f"{ceiling[name]:.3f}" for name in ("it reaches", "system/ground-truth", "system/criteria"))


@figures(EXPERIMENTS, "Truthfulness is above fluency", *SLOW)
def of_the_order() -> Iterator[str]:
    order = row(of_522()["parts"], "orders", order="truthfulness > fluency > helpfulness")
    ceiling = row(of_522()["parts"], "ceiling", part="score")
    with (published.FOLDER / "leaderboard.csv").open(encoding="utf-8", newline="") as file:
        (criteria,) = (line for line in csv.DictReader(file) if line["model"] == "system/criteria")
    yield f"{order['runs']} 522 1 {ceiling['system/ground-truth']:.3f} {ceiling['it reaches']:.3f}"
    yield f"{float(criteria['average']):.3f} {float(criteria['score']):.3f} {int(criteria['num_trials']):,} 6"


@figures(EXPERIMENTS, "| helpfulness above | runs |", *SLOW)
def of_the_rise() -> Iterator[str]:
    (table,) = (table for table in of_522()["parts"].tables if table.name == "rise")
    for level, runs, *pairs in table.rows:
        yield f"{level} {runs}"
        yield from (f"{value:.2f} {misplaced}" for value, misplaced in zip(pairs[::2], pairs[1::2], strict=True))


@figures(EXPERIMENTS, "Below a fluency of", *SLOW)
def of_the_first_rise() -> Iterator[str]:
    yield f"{row(of_522()['parts'], 'rise', **{'helpfulness above': '0.01'})['from fluency']:.2f}"


@figures(EXPERIMENTS, "| | Pearson over 522 runs", *SLOW)
def of_the_relations() -> Iterator[str]:
    yield "522 16 57,100"
    for a, b in (*itertools.combinations(("fluency", "truthfulness", "helpfulness"), 2), ("fluency", "length")):
        of_pair = {"of": a, "with": b}
        yield with_interval(row(of_522()["relations"], "correlations", **of_pair))
        yield with_interval(row(of_17()["relations"], "correlations", over="runs", **of_pair))
        yield with_interval(row(of_17()["relations"], "correlations", over="answers", **of_pair), "Spearman")


@figures(EXPERIMENTS, "The 522 runs are of", *SLOW)
def of_the_clusters() -> Iterator[str]:
    runs = leaderboard().runs
    of_pair = {"of": "fluency", "with": "length"}
    by = {name: row(relations(runs, cluster=name), "correlations", **of_pair) for name in ("none", "organisation")}
    best = row(relations(runs.one_per_model("best")), "correlations", **of_pair)
    yield f"{by['none']['values']} {best['clusters']} {by['organisation']['clusters']}"
    yield from (with_interval(found).partition(" ")[2] for found in by.values())
    yield with_interval(best)


@figures(EXPERIMENTS, "| | 522 runs, each set over", *SLOW)
def of_the_sets() -> Iterator[str]:
    yield "522 522 37 16 37"
    findings = of_522()["sets of the table"], of_522()["sets"], of_17()["sets"]
    yield from (pair_of_sets(finding, pair) for pair in PAIRS for finding in findings)


@figures(EXPERIMENTS, "With one set instead of another", *SLOW)
def of_another_set() -> Iterator[str]:
    found = [found_in(r"Kendall ([\d.]+)\).*differ by ([\d.]+) at most", of["sets"]) for of in (of_522(), of_17())]
    (kendall, change), (kendall_16, change_16) = ([f"{float(text):.3f}" for text in texts] for texts in found)
    yield f"522 {change} 16 {change_16} {kendall} {kendall_16}"


def fewer(finding: Finding, what: str, n: int) -> tuple[str, str, str]:
    """Kendall's correlation, the share of close pairs that are swapped, and the shift of the scores."""
    found = row(finding, "fewer", what=what, **{"how many": n})
    shift = f"{found['shift of scores']:.3f}" if abs(found["shift of scores"]) > 0.0005 else "0"
    return f"{found['mean Kendall']:.3f}", f"{100 * found['swapped close pairs']:.0f}", shift


def close_pairs(finding: Finding) -> Sequence[str]:
    return found_in(r"Of ([\d,]+) pairs of runs, ([\d,]+) are close: their scores differ by at most ([\d.]+),", finding)


@figures(EXPERIMENTS, "`pfgen-fast experiment stability pfgen-bench/result -o DIR` on", *SLOW)
def of_left_out_questions() -> Iterator[str]:
    finding = of_17()["stability"]
    n_pairs, n_close, within = close_pairs(finding)
    n, moved, still = found_in(
        r"of the (\d+) questions, no run moves by more than (\d+) rank.*?(\d+) of 17 runs never", finding
    )
    assert moved == "1"
    yield f"17 {n} {still} {n_close} {n_pairs} {within}"


@figures(EXPERIMENTS, "| | Kendall | swapped close pairs | shift of scores |", *SLOW)
def of_fewer() -> Iterator[str]:
    of_each = {
        "reference answers per set": ("1,000", (500, 5)),
        "questions": ("50", (25, 20)),
        "trials": ("100", (50, 1)),
    }
    for what, (n_all, numbers) in of_each.items():
        for n in numbers:
            yield f"{n} {n_all} 0.95" if (what, n) == ("questions", 20) else f"{n} {n_all}"
            yield from fewer(of_17()["stability"], what, n)
    assert "20 of 50 questions" in of_17()["stability"].answer


@figures(EXPERIMENTS, "The questions alone, on all 522 runs", *SLOW)
def of_left_out_questions_of_all() -> Iterator[str]:
    finding = of_522()["stability"]
    n_pairs, n_close, within = close_pairs(finding)
    moved, still = found_in(r"no run moves by more than (\d+) ranks. (\d+) of 522 runs never", finding)
    assert "but not with 25 of 50 questions" in finding.answer or "do not rank the runs alike" in finding.answer
    yield f"522 {n_close} {n_pairs} {within} {moved} {still}"


@figures(EXPERIMENTS, "| | Kendall | swapped close pairs | | --- | --- | --- |", *SLOW)
def of_fewer_questions_of_all() -> Iterator[str]:
    for n in (25, 20, 10, 5):
        kendall, swapped, _ = fewer(of_522()["stability"], "questions", n)
        yield f"{n} 50 {kendall} {swapped}"


@figures(EXPERIMENTS, "`pfgen-fast experiment significance pfgen-bench/result -o DIR`: of", *SLOW)
def of_significance() -> Iterator[str]:
    pattern = r"Of (\d+) pairs of neighbours on the leaderboard, (\d+) differ at the level ([\d.]+)\."
    findings = of_17()["significance"], of_522()["significance"]
    (pairs, differ, level), (all_pairs, all_differ, _) = (found_in(pattern, each) for each in findings)
    wide, all_wide = (float(found_in("interval of a score is (.*) wide", each)[0]) for each in findings)
    assert found_in(r"(\d+) groups of two", findings[0]) == ("4",)
    yield f"{pairs} 17 {differ} {level} 522 {all_differ} {all_pairs} 17"
    yield f"4 1.0 {wide:.3f} 522 {all_wide:.3f} 50"  # begins with names of models


@figures(EXPERIMENTS, "With the best published score of each", *SLOW)
def of_external() -> Iterator[str]:
    best = leaderboard().runs.one_per_model("best")
    yield f"{len(best.models)} 17 {with_interval(row(of_17()['external'], 'correlations', **{'with our': 'score'}))}"


@figures(EXPERIMENTS, "`pfgen-fast experiment sensitivity pfgen-bench/result -o DIR`: on", *SLOW)
def of_the_constants() -> Iterator[str]:
    _, n, places = found_in(r"In (\d+) of (\d+) variations.*by up to (\d+) place", of_17()["sensitivity"])
    assert places == "1"
    yield f"17 {n} 516 53 49 2026"


@figures(EXPERIMENTS, "| constant | from, to |", *SLOW)
def of_each_constant() -> Iterator[str]:
    for what, shown, says_where in (
        ("longest n-gram", "10 1 9", "change"),
        ("shortest n-gram", "1 2 10", "Kendall"),
        ("threshold of truthfulness", "0.005 0.001 0.1", ""),
        ("target length", "100 50 140", "Kendall"),
        ("limit of length", "150 110 300", ""),
        ("weight of set", "1 0 4", ""),
    ):
        varied = [each for each in rows(of_17()["sensitivity"], "variations") if each["what"].startswith(what)]
        varied = [each for each in varied if not each["usual"]]
        lowest = min(varied, key=lambda each: each["Kendall"])
        farthest = max(varied, key=lambda each: each["largest change"])
        yield f"{shown} {lowest['Kendall']:.3f} {lowest['value'] if says_where == 'Kendall' else ''}"
        yield f"{farthest['largest change']:.3f} {farthest['value'] if says_where == 'change' else ''}"


@figures(EXPERIMENTS, "The constants therefore set the scale", *SLOW)
def of_the_weights_of_sets() -> Iterator[str]:
    usual = weighted_scores(results(), {})
    varied = [
        Variation(weight, weight == 1, weighted_scores(results(), {name: weight}), usual)
        for name in ("P", "S", "T")
        for weight in SET_WEIGHTS
    ]
    kendall, change = min(each.kendall for each in varied), max(each.largest_change for each in varied)
    yield f"522 {kendall:.3f} {change:.3f} {max(each.most_places for each in varied):g}"
