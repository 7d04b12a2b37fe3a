"""Hypothesis strategies: suites and answers near all limits of the rules, in characters and in tokens."""

import re
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st
from pfgen_fast import Question, Suite
from pfgen_fast.scoring.normalisation import normalised
from pfgen_fast.suite.keywords import Rule, freeze_rule
from pfgen_fast.suite.rules import Lengths
from pfgen_fast.suite.units import PatternTokenizer, Tokenizer

# Few letters, so that n-grams repeat; all characters with a special meaning; and unusual parts of Unicode.
LETTERS = st.sampled_from("aaabbbcde日本語の水")
SPECIAL = st.sampled_from(
    ["^", "$", "、", "。", "「", "（", "\x00", "\n", "\u2028", "é", "𠮷", "\U0010ffff", "\ud800", " "]
)
# What normalisation changes: marks, kana of half width, parts of Hangul, digits with a full stop, characters that are
# unassigned in Unicode 13.0 or become several, wide letters, and characters that are no units.
CHANGED = st.sampled_from([*"eか\u0301\u0323\u3099ｶﾞﾊﾟ\u1112\u1161\u11ab하1.１．\u0378\ufdfaＡaﬁİＥ（(…\u200b\u3000"])
CHANGED_PIECES = st.sampled_from(
    [
        *("e\u0301\u0323", "か\u3099", "ｶﾞ", "\u1112\u1161\u11ab", "하\u11ab"),
        *("1.1", "１．1", "⒈1", "1 .1", "\u0378", "\ufdfa", "Ａ"),
    ]
)
CHARACTERS = st.one_of(LETTERS, LETTERS, LETTERS, LETTERS, SPECIAL, CHANGED)
TAILS = st.sampled_from(["", "", "", "", " " * 30, "、。\u200b" * 9])
USUAL = Lengths()
LENGTHS = st.sampled_from([USUAL] * 5 + [Lengths(*pair) for pair in ((3, 4), (4, 9), (40, 60), (150, 254), (253, 290))])
"""Lengths of questions, none below the longest text of `rules`; past 255 units, repeats are found in another way."""


def borders(lengths: Lengths) -> dict[str, range]:
    """Around the target length, the limit, and the number of units that are looked at."""
    target, limit, end = lengths.target, lengths.limit, lengths.look_ahead
    names = {"target": range(target - 1, target + 3), "limit": range(limit - 2, limit + 3)}
    return {**names, "look-ahead": range(end - 2, end + 4)}


def sizes(lengths: Lengths) -> st.SearchStrategy[int]:
    """Sizes of answers at all limits, one in four past the last."""
    past = [lengths.look_ahead + more for more in (0, 1, 2, 60)]
    return st.one_of(*map(st.sampled_from, [(0, 1, 2, 3, 10, 11, 98), *borders(lengths).values(), past]))


# One token each for both pattern tokenizers, so that a text of n of them has n tokens.
WORDS = st.sampled_from(["a", "b", "aab", "cd", "日本", "の", "水", "é", "𠮷", "、", "「", "^", "$", "\ud800"])


def texts(max_size: int = 40) -> st.SearchStrategy[str]:
    return st.text(CHARACTERS, max_size=max_size)


def worded(max_size: int = 20, min_size: int = 0) -> st.SearchStrategy[str]:
    return st.lists(WORDS, min_size=min_size, max_size=max_size).map(" ".join)


@st.composite
def answers(draw: st.DrawFn, references: tuple[str, ...] = ("abc",), lengths: Lengths = USUAL) -> str:
    """Pieces of reference answers and free text, often cut or padded to exactly one of the limits."""
    pieces = draw(st.lists(st.one_of(st.sampled_from(references), texts(12), CHANGED_PIECES), max_size=6))
    text = "".join(pieces)
    if draw(st.integers(0, 2)) == 0:
        return text
    if draw(st.booleans()):  # of normalised text
        tail = draw(TAILS)
        n_missing = (lengths.look_ahead if tail else draw(sizes(lengths))) - len(normalised(text))
        return text + _padded("", draw(st.text(LETTERS, min_size=1)), max(0, n_missing)) + tail
    return _padded(text, draw(st.text(CHARACTERS, min_size=1, max_size=9)), draw(sizes(lengths)))


@st.composite
def answers_in_tokens(draw: st.DrawFn, references: tuple[str, ...], lengths: Lengths) -> str:
    """Words of reference answers and free words, often cut or padded to exactly one of the limits, in tokens."""
    pieces = draw(st.lists(st.one_of(st.sampled_from(references), worded(8)), max_size=6))
    if draw(st.integers(0, 3)) == 0:
        return "".join(pieces)
    words = _padded(" ".join(pieces).split(), draw(worded(6, 1)).split(), draw(sizes(lengths)))
    return " ".join(words) + draw(st.sampled_from(["", " ", "。"]))


