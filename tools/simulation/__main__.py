"""Every interval and verdict that the program prints, simulated with known truth: how often does it hold?

`make simulate` runs the whole, some minutes, and writes the worst cases into docs/statistics_coverage.md; a small form
of the same claims is among the tests. A *claim* counts how often an interval holds the truth (coverage), or how often a
difference is seen that is not there (false alarms).
"""

from __future__ import annotations

import argparse
import multiprocessing
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from pathlib import Path

from . import scores
from .claims import Claim
from .discernment import claims_of_discernment
from .items import claims_of_items
from .judges import claims_of_judges
from .marks import claims_of_marks
from .raters import claims_of_raters

_DOCUMENT = Path(__file__).parents[2] / "docs" / "statistics_coverage.md"


def claims(trial_claims: Iterable[Claim]) -> list[Claim]:
    """All claims, with these about trials, in the order of the page."""
    run_claims = (*scores.claims(), *claims_of_items(), *claims_of_marks())
    study_claims = (*claims_of_judges(), *claims_of_raters(), *claims_of_discernment())
    return [*run_claims, *scores.claims_of_correlations(), *trial_claims, *study_claims]


def worst(rows: Iterable[tuple[float, str]]) -> list[tuple[float, str]]:
    """The worst row of a claim with a promise, and the worst without."""
    parts = ([row for row in rows if ("| – |" in row[1]) == is_open] for is_open in (False, True))
    return sorted(min(part) for part in parts if part)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=4_000)
    parser.add_argument("--output", type=Path, default=_DOCUMENT)
    arguments = parser.parse_args()
    is_there = (scores.PFGEN_BENCH / "runs.csv").is_file()
    wanted = claims([*scores.claims_of_trials(), *(scores.claims_of_published() if is_there else ())])
    is_worst_low = {claim.table: claim.bounds[0] > 0 for claim in wanted if claim.bounds}
    rows: dict[str, list[tuple[float, str]]] = {}
    n_wrong = 0
    # Forked, so that the published scores are there.
    pool = ProcessPoolExecutor(mp_context=multiprocessing.get_context("fork"))
    shares = pool.map(Claim.share, wanted, repeat(arguments.draws))
    for claim, (share, n) in zip(wanted, shares, strict=True):
        is_held = claim.is_held(share, n)
        n_wrong += not is_held
        promised = "–" if claim.bounds is None else "{:.2f} to {:.2f}".format(*claim.bounds)
        row = f"| {claim.shown} | {n:,} | {promised} | {share:.3f} |\n"
        rank = share if is_worst_low.get(claim.table) else -share
        rows.setdefault(claim.table, []).append((rank, row))
        print(f"{'' if is_held else '! '}{claim.table}: {claim.what}: {share:.4f} of {n:,}", flush=True)
    table = "\n| interval or verdict | worst case | draws | promised | found |\n| --- | --- | ---: | ---: | ---: |\n"
    for name, table_rows in rows.items():
        table += f"| {name} " + "| ".join(row for _, row in worst(table_rows))
    before, begin, rest = arguments.output.read_text(encoding="utf-8").partition("<!-- simulated -->\n")
    _, end, after = rest.partition("<!-- /simulated -->")
    arguments.output.write_text(f"{before}{begin}{table}\n{end}{after}", encoding="utf-8")
    raise SystemExit(f"{n_wrong} claims do not hold" if n_wrong else None)


if __name__ == "__main__":
    main()
