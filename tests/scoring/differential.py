"""Core against oracle: a batch through every shape in which the core can be called, and which rare cases it holds."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow
from makers.strategies import USUAL, borders
from pfgen_fast import Question, Scorer, Suite
from pfgen_fast.base.native import _core
from pfgen_fast.oracle import Oracle
from pfgen_fast.scoring.normalisation import normalised
from pfgen_fast.suite.rules import PROFILES

MODES = [(profile, float_sum) for profile in PROFILES for float_sum in ("compensated", "naive")]


def check(suite: Suite, questions: Sequence[str], answers: Sequence[str], profile: str, float_sum: str) -> None:
    """Raises AssertionError unless every call shape gives what the oracle gives, to the last bit."""
    suite = for_profile(suite, profile)
    oracle = Oracle(suite, profile=profile, float_sum=float_sum)
    expected = [oracle.score_one(*row) for row in zip(questions, answers, strict=True)]
    averages = [scores["average"] for scores in expected]
    scorer = Scorer(suite, profile=profile, float_sum=float_sum, threads=2)

    table = scorer.score(questions, answers)
    # repr distinguishes 0.0 from -0.0 and 0 from 0.0.
    assert list(map(repr, map(table.details, range(len(answers))))) == list(map(repr, expected))
    assert [repr(scorer.score_one(*row)) for row in zip(questions, answers, strict=True)] == list(map(repr, expected))
    assert scorer.reward(questions, answers).tolist() == averages
    for column in columns(answers):
        assert scorer.score(questions, column).average.tolist() == averages
    sent = Scorer.from_bytes(scorer.to_bytes(), float_sum=float_sum)
    assert sent.reward(list(questions), list(answers)).tolist() == averages


def for_profile(suite: Suite, profile: str) -> Suite:
    """The suite; for profile normalised, with a unit in each set."""
    if profile != "normalised":
        return suite
    questions = [
        replace(
            question,
            answers={
                name: texts if any(map(normalised, texts)) else (*texts, "a")
                for name, texts in question.answers.items()
            },
        )
        for question in suite
    ]
    return Suite(suite.name, tuple(questions), suite.derived_from)


def columns(answers: Sequence[str]) -> Iterator[object]:
    """The answers in every container that can hold them."""
    yield tuple(answers)
    yield np.array([*answers, ""], dtype=object)[:-1]
    lines = "".join(json.dumps({"question": "", "answer": answer}) + "\n" for answer in answers).encode()
    yield _core.TrialLines(lines, _parsed).answers
    if not any("\ud800" in answer for answer in answers):  # Arrow holds UTF-8 alone
        yield pyarrow.array(answers)
        yield pyarrow.array(answers, type=pyarrow.large_string())
        yield pyarrow.chunked_array([[], answers[:1], answers[1:]], type=pyarrow.string())


def _parsed(number: int, line: bytes) -> tuple[str, str]:
    trial = json.loads(line)
    return trial["question"], trial["answer"]


def kinds(suite: Suite, questions: Sequence[str], answers: Sequence[str], profile: str) -> set[str]:
    """The rare kinds of cases that a batch reaches, by name: numbers of sets, lengths at the limits, characters."""
    result = {f"{len(question.answers)} sets" for question in suite}
    if profile == "normalised":
        result.update(name for name, holds in NORMALISED.items() if any(map(holds, answers)))
    for question_id, answer in zip(questions, answers, strict=True):
        question = suite[question_id]
        is_plain = all(leaf.is_plain_text for rule in question.keywords for leaf in rule.leaves())
        length, unit = n_units(question, answer, profile)
        which = "usual" if question.lengths == USUAL else "other"
        result.update(
            f"{unit} around the {which} {name}{rules}"
            for name, border in borders(question.lengths).items()
            if length in border
            for rules in (("",) if is_plain else ("", _WITH_REGEX))
        )
    return result


def _is_read_to_its_end(text: str) -> bool:
    """Whether the last unit that is read is followed by many characters that are not units."""
    return len(normalised(text)) == 200 and len(normalised(text[:-20])) == 200


NORMALISED: dict[str, Callable[[str], object]] = {
    "marks that compose": re.compile("[eか][\u0301\u0323\u3099]").search,
    "voiced kana of half width": re.compile("[ｶﾊ][ﾞﾟ]").search,
    "jamo of Hangul": re.compile("\u1112\u1161\u11ab?").search,
    "a syllable of Hangul and a final": re.compile("하\u11ab").search,
    "a full stop between digits": re.compile("[1１][.．][1１]|⒈[1１]").search,
    "a lone surrogate": re.compile("\ud800").search,
    "an unassigned code point": re.compile("\u0378").search,
    "a character that becomes 18": re.compile("\ufdfa").search,
    "a long tail without units": _is_read_to_its_end,
}
"""Rare kinds of answers in profile normalised."""
_WITH_REGEX = " and a regex"
KINDS = {
    *(f"{n} sets" for n in range(1, 10)),
    *NORMALISED,
    *(
        f"{unit} around the {which} {name}{rules}"
        for which in ("usual", "other")
        for name in borders(USUAL)
        for unit in ("characters", "tokens", "units")
        for rules in ("", _WITH_REGEX)
    ),
}
"""All that `kinds` may return."""


def n_units(question: Question, text: str, profile: str) -> tuple[int, str]:
    """The length of a text in the units of a question and a profile, and their name."""
    if profile == "normalised":
        text = normalised(text, has_spaces=question.tokenizer is not None)
    if question.tokenizer is None:
        return len(text), "characters" if profile != "normalised" else "units"
    (tokens,) = question.tokenizer.tokens([text])
    return len(tokens), "tokens"
