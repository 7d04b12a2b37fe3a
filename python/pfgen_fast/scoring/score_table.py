"""Tables of scores: NumPy arrays and Arrow columns are zero-copy views of the memory of the core."""

from __future__ import annotations

import json
import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

from ..base.errors import TrialsError, optional
from ..base.native import _core, cached_property
from ..base.table import Column, Html, Table
from ..base.untrusted_text import html_text, utf8
from ..suite.rules import COLUMNS, FLOAT_SUMS, check_choice

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Self

    from ..suite.questions import Question
    from ..suite.rules import FloatSum, Profile
    from ..suite.suite import Suite

    Floats = NDArray[np.float64]


_HELPFULNESS, _AVERAGE = COLUMNS.index("helpfulness"), COLUMNS.index("average")
_N_SHOWN = 300  # characters of an answer
_N_ROWS_SHOWN = 20


class ColumnTable(ABC):
    """A table whose columns are attributes and items; most columns are floats."""

    _floats: dict[str, Floats]  # columns of floats, in order

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(self._floats)

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def rows(self, start: int, stop: int) -> Self:
        """The rows from `start` up to `stop` as a new table, without a copy."""

    def __getitem__(self, column: str) -> NDArray[Any]:
        try:
            return self._floats[column]
        except KeyError:
            raise KeyError(f"no column {column!r}; there are {', '.join(self.columns)}") from None

    def __getattr__(self, name: str) -> Floats:
        # Python calls this only for names that are not ordinary attributes.
        if not name.startswith("_") and name in self.columns:
            return self._floats[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yields rows as dictionaries from column to value."""
        values = zip(*(self[name].tolist() for name in self.columns), strict=True)
        return (dict(zip(self.columns, row, strict=True)) for row in values)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Exports the table to Arrow consumers; NaN becomes null, and contiguous columns are not copied."""
        import numpy as np

        columns = list(map(np.ascontiguousarray, self._floats.values()))
        return _core.export_stream(len(self), None, list(self._floats), columns)

    def __copy__(self) -> Self:
        return self.rows(0, len(self))

    def __deepcopy__(self, memo: object) -> Self:
        return self.rows(0, len(self))  # nothing in it changes

    def to_pandas(self) -> Any:
        """The columns as a pandas.DataFrame."""
        return self._frame("pandas")

    def to_polars(self) -> Any:
        """The columns as a polars.DataFrame."""
        return self._frame("polars")

    def _frame(self, library: str) -> Any:
        module = optional(library, extra=library, needed_for=f"{type(self).__name__}.to_{library}")
        return module.DataFrame({name: self[name] for name in self.columns})

    def _repr_html_(self) -> str:
        """The table for notebooks: at most 20 rows, no script."""
        words = "".join(f"<p>{html_text(sentence)}</p>" for sentence in self._words())
        n_more = len(self) - _N_ROWS_SHOWN
        more = f"<p>{n_more:,} more rows</p>" if n_more > 0 else ""
        return words + self.rows(0, _N_ROWS_SHOWN)._for_readers()._repr_html_() + more

    def _words(self) -> Sequence[str]:
        """The sentences above the table in notebooks."""
        return ()

    def _for_readers(self) -> Table:
        """The rows as notebooks show them."""
        return Table(list(map(Column, self.columns)), [tuple(row.values()) for row in self])

    def _described(self, is_scored: Any, names: Sequence[str]) -> str:
        """The number of answers, and the means of some columns."""
        if not is_scored.any():
            return f"{type(self).__name__}({len(self)} answers, none scored)"
        means = ", ".join(f"{name} {column[column == column].mean():.4f}" for name in names for column in [self[name]])
        return f"{type(self).__name__}({len(self)} answers{'; mean ' if names else ''}{means})"


def score_columns(set_names: Sequence[str]) -> tuple[str, ...]:
    """The columns of scores of a suite with these reference sets, in the order of the core."""
    return (*COLUMNS, *(f"{metric}_{name}" for metric in COLUMNS[:2] for name in set_names))


def signature_of(suite: Suite, *, profile: Profile = "leaderboard", float_sum: FloatSum = "compensated") -> str:
    """Names the version, the hash of the suite, the profile, the float sum, the n-gram orders, and unusual lengths."""
    names = f"pfgen-fast:{_core.__version__}|suite:{suite.metadata_hash}|profile:{profile}|sum:{float_sum}|orders:1-10"
    lengths = list(dict.fromkeys(question.lengths for question in suite))
    if not any(several.source for several in lengths):
        return names
    targets, limits = (",".join(str(getattr(pair, key)) for pair in lengths) for key in ("target", "limit"))
    return f"{names}|target:{targets}|limit:{limits}"


class TableScorer(Protocol):
    """The parts of a `Scorer` that its tables use."""

    suite: Suite
    profile: Profile
    core: _core.Scorer


class ScoreTable(ColumnTable):
    """Scores of a batch as NumPy columns, with one row for each answer in the order of the batch.

    Columns are attributes and items: `question_id`, `fluency`, `truthfulness`, `helpfulness`, `average`, and for each
    reference set `fluency_<set>` and `truthfulness_<set>` (NaN where a question lacks the set). Rows of missing answers
    hold NaN. Arrow consumers accept the table directly: `pyarrow.table(t)`, `polars.DataFrame(t)`, duckdb by name.

    Attributes:
        fluency: The fluency, summed over all sets.
        truthfulness: The truthfulness, summed over all sets.
        helpfulness: The helpfulness.
        average: The score: the mean of fluency, truthfulness and helpfulness.
        scorer: The scorer of the batch.
        float_sum: How the rounded parts of the scores are added up; see `Scorer`.

    Example:
        >>> from pfgen_fast import Scorer
        >>> table = Scorer("mini").score("Q07", ["Ice floats.", "It is less dense."])
        >>> len(table), table.columns
        (2, ('question_id', 'fluency', 'truthfulness', 'helpfulness', 'average', 'fluency_A', 'fluency_B', \
'truthfulness_A', 'truthfulness_B'))
    """

    fluency: Floats
    truthfulness: Floats
    helpfulness: Floats
    average: Floats

    def __init__(
        self,
        scorer: TableScorer,
        answers: _core.TextColumn,
        scores: _core.Scores,
        float_sum: FloatSum,
        *,
        first: int = 0,
        n_rows: int | None = None,
    ) -> None:
        """Created by `Scorer.score`. The table covers `n_rows` rows of the scores of a batch, from `first` on."""
        self.scorer = scorer
        self.float_sum: FloatSum = float_sum
        self._answers, self._scores = answers, scores
        self._first, self._size = first, len(scores) if n_rows is None else n_rows

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return ("question_id", *score_columns(self.scorer.suite.set_names))

    @property
    def part(self) -> tuple[_core.Scores, int]:
        """The core's scores of the whole batch, and the row in them that is the first row of this table."""
        return self._scores, self._first

    @cached_property
    def _codes(self) -> NDArray[np.int32]:
        return self._scores.codes[self._first : self._first + self._size]

    @cached_property
    def _floats(self) -> dict[str, Floats]:
        rows = slice(self._first, self._first + self._size)
        return {name: self._scores.column(i)[rows] for i, name in enumerate(self.columns[1:])}

    @property
    def question_id(self) -> NDArray[np.str_]:
        """The id of each row's question."""
        import numpy as np

        return np.array([question.question_id for question in self.scorer.suite])[self._codes]

    @property
    def signature(self) -> str:
        """Identifies how the scores were computed; see `Scorer.signature`."""
        return signature_of(self.scorer.suite, profile=self.scorer.profile, float_sum=self.float_sum)

    def __getitem__(self, column: str) -> NDArray[Any]:
        return self.question_id if column == "question_id" else super().__getitem__(column)

    def __len__(self) -> int:
        return self._size

    def rows(self, start: int, stop: int) -> ScoreTable:
        """The rows from `start` up to `stop` as a new table, without a copy.

        Example:
            >>> from pfgen_fast import Scorer
            >>> len(Scorer("mini").score("Q07", ["Ice floats.", "It melts.", ""]).rows(1, 3))
            2
        """
        start, stop, _ = slice(start, stop).indices(len(self))
        first, n_rows = self._first + start, max(stop - start, 0)
        return ScoreTable(self.scorer, self._answers, self._scores, self.float_sum, first=first, n_rows=n_rows)

    def __reduce__(self) -> tuple[Any, ...]:
        import numpy as np

        answers = [self._answers[row] for row in range(self._first, self._first + len(self))]
        return _table, (self.scorer, answers, self._codes, np.stack(list(self._floats.values())), self.float_sum)

    def __repr__(self) -> str:
        return self._described(self.average == self.average, list(self._floats)[:4])  # NaN equals nothing

    def _words(self) -> list[str]:
        return [repr(self), "Bold: in many reference answers. Struck through: in almost none."]

    def _for_readers(self) -> Table:
        """The scores of each answer, and the answer with rare parts struck through and common parts bold."""
        from .tinting import QuestionTints, tinted_html

        tints = {code: QuestionTints(self.scorer.suite.questions[code]) for code in set(self._codes.tolist())}
        rows = []
        for row, (code, scores) in enumerate(zip(self._codes.tolist(), self, strict=True)):
            answer = self._answers[self._first + row] or ""
            text = answer[:_N_SHOWN]
            marked = tinted_html(text, tints[code].levels([text])[0]) + ("…" if len(answer) > _N_SHOWN else "")
            rows.append((*(scores[name] for name in self.columns[:5]), Html(marked)))
        return Table(list(map(Column, (*self.columns[:5], "answer"))), rows)

    def details(self, row: int) -> dict[str, Any]:
        """The object of docs/scoring.md, section 5, for one row: all parts, and the keyword rules that are not met.

        Example:
            >>> from pfgen_fast import Scorer
            >>> table = Scorer("mini").score("Q07", ["Ice floats."])
            >>> list(table.details(0))
            ['fluency', 'fluency_discount', 'truthfulness', 'helpfulness', 'helpfulness_results', 'average']
        """
        index = operator.index(row)
        if not -len(self) <= index < len(self):
            raise IndexError(f"row {row} of a table of {len(self)}")
        index %= len(self)
        row_scores = self._scores.row(self._first + index)
        code, values = row_scores.code, row_scores.values
        if math.isnan(values[_AVERAGE]):
            raise TrialsError(f"row {index} holds no answer (a null), so it has no details")
        question = self.scorer.suite.questions[code]
        fluency, truthfulness = _set_columns(question, self.scorer.suite.set_names)
        discount = 1.0
        if self.scorer.profile == "paper":
            discount = max(0.0, question.lengths.native.discount(question.n_units(self._answers[self._first + index])))
        cut = self.scorer.core.details(code, self._answers, self._first + index)
        names, rules = question.rule_names, question.keywords
        unmet: list[list[Any]] = [[names[rule.named_by], 1 - rules[rule.rule].importance] for rule in cut.unmet]
        n_over = cut.truncation - question.lengths.target
        if n_over > 0 and cut.score > 0:
            unmet.append([f"{n_over}字超過", question.lengths.native.discount(cut.truncation)])
        return {
            "fluency": {name: values[column] for name, column in fluency.items()},
            "fluency_discount": discount,
            "truthfulness": {name: values[column] for name, column in truthfulness.items()},
            "helpfulness": values[_HELPFULNESS],
            "helpfulness_results": unmet,
            "average": values[_AVERAGE],
        }

    def records_json(self, rows: Sequence[int], lines: Sequence[bytes], depth: int) -> list[bytes | None]:
        """The records of trials in a result.json, from their lines; None where `details` must be used instead."""
        if self.scorer.profile == "paper":  # the discount differs in each record
            return [None] * len(rows)
        rows = [self._first + row for row in rows]
        return self.scorer.core.records(
            _record_forms(self.scorer.suite), self._scores, self._answers, rows, lines, depth
        )

    def added_up(self, float_sum: FloatSum) -> ScoreTable:
        """The same scores, their rounded parts added up with this float sum; see `Scorer`.

        Example:
            >>> from pfgen_fast import Scorer
            >>> Scorer("mini").score("Q07", ["Ice floats."]).added_up("naive").float_sum
            'naive'
        """
        check_choice("float_sum", float_sum, FLOAT_SUMS)
        core = self.scorer.core.with_float_sum(getattr(_core.FloatSum, float_sum))
        scores = core.added_up(self._scores, self._first, len(self))
        return ScoreTable(self.scorer, self._answers.part(self._first, len(self)), scores, float_sum)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Exports the table to Arrow consumers; NaN becomes null, and float columns are not copied."""
        ids = [question.question_id for question in self.scorer.suite]
        coded = ("question_id", self._codes, ids)
        return _core.export_stream(len(self), coded, list(self._floats), list(self._floats.values()))


def _table(
    scorer: TableScorer, answers: list[str | None], codes: NDArray[np.int32], columns: Floats, float_sum: FloatSum
) -> ScoreTable:
    return ScoreTable(scorer, _core.TextColumn(answers, "answers", True), _core.Scores(codes, columns), float_sum)


def _set_columns(question: Question, set_names: Sequence[str]) -> tuple[dict[str, int], dict[str, int]]:
    """The index of each set of a question in a row of scores, for fluency and for truthfulness."""
    places = {name: len(COLUMNS) + set_names.index(name) for name in question.answers}
    return places, {name: place + len(set_names) for name, place in places.items()}


@lru_cache(maxsize=1)  # all runs of a command have the same suite
def _record_forms(suite: Suite) -> list[_core.RecordForm]:
    """What the records of each question have in common, for the core."""
    encode = json.JSONEncoder(ensure_ascii=False).encode  # `json.dumps` would make it anew at each call

    def written(values: Iterable[Any]) -> list[bytes]:
        return [utf8(encode(value)) for value in values]

    columns = [_set_columns(question, suite.set_names) for question in suite]
    return [
        _core.RecordForm(
            set_names=written(question.answers),
            fluency_columns=list(fluency.values()),
            truthfulness_columns=list(truthfulness.values()),
            rule_names=written(question.rule_names),
            rule_scores=written(1 - rule.importance for rule in question.keywords),
            lengths=question.lengths.native,
        )
        for question, (fluency, truthfulness) in zip(suite, columns, strict=True)
    ]
