"""Ray: the rows of a single process, whatever the blocks, the cores and the deaths are."""

import os
import shutil
import signal
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from makers.documented import documented_example
from makers.engines import engine
from pfgen_fast import PfgenError, ReferenceScorer, Scorer, ScorerSpec, SuiteError, TrialsError
from pfgen_fast.integrations.ray import score

ray = engine("ray")
engine("ray.data")

pytestmark = pytest.mark.engines

TEXTS = ["Ice is about 9% less dense than water.", "Because.", "", "Water expands when it freezes into crystals."]


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Three, for an actor that was killed may be started again after its dataset has ended, and keep a core.
        ray.init("local", num_cpus=3, include_dashboard=False, log_to_driver=False, configure_logging=False)
        ray.data.DataContext.get_current().enable_progress_bars = False
        yield
        ray.shutdown()


def answers(n_rows: int, begin: int = 0) -> Any:
    rows = range(begin, begin + n_rows)
    texts = [f"{TEXTS[row % 4]} {TEXTS[row % 3]} {row % 7}" for row in rows]
    questions = [("Q07", "Q08")[row % 2] for row in rows]
    return pa.table({"id": pa.array(rows, pa.int64()), "question": questions, "answer": texts})


def expected(table: Any, **options: Any) -> dict[str, Any]:
    """The scores of a single process, and the columns that were there."""
    scores = Scorer("mini", threads=1).score(table.column("question"), table.column("answer"), **options)
    return {"id": table.column("id").to_numpy(), **{name: scores[name] for name in scores.columns[1:]}}


def assert_same_rows(dataset: Any, table: Any, **options: Any) -> None:
    assert_equal(pa.concat_tables(ray.get(dataset.to_arrow_refs()), promote_options="permissive"), table, **options)


def assert_equal(actual: Any, table: Any, **options: Any) -> None:
    """Compares all rows with those of a single process, bit for bit, in the order of the column `id`."""
    actual, wanted = actual.sort_by("id"), expected(table.sort_by("id"), **options)
    assert actual.num_rows == table.num_rows
    assert set(actual.column_names) == {*table.column_names, *wanted}
    for name, values in wanted.items():
        column = actual.column(name)
        assert column.type == (pa.int64() if name == "id" else pa.float64())
        assert column.to_numpy().tobytes() == values.tobytes(), name


@pytest.mark.parametrize("means", [{}, {"batch_size": 100}])
def test_scores_are_those_of_a_single_process_whatever_the_blocks(cluster, means):
    table = answers(3000)
    blocks = [table.slice(0, 0), table.slice(0, 1), table.slice(1, 2900), table.slice(2901, 0), table.slice(2901)]
    assert_same_rows(score(ray.data.from_arrow(blocks), ScorerSpec("mini"), **means), table)


def test_reference_metrics_of_blocks_are_those_of_a_single_process(cluster):
    scorer = ReferenceScorer(["bleu", "chrf"])
    table = answers(600)
    table = table.append_column("refs", pa.array([TEXTS[: row % 2 + 1] for row in range(600)]))
    wanted = scorer.score(table.column("answer"), table.column("refs"))
    blocks = [table.slice(0, 1), table.slice(1, 400), table.slice(401)]
    result = score(ray.data.from_arrow(blocks), scorer, reference_column="refs")
    result = pa.concat_tables(ray.get(result.to_arrow_refs())).sort_by("id")
    assert result["bleu"].to_numpy().tobytes() == wanted.bleu.tobytes()
    assert result["chrf"].to_numpy().tobytes() == wanted.chrf.tobytes()


def test_an_error_ends_with_its_sentence_and_is_an_error_of_ours(cluster):
    table = answers(4).append_column("q", pa.array(["Q07", "Q07", "Q77", "Q07"]))
    with pytest.raises(PfgenError) as error:
        score(ray.data.from_arrow(table), ScorerSpec("mini"), question_column="q").materialize()
    last = str(error.value).splitlines()[-1].removesuffix(" in suite mini; nearest: 'Q07'")
    assert last == "pfgen_fast.base.errors.TrialsError: a block of 4 rows: row 3, column 'q': unknown question 'Q77'"
    assert isinstance(error.value, TrialsError)
    assert error.value.row is None


