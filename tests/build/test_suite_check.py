import random
import re

import pytest
from pfgen_fast import Scorer, Suite
from pfgen_fast.build.suite_check import CUT, GOOD, JOINED, OTHER, held_out_table, hold_out, suite_warnings
from pfgen_fast.suite.keywords import Rule
from pfgen_fast.suite.questions import Question
from pfgen_fast.suite.units import PatternTokenizer

WORDS = PatternTokenizer("words")


def question(number, n_words=60, n_answers=200, tokenizer=WORDS, patterns=("word",)):
    """A question whose answers draw from claims of five words that no other question has."""
    generator = random.Random(number)
    claims = [" ".join(f"word{number}x{claim}y{place}" for place in range(5)) for claim in range(4 * n_words // 5)]
    answers = tuple(" ".join(generator.sample(claims, n_words // 5)) + "." for _ in range(n_answers))
    return asked(f"Q{number:02}", answers, patterns, tokenizer)


def asked(question_id, answers, patterns=(), tokenizer=WORDS):
    rules = tuple(Rule("t", pattern) for pattern in patterns)
    return Question(question_id, f"Why {question_id}?", {"N": tuple(answers)}, rules, tokenizer=tokenizer)


def warnings_of(*questions):
    suite = Suite("made", questions)
    return list(suite_warnings(suite, hold_out(suite, threads=1)))


FINE = (question(1), question(2, patterns=["word2"]))


def test_a_suite_that_tells_answers_apart_has_no_warnings(mini):
    assert warnings_of(*FINE, question(3, patterns=["word3"])) == []
    assert list(suite_warnings(mini, hold_out(mini))) == []


def test_held_out_references_score_as_good_answers_and_worse_ones_lower():
    held = hold_out(Suite("made", FINE))
    assert [part.question.question_id for part in held] == ["Q01", "Q02"]
    assert [len(part.question.answers["N"]) for part in held] == [180, 180]
    table = held_out_table(held)
    scores = dict(zip(table.values("answers"), table.values("score"), strict=True))
    assert list(scores) == [GOOD, CUT, OTHER, JOINED]
    assert scores[GOOD] > 0.9
    assert scores[OTHER] < 0.2 < scores[CUT] < 0.95 * scores[GOOD]
    reduced = Scorer(Suite("x", tuple(part.question for part in held)))
    out = list(FINE[0].answers["N"][::10])
    assert held[0].means[GOOD][0] == pytest.approx(reduced.score("Q01", out).average.mean())


def test_a_suite_whose_answers_score_nothing_is_checked(call, make_suite):
    """Empty answers, and rules that no answer meets in time."""
    folder = make_suite({"answers": {"P": [*[" "] * 30, "氷"]}}, {"answers": {"P": ["氷"] * 30 + [""] * 30}})
    code, out, _ = call("suite", "check", folder)
    assert (code, "held-out references" in out) == (0, True)
    folder = make_suite({"answers": {"P": ["a" * 40 + "!"] * 100}, "keywords": [{"t": "(a+)+$"}]})
    code, out, err = call("suite", "check", folder)
    assert (code, "takes longer than 0.5 s" in err, "held-out" in out) == (0, True, False)


def test_small_sets_lose_no_answers():
    assert hold_out(Suite("made", (question(1, n_answers=19),))) == []
    assert [len(part.question.answers["N"]) for part in hold_out(Suite("made", (question(1, n_answers=20),)))] == [18]


@pytest.mark.parametrize(
    ("changed", "warning"),
    [
        ({"n_words": 170}, "references to 1 of 2 questions are much longer than the target (Q03: median 171,"),
        ({"n_words": 15}, "references to 1 of 2 questions are much shorter than the target (Q03: median 16,"),
        (
            {"patterns": ["word3x1y", "tide"]},
            "2 keyword rules fail in more than 50% of the reference answers: Q03 tide 100%, Q03",
        ),
        (
            {"patterns": ["word3x1y", "tide", ".$"], "n_words": 240},
            "the limit cuts more than 50% of the reference answers before they meet 1 keyword rule: Q03 .$ 100%; raise",
        ),
        ({"patterns": []}, "answers to another question score 0.35 of good ones"),
        ({"n_answers": 99}, "1 of 2 sets have fewer than 100 reference answers (question Q03, set N: 99), so "),
        ({"tokenizer": None}, "1 of 2 questions (Q03) compare answers in an alphabet by characters: "),
    ],
)
def test_what_would_mislead_is_named_with_its_figure(changed, warning):
    warnings = warnings_of(FINE[0], question(3, **changed))
    assert [text for text in warnings if text.startswith(warning)]


def test_near_duplicates_and_mixed_languages_are_named():
    (answers,) = FINE[0].answers.values()
    alike = [f"{answer} {word}" for answer in answers[:100] for word in ("So", "Thus", "Hence")]
    foreign = [*answers[:80], *["氷は水に浮きます。"] * 120]
    warnings = warnings_of(asked("Q01", alike), asked("Q02", foreign))
    expected = "references to 2 of 2 questions have near-duplicates (Q01: 100% of them)"
    assert [text for text in warnings if text.startswith(expected)]
    assert [text for text in warnings if "in several scripts: Q02 (40% Latin, most others Japanese)" in text]


def test_groups_of_references_that_share_no_words_are_named():
    (first,), (second,) = FINE[0].answers.values(), FINE[1].answers.values()
    alternating = [text for pair in zip(first, second, strict=True) for text in pair][:200]
    few = [*first[:195], *second[:5]]
    warnings = warnings_of(asked("Q01", alternating), asked("Q02", few), asked("Q03", first))
    (warning,) = [text for text in warnings if "share almost no words" in text]
    assert re.match(r"the references to 1 question fall into groups .*: Q01 \([345]\d%\); a reference set has", warning)
    short = [f"{'Ice' if number % 2 else 'Eis'} {number}." for number in range(200)]
    assert not [text for text in warnings_of(asked("Q01", short)) if "share almost no words" in text]


def test_truthfulness_that_cannot_tell_answers_apart_is_named():
    frame = "in general this is due to the fact that we can see the effect of it every day in our lives"
    suite = [asked(f"Q{number}", [f"{frame} with {number}"] * 100) for number in range(3)]
    (warning,) = [text for text in warnings_of(*suite) if "truthfulness cannot tell" in text]
    assert warning.startswith("100% of the held-out reference answers have a truthfulness of at least 0.99, and ")


def test_sets_with_too_few_reference_answers_are_warned_of(call, make_suite):
    folder = make_suite({"answers": {"P": ["氷"] * 100, "S": ["氷"] * 99}}, {"answers": {"P": ["氷"] * 3}})
    code, out, err = call("suite", "check", folder)
    assert code == 0
    assert "warning: 2 of 3 sets have fewer than 100 reference answers (question Q02, set P: 3), so " in err
    assert "use reference metrics (pfgen-fast score --metric; docs/references.md)\n" in err
    assert out.endswith(f": 0 errors, {err.count('warning: ')} warnings\n")


def test_answers_in_an_alphabet_that_are_compared_by_characters_are_warned_of(call, make_suite):
    english, russian = ["Ice floats on water."] * 100, ["Лёд плавает в воде."] * 100
    token = {"unit": "token", "tokenizer": "words"}
    folder = make_suite({"answers": {"P": english}}, {"answers": {"P": russian}}, {"answers": {"P": english}, **token})
    code, _, err = call("suite", "check", folder)
    assert code == 0
    assert "warning: 2 of 3 questions (Q01, Q02) compare answers in an alphabet by characters: " in err


def test_an_empty_answer_has_the_score_that_the_warning_states():
    suite = Suite("one", (Question("Q1", "Why?", {"P": ("Ice floats because it is less dense than water.",)}),))
    assert Scorer(suite).score("Q1", [""]).average.round(3).tolist() == [0.333]
