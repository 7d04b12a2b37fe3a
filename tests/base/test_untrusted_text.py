"""Untrusted text, by destination: readers see the text, and no character of it has an effect."""

import csv
import io
import json
import math
import os
import re
from pathlib import Path, PurePosixPath
from urllib.parse import unquote_to_bytes, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.hostile import NAMES, acting, formulas, markdown_tokens, markdown_words
from makers.pages import Outline
from pfgen_fast.base import untrusted_text
from pfgen_fast.base.untrusted_text import (
    csv_text,
    csv_value,
    folder_names,
    from_csv_value,
    harmless,
    harmless_json,
    html_text,
    json_text,
    link_target,
    markdown_block,
    markdown_link,
    markdown_row,
    markdown_text,
    terminal_text,
)

MARKS = st.sampled_from(
    ["\n", "\r", "\t", " ", "a", "1", ".", ")", "_", "/", ":", "+", "x@y.z", *"*[]()<>&#|~`\\!-=$'\""]
)
TEXTS = st.one_of(st.sampled_from(NAMES), st.lists(MARKS, max_size=12).map("".join), st.text(max_size=30))


@given(TEXTS)
def test_a_text_in_a_terminal_is_one_line_without_control_characters(text):
    shown = terminal_text(text)
    assert len(shown.splitlines()) <= 1
    assert not acting(shown)


@pytest.mark.parametrize("end", [0x11000, pytest.param(0x110000, marks=pytest.mark.slow)])
def test_every_code_point_that_acts_becomes_an_escape(end):
    everything = "".join(map(chr, range(end)))
    assert acting(everything) > set("\x1b\x9b\u202e\u2028\ud800")
    assert acting(harmless(everything)) == {"\t"}
    harmless(everything).encode()
    spelled = "".join(f"\\{point}\\\\{point}" for point in everything[:256])
    assert json.loads(harmless_json([everything, {spelled: 1}])) == [harmless(everything), {harmless(spelled): 1}]


def test_harmless_text_stays_as_it_is():
    for name in ("org/model-7B_v1.0", "葛\U000e0100 👩\u200d🔬 e\u0301", "日本語（全角）"):
        assert terminal_text(name) == markdown_text(name) == html_text(name) == csv_value(name) == name
        assert json.loads(json_text(name)) == name
        assert json_text(name) == f'"{name}"'
    assert json_text({"a": [1, 0.1, 1e-07, math.inf]}) == '{"a": [1, 0.1, 1e-07, Infinity]}'


@given(TEXTS)
def test_a_line_of_markdown_shows_the_text_and_no_markup(text):
    tokens = markdown_tokens(markdown_text(text))
    assert {token.type for token in tokens} <= {"paragraph_open", "inline", "text", "text_special", "paragraph_close"}
    assert markdown_words(tokens) == terminal_text(text).strip()


@pytest.mark.parametrize("form", ["# {}", "* {}", "**a** {} b", "a {}", "{} b"])
@given(text=TEXTS)
def test_text_is_not_markup_at_any_place_of_markdown(form, text):
    kinds = [token.type for token in markdown_tokens(form.format("word"))]
    tokens = markdown_tokens(form.format(markdown_text(text) or "word"))
    assert [token.type for token in tokens if token.type != "text_special"] == kinds
    assert terminal_text(text).strip() in markdown_words(tokens)


@given(texts=st.lists(TEXTS, min_size=2, max_size=2))
def test_a_cell_of_a_table_ends_where_it_should(texts):
    rows = [markdown_row(["a", "b"]), markdown_row(["---", "---"]), markdown_row(map(markdown_text, texts))]
    tokens = markdown_tokens("".join(rows) + "\nafter\n")
    inline = [token for token in tokens if token.type == "inline"]
    shown = [markdown_words(token.children or ()) for token in inline]
    assert shown == ["a", "b", *(terminal_text(text).strip() for text in texts), "after"]


