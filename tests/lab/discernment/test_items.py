"""Collections: what an item needs, the language of a text, the hash, and files in every format."""

import csv
import json
import re
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.tested_evaluators import problem as problem_of
from pfgen_fast.base.errors import DiscernmentError, PfgenError, TrialsError
from pfgen_fast.lab.discernment import discernment_items as item_files
from pfgen_fast.lab.discernment.discernment_items import Collection, CollectionItem, language_of, read_collection
from pfgen_fast.lab.evaluators.evaluator import Item

FIRST = {"id": "a", "text": "Ice floats.", "task": "qa", "question": "Why?", "context": "A passage."}
FIRST |= {"references": ["Ice is light.", "It floats."], "alternative": "Ice sinks."}
FIRST |= {"perturbed": {"char_typo/minor": "Ice flaots."}}
ROWS = [FIRST, {"id": "b", "text": "氷は浮く。", "task": "story", "language": "en", "context": None}]


def write(folder, rows, name="items.jsonl"):
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def problem(path):
    return problem_of(read_collection, path).replace(str(path), path.name)


def test_lines_a_table_of_cells_and_one_of_types_give_the_same_items(tmp_path):
    """References and damaged texts are JSON in cells of CSV, and lists and maps in Parquet."""
    expected = read_collection(write(tmp_path, ROWS))
    first, second = expected.items
    references, perturbed = ("Ice is light.", "It floats."), {"char_typo/minor": "Ice flaots."}
    fields = ("a", "Ice floats.", "qa", "en", "Why?", "A passage.", references, "Ice sinks.", perturbed)
    assert first == CollectionItem(*fields)
    assert second == CollectionItem("b", "氷は浮く。", "story", "en")
    pq.write_table(pa.Table.from_pylist([{**ROWS[0], "language": None}, ROWS[1]]), tmp_path / "items.parquet")
    with (tmp_path / "items.csv").open("w", encoding="utf-8", newline="") as file:
        cells = csv.DictWriter(file, [*ROWS[0], "language"])
        cells.writeheader()
        for row in ROWS:
            cells.writerow({key: v if isinstance(v, str) or v is None else json.dumps(v) for key, v in row.items()})
    for name in ("items.parquet", "items.csv"):
        collection = read_collection(tmp_path / name)
        assert collection.items == expected.items
        assert collection.hash == expected.hash


EMPTY = ": the text is empty; expected more than white space"
NO_OBJECT = ", column 'perturbed': expected an object of texts by the name of their perturbation, not a list"
NO_NAME = ": the name of a perturbation is kind/degree, such as char_delete/minor, not 'a/b/c'"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"id": None}, ": no id in column 'id'; its columns are 'id', 'text', 'task'"),
        ({"id": 0.5}, ", column 'id': expected a text, not 0.5"),
        ({"id": "5"}, ": the ID '5' is also in items.jsonl, line 1; expected a unique ID"),
        ({"text": None}, ": no text in column 'text'; its columns are 'id', 'text', 'task'"),
        ({"text": " \n\u3000"}, EMPTY),
        ({"task": None}, ": no task in column 'task'; expected a task, or one for all items (--task)"),
        ({"task": "question answering"}, ": no question; items of the task qa need a question"),
        ({"language": "jp"}, ": unknown language 'jp'; expected one of ja, en"),
        ({"perturbed": ["x"]}, NO_OBJECT),
        ({"perturbed": {"a/b/c": "x"}}, NO_NAME),
    ],
)
def test_an_item_that_breaks_the_rules_is_named_with_its_line(tmp_path, change, expected):
    """The ID of the first item is a whole number, which becomes its digits."""
    rows = [{"id": 5, "text": "x", "task": "t"}, {"id": "second", "text": "x", "task": "t"} | change]
    assert problem(write(tmp_path, rows)) == f"items.jsonl, line 2{expected}"


ARTICLE = "The lake froze in March, and the ferry stayed in its harbour for nineteen days."
SUMMARIES = ["The lake froze. The ferry stayed in its harbour.", "The lake froze in March, so no ferry sailed at all."]
OF_ARTICLE = {"text": ARTICLE, "human_summaries": SUMMARIES, "scores": [1.5]}
NO_CONTEXT = (
    "items.jsonl, line 1: the column 'text' may be the source of human_summaries, because there is no context; "
    "expected --column context=text --column text=human_summaries, or --column text=text to damage 'text'"
)


