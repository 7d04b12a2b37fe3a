"""Results for reports, with the same answers and figures everywhere unless a test says otherwise."""

import base64
import gzip
import json
from collections.abc import Sequence
from typing import Any

from pfgen_fast import Suite
from pfgen_fast.report import ReportRun
from pfgen_fast.runs.run_result import parse_result


def made_result(suite: Suite, answers: Sequence[str] = ("An answer.",), score: float = 0.5, **changes: Any) -> Any:
    """The output of `pfgen-fast score`."""
    sets = dict.fromkeys(suite.set_names, 0.25)
    scores = {"fluency": sets, "truthfulness": sets, "helpfulness": 0.5, "average": score}
    figures = {"score": score, "score_std": 0.01, "length": 10.0, "length_std": 1.0, "scores": scores}

    def samples() -> list[dict[str, Any]]:
        rules = {"helpfulness_results": [["word", 0.0]]}
        return [{"answer": answer, "timestamp": "now", "scores": {**scores, **rules}} for answer in answers]

    questions = {q.question_id: {"question": q.question, **figures, "samples": samples()} for q in suite}
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


def unpacked(line: str) -> Any:
    """What a line of compressed data in a page holds."""
    return json.loads(gzip.decompress(base64.b64decode(line)))


HOSTILE = 'a&b=c..d%2F"><img src=x onerror="document.title=\'pwned\'">'
FORMULA = "=cmd|'/c calc'!A1, \"x\""


def unlike_runs(suite: Suite) -> list[ReportRun]:
    """Seven runs, from the best to the worst, that differ in all that the page sorts and filters by."""
    described: list[tuple[str, float, dict[str, Any]]] = [
        ("system/ground-truth", 1.0, {"mode": "system", "engine": "system"}),
        ("org/alpha/1", 0.81, {"model": "org/alpha", "mode": "qa", "engine": "vllm", "top_p": 0.98}),
        ("org/alpha/2", 0.8, {"model": "org/alpha", "mode": "chat", "engine": "vllm", "top_p": 0.9}),
        ("org/beta/1", 0.6, {"model": "org/beta", "mode": "qa", "engine": "openai"}),
        ("other/gamma/1", 0.4, {"model": "other/gamma", "mode": "completion", "engine": "hf", "top_p": 0.98}),
        (FORMULA, 0.2, {"model": "+1", "mode": "qa", "engine": HOSTILE}),
        (HOSTILE, 0.1, {"model": "x", "mode": "qa", "engine": "hf"}),
    ]
    return [_unlike(suite, number, *run_fields) for number, run_fields in enumerate(described)]


def _unlike(suite: Suite, number: int, name: str, score: float, config: dict[str, Any]) -> ReportRun:
    result = made_result(suite, [f"An answer of run {number}. " * (6 if number == 3 else 1)], score, config=config)
    result["length"] = 100.0 - 10 * (number % 3)
    result["scores"] |= {"fluency": {"A": score}, "truthfulness": {"A": score**0.5}, "helpfulness": score**2}
    for place, question in enumerate(result["questions"].values()):
        question["score"] = round(score + 0.01 * ((place * 3 + number * 5) % 7 - 3), 4)
        question["scores"] = {**question["scores"], "average": question["score"]}
        for sample in question["samples"]:
            sample["scores"] |= {"helpfulness": 0.2 if number == 3 else 0.9, "fluency": {"A": 0.9}}
            if number in (3, 4):
                sample["scores"]["helpfulness_results"] = [["20字超過", 0.6]]
    return ReportRun(name, None, parse_result(result, name))


def checkpoints(suite: Suite) -> list[ReportRun]:
    """Three steps of a series: all questions are better at step 20, and two of them lose at step 30, by 0.3 and 0.2."""
    runs = []
    for step, answer in ((10, "a red car"), (20, "the red car stops here"), (30, "the blue car stops here")):
        result = made_result(suite, [answer] * 3, config={"model": f"lab/a/checkpoint-{step}"})
        for place, question in enumerate(result["questions"].values()):
            score = 0.5 + (0.01 * place + 0.1) * (step > 10) + (0.01 * (place + 1) if step == 30 else 0)
            score -= {2: 0.33, 5: 0.26}.get(place, 0) if step == 30 else 0
            question["score"] = round(score, 4)
            question["scores"] = {**question["scores"], "average": question["score"]}
        result["score"] = round(sum(question["score"] for question in result["questions"].values()) / len(suite), 4)
        runs.append(ReportRun(f"lab/a/{step}", None, parse_result(result, "x")))
    return runs
