"""Hand-computed cases of docs/scoring.md, for the oracle and the core alike."""

import pytest
from pfgen_fast import Scorer, Suite
from pfgen_fast.oracle import Oracle, compensated_sum, naive_sum

DISTINCT = "".join(chr(0x4E00 + i) for i in range(110))
THOUSAND = {"answers": ["abc"] + ["xyz"] * 999}
TAIL = "abc" + "、" * 120
KEY = {"keywords": [{"t": "key"}]}
MINOR_KEY = {"keywords": [{"t": "key", "importance": 0.1, "name": "the key"}]}
ALTERNATIVES = [{"or": [{"t": "x"}, {"t": "y"}]}, {"and": [{"t": "a"}, {"or": [{"t": "z"}], "name": "last"}]}]
LOOKS_AHEAD = {"keywords": [{"t": r"^x(?=x*、{300}\Z)"}]}
CUT_AT_186 = {"keywords": [{"t": r"^x(?=x{185}\Z)"}]}
SHORT = {"target": 4, "limit": 6}  # of which 8 units are read
SHORT_KEY = {**SHORT, "answers": ["ab"], "keywords": [{"t": "key"}]}
LONG_KEY = {"target": 12_000, "limit": 18_000, "answers": ["ab"], "keywords": [{"t": "key"}]}
TWO_RULES = [{"t": "a", "importance": 0.5}, {"t": "b", "importance": 0.25}]

