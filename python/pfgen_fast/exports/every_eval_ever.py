"""Records in the schema of Every Eval Ever, version 0.3.0: the score of a run and its parts, as four results."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

from .. import __version__
from ..errors import PfgenError
from ..files.json_writing import json_bytes
from ..files.untrusted_text import folder_names, json_text, utf8
from ..files.writing import write_whole
from .about import About
from .scored_run import Figure, ScoredRun

_SCHEMA = "0.3.0"
_LINES = {
    "score": "The mean of fluency, truthfulness and helpfulness.",
    "fluency": "How common the n-grams of the answers are in reference answers.",
    "truthfulness": "The share of the answers' 3-grams that occur in reference answers.",
    "helpfulness": "Whether the answers meet the keyword rules of their questions.",
}


def record_path(run: ScoredRun) -> Path:
    """The path of a record in the data of Every Eval Ever: `data/BENCHMARK/DEVELOPER/MODEL/UUID.json`."""
    names = folder_names(run.model)
    folders = [names[0] if len(names) > 1 else "unknown", names[-1] if names else "unknown"]
    of_run = hashlib.sha256(utf8(json_text([run.name, run.model, run.settings]))).digest()
    return Path("data", *folder_names(run.benchmark), *folders, f"{UUID(bytes=of_run[:16], version=4)}.json")


def write_record(runs: Sequence[ScoredRun], path: Path, about: About) -> None:
    """Writes the record of a run."""
    (run,) = runs
    if about.organization is None:
        raise PfgenError("every-eval-ever: name the organization that made the evaluation (--organization)")
    write_whole(path, json_bytes(_record(run, about)))


def _record(run: ScoredRun, about: About) -> dict[str, Any]:
    date, name = run.needed_date(), run.benchmark
    seconds = str(int(date.timestamp()))
    developer, _, rest = run.model.partition("/")
    engine = run.config.get("engine")
    return {
        "schema_version": _SCHEMA,
        "evaluation_id": f"{name}/{run.model}/{seconds}",
        "evaluation_timestamp": date.isoformat(),
        "retrieved_timestamp": seconds,
        "source_metadata": {
            "source_name": "pfgen-fast",
            "source_type": "evaluation_run",
            "source_organization_name": about.organization,
            "evaluator_relationship": about.relationship,
            **({} if about.source_url is None else {"additional_details": {"source_url": about.source_url}}),
        },
        "eval_library": {
            "name": "pfgen-fast",
            "version": __version__,
            "additional_details": _texts({key: run.settings[key] for key in ("signature", "profile", "float_sum")}),
        },
        "model_info": {
            "name": run.model,
            "id": run.model,
            **({"developer": developer} if rest else {}),
            **({"inference_engine": {"name": engine}} if isinstance(engine, str) else {}),
            "additional_details": {"deployment_type": "unknown", "model_availability": "unknown"},
        },
        "evaluation_results": [_result(run, name, figure, about) for figure in run.figures],
    }


def _result(run: ScoredRun, name: str, figure: Figure, about: About) -> dict[str, Any]:
    hashes = {key: run.settings[key] for key in ("suite", "suite_hash", "input_hash")}
    is_score = figure.name == "score"
    return {
        "evaluation_result_id": f"{name}/{figure.name}",
        "evaluation_name": name if is_score else f"{name}/{figure.name}",
        "source_data": {
            "dataset_name": name,
            **(
                {"source_type": "other"}
                if about.dataset is None
                else {
                    "source_type": "hf_dataset",
                    "hf_repo": about.dataset,
                    "samples_number": len(run.result.questions),
                    "sample_ids": list(run.result.questions),
                }
            ),
            "additional_details": _texts(hashes),
        },
        "evaluation_timestamp": run.needed_date().isoformat(),
        "metric_config": {
            "evaluation_description": _LINES[figure.name],
            "metric_id": f"pfgen.{figure.name}",
            "metric_name": figure.name.capitalize(),
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0.0,
            # The fluency of an answer is relative to the mean of reference answers.
            "max_score": "Infinity" if figure.name in ("score", "fluency") else 1.0,
        },
        "score_details": {
            "score": figure.value,
            "details": _texts({"num_trials": run.result.num_trials, "length": run.result.length}),
            "uncertainty": _uncertainty(run, figure),
        },
        "generation_config": _generation(run.config),
    }


def _uncertainty(run: ScoredRun, figure: Figure) -> dict[str, Any]:
    n_questions = {"num_samples": len(run.result.questions)}
    if figure.low is None or figure.high is None:
        return n_questions
    return {
        "standard_error": {"value": figure.standard_error, "method": "analytic, over questions"},
        "confidence_interval": {
            "lower": figure.low,
            "upper": figure.high,
            "confidence_level": 0.95,
            "method": "Student's t over questions",
        },
        **n_questions,
    }


def _generation(config: Mapping[str, Any]) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        name: config[name]
        for name in ("temperature", "top_p", "top_k")
        if isinstance(config.get(name), (int, float)) and not isinstance(config[name], bool)
    }
    limit = config.get("max_tokens")
    if isinstance(limit, int) and not isinstance(limit, bool) and limit >= 1:
        arguments["max_tokens"] = limit
    others = {key: value for key, value in config.items() if key not in arguments}
    return {"generation_args": arguments, "additional_details": _texts(others)}


def _texts(values: Mapping[str, Any]) -> dict[str, str]:
    """Values as texts, which the schema demands; values other than texts become JSON."""
    return {key: value if isinstance(value, str) else json_text(value) for key, value in values.items()}
