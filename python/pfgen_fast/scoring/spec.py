"""What makes a scorer, in some hundred bytes: for processes that each make the scorer for themselves, once.

A spec is sent with every task of a distributed engine; the scorer behind it is made when it is first used, and stays
for the rest of the process.
"""

from __future__ import annotations

import os
import pickle
import threading
from pathlib import Path
from typing import Any

from ..native.threads import cached_property, checked_threads
from ..suite.rules import FLOAT_SUMS, PROFILES, FloatSum, Profile, check_choice
from ..suite.suite import Suite
from .score_table import score_columns
from .scorer import Scorer, signature_of

_scorers: dict[ScorerSpec, Scorer] = {}
_making = threading.Lock()


def _forget_lock() -> None:
    """A child forked while another thread makes a scorer would wait forever, so it gets a new lock."""
    global _making
    _making = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_lock)


class ScorerSpec:
    """How to make a `Scorer`; small, picklable, comparable.

    A pickle holds the path and the hash of a suite's folder, not its references; only a suite that was built in memory
    is sent whole. Where the receiver has no such folder, or another suite in it, `scorer` says so in one sentence.
    Where the compiled index is missing, one process builds it into the cache of the machine and the others wait.

    Args:
        suite: The suite, or anything that `Suite.load` accepts.
        profile: See `Scorer`.
        float_sum: See `Scorer`.
        index: See `Scorer`; a path that every receiver can read.
        threads: The threads of each scorer; by default one for each core that its process may use.

    Raises:
        SuiteError: The suite breaks the rules.
        ValueError: The profile, float sum or number of threads is invalid.

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
        """The suite; of a spec that was sent, it is read when it is first asked for.

        Raises:
            SuiteError: The suite cannot be read here, or is another one.
        """
        made = _scorers.get(self)  # engines send a spec with every task, and a suite from memory may be large
        suite: Suite = pickle.loads(self._sent_suite) if made is None else made.suite
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
        """The columns of scores that there are; those of a `ScoreTable` without `question_id`."""
        return score_columns(self.suite.set_names)

    @property
    def scorer(self) -> Scorer:
        """The scorer of this process; all equal specs share it.

        Raises:
            SuiteError: The suite cannot be read here, or is another one.
            IndexFormatError: The file `index` is unusable.
        """
        with _making:
            if self not in _scorers:
                _scorers[self] = Scorer(
                    self.suite,
                    profile=self.profile,
                    float_sum=self.float_sum,
                    threads=self.threads,
                    index=self.index,
                )
            return _scorers[self]

    def with_threads(self, threads: int) -> ScorerSpec:
        """The same with a number of threads, unless it has one: for engines that have processes or threads themselves.

        Example:
            >>> ScorerSpec("mini").with_threads(1).threads, ScorerSpec("mini", threads=4).with_threads(1).threads
            (1, 4)
        """
        if self.threads is not None:
            return self
        return ScorerSpec(
            self.suite,
            profile=self.profile,
            float_sum=self.float_sum,
            index=self.index,
            threads=checked_threads(threads),
        )

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
    """A spec that another process sent; nothing is read yet, so what is missing here is told where it is used."""
    spec = ScorerSpec.__new__(ScorerSpec)
    spec.__dict__["_sent_suite"] = sent_suite
    spec._set(*key)
    return spec
