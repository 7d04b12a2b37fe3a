"""Writes the table of published results that the package ships, from results by question (JSON lines).

    python tools/published_results.py results.jsonl.xz

Each line of the input is a result.json with the name of its run as `run`. What rankings need stays: settings, figures
and parts of each run, and the length and parts of each question, with fluency and truthfulness summed over the sets.
"""

from __future__ import annotations

import json
import lzma
import sys
from pathlib import Path
from typing import Any

TABLE = Path(__file__).parents[1] / "python/pfgen_fast/data/published/pfgen-bench.jsonl.xz"


def shortened(result: dict[str, Any]) -> dict[str, Any]:
    """The members of a result that the table keeps."""
    questions = {
        name: {"length": question["length"], "scores": summed(question["scores"])}
        for name, question in result["questions"].items()
    }
    return {**result, "questions": questions}


def summed(scores: dict[str, Any]) -> dict[str, Any]:
    """The scores of a question with one value for all sets."""
    total = {part: {"all": round(sum(scores[part].values()), 5)} for part in ("fluency", "truthfulness")}
    return {**scores, **total}


def main(path: str) -> None:
    """Writes the table."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        results = sorted(map(json.loads, lines), key=lambda result: result["run"])
    rows = (json.dumps(shortened(result), ensure_ascii=False, separators=(",", ":")) + "\n" for result in results)
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 4, "pb": 0}]
    TABLE.write_bytes(lzma.compress("".join(rows).encode(), filters=filters))


if __name__ == "__main__":
    main(*sys.argv[1:])
