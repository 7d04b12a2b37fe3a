"""The config that `suite make` writes, with sizes that follow the answers and suggested keyword rules as comments."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from .selection import SuggestedRule

_MOST_REFERENCES = 1000
_SUGGESTED = "# keywords = "
_HEAD = "# Written by pfgen-fast suite make. Edit it, and run the same command again: it keeps all answers.\n"


def with_sizes(config: str, n_answers: Mapping[str, int]) -> str:
    """A config with new sizes of the questions whose lines nobody has edited."""
    for question, n in n_answers.items():
        line = re.search(rf"^question = {re.escape(_toml(question))}\n(size = .*: (\d+))$", config, re.MULTILINE)
        if line and line[1] == _size(int(line[2])):
            config = config[: line.start(1)] + _size(n) + config[line.end(1) :]
    return config


def with_accepted_rules(config: str) -> str:
    """A config with the suggested rules as keywords."""
    return config.replace(f"\n{_SUGGESTED}", f"\n{_SUGGESTED[2:]}")


def n_references(n_answers: int) -> int:
    """The number of references to select from the answers to a question."""
    return max(1, min(_MOST_REFERENCES, n_answers * 2 // 3))


def _size(n_answers: int) -> str:
    """The line of a size that nobody has edited."""
    return (
        f"size = {n_references(n_answers)}  # until you edit this line, it follows the number of answers: {n_answers}"
    )


def config_text(
    top: Mapping[str, Any], n_answers: Mapping[str, int], rules: Mapping[str, SuggestedRule], why: str = ""
) -> str:
    """A config as TOML; suggested rules of questions without keywords, or `why` there are none, are comments."""
    lines = [f"{key} = {_toml(value)}" for key, value in top.items() if isinstance(value, str)]
    for name, table in top.items():
        if isinstance(table, dict):
            lines += ["", f"[{name}]", *(f"{key} = {_toml(value)}" for key, value in table.items())]
    for table in top["question"]:
        text = table["question"]
        lines += ["", "[[question]]", f"question = {_toml(text)}"]
        lines += [f"size = {table['size']}" if "size" in table else _size(n_answers[text])]
        lines += [f"{key} = {_toml(value)}" for key, value in table.items() if key not in ("question", "size")]
        if not table.get("keywords"):
            rule = rules.get(text)
            suggested = rule and f"{_SUGGESTED}{_toml([rule.rule])}  # {rule.share:.0%} of the references"
            lines += filter(None, [suggested or (why and f"# no suggested keywords: {why}")])
    return "\n".join([_HEAD, *lines, ""])


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{key} = {_toml(item)}' for key, item in value.items())} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
