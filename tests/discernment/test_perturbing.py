"""The Python face of the core's damage: what is asked for, what comes back, and what bad input is told."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from makers.unicode_13 import is_stable
from pfgen_fast.discernment.kinds import ALIASES, KINDS, LADDERS, Impossible
from pfgen_fast.discernment.perturbing import Donors, perturb, perturbed_columns
from pfgen_fast.discernment.plan import Perturbation, perturbation
from pfgen_fast.errors import DiscernmentError, TrialsError

ROOT = Path(__file__).parents[2]
RULES = [name for name, kind in KINDS.items() if kind.method == "rule"]
TEXTS = ["氷は水に浮く。水より軽いからだ。", "Ice floats on water. It is lighter, as ice has air in it.", "。"]


def degree_of(kind):
    return {"permille": 1000} if KINDS[kind].has_degrees else {}


def test_texts_come_back_in_their_order_with_none_where_it_is_impossible():
    assert perturb([*TEXTS, "", " \n"], "newline") == [TEXTS[0] + "\n", TEXTS[1] + "\n", "。\n", None, None]
    assert perturb(TEXTS, "char_repeat", k=1)[2] is None
    assert perturb([], "loop", permille=200) == []


@pytest.mark.parametrize("kind", RULES)
def test_every_kind_is_known_to_the_core(kind):
    found = perturb(TEXTS, kind, **degree_of(kind), alternatives=["雨。"] * 3)
    assert len(found) == 3
    assert found != TEXTS or kind == "identity"


@pytest.mark.parametrize(("alias", "kind"), ALIASES.items())
def test_an_alias_is_its_kind(alias, kind):
    assert perturb(TEXTS, alias) == perturb(TEXTS, kind) != [None] * 3


def test_why_a_text_cannot_be_damaged_is_said():
    degrees = [perturbation("char_delete", k=1), perturbation("char_delete", k=2)]
    one, two = perturbed_columns(["氷水", "氷", "。", "a  b"], "char_delete", degrees)
    few, none = Impossible.TOO_FEW_SITES, Impossible.NO_SITE
    assert one.impossible.tolist() == [0, few, none, 0]
    assert two.impossible.tolist() == [few, few, none, few]
    assert one.impossible.dtype == np.uint8
    assert len(one) == len(one.texts) == 4
    assert [text is None for text in one.texts.tolist()] == [False, True, True, False]


def test_the_degrees_of_a_call_are_those_of_calls_alone():
    degrees = [perturbation("char_typo", permille=permille) for permille in LADDERS["fine"]]
    found = perturbed_columns(TEXTS, "char_typo", degrees, seed=3)
    for degree, column in zip(degrees, found, strict=True):
        assert column.texts.tolist() == perturb(TEXTS, "char_typo", permille=degree.permille, seed=3)


def test_a_degree_of_a_plan_needs_no_more_than_its_amount():
    (found,) = perturbed_columns(TEXTS, "char_delete", [Perturbation("char_delete", "minor", k=2)])
    assert found.texts.tolist() == perturb(TEXTS, "char_delete", k=2)


def test_the_language_is_by_the_text_where_nobody_says():
    by_text = perturb(TEXTS, "punctuation")
    assert by_text == perturb(TEXTS, "punctuation", language=["ja", "en", None])
    assert by_text[0] == "氷は水に浮く．水より軽いからだ．"
    assert perturb(TEXTS, "punctuation", language="en") == [None] * 3
    assert perturb(["Ice。", "ー。", "ｱ。", "々。", "한。"], "punctuation") == [None, "ー．", "ｱ．", "々．", None]


def test_an_answer_takes_nothing_from_answers_to_its_question():
    texts = ["Ice floats.", "Ice is light.", "The sun rises."]
    assert perturb(texts, "answer_swap", questions=["ice", "ice", "sun"])[:2] == ["The sun rises."] * 2
    assert perturb(texts, "answer_swap", questions=["ice"] * 3) == [None] * 3
    assert set(perturb(texts, "answer_swap", questions=["ice", None, None])) <= set(texts)
    assert None not in perturb(texts, "answer_swap")


def test_donors_given_are_a_pool_for_all():
    texts = ["Ice floats.", "The sun rises."]
    assert perturb(texts, "answer_swap", donors=["Ice floats."]) == [None, "Ice floats."]
    pool = Donors.pool(["Ice floats."])
    assert perturb(texts, "answer_swap", donors=pool, questions=["ice", "sun"]) == [None, "Ice floats."]
    assert perturb(texts, "answer_swap", donors=[]) == [None, None]


def test_rows_say_which_donors_the_texts_are():
    texts = ["Ice floats.", "Ice is light.", "The sun rises."]
    donors = Donors(texts, ["ice", "ice", "sun"])
    swap = [Perturbation("answer_swap")]
    (found,) = perturbed_columns([texts[2], texts[1]], "answer_swap", swap, donors=donors, rows=np.array([2, 1]))
    assert found.texts[0] in texts[:2]
    assert found.texts[1] == texts[2]
    with pytest.raises(DiscernmentError, match="rows: 1 entries for 3 texts; expected one for each"):
        perturbed_columns(texts, "answer_swap", swap, donors=donors, rows=[0])
    with pytest.raises(IndexError):
        perturbed_columns(texts[:1], "answer_swap", swap, donors=donors, rows=[3])
    assert perturbed_columns(texts, "answer_swap", [], donors=donors) == []


def test_any_column_of_texts_will_do():
    expected = perturb(TEXTS, "loop", k=4)
    assert perturb(pa.chunked_array([TEXTS[:1], TEXTS[1:]]), "loop", k=4) == expected
    pool = Donors.pool(pa.array(TEXTS[:2]))
    assert perturb(pa.array(TEXTS), "sentence_insert", permille=1000, donors=pool) == perturb(
        TEXTS, "sentence_insert", permille=1000, donors=TEXTS[:2]
    )


def test_texts_stay_when_all_else_is_gone():
    (found,) = perturbed_columns(["".join(["ice ", "floats"])], "loop", [perturbation("loop", k=3)])
    texts = found.texts
    del found
    assert texts.tolist() == ["ice floatsice"]
    assert texts[0] == "ice floatsice"


def test_odd_code_points_are_damaged_as_they_are():
    odd = ["\ud800\x00\u202e氷", "\U0010ffff𠮷é", "a\udfff"]
    assert perturb(odd, "newline") == [text + "\n" for text in odd]
    assert perturb(odd, "truncate", k=1) == [odd[0][:-1], odd[1][:-1], "a"]


def test_seeds_have_64_bits():
    degree = {"permille": 500}
    assert perturb(TEXTS, "char_typo", seed=-1, **degree) == perturb(TEXTS, "char_typo", seed=2**64 - 1, **degree)
    assert perturb(TEXTS, "char_typo", seed=2**64, **degree) == perturb(TEXTS, "char_typo", seed=0, **degree)
    assert perturb(TEXTS, "char_typo", seed=1, **degree) != perturb(TEXTS, "char_typo", seed=0, **degree)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"kind": "loop"}, "loop: expected either permille or k, not neither$"),
        ({"kind": "loop", "k": 2, "permille": 3}, "loop: expected either permille or k, not both$"),
        ({"kind": "loop", "k": 0}, "loop: k 0: expected a whole number from 1 to 1000000000$"),
        ({"kind": "loop", "permille": 0}, "loop: permille 0: expected a whole number from 1 to 1000$"),
        ({"kind": "newline", "permille": 1001}, "newline: permille 1001: expected a whole number from 1 to 1000$"),
        ({"kind": "newline", "language": "jp"}, "unknown language 'jp'; expected 'ja' or 'en'$"),
        ({"kind": "newline", "language": ["ja"]}, "languages: 1 entries for 3 texts; expected one for each$"),
        ({"kind": "newline", "questions": ["Q1"]}, "questions: 1 entries for 3 texts; expected one for each$"),
        ({"kind": "answer_swap", "questions": ["Q1"]}, "questions: 1 entries for 3 texts; expected one for each$"),
        (
            {"kind": "wrong_ending", "alternatives": ["a"]},
            "alternatives: 1 entries for 3 texts; expected one for each$",
        ),
        ({"kind": "answer_swap", "donors": Donors(["a"])}, "texts: 3 entries for 1 donors; expected one for each$"),
    ],
)
def test_what_cannot_be_is_said_in_one_sentence(options, said):
    with pytest.raises(DiscernmentError, match=said):
        perturb(TEXTS, **options)


def test_kinds_without_degrees_take_any():
    for kind in ("punctuation", "answer_swap"):
        assert perturb(TEXTS, kind, permille=200) == perturb(TEXTS, kind, k=1) == perturb(TEXTS, kind)


def test_a_number_that_is_not_whole_is_refused():
    with pytest.raises(DiscernmentError, match=r"loop: k 1\.5: expected a whole number"):
        perturb(TEXTS, "loop", k=1.5)
    with pytest.raises(TypeError):
        perturb(TEXTS, "loop", k=1, seed=0.5)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["Ice"], "texts: expected a sequence of str, not one str"),
        ([["Ice", 3]], r"texts\[1\]: expected a str, not int"),
        ([["Ice", None]], r"texts\[1\]: expected a str, not NoneType"),
        (
            [pa.array(["Ice", b"\xff"], pa.binary()).cast(pa.string(), safe=False)],
            r"texts\[1\]: invalid UTF-8 at byte 0",
        ),
    ],
)
def test_what_is_no_text_is_named(arguments, said):
    with pytest.raises(TrialsError, match=said):
        perturb(*arguments, "newline")


def test_donors_and_alternatives_that_are_no_texts_are_named():
    with pytest.raises(TrialsError, match=r"donors\[0\]: expected a str, not int"):
        perturb(TEXTS, "answer_swap", donors=[3])
    with pytest.raises(TrialsError, match=r"alternatives\[1\]: expected a str, not int"):
        perturb(TEXTS, "wrong_ending", alternatives=["a", 3, None])
    invalid = pa.array([b"\xe3\x81"], pa.binary()).cast(pa.string(), safe=False)
    with pytest.raises(TrialsError, match=r"donors\[0\]: invalid UTF-8 at byte 0"):
        Donors.pool(invalid)
    with pytest.raises(TrialsError, match=r"alternatives\[0\]: invalid UTF-8 at byte 0"):
        perturb(["Ice."], "wrong_ending", alternatives=invalid)


@pytest.mark.parametrize("k", [1 << 28, 1 << 29, 10**9])
def test_a_text_that_would_be_too_long_is_an_error(k):
    with pytest.raises(TrialsError, match=r"texts\[1\]: has, or would have, more than 268435456 code points"):
        perturb(["", "Ice"], "loop", k=k)


def test_the_tables_of_the_core_are_those_of_the_package():
    script = ROOT / "tools" / "make_perturbation_tables.py"
    subprocess.run([sys.executable, script, "--check"], check=True)


@pytest.mark.parametrize("step", [32, pytest.param(1, marks=pytest.mark.slow)])
def test_the_table_of_code_points_says_what_python_says(step):
    """Of all code points that are assigned in Unicode 13.0; Python 3.10 can make the whole table again."""
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        import make_unicode_table as maker
    finally:
        sys.path.pop(0)
    traits = table_of(maker.TABLE.read_text())
    assert len(traits) == maker.N_CODE_POINTS
    # Behind the last plane of kanji there is little, and that in large blocks.
    for code_point in (*range(0x3400), *range(0x3400, 0x32000, step), *range(0x32000, maker.N_CODE_POINTS, 32 * step)):
        found = traits[code_point]
        is_assigned = bool(found & maker.ASSIGNED)
        assert found == maker.traits(code_point, is_assigned), hex(code_point)
        assert not is_assigned or is_stable(chr(code_point)), hex(code_point)
    # Characters, controls, private use, surrogates.
    assert sum(found & maker.ASSIGNED > 0 for found in traits) == 143_859 + 65 + 6_400 + 2 * 65_534 + 2_048
    if maker.unicodedata.unidata_version == "13.0.0" and step == 1:
        subprocess.run([sys.executable, maker.__file__, "--check"], check=True)


def table_of(source: str) -> list[int]:
    """The properties of each code point, as the C++ source has them."""
    numbers, *blocks = ([int(value) for value in listed.split(",") if value.strip()] for listed in braced(source))
    return [value for number in numbers for value in blocks[number]]


def braced(source: str) -> list[str]:
    return re.findall(r"\{([\d,\s]+)\}", source)
