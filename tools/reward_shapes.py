"""`python tools/reward_shapes.py [--measure]`: the tables of docs/guides/reward.md.

With --measure it damages answers, scores them with and without shapes, and writes docs/figures/reward_shapes.csv; this
needs a checkout of pfgen-bench (PFGEN_BENCH). From this file, which the repository has, it makes the tables.
"""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import sensitivity
from pfgen_fast import Reward, Scorer, Suite
from pfgen_fast.lab.discernment.discern import discern
from pfgen_fast.lab.discernment.discernment_items import Collection
from pfgen_fast.lab.discernment.originals import from_run, from_suite
from pfgen_fast.lab.evaluators.ngram_evaluator import NgramEvaluator
from pfgen_fast.rewards.reward import RECOMMENDED, ShapeLike

FIGURES = sensitivity.DOCS / "figures" / "reward_shapes.csv"
PAGE = sensitivity.DOCS / "guides" / "reward.md"
BEGIN, END = "<!-- what tools/reward_shapes.py wrote -->", "<!-- end of what it wrote -->"
COLUMNS = {"n_items": 0, "mean_original": 5, "mean_drop": 5, "d": 2, "reverse_d": 2}

# Names of rewards, the score that is shaped, and the shape.
REWARDS: tuple[tuple[str, str, ShapeLike], ...] = (
    ("score", "score", ()),
    *((f"`{part.name}`", "score", part) for part in RECOMMENDED.parts if part.name != "unfinished"),
    ("recommended", "score", RECOMMENDED),
    ("truthfulness", "truthfulness", ()),
    ("truthfulness, recommended", "truthfulness", RECOMMENDED),
)

SHOWN = ("score", "recommended")
LEFT_OUT = {"loop/200", "sentence_repeat/200", "truncate/100", "truncate/400"}

# The damage, what it is in words, and whether a reader would mind it.
ROWS = (
    ("loop/200", "20 % more characters by a loop", True),
    ("loop/400", "40 % more by a loop", True),
    ("loop/1000", "as many again by a loop", True),
    ("sentence_repeat/200", "a fifth of the sentences doubled", True),
    ("sentence_repeat/1000", "every sentence doubled", True),
    ("word_repeat/500", "half of the words doubled", True),
    ("truncate/100", "the last 10 % cut off", True),
    ("truncate/200", "the last 20 % cut off", True),
    ("truncate/400", "the last 40 % cut off", True),
    ("truncate/800", "the last 80 % cut off", True),
    ("sentence_delete/400", "two of five sentences missing", True),
    ("newline", "a line break at the end", False),
    ("punctuation", "`，．` in the place of `、。`, or the other way round", False),
    ("width", "letters and digits in full width", False),
)

Row = dict[str, str]
"""Answers, a reward and a perturbation: the columns of the file, as text."""


def main(arguments: Sequence[str]) -> None:
    """Measures on request, then fills the page."""
    if "--measure" in arguments:
        rows = [*measure_mini(), *measure_published(Path(os.environ.get("PFGEN_BENCH", "../shared/pfgen-bench")))]
        sensitivity.write(FIGURES, rows)
    sensitivity.fill(PAGE, (BEGIN, END), table(read(FIGURES)))


def measure_mini() -> list[Row]:
    """The rows of the packaged suite's reference answers."""
    suite = Suite.load("mini")
    return list(_measured("mini", suite, from_suite(suite)))


def measure_published(checkout: Path) -> list[Row]:
    """The rows of published answers."""
    suite = Suite.load(checkout / "data")
    return list(_measured("gpt-4o", suite, from_run(checkout / "result/openai/gpt-4o", suite)))


def _measured(name: str, suite: Suite, collection: Collection) -> Iterator[Row]:
    scorer, wanted = Scorer(suite), {damage for damage, _, _ in ROWS}
    for reward, metric, shape in REWARDS:
        evaluator = NgramEvaluator(scorer, Reward(suite, shape, metric=metric))
        for cell in discern(evaluator, collection).cells:
            kind, degree = cell["kind"], cell["degree"]
            damage = f"{kind}/{degree}" if degree else str(kind)
            if cell["metric"] == "reward" and damage in wanted:
                figures = {key: sensitivity.rounded(cell[key], digits) for key, digits in COLUMNS.items()}
                yield {"answers": name, "reward": reward, "damage": damage, **figures}


def read(path: Path) -> dict[tuple[str, str, str], Row]:
    """The figures by answers, reward and damage."""
    with path.open(encoding="utf-8", newline="") as file:
        return {(row["answers"], row["reward"], row["damage"]): row for row in csv.DictReader(file)}


def table(rows: dict[tuple[str, str, str], Row]) -> Iterator[str]:
    """The table of the page: 100 answers of GPT-4o."""
    yield f"| damage | {' | '.join(SHOWN)} |"
    yield f"| --- |{' ---: |' * len(SHOWN)}"
    whole = [float(rows["gpt-4o", reward, "loop/1000"]["mean_original"]) for reward in SHOWN]
    yield f"| none: the mean reward | {' | '.join(f'{mean:.3f}' for mean in whole)} |"
    for damage, words, harmful in ROWS:
        if damage in LEFT_OUT:
            continue
        cells = [_cell(rows["gpt-4o", reward, damage]) for reward in SHOWN]
        yield f"| {words if harmful else f'*{words}*'} | {' | '.join(cells)} |"


def _cell(row: Row) -> str:
    """A mean drop and its d, or for a reward that rises, the d of the rise behind an arrow."""
    if not row["mean_drop"] or not row["d"]:
        return "–"
    drop = f"{float(row['mean_drop']):.3f}"
    drop = "0.000" if float(drop) == 0 else drop.replace("-", "−")
    rises = float(row["mean_drop"]) < 0 and float(row["reverse_d"]) > float(row["d"])
    return f"{drop} (↑ {float(row['reverse_d']):.1f})" if rises else f"{drop} ({float(row['d']):.1f})"


if __name__ == "__main__":
    main(sys.argv[1:])
