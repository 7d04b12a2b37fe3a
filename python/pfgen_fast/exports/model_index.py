"""The metadata of model cards (`model-index`), as YAML or within the README.md of a model, which keeps the rest."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import PfgenError
from ..files.optional import optional
from ..files.untrusted_text import utf8
from ..files.writing import write_whole, writing_whole
from .about import About
from .scored_run import ScoredRun
from .yaml_text import yaml_text

_KEY = "model-index"
_BLOCK = re.compile(r"\A(\s*---(?:\r\n|\r|\n))([\s\S]*?)((?:\r\n|\r|\n)---[ \t]*(?:\r\n|\n|\Z))")
"""The metadata of a card, as huggingface_hub finds it."""
_MENTIONS_KEY = re.compile(rf"^['\"]?{_KEY}['\"]?[ \t]*:", re.MULTILINE)
_HAS_OTHER_FORM = re.compile(r"(?:[ \t]*(?:#[^\r\n]*)?[\r\n])*(?:[ \t]+[^\s#]|\{)")
_LARGEST_CARD = 1 << 24


def write_model_index(runs: Sequence[ScoredRun], path: Path, about: About) -> None:
    """Writes the results of a model; a file `*.md` is a model card, whose other contents are kept."""
    model, results = runs[0].model, [_result(run, about) for run in runs]
    if path.suffix.lower() != ".md":
        write_whole(path, utf8(yaml_text({_KEY: [{"name": model, "results": results}]})))
    elif path.exists():
        _update(path, model, results)
    else:
        text = yaml_text({_KEY: [{"name": model, "results": results}]})
        write_whole(path, utf8(f"---\n{text}---\n"))


def _result(run: ScoredRun, about: About) -> dict[str, Any]:
    settings = {**run.settings, **({} if run.date is None else {"date": run.date.isoformat()})}
    mode = run.config.get("mode")
    return {
        "task": {"type": "text-generation", "name": "Text generation"},
        "dataset": {
            "type": about.dataset or run.benchmark,
            "name": run.suite_name,
            **({"config": mode} if isinstance(mode, str) else {}),
            "args": settings,
        },
        "metrics": [
            {
                "type": f"pfgen-{figure.name}",
                "name": figure.name.capitalize(),
                "value": figure.value,
                **(
                    {} if figure.low is None else {"args": {"low": figure.low, "high": figure.high, "confidence": 0.95}}
                ),
            }
            for figure in run.figures
        ],
        **({} if about.source_url is None else {"source": {"url": about.source_url, "name": "pfgen-fast"}}),
    }


def _update(path: Path, model: str, results: list[dict[str, Any]]) -> None:
    """Replaces our results in a card, or adds them; everything else stays as it is."""
    before = path.stat()
    if before.st_size > _LARGEST_CARD:
        raise PfgenError(f"{path}: too large for a model card")
    try:
        card = path.read_bytes().decode()
    except UnicodeDecodeError:
        raise PfgenError(f"{path}: a model card is in UTF-8, and this file is not") from None
    mark, card = ("\ufeff", card[1:]) if card.startswith("\ufeff") else ("", card)
    newline = "\r\n" if "\r\n" in card else "\n"
    block = _BLOCK.match(card)
    metadata = block[2] if block else ""
    if _HAS_OTHER_FORM.match(metadata):
        raise PfgenError(f"{path}: its metadata is indented or in braces; expected keys at the beginning of lines")
    kept, index = _without_index(metadata, path) if _MENTIONS_KEY.search(metadata) else (metadata, [])
    kept = kept.rstrip("\r\n")
    added = yaml_text({_KEY: _merged(index, model, results)}).replace("\n", newline)
    new = f"{kept}{newline if kept.strip() else ''}{added}".removesuffix(newline)
    begin, end = (block[1], block[3]) if block else (f"---{newline}", f"{newline}---{newline}")
    with writing_whole(path, original=before) as file:
        file.write(utf8(f"{mark}{begin}{new}{end}{card[block.end() :] if block else card}"))


def _without_index(metadata: str, path: Path) -> tuple[str, list[Any]]:
    """The metadata without the lines of its index, and this index."""
    yaml = optional("yaml", extra="cards", needed_for="a model card that has results")
    try:
        root, values = yaml.compose(metadata, Loader=yaml.SafeLoader), yaml.safe_load(metadata)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        problem = getattr(error, "problem", None) or "too deep or with an invalid value"
        raise PfgenError(f"{path}: its metadata is not valid YAML: {problem}") from None
    index = values.get(_KEY) if isinstance(values, dict) else None
    if not isinstance(index, list) or not all(
        isinstance(of, dict) and isinstance(of.get("results"), list) for of in index
    ):
        raise PfgenError(f"{path}: {_KEY}: expected a list of models, each with its results")
    ((key, value),) = [pair for pair in root.value if pair[0].value == _KEY]
    begin, end = key.start_mark.index, value.end_mark.index
    lines = metadata[begin:end].splitlines(keepends=True)
    while lines and (not lines[-1].strip() or lines[-1].startswith("#")):  # which belong to the next key
        end -= len(lines.pop())
    return metadata[:begin] + metadata[end:].lstrip("\r\n"), index


def _merged(index: list[Any], model: str, results: list[dict[str, Any]]) -> list[Any]:
    ours = list(map(_identity, results))
    merged = [{**of, "results": [one for one in of["results"] if _identity(one) not in ours]} for of in index]
    own = next((of for of in merged if of.get("name") == model), merged[0] if len(merged) == 1 else None)
    if own is None:
        return [*merged, {"name": model, "results": results}]
    own["results"] += results
    return merged


def _identity(result: Any) -> list[Any]:
    """What tells results of a model apart."""
    parts = [result.get(key) if isinstance(result, dict) else None for key in ("task", "dataset")]
    task, dataset = (part if isinstance(part, dict) else {} for part in parts)
    return [task.get("type"), dataset.get("type"), dataset.get("config")]
