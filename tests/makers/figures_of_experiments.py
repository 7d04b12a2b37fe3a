"""The figures of docs/experiments.md, from published runs: the 17 with answers, and the results of all 522."""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pfgen_fast.experiments import Finding, RunFigures, ScoredRuns
from pfgen_fast.experiments.external import OutsideScores, models_of
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
    best = {model: scores["score"] for model, scores in models_of(leaderboard().runs, "best").items()}
    outside = OutsideScores(Path("best.csv"), {"score": best}, tuple(best))
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


def with_interval(found: Row, name: str = "Pearson", digits: int = 3) -> list[str]:
    return [f"{found[column]:.{digits}f}" for column in (name, f"{name} low", f"{name} high")]


def pair_of_sets(finding: Finding, pair: tuple[str, str]) -> list[str]:
    return with_interval(row(finding, "pairs", set=pair[0], **{"and": pair[1]}), digits=5)


def found_in(pattern: str, finding: Finding) -> Sequence[str]:
    """What the words of a finding say, by a pattern."""
    found = re.search(pattern, f"{finding.answer} {finding.paragraph}")
    assert found, (pattern, finding.paragraph)
    return found.groups()


@figures(EXPERIMENTS, "The published leaderboard (commit", *SLOW)
def of_the_data() -> list[str]:
    models = {model for model in leaderboard().runs.models if not model.startswith("system/")}
    n_answers = sum(row["values"] for row in rows(of_17()["relations"], "correlations")[-1:])
    n_runs = len(of_17()["significance"].runs)
    return [
        "9",
        "2025",
        f"{len(published.results())}",
        f"{len(models)}",
        "522",
        f"{n_runs}",
        f"{n_runs - 1}",
        f"{n_answers:,}",
    ]


@figures(EXPERIMENTS, "| claim | what comes out | on |", *SLOW)
def of_the_claims() -> list[str]:
    lines = [of_17()["sets"], of_522()["sets"], of_522()["sets of the table"]]
    by_set = [[pair_of_sets(finding, pair)[0] for pair in PAIRS] for finding in lines]
    kept, n = found_in(r"In (\d+) of (\d+) variations", of_17()["sensitivity"])
    return [
        *("0.999", *by_set[0], "16", "37", *by_set[1], "522", "37", *by_set[2], "522"),
        *("0.9896", "0.7"),  # of the paper
        *("53", "53", "49", "2026", "516", kept, n, "17"),
    ]


@figures(EXPERIMENTS, "| | mean | quartiles", *SLOW)
def of_the_parts() -> list[str]:
    finding, found = of_522()["parts"], []
    for part in (*PARTS, "score"):
        if part != "score":
            means = row(finding, "difficulty", part=part)
            found += [means[name] for name in ("mean", "first quartile", "median", "third quartile")]
        ceiling = row(finding, "ceiling", part=part)
        found += [ceiling[name] for name in ("it reaches", "system/ground-truth", "system/criteria")]
    return [f"{figure:.3f}" for figure in found]


@figures(EXPERIMENTS, "Truthfulness is above fluency", *SLOW)
def of_the_order() -> list[str]:
    order = row(of_522()["parts"], "orders", order="truthfulness > fluency > helpfulness")
    ceiling = row(of_522()["parts"], "ceiling", part="score")
    with (published.FOLDER / "leaderboard.csv").open(encoding="utf-8", newline="") as file:
        (criteria,) = (line for line in csv.DictReader(file) if line["model"] == "system/criteria")
    best = [ceiling["system/ground-truth"], ceiling["it reaches"], float(criteria["average"]), float(criteria["score"])]
    return [
        f"{order['runs']}",
        "522",
        "1",
        *(f"{figure:.3f}" for figure in best),
        f"{int(criteria['num_trials']):,}",
        "6",
    ]


@figures(EXPERIMENTS, "| helpfulness above | runs |", *SLOW)
def of_the_rise() -> list[str]:
    found = []
    (table,) = (table for table in of_522()["parts"].tables if table.name == "rise")
    for level, runs, *pairs in table.rows:
        found += [level, f"{runs}"]
        for value, misplaced in zip(pairs[::2], pairs[1::2], strict=True):
            found += [f"{value:.2f}", f"{misplaced}"]
    return found


