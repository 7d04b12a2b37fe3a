"""The default mode of a run, which depends on the model's weights or on the stored answers."""

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
    """The mode and the reason for it; the reason is empty for `completion`, the default without other information."""
    if engine in _LOCAL and model is not None:
        if options.get("chat_template") is not None:
            return "chat", "--chat-template is given"
        if _has_template(str(options.get("path") or model), bool(options.get("trust_remote_code"))):
            return "chat", "the tokenizer has a chat template"
    if engine == "replay" and options.get("input") is not None:
        return _recorded(Path(options["input"]))
    return "completion", ""


def _has_template(weights: str, trust_remote_code: bool) -> bool:
    """Whether a tokenizer has a chat template; false if it cannot be loaded, because the engine reports the error."""
    try:
        from transformers import AutoTokenizer

        tokenizer: Any = AutoTokenizer.from_pretrained(weights, trust_remote_code=trust_remote_code)
    except Exception:  # the package is missing, or the library raises one of many types of errors
        return False
    return bool(getattr(tokenizer, "chat_template", None))


def _recorded(source: Path) -> tuple[Mode, str]:
    path = (source if source.is_dir() else source.parent) / "config.json"
    with contextlib.suppress(PfgenError):
        mode = member_of(read_json(path), "mode")
        if mode in MODES:
            return mode, f"{path} has this mode"
    return "completion", ""
