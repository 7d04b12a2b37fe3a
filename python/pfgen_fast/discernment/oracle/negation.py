"""`negate`: statements are denied, and denials become statements."""

from __future__ import annotations

import re
from functools import cache

from ..tables import tables
from .damage import Case, Damage, replaced_sites
from .texts import Span

_WITHOUT_NT = {"wo": "will", "ca": "can"}
"""What is left of `won't` and `can't`."""


def negate(case: Case) -> Damage:
    """Predicates become their opposites."""
    reading = case.reading
    pattern, opposite = (_japanese(), _opposite_ja) if reading.language == "ja" else (_english(), _opposite_en)
    opposites = {Span(*match.span()): opposite(match) for match in pattern.finditer(reading.seen)}
    sites = [site for site in opposites if not reading.has_joining(site)]
    return replaced_sites(case, sites, lambda site, _: opposites[site])


@cache
def _japanese() -> re.Pattern[str]:
    longest_first = sorted(tables().negation_ja, key=len, reverse=True)
    followed_by = [*map(re.escape, tables().negation_ja_followed_by), *([r"\Z"] * tables().negation_ja_at_end)]
    return re.compile(f"(?:{'|'.join(longest_first)})(?={'|'.join(followed_by)})")


def _opposite_ja(predicate: re.Match[str]) -> str:
    return tables().negation_ja[predicate.group()]


@cache
def _english() -> re.Pattern[str]:
    with_nt = "ca|wo|do|is|are|was|were|could|would|should|has|have|had|does|did"
    auxiliaries = "|".join(tables().auxiliaries)
    return re.compile(rf"\b(?:(cannot)|({with_nt})(n['’]t)|({auxiliaries})(?! to\b)( not)?)\b", re.IGNORECASE)


def _opposite_en(predicate: re.Match[str]) -> str:
    """The verb denied or, if it is, no longer denied; letters that stay keep their case."""
    cannot, before_nt, _, auxiliary, not_behind = predicate.groups()
    if cannot:
        return cannot[:3]
    if before_nt:
        left = _WITHOUT_NT.get(before_nt.lower())
        return before_nt if left is None else left.capitalize() if before_nt[0].isupper() else left
    if not_behind:
        return auxiliary
    return auxiliary + ("not" if auxiliary.lower() == "can" else " not")
