"""The settings of a scorer, in a few hundred bytes, for processes that each create the scorer once.

A distributed engine sends a spec with every task; the process creates the scorer at the first use and keeps it.
"""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

from ..base.native import ForkSafeLock, cached_property, checked_threads
from ..suite.rules import FLOAT_SUMS, PROFILES, FloatSum, Profile, check_choice
from ..suite.suite import Suite
from .score_table import score_columns
from .scorer import Scorer, signature_of

_scorers: dict[ScorerSpec, Scorer] = {}
_making = ForkSafeLock()


class ScorerSpec:
    """The settings of a `Scorer`; small, picklable and comparable.

    A pickle contains the path and the hash of a suite's directory, not its references; only a suite that was built in
    memory is sent whole. `scorer` raises an error if the receiver lacks that directory or has another suite there.
    If the compiled index is missing, one process builds it into the machine's cache and the others wait.

    Args:
        suite: The suite, or anything that `Suite.load` accepts.
        profile: See `Scorer`.
        float_sum: See `Scorer`.
        index: See `Scorer`; a path that every receiver can read.
        threads: The number of threads of each scorer; by default one for each core that its process may use.

    Example:
        >>> import pickle
        >>> spec = ScorerSpec("mini")
        >>> len(pickle.dumps(spec)) < 1000, pickle.loads(pickle.dumps(spec)) == spec
        (True, True)
        >>> spec.scorer.signature == spec.signature, spec.scorer is ScorerSpec("mini").scorer
        (True, True)
    """

    def __init__(
        self,
        suite: Suite | str | Path,
        *,
        profile: Profile = "leaderboard",
        float_sum: FloatSum = "compensated",
        index: str | Path | None = None,
        threads: int | None = None,
    ) -> None:
        check_choice("profile", profile, PROFILES)
        check_choice("float_sum", float_sum, FLOAT_SUMS)
        if threads is not None:
            checked_threads(threads)
        self.__dict__["suite"] = suite if isinstance(suite, Suite) else Suite.load(suite)
        self._set(self.suite.metadata_hash, profile, float_sum, None if index is None else str(index), threads)

    def _set(
        self, suite_hash: str, profile: Profile, float_sum: FloatSum, index: str | None, threads: int | None
    ) -> None:
        self.suite_hash, self.profile, self.float_sum = suite_hash, profile, float_sum
        self.index, self.threads = index, threads

    @cached_property
    def suite(self) -> Suite:
        """The suite; a receiver reads it at the first use, and raises SuiteError if it is missing or has changed."""
        scorer = _scorers.get(self)  # engines send a spec with every task, and a suite from memory may be large
        suite: Suite = pickle.loads(self._sent_suite) if scorer is None else scorer.suite
        return suite

    @cached_property
    def _sent_suite(self) -> bytes:
        return pickle.dumps(self.suite)

    @property
    def signature(self) -> str:
        """The signature of the scorer; see `Scorer.signature`."""
        return signature_of(self.suite, profile=self.profile, float_sum=self.float_sum)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of a `ScoreTable` without `question_id`."""
        return score_columns(self.suite.set_names)

    @property
    def scorer(self) -> Scorer:
        """The scorer of this process, which all equal specs share; raises the errors of `Scorer`."""
        with _making:
            if self not in _scorers:
                settings: dict[str, Any] = {"profile": self.profile, "float_sum": self.float_sum}
                _scorers[self] = Scorer(self.suite, threads=self.threads, index=self.index, **settings)
            return _scorers[self]

    def with_threads(self, threads: int) -> ScorerSpec:
        """Returns a spec with this number of threads, unless it already has one; for engines that start processes.

        Example:
            >>> ScorerSpec("mini").with_threads(1).threads, ScorerSpec("mini", threads=4).with_threads(1).threads
            (1, 4)
        """
        if self.threads is not None:
            return self
        return _received(self._sent_suite, *self._key[:-1], checked_threads(threads))

    @property
    def _key(self) -> tuple[object, ...]:
        return self.suite_hash, self.profile, self.float_sum, self.index, self.threads

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ScorerSpec) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __reduce__(self) -> tuple[Any, ...]:
        return _received, (self._sent_suite, *self._key)

    def __repr__(self) -> str:
        return f"ScorerSpec({self.suite_hash[:7]}, profile={self.profile!r}, float_sum={self.float_sum!r})"


def _received(sent_suite: bytes, *key: Any) -> ScorerSpec:
    """A spec that another process sent; the suite is read at the first use."""
    spec = ScorerSpec.__new__(ScorerSpec)
    spec.__dict__["_sent_suite"] = sent_suite
    spec._set(*key)
    return spec
