"""Profile normalised: the table of the core, and the properties for which the profile exists."""

import string
import subprocess
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers import strategies
from makers.documented import ROOT
from makers.effort import examples
from pfgen_fast import Question, Scorer, Suite
from pfgen_fast.base.native import _core
from pfgen_fast.scoring.explanation import explain
from pfgen_fast.scoring.normalisation import aligned, nfkc, normalised
from pfgen_fast.suite.keywords import freeze_rule

N_CODE_POINTS = 0x110000
LETTERS = [chr(c) for c in range(0x2FA20)]  # no letter after them is combined or decomposed
JOINING = [*filter(unicodedata.combining, LETTERS), *LETTERS[0x1100:0x1200]]
CHANGED = [*filter(unicodedata.decomposition, LETTERS)]
TEXTS = st.text(st.one_of(strategies.CHANGED, *map(st.sampled_from, (JOINING, CHANGED)), st.characters()), max_size=12)

# A full stop is a unit between digits, so it is no punctuation that can stand anywhere.
ORDINARY = st.text(st.sampled_from("アイガパーあいう日本語水氷abcXYZ012+"), max_size=60)
PUNCTUATION = st.sampled_from([*"、。，！？!?,:;「」『』（）()[]{}-_・〜…—* \t\n\u3000\u200b\ufeff"])
TO_USUAL = {ord(c) + 0xFEE0: c for c in string.digits + string.ascii_letters}
TO_WIDE = {c: c + 0xFEE0 for c in range(0x21, 0x7F)}
TO_NARROW = {ord(nfkc(kana)): kana for c in range(0xFF71, 0xFF9E) for kana in (chr(c), chr(c) + "ﾞ", chr(c) + "ﾟ")
             if len(nfkc(kana)) == 1}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("step", [64, pytest.param(1, marks=pytest.mark.nightly)])
def test_the_core_normalises_each_code_point_as_the_oracle(step):
    sparse = (*range(0x3400, 0xF900, step), *range(0x20000, N_CODE_POINTS, step))
    for code_point in (*range(0x3400), *range(0xF900, 0x20000), *sparse):
        assert by_core(chr(code_point)) == normalised(chr(code_point)), hex(code_point)


@examples(500)
@given(text=TEXTS)
def test_the_core_normalises_texts_as_the_oracle(text):
    for has_spaces in (False, True):
        actual, expected = _core.NormalisedText(text, has_spaces), normalised(text, has_spaces=has_spaces)
        assert actual.units == expected == by_core(nfkc(text), has_spaces=has_spaces)
        texts = (text, text.translate(TO_USUAL), nfkc(text))
        for form, written in zip(actual.forms, texts, strict=True):
            lengths = [len(normalised(written[:n], has_spaces=has_spaces)) for n in range(len(written) + 1)]
            assert list(map(form.position, range(len(written) + 1))) == lengths
            for limit in range(len(expected) + 1):
                longest = max(n for n, length in enumerate(lengths) if length <= limit)
                assert form.cut(limit) == written[:longest]


def test_the_table_is_the_one_that_its_program_writes():
    if unicodedata.unidata_version != "13.0.0":
        pytest.skip("only Python 3.10 has Unicode 13.0")
    subprocess.run([sys.executable, ROOT / "tools" / "make_normalisation_table.py", "--check"], check=True)


def by_core(text, *, has_spaces=False):
    return _core.NormalisedText(text, has_spaces).units


def scorer_of(reference, rules=()):
    question = Question("Q1", "question", {"P": (reference, "アイあいabc012水")}, tuple(map(freeze_rule, rules)))
    return Scorer(Suite("one", (question,)), profile="normalised")


@examples(200)
@given(reference=ORDINARY, text=ORDINARY, data=st.data())
def test_punctuation_width_and_spaces_change_neither_fluency_nor_truthfulness(reference, text, data):
    inserted = data.draw(st.lists(st.tuples(st.integers(0, len(text)), PUNCTUATION), max_size=20))
    punctuated = list(text)
    for place, character in sorted(inserted, reverse=True):
        punctuated.insert(place, character)
    forms = ["".join(punctuated), text.translate(TO_WIDE), text.translate(TO_NARROW), text.upper()]
    scorer = scorer_of(reference)
    text_units, *others = zip(
        *(scorer.score("Q1", [text, *forms])[name].tolist() for name in ("fluency", "truthfulness")), strict=True
    )
    assert others == [text_units] * len(forms)


@examples(200)
@given(
    text=st.one_of(ORDINARY.map(lambda text: text.translate(TO_WIDE)), strategies.answers()),
    rules=st.lists(strategies.rules(strategies.USUAL), max_size=3),
)
def test_width_does_not_lower_helpfulness(text, rules):
    texts = [text, text.translate(TO_USUAL), nfkc(text)]
    as_written, *others = scorer_of("abc", rules).score("Q1", texts).helpfulness.tolist()
    assert as_written >= max(others)


@pytest.mark.parametrize("n_characters", [100_000, pytest.param(10_000_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("left_out", [" ", "。", "\u0378", "1."])
def test_megabytes_without_units_are_ordinary_input(n_characters, left_out):
    scorer = scorer_of("abc", [{"t": "c"}, {"t": "b"}])
    units = left_out.strip("1.") == left_out
    many = left_out * (n_characters if units else 1)
    texts = ["abc" + many, many + "abc", "ab" + many + "c"] if units else ["abc" + "." * n_characters]
    assert scorer.score("Q1", texts).average.tolist() == [scorer.score_one("Q1", "abc")["average"]] * len(texts)


def test_many_marks_are_ordinary_input():
    """Marks are sorted behind their letter, however many there are."""
    marks = "\u0301\u0323" * 5000
    assert by_core("e" + marks) == normalised("e" + marks)
    scorer = scorer_of("abc", [{"t": "e"}])
    assert scorer.score_one("Q1", "e" + marks)["helpfulness"] == 1


@examples(200)
@given(text=TEXTS, has_spaces=st.booleans())
def test_each_unit_belongs_to_characters_of_the_text(text, has_spaces):
    units = aligned(text, has_spaces=has_spaces)
    expected = normalised(text, has_spaces=has_spaces)
    assert len(units) == len(text)
    actual = {i for character_units in units for i in character_units}
    assert {i for i, unit in enumerate(expected) if unit != " "} <= actual <= set(range(len(expected)))


@pytest.mark.slow
def test_an_explanation_shows_what_was_left_out(mini):
    result = explain(mini, "Q01", "（光と ｵﾄ）。", profile="normalised")
    assert (result.normalised, result.left_out) == ("光とオト", [(0, 1), (3, 4), (6, 8)])
    assert [cover is None for cover in result.cover] == [True, False, False, True, False, False, True, True]
    assert result.scores == Scorer(mini, profile="normalised").score_one("Q01", result.answer)
    in_tokens = explain(mini, "Q07", "Ice, which floats!", profile="normalised")
    assert (in_tokens.normalised, in_tokens.left_out) == ("ice which floats", [(3, 5), (10, 11), (17, 18)])
    assert in_tokens.scores == Scorer(mini, profile="normalised").score_one("Q07", in_tokens.answer)
    with pytest.raises(ValueError, match="profile: expected 'leaderboard' or 'normalised', not 'paper'"):
        explain(mini, "Q01", "", profile="paper")
