"""`python -m bench.scale`: tables of 0.1, 1 and 10 million answers, by one process and by Ray, beside pyarrow alone.

Each side is a process of its own. Processor time is that of the whole machine, because engines work in processes that
nobody waits for; so the machine must have nothing else to do. It prints the table, and writes nothing that stays.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pfgen_fast import ScorerSpec, score_schema

from .agreement import Disagreement
from .machine import machine
from .published import VARIABLE, Mix, checkout_folder, is_checkout, load_mix
from .table import Bound, Row, render, verdict

SIZES = (100_000, 1_000_000, 10_000_000)
_REPEATED = {100_000: 3, 1_000_000: 3}
"""How often a size is measured; the fastest counts. Others are measured once."""
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
_COMMAND = "from pfgen_fast.cli.app import main; main()"
_MEMORY = """
import sys, pyarrow.parquet as pq
from pfgen_fast import Scorer
scorer = Scorer(sys.argv[1], threads=1)
batches = list(pq.ParquetFile(sys.argv[2]).iter_batches(1 << 16))
scorer.score(batches[0].column("question"), batches[0].column("answer"))
import time
begin = time.process_time()
for batch in batches:
    scorer.score(batch.column("question"), batch.column("answer"))
print(time.process_time() - begin)
"""
_RAY = """
import sys, logging, ray
source, target, suite, actors = sys.argv[1:]
ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
ray.data.DataContext.get_current().enable_progress_bars = False
from pfgen_fast import ScorerSpec
from pfgen_fast.distributed.ray import score
dataset = ray.data.read_parquet(source)
if actors == "identity":
    scored = dataset.map_batches(lambda batch: batch, batch_format="pyarrow")
else:
    scored = score(dataset, ScorerSpec(suite), actors=None if actors == "tasks" else int(actors))
