"""Columns that only pass through a table: every type keeps all digits in every format, or is refused by name."""

from __future__ import annotations

import datetime
import decimal
import json
import re
import uuid

import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.effort import examples
from makers.scored_tables import read_table, score, score_lines
from pfgen_fast import TrialsError
from pfgen_fast.tables.arrow_columns import json_values
from pfgen_fast.tables.text_rows import _number

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
DAY_SECONDS = 86400
FIVE_MILLENNIA = 5000 * 365 * DAY_SECONDS
PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def whole(bits: int, *, signed: bool = True) -> st.SearchStrategy[int]:
    return st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else st.integers(0, 2**bits - 1)


def moments(unit: str) -> st.SearchStrategy[int]:
    most = min(FIVE_MILLENNIA * PER_SECOND[unit], 2**63 - 1)
    return st.integers(max(-1900 * 365 * DAY_SECONDS * PER_SECOND[unit], -(2**63) + 1), most)


def arrays(kind: pa.DataType, values: st.SearchStrategy) -> st.SearchStrategy[pa.Array]:
    """Arrays of a type; times are made from whole numbers of their unit."""
    storage = kind if kind in OTHERS else pa.int32() if pa.types.is_time32(kind) else pa.int64()
    return st.lists(st.none() | values, max_size=5).map(lambda some: pa.array(some, storage).cast(kind))


TIMES = {
    **{pa.time32(unit): st.integers(0, DAY_SECONDS * PER_SECOND[unit] - 1) for unit in ("s", "ms")},
    **{pa.time64(unit): st.integers(0, DAY_SECONDS * PER_SECOND[unit] - 1) for unit in ("us", "ns")},
    **{pa.timestamp(unit): moments(unit) for unit in PER_SECOND},
    **{pa.timestamp(unit, zone): moments(unit) for unit in PER_SECOND for zone in ("UTC", "+09:00")},
    **{pa.duration(unit): st.integers(-(2**52), 2**52) for unit in PER_SECOND},
}
OTHERS = {
    pa.bool_(): st.booleans(),
    **{getattr(pa, f"int{bits}")(): whole(bits) for bits in (8, 16, 32, 64)},
    **{getattr(pa, f"uint{bits}")(): whole(bits, signed=False) for bits in (8, 16, 32, 64)},
    pa.float32(): st.floats(width=32, allow_nan=False, allow_infinity=False),
    pa.float64(): st.floats(allow_nan=False, allow_infinity=False),
    pa.decimal128(38, 10): st.decimals(-(10**27), 10**27, places=10),
    pa.decimal256(76, 40): st.decimals(-1, 1, places=40),
    pa.date32(): st.dates(),
    pa.string(): st.text(max_size=5),
    pa.large_string(): st.text(max_size=5),
    pa.dictionary(pa.int8(), pa.string()): st.text(max_size=5),
}
LEAVES = st.one_of(*(arrays(kind, values) for kind, values in (TIMES | OTHERS).items()))


