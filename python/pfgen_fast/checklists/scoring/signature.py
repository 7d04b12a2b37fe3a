"""The signature of a model's scores: everything that they depend on besides verdicts; and what a reader must know."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...files.untrusted_text import in_one_line
from ...native import _core
from ..few_names import few_names
from ..judgements import Method
from ..suite import ChecklistSuite
from ..tasks import Missing
from .judged import Judged
from .scores import Weighting

_UNKNOWN = "unknown"


def signature_of(suite: ChecklistSuite, judged: Judged, *, method: Method, weights: Weighting, missing: Missing) -> str:
    """Names the version, the suite, checklists and weights, the judge and its prompts, and the rules of the score.

    What imported judgements do not say is `unknown`.
    """
    variants = judged.variants
    parts = {
        "checklists": _core.__version__,
        "suite": f"{suite.name} {suite.hash}",
        "questions": suite.checklists_hash,
        "weights": _weights(suite, weights) if method == "checklist" else "none",
        "method": method,
        "judge": f"{judged.judge or _UNKNOWN} ({_listed(variant.version for variant in variants)})",
        "prompt": _listed(variant.prompt_sha256 for variant in variants),
        "profile": _listed(variant.profile for variant in variants),
        "temperature": _listed(None if v.temperature is None else f"{v.temperature:g}" for v in variants),
        "missing": missing,
        "words": "+".join(judged.counters) or "none",
    }
    return "|".join(f"{name}:{in_one_line(value, 200).replace('|', '/')}" for name, value in parts.items())


def notes_of(suite: ChecklistSuite, judged: Sequence[Judged], method: Method, weights: Weighting) -> tuple[str, ...]:
    """What a reader of a table must know, one sentence each."""
    notes = list(suite.notes)
    if method == "checklist" and _weights(suite, weights) == "equal":
        notes.append("Equal weights: each score is the plain mean of the verdicts times 100.")
    elif method == "checklist" and not suite.has_weights:
        without = [f"{one.area}/{one.category}" for one in suite.checklists.values() if not one.has_weights]
        which = "1 category" if len(without) == 1 else f"{len(without)} categories"
        notes.append(f"Equal weights in {which} without weights: {few_names(without)}.")
    variants = dict.fromkeys(variant for one in judged for variant in one.variants)
    if len(variants) > 1:
        notes.append(f"Replies of {len(variants)} versions or prompts of the judge are mixed.")
    counters = dict.fromkeys(counter for one in judged for counter in one.counters)
    if len(counters) > 1:
        notes.append(f"Words were counted in {len(counters)} ways: {', '.join(counters)}.")
    return tuple(notes)


def _weights(suite: ChecklistSuite, weights: Weighting) -> str:
    has_any = any(checklist.has_weights for checklist in suite.checklists.values())
    return "suite" if weights == "suite" and has_any else "equal"


def _listed(values: Iterable[str | None]) -> str:
    return "+".join(dict.fromkeys(value or _UNKNOWN for value in values)) or _UNKNOWN
