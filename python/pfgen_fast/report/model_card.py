"""Results of runs for the Hub: the metadata of a model card (`model-index`), or `.eval_results/*.yaml`.

The answers are scored again, so that a result.json that differs from them is an error. A README.md keeps everything
except its earlier results of the same suite and mode.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..base.errors import PfgenError, TrialsError, optional
from ..base.file_writing import check_folder, write_whole, writing_whole
from ..base.mean_interval import mean_interval
from ..base.untrusted_text import in_one_line, json_text, utf8
from ..runs.aggregation import check_all_answered, trials_of, with_recorded_sum
from ..runs.checkout import run_name, suite_of
from ..runs.leaderboard import entry_of
from ..runs.run_result import RunResult, changes, read_result
from ..runs.trials import RunFolder, Trials, stripped
from ..scoring.scorer import Scorer
from ..suite.rules import PARTS, PROFILES
from ..suite.suite import Suite

_KEY = "model-index"
_BLOCK = re.compile(r"\A(\s*---(?:\r\n|\r|\n))([\s\S]*?)((?:\r\n|\r|\n)---[ \t]*(?:\r\n|\n|\Z))")
"""The metadata of a card, as huggingface_hub finds it."""
_MENTIONS_KEY = re.compile(rf"^['\"]?{_KEY}['\"]?[ \t]*:", re.MULTILINE)
_HAS_OTHER_FORM = re.compile(r"(?:[ \t]*(?:#[^\r\n]*)?[\r\n])*(?:[ \t]+[^\s#]|\{)")
_LARGEST_CARD = 1 << 24
_CARD, _ENTRIES = ".md", (".yaml", ".yml")


def write_model_card(
    runs: Sequence[RunFolder],
    path: Path,
    *,
    suite: Suite | None = None,
    model: str | None = None,
    dataset: str | None = None,
) -> None:
    """Writes the results of a model's runs for the Hub; equal runs and arguments give equal files."""
    ending = path.suffix.lower()
    if ending not in (_CARD, *_ENTRIES):
        raise PfgenError(f"{path}: expected a model card such as README.md, or a file that ends with .yaml")
    if ending != _CARD and dataset is None:
        raise PfgenError(f"{path}: name the dataset of the benchmark on the Hub (--dataset ORG/NAME)")
    check_folder(path.parent)
    scored = [_read(run, suite, model) for run in runs]
    if len({str((run.result.config or {}).get("model")) for run in scored}) != 1:
        raise PfgenError(f"{path}: the runs are of several models; choose the runs of one model")
    if ending == _CARD:
        _write_card(path, scored[0].model, [_result(run, dataset) for run in scored])
    else:
        write_whole(path, utf8(_yaml_text([_entry(run, str(dataset)) for run in scored])))


# --- runs


@dataclass(frozen=True)
class _Scored:
    """A run with its checked result and how the scores were made."""

    model: str
    result: RunResult
    suite_name: str  # without the directories above it
    settings: dict[str, Any]
    date: datetime.datetime | None  # of the newest answer, in UTC
    figures: dict[str, tuple[float, float | None, float | None]]  # score and parts, with their 95 % intervals


def _read(run: RunFolder, suite: Suite | None, model: str | None) -> _Scored:
    """Reads a run; raises TrialsError unless its result.json is that of its answers."""
    path = run.folder / "result.json"
    again = f"'pfgen-fast score {run.folder}'"
    if not path.is_file():
        raise TrialsError(f"{run.folder}: no result.json; {again} writes it")
    result = read_result(path)
    by_question = {question_id: question.scores for question_id, question in result.questions.items()}
    recorded = entry_of(result, by_question, run_name(run.folder), path).config
    name = model or recorded.get("model")
    if not isinstance(name, str) or not name.strip():
        raise TrialsError(f"{run.folder}: config.json names no model; name it as on the Hub (--model ORG/NAME)")
    trials = Trials.of(run)
    suite = suite_of(run.folder, suite)
    config = run.config()
    is_stripped = recorded.get("scored_reasoning") == "strip"
    used = {**(config or {}), "scored_reasoning": "strip"} if is_stripped else config
    changed = changes(result, trials.input_hash, suite.metadata_hash, used)
    if changed:
        raise TrialsError(f"{path}: {', '.join(changed)} differs from what was scored; {again} scores it again")
    stamps = (trials.trial(row).get("timestamp") for row in range(len(trials)))
    dates = (_parsed_date(stamp) for stamp in stamps if isinstance(stamp, str))
    date = max((date for date in dates if date is not None), default=None)
    trials = trials_of(suite, trials)
    check_all_answered(trials, suite)
    trials = stripped(trials, config) if is_stripped else trials
    for profile in PROFILES:
        scorer = Scorer(suite, profile=profile)
        table = scorer.score(trials.lines.questions, trials.lines.answers)
        _, table, problem = with_recorded_sum(path, trials, table, used)
        if problem is None:
            break
    else:
        raise TrialsError(f"{path}: its figures are not those of its answers; {again} scores it again")
    float_sum = table.float_sum
    below, *above = reversed(re.split(r"[/\\]", suite.name))
    suite_name = above[0] if below == "data" and above else below  # `data/` has the name of its checkout
    settings = {
        "signature": table.signature,
        "suite": suite_name,
        "suite_hash": suite.metadata_hash,
        "profile": profile,
        "float_sum": float_sum,
        "num_questions": len(result.questions),
        "num_trials": result.num_trials,
        "input_hash": result.input_hash,
        "config": dict(recorded),
    }
    figures = {}
    for figure in ("average", *PARTS):
        interval = mean_interval([scores.total(figure, float_sum) for scores in by_question.values()])
        value = result.score if figure == "average" else round(result.scores.total(figure, float_sum), 5)
        low, high = (end if end is None else round(end, 5) for end in (interval.low, interval.high))
        figures["score" if figure == "average" else figure] = value, low, high
    return _Scored(name, result, suite_name, settings, date, figures)


