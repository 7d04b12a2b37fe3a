import pytest
from pfgen_fast.build.answer_fit import WORDS, fit_answers, fit_sentences, fits, mixed_scripts, script_of, text_figures
from pfgen_fast.suite.rules import MAX_LIMIT, Lengths

USUAL = Lengths(100, 150)


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("氷はDNAのように水に浮きます。", "Japanese"),
        ("コンピュータ", "Japanese"),
        ("冰浮在水面上。", "Chinese"),
        ("Лёд плавает, как ice.", "Cyrillic"),
        ("La glace flotte à la surface.", "Latin"),
        ("얼음은 물에 뜹니다.", "Hangul"),
        ("12.5 %", ""),
    ],
)
def test_a_text_has_the_script_of_most_of_its_letters(text, script):
    assert script_of(text) == script


def figures_of(*texts):
    return [text_figures(texts)]


def english(n_words):
    return figures_of(*[" ".join(["word"] * n_words)] * 20)


def japanese(n_characters):
    return figures_of(*["氷" * (n_characters - 1) + "は"] * 20)


@pytest.mark.parametrize(
    ("median", "slack", "fit"),
    [(34, 1, True), (33, 1, False), (23, 1.5, True), (22, 1.5, False), (150, 1, True), (151, 1.5, False)],
)
def test_lengths_fit_answers_around_them_and_warnings_have_more_slack_than_decisions(median, slack, fit):
    assert fits(USUAL, median, slack=slack) == fit


@pytest.mark.parametrize(
    ("median", "lengths"),
    [(1, (10, 15)), (17, (34, 51)), (292, (580, 870)), (500, (1000, 1500)), (10**6, (13_333, 19_999))],
)
def test_lengths_are_twice_and_three_times_the_median_in_round_numbers(median, lengths):
    assert Lengths.fitting(median) == Lengths(*lengths)
    assert Lengths.fitting(median).limit <= MAX_LIMIT


def test_the_script_decides_the_unit_and_usual_lengths_stay_where_they_fit():
    decided = fit_answers({"Q01": japanese(98), "Q02": english(40), "Q03": english(90)}, {})
    assert [(fit.tokenizer, fit.lengths, fit.typical) for fit in decided.values()] == [
        (None, USUAL, 100),
        (WORDS, USUAL, 40),  # stage 4 keeps answers of the usual length, not the longest
        (WORDS, USUAL, 100),
    ]
    assert fit_sentences(decided) == [
        "Q01: unit characters, because the script of the answers is Japanese",
        "Q01: target 100 and limit 150, as usual, which fit answers with a typical length of 98 characters",
        "Q02, Q03: unit words, because the script of the answers is Latin",
        "Q02, Q03: target 100 and limit 150, as usual, which fit answers with a typical length of 65 words",
    ]


def test_a_long_tail_of_raw_answers_changes_nothing():
    """Stage 4 keeps those near the target, as from the pooled answers of published runs."""
    raw = [text_figures(["氷" * 115 + "は"] * 66 + ["氷" * 500] * 33)]
    assert [(fit.lengths, fit.typical) for fit in fit_answers({"Q01": raw}, {}).values()] == [(USUAL, 100)]


def test_long_answers_share_lengths_if_these_fit_all_questions():
    decided = fit_answers({"Q01": english(250), "Q02": english(310)}, {})
    assert {fit.lengths for fit in decided.values()} == {Lengths(560, 840)}
    assert [fit.typical for fit in decided.values()] == [250, 310]
    _, sentence = fit_sentences(decided)
    assert sentence == (
        "target 560 and limit 840, about 2 and 3 times the typical length of 280 words, because 100% of the answers "
        "are longer than the usual limit of 150 words"
    )
    decided = fit_answers({"Q01": english(16), "Q02": english(800)}, {})
    assert [fit.lengths for fit in decided.values()] == [Lengths(32, 48), Lengths(1600, 2400)]
    assert "targets from 32 to 1,600" in fit_sentences(decided)[1]


def test_what_is_given_is_not_decided():
    figures = {"Q01": [text_figures(["one two three four"] * 9, [None])]}
    (fit,) = fit_answers(figures, {"Q01": None}, lengths=Lengths(30, 40)).values()
    assert (fit.tokenizer, fit.lengths, fit.typical) == (None, Lengths(30, 40), 18)
    assert fit_sentences({"Q01": fit}, ["Q01"], decides_lengths=False) == []
    (fit,) = fit_answers({"Q01": english(400)}, {}, typical=90).values()
    assert (fit.lengths, fit.typical) == (USUAL, 90)
    assert fit_answers({"Q01": figures_of()}, {}) == {}


def test_mixed_languages_are_named():
    mixed = figures_of(*["Ice floats."] * 9, "氷は浮く。")
    assert mixed_scripts({"Q01": mixed, "Q02": english(3)}) == [
        "the answers to one question are in several scripts: Q01 (10% Japanese, most others Latin); a reference set "
        "has one language, so remove the other answers ([normalise] remove)"
    ]
    assert mixed_scripts({"Q01": english(3), "Q02": japanese(3), "Q03": english(4)}) == [
        "the suite mixes scripts (Latin: Q01, Q03; Japanese: Q02); compare scores within one script only"
    ]
