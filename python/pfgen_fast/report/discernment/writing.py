"""Makes the files of one or several tests of evaluators."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ...discernment.evaluator_comparison import comparison_warnings
from ...discernment.paper import Published, claims, datasets
from ...discernment.result import Discernment, Example
from ...discernment.weights import ASSUMED
from ...experiments.finding import Cell, Comparison, Finding, Pair, PairGroup, Table
from ...files.untrusted_text import few_names, in_one_line
from ..differences import marked
from ..findings import write_finding
from .pictures import pictures
from .rows import Result, labels, raw_name, results, words_of
from .tables import Agreements, agreement_tables, tables
from .verdicts import LEGEND, missed_cells, sentences, verdict_table

_CLAIM_COLUMNS = ("dataset", "models", "scores", "claim", "ours")
_PUBLISHED_COLUMNS = ("dataset", "model", "score", "published", "evaluator", "ours", "n_items")
_OURS = {
    "d_average": ("printed_d", "average"),
    "d_minimum": ("printed_d", "minimum"),
    "weighted_average": ("weighted_d", "average"),
    "weighted_minimum": ("weighted_d", "minimum"),
}
"""For each score of the paper, the column of our summary to compare it with."""


def paper_tables(results: Sequence[Result], published: Sequence[Published]) -> list[Table]:
    """The claims about the data sets whose plans were run, and the published figures, if any."""
    of_datasets = {
        result: name
        for result in results
        for name in datasets()
        if result.found.scored.plan.name.startswith(f"paper: {name}")
    }
    found = []
    if names := dict.fromkeys([*of_datasets.values(), *(one.dataset for one in published)]):
        found.append(_claims(names, of_datasets))
    if published:
        title = "Figures read off the paper's pictures, next to ours"
        rows = tuple(row for one in published for row in _published_rows(one, of_datasets))
        found.append(Table("published", title, _PUBLISHED_COLUMNS, rows, 2))
    return found


def _claims(names: Iterable[str], of_datasets: dict[Result, str]) -> Table:
    wanted = list(names)
    found = dict.fromkeys(claim for name in wanted for claim in claims(name))
    rows = []
    for claim in found:
        general = not set(claim.datasets) & set(datasets())
        own = [result for result, name in of_datasets.items() if general or name in claim.datasets]
        ours = "; ".join(map(_in_short, own)) or None
        rows.append((", ".join(claim.datasets), claim.models, claim.scores, claim.claim, ours))
    return Table("claims", "What the paper says of its data sets, next to our figures", _CLAIM_COLUMNS, tuple(rows))


def _in_short(result: Result) -> str:
    row = result.summary("printed_d", "all")
    if row is None or row["average"] is None:
        return f"{result.title}: undefined"
    return f"{result.title}: average {row['average']:.1f}, minimum {row['minimum']:.1f}"


def _published_rows(one: Published, of_datasets: dict[Result, str]) -> Iterable[tuple[Cell, ...]]:
    known = (one.dataset, one.model, one.score, one.value)
    own = [result for result, name in of_datasets.items() if name == one.dataset]
    score, statistic = _OURS[one.score]
    for result in own:
        row = result.summary(score, "all")
        yield *known, result.label, None if row is None else row[statistic], result.found.work.n_items
    if not own:
        yield *known, None, None, None


NAME = "discernment"
"""The beginning of the names of all files."""

_MANY = 4


def write_discernment(
    found: Sequence[Discernment],
    folder: Path,
    *,
    published: Sequence[Published] | None = None,
    agreements: Agreements | None = None,
) -> list[Path]:
    """Writes the files of one or several tests, each atomically: a page, Markdown, tables and pictures."""
    return write_finding(finding_of(found, published or (), agreements or {}), folder)


def finding_of(
    found: Sequence[Discernment], published: Sequence[Published] = (), agreements: Agreements | None = None
) -> Finding:
    """The finding of one or several tests, in words, tables, pictures and examples."""
    of_tasks = results(found)
    names = labels(found)
    named = ", ".join(names) if len(names) <= _MANY else f"{len(names)} evaluators"
    answer, *others = sentences(of_tasks)
    return Finding(
        NAME,
        answer,
        _paragraph(found, names, of_tasks),
        (
            verdict_table(of_tasks),
            *tables(found, of_tasks),
            *agreement_tables(agreements or {}, names),
            *paper_tables(of_tasks, published),
        ),
        tuple(pictures(of_tasks)),
        (*_restrictions(of_tasks), *_notes(found, names)),
        question=f"How well {'does' if len(names) == 1 else 'do'} {named} notice damage?",
        comparisons=tuple(one for result in of_tasks for one in _comparisons(result)),
        sentences=(answer, *others) if others else (),
        example=next(filter(None, map(_example, of_tasks)), None),
    )


def _paragraph(found: Sequence[Discernment], names: Sequence[str], results: Sequence[Result]) -> str:
    """Explains the figures, and gives the work of each test."""
    ceilings = [row["ceiling_d"] for result in results for row in result.rows("cells") if row["ceiling_d"]]
    most = f" With these items, it can hardly exceed {max(ceilings):.1f}." if ceilings else ""
    margin = next((test.margin for test in found if test.margin is not None), None)
    blind = "" if margin is None else f" The margin of blindness is {margin:g} SD of the originals' scores."
    said = [
        "The discernment score d shows how consistently the damaged texts got lower scores than their originals: it is "
        f"the p-value of a paired rank test on a logarithmic scale, where 1 stands for p = 0.05.{most} It grows "
        f"with the number of items, and a d below 1 does not prove that there is no effect. Verdicts: {LEGEND}.{blind}"
    ]
    for test, name in zip(found, names, strict=True):
        work = test.work
        asked = f", {work.n_requests:,} requests" if work.n_requests else ""
        cost = "" if work.cost is None else f" for about {work.cost:,.2f}"
        said.append(
            f"{name}: {work.n_texts:,} damaged texts of {work.n_items:,} items, {work.n_impossible:,} impossible ones, "
            f"{work.n_missing:,} scores missing{asked}{cost}; {work.seconds:,.1f} s."
        )
    return " ".join(said)


def _notes(found: Sequence[Discernment], names: Sequence[str]) -> list[str]:
    """The limits of the answer. A note that is not common to all tests begins with the names of its tests."""
    said: dict[str, list[str]] = {}
    for one, name in zip(found, names, strict=True):
        for note in dict.fromkeys((*one.warnings, *one.notes)):
            said.setdefault(note, []).append(name)
    notes = [note if len(of) == len(found) else f"{', '.join(of)}: {note}" for note, of in said.items()]
    if any(one.weights and one.weights.endswith(ASSUMED) for one in found):
        notes.append("The weights of weighted d are assumed weights: no expert was asked.")
    return [*comparison_warnings(found), *notes]


def _restrictions(results: Sequence[Result]) -> Iterator[str]:
    """Notes on comparisons that use only a part of the kinds and degrees, or that are not possible."""
    for task in dict.fromkeys(result.task for result in results):
        of_task = [result for result in results if result.task == task and result.common]
        where = f"Task {in_one_line(task)}: " if len({result.task for result in results}) > 1 else ""
        rows = [row for result in of_task for score in ("d", "weighted_d") if (row := result.in_common(score, "all"))]
        if rows and not rows[0]["n_common"]:
            yield f"{where}The evaluators and weights have no kind and degree in common, so nothing is compared."
        elif listed := [f"{result.label} {result.common_share}" for result in of_task if result.common_share]:
            yield (
                f"{where}Averages are compared only on the kinds and degrees that all evaluators and weights have: "
                f"{few_names(listed, _MANY)}."
            )


# --- examples


def _example(result: Result) -> Pair | None:
    """A text with the highest degree of damage that some metric does not notice, or else with any damage.

    Of several texts, it is the one with the fewest changes.
    """
    missed: dict[str, list[str]] = {}
    for row in missed_cells(result):
        missed.setdefault(raw_name(row), []).append(row["metric"])
    found = []
    for of_kind in _examples(result).values():
        for (perturbation, item), (first, *_) in of_kind.items():
            pair = Pair("", *marked(first.original, first.damaged))
            n_changed = sum(len(text) for text, change in pair.in_one if change != "equal")
            found.append((perturbation not in missed, n_changed, perturbation, item, pair))
    if not found:
        return None
    *_, perturbation, item, pair = min(found, key=lambda one: one[:2])
    unseen = f", not noticed by {in_one_line(', '.join(missed[perturbation]))}" if perturbation in missed else ""
    title = f"Example of {result.title}: {result.words.get(perturbation, perturbation)}{unseen}"
    return replace(pair, title=in_one_line(f"{title} (item {item}: {_scores(result, perturbation, item)})", 1000))


def _scores(result: Result, perturbation: str, item: str) -> str:
    """All scores of an item, before and after a perturbation."""
    scored = result.found.scored
    number = next((number for number, one in enumerate(scored.collection.items) if one.id == item), None)
    scores = next((one.scores for one in scored.perturbed if one.perturbation.name == perturbation), None)
    if number is None or scores is None:
        return "scores unknown"
    return ", ".join(
        f"{in_one_line(name, 40)} {_score(scored.originals[name][number])} → {_score(scores[name][number])}"
        for name in result.metrics
    )


def _comparisons(result: Result) -> list[Comparison]:
    """The items whose scores fell most and least in each cell, by kind of damage; none if there are no examples."""
    groups = tuple(
        PairGroup(words_of(kind), tuple(_pair(result, examples) for examples in of_kind.values()))
        for kind, of_kind in _examples(result).items()
    )
    title = f"Examples of {result.title}: the largest and the smallest drop of each score"
    return [Comparison(title, groups, "original", "damaged")] if groups else []


def _examples(result: Result) -> dict[str, dict[tuple[str, str], list[Example]]]:
    """The examples by kind, then by perturbation and item."""
    kinds = {one.name: one.kind for one in result.found.scored.plan.perturbations}
    tasks = {item.id: item.task for item in result.found.scored.collection.items}
    by_kind: dict[str, dict[tuple[str, str], list[Example]]] = {}
    for example in result.found.examples:
        if tasks.get(example.item, result.task) == result.task:
            of_kind = by_kind.setdefault(kinds.get(example.perturbation, example.perturbation), {})
            of_kind.setdefault((example.perturbation, example.item), []).append(example)
    return by_kind


def _pair(result: Result, examples: Sequence[Example]) -> Pair:
    """A damaged text with all the scores that it is an example for."""
    first = examples[0]
    said = "; ".join(
        f"{in_one_line(one.metric, 40)} {_score(one.original_score)} → {_score(one.damaged_score)} ({one.which} drop)"
        for one in examples
    )
    title = f"{result.words.get(first.perturbation, first.perturbation)}, item {in_one_line(first.item, 40)}: {said}"
    return Pair(in_one_line(title, 1000), *marked(first.original, first.damaged))


def _score(value: float) -> str:
    return f"{value:.3f}" if abs(value) < 10 else f"{value:.1f}"