# Behaviour; answer; keys of the question; parts of the score. References and shares of one set P stand for themselves.
CASES = [
    ("a reference scores itself one", "abc", {"answers": ["abc"]}, {"fluency": 1, "truthfulness": 1, "average": 1}),
    # Baseline: a, b, ab = 3. The answer "abab" holds these three and no other known n-gram.
    ("a repeated n-gram counts once", "abab", {"answers": ["ab"]}, {"fluency": 1}),
    # df(a) = 2, df(aa) = 1. Raw scores of the references: "aa" 2 + 1, "a" 2, so the baseline is 2.5.
    ("frequencies count answers, not occurrences", "a", {"answers": ["aa", "a"]}, {"fluency": 0.8}),
    ("sets share the score equally", "a", {"answers": {"P": ["a"], "S": ["b"]}}, {"fluency": {"P": 0.5, "S": 0}}),
    ("an unknown 3-gram gives no truthfulness", "a", {"answers": ["a"]}, {"truthfulness": 0}),
    # Ten letters hold 55 n-grams; the reference of eleven letters holds 65 without its 11-gram.
    ("n-grams above ten do not count", "abcdefghij", {"answers": ["abcdefghijk"]}, {"fluency": round(55 / 65, 6)}),
    # In a reference of 110 different characters, the first 100 score best: 955 against 965 * 0.98.
    ("a long answer is cut where it scores best", DISTINCT[:100] + "!" * 60, {"answers": [DISTINCT]}, {"fluency": 1}),
    ("a shorter answer scores less", DISTINCT[:99], {"answers": [DISTINCT]}, {"fluency": round(945 / 955, 6)}),
    # The 3-gram "abc" in 1 of 1,000 answers: 0.001 * 200 = 0.2 for each of its characters.
    ("truthfulness counts half a percent of the answers fully", "abc", THOUSAND, {"truthfulness": 0.2}),
    # "bcx", "cxy" are unknown, "xyz" is common: (0.2 * 3 + 1 * 3) / 6.
    ("truthfulness is a mean over characters", "abcxyz", THOUSAND, {"truthfulness": 0.6}),
    ("punctuation is skipped", "abc、", {"answers": ["abc"]}, {"truthfulness": 1}),
    ("punctuation is part of 3-grams", "ab、c", {"answers": ["abc"]}, {"truthfulness": 0}),
    # Only a reference that holds a literal "^ab" knows the first 3-gram of "^ab$".
    ("the begin is an ordinary character", "ab", {"answers": ["^ab"]}, {"truthfulness": 1}),
    ("the end is an ordinary character", "ab", {"answers": ["ab$"]}, {"truthfulness": 1}),
    ("begin and end are ordinary characters", "a", {"answers": ["^a$"]}, {"truthfulness": 1}),
    ("begin and end are not added to references", "ab", {"answers": ["ab"]}, {"truthfulness": 0}),
    ("a tail of punctuation leaves truthfulness where it was", TAIL, {"answers": ["abc"]}, {"truthfulness": 1}),
    # The last character that counts is past the limit, so its score is negative.
    ("a character past the limit takes it", TAIL + "、" * 40 + "x", {"answers": ["abc"]}, {"truthfulness": 0}),
    ("truthfulness sees the 201st code point", "abc" + "、" * 197 + "x", {"answers": ["abc"]}, {"truthfulness": 0}),
    ("truthfulness sees no further", "abc" + "、" * 198 + "x", {"answers": ["abc"]}, {"truthfulness": 1}),
    ("an empty answer has no share", "", {}, {"fluency": 0, "truthfulness": 0}),
    ("an empty answer scores zero", "", KEY, {"helpfulness": 0, "helpfulness_results": [["key", 0]], "average": 0}),
    ("no rules are all met", "anything", {}, {"helpfulness": 1}),
    ("a late keyword costs the excess", "." * 107 + "key" + "." * 5, KEY, {"helpfulness_results": [["10字超過", 0.8]]}),
    ("the excess is the score", "." * 107 + "key", KEY, {"helpfulness": 0.8}),
    ("a less important keyword may be given up", "." * 137 + "key", MINOR_KEY, {"helpfulness": 0.9}),
    ("a rule is named", "." * 137 + "key", MINOR_KEY, {"helpfulness_results": [["the key", 0.9]]}),
    (
        "an alternative is named by its first part when all are missing",
        "a",
        {"keywords": ALTERNATIVES},
        {"helpfulness_results": [["x", 0], ["last", 0]]},
    ),
    ("a regex finds its first match", "ab1" + "." * 40, {"keywords": [{"t": "[0-9]+"}]}, {"helpfulness": 1}),
    ("a regex sees 200 code points", "." * 200 + "key", {"keywords": [{"t": "k.y"}]}, {"helpfulness": 0}),
    # Whether the cut is after 200 or 201 decides these two.
    ("a regex sees no 201", "start end" + "x" * 189 + "end", {"keywords": [{"t": "start.*end"}]}, {"helpfulness": 1}),
    ("a look-ahead sees 200", "ice" + "." * 207, {"keywords": [{"t": "ice(?=.{197}$)"}]}, {"helpfulness": 1}),
    ("a regex sees the end of a text", "." * 100 + "end", {"keywords": [{"t": "end$"}]}, {"helpfulness": 0.94}),
    # Baselines: the 36 n-grams of eight letters; with the target 4, the 10 of four. That of five is 15 * 0.5.
    ("a baseline depends on the target", "abc", {"answers": ["abcdefgh"], **SHORT}, {"fluency": 0.6}),
    ("a target cuts a long answer", "abcd!!", {"answers": ["abcdefgh"], **SHORT}, {"fluency": 1}),
    ("nothing scores from a limit on", "xxxxxabc", {"answers": ["abcdefgh"], **SHORT}, {"fluency": 0}),
    # "abc" is known and "x" is not: 3 of 4 up to the target, then 3 of 5 at half the score.
    ("truthfulness is best from the target on", "abcxx", {"answers": ["abc"], **SHORT}, {"truthfulness": 0.75}),
    (
        "truthfulness sees the 9th code point",
        "abc" + "、" * 5 + "x",
        {"answers": ["abc"], **SHORT},
        {"truthfulness": 0},
    ),
    ("truthfulness sees no 10th", "abc" + "、" * 6 + "x", {"answers": ["abc"], **SHORT}, {"truthfulness": 1}),
    ("the excess is over the target", "..key", SHORT_KEY, {"helpfulness_results": [["1字超過", 0.5]]}),
    ("a regex sees 8 code points", "ice......", {**SHORT, "keywords": [{"t": "ice(?=.{5}$)"}]}, {"helpfulness": 1}),
    ("a long target is no position", "ab" * 6000, LONG_KEY, {"helpfulness": 0, "helpfulness_results": [["key", 0]]}),
]
PAPER = [
    # Marked <ab>: <, a, b, >, <a, ab, b>, <ab, ab>, <ab> = 10 n-grams, baseline 10.
    # Marked <aab>: <, a, a, b, >, <a, ab, b>, ab> = 9 known n-grams.
    ("a reference scores itself one", "ab", {"answers": ["ab"]}, {"fluency": 1}),
    ("every repetition counts", "aab", {"answers": ["ab"]}, {"fluency": 0.9}),
    ("marks take part", "ab", {"answers": ["ab"]}, {"truthfulness": 1}),
    ("a literal mark is another character", "^ab", {"answers": ["^ab"]}, {"truthfulness": 1}),
    ("an empty answer scores zero", "", KEY, {"fluency": 0, "truthfulness": 0, "helpfulness": 0, "average": 0}),
    ("helpfulness is the met share", "a", {"keywords": TWO_RULES}, {"helpfulness": round(0.5 / 0.75, 5)}),
    ("unmet rules have what is left", "a", {"keywords": TWO_RULES}, {"helpfulness_results": [["b", 0.75]]}),
    ("nothing scores past 150 code points", "abc" * 60, {"answers": ["abc"]}, {"fluency": 0, "fluency_discount": 0}),
    ("rules past 150 code points are unmet", "abc" * 60, KEY, {"helpfulness_results": [["key", 0]]}),
    ("an answer past a target is discounted", "abcba", {"answers": ["abcba"], **SHORT}, {"fluency_discount": 0.5}),
    ("nothing scores at a limit", "abcabc", {"answers": ["ab"], **SHORT}, {"fluency": 0}),
    ("rules past a target cost the excess", "..key", SHORT_KEY, {"helpfulness_results": [["1字超過", 0.5]]}),
    ("a missing rule is met nowhere", "ab" * 6000, LONG_KEY, {"helpfulness": 0, "helpfulness_results": [["key", 0]]}),
]

