"""lighteval: a metric of samples, and a task with the prompts of a suite.

The file for `--custom-tasks` needs only two lines: the import of `pfgen_task`, and `TASKS_TABLE = [pfgen_task(...)]`.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..base.errors import EngineError, TrialsError, optional
from ..base.file_writing import write_whole
from ..base.untrusted_text import utf8
from ..generation.prompts import NUM_EXAMPLES, Sampling, training_tasks
from ..rewards.completions import answer_in
from ..scoring.reply_text import STOP, Mode, check_mode
from ..scoring.scorer import ScorerSpec
from ..suite.compiled import own_cache_folder
from ..suite.rules import AVERAGE_FIRST
from ..suite.suite import Suite

if TYPE_CHECKING:
    from lighteval.metrics.utils.metric_utils import SampleLevelMetricGrouping
    from lighteval.models.model_output import ModelResponse
    from lighteval.tasks.lighteval_task import LightevalTaskConfig
    from lighteval.tasks.requests import Doc


def _module(name: str) -> Any:
    return optional(f"lighteval.{name}", extra="lighteval", needed_for="the integration of lighteval")


_metrics, _samples = _module("metrics.utils.metric_utils"), _module("metrics.metrics_sample")
_tasks, _requests = _module("tasks.lighteval_task"), _module("tasks.requests")
SampleLevelComputation: Any = _samples.SampleLevelComputation

_QUESTION = "question_id"
"""The key of `Doc.specific` with the question."""


class PfgenScores(SampleLevelComputation):  # type: ignore[misc]  # lighteval is optional
    """Computes the scores of the answers to a document; `specific` of the document must have `question_id`.

    If the model gave several answers, the result has the means of their scores.

    Args:
        suite: A suite, or an argument of `Suite.load`.
        mode: The kind of prompts, which determines where an answer begins and ends, as in `pfgen-fast generate`. By
            default the whole text is the answer.

    Example:
        >>> from lighteval.models.model_output import ModelResponse
        >>> from lighteval.tasks.requests import Doc
        >>> doc = Doc(query="Why does ice float?", choices=[], gold_index=0, specific={"question_id": "Q07"})
        >>> answer = ModelResponse(text=["A: Ice floats because it is less dense than water. Q: And"])
        >>> PfgenScores("mini", "qa").compute(doc, answer)["average"]
        0.3533
    """

    def __init__(self, suite: Suite | str | Path, mode: Mode | None = None) -> None:
        if mode is not None:
            check_mode(mode)
        self.mode = mode
        self.spec = ScorerSpec(suite)

    def compute(self, doc: Doc, model_response: ModelResponse, **others: Any) -> dict[str, float]:
        """The scores by name; an error contains the document."""
        answers = [answer_in(text, self.mode) for text in model_response.final_text]
        question = (doc.specific or {}).get(_QUESTION)
        if question is None or not answers:
            lack = "answer" if question is not None else f"{_QUESTION!r} in its 'specific'"
            raise TrialsError(f"document {doc.id!r} of {doc.task_name}: no {lack}")
        try:
            table = self.spec.scorer.score(question, answers)
        except TrialsError as error:
            raise TrialsError(f"document {doc.id!r} of {doc.task_name}: {error.problem}") from None
        return {name: float(table[name].mean()) for name in AVERAGE_FIRST}


def pfgen_metric(suite: Suite | str | Path = "mini", mode: Mode | None = None) -> SampleLevelMetricGrouping:
    """The metric for `LightevalTaskConfig(metrics=[...])`: `PfgenScores` for samples, and means over all documents.

    Example:
        >>> pfgen_metric("mini").metric_name
        ['average', 'fluency', 'truthfulness', 'helpfulness']
    """
    import numpy as np

    return _metrics.SampleLevelMetricGrouping(
        metric_name=list(AVERAGE_FIRST),
        higher_is_better=dict.fromkeys(AVERAGE_FIRST, True),
        category=_requests.SamplingMethod.GENERATIVE,
        sample_level_fn=PfgenScores(suite, mode),
        corpus_level_fn=dict.fromkeys(AVERAGE_FIRST, np.mean),
    )


def pfgen_task(
    suite: Suite | str | Path = "mini",
    mode: Mode = "qa",
    *,
    name: str = "pfgen",
    trials: int = 10,
    num_examples: int = NUM_EXAMPLES,
    seed: str = "",
) -> LightevalTaskConfig:
    """A task for `TASKS_TABLE` in a file of custom tasks, with the prompts of `pfgen-fast generate`.

    lighteval reads documents from files, so the prompts are written into the cache (`PFGEN_FAST_CACHE`). The mode is
    `"qa"` for chat models, or `"completion"` for base models. The mode `"chat"` is not supported, because lighteval has
    no system message for each document. Each question is asked `trials` times with different examples, at most
    `num_examples` in each prompt; a different `seed` selects different examples.

    Raises:
        SuiteError: The suite cannot be read, or has no sample answers.
        EngineError: The mode is unknown or `"chat"`, or the suite has no prompts of this mode.
        PfgenError: The cache cannot be written.

    Example:
        >>> task = pfgen_task("mini", "completion", trials=2)
        >>> task.name, task.stop_sequence, task.generation_size
        ('pfgen', ['Q:', '\\n\\n'], 300)
    """
    check_mode(mode)
    if mode == "chat":
        raise EngineError("mode 'chat': lighteval has no system message for each document; use 'qa'")
    loaded = suite if isinstance(suite, Suite) else Suite.load(suite)
    lines = [
        {
            _QUESTION: task.question_id,
            "trial": task.trial,
            "prompt": task.prompt.text if task.prompt.messages is None else task.prompt.messages[-1]["content"],
        }
        for task in training_tasks(loaded, mode, trials, num_examples, seed)
    ]
    return _tasks.LightevalTaskConfig(
        name=name,
        prompt_function=_document,
        hf_repo=str(_written(lines)),
        hf_subset="default",
        hf_avail_splits=["test"],
        evaluation_splits=["test"],
        metrics=[pfgen_metric(loaded, mode)],
        generation_size=Sampling().max_tokens,
        stop_sequence=list(STOP[mode]),
    )


def _document(line: dict[str, Any], task_name: str) -> Doc:
    return _requests.Doc(
        task_name=task_name,
        query=line["prompt"],
        choices=[""],
        gold_index=0,
        specific={_QUESTION: line[_QUESTION], "trial": line["trial"]},
    )


def _written(lines: list[dict[str, Any]]) -> Path:
    """Writes the prompts into a directory whose name is their hash, and returns the directory."""
    content = b"".join(utf8(json.dumps(line)) + b"\n" for line in lines)
    cache = own_cache_folder() or Path(tempfile.mkdtemp())
    folder = cache / "lighteval" / hashlib.sha1(content).hexdigest()
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / "test.jsonl", content)
    return folder