@given(text=TEXTS, path=st.one_of(st.sampled_from(NAMES), st.text(st.characters(codec="utf-8"), min_size=1)))
def test_a_link_leads_to_the_file_and_nowhere_else(text, path):
    path = path.replace("/", "-").replace("\0", "-")
    if path in (".", ".."):
        return
    target = link_target(Path("/runs/a") / path / "README.md", Path("/runs"))
    tokens = markdown_tokens(f"| {markdown_link(text, target)} |\n| --- |\n")
    (link,) = [token for token in tokens if token.type == "link_open"]
    address = str(link.attrs["href"])
    decoded = unquote_to_bytes(address).decode("utf-8", "surrogateescape")
    assert PurePosixPath(decoded) == PurePosixPath("a", path, "README.md")
    parts = urlsplit(address)
    assert (parts.scheme, parts.netloc, parts.query, parts.fragment) == ("", "", "", "")
    assert address.isascii()
    assert markdown_words(tokens) == terminal_text(text).strip()


@given(TEXTS)
def test_a_block_of_markdown_shows_the_text_as_it_is(text):
    (block,) = markdown_tokens(markdown_block(text))
    assert (block.type, block.content) == ("fence", harmless(text) + "\n")


@given(TEXTS)
def test_html_shows_the_text_and_no_element(text):
    outline = Outline(f'<p title="{html_text(text)}">{html_text(text)}</p>')
    assert outline.tags == ["p"]
    assert outline.attributes == [("title", terminal_text(text))]
    assert "".join(outline.texts) == terminal_text(text)


@pytest.mark.parametrize(
    "text", ["=1+1", "+a", "-a", "@a", " =1", "\u3000\xa0=1", "＝1", "＋a", "－a", "＠a", "-1+1", "--1", "= \x1b"]
)
def test_what_a_spreadsheet_would_evaluate_gets_a_quote(text):
    assert csv_value(text) == f"'{terminal_text(text)}"
    assert from_csv_value(csv_value(text)) == terminal_text(text)


@pytest.mark.parametrize(
    "value", [-0.5, -1, 1e-9, "-0.5", "+1", "-1e-05", "0.25", "", "a=b", "'", "'a", "a -b", None, True]
)
def test_numbers_and_other_values_stay_as_they_are_in_csv(value):
    assert csv_value(value) == value


@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_no_cell_of_a_csv_file_is_a_formula_and_every_text_can_be_read_back(texts):
    text = csv_text(["name", *texts], [["-0.5", *texts]])
    assert not formulas(text)
    head, row = csv.reader(io.StringIO(text, newline=""), strict=True)
    assert (head[0], row[0]) == ("name", "-0.5")
    for cells in (head[1:], row[1:]):
        # A text that begins with such a quote itself, which no name does, loses it.
        assert [from_csv_value(cell) for cell in cells] == [from_csv_value(terminal_text(text)) for text in texts]


@given(st.recursive(st.one_of(TEXTS, st.integers(), st.none()), lambda inner: st.dictionaries(TEXTS, inner)))
def test_json_decodes_to_the_value_and_has_no_control_characters(value):
    for indent in (None, 2):
        text = json_text(value, indent=indent)
        assert json.loads(text) == value
        assert harmless(text) == text
        text.encode()


def test_windows_gets_absolute_links_to_other_drives_and_no_names_that_it_forbids(monkeypatch):
    def relpath(path, start):
        raise ValueError("path is on mount 'C:', start on mount 'D:'")

    monkeypatch.setattr(os.path, "relpath", relpath)
    assert link_target(Path("/runs/a b/README.md"), Path("/pages")) == "file:///runs/a%20b/README.md"
    assert folder_names("org/llama3:8b") == ["org", "llama3:8b"]
    monkeypatch.setattr(untrusted_text, "_FORBIDDEN", re.compile('[<>:"|?*]'))
    assert folder_names("C:\\models\\llama3:8b") == ["C_", "models", "llama3_8b"]
