"""`Reward`: a score and its shape, as one object for trainers, the server and programs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.arrays import Floats
from ..base.errors import RewardError, TrialsError
from ..base.native import _core, worded
from ..base.untrusted_json import read_toml
from ..base.untrusted_text import shown_value, unknown_name
from ..scoring.score_table import ColumnTable
from ..scoring.scorer import Scorer
from ..suite.rules import PROFILES, Profile
from .answer_rows import ON_ERROR, REASONING, OnError, Reasoning, read_reasoning, without_faults
from .group_parts import Diversity, GroupRelative
from .parts import Clip, Copying, Floor, Overlong, Part, Repetition, Scale, TooShort, Unfinished
from .score_sources import Batch, SuiteSource, source_of

if TYPE_CHECKING:
    from .answer_spans import RewardSpans

_PARTS = (Overlong, TooShort, Repetition, Copying, Unfinished, Diversity, GroupRelative, Floor, Clip, Scale)
PARTS: Mapping[str, type[Part]] = {part.name: part for part in _PARTS}
"""All parts by name."""


@dataclass(frozen=True)
class Shape:
    """The parts of a shape, in their order, and the profile of a suite's scores; None is the default profile."""

    parts: tuple[Part, ...] = ()
    profile: Profile | None = None


ShapeLike = Shape | str | Path | Part | Sequence[Part | Mapping[str, Any]] | None

RECOMMENDED = Shape(
    (
        Overlong(1.5, 3.0, unit="references"),
        TooShort(0.5, 0.25, unit="references"),
        Repetition(8, 0.1, 0.5),
        Unfinished(),
    ),
    profile="normalised",
)
"""The shape `recommended`; docs/guides/reward.md has its measurements."""


def shape_of(shape: ShapeLike) -> Shape:
    """Reads a shape.

    Args:
        shape: A part, a sequence of parts, `"recommended"`, or a TOML file with a table `[[shape]]` for each part and
            optionally a key `profile`. A part in a sequence can be a mapping with the keys of such a table. None has no
            parts.

    Raises:
        RewardError: A part, a key or a value is unknown or invalid.
        TrialsError: The file cannot be read.

    Example:
        >>> shape_of([{"part": "repetition", "n": 4, "from_share": 0.3}]).parts
        (Repetition(n=4, from_share=0.3, hard=1.0),)
        >>> shape_of("recommended").profile
        'normalised'
    """
    if shape is None:
        return Shape()
    if shape == "recommended":
        return RECOMMENDED
    if isinstance(shape, Shape):
        return shape
    if isinstance(shape, Part):
        return Shape((shape,))
    if isinstance(shape, (str, Path)):
        return _of_file(Path(shape))
    if isinstance(shape, Mapping) or not isinstance(shape, Iterable):
        raise RewardError(f"shape: expected parts, 'recommended' or a TOML file, not {shown_value(shape)}")
    return Shape(tuple(_part(part, f"shape[{index}]") for index, part in enumerate(shape)))


def _of_file(path: Path) -> Shape:
    if path.suffix != ".toml":
        raise RewardError(f"shape: expected 'recommended' or a file that ends with .toml, not {shown_value(str(path))}")
    content = read_toml(path, error=RewardError)
    for key in content:
        if key not in ("shape", "profile"):
            raise RewardError(f"{path}: {unknown_name('key', key, ['shape', 'profile'])}")
    tables, profile = content.get("shape"), content.get("profile")
    if profile is not None and profile not in PROFILES:
        raise RewardError(f"{path}: {unknown_name('profile', profile, PROFILES)}")
    if not isinstance(tables, list) or not tables:
        raise RewardError(f"{path}: expected a table [[shape]] for each part")
    return Shape(tuple(_part(table, f"{path}: shape[{index}]") for index, table in enumerate(tables)), profile)


def _part(value: object, place: str) -> Part:
    if isinstance(value, Part):
        return value
    if not isinstance(value, Mapping):
        raise RewardError(f"{place}: expected a part such as Repetition(4, 0.3), not {shown_value(value)}")
    settings = dict(value)
    name = settings.pop("part", None)
    if name is None:
        raise RewardError(f"{place}: the key part is missing")
    if not isinstance(name, str) or name not in PARTS:
        raise RewardError(f"{place}: {unknown_name('part', name, PARTS)}")
    known = {field.name: field for field in fields(PARTS[name])}  # type: ignore[arg-type]
    for key in settings:
        if key not in known:
            raise RewardError(f"{place}: {name}: {unknown_name('key', key, ['part', *known])}")
    for key, field in known.items():
        if field.default is MISSING and key not in settings:
            raise RewardError(f"{place}: {name}: the key {key} is missing")
    try:
        return PARTS[name](**settings)
    except RewardError as error:
        raise RewardError(f"{place}: {error}") from None


