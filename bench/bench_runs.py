"""Scoring whole runs, files in and files out, beside what decompressing and parsing the same files alone takes."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import orjson
from pfgen_fast import Suite
from pfgen_fast.files import decompress, read_stored
from pfgen_fast.index import references
from pfgen_fast.results import read_result
from pfgen_fast.runs import RunScorer
from pfgen_fast.trials import RunFolder, find_runs

from .published import Mix
from .timing import Row

THREADS = 2
ROUNDS = 7
AT_MOST = 3.0  # times decompress + parse


def parse_all(runs: list[RunFolder]) -> int:
    with ThreadPoolExecutor(THREADS) as pool:
        return sum(pool.map(parse, runs))


def parse(run: RunFolder) -> int:
    assert run.trials_path
    content = decompress(read_stored(run.trials_path), run.trials_path)
    return len([orjson.loads(line) for line in content.split(b"\n") if line.strip()])


def seconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def test_scoring_all_runs(  # type: ignore[no-untyped-def]
    benchmark, checkout: Path, suite: Suite, mix: Mix, tmp_path: Path, closing_table: list[Row]
) -> None:
    """Both sides take turns, and the fastest of each counts."""
    references(suite, "leaderboard", THREADS)  # the index is not part of what is measured
    runs = [run for run in find_runs([checkout / "result"]) if run.trials_path]
    scorer = RunScorer(suite=suite, output=tmp_path, force=True, threads=THREADS)
    for outcome in scorer.score(runs):
        recorded = read_result(outcome.run.folder / "result.json")
        assert outcome.summary is not None
        assert outcome.summary["score"] == recorded["score"], outcome.run.folder
    alone, whole = [], []
    for _ in range(ROUNDS):
        alone.append(seconds(lambda: parse_all(runs)))
        whole.append(seconds(lambda: list(scorer.score(runs))))
    benchmark.pedantic(lambda: list(scorer.score(runs)), rounds=1)
    ratio = min(whole) / min(alone)
    benchmark.extra_info["ratio_to_decompress_and_parse"] = ratio
    closing_table += [
        Row(f"decompress + parse {len(runs)} runs, {THREADS} threads", f"{min(alone):.2f} s"),
        Row(
            "score the same runs, files in and out", f"{min(whole):.2f} s", "", f"{ratio:.1f} x parse, <= {AT_MOST:.0f}"
        ),
    ]
    assert sum(map(parse, runs)) == len(mix)
    assert ratio <= AT_MOST
