"""Rules of damage by hand: what a reader of docs/discernment.md expects, case by case."""

import json

import pytest
from makers.published import DISCERNMENT, needs_discernment_data, perturbations
from pfgen_fast.lab.discernment.damage import RULES, damaged_texts
from pfgen_fast.lab.discernment.damage.sites import Donors
from pfgen_fast.lab.discernment.damage.text_reading import FILE, TextReading, tables
from pfgen_fast.lab.discernment.kinds import Impossible, Perturbation


def parts(text, language, what):
    """The characters, words or sentences of a text."""
    reading = TextReading(text, language)
    return [reading.of(part) for part in getattr(reading, what)]


def damaged(text, kind, language="en", *, permille=None, k=None, donors=(), **more):
    degree = Perturbation(kind, permille=permille, k=k)
    (result,) = damaged_texts(text, kind, [degree], language=language, donors=Donors(donors), **more)
    return result


def possible(text, kind, language="en", *, k=1, **more):
    """What a text can become, by the seed."""
    return {damaged(text, kind, language, k=k, seed=seed, **more) for seed in range(120)}


def everything(text, kind, language="en", **more):
    return damaged(text, kind, language, permille=1000, **more)


@pytest.mark.parametrize(
    ("what", "language", "text", "expected"),
    [
        ("characters", "ja", "e\u0301a", ["e\u0301", "a"]),
        ("characters", "ja", "\u0301a", ["\u0301", "a"]),
        ("characters", "ja", "\u0301\u0301", ["\u0301\u0301"]),
        ("characters", "ja", "か\u3099く", ["か\u3099", "く"]),
        ("characters", "ja", "ｶﾞ", ["ｶ", "ﾞ"]),
        ("characters", "ja", "👩\u200d🔬!", ["👩\u200d🔬", "!"]),
        ("characters", "ja", "a\u200d", ["a\u200d"]),
        ("characters", "ja", "✌🏽☕\ufe0f", ["✌🏽", "☕\ufe0f"]),
        ("characters", "ja", "\ud83d\ude00", ["\ud83d", "\ude00"]),
        ("characters", "ja", "", []),
        ("words", "ja", "氷が水に浮く。", ["氷が", "水に", "浮く"]),
        ("words", "ja", "すぐABCアイス山は", ["すぐ", "ABCアイス山は"]),
        ("words", "ja", "ー、水ー", ["ー", "水ー"]),
        ("words", "ja", "ｱｲｽの〆切", ["ｱｲｽの", "〆切"]),
        ("words", "ja", "か\u3099く", ["か\u3099く"]),
        ("words", "ja", "\u3099水", ["\u3099", "水"]),
        ("words", "en", "Isn’t it rock-'n'-roll?", ["Isn’t", "it", "rock", "n", "roll"]),
        ("words", "en", "snake_case x--y", ["snake", "case", "x", "y"]),
        ("words", "en", "cafe\u0301s of 水", ["cafe\u0301s", "of", "水"]),
        ("words", "en", "it'\u0301s", ["it", "s"]),
        ("sentences", "ja", "氷。水！？」火", ["氷。", "水！？」", "火"]),
        ("sentences", "ja", "氷です\n\n水", ["氷です\n\n", "水"]),
        ("sentences", "ja", "氷。 \n水。", ["氷。 \n", "水。"]),
        ("sentences", "ja", "\n \n氷。", ["\n \n氷。"]),
        ("sentences", "ja", "。。", ["。。"]),
        ("sentences", "ja", "", []),
        ("sentences", "en", "Ice floats. It melts! Why?", ["Ice floats.", " It melts!", " Why?"]),
        ("sentences", "en", "Dr. Cole met J. Lee. They left.", ["Dr. Cole met J. Lee.", " They left."]),
        ("sentences", "en", "See (e.g. Oslo) or [Fig. 2]. Then go.", ["See (e.g. Oslo) or [Fig. 2].", " Then go."]),
        ("sentences", "en", "Ice etc.\nThen", ["Ice etc.\n", "Then"]),
        ("sentences", "en", "It is 3.5 m. high.", ["It is 3.5 m. high."]),
        ("sentences", "en", 'He said "No." Then "(Yes.)"', ['He said "No."', ' Then "(Yes.)"']),
        ("sentences", "en", "Mr.\u0301 Fox. No.", ["Mr.\u0301", " Fox.", " No."]),
    ],
)
def test_a_text_is_read_as_characters_words_and_sentences(what, language, text, expected):
    """Characters are code points with those that join them, words runs of letters; sentences end with their signs."""
    assert parts(text, language, what) == expected


