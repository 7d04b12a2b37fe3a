"""Opens a plan: the usual plan, a plan of the DHP benchmark (arXiv 2408.13704), or a TOML file; selects parts of it.

The form of a file is described in docs/discernment.md, section Plans. The paper prints its results only as pictures, so
this module has no figures of it. `read_published` reads figures that somebody has read off the pictures. Claims are in
our words.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from ...base.errors import DiscernmentError, JudgingError
from ...base.untrusted_json import read_toml
from ...base.untrusted_text import few_names, in_one_line
from ..judging.judge_requests import Template
from .discernment_items import CollectionItem
from .discernment_plan import (
    Perturbation,
    Plan,
    degrees_of,
    kind_named,
    ordered,
    perturbation,
    perturbations_named,
    usual_plan,
)
from .kinds import ALIASES, KINDS, LEVELS, plain, rule_of, unknown
from .weights import cell, number_of, rows_of

_FACTS = Path(__file__).parents[2] / "data" / "discernment"

_GENERAL = ("all", "nearly all", "most")
"""Data sets of claims that name no data set."""

_STAND_INS = {
    "fictional_entity": ("term_swap", {"minor": 1, "major": 3}),
    "grammar_error": ("function_word", {"minor": 2, "major": 5}),
    "rewrite_insert": ("sentence_repeat", {"minor": 1, "major": 5}),
}
"""By kind that a model makes: the kind by rules that replaces it, and the number of changes.

