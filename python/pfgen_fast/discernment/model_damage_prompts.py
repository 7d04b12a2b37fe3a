"""The prompts that ask a language model for damaged texts: a template for each kind, degree and language.

A prompt ends with a label, behind which the model is to write the text and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from ..errors import DiscernmentError
from ..evaluators.criteria import LANGUAGES, Criteria
from ..evaluators.evaluator import Item, language_of
from ..files.untrusted_text import in_one_line
from ..judging.template import Template
from .kinds import KINDS, MODEL_DEGREES
from .plan import Perturbation

MADE_KINDS = tuple(kind.name for kind in KINDS.values() if kind.method == "model")
"""The kinds whose texts a model makes."""

_FOLDER = Path(__file__).with_name("prompts")
_PLACEHOLDERS = ("text", "what", "language", "count")
_ONLY_DEGREE = {"single": MODEL_DEGREES[0]}
"""The paper's name for the degree of short texts, which have but one."""

_COUNTS: Mapping[str, Mapping[int, str]] = {
    "en": {1: "one", 2: "two", 3: "three", 5: "five"},
    "ja": {1: "一つ", 2: "二つ", 3: "三つ", 5: "五つ"},
}


def degree_of(perturbation: Perturbation) -> str:
    """The degree for which there is a template: `minor`, `major`, or none for controls."""
    kind, degree = perturbation.kind, _ONLY_DEGREE.get(perturbation.degree, perturbation.degree)
    if kind not in MADE_KINDS:
        raise DiscernmentError(
            f"no model makes '{in_one_line(kind)}'; the kinds that one makes: {', '.join(MADE_KINDS)}"
        )
    known = ("",) if KINDS[kind].level == "control" else MODEL_DEGREES
    if degree not in known:
        expected = " or ".join(known) or "none"
        raise DiscernmentError(f"{kind}: unknown degree '{in_one_line(perturbation.degree)}'; expected {expected}")
    return degree


def made_prompt(item: Item, perturbation: Perturbation, criteria: Criteria) -> str:
    """The prompt that asks for the damaged text of an item."""
    degree = degree_of(perturbation)
    language = item.language or language_of(item.text)
    spoken = language if language in LANGUAGES else "en"
    return _template(perturbation.kind, degree, spoken).fill(
        text=item.text,
        what=criteria.what(item.task, spoken),
        language=LANGUAGES[spoken].get(language, language),
        count=_COUNTS[spoken][_n_errors(item.task, degree)],
    )


def label_of(prompt: str) -> str:
    """The label with which a prompt ends."""
    return prompt.rstrip().rpartition("\n")[2]


def prompts_hash() -> str:
    """SHA-256 over all templates, in hexadecimal."""
    every = [
        _template(kind, degree, language).text
        for kind in MADE_KINDS
        for degree in (("",) if KINDS[kind].level == "control" else MODEL_DEGREES)
        for language in LANGUAGES
    ]
    return Template("\0".join(every), ()).hash


def _n_errors(task: str, degree: str) -> int:
    if degree == "major":
        return 3 if task == "qa" else 5
    return 1 if task in ("qa", "story") else 2


@cache
def _template(kind: str, degree: str, language: str) -> Template:
    name = ".".join(part for part in (kind, degree, language, "txt") if part)
    return Template.read(_FOLDER / name, placeholders=_PLACEHOLDERS, needed=("text", "what", "language"))
