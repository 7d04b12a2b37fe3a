import re
import time
from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pfgen_fast.base.errors import BuildError
from pfgen_fast.build.normalise import (
    WHITE_SPACE,
    Rewrite,
    first_objections,
    normalised_answers,
    packaged_lists,
    read_list,
)

FORMAL = read_list("formal-ja")

# For each rule of the packaged lists, a text and the result of this rule alone; None: the answer is removed.
CASES = {
    "digits": ("１２個と3個です。", "12個と3個です。"),
    "letters": ("ＤＮＡはＡとｔからなります。", "DNAはAとtからなります。"),
    "symbols": ("５０％＋１／２です。", "５０%+１/２です。"),
    "thousands": ("1，234，567人と5，6人です。", "1,234,567人と5，6人です。"),
    "decimals": ("3．14です．", "3.14です．"),
    "wave-dash": ("10〜20と3~4と夏~秋です。", "10～20と3～4と夏～秋です。"),
    "long-vowel": ("コンピュ－タ―は2－1です。", "コンピューターは2－1です。"),
    "half-width-marks": ("｢水｣､火･土です｡", "「水」、火・土です。"),
    "round-brackets": ("水(H2O)です。", "水（H2O）です。"),
    "quotation-marks": ('"水"と“火”です。', "「水」と「火」です。"),
    "nested-brackets": ("「彼は「水」と言った」です。", "「彼は『水』と言った」です。"),
    "comma": ("水，火です。", "水、火です。"),
    "ascii-comma": ("水, 火と1,000とa, bです。", "水、火と1,000とa, bです。"),
    "full-stop": ("水です．", "水です。"),
    "ascii-full-stop": ("水です.次は1.5です.", "水です。次は1.5です。"),
    "exclamation": ("水です！！「あ！」と5!です!", "水です。「あ！」と5!です。"),
    "question-mark": ("なぜ?それは2?です。", "なぜ？それは2?です。"),
    "question": ("水ですか？はい「何か？」です。", "水ですか。はい「何か？」です。"),
    "repeated-marks": ("水です。。火、。土です。、", "水です。火。土です。"),
    "repeated-commas": ("水、、、火です。", "水、火です。"),
    "space-after": ("水 と　火です。 DNA です。", "水と火です。DNA です。"),
    "space-before": ("DNA は a b 水です。", "DNAは a b水です。"),
    "emphasis": ("**水**です。", "水です。"),
    "hiragana-iteration": ("こゝろです。", "こころです。"),
    "katakana-iteration": ("チヽです。", "チチです。"),
    "other-iteration": ("みすゞです。", None),
    "misplaced-iteration": ("あ々です。", None),
    "final-particle": ("水ですよね。火ですよ。", "水です。火です。"),
    "contracted-no": ("水なんです。だから飲むんですが、頼んです。", "水なのです。だから飲むのですが、頼のです。"),
    "contracted-dewa": ("水じゃないです。", "水ではないです。"),
    "shortened-desho": ("水でしょ。", "水でしょう。"),
    "spoken-ending": ("水だよ。", None),
    "mixed-style": ("水です。火である。", None),
    "trailing-off": ("水は…。", None),
    "noun-ending": ("それは水。", None),
    "unfinished": ("それは水で", None),
    "pictographs": ("水です😀。", None),
}
UNTOUCHED = [
    "水は氷になると体積が約9%増えるため、氷は水に浮きます。",
    "人々は「次々に」と言い、14時、…、22時の順に並べます。",
    "これは1.0909090909...時間ごとに起こります。",
    "速さは秒速約340m（気温15度）です。",
    "それは水である。火も同じである。",
]


def by_rules(text, rules=FORMAL, **options):
    answers, removed_by, _ = normalised_answers(pa.array([text]), rules=rules, white_space="keep", **options)
    return None if removed_by[0] >= 0 else answers[0].as_py()


def test_every_rule_of_the_packaged_list_has_a_case_and_a_reason():
    assert [rule.name for rule in FORMAL] == list(CASES)
    assert packaged_lists() == ["formal-ja"]
    assert all(rule.reason for rule in FORMAL)