@pytest.mark.parametrize(("permille", "k"), [(1, 1), (28, 1), (29, 2), (150, 8), (989, 51)])
def test_a_share_of_the_sites_is_rounded_and_never_none(permille, k):
    text = "abcdefghijklmnopqrstuvwxyz" * 2
    assert len(damaged(text, "char_delete", permille=permille)) == len(text) - k
    assert damaged(text, "char_delete", permille=permille) == damaged(text, "char_delete", k=k)


def test_the_end_is_cut_off_but_never_everything():
    assert damaged("ice floats", "char_delete", permille=1000) is Impossible.TOO_FEW_SITES
    assert damaged("ice floats", "char_delete", k=9) is Impossible.TOO_FEW_SITES
    assert damaged("!?", "char_delete", k=1) is Impossible.NO_SITE
    assert damaged("a?", "char_delete", k=1) is Impossible.TOO_FEW_SITES
    assert damaged("e\u0301e\u0301a", "truncate", k=2) == "e\u0301"
    assert damaged("abc", "truncate", k=3) is Impossible.TOO_FEW_SITES
    assert damaged(" \nab", "truncate", k=2) is Impossible.NOTHING_LEFT


def test_the_seed_changes_the_choices_and_its_64_bits_count():
    text = "Ice floats on cold water, and it melts in warm water."
    listed = [damaged(text, "char_delete", k=5, seed=seed) for seed in (0, 1, 1 << 63, (1 << 64) - 1)]
    assert len(set(listed)) == 4


def test_a_swap_never_touches_a_character_twice():
    assert damaged("ab", "char_swap", k=1) == "ba"
    assert damaged("aab", "char_swap", k=1) == "aba"
    assert damaged("abc", "char_swap", permille=1000) in ("bac", "acb")
    assert damaged("abc", "char_swap", k=2) is Impossible.TOO_FEW_SITES
    assert damaged("a-b", "char_swap", k=1) is Impossible.NO_SITE


def test_typing_errors_keep_case_and_width():
    neighbours = tables().keyboard_neighbours["q"].upper()
    result = possible("Q\u0301Q\u0301", "char_typo")
    replaced = {"Q\u0301" + letter + "\u0301" for letter in neighbours}
    added = {f"Q\u0301{letter}Q\u0301" for letter in neighbours}
    assert result >= replaced | added | {"Q\u0301", "Q\u0301Q\u0301Q\u0301"}
    assert {text.strip("０１２３４５６７８９") for text in possible("９９", "char_typo")} == {""}


@pytest.mark.parametrize(
    ("pair", "expected"),
    [
        ("かか", {"が", *"きくけこ"}),
        ("ゔゔ", set()),
        ("ガガ", {"カ", *"ギグゲゴ"}),
        ("ッッ", {"ツ"}),
        ("ﾂﾂ", set()),
        ("未未", {"末"}),
        ("水水", {"永"}),
        ("氷氷", set()),
    ],
)
def test_kana_and_kanji_are_confused_with_their_like(pair, expected):
    actual = possible(pair, "char_typo", "ja")
    other = {text.replace(pair[0], "", 1) for text in actual if len(text) == 2 and text != pair}
    assert other == expected
    assert {pair[0], pair[0] * 3} <= actual


def test_a_deleted_word_takes_a_white_space_before_it_or_else_one_behind():
    assert possible("a b", "word_drop") == {"a", "b"}
    assert possible("(a) b", "word_drop") == {"() b", "(a)"}
    assert possible("a \u0301 b", "word_drop") == {" b", "a \u0301"}
    assert possible("a b c", "word_drop", k=2) == {"a", "b", "c"}
    assert possible("氷が 水が", "word_drop", "ja") == {"氷が ", " 水が"}


