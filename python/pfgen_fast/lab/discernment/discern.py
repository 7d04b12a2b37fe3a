"""Tests an evaluator: damages the texts of a collection, scores them, and compares the scores by rank tests.

`discernment_of` computes the figures from scores alone, also from tables of scores.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...base.errors import DiscernmentError
from ...base.native import _core
from ...base.untrusted_text import in_one_line
from ..evaluators.evaluator import Evaluator, Item
from ..evaluators.table_evaluator import TableScores
from .combined_metrics import combined_of, perturbation_rows, summary_rows
from .damage.text_reading import tables_hash
from .damage_scoring import Progress, plan_of, score_all
from .discernment_cells import by_task, cell_rows, cells_of, curves_of, profile_rows
from .discernment_items import Collection
from .discernment_plan import Plan
from .discernment_result import Discernment, Scored
from .notes import notes_on, warnings_on
from .perturbing import Damage, Maker
from .weights import Weights


def discern(
    evaluator: Evaluator | TableScores,
    items: Collection | Iterable[Item],
    plan: Plan | None = None,
    weights: Weights | None = None,
    *,
    seed: int = 0,
    maker: Maker | None = None,
    on_progress: Progress | None = None,
) -> Discernment:
    """Tests how well an evaluator notices graded damage.

    Args:
        evaluator: An evaluator, or a table of scores.
        items: The texts to damage.
        plan: The perturbations; by default all kinds of damage that rules can make, and the damaged texts that are part
            of the items.
        weights: The weight of each metric for each kind; without weights there is no `weighted_d`.
        seed: The seed of all random choices.
        maker: The language model that makes the texts of some kinds.
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
    collection = items if isinstance(items, Collection) else Collection.of(items)
    collection.check_size()
    if isinstance(evaluator, TableScores):
        plan = plan_of(evaluator, collection, plan)
    damage = Damage(collection, plan, seed=seed, maker=maker)
    if not damage.plan.perturbations:
        raise DiscernmentError(f"evaluator {in_one_line(evaluator.name)}: no perturbation; expected at least one")
    if weights is not None:
        weights.check(collection.tasks, damage.plan.perturbations)
    return discernment_of(score_all(evaluator, damage, on_progress=on_progress), weights)


def discernment_of(scored: Scored, weights: Weights | None = None) -> Discernment:
    """Computes all figures from scores."""
    tasks = [combined_of(cells_of(scores), weights) for scores in by_task(scored)]
    cells = [task.cells for task in tasks]
    weights_hash = "none" if weights is None else weights.hash
    plan_hash = scored.plan.hash(tables=tables_hash(), model_texts=scored.model_texts)
    return Discernment(
        scored=scored,
        signature=(
            f"discernment:{_core.__version__}|collection:{scored.collection.hash}|plan:{plan_hash}|seed:{scored.seed}"
            f"|evaluator:{scored.signature}|zeros:drop|combine:harmonic|weights:{weights_hash}"
        ),
        cells=cell_rows(cells),
        perturbations=perturbation_rows(tasks),
        summary=tuple(summary_rows(tasks)),
        profile=tuple(profile_rows(cells)),
        curves=tuple(curve for task in cells for curve in curves_of(task)),
        weights=None if weights is None else weights.name,
        scores={task.cells.scores.task: task.scores for task in tasks},
        notes=(*notes_on(scored, cells), *(note for task in tasks for note in task.notes)),
        warnings=warnings_on(scored, cells),
    )
