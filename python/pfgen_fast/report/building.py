"""The report of a suite build: the answers that each stage kept and removed, the progress of the selection, and scores.

Like the report of runs, it is a single file. Untrusted text in it is escaped, or is JSON that becomes text nodes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from ..base.errors import BuildError
from ..base.untrusted_text import counted, in_one_line
from ..build.pipeline import Branch, Built, building_alone, records
from ..build.stages import examples
from ..scoring.scorer import Scorer
from ..suite.rules import AVERAGE_FIRST
from ..suite.suite import Suite
from .pages import markup, page_json, page_text, write_page

_NAME = "report.html"
_N_EXAMPLES = 5
_N_REASONS = 12
_N_SCORED = 1000
_N_POINTS = 200
_SHOWN = 300
_BIN = 5


def write_building_report(
    built: Built, *, threads: int | None = None, on_branch: Callable[[Branch], None] | None = None
) -> Path:
    """Writes the report into the work folder of a build."""
    if not built.is_written:
        raise BuildError(f"{built.config.suite}: not built, so there is nothing to report")
    path = built.config.work / _NAME
    with building_alone(built.config):
        scorer = Scorer(Suite.load(built.config.suite.absolute()), threads=threads)
        described = []
        for branch in built.branches:
            if on_branch is not None:
                on_branch(branch)
            described.append(_described(branch, scorer))
        page = page_text(
            "building.html.jinja",
            section="Suites",
            headline=_headline(described),
            suite=scorer.suite.title,
            n_questions=len({branch.asked.question_id for branch in built.branches}),
            unit=built.config.unit,
            decisions=[in_one_line(sentence, 400) for sentence in built.decisions],
            stages=[stage["name"] for stage in described[0]["stages"]],
            branches=described,
            overview=markup(page_json({"branches": described, "unit": built.config.unit, "bin": _BIN})),
        )
        write_page(path, page)
    return path


def _headline(described: Sequence[dict[str, Any]]) -> str:
    """How many answers became references, how they score, and what the stages before the selection removed."""
    stages = list(zip(*(branch["stages"] for branch in described), strict=True))
    n_raw, *n_left = (sum(stage["n"] for stage in of_branches) for of_branches in stages)
    raw, chosen = (fmean(stage["scores"]["average"] for stage in stages[at] if stage["scores"]) for at in (0, -1))
    share = 100 * (n_raw - n_left[-3]) / n_raw
    return (
        f"{n_left[-1]:,} of {n_raw:,} answers became {counted(len(described), 'reference set')}: they score "
        f"{chosen:.3f} by their suite, the raw answers {raw:.3f}; {share:.1f} % were removed as faulty or rare."
    )


def _described(branch: Branch, scorer: Scorer) -> dict[str, Any]:
    chosen = dict(records(branch))["select"]["figures"]
    n, curve = len(chosen["curve"]), chosen["curve"]
    if n > _N_POINTS:  # more than can be distinguished
        curve = [curve[round(number * (n - 1) / (_N_POINTS - 1))] for number in range(_N_POINTS)]
    return {
        "id": branch.asked.question_id,
        "set": branch.set_name,
        "question": in_one_line(branch.asked.question, 200),
        "stages": [_stage(branch, name, record, scorer) for name, record in records(branch)],
        **{name: chosen[name] for name in ("error", "initial_error", "proposals", "accepted", "coverage")},
        "curve": curve,
    }


def _stage(branch: Branch, name: str, record: dict[str, Any], scorer: Scorer) -> dict[str, Any]:
    left, figures = record["left"], record["figures"]
    described = {
        "name": name,
        **{figure: left[figure] for figure in ("n", "mean", "std")},
        # Counts of lengths in bins; the last bin holds all longer ones.
        "lengths": [sum(left["lengths"][at : at + _BIN]) for at in range(0, len(left["lengths"]), _BIN)],
        "scores": _scores(scorer, branch, branch.answers(name)),
    }
    if name == "raw":
        return {**described, "reasons": [], "examples": [], "removed_scores": None, "note": ""}
    removed = branch.removed(name)
    return {
        **described,
        "reasons": [[in_one_line(reason), n] for reason, n in figures["reasons"][:_N_REASONS]],
        "examples": [
            {"row": row["row"], "answer": in_one_line(row["answer"], _SHOWN), "reason": in_one_line(row["reason"])}
            for row in examples(removed, _N_EXAMPLES)
        ],
        "removed_scores": _scores(scorer, branch, removed),
        "note": _note(name, figures, removed),
    }


def _note(name: str, figures: dict[str, Any], removed: Any) -> str:
    if name == "normalise" and figures["changed"]:
        most = sorted(figures["changed"].items(), key=lambda item: (-item[1], item[0]))[:_N_REASONS]
        return "Answers changed: " + ", ".join(f"{in_one_line(rule)} {n:,}" for rule, n in most) + "."
    if name == "frequency":
        rounds = figures["rounds"]
        sentence = f"{rounds[0]['n_rare']:,} of {rounds[0]['n_distinct']:,} distinct n-grams were rare"
        if len(rounds) > 1:
            removed_by_round = ", ".join(f"{counts['n_removed']:,}" for counts in rounds)
            sentence += f"; {len(rounds)} rounds removed {removed_by_round}"
        common = Counter("".join(removed.column("reason").to_pylist())).most_common(20)
        characters = " ".join(in_one_line(character) for character, _ in common)
        return sentence + (f". Most often in those that removed an answer: {characters}" if common else ".")
    return in_one_line(figures.get("note", ""))


def _scores(scorer: Scorer, branch: Branch, table: Any) -> dict[str, Any] | None:
    """Mean scores of a sample of a table's answers, evenly spaced; None if the table is empty."""
    answers = [row["answer"] for row in examples(table, _N_SCORED)]
    if not answers:
        return None
    scored = scorer.score(branch.asked.question_id, answers)
    return {"n": len(answers), **{metric: float(getattr(scored, metric).mean()) for metric in AVERAGE_FIRST}}
