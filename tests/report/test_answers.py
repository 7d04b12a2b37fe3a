import os
import re
import time
import unicodedata
from dataclasses import replace
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.reported import made_result, reported_run, unpacked
from makers.runs import files_below
from pfgen_fast import Suite
from pfgen_fast.base.errors import PatternTimeout, PfgenError
from pfgen_fast.lab.finding import N_SHOWN, Pair, marked
from pfgen_fast.report import ReportRun, write_report
from pfgen_fast.report.answers import N_REFERENCES, packed_answers
from pfgen_fast.report.safe_runs import check_run
from pfgen_fast.runs.run_result import parse_result
from pfgen_fast.scoring.tinting import QuestionTints
from pfgen_fast.suite.keywords import freeze_rule, pattern_time_limit
from pfgen_fast.suite.questions import Question
from pfgen_fast.suite.rules import Lengths
from pfgen_fast.suite.units import PatternTokenizer


def question(*references, keywords=(), tokenizer=None):
    rules = tuple(map(freeze_rule, keywords))
    return Question("Q", "q?", MappingProxyType({"A": references}), rules, tokenizer=tokenizer)


def held(question, answers, n_shown=1000):
    suite = Suite("made", [question])
    run = check_run(reported_run(suite, answers=answers), suite)
    head, line = map(unpacked, packed_answers(question, [(7, run.questions["Q"].samples)], n_shown))
    return head, line


def test_answers_of_many_runs_come_in_lines_of_bounded_size(mini):
    run = check_run(reported_run(mini, answers=["x" * 30_000] * 5), mini)
    answers = [(number, run.questions["Q01"].samples) for number in range(10)]
    lines = list(map(unpacked, packed_answers(mini["Q01"], answers, 100_000)))[1:]
    assert [line["runs"] for line in lines] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert all(line["numbers"] == [[0, 1, 2, 3, 4]] * len(line["runs"]) for line in lines)
    _, *fewer = map(unpacked, packed_answers(mini["Q01"], answers, 100_000, 2))
    assert [numbers for line in fewer for numbers in line["numbers"]] == [[0, 2, 4]] * 10
    assert len(packed_answers(mini["Q01"], [], 100)) == 1  # no run has the question


