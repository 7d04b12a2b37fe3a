"""CSV and TSV keep the form of their source: encoding, byte-order mark, line ends."""

import csv
import io
import json

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from makers.effort import examples
from makers.scored_tables import score_content
from pfgen_fast import PfgenError, TrialsError
from pfgen_fast.tables import table_rows as text_form
from pfgen_fast.tables.formats import column_names, table_rows

ENCODINGS = ["utf-8", "utf-8-sig", "cp932", "euc-jp", "iso2022_jp", "utf-16", "utf-16-le", "utf-32", "utf-7"]
MARKS = {"utf-8-sig": b"\xef\xbb\xbf", "utf-16": b"\xff\xfe", "utf-32": b"\xff\xfe\0\0"}


def table_text(rows: list[list[str]], *, delimiter: str = ",", line_end: str = "\n") -> str:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator=line_end, quoting=csv.QUOTE_ALL).writerows(rows)
    return text.getvalue()


def rows_of(content: bytes, encoding: str, *, delimiter: str = ",") -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode(encoding), newline=""), delimiter=delimiter, strict=True))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_names_the_encoding(scorer, tmp_path, encoding):
    content = "q,a\r\nQ07,氷\r\n".encode(encoding)
    written = score_content(scorer, tmp_path, content)
    assert written.startswith(MARKS[encoding])
    assert written.decode(encoding).startswith("q,a,fluency,")
    assert written.decode(encoding).split("\r\n")[1].startswith("Q07,氷,")
    message = r"in\.csv: begins with the byte-order mark of utf-(8|16-le|32-le), so it is not cp932"
    with pytest.raises(TrialsError, match=message):
        score_content(scorer, tmp_path, content, "in.csv other.csv", encoding="cp932")
    assert not (tmp_path / "other.csv").exists()


@pytest.mark.parametrize(("encoding", "question"), [("utf-16-le", "問"), ("utf-16-be", "q")])
def test_utf_16_without_a_byte_order_mark_needs_its_name(scorer, tmp_path, encoding, question):
    message = rf"in\.csv, line 1: zero bytes, as in UTF-16 without a byte-order mark; pass the encoding {encoding}"
    with pytest.raises(TrialsError, match=message):
        score_content(scorer, tmp_path, f"{question},a\nQ07,氷\n".encode(encoding))
    assert score_content(scorer, tmp_path, "q,a\nQ07,氷\n".encode(encoding), encoding=encoding)


@pytest.mark.parametrize(
    ("name", "header", "message"),
    [
        ("in.csv", "q;a", "expected commas between the columns, not semicolons"),
        ("in.csv", "q\ta", "expected commas between the columns, not tabs"),
        ("in.tsv", "q,a", "expected tabs between the columns, not commas"),
    ],
)
def test_another_mark_between_columns_is_named(tmp_path, name, header, message):
    (tmp_path / name).write_text(f"{header}\n1{header[1]}2\n", encoding="utf-8")
    with pytest.raises(TrialsError, match=rf"in\..sv, line 1: {message}"):
        column_names(tmp_path / name)
    (tmp_path / "in.csv").write_text('"q, or a"\n1\n', encoding="utf-8")
    assert column_names(tmp_path / "in.csv") == ["q, or a"]


def test_the_encoding_is_that_of_csv_and_json_is_utf8(scorer, tmp_path):
    line = '{"q": "Q07", "a": "氷"}\n'
    assert score_content(scorer, tmp_path, line, "in.jsonl out.csv").startswith(b"q,a,fluency,")
    written = score_content(scorer, tmp_path, line, "in.jsonl out.csv", encoding="utf-8-sig")  # for spreadsheets
    assert written.startswith(b"\xef\xbb\xbfq,a,fluency,")
    written = score_content(scorer, tmp_path, "q,a\nQ07,氷\n".encode("cp932"), "in.csv out.jsonl", encoding="cp932")
    assert json.loads(written)["a"] == "氷"
    message = r"encoding: expected a CSV or TSV file, but the files are .*in\.jsonl and .*out\.json$"
    with pytest.raises(PfgenError, match=message):
        score_content(scorer, tmp_path, line, "in.jsonl out.json", encoding="cp932")


@pytest.mark.parametrize("name", ["cp 932", "", "base64", "no\0such", "undefined"])
def test_an_unknown_encoding_is_one_sentence(scorer, tmp_path, name):
    with pytest.raises(PfgenError, match=r"^encoding: expected a name such as utf-8, .* not '") as raised:
        score_content(scorer, tmp_path, "q,a\n", encoding=name)
    assert "\0" not in str(raised.value)


UNDECODABLE = {
    "utf-8": b"q,a\nQ07,\xe6\xb0\xb4\nQ07,\x82\xa0\n",
    "utf_8": b"q,a\nQ07,\xe6\xb0\xb4\nQ07,\xe6\xb0",  # ends within a character
    "cp932": b"q,a\nQ07,\x90\x85\nQ07,\x81\xff\n",
    "ascii": b"q,a\nQ07,water\nQ07,\xe6\xb0\xb4\n",
    "utf-16": "q,a\nQ07,水\nQ07,".encode("utf-16") + b"\x00\xdc\n\0",
}


