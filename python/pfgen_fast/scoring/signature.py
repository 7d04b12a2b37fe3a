"""The signature of scores: everything that they depend on besides questions and answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..native import _core

if TYPE_CHECKING:
    from ..suite.rules import FloatSum, Profile
    from ..suite.suite import Suite


def signature_of(suite: Suite, *, profile: Profile = "leaderboard", float_sum: FloatSum = "compensated") -> str:
    """Names the version, the hash of the suite, the profile, the float sum and the n-gram orders."""
    return f"pfgen-fast:{_core.__version__}|suite:{suite.metadata_hash}|profile:{profile}|sum:{float_sum}|orders:1-10"