def test_invalid_columns_are_refused_before_anything_runs(cluster):
    dataset = ray.data.from_arrow(answers(2))
    spec = ScorerSpec("mini")
    for options, message in (
        ({"answer_column": "text"}, r"^the dataset: no column 'text'; there are 'id', 'question', 'answer'$"),
        ({"question_column": "id"}, r"^the dataset, column 'id': expected texts, not int64$"),
        ({"columns": ["mean"]}, r"^columns: no score 'mean'; there are fluency, "),
        ({"spec": "mini"}, r"^spec: expected a ScorerSpec or a ReferenceScorer, not str$"),
    ):
        with pytest.raises(TrialsError if "the dataset" in message else PfgenError, match=message):
            score(dataset, **{"spec": spec, **options})


def test_columns_that_ray_does_not_know_yet_are_checked_where_they_are_read(cluster):
    def without_answers(table: Any) -> Any:
        return table.drop_columns(["answer"])

    dataset = ray.data.from_arrow(answers(2)).map_batches(without_answers, batch_format="pyarrow")
    with pytest.raises(TrialsError, match=r"TrialsError: a block of 2 rows: the first batch: no column 'answer'; .*\Z"):
        score(dataset, ScorerSpec("mini")).materialize()


def test_a_node_without_the_suite_says_so(cluster, make_suite):
    folder = make_suite({}, {})
    spec = ScorerSpec(folder)
    table = pa.table({"question": ["Q01"], "answer": ["an answer"]})
    dataset = score(ray.data.from_arrow(table), spec)
    shutil.rmtree(folder)
    with pytest.raises(SuiteError, match=r"SuiteError: .*was sent by its path, which cannot be read here: [^\n]*\Z"):
        dataset.materialize()


def test_only_rows_that_pass_stay_and_a_block_without_any_has_the_same_schema(cluster):
    texts = [None, *answers(200).column("answer").to_pylist()[1:]]
    table = answers(200).set_column(2, "answer", [texts])
    averages = expected(table, nulls="null")["average"]
    limit = float(np.sort(averages)[150])
    options = {"spec": ScorerSpec("mini"), "columns": ["helpfulness"], "nulls": "null"}
    dataset = ray.data.from_arrow([table.slice(0, 1), table.slice(1)])  # the first block holds no answer
    assert_same_rows(score(dataset, ScorerSpec("mini"), nulls="null"), table, nulls="null")
    scored = score(dataset, where=f"average > {limit!r}", **options)
    actual = pa.concat_tables(ray.get(scored.to_arrow_refs())).sort_by("id")
    assert actual.column_names == ["id", "question", "answer", "helpfulness"]
    assert actual.column("id").to_pylist() == np.flatnonzero(averages > limit).tolist()
    assert score(dataset, where="average > 9", **options).count() == 0


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_worker_killed_in_the_middle_changes_no_row(cluster, tmp_path):
    table = answers(20 * 50)

    def mortal(block: Any) -> Any:
        """Kills its process once, in the middle of the dataset."""
        killed = tmp_path / "killed"
        if block["id"][0].as_py() == 500 and not killed.exists():
            killed.write_bytes(Path("/proc/self/cmdline").read_bytes())
            os.kill(os.getpid(), signal.SIGKILL)
        return block

    blocks = ray.data.from_arrow([table.slice(50 * part, 50) for part in range(20)])
    blocks = blocks.map_batches(mortal, batch_format="pyarrow", batch_size=None)
    result = score(blocks, ScorerSpec("mini")).materialize()
    assert (tmp_path / "killed").exists()
    assert_same_rows(result, table)


def test_more_cores_than_any_node_has_are_warned_of_and_impossible_numbers_are_refused(cluster):
    dataset = ray.data.from_arrow(answers(2))
    with pytest.warns(UserWarning, match=r"^num_cpus=4: no node has this number of cores \(maximum: 3\)$"):
        score(dataset, ScorerSpec("mini"), num_cpus=4)
    for options in ({"num_cpus": 0}, {"num_cpus": -1}, {"batch_size": 0}):
        with pytest.raises(ValueError, match=rf"^{next(iter(options))}: expected "):
            score(dataset, ScorerSpec("mini"), **options)


def test_the_documented_example_writes_good_rows(cluster, tmp_path):
    (tmp_path / "answers").mkdir()
    table = answers(200)
    pq.write_table(table, tmp_path / "answers" / "part.parquet")
    example = documented_example("good.write_parquet")
    for name in ("answers", "good"):  # workers began in the folder of the cluster
        example = example.replace(f'"{name}/"', repr(f"{tmp_path}/{name}/"))
    exec(example, {})
    average = expected(table)["average"]
    assert sorted(pq.read_table(tmp_path / "good")["id"].to_pylist()) == np.flatnonzero(average >= 0.2).tolist()
