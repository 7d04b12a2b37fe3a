"""Scores in Spark: the rows of a single process, bit for bit; columns, faults, lost workers, folders written again."""

import os
import re
import shutil
import signal
import socket
import sys
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from makers.documented import documented_example
from makers.engines import bits, engine
from makers.engines import rows as rows_of
from pfgen_fast import PfgenError, ReferenceScorer, Scorer, ScorerSpec, TrialsError
from pfgen_fast.integrations.spark import score


def mortal_spec(folder: Path, times: int = 1) -> ScorerSpec:
    """A spec whose process kills itself, so many times, when it has scored some batches and asks for the scorer again.

    A file in the folder notes each kill.
    """

    class MortalSpec(ScorerSpec):
        n_batches = 0

        @property
        def scorer(self) -> Scorer:
            self.n_batches += 1
            n_killed = len(os.listdir(folder))
            if self.n_batches == 2 and n_killed < times:
                (folder / str(n_killed)).touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return ScorerSpec("mini", threads=1).scorer

        def __reduce__(self) -> Any:
            return type(self), ("mini",), {"threads": 1}

    folder.mkdir()
    return MortalSpec("mini", threads=1)


pyspark = engine("pyspark")
pytestmark = [
    pytest.mark.engines,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

SPEC = ScorerSpec("mini")


def java_home():
    """The home of Java 17 or later: the one that is set, on the path, or that the distribution installed."""
    on_path = Path(shutil.which("java") or "none").resolve().parent.parent
    for home in (os.environ.get("JAVA_HOME", "none"), on_path, *sorted(Path("/usr/lib/jvm").glob("*"))):
        release = Path(home, "release")
        result = release.exists() and re.search(r'^JAVA_VERSION="(\d+)', release.read_text("utf-8"), re.MULTILINE)
        if result and int(result[1]) >= 17:
            return home
    return None


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    """A session on the loopback with two cores, in which a task is tried four times; it serves Spark Connect too."""
    home = java_home()
    if home is None:
        missing = "Spark needs Java 17 or later, and there is none: apt-get install openjdk-17-jre-headless"
        (pytest.fail if "PFGEN_ENGINES_REQUIRED" in os.environ else pytest.skip)(missing)
    folder = tmp_path_factory.mktemp("spark")
    with socket.create_server(("127.0.0.1", 0)) as server:
        free_port = server.getsockname()[1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAVA_HOME", str(home))
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        from pyspark.sql import SparkSession

        settings = {
            "driver.bindAddress": "127.0.0.1", "driver.host": "127.0.0.1", "ui.enabled": "false",
            "ui.showConsoleProgress": "false", "local.dir": str(folder / "local"),
            "sql.warehouse.dir": str(folder / "warehouse"), "sql.catalogImplementation": "in-memory",
            "sql.session.timeZone": "Asia/Tokyo", "plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
            "connect.grpc.binding.address": "127.0.0.1", "connect.grpc.binding.port": str(free_port),
        }  # fmt: skip
        builder = SparkSession.builder.master("local[2,4]")
        session = builder.config(map={f"spark.{name}": value for name, value in settings.items()}).getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()


def answers_to(n_rows):
    """Rows (id, question, answer)."""
    return list(zip(*rows_of(n_rows).values(), strict=True))


def frame_of(spark, rows, n_partitions=3):
    return spark.createDataFrame(rows, "id long, question string, answer string").repartition(n_partitions)


def as_columns(frame):
    """The columns of a computed frame, with its rows ordered by id."""
    table = frame.toArrow().sort_by("id")
    return {name: table[name].to_pylist() for name in table.column_names}


def expected_scores(rows, **options):
    table = Scorer("mini").score([row[1] for row in rows], [row[2] for row in rows], **options)
    return {name: table[name] for name in table.columns[1:]}


@pytest.mark.parametrize("settings", [{}, {"maxRecordsPerBatch": "7", "useLargeVarTypes": "true"}])
def test_rows_are_those_of_a_single_process_bit_for_bit(spark, settings):
    rows = answers_to(3000)
    for name, value in settings.items():
        spark.conf.set(f"spark.sql.execution.arrow.{name}", value)
    try:
        actual = as_columns(score(frame_of(spark, rows, n_partitions=5), SPEC))
    finally:
        for name in settings:
            spark.conf.unset(f"spark.sql.execution.arrow.{name}")
    expected = expected_scores(rows)
    assert list(actual) == ["id", "question", "answer", *expected]
    assert list(zip(actual["id"], actual["question"], actual["answer"], strict=True)) == rows
    assert all(bits(actual[name]) == bits(values) for name, values in expected.items())


def test_references_are_arrays_or_several_columns(spark):
    scorer = ReferenceScorer(["bleu", "chrf"])
    rows = [(number, f"Ice floats {number % 5}.", ["Ice floats.", f"{number % 3}"]) for number in range(200)]
    frame = spark.createDataFrame(rows, "id long, answer string, refs array<string>").repartition(3)
    frame = frame.selectExpr("*", "refs[0] AS first", "refs[1] AS second")
    expected = scorer.score([row[1] for row in rows], [row[2] for row in rows])
    for references in ("refs", ["first", "second"]):
        actual = as_columns(score(frame, scorer, reference_column=references, columns=["bleu", "chrf"]))
        assert bits(actual["bleu"]) == bits(expected.bleu)
        assert bits(actual["chrf"]) == bits(expected.chrf)
    with pytest.raises(TrialsError, match="column 'id': expected texts, not bigint"):
        score(frame, scorer, reference_column="id")


def test_only_rows_that_pass_stay_and_a_missing_answer_may_have_null_scores(spark):
    rows = [(row[0], row[1], None if row[0] % 9 == 0 else row[2]) for row in answers_to(400)]
    expected = expected_scores(rows, nulls="null")
    assert as_columns(score(frame_of(spark, rows[:1]), SPEC, nulls="null", columns=["average"]))["average"] == [None]
    least = float(np.nanmedian(expected["average"]))
    options = {"columns": ["fluency"], "where": f"average > {least!r}", "nulls": "null"}
    actual = as_columns(score(frame_of(spark, rows), SPEC, **options))
    passing = expected["average"] > least
    assert 0 < passing.sum() < len(rows)
    assert actual["id"] == np.flatnonzero(passing).tolist()
    assert bits(actual["fluency"]) == bits(expected["fluency"][passing])


SCHEMA = """
    id long not null, `{}` string not null, `{}` string, Fluency string, flag boolean, small tinyint, real float,
    sum decimal(38,9), day date, moment timestamp, clock timestamp_ntz, span interval day to second,
    bytes binary, list array<int>,
    pair struct<left: string, right: array<double>>, map map<string, struct<n: int>>, none void
"""


@pytest.mark.parametrize("names", [("question", "answer"), ("the.question", "an `answer")])
def test_columns_of_any_type_and_name_come_out_as_they_came_in(spark, names):
    moment = datetime(1950, 3, 1, 12, 30, 15, 123456, tzinfo=timezone.utc)
    full = (
        *("mine", True, -128, 0.1, Decimal("12345678901234567890123456789.123456789"), date(1, 1, 1), moment),
        *(datetime(9999, 12, 31, 23, 59, 59, 999999), timedelta(days=-3, microseconds=7), bytearray(b"\0\xff")),
        *([1, 2], ("l", [0.1, None]), {"k": (None,), "": (2,)}, None),
    )
    rows = [(1, "Q07", "Ice floats.", *full), (2, "Q08", "", *[None] * len(full))]
    types = pyspark.sql.types
    question, answer = names
    schema = types.StructType.fromDDL(SCHEMA.format(*(name.replace("`", "``") for name in names)))
    schema[question].metadata, schema["list"].dataType.containsNull = {"comment": "an id"}, False
    frame = spark.createDataFrame(rows, schema).repartition(2)
    scored = score(frame, SPEC, question_column=question, answer_column=answer, columns=["average"])
    assert scored.schema.fields == [*schema.fields, types.StructField("average", types.DoubleType(), nullable=True)]
    assert scored.drop("average").orderBy("id").collect() == frame.orderBy("id").collect()
    assert bits(as_columns(scored)["average"]) == bits(expected_scores(rows)["average"])


@pytest.mark.parametrize(
    ("schema", "options", "message"),
    [
        ("q string, answer string", {}, r"^the frame: no column 'question'; there are 'q', 'answer'$"),
        ("question string, answer array<int>", {}, r"^the frame: column 'answer': expected texts, not array<int>$"),
        ("question string, answer string, average int", {}, r"^the frame: there is already a column 'average', the na"),
        (
            "question string, answer string, Average int",
            {},
            r"'Average', which Spark does not distinguish from 'average'",
        ),
        ("question string, answer string", {"columns": ["mean"]}, r"^columns: no score 'mean'; there are fluency, "),
    ],
)
def test_columns_are_checked_before_any_job(spark, schema, options, message):
    with pytest.raises(PfgenError, match=message):
        score(spark.createDataFrame([], schema), SPEC, **options)


def last_line(raised):
    return str(raised.value).strip().splitlines()[-1]


def test_a_node_without_the_suite_says_so(spark, make_suite):
    folder = make_suite({})
    frame = spark.createDataFrame([("Q01", "Ice.")], "question string, answer string").coalesce(1)
    scored = score(frame, ScorerSpec(folder))
    shutil.rmtree(folder)
    with pytest.raises(pyspark.errors.PythonException) as raised:
        scored.collect()
    assert "SuiteError: partition 0 on " in last_line(raised)
    assert str(folder) in last_line(raised)


def test_a_worker_killed_in_the_middle_costs_no_row_and_doubles_none(spark, tmp_path):
    answers = answers_to(1000)
    rows = [(i, *answers[i % 1000][1:]) for i in range(300_000)]
    ids, questions, texts = map(list, zip(*rows, strict=True))
    frame = spark.createDataFrame(pa.table({"id": ids, "question": questions, "answer": texts})).repartition(2)
    scored = score(frame, mortal_spec(tmp_path / "killed"), columns=["average"])
    scored.write.parquet(str(tmp_path / "out"))
    result = as_columns(spark.read.parquet(str(tmp_path / "out")))
    assert os.listdir(tmp_path / "killed") == ["0"]
    assert result["id"] == list(range(len(rows)))
    assert bits(result["average"]) == bits(np.tile(expected_scores(answers)["average"], 300))


def test_a_stream_of_files_is_scored_as_it_comes_and_each_file_once(spark, tmp_path):
    rows = answers_to(60)
    for part in (rows[:30], rows[30:]):
        frame_of(spark, part, n_partitions=1).write.mode("append").parquet(str(tmp_path / "in"))
        stream = spark.readStream.schema("id long, question string, answer string").parquet(str(tmp_path / "in"))
        query = (
            score(stream, SPEC, columns=["average"])
            .writeStream.option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start(str(tmp_path / "out"), format="parquet")
        )
        assert query.awaitTermination(300)
    result = as_columns(spark.read.parquet(str(tmp_path / "out")))
    assert result["id"] == list(range(60))
    assert bits(result["average"]) == bits(expected_scores(rows)["average"])


def test_the_documented_example_runs(spark, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(documented_example("import spark as pfgen_spark"), {})
    [row] = spark.read.parquet(str(tmp_path / "scored")).collect()
    expected = Scorer("mini").score(["Q07"], ["Ice floats on water."]).average
    assert row[:2] == ("Q07", "Ice floats on water.")
    assert bits([row["average"]]) == expected.tobytes()


def test_the_row_of_a_message_can_be_looked_up_by_its_partition(spark):
    rows = [(i, "Q77" if i == 70 else "Q07", "Ice.") for i in range(100)]
    frame = spark.createDataFrame(rows, "id long, question string, answer string").repartition(3, "id")
    with pytest.raises(pyspark.errors.PythonException) as raised:
        score(frame, SPEC).collect()
    place = re.search(r"partition (\d+) on .*: row (\d+), column 'question'", last_line(raised))
    in_partition = frame.where(pyspark.sql.functions.spark_partition_id() == int(place[1]))
    assert in_partition.limit(int(place[2])).tail(1)[0]["id"] == 70


def test_a_frame_of_spark_connect_is_scored_like_any_other(spark):
    if "PFGEN_ENGINES_REQUIRED" not in os.environ:
        engine("grpc_status")
    from pyspark.sql.connect.session import SparkSession

    rows = answers_to(50)
    port = spark.conf.get("spark.connect.grpc.binding.port")
    remote = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").create()
    try:
        result = as_columns(score(frame_of(remote, rows), SPEC, columns=["average"]))
        assert bits(result["average"]) == bits(expected_scores(rows)["average"])
        with pytest.raises(TrialsError, match=r"^the frame: no column 'text'; there are 'id', 'question', 'answer'$"):
            score(frame_of(remote, rows), SPEC, answer_column="text")
        with pytest.raises(pyspark.errors.PythonException, match=r"TrialsError: partition \d on .*: row 1, column 'qu"):
            score(frame_of(remote, [(1, "Q77", "Ice.")]), SPEC).collect()
    finally:
        remote.stop()