def test_reference_answers_come_from_all_over_their_set_with_the_3_grams_of_shown_texts():
    head, _ = held(question(*(f"answer {number}" for number in range(100))), ["x"])
    assert head["texts"] == [f"answer {number}" for number in range(0, 100, 100 // N_REFERENCES)]
    assert head["sets"] == {"A": N_REFERENCES}
    head, line = held(question("abcde", "abcx", "unseen"), ["zabcz", "abc"], n_shown=1)
    grams = [head["grams"][at : at + 3] for at in range(0, len(head["grams"]), 3)]
    # Two code points more than are shown of any text, reference answers too, are tinted.
    assert dict(zip(grams, head["counts"][0], strict=True)) == {"abc": 2, "uns": 1}
    assert head["sizes"] == [3]
    assert line["tints"] == {}


def test_answers_in_tokens_come_with_their_tints():
    asked = question("Ice floats.", "Ice sinks slowly.", tokenizer=PatternTokenizer("words"))
    answer = "Ice sinks slowly, \u202ealas"
    head, line = held(asked, [answer])
    assert head["grams"] == ""
    assert line["texts"] == ["Ice sinks slowly, \\u202ealas"]
    (levels,) = QuestionTints(asked).levels([answer])
    assert line["tints"]["0"] == levels[:18] + "x" * 6 + levels[19:]


def test_plain_patterns_are_searched_for_in_the_page_and_others_here():
    named = [
        {"t": "a+", "name": "many a"},
        {"and": [{"t": "x"}, {"or": [{"t": "y"}, {"t": "z"}]}, {"t": "12|１２|13"}]},
    ]
    head, _ = held(question("r", keywords=named), ["x"])
    assert head["rules"] == ["many a", "x and (y or z) and (12 or 13)"]
    rules = [{"t": "ice"}, {"or": [{"t": "flo[aw]t"}, {"t": "swim"}]}, {"t": "x*"}]
    head, line = held(question("r", keywords=rules), ["ice flowt, flo\u202eat floats", "none", "y" * 200 + "float"])
    assert head["patterns"] == ["ice", "swim"]
    assert head["rules"] == ["ice", "flo[aw]t or swim", "x*"]
    # Behind the escape, which has six characters; x* matches nothing, and no rule reads beyond 200 code points.
    assert line["spans"] == {"0": [[4, 9], [23, 28]]}
    assert line["texts"][0][23:28] == "float"
    longer, line = held(replace(question("r", keywords=rules), lengths=Lengths(150, 205)), ["y" * 200 + "float"])
    assert (head["look_ahead"], longer["look_ahead"], line["spans"]) == (200, 260, {"0": [[200, 205]]})


def test_a_pattern_that_takes_too_long_is_named():
    slow = question("r", keywords=[{"t": "(a+)+$"}])
    with pattern_time_limit(0.1), pytest.raises(PatternTimeout, match="question Q: the pattern '\\(a\\+\\)\\+\\$'"):
        held(slow, ["a" * 40 + "b"])


def test_missing_keywords_are_named_once(mini):
    result = made_result(mini, answers=["one", "two"])
    scores = [sample["scores"] for sample in result["questions"]["Q01"]["samples"]]
    scores[0]["helpfulness_results"] = [["12字超過", 0.0], ["ebb|flow", 0.5], ["23字超過", 0.54]]
    scores[1]["helpfulness_results"] = [["ebb|flow", 0.0]]
    run = check_run(ReportRun("a", None, parse_result(result, "a")), mini)
    head, line = map(unpacked, packed_answers(mini["Q01"], [(0, run.questions["Q01"].samples)], 100))
    assert head["names"] == ["12字超過", "ebb or flow"]
    assert line["missing"] == [[0, 1], [1]]
    assert line["excess"] == ["23 characters over 100", ""]


def test_a_folder_holds_the_page_and_a_file_for_each_question_and_only_an_earlier_report_is_replaced(mini, tmp_path):
    folder = tmp_path / "new" / "report"

    def written(answer):
        write_report([reported_run(mini, answers=[answer])], mini, folder)
        return files_below(folder)

    before = written("x" * 5000)
    assert written("x" * 5000) == before
    page = before["index.html"].decode()
    assert [name in page for name in before if re.fullmatch(r"data/answers-\w+\.js", name)] == [True] * len(mini)
    assert 'id="answers-0"' not in page
    foreign = {"notes.txt": b"mine", "data/answers-of-mine.js": b"mine", "data/other.js": b"// Data of somebody.\n"}
    for name, content in foreign.items():
        (folder / name).write_bytes(content)
    os.mkfifo(folder / "data/answers-that-never-come.js")
    after = written("second")
    assert foreign.items() <= after.items()
    assert before.keys() & after.keys() == {"index.html"}
    assert len(after) == len(before) + len(foreign)
    (folder / "index.html").write_text("<h1>My own page</h1>")
    with pytest.raises(PfgenError, match=r"index\.html: not from a report; choose another folder"):
        written("third")
    assert files_below(folder) == {**after, "index.html": b"<h1>My own page</h1>"}


TEXTS = st.text(alphabet="ab\u0301\u3099氷、\u200d\ud800\x00", max_size=60)


def sides(changes):
    return [[text for text, change in changes if change in ("equal", kind)] for kind in ("deleted", "inserted")]


def texts_of(changes, kind):
    return [text for text, change in changes if change == kind]


@given(TEXTS, TEXTS)
def test_the_pieces_make_up_the_texts_and_the_unchanged_ones_are_the_same(before, after):
    first, second = sides(marked(before, after))
    assert ("".join(first), "".join(second)) == (before, after)
    assert all((*first, *second))
    assert not any(unicodedata.category(text[0]).startswith("M") for text in (*first[1:], *second[1:]))


def test_of_long_texts_the_part_around_the_first_change_is_shown():
    before = "x" * 5000 + "ice" + "y" * 5000
    changes = marked(before, before.replace("ice", "snow"))
    first, second = map("".join, sides(changes))
    assert re.fullmatch("…x+icey+…", first)
    assert (texts_of(changes, "deleted"), texts_of(changes, "inserted")) == (["ice"], ["snow"])
    assert len(second) <= N_SHOWN + 2
    words = marked("the Arctic, water", "the Paris, waetr")  # letters that are equal by chance are no islands
    assert Pair("", words).text == "the [-Arctic-]{+Paris+}, wa{+e+}t[-e-]r"
    changes = marked("ab", "ab" + "c" * 1000)  # only one text goes on
    assert ("".join(sides(changes)[0]), texts_of(changes, "inserted")[-1]) == ("ab", "…")


@pytest.mark.parametrize("unit", ["、", "a.", "」", "ab" * 7 + "c"])
def test_hostile_texts_of_a_megabyte_take_no_time(unit):
    text = unit * (1_000_000 // len(unit))
    start = time.perf_counter()
    marked(text, text[::-1] + unit)
    assert time.perf_counter() - start < 2


def test_markdown_shows_a_pair_in_one_text():
    text = Pair("<b>one</b>", marked("Ice *floats*.", "Ice `flots`, too.")).to_markdown()
    assert text.startswith("&#60;b&#62;one&#60;/b&#62;\n")
    assert "Ice {+`+}[-*-]flo[-a-]ts{+`, too+}[-*-]." in text or "Ice [-*-]{+`+}flo[-a-]ts[-*-]{+`, too+}." in text
