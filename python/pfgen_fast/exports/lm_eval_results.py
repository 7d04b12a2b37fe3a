"""Results of lm-evaluation-harness: `results_DATE.json`, and beside it `samples_TASK_DATE.jsonl` with the answers.

The task has one name for all modes, so that models with different prompts can be compared. A document is a question,
and the trials are its repeats, so that a reader who counts documents counts no question twice; a score is the mean of
the trials. A run has no prompts, so the argument of a sample is its question.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from .. import __version__
from ..files.journal import json_line
from ..files.json_writing import json_bytes
from ..files.untrusted_text import folder_names, utf8
from ..files.writing import write_whole, writing_whole
from ..suite.rules import SCORES
from .about import About
from .scored_run import ScoredRun

_TASK = "pfgen"


def results_path(run: ScoredRun) -> Path:
    """The path of the results below the output directory of the harness."""
    return Path(*(folder_names(_sanitized(run.model)) or ["model"]), f"results_{_date(run)}.json")


def write_results(runs: Sequence[ScoredRun], path: Path, about: About) -> None:
    """Writes the results of a run, and its samples beside them."""
    (run,) = runs
    hashes: list[str] = []
    with writing_whole(path.with_name(f"samples_{_TASK}_{_date(run)}.jsonl")) as file:
        for sample in _samples(run):
            hashes.append(sample["doc_hash"] + sample["prompt_hash"] + sample["target_hash"])
            file.write(json_line(sample))
    write_whole(path, json_bytes(_results(run, _hash("".join(hashes)))))


def _date(run: ScoredRun) -> str:
    return run.needed_date().replace(tzinfo=None).isoformat().replace(":", "-")


def _sanitized(model: str) -> str:
    return re.sub(r'["<>:/|\\?*\[\]]+', "__", model)


def _hash(text: str) -> str:
    return hashlib.sha256(utf8(text)).hexdigest()


def _results(run: ScoredRun, task_hash: str) -> dict[str, Any]:
    task, config, settings = _TASK, run.config, run.settings
    figures: dict[str, Any] = {"alias": task}
    for figure in run.figures:
        error = "N/A" if figure.standard_error is None else figure.standard_error
        figures |= {f"{figure.name},none": figure.value, f"{figure.name}_stderr,none": error}
    sampling = {name: config[name] for name in ("temperature", "top_p", "top_k") if name in config}
    n_examples, n_questions = config.get("num_examples"), len(run.suite)
    seconds = run.needed_date().timestamp()
    engine = str(config.get("engine", "pfgen-fast"))
    intervals = {figure.name: [figure.low, figure.high] for figure in run.figures}
    return {
        "results": {task: figures},
        "group_subtasks": {task: []},
        "configs": {
            task: {
                "task": task,
                "dataset_name": run.suite_name,
                "output_type": "generate_until",
                "repeats": run.result.num_trials,
                "generation_kwargs": {
                    **({"until": config["stop"]} if "stop" in config else {}),
                    **({"max_gen_toks": config["max_tokens"]} if "max_tokens" in config else {}),
                    **sampling,
                },
                "metric_list": [{"metric": name, "aggregation": "mean", "higher_is_better": True} for name in SCORES],
                "metadata": {"version": 1.0, **settings, "interval_95": intervals},
            }
        },
        "versions": {task: 1.0},
        "n-shot": {task: n_examples if isinstance(n_examples, int) else 0},
        "higher_is_better": {task: dict.fromkeys(SCORES, True)},
        "n-samples": {task: {"original": n_questions, "effective": n_questions}},
        "config": {"model": engine, "model_args": {"pretrained": run.model}, "gen_kwargs": sampling, "limit": None},
        "date": seconds,
        "task_hashes": {task: task_hash},
        "model_source": engine,
        "model_name": run.model,
        "model_name_sanitized": _sanitized(run.model),
        "pfgen_fast_version": __version__,
    }


def _samples(run: ScoredRun) -> Iterator[dict[str, Any]]:
    columns = {name: run.table["average" if name == "score" else name] for name in SCORES}
    for place, question in enumerate(run.suite):
        rows = run.trials.rows_by_question[question.question]
        answers = [run.trials.answers[row] for row in rows]
        doc = {"question_id": question.question_id, "question": question.question}
        if question.category:
            doc["category"] = question.category
        yield {
            "doc_id": place,
            "doc": doc,
            "target": "",
            "arguments": {"gen_args_0": {"arg_0": question.question}},
            "resps": [answers],
            "filtered_resps": [answers],
            "filter": "none",
            "metrics": list(SCORES),
            "doc_hash": _hash(json.dumps(doc, indent=2, ensure_ascii=False)),
            "prompt_hash": _hash(question.question),
            "target_hash": _hash(""),
            **{name: fmean(column[rows].tolist()) for name, column in columns.items()},
        }
