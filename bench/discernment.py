"""`python -m bench.discernment`: the figures of discernment alone, after the results are compared.

It prints the table, and writes nothing.
"""

from __future__ import annotations

import sys

from pfgen_fast import Suite

from .agreement import Disagreement
from .discerning import discern_the_mix
from .machine import machine
from .perturbing import perturb_hostile_texts, perturb_the_mix
from .published import VARIABLE, Mix, checkout_folder, is_checkout, load_mix
from .rank_tests import rank_tests
from .table import Row, render, verdict


def discernment(suite: Suite, mix: Mix) -> list[Row]:
    """Measures damaging, testing and both together.

    Raises:
        Disagreement: Results differ from those of an oracle or of SciPy.
    """
    return [*perturb_the_mix(mix), *perturb_hostile_texts(), *rank_tests(), *discern_the_mix(suite, mix)]


def main() -> int:
    """Prints the rows; returns 1 if results differ."""
    checkout = checkout_folder()
    if not is_checkout(checkout):
        print(f"no runs.csv and data/ in {checkout}: set {VARIABLE} to a pfgen-bench checkout that has them")
        return 0
    try:
        rows = discernment(Suite.load(checkout / "data"), load_mix(checkout))
    except Disagreement as error:
        print(f"NOT EQUAL, so nothing is shown: {error}", file=sys.stderr)
        return 1
    about = ", ".join(f"{key} {value}" for key, value in machine().items())
    print("\n".join([about, "", *render(rows), "", verdict(rows)]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