def _padded(units: Any, filler: Any, length: int) -> Any:
    return (units + filler * (length // len(filler) + 1))[:length]


def importances() -> st.SearchStrategy[float]:
    return st.one_of(st.just(1.0), st.just(0.0), st.floats(0, 1))


@st.composite
def regexes(draw: st.DrawFn, lengths: Lengths) -> str:
    """Regular expressions of few parts, many of which depend on where the text is cut.

    No part that repeats without bound holds another, so that none backtracks exponentially.
    """
    if draw(st.integers(0, 2)) == 0:
        return draw(_of_one_size(lengths))
    parts = "".join(draw(st.lists(_regex_parts(), min_size=1, max_size=3)))
    begin = draw(st.sampled_from(["", "", "", "^", r"\A", "(?i)", "(?s)", "^(?!.*d)", "(?<=a)", "(?<!b)"]))
    end = draw(st.sampled_from(["", "", "$", r"\Z", ".*", ".*b", ".+?a", "(?=.*a)", "(?!.*b)"]))
    return begin + parts + end


@st.composite
def _of_one_size(draw: st.DrawFn, lengths: Lengths) -> str:
    """Matches early, but only in a text of one length: in characters, or in tokens between white space."""
    cuts = [lengths.look_ahead + more for more in (-1, 0, 1)]
    length = draw(st.one_of(st.sampled_from(cuts), sizes(lengths)).filter(lambda length: length > 1))
    n_matched = draw(st.integers(0, 2))
    in_characters = rf"^(?s:.{{{n_matched}}})(?=(?s:.{{{length - n_matched}}})\Z)"
    in_tokens = rf"^\S+(?=(?:\s+\S+){{{length - 1}}}\s*\Z)"
    return draw(st.sampled_from([in_characters, in_tokens]))


def _regex_parts() -> st.SearchStrategy[str]:
    letter = LETTERS.map(re.escape)
    single = st.one_of(
        letter, letter, st.sampled_from([".", "[ab]", "[^a]", r"\w", r"\S", r"\s", "[日本]", r"\^", r"\$"])
    )
    times = st.sampled_from(["", "", "*", "+", "?", "*?", "{2}", "{1,3}"])
    repeated = st.tuples(single, times).map("".join)
    choice = st.builds("({}|{}){}".format, letter, single, st.sampled_from(["", "", "?", "{2}"]))
    return st.one_of(repeated, repeated, repeated, choice, st.sampled_from([r"\b", "a|", "(?:)", r"(a)\1"]))


@st.composite
def rules(draw: st.DrawFn, lengths: Lengths, depth: int = 2) -> dict[str, Any]:
    form = draw(st.sampled_from(("t", "t", "and", "or") if depth else ("t",)))
    if form == "t":
        plain = st.text(CHARACTERS, max_size=3).map(re.escape)
        unescaped = st.text(LETTERS, max_size=3)
        rule: dict[str, Any] = {"t": draw(st.one_of(unescaped, plain, regexes(lengths), regexes(lengths)))}
    else:
        rule = {form: draw(st.lists(rules(lengths, depth - 1), min_size=1, max_size=3))}
    if draw(st.booleans()):
        rule["importance"] = draw(importances())
    if draw(st.integers(0, 3)) == 0:
        rule["name"] = draw(texts(4))
    return rule


def keywords(lengths: Lengths) -> st.SearchStrategy[tuple[Rule, ...]]:
    return st.lists(rules(lengths).map(freeze_rule), max_size=4).map(tuple)


SET_NAMES = "PSTRABCDE"


@st.composite
def suites(
    draw: st.DrawFn, max_questions: int = 2, tokenizers: st.SearchStrategy[Tokenizer | None] | None = None
) -> Suite:
    """Small suites that are valid in both profiles; questions may have different sets and units."""
    questions = []
    for number in range(draw(st.integers(1, max_questions))):
        tokenizer = draw(st.none() if tokenizers is None else tokenizers)
        lengths = draw(LENGTHS)
        most = min(20, lengths.limit - 1)
        reference = texts() if tokenizer is None else worded()
        short = st.text(CHARACTERS, min_size=1, max_size=most) if tokenizer is None else worded(most, 1)
        n_sets = draw(st.sampled_from([1, 1, 2, 2, 3, 4, 4, 5, 6, 7, 8, 9]))
        names = draw(st.permutations(SET_NAMES))[:n_sets]
        sets = {name: tuple(draw(st.lists(reference, min_size=1, max_size=6))) for name in names}
        # One answer that is neither empty nor long keeps the baseline above 0.
        sets = {name: (*set_answers, draw(short)) for name, set_answers in sets.items()}
        question = Question(f"Q{number}", f"text of {number}", sets, draw(keywords(lengths)), lengths=lengths)
        questions.append(replace(question, tokenizer=tokenizer))
    return Suite("drawn", tuple(questions), "0" * 40)


TOKENIZERS = st.sampled_from([None, None, None, PatternTokenizer("words"), PatternTokenizer("whitespace")])


@st.composite
def batches(draw: st.DrawFn) -> tuple[Suite, list[str], list[str]]:
    """A suite, and the questions and answers of one batch."""
    suite = draw(suites(tokenizers=TOKENIZERS))
    rows = []
    for _ in range(draw(st.integers(1, 8))):
        question = draw(st.sampled_from(suite.questions))
        references = tuple(answer for answers_of_set in question.answers.values() for answer in answers_of_set)
        answers_in_units = answers if question.tokenizer is None else answers_in_tokens
        rows.append((question.question_id, draw(answers_in_units(references, question.lengths))))
    questions, texts_of_rows = zip(*rows, strict=True)
    return suite, list(questions), list(texts_of_rows)