def _parsed_date(text: str) -> datetime.datetime | None:
    """A date in ISO 8601, converted to UTC; a date without a time zone is in UTC."""
    text = re.sub(r"\.(\d+)", lambda match: f".{match[1][:6]:0<6}", text)  # as Python 3.10 expects it
    try:
        date = datetime.datetime.fromisoformat(f"{text[:-1]}+00:00" if text.endswith("Z") else text)
        zone = datetime.timezone.utc
        return date.replace(tzinfo=zone) if date.tzinfo is None else date.astimezone(zone)
    except (ValueError, OverflowError):
        return None


# --- .eval_results


def _entry(run: _Scored, dataset: str) -> dict[str, Any]:
    """An entry for a run; the notes have what the format has no other place for."""
    organization, name, *task = dataset.split("/", 2) if "/" in dataset else ("", dataset)
    return {
        "dataset": {"id": f"{organization}/{name}" if organization else name, "task_id": "".join(task) or "default"},
        "value": run.result.score,
        **({} if run.date is None else {"date": run.date.isoformat().replace("+00:00", "Z")}),
        "notes": "; ".join(
            [
                *(
                    f"{name} {value:g}, "
                    + ("without an interval" if low is None else f"95 % interval {low:g} to {high:g}")
                    for name, (value, low, high) in run.figures.items()
                ),
                run.settings["signature"],
                f"suite {in_one_line(run.suite_name)}, hash {run.settings['suite_hash']}",
                f"{run.settings['num_questions']} questions, {run.result.num_trials} trials of each",
                f"config {json_text(run.settings['config'])}",
            ]
        ),
    }


# --- model cards


def _result(run: _Scored, dataset: str | None) -> dict[str, Any]:
    mode = run.settings["config"].get("mode")
    benchmark = run.suite_name if run.suite_name.startswith("pfgen") else f"pfgen-{run.suite_name}"
    return {
        "task": {"type": "text-generation", "name": "Text generation"},
        "dataset": {
            "type": dataset or benchmark,
            "name": run.suite_name,
            **({"config": mode} if isinstance(mode, str) else {}),
            "args": {**run.settings, **({} if run.date is None else {"date": run.date.isoformat()})},
        },
        "metrics": [
            {
                "type": f"pfgen-{name}",
                "name": name.capitalize(),
                "value": value,
                **({} if low is None else {"args": {"low": low, "high": high, "confidence": 0.95}}),
            }
            for name, (value, low, high) in run.figures.items()
        ],
    }


def _write_card(path: Path, model: str, results: list[dict[str, Any]]) -> None:
    """Replaces our results in a card, or adds them; everything else stays as it is."""
    before = path.stat() if path.exists() else None
    if before is not None and before.st_size > _LARGEST_CARD:
        raise PfgenError(f"{path}: too large for a model card")
    try:
        card = path.read_bytes().decode() if before is not None else ""
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
    added = _yaml_text({_KEY: _merged(index, model, results)}).replace("\n", newline)
    new = f"{kept}{newline if kept.strip() else ''}{added}".removesuffix(newline)
    begin, end = (block[1], block[3]) if block else (f"---{newline}", f"{newline}---{newline}")
    with writing_whole(path, original=before) as file:
        file.write(utf8(f"{mark}{begin}{new}{end}{card[block.end() :] if block else card}"))


def _without_index(metadata: str, path: Path) -> tuple[str, list[Any]]:
    """The metadata without the lines of its index, and this index."""
    yaml = _yaml()
    try:
        root, values = yaml.compose(metadata, Loader=yaml.SafeLoader), yaml.safe_load(metadata)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        problem = getattr(error, "problem", None) or "too deep or with an invalid value"
        raise PfgenError(f"{path}: its metadata is not valid YAML: {problem}") from None
    index = values.get(_KEY) if isinstance(values, dict) else None
    if not isinstance(index, list) or not all(
        isinstance(entry, dict) and isinstance(entry.get("results"), list) for entry in index
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
    merged = [
        {**entry, "results": [result for result in entry["results"] if _identity(result) not in ours]}
        for entry in index
    ]
    own = next((entry for entry in merged if entry.get("name") == model), merged[0] if len(merged) == 1 else None)
    if own is None:
        return [*merged, {"name": model, "results": results}]
    own["results"] += results
    return merged


def _identity(result: Any) -> list[Any]:
    """What tells results of a model apart."""
    parts = [result.get(key) if isinstance(result, dict) else None for key in ("task", "dataset")]
    task, dataset = (part if isinstance(part, dict) else {} for part in parts)
    return [task.get("type"), dataset.get("type"), dataset.get("config")]


def _yaml() -> Any:
    return optional("yaml", extra="cards", needed_for="a model card")


def _yaml_text(value: Any) -> str:
    """YAML in block style, without aliases; lone surrogates in texts become escapes."""
    yaml = _yaml()

    class Dumper(yaml.SafeDumper):  # type: ignore[misc, name-defined]  # PyYAML is optional
        def ignore_aliases(self, data: Any) -> bool:
            return True

        def represent_text(self, text: str) -> Any:
            text = utf8(text).decode()
            style = None if text.isprintable() else '"'  # in which PyYAML escapes every kind of line break
            return self.represent_scalar("tag:yaml.org,2002:str", text, style)

    Dumper.add_representer(str, Dumper.represent_text)
    text: str = yaml.dump(value, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=1 << 30)
    return text
