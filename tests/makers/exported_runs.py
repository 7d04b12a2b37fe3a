"""Runs with results, for tests of exports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pfgen_fast import Suite
from pfgen_fast.exports import About
from pfgen_fast.runs import RunScorer
from pfgen_fast.runs.trials import RunFolder, find_runs
from pfgen_fast.statistics.mean_interval import mean_interval

from .runs import make_run

ABOUT = About(dataset="org/benchmark", source_url="https://example.org/logs", organization="Our lab")
CONFIG = {
    "engine": "vllm",
    "max_tokens": 300,
    "mode": "qa",
    "model": "org/model-0",
    "num_examples": 20,
    "stop": ["Q:", "\n\n"],
    "temperature": 1.0,
    "top_p": 1e-05,
}


def scored_run(
    folder: Path, suite: Suite, config: dict[str, Any] | None = CONFIG, n_trials: int = 3, **scorer: Any
) -> RunFolder:
    """A run whose answers are beginnings of reference answers, and its result.json; one answer is hostile."""
    lines = []
    for trial in range(n_trials):
        for number, question in enumerate(suite):
            answer = question.answers["A"][trial][: 20 + 9 * number]
            answer += "\ud800\u2028 <b>\n=1" if trial == number == 1 else ""
            date = f"2026-01-0{trial + 1}T10:20:{number:02}.5"
            lines.append(json.dumps({"question": question.question, "answer": answer, "timestamp": date}))
    make_run(folder, lines, config)
    (run,) = find_runs([folder])
    (outcome,) = RunScorer(suite, force=True, **scorer).score([run])
    assert outcome.error is None
    return run


def means(run, mini):
    """The figures of result.json, and their intervals over questions."""
    result = json.loads((run.folder / "result.json").read_text(encoding="utf-8"))
    averages = [question["scores"]["average"] for question in result["questions"].values()]
    return result, mean_interval(averages)