@figures(EXPERIMENTS, "Below a fluency of", *SLOW)
def of_the_first_rise() -> list[str]:
    return [f"{row(of_522()['parts'], 'rise', **{'helpfulness above': '0.01'})['from fluency']:.2f}"]


@figures(EXPERIMENTS, "| | Pearson over 522 runs", *SLOW)
def of_the_relations() -> list[str]:
    found = ["522", "16", "57,100"]
    for a, b in (*itertools.combinations(("fluency", "truthfulness", "helpfulness"), 2), ("fluency", "length")):
        of_pair = {"of": a, "with": b}
        found += with_interval(row(of_522()["relations"], "correlations", **of_pair))
        found += with_interval(row(of_17()["relations"], "correlations", over="runs", **of_pair))
        found += with_interval(row(of_17()["relations"], "correlations", over="answers", **of_pair), "Spearman")
    return found


@figures(EXPERIMENTS, "The 522 runs are of", *SLOW)
def of_the_clusters() -> list[str]:
    runs = leaderboard().runs
    of_pair = {"of": "fluency", "with": "length"}
    by = {name: row(relations(runs, cluster=name), "correlations", **of_pair) for name in ("none", "organisation")}
    best = row(relations(runs.one_per_model("best")), "correlations", **of_pair)
    counts = [by["none"]["values"], best["clusters"], by["organisation"]["clusters"]]
    ends = [figure for name in by for figure in with_interval(by[name])[1:]]
    return [*map(str, counts), *ends, *with_interval(best)]


@figures(EXPERIMENTS, "| | 522 runs, each set over", *SLOW)
def of_the_sets() -> list[str]:
    findings = (of_522()["sets of the table"], of_522()["sets"], of_17()["sets"])
    cells = [figure for pair in PAIRS for finding in findings for figure in pair_of_sets(finding, pair)]
    return ["522", "522", "37", "16", "37", *cells]


@figures(EXPERIMENTS, "With one set instead of another", *SLOW)
def of_another_set() -> list[str]:
    by_name = {
        n: found_in(r"Kendall ([\d.]+)\).*differ by ([\d.]+) at most", of["sets"]) for n, of in by_number().items()
    }
    (kendall, change), (kendall_16, change_16) = ([f"{float(text):.3f}" for text in by_name[n]] for n in (522, 17))
    return ["522", change, "16", change_16, kendall, kendall_16]


def by_number() -> dict[int, dict[str, Finding]]:
    return {17: of_17(), 522: of_522()}


def fewer(finding: Finding, what: str, n: int) -> tuple[str, str, str]:
    """Kendall's correlation, the share of close pairs that are swapped, and the shift of the scores."""
    found = row(finding, "fewer", what=what, **{"how many": n})
    shift = f"{found['shift of scores']:.3f}" if abs(found["shift of scores"]) > 0.0005 else "0"
    return f"{found['mean Kendall']:.3f}", f"{100 * found['swapped close pairs']:.0f}", shift


def close_pairs(finding: Finding) -> Sequence[str]:
    return found_in(
        r"Of ([\d,]+) pairs of runs, ([\d,]+) are close: their scores differ by no more than ([\d.]+),", finding
    )


@figures(EXPERIMENTS, "`pfgen-fast experiment stability pfgen-bench/result -o DIR` on", *SLOW)
def of_left_out_questions() -> list[str]:
    finding = of_17()["stability"]
    n_pairs, n_close, within = close_pairs(finding)
    n, moved, still = found_in(
        r"of the (\d+) questions, no run moves by more than (\d+) rank.*?(\d+) of 17 runs never", finding
    )
    assert moved == "1"
    return ["17", n, still, n_close, n_pairs, within]


@figures(EXPERIMENTS, "| | Kendall | swapped close pairs | shift of scores |", *SLOW)
def of_fewer() -> list[str]:
    found = []
    for what, n, shown in (
        ("reference answers per set", 500, ["500", "1,000"]),
        ("reference answers per set", 5, ["5", "1,000"]),
        ("questions", 25, ["25", "50"]),
        ("questions", 20, ["20", "50"]),
        ("trials", 50, ["50", "100"]),
        ("trials", 1, ["1", "100"]),
    ):
        shown = [*shown, "0.95"] if (what, n) == ("questions", 20) else shown
        found += [*shown, *fewer(of_17()["stability"], what, n)]
    assert "20 of 50 questions" in of_17()["stability"].answer
    return found


