"""Only decompresses and parses runs, which is the minimal cost of any reader. Also a stand-alone program:

python bench/parse_runs.py THREADS RUN...
"""

from __future__ import annotations

import lzma
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import orjson


def parse_all(runs: list[Path], threads: int) -> int:
    """Decompresses and parses runs; returns the number of trials."""
    with ThreadPoolExecutor(threads) as pool:
        return sum(map(len, pool.map(parse_trials, runs)))


def count_trials(run: Path) -> int:
    """Decompresses and parses a run; returns the number of trials, which is little to send from process to process."""
    return len(parse_trials(run))


def parse_trials(run: Path) -> list[Any]:
    return [orjson.loads(line) for line in _read_trials(run).split(b"\n") if line and not line.isspace()]


def _read_trials(run: Path) -> bytes:
    compressed = run / "trials.jsonl.xz"
    if compressed.exists():
        return lzma.decompress(compressed.read_bytes())
    return (run / "trials.jsonl").read_bytes()


if __name__ == "__main__":
    print(parse_all(list(map(Path, sys.argv[2:])), int(sys.argv[1])))
