"""`python -m bench`: checks that results agree, then measures and writes the table, results.json and the plots.

Fails only if results differ; a missed requirement is marked in the table.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from pfgen_fast import Scorer, Suite
from pfgen_fast.native.threads import default_threads
from pfgen_fast.oracle import Oracle

from . import (
    agreement,
    building,
    building_sets,
    building_stages,
    checklists,
    commands,
    comparison,
    compiled,
    discernment,
    floors,
    growth,
    sampling,
    scoring,
)
from .machine import machine
from .published import VARIABLE, Mix, checkout_folder, choose_sample, is_checkout, load_mix, run_folders
from .table import Row, render, verdict

_FOLDER = Path(__file__).resolve().parent
_BEGIN, _END = "<!-- what `make bench` printed last -->", "<!-- end of what it printed -->"


def main() -> int:
    """Runs the benchmarks; returns 1 if results differ."""
    checkout = checkout_folder()
    if not is_checkout(checkout):
        print(f"no runs.csv and data/ in {checkout}: set {VARIABLE} to a pfgen-bench checkout that has them")
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        try:
            rows, rates, growths = _measure(checkout, Path(scratch))
        except agreement.Disagreement as error:
            print(f"NOT EQUAL, so nothing is shown: {error}", file=sys.stderr)
            return 1
    about = machine()
    lines = [", ".join(f"{key} {value}" for key, value in about.items()), "", *render(rows), "", verdict(rows)]
    print("\n".join(lines))
    _write(about, rows, rates, growths, lines)
    return 0


def _measure(checkout: Path, scratch: Path) -> tuple[list[Row], scoring.Curves, list[growth.Growth]]:
    folder, cache = checkout / "data", scratch / "cache"
    cache.mkdir()
    suite, mix, runs = Suite.load(folder), load_mix(checkout), run_folders(checkout)
    sample, oracle = choose_sample(mix, suite), Oracle(suite)
    _say("compiling, beside the oracle's tables")
    os.environ[compiled.CACHE] = str(cache)  # for this process and its children
    threads = sorted({1, 2, default_threads(), 2 * default_threads()})
    scorers = {n: Scorer(suite, threads=n) for n in threads}
    built = building.compile_the_suite(suite, folder, oracle, [suite[key] for key in sample.by_question()])
    _say("checking that results agree")
    arrow_mix = _arrow(mix)
    agreement.check_core(oracle, scorers, sample, mix, arrow_mix)
    _say("scoring")
    rows, rates = scoring.score_the_mix(oracle, scorers, sample, mix, arrow_mix)
    rows += scoring.reward_one_by_one(Scorer(suite), sample, mix)
    _say("drawing answers")
    rows += sampling.draw_answers(suite)
    _say("building reference sets")
    rows += building_sets.build_sets(suite, folder)
    _say("opening the compiled suite")
    rows += built + compiled.measure(folder, suite, scorers[1], mix, cache, scratch)
    _say("runs, files to files")
    rows += commands.score_runs(suite, runs, mix, scratch) + commands.start()
    rows += floors.read_memory(mix)
    _say("building a suite from a million answers")
    rows += building_stages.build_a_million(suite, scratch)
    _say("discernment")
    rows += discernment.discernment(suite, mix)
    published_judgements = checklists.published_judgements()
    if published_judgements is not None:
        _say("checklists")
        rows += checklists.checklists(published_judgements)
    _say("peers")
    # The first of the questions with the most sets.
    question_id, answers = max(sample.by_question().items(), key=lambda item: len(suite[item[0]].answers))
    os.environ[compiled.CACHE] = str(scratch / "cache_of_made_suites")
    rows += comparison.compare(suite[question_id], scorers[1], oracle, answers, scratch)
    _say("cost against work")
    exponents, growths = growth.grow(suite, scorers[1], mix)
    return rows + exponents, rates, growths


def _arrow(mix: Mix) -> tuple[Any, Any] | None:
    """The mix as pyarrow arrays of type string; None if pyarrow is not installed."""
    try:
        import pyarrow
    except ImportError:
        return None
    return pyarrow.array(mix.questions, pyarrow.string()), pyarrow.array(mix.answers, pyarrow.string())


def _write(
    about: dict[str, str],
    rows: list[Row],
    rates: scoring.Curves,
    growths: list[growth.Growth],
    lines: list[str],
) -> None:
    results = {
        "machine": about,
        "rows": [row.as_json() for row in rows],
        "answers_per_second_by_threads": rates,
        "seconds_by_work": [vars(of_work) for of_work in growths],
    }
    (_FOLDER / "results.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    readme = _FOLDER / "README.md"
    before, _, rest = readme.read_text(encoding="utf-8").partition(_BEGIN)
    after = rest.partition(_END)[2]
    readme.write_text("\n".join([f"{before}{_BEGIN}\n", *lines, f"\n{_END}{after}"]), encoding="utf-8")
    try:
        from . import pictures
    except ImportError:
        print("no pictures: matplotlib is not installed")
    else:
        pictures.draw(rates, growths, default_threads(), _FOLDER / "pictures")


def _say(what: str) -> None:
    print(f"... {what}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