class RewardTable(ColumnTable):
    """The rewards of a batch, explained: the score, a column for each part of the shape, and the reward.

    Columns are attributes and items, as NumPy arrays. Rows of missing answers hold NaN. Arrow consumers accept the
    table directly: `pyarrow.table(t)`, `polars.DataFrame(t)`, duckdb by name.
    """

    def __init__(self, signature: str, columns: dict[str, Floats]) -> None:
        """Created by `Reward.details`."""
        self.signature = signature
        self._floats = columns

    def __len__(self) -> int:
        return len(self._floats["reward"])

    def rows(self, start: int, stop: int) -> RewardTable:
        """The rows from `start` up to `stop` as a new table, without a copy."""
        return RewardTable(self.signature, {name: values[start:stop] for name, values in self._floats.items()})

    def __repr__(self) -> str:
        return self._described(~np.isnan(self["reward"]), self.columns)


class Reward:
    """A score of answers, shaped for training; thread-safe, and small as a pickle.

    Args:
        source: A suite, a `Scorer`, a `ScorerSpec` or a `ReferenceScorer`.
        shape: The parts that shape the score, applied in their order; see `shape_of`. The profile of a shape, such as
            `"normalised"` of `"recommended"`, is used if the source is a suite (`Suite`, str or Path). A `Scorer` or
            `ScorerSpec` keeps its own profile, and a `ReferenceScorer` has none.
        metric: The score that is shaped. Of a suite: `"score"`, or one of its parts, `"fluency"`, `"truthfulness"` and
            `"helpfulness"`. Of a `ReferenceScorer`: one of its metrics, by default its only metric.
        reasoning: `"strip"` removes the reasoning of a model by its tags and channels, and counts an answer within
            unfinished reasoning as empty and unfinished. `"keep"` scores texts unchanged. `"refuse"` is an error.
        on_error: The reward of a row that cannot be scored: a missing answer, a value that is no text, an unknown
            question, or a part that is not finite. `"raise"` raises an error that names the row; `"zero"` and `"nan"`
            score the other rows as if this row did not exist.

    Raises:
        RewardError: The source, the metric, the shape or another setting is invalid.

    Example:
        >>> from pfgen_fast import Reward
        >>> from pfgen_fast import Repetition
        >>> reward = Reward("mini", [Repetition(4, 0.1)])
        >>> good = "Ice is less dense than water, because its molecules form an open lattice."
        >>> reward("Q07", [good, f"{good} {good}"]).round(2).tolist()
        [0.6, 0.34]
    """

    def __init__(
        self,
        source: Any,
        shape: ShapeLike = None,
        *,
        metric: str | None = None,
        reasoning: Reasoning = "strip",
        on_error: OnError = "raise",
    ) -> None:
        read = shape_of(shape)
        for name, value, choices in (("reasoning", reasoning, REASONING), ("on_error", on_error, ON_ERROR)):
            if value not in choices:
                raise RewardError(unknown_name(name, value, choices))
        self.reasoning, self.on_error = reasoning, on_error
        self._source = source_of(source, metric, read.profile)
        self.shape: tuple[Part, ...] = read.parts
        names = [part.name for part in self.shape]
        numbers = [names[:index].count(name) + 1 for index, name in enumerate(names)]
        columns = (name if number == 1 else f"{name}_{number}" for name, number in zip(names, numbers, strict=True))
        self._parts = dict(zip(columns, self.shape, strict=True))

    @property
    def metric(self) -> str:
        """The score that is shaped."""
        return self._source.metric

    @property
    def signature(self) -> str:
        """Identifies how rewards are computed: the signature of the scores, the metric, the shape and the reasoning."""
        shape = f"|shape:{'+'.join(map(repr, self.shape))}" if self.shape else ""
        return self._source.signature + shape + (f"|reasoning:{self.reasoning}" if self.reasoning != "strip" else "")

    @property
    def scorer(self) -> Scorer | None:
        """The scorer of the suite; None if the source is a `ReferenceScorer`."""
        return self._source.scorer

    @property
    def needs_prompts(self) -> bool:
        """Whether a part of the shape needs the prompts."""
        return any(isinstance(part, Copying) and part.source == "prompts" for part in self.shape)

    @property
    def needs_groups(self) -> bool:
        """Whether a part of the shape needs the groups."""
        return any(isinstance(part, Diversity | GroupRelative) for part in self.shape)

    def __call__(
        self,
        questions: Any,
        answers: Any,
        *,
        prompts: Any = None,
        references: Any = None,
        finished: Any = None,
        n_tokens: Any = None,
        groups: Any = None,
    ) -> Floats:
        """The rewards of a batch, which are finite unless `on_error` is `"nan"`.

        Args:
            questions: The id or text of one question for all answers, or a column with one for each answer; None if
                the source is a `ReferenceScorer`.
            answers: A column of texts; see `Scorer.score`.
            prompts: The prompt of each answer, for `Copying`.
            references: One list of reference answers for each answer, if the source is a `ReferenceScorer`.
            finished: Whether each answer ended by itself, for `Unfinished`.
            n_tokens: The number of tokens of each answer, for lengths in tokens.
            groups: The group of each answer, a text or a number that the answers to one prompt share, for
                `GroupRelative` and `Diversity`.

        Raises:
            TrialsError: The answers cannot be scored (see `Scorer.score`), or a reward is not finite.
            RewardError: A column that the shape needs is missing or is invalid.
        """
        known = {
            "prompts": prompts,
            "references": references,
            "finished": finished,
            "n_tokens": n_tokens,
            "groups": groups,
        }
        if self.scorer and self.metric == "score" and not self.shape and all(x is None for x in known.values()):
            try:
                return self.scorer.reward(questions, read_reasoning(self.reasoning, answers, None)[0])
            except TrialsError as error:
                if self.on_error == "raise" or error.row is None:
                    raise
        return self._columns(questions, answers, known, nulls=False)["reward"]

    def details(
        self,
        questions: Any,
        answers: Any,
        *,
        prompts: Any = None,
        references: Any = None,
        finished: Any = None,
        n_tokens: Any = None,
        groups: Any = None,
    ) -> RewardTable:
        """The rewards of a batch with the score and the column of each part; takes the arguments of a call.

        A missing answer has NaN; with `on_error="zero"`, its reward is 0. A suite adds the parts of the score.

        Example:
            >>> from pfgen_fast import Reward
            >>> from pfgen_fast import Overlong
            >>> table = Reward("mini", [Overlong(10, 20)]).details("Q07", ["Ice floats.", "It is light."])
            >>> table.columns, table["overlong"].tolist()
            (('fluency', 'truthfulness', 'helpfulness', 'score', 'overlong', 'reward'), [0.9, 0.8])
        """
        known = {
            "prompts": prompts,
            "references": references,
            "finished": finished,
            "n_tokens": n_tokens,
            "groups": groups,
        }
        return RewardTable(self.signature, self._columns(questions, answers, known, nulls=True))

    def _columns(self, questions: Any, answers: Any, known: dict[str, Any], *, nulls: bool) -> dict[str, Floats]:
        if self.on_error == "raise":
            return self._scored(questions, answers, nulls=nulls, has_parts=nulls, **known)
        scored = partial(self._scored, nulls=False, has_parts=nulls)
        try:
            return scored(questions, answers, **known)
        except TrialsError as error:
            if error.row is None:
                raise
        columns = without_faults(scored, questions, answers, known)
        if self.on_error == "zero":
            columns["reward"] = np.nan_to_num(columns["reward"])
        return columns

    def _scored(
        self,
        questions: Any,
        answers: Any,
        prompts: Any,
        references: Any,
        finished: Any,
        n_tokens: Any,
        groups: Any,
        nulls: bool,
        has_parts: bool,
    ) -> dict[str, Floats]:
        answers, finished = read_reasoning(self.reasoning, answers, finished)
        with worded():
            column = _core.TextColumn(answers, "answers", nulls)
        n_threads = self._source.n_threads
        batch = Batch(column, prompts, finished, n_tokens, groups, n_threads=n_threads, has_parts=has_parts)
        columns = self._source.score(questions, batch, references)
        rewards = columns["score"]
        for name, part in self._parts.items():
            columns[name], rewards = part._shaped(rewards, batch)
        if not (nulls or math.isfinite(rewards.dot(rewards)) or np.isfinite(rewards).all()):  # the product is quicker
            row = int(np.isfinite(rewards).argmin())
            raise TrialsError(f"expected a finite reward, got {rewards[row]:g}", column="answers", row=row)
        return {**columns, "reward": rewards}

    def spans(self, question: str, answer: str, *, reward: float | None = None) -> RewardSpans:
        """The shares of the characters of one answer in its reward, and of the tokens of a trainer.

        Takes some milliseconds, and up to 0.1 s for the first answer to a question of a large suite.

        Args:
            question: The id or text of the question.
            answer: The answer, with its reasoning, which has no share.
            reward: The reward that is divided; by default that of a call with this answer only. Pass it if the shape
                needs more than the answer, such as groups.

        Raises:
            RewardError: The source is no suite, or its profile is `paper`.

        Example:
            >>> from pfgen_fast import Reward
            >>> spans = Reward("mini").spans("Q07", "Ice floats because it is less dense.")
            >>> [spans.answer[keyword.start : keyword.end] for keyword in spans.keywords]
            ['dense']
        """
        if not isinstance(self._source, SuiteSource):
            raise RewardError("spans: expected a reward by a suite, not by a ReferenceScorer")
        reward = self(question, [answer])[0].item() if reward is None else reward
        try:
            is_finite = math.isfinite(reward)
        except TypeError:
            is_finite = False
        if not is_finite:
            raise RewardError(f"reward: expected a finite number, got {shown_value(reward)}")
        (text,), _ = read_reasoning(self.reasoning, [answer], None)
        return self._source.span_finder.spans(question, answer, text, self.metric, reward)

    def __repr__(self) -> str:
        return f"Reward({self.metric}, [{', '.join(map(repr, self.shape))}])"
