"""Results for reports, with the same answers and figures everywhere unless a test says otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pfgen_fast import Suite
from pfgen_fast.report import ReportRun
from pfgen_fast.runs.result import parse_result


def made_result(suite: Suite, answers: Sequence[str] = ("An answer.",), score: float = 0.5, **changes: Any) -> Any:
    """The output of `pfgen-fast score`."""
    sets = dict.fromkeys(suite.set_names, 0.25)
    scores = {"fluency": sets, "truthfulness": sets, "helpfulness": 0.5, "average": score}
    samples = [
        {"answer": answer, "timestamp": "now", "scores": {**scores, "helpfulness_results": [["word", 0.0]]}}
        for answer in answers
    ]
    figures = {"score": score, "score_std": 0.01, "length": 10.0, "length_std": 1.0, "scores": scores}
    questions = {q.question_id: {"question": q.question, **figures, "samples": samples} for q in suite}
    return {
        "input_hash": "0",
        "metadata_hash": suite.metadata_hash,
        "config": {"mode": "chat", "temperature": 1.0},
        "num_trials": len(answers),
        **figures,
        "questions": questions,
        **changes,
    }


def reported_run(suite: Suite, name: str = "org/model/abc", link: str | None = None, **changes: Any) -> ReportRun:
    """A run to report."""
    return ReportRun(name, link, parse_result(made_result(suite, **changes), name))