scored.write_parquet(target)
ray.shutdown()
"""


@dataclass(frozen=True)
class Cost:
    """What a process took: processor time of the machine and time by the clock in seconds, peak memory in bytes.

    Memory is what the machine had less than before; what is cached of files does not count.
    """

    processor: float
    clock: float
    n_bytes: int


def measured(command: Sequence[str | Path], rounds: int = 1) -> Cost:
    """The least that a command takes over some rounds."""
    costs = [_measured_once(command) for _ in range(rounds)]
    return Cost(*(min(figures) for figures in zip(*((c.processor, c.clock, c.n_bytes) for c in costs), strict=True)))


def _measured_once(command: Sequence[str | Path]) -> Cost:
    busy, begin = _busy_seconds(), time.perf_counter()
    with _watching_memory() as peak:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return Cost(_busy_seconds() - busy, time.perf_counter() - begin, peak())


def _busy_seconds() -> float:
    """The time that the cores of this machine have been busy since it was started."""
    user, nice, system, *_ = map(int, Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:])
    return (user + nice + system) / 100


@contextmanager
def _watching_memory() -> Iterator[Callable[[], int]]:
    used = [_used_bytes()]
    done = threading.Event()

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
    lines = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
    return (int(lines["MemTotal"].split()[0]) - int(lines["MemAvailable"].split()[0])) * 1024


def write_answers(mix: Mix, n_rows: int, path: Path) -> None:
    """Writes a table of the answers of the mix, repeated until there are so many."""
    schema = pa.schema({"id": pa.int64(), "question": pa.string(), "answer": pa.string()})
    questions, answers = pa.array(mix.questions), pa.array(mix.answers)
    with pq.ParquetWriter(path, schema) as writer:
        for begin in range(0, n_rows, _GROUP_ROWS):
            ids = np.arange(begin, min(begin + _GROUP_ROWS, n_rows))
            rows = pa.array(ids % len(mix))
            writer.write_table(pa.table([pa.array(ids), questions.take(rows), answers.take(rows)], schema=schema))


def _command(source: Path, target: Path, suite: Path) -> list[str | Path]:
    options = ("--suite", suite, "--question-column", "question", "--answer-column", "answer", "--quiet")
    return [sys.executable, "-c", _COMMAND, "score", *options, source, "-o", target]


def one_process(source: Path, suite: Path, folder: Path, n_rows: int) -> tuple[list[Row], Cost]:
    """The command beside pyarrow that reads and writes the same columns."""
    rounds = _REPEATED.get(n_rows, 1)
    n_scores = len(ScorerSpec(suite).columns)
    floor = measured([sys.executable, "-c", _FLOOR, source, folder / "floor.parquet", str(n_scores)], rounds)
    cost = measured(_command(source, folder / "scored.parquet", suite), rounds)
    what = f"{n_rows:,} answers in Parquet"
    rows = [
        Row(f"{what}: floor, pyarrow reads and writes the same columns", floor.processor, "s of processor time"),
        Row("  the same", floor.clock, "s"),
        Row(
            f"{what}: pfgen-fast score",
            cost.processor,
            "s of processor time",
            cost.processor / floor.processor,
            "floor",
            must=Bound("ratio", "<=", 1.6) if n_rows == 1_000_000 else None,
        ),
        Row(
            "  the same",
            cost.clock,
            "s",
            cost.clock / floor.clock,
            "floor",
            must=Bound("ratio", "<=", 1.25) if n_rows == 1_000_000 else None,
        ),
        Row("  the same", n_rows / cost.clock, "answers/s"),
        Row("  the same: memory", cost.n_bytes / 1e6, "MB", must=Bound("value", "<=", 500)),
    ]
    if n_rows == 1_000_000:
        run = subprocess.run([sys.executable, "-c", _MEMORY, suite, source], check=True, stdout=subprocess.PIPE)
        scoring = float(run.stdout)
        whole = scoring + floor.processor
        rows += [
            Row(f"{what}: scoring in memory, 1 thread", scoring, "s of processor time"),
            Row(f"{what}: pfgen-fast score over floor and scoring", None, "", cost.processor / whole, "both", note="-"),
        ]
    return rows, cost


def with_ray(source: Path, suite: Path, folder: Path, n_rows: int, actors: str) -> tuple[Row, Row, Cost]:
    """Ray Data with so many actors, with tasks, or with a map that does nothing."""
    target = folder / f"ray-{actors}"
    cost = measured([sys.executable, "-W", "ignore", "-c", _RAY, source, target, suite, actors])
    what = {"identity": "identity map", "tasks": "tasks", "1": "1 actor"}.get(actors, f"{actors} actors")
    return (
        Row(f"{n_rows:,} answers in Parquet: Ray Data, {what}", cost.processor, "s of processor time"),
        Row("  the same", n_rows / cost.clock, f"answers/s; {cost.n_bytes / 1e6:,.0f} MB"),
        cost,
    )


def check_equal(single: Path, folder: Path) -> None:
    """Raises Disagreement if a folder of tables holds other rows than a table."""
    tables = [pq.read_table(path).sort_by("id") for path in (single, folder)]
    if not tables[0].equals(tables[1].cast(tables[0].schema)):
        raise Disagreement(f"{folder.name}: other rows than those of one process")


def exponent(seconds: dict[int, float]) -> float:
    """The slope of time against size in logarithms; 1 is linear."""
    sizes, times = np.log(list(seconds.items())).T
    return float(np.polyfit(sizes, times, 1)[0])


def scale(checkout: Path, sizes: Sequence[int], *, ray: bool) -> list[Row]:
    """Measures every size.

    Raises:
        Disagreement: An engine gives other rows than one process.
    """
    mix, suite = load_mix(checkout), checkout / "data"
    schema = pa.schema({"question": pa.string(), "answer": pa.string()})
    score_schema(schema, ScorerSpec(suite))  # compiles the suite, if nobody has yet
    rows: list[Row] = []
    clocks: dict[str, dict[int, float]] = {}
    for n_rows in sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            source = folder / "in.parquet"
            write_answers(mix, n_rows, source)
            found, cost = one_process(source, suite, folder, n_rows)
            rows += found
            clocks.setdefault("one process", {})[n_rows] = cost.clock
            for actors in ("identity", "tasks", "1", "2") if ray else ():
                *of_ray, cost = with_ray(source, suite, folder, n_rows, actors)
                rows += of_ray
                clocks.setdefault(f"Ray Data, {actors}", {})[n_rows] = cost.clock
                if actors != "identity" and n_rows <= 1_000_000:
                    check_equal(folder / "scored.parquet", folder / f"ray-{actors}")
    return rows + [
        Row(f"time against answers, {who}: exponent", exponent(of), must=Bound("value", "<=", 1.1))
        for who, of in clocks.items()
        if len(of) > 1
    ]


def main() -> int:
    """Prints the rows; returns 1 if results differ."""
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description=__doc__)
    parser.add_argument(
        "sizes", nargs="*", type=int, default=SIZES, help="how many answers, instead of 0.1 to 10 million"
    )
    parser.add_argument("--json", type=Path, help="write the rows to this file, too")
    options = parser.parse_args()
    checkout = checkout_folder()
    if not is_checkout(checkout):
        print(f"no checkout of pfgen-bench at {checkout}: set {VARIABLE} to one")
        return 0
    has_ray = importlib.util.find_spec("ray") is not None
    if not has_ray:
        print("without Ray, which is not installed: pip install 'pfgen-fast[ray]'", file=sys.stderr)
    try:
        rows = scale(checkout, options.sizes, ray=has_ray)
    except Disagreement as error:
        print(f"NOT EQUAL, so nothing is shown: {error}", file=sys.stderr)
        return 1
    about = ", ".join(f"{key} {value}" for key, value in machine().items())
    print("\n".join([about, "", *render(rows), "", verdict(rows)]))
    if options.json:
        options.json.write_text(json.dumps([row.as_json() for row in rows], indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
