"""Collections made from data sets with several texts for each item."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from makers.tested_evaluators import problem
from pfgen_fast.lab.discernment.discernment_items import ItemColumns, read_collection
from pfgen_fast.lab.discernment.originals import Bounds, collect, write_items

TASK = ItemColumns({"references": "summaries"}, task="summarization")
SHORT, MIDDLE, LONG = "Ice floats.", "Ice floats. It is cold. So.", "Ice, which is cold, floats on water."


def lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def some_rows(n=30):
    return [{"id": f"a{i}", "summaries": [f"{i} {text}" for text in (SHORT, LONG, MIDDLE)]} for i in range(n)]


@pytest.fixture
def data(tmp_path):
    return lines(tmp_path / "data.jsonl", some_rows())


def test_one_text_of_each_item_is_chosen_and_the_others_are_its_references(data):
    found = collect(data, columns=TASK)
    assert (found.n_read, found.n_fitting, len(found.collection), found.donors) == (30, 30, 30, ())
    item = found.collection.items[0]
    assert (item.text, item.references) == (f"0 {LONG}", (f"0 {SHORT}", f"0 {MIDDLE}"))
    by_sentences = collect(data, columns=TASK, choice="sentences").collection.items[0]
    assert (by_sentences.text, by_sentences.references) == (f"0 {MIDDLE}", (f"0 {SHORT}", f"0 {LONG}"))
    bounded = collect(data, columns=TASK, bounds=Bounds(5, 30)).collection.items[0]
    assert (bounded.text, bounded.references) == (f"0 {MIDDLE}", (f"0 {SHORT}", f"0 {LONG}"))


@pytest.mark.parametrize(("language", "text"), [("ja", LONG), ("en", MIDDLE)])
def test_sentences_are_those_of_the_given_language(data, language, text):
    found = collect(data, columns=replace(TASK, language=language), choice="sentences", bounds=Bounds(15))
    assert found.collection.items[0].text == f"0 {text}"


def test_rows_with_the_same_id_are_one_item_and_texts_may_be_missing(tmp_path):
    rows = [
        {"id": 1, "text": SHORT, "question": "Why?"},
        {"id": 2, "text": None, "question": "Why?"},
        {"id": 1, "text": LONG, "question": "Why?"},
        {"id": 1, "text": SHORT, "question": "Why?"},
        {"id": 3, "text": " \n ", "question": "Why?"},
    ]
    found = collect(lines(tmp_path / "data.jsonl", rows), columns=ItemColumns(task="qa"))
    assert [(item.id, item.text, item.references) for item in found.collection.items] == [("1", LONG, (SHORT,))]
    assert (found.n_read, found.n_fitting) == (3, 1)


def test_items_are_drawn_by_seed_and_not_by_their_order(tmp_path, data):
    def drawn(path, n, seed=0):
        return {item.id for item in collect(path, columns=TASK, n_items=n, seed=seed).collection.items}

    backwards = lines(tmp_path / "backwards.jsonl", some_rows()[::-1])
    assert drawn(data, 10) == drawn(backwards, 10) < drawn(data, 20)
    assert len(drawn(data, 10)) == 10
    assert drawn(data, 10) != drawn(data, 10, seed=1)
    items = collect(data, columns=TASK, n_items=10).collection.items
    assert [item.id for item in items] == sorted((item.id for item in items), key=lambda name: int(name[1:]))


def test_donors_are_items_that_were_not_drawn_without_their_questions_and_texts(tmp_path):
    rows = [{"id": i, "text": f"{LONG} {i // 2}", "question": f"q{i // 3}"} for i in range(30)]
    found = collect(lines(tmp_path / "data.jsonl", rows), columns=ItemColumns(task="qa"), n_items=8)
    drawn = found.collection.items
    assert len(found.donors) > 0
    assert not {item.id for item in found.donors} & {item.id for item in drawn}
    assert not {item.question for item in found.donors} & {item.question for item in drawn}
    assert not {item.text for item in found.donors} & {item.text for item in drawn}


@pytest.mark.parametrize("name", ["out.jsonl", "out.csv", "out.tsv", "out.parquet", "out.jsonl.gz"])
def test_a_written_collection_is_read_as_the_same_collection(tmp_path, data, name):
    if "parquet" in name:
        pytest.importorskip("pyarrow")
    found = collect(data, columns=TASK, n_items=10).collection
    write_items(tmp_path / name, found.items)
    assert read_collection(tmp_path / name).hash == found.hash


ONE = [{"id": "a", "text": "x"}]


@pytest.mark.parametrize(
    ("rows", "options", "expected"),
    [
        (
            [{**ONE[0], "context": "1"}, {**ONE[0], "context": "2"}],
            {},
            ", line 2: the context of item a differs from that in {path}, line 1; expected the same in all rows",
        ),
        (
            [{**ONE[0], "perturbed": {"negate": "y"}}],
            {},
            ", line 1: has damaged texts, which belong to one text; leave ",
        ),
        (ONE, {"n_items": 2}, ": expected 2 items with a text of at least 1 character, found 1 of 1"),
        (ONE, {"bounds": Bounds(5, 9)}, ": expected 1 item with a text of 5 to 9 characters, found 0 of 1"),
        (
            [{"id": "a", "body": "x"}],
            {"columns": TASK},
            ", line 1: no text in column 'text' or 'summaries'; its columns are 'id', 'body'",
        ),
        ([{"text": "x"}], {}, ", line 1: no id in column 'id'; its columns are 'text'"),
        (ONE, {"columns": ItemColumns()}, ", line 1: no task in column 'task'; expected a task, "),
        (ONE, {"columns": ItemColumns(task="qa")}, ", line 1: no question; items of the task qa "),
    ],
)
def test_bad_data_is_refused_with_the_place(tmp_path, rows, options, expected):
    path = lines(tmp_path / "data.jsonl", rows)
    said = problem(collect, path, **{"columns": ItemColumns(task="summarization"), **options})
    assert said.startswith(f"{path}{expected.format(path=path)}")


def test_bounds_are_in_order():
    assert problem(Bounds, 5, 4) == "lengths from 5 to 4: expected two numbers in ascending order"