def nested(inner: pa.Array) -> st.SearchStrategy[pa.Array]:
    ends = pa.array([0, len(inner) // 2, len(inner)], pa.int32())
    return st.sampled_from(
        [
            pa.ListArray.from_arrays(ends, inner),
            pa.LargeListArray.from_arrays(ends.cast(pa.int64()), inner),
            pa.StructArray.from_arrays([inner, inner], ["a", "b"]),
            pa.MapArray.from_arrays(ends, pa.array([str(i) for i in range(len(inner))], pa.string()), inner),
        ]
    )


COLUMNS = st.recursive(LEAVES, lambda inner: inner.flatmap(nested), max_leaves=2)


def same(value: object, kind: pa.DataType) -> object:
    """What Arrow makes of a value of JSON: a whole number of units, or a number, text, list or dictionary."""
    if value is None:
        return None
    if pa.types.is_duration(kind):
        return decimal.Decimal(repr(value)) * PER_SECOND[kind.unit]
    if pa.types.is_time(kind):
        return same(f"1970-01-01T{value}", pa.timestamp(kind.unit))
    if pa.types.is_timestamp(kind):
        fraction = re.search(r"\.\d+", value)
        moment = datetime.datetime.fromisoformat(value.replace(fraction[0], "") if fraction else value)
        since = moment.replace(tzinfo=moment.tzinfo or datetime.timezone.utc) - EPOCH
        seconds = since.days * DAY_SECONDS + since.seconds + (decimal.Decimal(fraction[0]) if fraction else 0)
        return seconds * PER_SECOND[kind.unit]
    if pa.types.is_decimal(kind):
        return decimal.Decimal(value)
    if pa.types.is_struct(kind):
        return {part.name: same(value[part.name], part.type) for part in kind}
    if pa.types.is_map(kind):
        return [(key, same(item, kind.item_type)) for key, item in value]
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return [same(item, kind.value_type) for item in value]
    return value


def units(scalar: pa.Scalar) -> object:
    """The value of Arrow in the same form."""
    kind = scalar.type
    if not scalar.is_valid:
        return None
    if pa.types.is_temporal(kind) and not pa.types.is_date(kind):
        return scalar.value
    if pa.types.is_date(kind):
        return scalar.as_py().isoformat()
    if pa.types.is_map(kind):
        return [(pair["key"].as_py(), units(pair["value"])) for pair in scalar.values]
    if pa.types.is_struct(kind):
        return {name: units(part) for name, part in scalar.items()}
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return [units(part) for part in scalar.values]
    return scalar.as_py()


@examples(800)
@given(COLUMNS)
def test_every_type_keeps_every_digit_as_json(column):
    values = json.loads(json.dumps(json_values(column)))
    assert [same(value, column.type) for value in values] == [units(scalar) for scalar in column]


MOMENT = datetime.datetime(2024, 2, 29, 12, 30, 1, 250_000)
UUIDS = pa.array([uuid.UUID(int=1).bytes, None], pa.binary(16))
SHOWN = {
    "half": (pa.array([0.5, None], pa.float32()).cast(pa.float16()), 0.5),
    "uuid": (pa.ExtensionArray.from_storage(pa.uuid(), UUIDS), "00000000-0000-0000-0000-000000000001"),
    "time": (pa.array([MOMENT.time(), None]), "12:30:01.250000"),
    "moment": (pa.array([MOMENT, None], pa.timestamp("us", "UTC")), "2024-02-29T12:30:01.250000+00:00"),
    "nanosecond": (pa.array([1, None]).cast(pa.timestamp("ns")), "1970-01-01T00:00:00.000000001"),
    "span": (pa.array([datetime.timedelta(seconds=1.5), None]), 1.5),
    "parts": (pa.array([[{"price": decimal.Decimal("1.10")}], []]), [{"price": "1.10"}]),
    "map": (pa.array([[("k", 1)], None], pa.map_(pa.string(), pa.int64())), [["k", 1]]),
}
COLUMNS_SHOWN = {name: column for name, (column, _) in SHOWN.items()}


def test_types_and_metadata_of_parquet_are_kept(scorer, tmp_path):
    columns = {
        "q": pa.array(["Q07", "Q08"]).dictionary_encode(),
        "a": pa.array(["Ice floats.", "氷"], pa.large_string()),
        **COLUMNS_SHOWN,
    }
    fields = [pa.field(name, column.type, metadata={"about": name}) for name, column in columns.items()]
    table = pa.table(columns, schema=pa.schema(fields, {"made": "by hand"}))
    pa.parquet.write_table(pa.concat_tables([table, table.slice(1)]), tmp_path / "in.parquet", row_group_size=2)
    given = pa.parquet.read_table(tmp_path / "in.parquet")
    score(tmp_path / "in.parquet", tmp_path / "out.parquet", scorer, batch_size=3)
    written = pa.parquet.read_table(tmp_path / "out.parquet")
    kept = written.select(given.column_names)
    assert kept.schema.equals(given.schema.with_metadata(kept.schema.metadata), check_metadata=True)
    assert written.schema.metadata[b"made"] == b"by hand"
    assert kept.equals(given)
    expected = pa.table(scorer.score(given["q"].to_pylist(), given["a"].to_pylist())).drop(["question_id"])
    assert written.drop(given.column_names).equals(expected.combine_chunks())


@pytest.mark.parametrize("target", ["out.jsonl", "out.json", "out.csv", "out.tsv"])
def test_every_type_of_parquet_comes_out_as_json_or_cells(scorer, tmp_path, target):
    pa.parquet.write_table(pa.table({"q": ["Q07"] * 2, "a": ["", ""], **COLUMNS_SHOWN}), tmp_path / "in.parquet")
    score(tmp_path / "in.parquet", tmp_path / target, scorer)
    first, second = read_table(tmp_path / target)
    expected = {name: value for name, (_, value) in SHOWN.items()}
    if target in ("out.csv", "out.tsv"):
        expected = {name: value if isinstance(value, str) else json.dumps(value) for name, value in expected.items()}
    assert {name: first[name] for name in expected} == expected
    assert second["moment"] in (None, "")


@pytest.mark.parametrize(
    ("column", "problem"),
    [
        (pa.array([b"\xff"]), "the type binary is not supported"),
        (pa.array([2**62 + 1]).cast(pa.duration("ns")), "a duration of 4611686018.427387905 seconds has more digits"),
        (pa.array([10**17]).cast(pa.timestamp("ms")), ""),
        (pa.array([DAY_SECONDS], pa.int32()).cast(pa.time32("s")), "hour must be in"),
    ],
)
def test_values_that_text_cannot_hold_are_refused_with_their_column(scorer, tmp_path, column, problem):
    pa.parquet.write_table(pa.table({"q": ["Q07"], "a": [""], "other": column}), tmp_path / "in.parquet")
    with pytest.raises(TrialsError, match=rf"in\.parquet, column 'other': cannot be written as text: {problem}"):
        score(tmp_path / "in.parquet", tmp_path / "out.csv", scorer)


@pytest.mark.parametrize("number", ["1e400", "-1e400", "1e-400", "3e-324", "3.14159265358979323846", "1e-" + "9" * 30])
@pytest.mark.parametrize("target", ["out.jsonl", "out.csv", "out.parquet"])
def test_a_number_of_json_that_loses_digits_is_refused(scorer, tmp_path, number, target):
    good = '{"q": "Q07", "a": "", "other": 1.50}\n'
    before = f'{{"q": "Q07", "a": "\\"{number}", "other": ['
    message = rf"in\.jsonl, line 2, column {len(before) + 1}: the number {number} loses digits"
    with pytest.raises(TrialsError, match=message):
        score_lines(scorer, tmp_path, f"{good}{before}{number}]}}\n".encode(), target)
    assert not (tmp_path / target).exists()


@examples(400)
@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(["r", ".17g", ".25e", ".30g"]))
def test_a_number_that_was_a_float_is_taken_however_it_is_written(number, form):
    text = repr(number) if form == "r" else format(number, form)
    assert _number(text) == number