def test_a_column_text_that_holds_the_source_is_refused_and_freed_by_naming_the_columns(tmp_path):
    path = write(tmp_path, [OF_ARTICLE, OF_ARTICLE, {**OF_ARTICLE, "text": "Another article."}])
    with pytest.raises(DiscernmentError) as caught:
        read_collection(path, task="summarization")
    assert str(caught.value).replace(str(path), path.name) == NO_CONTEXT
    columns = {"context": "text", "text": "human_summaries", "perturbed.negate/minor": "text"}
    items = read_collection(path, task="summarization", columns=columns)
    first = CollectionItem("1", SUMMARIES[0], "summarization", "en", None, ARTICLE, (SUMMARIES[1],))
    assert items.items[0] == replace(first, perturbed={"negate/minor": ARTICLE})
    assert [item.id for item in items.items] == ["1", "3"]  # the second row repeats the first
    assert items.notes == ("Of 3 rows, 1 are left out: repeated texts, or texts that are too short.",)
    kept = (read_collection(path, task="summarization", columns={"text": "text"}), read_collection(path, task="own"))
    assert all(collection.items[0].text == ARTICLE for collection in kept)


def test_short_texts_are_left_out_and_a_column_that_is_not_there_is_named(tmp_path):
    path = write(tmp_path, [{"text": "Ice.", "task": "t"}, {"text": "Ice floats.", "task": "t"}])
    assert [item.id for item in read_collection(path, longer_than=4).items] == ["2"]
    with pytest.raises(DiscernmentError, match=r"no items; expected one in each row with a text of more than 99 char"):
        read_collection(path, longer_than=99)
    with pytest.raises(DiscernmentError, match=r"line 1: no column 'x' for context; the columns are 'text', 'task'$"):
        read_collection(path, columns={"context": "x"})


def test_a_file_without_items_and_lines_that_are_no_items_are_named(tmp_path):
    path = tmp_path / "items.jsonl"
    path.write_text("")
    assert problem(path) == "items.jsonl: no items; expected one in each row"
    path.write_text('{"id": "a", "text": "x", "task": "t"}\n\n[1]\n')
    with pytest.raises(TrialsError, match=re.escape("items.jsonl, line 3: expected a JSON object, not list")):
        read_collection(path)


def test_a_text_is_japanese_if_it_has_a_kana_or_a_kanji():
    assert {language_of(text) for text in ("ぁ", "ン", "ﾝ", "氷", "々", "〇", "ー", "𠀋", "ice 氷 ice")} == {"ja"}
    assert {language_of(text) for text in ("Ice floats.", "、。「」１２ＡＢ", "Ёлка 한글")} == {"en"}


def test_a_collection_of_objects_is_checked_too():
    items = [Item(str(number), "Ice floats.", "story completion") for number in range(3)]
    collection = Collection.of(items, name="mine")
    assert [(item.task, item.language) for item in collection.items] == [("story", "en")] * 3
    with pytest.raises(DiscernmentError, match=r"^item 1: the ID '1' is also in item 1; expected a unique ID$"):
        Collection.of([items[1], items[1]])
    with pytest.raises(DiscernmentError, match=r"^item 2: an item without an ID"):
        Collection.of([items[0], replace(items[1], id="")])


def test_the_hash_is_of_everything_in_the_items_and_not_of_their_order(tmp_path):
    collection = read_collection(write(tmp_path, ROWS))
    first, second = collection.items
    assert Collection((second, first), "another name").hash == collection.hash
    changed = {"id": "c", "text": "Ice sinks.", "task": "x", "language": "ja", "question": "How?"}
    changed |= {"context": None, "references": (), "alternative": None, "perturbed": {}}
    hashes = {Collection((replace(first, **{name: value}), second)).hash for name, value in changed.items()}
    assert len(hashes | {collection.hash}) == len(changed) + 1


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
keys = st.sampled_from(["id", "text", "task", "language", "question", "references", "alternative", "perturbed"])


@given(rows=st.lists(st.dictionaries(keys, json_values), max_size=4))
def test_every_line_is_an_item_or_an_error_in_one_line(tmp_path_factory, rows):
    path = write(tmp_path_factory.mktemp("items"), rows)
    items, problem = (), "none"
    try:
        items = read_collection(path).items
    except PfgenError as error:
        problem = str(error).replace(str(path), "")
    assert re.fullmatch("[^\n\x1b]{1,500}", problem)
    assert all(item.id and item.text.strip() and item.language in ("ja", "en") for item in items)


def test_a_collection_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(item_files, "_MAX_ITEMS", 1)
    assert problem(write(tmp_path, ROWS)) == (
        "items.jsonl: more than 1 items or 1,073,741,824 characters, which is the limit"
    )
    monkeypatch.setattr(item_files, "_MAX_ITEMS", 10)
    monkeypatch.setattr(item_files, "_MAX_CODE_POINTS", 50)
    assert "more than 10 items or 50 characters" in problem(write(tmp_path, ROWS))
