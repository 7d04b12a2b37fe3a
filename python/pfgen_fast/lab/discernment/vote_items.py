"""The items by which experts vote: for each kind of damage of a task, which metric should fall most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...base.errors import AnnotationError
from ...base.untrusted_text import unknown_name
from ..annotations.annotation_plan import Item
from ..evaluators.criteria import DEFAULT_TASK, Criteria
from .kinds import KINDS, LADDERS, Kind
from .perturbing import perturb

SAMPLES = {
    "ja": "富士山の高さは3776メートルで、日本で最も高い山です。夏には多くの人が登ります。",
    "en": "Ice floats on water. It isn't heavier than 1 litre of water, and the Arctic shows it.",
}
"""Texts that examples damage, by language."""

_JAPANESE = {
    "char_delete": "文字を削除",
    "char_typo": "文字を打ち間違い",
    "char_swap": "隣り合う文字を入れ替え",
    "char_repeat": "文字を二重に",
    "word_delete": "連続する単語を削除",
    "word_drop": "所々の単語を削除",
    "word_swap": "隣り合う単語を入れ替え",
    "word_repeat": "単語を二重に",
    "number_change": "数値を変更",
    "term_swap": "用語を別の用語に交換",
    "function_word": "助詞・前置詞などを交換",
    "negate": "文を否定",
    "sentence_reorder": "文の順序を変更",
    "sentence_delete": "文を削除",
    "sentence_repeat": "文を二重に",
    "sentence_insert": "無関係な文を挿入",
    "answer_swap": "全体を別の文章に交換",
    "wrong_ending": "結末を誤った結末に交換",
    "truncate": "末尾を切り落とし",
    "loop": "同じ部分を繰り返し追加",
    "fictional_entity": "架空の名称に変更",
    "grammar_error": "文法の誤りを追加",
    "rewrite_insert": "同じ内容を別の言い方で追加",
}
"""What is done to a text, in Japanese; `kinds` has it in English."""

DONORS = {
    "ja": ["琵琶湖は滋賀県にある湖です。", "カレーは辛い料理です。"],
    "en": ["Rain fell in Paris. The streets were wet.", "Mars is red."],
}


def example(kind: Kind, language: str) -> str | None:
    """The sample of a language, damaged by a kind that a rule makes; None if that is impossible."""
    degrees = LADDERS.get(kind.ladder or "", ())
    (damaged,) = perturb(
        [SAMPLES[language]],
        kind.name,
        permille=degrees[2] if kind.has_degrees else None,
        language=language,
        donors=DONORS[language],
        alternatives=DONORS[language][:1],
    )
    return damaged


def vote_items(criteria: Criteria, *, tasks: Sequence[str] = (), language: str = "en") -> list[Item]:
    """An item for each kind of damage of each task with several metrics; with one metric, there is nothing to vote."""
    for name in tasks:
        if name not in criteria.tasks:
            raise AnnotationError(f"--task: {unknown_name('task', name, criteria.tasks)}")
    chosen = tasks or [name for name, task in criteria.tasks.items() if name != DEFAULT_TASK and len(task.criteria) > 1]
    damage = [kind for kind in KINDS.values() if kind.level != "control"]
    examples: dict[str, str | None] = {
        kind.name: example(kind, language) if kind.method == "rule" else None for kind in damage
    }
    return [_item(criteria, task, kind, examples[kind.name], language) for task in chosen for kind in damage]


def _item(criteria: Criteria, task: str, kind: Kind, damaged: str | None, language: str) -> Item:
    words = _JAPANESE[kind.name] if language == "ja" else kind.words.replace("{", "").replace("}", "")
    metrics: list[Mapping[str, Any]] = []
    for metric, criteria_by_language in criteria.task(task).criteria.items():
        criterion = criteria_by_language.get(language) or next(iter(criteria_by_language.values()))
        metrics.append({"name": metric, "title": criterion.name, "text": criterion.definition.strip()})
    content = {
        "kind": "vote",
        "task": task,
        "perturbation": kind.name,
        "description": f"{criteria.what(task, language)}: {words}",
        "before": None if damaged is None else SAMPLES[language],
        "after": damaged,
        "metrics": metrics,
    }
    return Item("vote", f"vote\0{task}\0{kind.name}", content, (task, kind.level), ())
