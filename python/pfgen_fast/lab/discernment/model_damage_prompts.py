"""The prompts that ask a language model for damaged texts, and the check of its replies.

There is a template for each kind, degree and language. A prompt ends with a label, and asks the model to write only the
text after it. Labels and quotes around the text of a reply are removed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from ..evaluators.criteria import LANGUAGES, Criteria
from ..evaluators.evaluator import Item, language_of
from ..judging.judge_requests import Template
from .discernment_plan import Perturbation, perturbations_named
from .kinds import KINDS
from .names import unknown
from .paper import n_changes

MADE = {part.name: part for kind in KINDS.values() if kind.method == "model" for part in perturbations_named(kind.name)}
"""The perturbations whose texts a model makes, by name."""

_FOLDER = Path(__file__).with_name("prompts")
_PLACEHOLDERS = ("text", "what", "language", "count")

_COUNTS: Mapping[str, Mapping[int, str]] = {
    "en": {1: "one", 2: "two", 3: "three", 5: "five"},
    "ja": {1: "一つ", 2: "二つ", 3: "三つ", 5: "五つ"},
}

_FENCED = re.compile(r"```[^\n`]*\n(.*?)\n?```", re.DOTALL)
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "「": "」", "『": "』", "«": "»"}
_SCRIPTS = {
    "ja": re.compile(
        "[\u3041-\u3096\u30a1-\u30fa\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9d\U00020000-\U0003ffff]"
    ),
    "en": re.compile("[A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f]"),
}


def made_prompt(item: Item, perturbation: Perturbation, criteria: Criteria) -> str:
    """The prompt that asks for the damaged text of an item."""
    if perturbation.name not in MADE:
        raise unknown("perturbation by a model", perturbation.name, MADE)
    language = item.language or language_of(item.text)
    spoken = language if language in LANGUAGES else "en"
    if perturbation.prompt is None:
        template = _template(perturbation.kind, perturbation.degree, spoken)
    else:
        template = checked_prompt(perturbation.prompt)
    return template.fill(
        text=item.text,
        what=criteria.what(item.task, spoken),
        language=LANGUAGES[spoken].get(language, language),
        count=_COUNTS[spoken][n_changes("grammar_error", item.task, perturbation.degree or "minor")],
    )


def label_of(prompt: str) -> str:
    """The label with which a prompt ends."""
    return prompt.rstrip().rpartition("\n")[2]


@cache
def checked_prompt(text: str) -> Template:
    """The template of a plan's prompt; raises JudgingError if placeholders are unknown, or if it lacks `{text}`."""
    return Template.checked(text, placeholders=_PLACEHOLDERS, needed=("text",))


@cache
def _template(kind: str, degree: str, language: str) -> Template:
    name = ".".join(part for part in (kind, degree, language, "txt") if part)
    return Template.read(_FOLDER / name, placeholders=_PLACEHOLDERS, needed=("text", "what", "language"))


def usable_text(reply: str, original: str, *, kind: str, language: str, label: str) -> str | None:
    """The damaged text in a reply; None if it is not usable by docs/discernment_rules.md."""
    original = original.strip()
    text = _bare(reply, original, label)
    script = _script_of(original, language)
    is_in_script = script is None or script.search(text)
    return text if text and text != original and _has_length(text, original, kind) and is_in_script else None


def _bare(reply: str, original: str, label: str) -> str:
    text = reply.strip()
    unlabelled = _without_label(text, label)
    bare = _without_pair(unlabelled, original)
    return bare if unlabelled != text else _without_label(bare, label)  # the label may be inside the pair


def _without_label(text: str, label: str) -> str:
    """The text without a label at its beginning, in any case, with any colon, and also in bold type."""
    words = re.escape(label.rstrip(":： "))
    return re.sub(rf"\A\**{words}\**\s*[:：]\**", "", text, count=1, flags=re.IGNORECASE).strip()


def _without_pair(text: str, original: str) -> str:
    fenced = _FENCED.fullmatch(text)
    if fenced:
        return fenced[1].strip()
    # An original in quotes keeps its quotes.
    return text[1:-1].strip() if _is_quoted(text) and not _is_quoted(original) else text


def _is_quoted(text: str) -> bool:
    """Whether one pair of quotes surrounds the whole text."""
    end = _QUOTES.get(text[:1])
    if end is None or len(text) < 2 or text[-1] != end:
        return False
    begin, inner = text[0], text[1:-1]
    if begin == end:
        return begin not in inner
    depth = 0
    for character in inner:
        depth += (character == begin) - (character == end)
        if depth < 0:
            return False
    return depth == 0


def _has_length(text: str, original: str, kind: str) -> bool:
    n, n_original = len(text), len(original)
    if kind == "rewrite_insert":
        return n_original <= n <= 3 * n_original
    return n_original <= 2 * n <= 4 * n_original


def _script_of(original: str, language: str) -> re.Pattern[str] | None:
    """The script of the language, if the original has it; a damaged text then needs a letter of this script."""
    scripts = sorted(_SCRIPTS, key=lambda name: name != language)
    return next((_SCRIPTS[name] for name in scripts if _SCRIPTS[name].search(original)), None)
