"""Tests an evaluator: damages the texts of a collection, scores them, and compares the scores by rank tests.

`discernment_of` computes the figures from scores alone, also from tables of scores.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, cast

from ...base.errors import DiscernmentError
from ...base.native import _core
from ...base.untrusted_text import in_one_line
from ..evaluators.evaluator import Evaluator, Item
from ..evaluators.function_evaluator import Function, FunctionEvaluator
from ..evaluators.table_evaluator import TableScores
from ..statistics.signed_rank import ZEROS, Zeros
from .combined import combined_of, perturbation_rows, summary_rows
from .damage.text_reading import Analyser, tables_hash
from .discernment_cells import (
    by_task,
    cell_rows,
    cells_of,
    check_margin,
    control_rows,
    curves_of,
    profile_rows,
    specificity,
)
from .discernment_items import MIN_ITEMS, Collection, Row, collection_of
from .discernment_plan import Plan
from .discernment_result import (
    CELL_COLUMNS,
    CONTROL_COLUMNS,
    PERTURBATION_COLUMNS,
    PROFILE_COLUMNS,
    SUMMARY_COLUMNS,
    Discernment,
    with_columns,
)
from .discernment_scoring import Progress, Scoring, plan_of, score_all
from .kinds import unknown
from .notes import notes_on, warnings_on
from .perturbing import Damage, Maker
from .plan_sources import open_plan
from .weights import Weights, open_weights


def discern(
    evaluator: Evaluator | TableScores | Function,
    items: Collection | Iterable[Item | Row],
    plan: Plan | str | Path | Sequence[str] | None = None,
    weights: Weights | str | Path | None = None,
    *,
    seed: int = 0,
    language: str | None = None,
    donors: Iterable[str] | None = None,
    maker: Maker | None = None,
    analyser: Analyser | str | None = None,
    zeros: Zeros = "drop",
    min_items: int = MIN_ITEMS,
    margin: float | None = None,
    on_progress: Progress | None = None,
) -> Discernment:
    """Tests how well an evaluator notices graded damage.

    Args:
        evaluator: An evaluator, a table of scores, or a function as for `FunctionEvaluator`.
        items: The texts to damage: items, or mappings with the keys of an item.
        plan: A plan, the name or file of a plan, or names of perturbations such as `char_delete/30`; by default all
            kinds of damage that rules can make, and the damaged texts that are part of the items.
        weights: The weight of each metric for each kind, or the file or name of weights; without weights there is no
            `weighted_d`.
        seed: The seed of all random choices.
        language: The language of all texts, `ja` or `en`; by default the language of each item.
        donors: The texts that some kinds take parts from; by default the texts of the items with other questions.
        maker: The language model that makes the texts of some kinds.
        analyser: `sudachi` or an `Analyser`, which finds the words, names and particles of Japanese texts instead of
            the rules.
        zeros: How the test treats scores that do not change: `"drop"` or `"pratt"`.
        min_items: A cell with fewer items than this is undefined.
        margin: The change of a mean score that does not matter, in standard deviations of the originals' scores. A
            metric is `blind` to a kind if it changes by less, up or down, at each degree; None for no such verdict.
        on_progress: Called with the number of finished texts and the total.

    Raises:
        DiscernmentError: There are too few items, an argument is out of range, or the evaluator raises an exception or
            does not return a score for each text.

    Example:
        >>> from pfgen_fast import Scorer, Suite
        >>> from pfgen_fast.lab.discernment.originals import from_suite
        >>> from pfgen_fast.lab.discernment.discernment_plan import Plan, perturbations_named
        >>> from pfgen_fast.lab.evaluators.ngram_evaluator import NgramEvaluator
        >>> items, plan = from_suite(Suite.load("mini")), Plan(perturbations_named("char_delete/300"))
        >>> result = discern(NgramEvaluator(Scorer("mini")), items, plan)
        >>> [row["metric"] for row in result.cells if row["noticed"]]
        ['fluency', 'truthfulness', 'helpfulness', 'average']
    """
    if zeros not in ZEROS:
        raise unknown("treatment of zeros", zeros, ZEROS)
    collection = collection_of(items, language)
    collection.check_size(min_items)
    if isinstance(plan, str | Path):
        plan = open_plan(plan, collection.items)
    elif plan is not None and not isinstance(plan, Plan):
        plan = open_plan(items=collection.items, kinds=list(plan))
    weights = open_weights(weights) if isinstance(weights, str | Path) else weights
    evaluator = _evaluator_of(evaluator)
    check_margin(margin)
    if isinstance(evaluator, TableScores):
        plan = plan_of(evaluator, collection, plan)
    damage = Damage(collection, plan, seed=seed, donors=donors, maker=maker, analyser=analyser)
    if not damage.plan.perturbations:
        raise DiscernmentError(f"evaluator {in_one_line(evaluator.name)}: no perturbation; expected at least one")
    if weights is not None:
        weights.check_kinds(collection.tasks, damage.plan.perturbations)
    scoring = score_all(evaluator, damage, on_progress=on_progress)
    how: Any = {"zeros": zeros, "min_items": min_items, "margin": margin}
    return discernment_of(scoring, weights, evaluator=evaluator, **how)


def _evaluator_of(evaluator: Evaluator | TableScores | Function) -> Evaluator | TableScores:
    if isinstance(evaluator, TableScores) or hasattr(evaluator, "score"):
        return cast("Evaluator | TableScores", evaluator)
    if not callable(evaluator):
        what = in_one_line(repr(evaluator), 60)
        raise DiscernmentError(f"evaluator: expected an Evaluator, a table or a function, not {what}")
    return FunctionEvaluator(evaluator, name=getattr(evaluator, "__name__", "function"))


def discernment_of(
    scoring: Scoring,
    weights: Weights | None = None,
    *,
    evaluator: Evaluator | TableScores | None = None,
    zeros: Zeros = "drop",
    min_items: int = MIN_ITEMS,
    margin: float | None = None,
) -> Discernment:
    """Computes all figures from scores."""
    scored = scoring.scored
    how: Any = {"zeros": zeros, "min_items": min_items, "margin": margin}
    tasks = [combined_of(cells_of(scores, **how), weights) for scores in by_task(scored)]
    cells = [task.cells for task in tasks]
    rows = cell_rows(cells)
    weights_hash = "none" if weights is None else weights.hash
    plan_hash = scored.plan.hash(tables=tables_hash(), outside_texts=scoring.outside_texts)
    return Discernment(
        scored=scored,
        signature=(
            f"discernment:{_core.__version__}|collection:{scored.collection.hash}|plan:{plan_hash}|seed:{scored.seed}"
            f"|evaluator:{scored.signature}|zeros:{zeros}|combine:harmonic|weights:{weights_hash}"
        ),
        cells=with_columns(CELL_COLUMNS, rows),
        perturbations=with_columns(PERTURBATION_COLUMNS, perturbation_rows(tasks)),
        summary=with_columns(SUMMARY_COLUMNS, summary_rows(tasks)),
        profile=with_columns(PROFILE_COLUMNS, profile_rows(cells, zeros)),
        controls=with_columns(CONTROL_COLUMNS, control_rows(rows)),
        curves=tuple(curve for task in cells for curve in curves_of(task)),
        examples=scoring.examples,
        work=scoring.work,
        weights=None if weights is None else weights.name,
        specificity=specificity(rows),
        scores={task.cells.scores.task: task.scores for task in tasks},
        margin=margin,
        notes=(*notes_on(evaluator, scored, cells), *(note for task in tasks for note in task.notes)),
        warnings=warnings_on(evaluator, scoring, cells),
    )