@pytest.mark.parametrize("block_bytes", [1, 3, 1 << 20])
@pytest.mark.parametrize("encoding", UNDECODABLE)
def test_an_undecodable_byte_is_named_with_its_line(scorer, tmp_path, monkeypatch, encoding, block_bytes):
    monkeypatch.setattr(text_form, "_BLOCK_BYTES", max(block_bytes, 2 if encoding == "utf-16" else 1))
    message = rf"in\.csv, line 3: not {encoding.replace('_', '-')}(-le)? \(byte 0x\w\w\)"
    with pytest.raises(TrialsError, match=message):
        score_content(scorer, tmp_path, UNDECODABLE[encoding], encoding=encoding)


@pytest.mark.parametrize(
    ("last", "place"),
    [('{"q": "Q07", "a": "𠮷野家"}', r"in\.jsonl, line 2"), ('{"q": "Q07", "a": "", "𠮷": 1}', r"in\.jsonl")],
)
def test_a_character_that_the_encoding_lacks_is_named_with_its_line(scorer, tmp_path, last, place):
    lines = '{"q": "Q07", "a": "氷"}\n' + last
    with pytest.raises(TrialsError, match=rf"{place}: the character U\+20BB7 is not in the encoding cp932"):
        score_content(scorer, tmp_path, lines, "in.jsonl out.csv", encoding="cp932")
    assert not (tmp_path / "out.csv").exists()


CELLS = st.text(st.sampled_from(['"', ",", "\t", "\n", "\r", " ", "a", "氷", "表", "\\", "'", "="]), max_size=6)


@examples(150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(
    cells=st.lists(st.tuples(CELLS, CELLS), max_size=9),
    encoding=st.sampled_from(ENCODINGS),
    line_end=st.sampled_from(["\n", "\r\n"]),
    suffixes=st.tuples(st.sampled_from([".csv", ".tsv"]), st.sampled_from([".csv", ".tsv"])),
    batch_size=st.integers(1, 4),
    block_bytes=st.integers(4, 9),
)
def test_cells_come_out_as_they_went_in(
    scorer, tmp_path, monkeypatch, cells, encoding, line_end, suffixes, batch_size, block_bytes
):
    """Encoding, byte-order mark, line ends and texts stay, wherever blocks and batches end."""
    monkeypatch.setattr(text_form, "_BLOCK_BYTES", block_bytes)
    rows = [["q", "a", "note"], *(["Q07", *pair] for pair in cells)]
    before, after = ("\t" if suffix == ".tsv" else "," for suffix in suffixes)
    content = table_text(rows, delimiter=before, line_end=line_end).encode(encoding)
    arguments = scorer, tmp_path, content, f"in{suffixes[0]} out{suffixes[1]}"
    written = score_content(*arguments, encoding=encoding, batch_size=batch_size)
    assert written.startswith(MARKS.get(encoding, b""))
    assert [row[:3] for row in rows_of(written, encoding, delimiter=after)] == rows
    header, end, _ = written.decode(encoding).partition(line_end)
    assert (end, header[-1]) == (line_end, "B")  # of `truthfulness_B`
    assert written.decode(encoding).endswith(line_end)
    assert score_content(*arguments, encoding=encoding, batch_size=100) == written


@examples(100, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.dictionaries(CELLS, st.recursive(CELLS | st.integers(), st.lists, max_leaves=12), max_size=3)),
    indent=st.sampled_from([None, 1]),
    ascii_only=st.booleans(),
)
def test_a_json_array_is_read_like_json(tmp_path, rows, indent, ascii_only):
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(rows, indent=indent, ensure_ascii=ascii_only), encoding="utf-8")
    read = list(table_rows(path, batch_size=2))
    assert [row for _, row in read] == rows
    assert [location for location, _ in read] == [f"{path}, row {number}" for number in range(1, len(rows) + 1)]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "expected a JSON array of objects (JSON lines have the extension .jsonl)"),
        ('{"q": 1}', "expected a JSON array of objects"),
        ("[", ", row 1: expected a JSON object, not the end of the file"),
        ("[1]", ", row 1: expected a JSON object, not '1'"),
        ('[{"q": 1},]', ", row 2: expected a JSON object, not ']'"),
        ('[{"q": 1} {}]', ", row 1: expected ',' or ']' after it, not '{'"),
        ('[{"q": 1}', ", row 1: expected ',' or ']' after it, not the end of the file"),
        ('[{"q": "}', ", row 1, column 7: not JSON: Unterminated string"),
        ('[{"q": [}', ", row 1, column 8: not JSON: Expecting value"),
        ('[{"q": 1]]', ", row 1, column 8: not JSON: "),
        ("[{}] x", ": expected nothing after the array, not 'x'"),
        ("[" + "[" * 100_000, ", row 1: expected a JSON object"),
        ('[{"q": ' + "[" * 100_000 + "]" * 100_000 + "}]", ", row 1: JSON nested too deeply"),
    ],
)
def test_a_json_array_that_cannot_be_read_is_named_with_its_row(tmp_path, content, problem):
    path = tmp_path / "rows.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(TrialsError) as raised:
        list(table_rows(path))
    assert str(raised.value).startswith(str(path))
    assert problem in str(raised.value)


def test_a_large_json_array_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("pfgen_fast.tables.text_formats.MAX_ARRAY", 1000)
    monkeypatch.setattr(text_form, "_BLOCK_BYTES", 100)
    (tmp_path / "rows.json").write_text('[{"q": "' + "x" * 2000)
    with pytest.raises(TrialsError, match=r"rows\.json: more than 1,000 characters; use JSON lines"):
        list(table_rows(tmp_path / "rows.json"))