def test_the_first_digit_of_a_number_becomes_another_that_is_not_zero():
    assert possible("10", "number_change") == {f"{digit}0" for digit in "23456789"}
    assert possible("０5", "number_change") == {f"{digit}5" for digit in "１２３４５６７８９"}
    assert damaged("三²", "number_change", k=1) is Impossible.NO_SITE


def test_function_words_become_others_of_their_set_and_keep_a_capital():
    assert possible("Was it?", "function_word") == {"Were it?", "Was he?", "Was she?", "Was they?"}
    assert everything("水が氷だ。", "function_word", "ja") in {f"水{particle}氷だ。" for particle in "はをにでともへの"}
    assert everything("水には氷", "function_word", "ja") is Impossible.NO_SITE
    assert everything("水は。", "function_word", "ja") is Impossible.NO_SITE
    assert everything("水は\u0301氷", "function_word", "ja") is Impossible.NO_SITE
    assert everything("水\u0301と、", "function_word", "ja") != Impossible.NO_SITE


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "I can go.", "I cannot go."),
        ("en", "Can't we? WON'T you? Don’t!", "Can we? Will you? Do!"),
        ("en", "It is not so, is nothing.", "It is so, is not nothing."),
        ("en", "You have to; he had to go.", Impossible.NO_SITE),
        ("en", "iſ ıt İS", "iſ not ıt İS not"),
        ("en", "is_ _is isn", Impossible.NO_SITE),
        ("en", "can\u0301ot", Impossible.NO_SITE),
        ("en", "is \u0301not", "is not \u0301not"),
        ("ja", "氷です。", "氷ではありません。"),
        ("ja", "氷ではありません", "氷です"),
        ("ja", "氷ではありませんでした。", "氷ではありませんではありませんでした。"),
        ("ja", "氷ですね。", Impossible.NO_SITE),
        ("ja", "溶けますので、水になるため", "溶けませんので、水にならないため"),
        ("ja", "氷です\u0301。", Impossible.NO_SITE),
    ],
)
def test_verbs_and_predicates_are_denied_or_no_longer_denied(language, text, expected):
    assert everything(text, "negate", language) == expected


def test_a_term_is_swapped_wherever_it_stands_by_one_of_its_script():
    text = "Mars is red. I like Mars, Mars's moons and O'Hara."
    assert everything(text, "term_swap", donors=["To Oslo."]) == "Oslo is red. I like Oslo, Oslo's moons and Oslo'Hara."
    assert everything("Mars is red. I'm in.", "term_swap", donors=["To Oslo."]) is Impossible.NO_SITE
    assert everything("In Oslo.", "term_swap", donors=["To Oslo.", "Rome is old."]) is Impossible.NO_CANDIDATE
    assert everything("In Oslo.", "term_swap", donors=["By E\u0301D.", "E\u0301D went."]) == "In E\u0301D."
    donors = ["琵琶湖とガラス。"]
    assert everything("富士山とアイス。", "term_swap", "ja", donors=donors) == "琵琶湖とガラス。"
    assert everything("富士山と富士。", "term_swap", "ja", donors=["ガラス。"]) is Impossible.NO_CANDIDATE
    assert everything("富士山と富士。", "term_swap", "ja", donors=["富士。"]) is Impossible.NO_CANDIDATE
    assert everything("山とカー。", "term_swap", "ja", donors=donors) is Impossible.NO_SITE
    assert everything("富士山とアイス。", "term_swap", "ja", donors=["ガラス。"]) == "富士山とガラス。"  # 富士山 stays


def test_sentences_change_places_or_go_and_one_always_stays():
    assert everything(" Ice floats.  Fire burns.\n", "sentence_reorder") == " Fire burns.  Ice floats.\n"
    assert everything("氷。氷。", "sentence_reorder", "ja") is Impossible.UNCHANGED
    assert damaged("氷。水。", "sentence_reorder", "ja", k=3) is Impossible.TOO_FEW_SITES
    assert everything("氷。 水。\n", "sentence_delete", "ja") in ("氷。", "水。")
    assert damaged("氷。水。", "sentence_delete", "ja", k=9) in ("氷。", "水。")
    assert everything("氷。", "sentence_delete", "ja") is Impossible.TOO_FEW_SITES


