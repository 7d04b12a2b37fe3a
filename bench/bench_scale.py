"""Tables of 0.1 and 1 million answers by the command, next to pyarrow alone; with --whole-scale, 10 million, and Ray.

Each side is a separate process. Processor time is that of the whole machine, because engines work in further processes;
the machine must therefore have nothing else to do.
"""

from __future__ import annotations

import importlib.util
import math
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pfgen_fast import ScorerSpec, score_schema

from .bench_growth import exponent
from .inputs import Inputs, Mix
from .measuring import Disagreement, Measure

_ROUNDS = {100_000: 3, 1_000_000: 3, 10_000_000: 1}
_JUDGED = 1_000_000
"""The size for which requirements are checked."""
_GROUP_ROWS = 1 << 16
_FLOOR = """
import sys, numpy, pyarrow as pa, pyarrow.parquet as pq
source, target, n_scores = sys.argv[1], sys.argv[2], int(sys.argv[3])
scores = [pa.array(numpy.random.default_rng(i).random(1 << 16)) for i in range(n_scores)]
table = pq.ParquetFile(source, pre_buffer=False, buffer_size=1 << 20)
schema = pa.schema([*table.schema_arrow, *((f"score_{i}", pa.float64()) for i in range(n_scores))])
with pq.ParquetWriter(target, schema) as writer:
    for batch in table.iter_batches(1 << 16):
        columns = [*batch.columns, *(column[:len(batch)] for column in scores)]
        writer.write_table(pa.Table.from_batches([pa.RecordBatch.from_arrays(columns, schema=schema)]))
"""
_MEMORY = """
import sys, time, pyarrow.parquet as pq
from pfgen_fast import Scorer
scorer = Scorer(sys.argv[1], threads=1)
batches = list(pq.ParquetFile(sys.argv[2]).iter_batches(1 << 16))
scorer.score(batches[0].column("question"), batches[0].column("answer"))
begin = time.process_time()
for batch in batches:
    scorer.score(batch.column("question"), batch.column("answer"))
print(time.process_time() - begin)
"""
_RAY = """
import sys, logging, ray
source, target, suite, way = sys.argv[1:]
ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
ray.data.DataContext.get_current().enable_progress_bars = False
from pfgen_fast import ScorerSpec
from pfgen_fast.integrations.ray import score
dataset = ray.data.read_parquet(source)
if way == "identity":
    scored = dataset.map_batches(lambda batch: batch, batch_format="pyarrow")
else:
    scored = score(dataset, ScorerSpec(suite))
scored.write_parquet(target)
ray.shutdown()
"""
_WAYS = {"identity": "identity map", "tasks": "tasks"}


class Cost:
    """The least that a command takes: processor time of the machine, time by the clock, and memory in bytes.

    Memory is what the machine had less than before; what is cached of files does not count.
    """

    def __init__(self, *command: str | Path) -> None:
        self._command = [sys.executable, *command]
        self.processor, self.clock, self.n_bytes = math.inf, math.inf, math.inf

    def __call__(self) -> None:
        busy, begin = busy_seconds(), time.perf_counter()
        with _watching_memory() as peak:
            subprocess.run(self._command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.processor = min(self.processor, busy_seconds() - busy)
        self.clock = min(self.clock, time.perf_counter() - begin)
        self.n_bytes = min(self.n_bytes, peak())


def busy_seconds() -> float:
    """The time that the cores of this machine have been busy since it was started."""
    user, nice, system, *_ = map(int, Path("/proc/stat").read_text(encoding="utf-8").split("\n", 1)[0].split()[1:])
    return (user + nice + system) / 100


@contextmanager
def _watching_memory() -> Iterator[Callable[[], int]]:
    used, done = [_used_bytes()], threading.Event()

    def watch() -> None:
        while not done.wait(0.05):
            used.append(_used_bytes())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield lambda: max(used) - used[0]
    finally:
        done.set()
        watcher.join()


def _used_bytes() -> int:
    lines = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text(encoding="utf-8").splitlines())
    return (int(lines["MemTotal"].split()[0]) - int(lines["MemAvailable"].split()[0])) * 1024