@pytest.mark.parametrize("rule", FORMAL, ids=lambda rule: rule.name)
def test_a_rule_does_what_it_says(rule):
    text, expected = CASES[rule.name]
    assert by_rules(text, [rule]) == expected


@pytest.mark.parametrize("text", UNTOUCHED)
def test_a_formal_text_stays_as_it_is(text):
    assert by_rules(text) == text


def test_a_normalised_text_is_not_changed_again():
    for text, _ in CASES.values():
        once = by_rules(text)
        if once is not None:
            assert by_rules(once) in (once, None)


def test_white_space_is_joined_trimmed_or_kept():
    text = "　 a \t\n b\u2028c\u00a0\v "
    by_name = {how: normalised_answers(pa.array([text]), white_space=how)[0][0].as_py() for how in WHITE_SPACE}
    assert by_name == {"single": "a b c", "trim": "a \t\n b\u2028c", "keep": text}


SMALL = [
    Rewrite("1", "replace", "a(b)", r"\1\1"), Rewrite("2", "remove", "bbb"),
    Rewrite("3", "characters", "cd]-\\", "dc[-/"), Rewrite("4", "replace", "dd", ""), Rewrite("5", "remove", "^d"),
]  # fmt: skip


@given(st.lists(st.text("abcd]-\\", max_size=8), max_size=6))
def test_rules_do_what_plain_python_does(texts):
    """Answers that match no rule are skipped, which must not change the result."""
    answers, removed_by, n_changed = normalised_answers(pa.array(texts, pa.string()), rules=SMALL)
    expected, changed = [], Counter()
    for text in texts:
        gone = -1
        for number, rule in enumerate(SMALL):
            before = text
            if rule.kind == "remove":
                gone = number if gone < 0 and re.search(rule.pattern, text) else gone
            elif rule.kind == "replace":
                text = re.sub(rule.pattern, rule.text, text)
            else:
                text = text.translate(str.maketrans(rule.pattern, rule.text))
            changed[number] += text != before
        expected.append((text, len(SMALL) if gone < 0 and not text else gone))
    assert list(zip(answers.to_pylist(), removed_by.tolist(), strict=True)) == expected
    assert Counter(n_changed) == changed


def test_no_pattern_takes_long():
    """Python's re would take longer than the age of the universe."""
    answers = pa.array(["a" * 20_000 + "b"] * 4)
    begin = time.process_time()
    assert first_objections(answers, wrong=["^(a*)*$", "^(a|aa)+$", "^(.*)(.*)(.*)[0-9]"]).tolist() == [-1] * 4
    assert time.process_time() - begin < 10


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("x = 1", "unknown key 'x'; expected one of rule"),
        ("[[rule]]\npattern = 'a'\ntext = 'b'", "rule[0]: the key 'name' is missing"),
        ("[[rule]]\nname = 'a'\npattern = 'a'", "rule[0]: rule a: expected 'pattern' and 'text', or"),
        ("[[rule]]\nname = 'a'\npattern = '('\ntext = ''", "the pattern '(' does not compile: missing )"),
        ("[[rule]]\nname = 'a'\npattern = '(a)'\ntext = '\\2'", "cannot be replaced with '\\\\2'"),
        ("[[rule]]\nname = 'a'\nremove = ''", "the pattern is empty"),
        ("[[rule]]\nname = 'a'\nremove = 1", "rule[0].remove: expected a string, not 1"),
        ("[[rule]]\nname = 'a'\ncharacters = ['ab', 'c']", "of the same length"),
        ("[[rule]]\nname = 'a'\nremvoe = 'a'", "rule[0]: unknown key 'remvoe'; expected one of remove, "),
        ("[[rule]]\nname = 'a'\nremove = 'a'\n" * 2, "2 rules have the name 'a'"),
        ("[[rule", "not TOML"),
    ],
)
def test_a_list_with_a_fault_is_refused(tmp_path, content, problem):
    (tmp_path / "list.toml").write_text(content, encoding="utf-8")
    with pytest.raises(BuildError) as error:
        read_list("list.toml", tmp_path)
    assert problem in str(error.value)
    assert "list.toml" in str(error.value)


def test_an_unknown_list_is_named():
    with pytest.raises(BuildError, match=r"no list 'formal'; expected formal-ja or the path"):
        read_list("formal")
