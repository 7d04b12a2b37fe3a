"""Writes the table of published results that the package ships, and the references of diagnoses (docs/diagnosis.md).

    python tools/published_results.py results.jsonl.xz pfgen-bench/data

Each line of the input is a result.json with the name of its run as `run`. The results of the yardsticks are in
`result.json` and `final/result.json` of the suite. What rankings need stays: settings, figures and parts of each run,
and the length and parts of each question, with fluency and truthfulness summed over the sets. `set_scores` are the
scores with each reference set alone, over the questions that have the combination of sets that most questions have.
"""

from __future__ import annotations

import json
import lzma
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from pfgen_fast import Suite
from pfgen_fast.runs.diagnosis import REFERENCE_FILE
from pfgen_fast.runs.leaderboard import is_system
from pfgen_fast.runs.loss_figures import Figures, diagnosis_figures, median_figures
from pfgen_fast.runs.run_result import parse_result

TABLE = Path(__file__).parents[1] / "python/pfgen_fast/data/published/pfgen-bench.jsonl.xz"


def shortened(result: dict[str, Any]) -> dict[str, Any]:
    """The members of a result that the table keeps."""
    questions = {
        name: {"length": question["length"], "scores": summed(question["scores"])}
        for name, question in result["questions"].items()
    }
    return {**result, "questions": questions, "set_scores": set_scores(result)}


def set_scores(result: dict[str, Any]) -> dict[str, Any]:
    """The number of questions with the sets that most questions have, and the mean score over them with each set."""
    scores = [question["scores"] for question in result["questions"].values()]
    combinations = Counter(tuple(sorted(row["fluency"])) for row in scores if len(row["fluency"]) > 1)
    names = combinations.most_common(1)[0][0]
    rows = [row for row in scores if set(names) <= row["fluency"].keys()]

    def score(name: str) -> float:
        parts = (
            (row["fluency"][name] + row["truthfulness"][name]) * len(row["fluency"]) + row["helpfulness"]
            for row in rows
        )
        return round(sum(parts) / 3 / len(rows), 5)

    return {"questions": len(rows), "scores": {name: score(name) for name in names}}


def summed(scores: dict[str, Any]) -> dict[str, Any]:
    """The scores of a question with one value for all sets."""
    total = {part: {"all": round(sum(scores[part].values()), 5)} for part in ("fluency", "truthfulness")}
    return {**scores, **total}


def references(results: list[dict[str, Any]], suite: Suite) -> dict[str, Any]:
    """The median and the best of the results with all their members, yardsticks left out."""
    figures = {
        row["run"]: diagnosis_figures(parse_result(row, row["run"]), suite)
        for row in results
        if not is_system(row["run"])
    }
    best = max(figures, key=lambda run: sum(question.score for question in figures[run].values()))

    def rows(of_run: Figures) -> dict[str, list[float]]:
        return {name: [round(value, 5) for value in question[:6]] for name, question in of_run.items()}

    median = median_figures(list(figures.values()))
    about = {"metadata_hash": suite.metadata_hash, "n_runs": len(figures), "best_run": best}
    return {**about, "median": rows(median), "best": rows(figures[best])}


def main(path: str, suite: str) -> None:
    """Writes both files."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        results = sorted(map(json.loads, lines), key=lambda result: result["run"])
    yardsticks = [
        {**json.loads((Path(suite) / place / "result.json").read_text(encoding="utf-8")), "run": run}
        for run, place in (("data", "."), ("data/final", "final"))
    ]
    rows = (
        json.dumps(shortened(result), ensure_ascii=False, separators=(",", ":")) + "\n"
        for result in [*results, *yardsticks]
    )
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 4, "pb": 0}]
    TABLE.write_bytes(lzma.compress("".join(rows).encode(), filters=filters))
    content = references(results, Suite.load(suite))
    REFERENCE_FILE.write_text(json.dumps(content, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