def write_answers(mix: Mix, n_rows: int, path: Path) -> None:
    """Writes a table of this number of answers, by repeating the mix."""
    schema = pa.schema({"id": pa.int64(), "question": pa.string(), "answer": pa.string()})
    questions, answers = pa.array(mix.questions), pa.array(mix.answers)
    with pq.ParquetWriter(path, schema) as writer:
        for begin in range(0, n_rows, _GROUP_ROWS):
            ids = np.arange(begin, min(begin + _GROUP_ROWS, n_rows))
            rows = pa.array(ids % len(mix))
            writer.write_table(pa.table([pa.array(ids), questions.take(rows), answers.take(rows)], schema=schema))


@pytest.fixture(scope="module")
def clocks() -> dict[str, dict[int, float]]:
    """The time of each side, by the number of answers."""
    return {}


@pytest.mark.skipif(not Path("/proc/stat").exists(), reason="the processor time of the machine is in /proc/stat")
@pytest.mark.benchmark(group="scale", timer=busy_seconds)
@pytest.mark.parametrize("n_rows", _ROUNDS)
def test_scale(
    measure: Measure,
    pytestconfig: pytest.Config,
    inputs: Inputs,
    mix: Mix,
    tmp_path: Path,
    clocks: dict[str, dict[int, float]],
    n_rows: int,
) -> None:
    """The command in turns with pyarrow that reads and writes the same columns, then Ray, whose rows are the same."""
    whole = pytestconfig.getoption("whole_scale")
    if n_rows > _JUDGED and not whole:
        pytest.skip("only with --whole-scale")
    spec, rounds, judged, n_rows = ScorerSpec(inputs.suite), _ROUNDS[n_rows], n_rows == _JUDGED, measure.amount(n_rows)
    score_schema(pa.schema({"question": pa.string(), "answer": pa.string()}), spec)  # compiles the suite
    source, scored = tmp_path / "in.parquet", tmp_path / "scored.parquet"
    write_answers(mix, n_rows, source)
    columns = ("--question-column", "question", "--answer-column", "answer", "--quiet")
    cost = Cost("-m", "pfgen_fast", "score", "--suite", inputs.suite, *columns, source, "-o", scored)
    floor = Cost("-c", _FLOOR, source, tmp_path / "floor.parquet", str(len(spec.columns)))
    measure.times(rounds, cost, {"floor": floor})
    clocks.setdefault("one process", {})[n_rows] = cost.clock
    what, unit = f"{n_rows:,} answers in Parquet", "s of processor time"
    over, slower = cost.processor / floor.processor, cost.clock / floor.clock
    measure.row(f"{what}: floor, pyarrow reads and writes the same columns", floor.processor, unit)
    measure.row("  elapsed time", floor.clock, "s")
    measure.row(f"{what}: pfgen-fast score", cost.processor, unit, over, "floor")
    measure.row("  elapsed time", cost.clock, "s", slower, "floor")
    measure.row("  in answers per second", n_rows / cost.clock, "answers/s")
    measure.row("  memory", cost.n_bytes / 1e6, "MB")
    if judged:
        scoring = float(subprocess.check_output([sys.executable, "-c", _MEMORY, inputs.suite, source]))
        both = cost.processor / (scoring + floor.processor)
        measure.row(f"{what}: scoring in memory, 1 thread", scoring, unit)
        compared = f"{what}: pfgen-fast score compared with floor plus scoring"
        measure.row(compared, None, ratio=both, to="the sum of both", note="-")
    for way in _WAYS if whole and importlib.util.find_spec("ray") else ():
        ray_cost = Cost("-W", "ignore", "-c", _RAY, source, tmp_path / way, inputs.suite, way)
        ray_cost()
        if way != "identity" and n_rows <= _JUDGED:
            _check_equal(scored, tmp_path / way)
        clocks.setdefault(f"Ray Data, {way}", {})[n_rows] = ray_cost.clock
        rate = f"answers/s; {ray_cost.n_bytes / 1e6:,.0f} MB"
        measure.row(f"{what}: Ray Data, {_WAYS[way]}", ray_cost.processor, unit)
        measure.row("  in answers per second", n_rows / ray_cost.clock, rate)
    for who, taken in clocks.items():
        if len(taken) == 3 or (len(taken) == 2 and not whole):
            measure.row(f"time against answers, {who}: exponent", exponent(taken))


def _check_equal(single: Path, folder: Path) -> None:
    """Raises Disagreement if the rows of a folder of tables differ from a table."""
    first, other = (pq.read_table(path).sort_by("id") for path in (single, folder))
    if not first.equals(other.cast(first.schema)):
        raise Disagreement(f"{folder.name}: other rows than those of one process")