If a text has fewer sites, all sites are taken.
"""

_FEWER_ERRORS = {("story", "minor"): 1, ("qa", "minor"): 1, ("qa", "major"): 3}
"""The number of grammatical errors in the short texts of some tasks."""

SCORES = ("d_average", "d_minimum", "weighted_average", "weighted_minimum")
"""The scores that the paper draws."""

_COLUMNS = ("dataset", "model", "score", "value")


@dataclass(frozen=True)
class Claim:
    """A result that the paper states in words."""

    datasets: tuple[str, ...]  # data sets of the claim; `all`, `nearly all` or `most` if the paper does not name them
    models: str
    scores: str
    claim: str  # result, in our words


def facts(name: str) -> list[Mapping[str, str]]:
    """The rows of a packaged table of the paper: `perturbations`, `datasets` or `claims`."""
    with (_FACTS / f"paper-{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@cache
def datasets() -> Mapping[str, str]:
    """The tasks of the data sets of the paper, by name of the data set."""
    return {row["dataset"]: row["task"] for row in facts("datasets")}


def find_dataset(name: str) -> str | None:
    """Finds a data set of the paper by its name in any case and with any separators; None if it is unknown."""
    return next((dataset for dataset in datasets() if plain(dataset) == plain(name)), None)


def dataset_named(name: str, *, where: str = "") -> str:
    """Finds a data set of the paper by its name; raises DiscernmentError if it is unknown."""
    dataset = find_dataset(name)
    if dataset is None:
        raise unknown("data set", name, datasets(), where=where)
    return dataset


def claims(dataset: str | None = None) -> tuple[Claim, ...]:
    """The claims of the paper: all claims, or the claims that concern a data set."""
    wanted = None if dataset is None else {dataset_named(dataset), *_GENERAL}
    listed = [(row["datasets"].split("; "), row) for row in facts("claims")]
    return tuple(
        Claim(tuple(names), row["models"], row["scores"], row["claim"])
        for names, row in listed
        if wanted is None or wanted.intersection(names)
    )


# --- plans


def paper_plan(dataset: str, *, rules_only: bool = False) -> Plan:
    """The perturbations of a data set of the paper; a single degree is called `minor`."""
    name = dataset_named(dataset)
    rows = [row for row in facts("perturbations") if row["dataset"] == name]
    kinds = {row["kind"] for row in rows}
    replaced = [f"{ours} stands in for {theirs}" for theirs, (ours, _) in _STAND_INS.items() if theirs in kinds]
    note = f"No language model damages texts: {', '.join(replaced)}."
    perturbations = tuple(_planned(row, rules_only=rules_only) for row in rows)
    return Plan(perturbations, f"paper: {name}", (note,) if rules_only else ())


def _planned(row: Mapping[str, str], *, rules_only: bool) -> Perturbation:
    kind, degree, k = row["kind"], "minor" if row["degree"] == "single" else row["degree"], row["k"]
    if row["method"] == "model":
        if not rules_only:
            return perturbation(kind, degree=degree)
        return perturbation(_STAND_INS[kind][0], k=n_changes(kind, row["task"], degree), degree=degree)
    if not kind_named(kind).has_degrees:
        return perturbation(kind)
    is_whole = k == "all"
    return perturbation(kind, permille=1000 if is_whole else None, k=None if is_whole else int(k), degree=degree)


def n_changes(kind: str, task: str, degree: str) -> int:
    """The number of changes that a prompt asks for."""
    fewer = _FEWER_ERRORS.get((task, degree)) if kind == "grammar_error" else None
    return fewer or _STAND_INS[kind][1][degree]


@dataclass(frozen=True)
class Published:
    """One figure of the paper."""

    dataset: str
    model: str
    score: str  # one of `SCORES`; compare it with our `printed_d`, at 100 items
    value: float


def read_published(path: str | Path) -> tuple[Published, ...]:
    """Reads figures of the paper from a table with the columns `dataset`, `model`, `score` and `value`."""
    table: dict[tuple[str, str, str], Published] = {}
    for where, row in rows_of(path, _COLUMNS):
        dataset = dataset_named(cell(row, "dataset", where), where=where)
        model = cell(row, "model", where)
        score = plain(cell(row, "score", where)).replace(" ", "_")
        if score not in SCORES:
            raise unknown("score", row["score"], SCORES, where=where)
        key = (dataset, model, score)
        if key in table:
            raise DiscernmentError(f"{where}: {score} of {in_one_line(model, 60)} on {dataset} is repeated")
        table[key] = Published(dataset, model, score, number_of(row.get("value"), "value", where))
    if not table:
        raise DiscernmentError(f"{path}: no figures; expected a figure in each row")
    return tuple(table.values())


USUAL = "usual"
"""The name of the usual plan."""

PLACEHOLDERS = ("text", "what", "language", "count")
"""The placeholders of prompts that ask a model for texts."""

_DEGREES = ("permille", "k", "degrees")


def open_plan(
    source: Plan | str | Path = USUAL,
    items: Iterable[CollectionItem] = (),
    *,
    kinds: Sequence[str] | None = None,
    levels: Sequence[str] | None = None,
    rules_only: bool = False,
) -> Plan:
    """Opens a plan, or a part of it, and adds the perturbations whose texts come with the items.

    Args:
        source: `usual`, the name of a data set of the paper (such as `SummEval`), a TOML file, or an opened plan.
        items: The items.
        kinds: Kinds, or perturbations such as `char_delete/30`, also if the plan lacks them; by default the whole plan.
        levels: The levels of the perturbations; by default all levels.
        rules_only: Whether kinds made by rules replace the kinds of the paper that need a language model.

    Raises:
        DiscernmentError: There is no such plan, or the file breaks the rules.
        TrialsError: The file cannot be read.

    Example:
        >>> open_plan("summeval").name, len(open_plan("summeval").perturbations)
        ('paper: SummEval', 12)
        >>> [change.name for change in open_plan(kinds=["negate/500", "newline"]).perturbations]
        ['negate/500', 'newline']
    """
    items, name = list(items), str(source)
    if isinstance(source, Plan):
        plan = source
    elif name == USUAL:
        plan = usual_plan(items)
    elif dataset := find_dataset(name.removeprefix("paper:")):
        plan = paper_plan(dataset, rules_only=rules_only).with_given(items)
    elif name.endswith(".toml"):
        plan = read_plan(Path(source)).with_given(items)
    else:
        raise unknown("plan", source, [USUAL, *datasets(), "FILE.toml"])
    for change in plan.perturbations if rules_only else ():
        if change.method == "model":
            raise DiscernmentError(
                f"{name}: {change.name} is made by a language model; expected only kinds made by rules"
            )
    for level in levels or ():
        if level not in LEVELS:
            raise unknown("level", level, LEVELS)
    if kinds is levels is None:
        return plan
    chosen = plan.perturbations if kinds is None else [change for kind in kinds for change in _named(kind, plan)]
    selected = ordered(change for change in chosen if levels is None or change.level in levels)
    if not selected:
        raise DiscernmentError("the plan is empty; expected at least one perturbation")
    return plan if selected == plan.perturbations else Plan(selected, f"{plan.name}, changed", plan.notes)


def read_plan(path: Path) -> Plan:
    """Reads a plan from a TOML file."""
    content = read_toml(path, error=DiscernmentError)
    _check_keys(content, ("name", "kinds"), str(path))
    name = content.get("name", path.stem)
    if not isinstance(name, str) or not name.strip():
        raise DiscernmentError(f"{path}: name: expected a text, not {in_one_line(repr(name), 40)}")
    kinds = content.get("kinds")
    if not isinstance(kinds, dict) or not kinds:
        raise DiscernmentError(f"{path}: kinds: expected a table with at least one kind, such as negate = {{}}")
    perturbations: list[Perturbation] = []
    for kind, options in kinds.items():
        where = f"{path}: kinds.{in_one_line(kind, 60)}"
        if not isinstance(options, dict):
            raise DiscernmentError(f"{where}: expected a table such as {{}} or {{ permille = [10, 30] }}")
        try:
            perturbations += _with_prompts(_of_kind(kind, options), options.get("prompt"))
        except (DiscernmentError, JudgingError) as error:
            problem = str(error).removeprefix(f"{kind}: ")
            raise DiscernmentError(f"{where}: {problem}") from None
    prompted = few_names([change.name for change in perturbations if change.prompt is not None], 5)
    notes = (f"The prompts of the plan replace the packaged prompts of {prompted}.",) if prompted else ()
    return Plan(ordered(perturbations), in_one_line(name, 80), notes)


def _named(name: str, plan: Plan) -> Iterable[Perturbation]:
    """The perturbations of the plan that a name stands for, or else the kind with its usual degrees."""
    own = [change for change in plan.perturbations if name in (change.name, change.kind)]
    kind = name.partition("/")[0]
    if own:
        return own
    if rule_of(kind) not in KINDS:
        raise unknown("kind", name, dict.fromkeys([*KINDS, *ALIASES, *plan.kinds]))
    return perturbations_named(name)


def _check_keys(table: Mapping[str, Any], known: Sequence[str], where: str) -> None:
    for key in table:
        if key not in known:
            raise unknown("key", key, known, where=where)


def _with_prompts(perturbations: Sequence[Perturbation], prompt: Any) -> Sequence[Perturbation]:
    """The perturbations of a kind with their prompts: a text, or a table of texts by degree."""
    degrees = [change.degree for change in perturbations]
    if prompt is None:
        return perturbations
    prompts = prompt if isinstance(prompt, dict) else dict.fromkeys(degrees, prompt)
    if sorted(prompts) != sorted(degrees) or (len(degrees) > 1 and prompts is not prompt):
        expected = ", ".join(f'{degree} = "..."' for degree in degrees)
        raise DiscernmentError(f"prompt: expected a prompt for each degree, as {{ {expected} }}")
    for text in prompts.values():
        if not isinstance(text, str):
            raise DiscernmentError(f"prompt: expected a text, not {in_one_line(repr(text), 40)}")
        checked_prompt(text)
    return [replace(change, prompt=prompts[change.degree]) for change in perturbations]


def _of_kind(kind: str, options: Mapping[str, Any]) -> Sequence[Perturbation]:
    known = kind_named(kind)
    _check_keys(options, (*_DEGREES, "prompt"), "")
    if known.method != "model" and not {"prompt", "degrees"}.isdisjoint(options):
        raise DiscernmentError("a rule makes the texts; expected permille or k, and no prompt and no names of degrees")
    degrees = {key: value for key, value in options.items() if key != "prompt"}
    if len(degrees) > 1:
        raise DiscernmentError(f"expected one of {', '.join(_DEGREES)}, not {' and '.join(degrees)}")
    for key, value in degrees.items():
        if not isinstance(value, list):
            raise DiscernmentError(f"{key}: expected a list of degrees, not {in_one_line(repr(value), 40)}")
        if key == "degrees":
            return [perturbation(kind, degree=str(degree)) for degree in value]
        if not known.has_degrees:
            raise DiscernmentError(f"the kind has no such degrees; expected {{}} instead of {key}")
        return degrees_of(kind, value, "permille" if key == "permille" else "k")
    return perturbations_named(kind)


@cache
def checked_prompt(text: str) -> Template:
    """The template of a plan's prompt; raises JudgingError if placeholders are unknown, or if it lacks `{text}`."""
    return Template.checked(text, placeholders=PLACEHOLDERS, needed=("text",))