def test_a_sentence_of_another_text_is_inserted():
    donors = ["Ice floats. Fire burns.", " Ice floats. "]
    assert everything("Ice floats. \n", "sentence_insert", donors=donors) == "Ice floats. Fire burns. \n"
    assert everything("氷。\n", "sentence_insert", "ja", donors=["氷。水。 \n"]) == "氷。\n水。"
    assert everything("Ice floats.", "sentence_insert", donors=donors[1:]) is Impossible.NO_CANDIDATE
    assert everything("", "sentence_insert", donors=donors) is Impossible.NO_SITE
    assert everything(" \n", "sentence_insert", donors=["氷。"]) == " 氷。 \n"


def test_a_loop_repeats_the_last_ten_characters():
    text = "氷は水より軽いので浮く。"
    assert damaged(text, "loop", "ja", k=12) == text + "水より軽いので浮く。水よ"
    assert damaged("e\u0301a", "loop", k=3) == "e\u0301a" + "e\u0301ae\u0301"
    assert damaged("abc", "loop", permille=700) == "abcab"


def test_controls_change_what_should_not_matter():
    assert damaged("氷、\u0301水。", "punctuation", "ja") == "氷，\u0301水．"
    assert damaged('\'Tis "so"\u0301 ("x")', "punctuation") == "‘Tis “so”\u0301 (“x”)"
    assert damaged("A\u03019z。", "width", "ja") == "Ａ\u0301９ｚ。"
    assert damaged("A9z.", "width") is Impossible.NO_SITE
    assert damaged("氷\u200d。\u200dA", "punctuation", "ja") is Impossible.NO_SITE
    assert damaged("氷\u200dA。", "width", "ja") is Impossible.NO_SITE
    assert damaged("Ice.", "newline") == "Ice.\n"
    assert damaged("Ice.", "identity") == "Ice."
    assert damaged(" \u0301\n", "identity") is Impossible.NOTHING_LEFT


def test_other_texts_take_the_place_of_the_whole():
    assert damaged("Ice.", "random_ending", donors=["Ice.", "Fire.", "Fire."]) == "Fire."
    assert damaged("Ice.", "answer_swap", donors=["Ice."]) is Impossible.NO_CANDIDATE
    assert damaged("Ice.", "answer_swap", donors=["\t"]) is Impossible.NOTHING_LEFT
    assert damaged("Ice.", "wrong_ending", alternative="Fire.") == "Fire."


def test_code_points_that_unicode_13_does_not_assign_are_neither_letters_nor_marks_in_any_python():
    text = "a\u1dfa\ua7c0"  # a mark and a capital of Unicode 14.0
    assert parts(text, "en", "characters") == ["a", "\u1dfa", "\ua7c0"]
    assert parts(text, "en", "alphanumeric") == parts(text, "en", "words") == ["a"]
    assert everything("Ice. The \ua7c0b Oslo.", "term_swap", donors=["It is Rome."]) == "Ice. The \ua7c0b Rome."
    assert parts("水\u9ffdは", "ja", "words") == ["水\u9ffdは"]  # a kanji by its range
    assert parts("水\u9ffdは", "ja", "alphanumeric") == ["水", "は"]


# The worked examples


@needs_discernment_data
def test_each_text_becomes_that_of_the_examples():
    examples = perturbations()["vectors"]
    assert len(examples) > 100
    assert {example["kind"] for example in examples} >= RULES.keys()
    for example in examples:
        names = ("text", "kind", "language", "permille", "k", "seed", "alternative")
        result = damaged(**{name: example.get(name) for name in names}, donors=example.get("donors", ()))
        assert (None if isinstance(result, Impossible) else result) == example["expected"], example


@needs_discernment_data
def test_the_packaged_tables_are_those_of_the_examples():
    theirs = json.loads((DISCERNMENT / "tables.json").read_bytes())
    assert json.loads(FILE.read_bytes()) == theirs