@figures(EXPERIMENTS, "The questions alone, on all 522 runs", *SLOW)
def of_left_out_questions_of_all() -> list[str]:
    finding = of_522()["stability"]
    n_pairs, n_close, within = close_pairs(finding)
    moved, still = found_in(r"no run moves by more than (\d+) ranks. (\d+) of 522 runs never", finding)
    assert "but not with 25 of 50 questions" in finding.answer or "do not rank the runs alike" in finding.answer
    return ["522", n_close, n_pairs, within, moved, still]


@figures(EXPERIMENTS, "| | Kendall | swapped close pairs | | --- | --- | --- |", *SLOW)
def of_fewer_questions_of_all() -> list[str]:
    return [
        figure for n in (25, 20, 10, 5) for figure in (f"{n}", "50", *fewer(of_522()["stability"], "questions", n)[:2])
    ]


@figures(EXPERIMENTS, "`pfgen-fast experiment significance pfgen-bench/result -o DIR`: of", *SLOW)
def of_significance() -> list[str]:
    found = {}
    for n, of in by_number().items():
        found[n] = (
            *found_in(
                r"Of (\d+) pairs of neighbours on the leaderboard, (\d+) differ at the level ([\d.]+)\.",
                of["significance"],
            ),
            f"{float(found_in('interval of a score is (.*) wide', of['significance'])[0]):.3f}",
        )
    (pairs, differ, level, wide), (all_pairs, all_differ, _, all_wide) = found[17], found[522]
    assert found_in(r"(\d+) groups of two", of_17()["significance"]) == ("4",)
    names = ["4", "1.0"]  # of models
    return [pairs, "17", differ, level, "522", all_differ, all_pairs, "17", *names, wide, "522", all_wide, "50"]


@figures(EXPERIMENTS, "With the best published score of each", *SLOW)
def of_external() -> list[str]:
    best = models_of(leaderboard().runs, "best")
    found = row(of_17()["external"], "correlations", **{"with our": "score"})
    return [f"{len(best)}", "17", *with_interval(found)]


@figures(EXPERIMENTS, "`pfgen-fast experiment sensitivity pfgen-bench/result -o DIR`: on", *SLOW)
def of_the_constants() -> list[str]:
    _, n, places = found_in(r"In (\d+) of (\d+) variations.*by up to (\d+) place", of_17()["sensitivity"])
    assert places == "1"
    return ["17", n, "516", "53", "49", "2026"]


@figures(EXPERIMENTS, "| constant | from, to |", *SLOW)
def of_each_constant() -> list[str]:
    found = []
    for what, shown, says_where in (
        ("longest n-gram", ["10", "1", "9"], "change"),
        ("shortest n-gram", ["1", "2", "10"], "Kendall"),
        ("threshold of truthfulness", ["0.005", "0.001", "0.1"], ""),
        ("target length", ["100", "50", "140"], "Kendall"),
        ("limit of length", ["150", "110", "300"], ""),
        ("weight of set", ["1", "0", "4"], ""),
    ):
        varied = [
            each
            for each in rows(of_17()["sensitivity"], "variations")
            if each["what"].startswith(what) and not each["usual"]
        ]
        lowest = min(varied, key=lambda each: each["Kendall"])
        farthest = max(varied, key=lambda each: each["largest change"])
        found += [*shown, f"{lowest['Kendall']:.3f}", *([lowest["value"]] if says_where == "Kendall" else [])]
        found += [f"{farthest['largest change']:.3f}", *([farthest["value"]] if says_where == "change" else [])]
    return found


@figures(EXPERIMENTS, "The constants therefore set the scale", *SLOW)
def of_the_weights_of_sets() -> list[str]:
    usual = weighted_scores(results(), {})
    varied = [
        Variation(weight, weight == 1, weighted_scores(results(), {name: weight}), usual)
        for name in ("P", "S", "T")
        for weight in SET_WEIGHTS
    ]
    kendall, change = min(each.kendall for each in varied), max(each.largest_change for each in varied)
    return ["522", f"{kendall:.3f}", f"{change:.3f}", f"{max(each.most_places for each in varied):g}"]
