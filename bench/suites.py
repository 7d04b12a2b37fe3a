"""Suites made of reference sets in memory, for one set or for many more than there are in the files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from uuid import uuid4

from pfgen_fast import Question, Suite

QUESTION_ID = "Q1"


def suite_of_one_question(sets: Mapping[str, Sequence[str]]) -> Suite:
    """A suite whose only question has these sets and no keywords."""
    answers = MappingProxyType({name: tuple(references) for name, references in sets.items()})
    # A hash that was never seen before: no index of it can be lying in a cache.
    return Suite("bench", (Question(QUESTION_ID, "question", answers),), uuid4().hex)


def n_code_points(question: Question) -> int:
    """Size of all reference sets of a question."""
    return sum(len(reference) for references in question.answers.values() for reference in references)
