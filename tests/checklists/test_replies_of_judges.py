"""Replies of a judge: what they say, and why they cannot be used. Whatever a reply holds, reading it takes no time."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.checklist_data import needs_hellobench, vectors
from pfgen_fast.checklists.judging.replies import parse_overall, parse_reply


def entries(*verdicts, first=0):
    return [
        {"checklist_id": id, "reason": f"reason {id}", "evaluation_score": verdict}
        for id, verdict in enumerate(verdicts, start=first)
    ]


def said(value, n=3):
    return parse_reply(value if isinstance(value, str) else json.dumps(value), n)


@needs_hellobench
def test_the_worked_examples():
    examples = vectors("parsing")
    assert len(examples["replies"]) == 29
    for example in examples["replies"]:
        found = parse_reply(example["reply"], examples["questions"], examples["levels"])
        scores = None if found.verdicts is None else list(found.verdicts)
        assert (scores, found.fault) == (example["scores"], example["fault"]), example["name"]


def test_verdicts_and_reasons_are_in_the_order_of_the_questions():
    found = said([*entries(0.25, 1), {"checklist_id": "2", "evaluation_score": " 0.5 "}][::-1])
    assert found.verdicts == (0.25, 1.0, 0.5)
    assert found.reasons == ("reason 0", "reason 1", None)


@pytest.mark.parametrize(
    "wrapped",
    [{"verdicts": entries(1, 0, 0.5)}, {"verdicts": entries(1, 0, 0.5), "note": "strict"}],
)
def test_an_object_with_one_list_stands_for_it(wrapped):
    assert said(wrapped).verdicts == (1.0, 0.0, 0.5)
    assert said({"a": entries(1, 0, 0.5), "b": []}).fault == "form"


def test_faults_are_looked_for_in_their_order():
    assert said([*entries("no", 7), 3]).fault == "form"
    assert said(entries("no", 7, first=5)).fault == "number"
    assert said(entries("no", 7, 9, first=5)).fault == "ids"
    assert said(entries("no", 7, 9)).fault == "value"


@pytest.mark.parametrize("id", [True, None, 0.5, "zero", "", "1e0", [0], float("nan"), float("inf"), "9" * 5000])
def test_what_is_no_whole_number_is_no_id(id):
    assert said([{"checklist_id": id, "evaluation_score": 1}], 1).fault == "ids"


@pytest.mark.parametrize("id", [0, 0.0, "0", 1, 1.0, "1", " 1 ", "01"])
def test_ids_count_from_0_or_from_1(id):
    assert said([{"checklist_id": id, "evaluation_score": 1}], 1).verdicts == (1.0,)


@pytest.mark.parametrize(
    "value", [True, None, 0.6, 2, -0.25, "yes", "nan", "1_0", "50%", "½", [1], {}, float("inf"), ""]
)
def test_a_verdict_is_a_level_or_a_fault(value):
    assert said([{"checklist_id": 0, "evaluation_score": value}], 1).fault == "value"


@pytest.mark.parametrize("value", [0.75, "0.75", ".75", "7.5e-1", 0.75 + 5e-10])
def test_a_verdict_may_be_written_in_many_ways(value):
    assert said([{"checklist_id": 0, "evaluation_score": value}], 1).verdicts == (0.75,)


@pytest.mark.parametrize(
    "text",
    [
        "```\n{0}\n```",
        "```json\n{0}```",
        "```python {0} ```",
        "Sure:\n```json\n{0}\n```\nDone.",
        "first [ then {0}"[8:],
        "\ufeff{0}",
        " \n{0}\n ",
    ],
)
def test_a_list_is_found_among_other_things(text):
    assert said(text.replace("{0}", json.dumps(entries(1, 0, 0.5)))).verdicts == (1.0, 0.0, 0.5)


def test_a_python_literal_is_read_as_one():
    listed = "[{'checklist_id': 0, 'reason': 'it\\'s \"so\"' ' indeed', 'evaluation_score': +1.0,},  # good\n]"
    found = said(listed, 1)
    assert (found.verdicts, found.reasons) == ((1.0,), ('it\'s "so" indeed',))
    assert said("[{'checklist_id': 0, 'evaluation_score': 2-1}]", 1).fault == "form"
    assert said("[{'checklist_id': 0, 'evaluation_score': float('1')}]", 1).fault == "form"


def test_what_parses_is_looked_at_and_no_later_way_is_tried():
    good = json.dumps(entries(1, 0, 0.5))
    assert said(json.dumps({"a": good})).fault == "form"
    assert said(json.dumps("words " + good)).fault == "form"


def test_depth_and_digits_do_not_depend_on_the_version_of_python():
    deep = "[" * 450 + "]" * 450
    assert said(f'[{{"checklist_id": 0, "evaluation_score": 1, "more": {deep}}}]', 1).verdicts == (1.0,)
    deeper = "[" * 600 + "]" * 600
    assert said(f'[{{"checklist_id": 0, "evaluation_score": 1, "more": {deeper}}}]', 1).fault == "form"
    assert said(f'[{{"checklist_id": 0, "evaluation_score": 1{"0" * 5000}}}]', 1).fault == "value"
    assert said(f"[{{'checklist_id': 0, 'evaluation_score': 1, 'more': {'[' * 101}{']' * 101}}}]", 1).fault == "form"


N = 300_000
HOSTILE = {
    "quotes": '"' * N,
    "escaped quotes": '[{"' + '\\"' * N,
    "brackets": "[" * N + "]",
    "braces": '{"a":' * N + "}" * N,
    "single quotes": "['" + "\\'" * N + "]",
    "triple quotes": "['''" + "''\\" * N + "]",
    "signs": "[" + "-" * N + "1]",
    "sums": "[" + "1+" * N + "1]",
    "digits": '[{"checklist_id": ' + "9" * N + "}]",
    "underscores": "[1" + "_1" * N + "]",
    "names": "[" + "a." * N + "a]",
    "blanks": "[" + " " * N + "x]",
    "fences": "```" * N,
    "objects": "[" + "{}," * (N // 3) + "{}]",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_replies_are_faults_in_no_time(name):
    begin = time.monotonic()
    assert said(HOSTILE[name]).verdicts is None
    assert parse_overall(HOSTILE[name]).verdicts is None
    assert time.monotonic() - begin < 10  # linear: a tenth of it on an idle machine


KEYS = st.sampled_from(["checklist_id", "evaluation_score", "reason", "x"])
PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(["0", "1"])
VALUES = st.recursive(PLAIN, lambda one: st.lists(one, max_size=3) | st.dictionaries(KEYS, one, max_size=3))


@given(
    st.text(st.sampled_from("[]{}'\"\\,:-+.#_ 01aeNTrb`\n"), max_size=60) | VALUES.map(json.dumps) | VALUES.map(repr)
)
def test_any_reply_has_verdicts_or_one_fault(text):
    for found in (parse_reply(text, 2), parse_overall(text)):
        assert (found.verdicts is None) == (found.fault is not None)
        assert found.verdicts is None or len(found.verdicts) == len(found.reasons)


@given(st.lists(st.sampled_from([0, 0.25, 0.5, 0.75, 1]), min_size=1, max_size=8), st.text(max_size=30), st.randoms())
def test_whatever_is_written_by_the_rules_is_read(verdicts, reason, random):
    listed = [{**entry, "reason": reason} for entry in entries(*verdicts)]
    random.shuffle(listed)
    expected = tuple(map(float, verdicts))
    for text in (json.dumps(listed), json.dumps(listed, ensure_ascii=False), repr(listed), f"```\n{listed!r}\n```"):
        found = parse_reply(text, len(verdicts))
        assert (found.verdicts, found.reasons) == (expected, (reason,) * len(verdicts))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"reason": "r", "evaluation_score": 7}', 7.0),
        ('{"evaluation_score": "7.5"}', 7.5),
        ("```json\n{'evaluation_score': 10}\n```", 10.0),
        ('Rating: {"evaluation_score": 0}.', 0.0),
        ('{"evaluation_score": 11}', "value"),
        ('{"evaluation_score": true}', "value"),
        ('{"reason": "r"}', "value"),
        ("[7]", "form"),
        ("7", "form"),
        ("", "form"),
    ],
)
def test_an_overall_rating_is_a_number_from_0_to_10(text, expected):
    found = parse_overall(text)
    assert (found.verdicts or (found.fault,)) == (expected,)
