"""A filter by score for Data-Juicer: the operator `pfgen_score_filter`.

Data-Juicer finds the operator by the entry point of this package, so a recipe can use it without an import.
"""

# The parser of recipes reads the annotations, so no import is conditional on TYPE_CHECKING.
from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import PfgenError
from ..files.optional import optional
from ..scoring.spec import ScorerSpec
from ..suite.suite import Suite
from ..tables.table_job import Nulls
from .answer_filter import AnswerFilter, values_or_none

_base = optional("data_juicer.ops.base_op", extra="data-juicer", needed_for="the filter for Data-Juicer")
_constant = optional("data_juicer.utils.constant", extra="data-juicer", needed_for="the filter for Data-Juicer")
Filter: Any = _base.Filter

NAME = "pfgen_score_filter"
"""The name of the operator in recipes."""
BATCH_SIZE = 8192
_RANGES = ("min_closed_interval", "max_closed_interval", "reversed_range")


@_base.OPERATORS.register_module(NAME)
class PfgenScoreFilter(Filter):  # type: ignore[misc]  # Data-Juicer is optional
    """Keeps the samples whose answer has a sufficient score.

    The answer is the text of a sample (`text_key`); its question is in another field. The scores become stats of the
    sample, and so does the result of the filter (`pfgen_passes`): datasets 5 stores stats as JSON, where a number may
    lose its last bit. With `as_fields`, exact numbers are stored too. A score is null if the answer or the reference
    set is missing; a null never passes a filter. Stats of an earlier run are computed again, because they may belong to
    another suite.

    A sample that cannot be scored raises an error, for any value of `skip_op_error`; otherwise Data-Juicer would drop
    the whole batch (thousands of samples) and only log it. The arguments that are not listed are those of
    `AnswerFilter`.

    Args:
        question_key: The field with the id or exact text of the question.
        columns: The scores to keep; scores that the condition compares are also stats.
        as_fields: Whether the kept scores are also fields of the samples, as exact numbers.
        prefix: The prefix of the names of stats and fields, because all operators share the stats.
        kwargs: Options of all operators of Data-Juicer, such as `text_key`, `batch_size` and `num_proc`.

    Example:
        >>> from data_juicer.core.data import NestedDataset
        >>> answers = ["Ice floats because it is less dense than water.", "Because."]
        >>> dataset = NestedDataset.from_list([{"question": "Q07", "text": answer} for answer in answers])
        >>> good = PfgenScoreFilter("mini", minimum=0.3, num_proc=1).run(dataset)
        >>> list(good["text"]), list(good["__dj__stats__"])
        (['Ice floats because it is less dense than water.'], [{'pfgen_average': 0.3533, 'pfgen_passes': True}])
    """

    _batched_op = True

    def __init__(
        self,
        suite: str | Path | Suite | ScorerSpec | None = None,  # the parser of recipes needs a default
        minimum: float | None = None,
        where: str | None = None,
        question_key: str = "question",
        columns: Sequence[str] = ("average",),
        as_fields: bool = False,
        nulls: Nulls = "error",
        prefix: str = "pfgen_",
        **kwargs: Any,
    ) -> None:
        if suite is None:
            raise PfgenError(f"{NAME}: suite: expected the directory of a suite, or mini")
        for name in _RANGES:
            if name in kwargs:
                raise PfgenError(f"{NAME}: {name} is not supported; use minimum or where")
        super().__init__(**{"batch_size": BATCH_SIZE, **kwargs, "skip_op_error": False})
        self.answers = AnswerFilter(
            suite,
            minimum=minimum,
            where=where,
            question=question_key,
            answer=self.text_key,
            columns=columns,
            nulls=nulls,
            prefix=prefix,
        )
        self.keys = {name: prefix + name for name in self.answers.columns}
        self.passes_key = f"{prefix}passes"
        self.as_fields = as_fields

    def compute_stats_batched(self, samples: Any) -> Any:
        """Writes the scores into the stats of each sample; errors contain the number of the sample in the batch."""
        self.answers.check_has_fields(samples, "the samples")
        if self.as_fields:
            self.answers.check_has_no_scores(samples, "the samples")
        questions, answers = samples[self.answers.question], samples[self.answers.answer]
        scores = self.answers.scores(
            questions, answers, lambda row: "the samples" if row is None else f"sample {row + 1} of a batch"
        )
        stats = samples[_constant.Fields.stats]
        found = {key: values_or_none(scores[name]) for name, key in self.keys.items()}
        for key, values in {**found, self.passes_key: self.answers.passing(scores).tolist()}.items():
            for stat, value in zip(stats, values, strict=True):
                stat[key] = value
        if self.as_fields:
            for name, key in self.answers.names.items():
                samples[key] = scores[name].tolist()
        return samples

    def process_batched(self, samples: Any) -> list[bool]:
        """Whether each sample is kept, according to its stats."""
        return [stat[self.passes_key] for stat in samples[_constant.Fields.stats]]
