"""Families of models: a judge may prefer answers of its own family."""

from __future__ import annotations

import re
from collections.abc import Iterable

_FAMILIES = {
    "anthropic": ("claude",),
    "cohere": ("command", "aya"),
    "deepseek": (),
    "google": ("gemini", "gemma", "palm"),
    "meta": ("llama",),
    "microsoft": ("phi",),
    "mistral": ("mistralai", "mixtral", "ministral", "codestral", "magistral", "devstral"),
    "moonshotai": ("kimi",),
    "openai": ("gpt", "chatgpt", "davinci"),
    "pfnet": ("plamo",),
    "qwen": ("qwq",),
    "xai": ("grok",),
    "zai": ("glm", "chatglm", "thudm"),
}
"""The families, each with further words in the names of its models."""

_FAMILY_OF = {word: family for family, words in _FAMILIES.items() for word in (family, *words)}
_WORD = re.compile(r"[a-z]+")
_O_MODEL = re.compile(r"o\d(-|$)")
_NOT_GPT = re.compile(r"gpt-?(neox?|j)\b")
_NO_ORGANISATIONS = {"models", "checkpoints", "runs", "weights", "local"}


def families_of(model: str) -> set[str]:
    """The families of a model, according to its name: the organisation, and the families with a word in the name.

    Example:
        >>> sorted(families_of("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B"))
        ['deepseek', 'deepseek-ai', 'qwen']
    """
    organisation, slash, name = model.lower().rpartition("/")
    words = set(_WORD.findall(_NOT_GPT.sub("", f"{organisation}/{name}")))
    families = {_FAMILY_OF[word] for word in words if word in _FAMILY_OF}
    if _O_MODEL.match(name):
        families.add("openai")
    is_known = slash and "/" not in organisation and organisation not in _NO_ORGANISATIONS
    return families | ({organisation} if is_known else set())


def of_family(judge: str, models: Iterable[str]) -> list[str]:
    """The models that share a family with a judge, or are the judge itself; each model once."""
    own = families_of(judge)
    return [model for model in dict.fromkeys(models) if model == judge or own & families_of(model)]
