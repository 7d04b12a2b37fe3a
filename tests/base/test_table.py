"""The one table: what terminals, Markdown, CSV, JSON and notebooks show of the same rows."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pfgen_fast.base.table import READABLE, Column, Html, Table, bearing_digits, figure
from pfgen_fast.base.text_width import LEAST, width_of
from rich.cells import cell_len

COLUMNS = (
    Column("rank"), Column("model"), Column("score", digits=3),
    Column("difference", "A - B", digits=2, is_signed=True),
    Column("interval", "95 % interval", form=lambda ends: f"{ends[0]:.1f} to {ends[1]:.1f}", view="readers"),
    Column("low", view="files"), Column("is_best", "best", is_optional=True),
)  # fmt: skip
ROWS = ((1, "氷-7b|x", 0.98765, -0.001, (0.9, 1.0), 0.9, True), (1200, "=b", math.nan, 0.5, None, None, False))
TABLE = Table(COLUMNS, ROWS, title="Models", name="models")


def test_figures_are_aligned_to_the_right_and_texts_to_the_left():
    assert TABLE.to_text() == (
        " rank  model    score  A - B  95 % interval  best\n"
        "    1  氷-7b|x  0.988  +0.00     0.9 to 1.0   yes\n"
        "1,200  =b           –  +0.50              –    no"
    )
    assert TABLE.to_markdown().splitlines() == [
        "| rank | model | score | A - B | 95 % interval | best |",
        "| ---: | --- | ---: | ---: | ---: | ---: |",
        "| 1 | 氷-7b&#124;x | 0.988 | +0.00 | 0.9 to 1.0 | yes |",
        "| 1,200 | =b | – | +0.50 | – | no |",
    ]


def test_files_have_full_precision_and_their_own_columns():
    assert TABLE.to_csv().splitlines() == [
        "rank,model,score,difference,low,is_best",
        "1,氷-7b|x,0.98765,-0.001,0.9,true",
        "1200,'=b,,0.5,,false",
    ]
    assert Table([Column("x")], [(1 / 3,)], significant=3).to_csv().splitlines()[1] == "0.333"
    assert json.loads(TABLE.to_json()) == TABLE.to_dicts()
    assert TABLE.to_dicts()[1] == {
        "rank": 1200, "model": "=b", "score": None, "difference": 0.5, "low": None, "is_best": False,
    }  # fmt: skip
    assert list(TABLE.to_pandas().columns) == TABLE.to_polars().columns == list(TABLE.to_dicts()[0])


@given(st.integers(20, 80), st.lists(st.text("ab氷💬e\u0301", min_size=1, max_size=40), min_size=1, max_size=4))
def test_a_terminal_leaves_optional_columns_out_where_names_would_be_unreadable(width, names):
    table = Table(COLUMNS[:3] + COLUMNS[6:], [(1, name, 0.5, True) for name in names])
    lines = table.lines(width)
    narrowest = len("rank  ") + LEAST + len("  score")
    assert max(map(width_of, lines)) <= max(width, narrowest)
    readable = narrowest - LEAST + min(READABLE, max(map(width_of, [*names, "model"])))
    assert ("best" in lines[0]) == (width >= readable + len("  best"))


@pytest.mark.parametrize("width", [1, 20, 34, 40, 62, 80])
def test_a_terminal_cuts_several_columns_of_texts_the_longest_first(width):
    lines = Table([Column("model"), Column("text")], [("m" * 36, "t" * 46)]).lines(width)
    assert max(map(width_of, lines)) == min(max(width, 2 * LEAST + 2), 84)
    assert (f"{'m' * 36}  t" in lines[1]) == (width >= 36 + 2 + READABLE)


def test_a_terminal_cuts_no_interval_beside_a_name():
    table = Table([Column("interval"), Column("model")], [("-0.7175 to +0.1733", "m" * 30)])
    assert table.lines(20)[1] == f"-0.7175 to +0.1733  {'m' * 6}…{'m' * 5}"
    table = Table([Column("run")], [(f"{'m' * 90}/a",), (f"{'m' * 90}/b",)])  # the ends that differ are not cut
    assert (len({*table.lines()}), len({*table.lines(40)})) == (3, 3)


def test_a_notebook_shows_the_first_rows_and_no_markup_of_texts():
    table = Table([Column("name"), Column("bar")], [("<b>", Html("<i>1</i>"))] * 21)
    assert table._repr_html_().count("<tr>") == 21
    assert "&lt;b&gt;" in table._repr_html_()
    assert "<i>1</i>" in table._repr_html_()
    assert table._repr_html_().endswith("<p>1 more rows</p>")


def test_a_row_has_a_value_for_each_column():
    with pytest.raises(ValueError, match="a row of 1 cells under 2 columns"):
        Table(COLUMNS[:2], [(1,)])


@given(st.floats(allow_nan=False, allow_infinity=False, width=32), st.integers(0, 6), st.booleans())
def test_a_figure_that_rounds_to_zero_has_no_minus(value, digits, is_signed):
    text = figure(value, digits, is_signed=is_signed)
    assert float(text) == float(f"{value:.{digits}f}")
    assert text.startswith("-") == (float(text) < 0)
    assert text.startswith("+") == (is_signed and float(text) >= 0)


def test_a_share_has_no_more_digits_than_its_interval_bears():
    assert [bearing_digits(half) for half in (0.0004, 0.0123, 0.099, 0.1, 3.0, 0.0, math.inf, None)] == [
        *(4, 3, 3, 2, 1, 4, 4, 4)
    ]


def test_widths_are_those_of_terminals():
    for text in ("ice", "氷がとける", "e\u0301", "💬", "ｱｲｽ", "…–", "全\u200b幅"):
        assert width_of(text) == cell_len(text)