EITHER_BRACKET = [{"t": "（", "importance": 0.5}, {"t": r"\(", "importance": 0.5}]
NORMALISED = [
    ("punctuation, spaces, width and case are nothing", "ＡＢＣ、 d.", {"answers": ["a b-CＤ"]}, {"average": 1}),
    ("marks compose", "か\u3099ｷﾞ", {"answers": ["がギ"]}, {"fluency": 1}),
    ("marks compose only with a neighbour", "か\u200b\u3099", {"answers": ["が"]}, {"fluency": 0}),
    ("a full stop between digits is a unit", "１．５", {"answers": ["1.5"]}, {"fluency": 1}),
    ("digits are looked for in the NFKC form", "⒈5", {"answers": ["1.5"]}, {"fluency": 1}),
    ("a full stop beside a space is none", "1. 5", {"answers": ["15"]}, {"fluency": 1}),
    ("a full stop behind a numeral that is no digit is none", "Ⅰ.5", {"answers": ["i5"]}, {"fluency": 1}),
    ("surrogates and unassigned code points are nothing", "a\ud800b\u0378c", {"answers": ["abc"]}, {"average": 1}),
    ("symbols are units", "a+b", {"answers": ["a+b"]}, {"truthfulness": 1}),
    ("a capital with a dot becomes one letter", "İ", {"answers": ["i"]}, {"fluency": 1}),
    ("Greek letters keep their case", "Ω", {"answers": ["ω"]}, {"fluency": 0}),
    ("a pattern sees the answer as it is", "（Ａ", {"keywords": [{"t": "（Ａ"}]}, {"helpfulness": 1}),
    ("a pattern sees the NFKC form", "（Ａ", {"keywords": [{"t": r"\(A"}]}, {"helpfulness": 1}),
    ("a pattern sees no small letters", "Ａ", {"keywords": [{"t": "a"}]}, {"helpfulness": 0}),
    ("a form meets all rules alone", "（", {"keywords": EITHER_BRACKET}, {"helpfulness": 0.5}),
    (
        "of equal forms the written one counts",
        "（",
        {"keywords": EITHER_BRACKET},
        {"helpfulness_results": [[r"\(", 0.5]]},
    ),
    ("the length is that of the units", "、" * 120 + "key", KEY, {"helpfulness": 1, "helpfulness_results": []}),
    ("the excess is that of the units", "x、" * 107 + "key", KEY, {"helpfulness_results": [["10字超過", 0.8]]}),
    ("a match may end at 9999", " " * 9996 + "key", {"keywords": [{"t": "k.y"}]}, {"helpfulness": 1}),
    ("a target counts units", "、、x、、key", SHORT_KEY, {"helpfulness": 1, "helpfulness_results": []}),
    ("a cut includes what follows its last unit", "x" * 200 + "、" * 300, LOOKS_AHEAD, {"helpfulness": 1}),
    ("a cut ends before the next unit", "x" * 200 + "、" * 300 + "x", LOOKS_AHEAD, {"helpfulness": 1}),
    # NFKC has 18 characters for U+FDFA, of which 15 are units.
    ("a character of several units is cut as a whole", "x" * 186 + "\ufdfa", CUT_AT_186, {"helpfulness": 1}),
]


def named(cases, profile):
    return [pytest.param(profile, *rest, id=f"{profile}: {behaviour}") for behaviour, *rest in cases]


@pytest.mark.parametrize("judge", [Oracle, Scorer])
@pytest.mark.parametrize(
    ("profile", "answer", "keys", "expected"),
    [*named(CASES, "leaderboard"), *named(PAPER, "paper"), *named(NORMALISED, "normalised")],
)
def test_a_hand_computed_case(make_suite, judge, profile, answer, keys, expected):
    reference_sets = {key: {"P": value} for key, value in keys.items() if key == "answers" and isinstance(value, list)}
    actual = judge(Suite.load(make_suite(keys | reference_sets)), profile=profile).score_one("Q01", answer)
    for part, value in expected.items():
        is_of_set = part in ("fluency", "truthfulness") and not isinstance(value, dict)
        assert actual[part] == ({"P": value} if is_of_set else value), part


def test_the_two_sums_differ_in_the_last_digit():
    values = [0.1] * 10
    assert naive_sum(values) == 0.9999999999999999
    assert compensated_sum(values) == 1.0
