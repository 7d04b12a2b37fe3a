"""The mode of a run that names none: what the weights or the stored answers were made for."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import PfgenError
from ..files.untrusted_json import read_json
from .json_parts import member_of
from .prompts import MODES, Mode

_LOCAL = ("transformers", "hf", "vllm")


def usual_mode(engine: str, model: str | None, options: Mapping[str, Any]) -> tuple[Mode, str]:
    """The mode, and the reason in words; the reason is empty if the mode is the default of all engines."""
    if engine in _LOCAL and model is not None:
        if options.get("chat_template") is not None:
            return "chat", "--chat-template is given"
        if _has_template(str(options.get("path") or model), bool(options.get("trust_remote_code"))):
            return "chat", "the tokenizer has a chat template"
    if engine == "replay" and options.get("input") is not None:
        return _recorded(Path(options["input"]))
    return "completion", ""


def _has_template(weights: str, trust_remote_code: bool) -> bool:
    """Whether a tokenizer has a chat template; false if it cannot be loaded, which the engine reports."""
    try:
        from transformers import AutoTokenizer

        tokenizer: Any = AutoTokenizer.from_pretrained(weights, trust_remote_code=trust_remote_code)
    except Exception:  # a missing package, or broken files, for which the library raises errors of many types
        return False
    return bool(getattr(tokenizer, "chat_template", None))


def _recorded(source: Path) -> tuple[Mode, str]:
    path = (source if source.is_dir() else source.parent) / "config.json"
    with contextlib.suppress(PfgenError):
        mode = member_of(read_json(path), "mode")
        if mode in MODES:
            return mode, f"{path} says so"
    return "completion", ""
