"""The kinds of damage by name, with their levels and ladders of degrees; and the known name for any name of a user's.

Rules: docs/discernment_rules.md. A kind's name is part of the seed of its random choices, so it can never change.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from ...base.errors import DiscernmentError
from ...base.untrusted_text import unknown_name

Level = Literal["character", "word", "sentence", "control"]
Method = Literal["rule", "model"]
Need = Literal["donors", "alternative"]

LEVELS: tuple[Level, ...] = ("character", "word", "sentence", "control")

LADDERS: Mapping[str, tuple[int, ...]] = {
    "fine": (10, 30, 70, 150, 300),
    "words": (50, 100, 200, 350, 500),
    "coarse": (200, 400, 600, 800, 1000),
    "cut": (100, 200, 400, 600, 800),
    "once": (1000,),
}
"""Degrees in per mille of the sites of a kind in a text."""

MODEL_DEGREES = ("minor", "major")
"""The degrees of the kinds that a language model makes."""


class Impossible(enum.IntEnum):
    """The reason why a text cannot be damaged; the first reason that applies."""

    NO_SITE = 1  # the text has no site of the kind
    TOO_FEW_SITES = 2  # the text has too few sites for the kind or the degree
    NO_CANDIDATE = 3  # there is no other text, no alternative or no usable reply
    UNCHANGED = 4  # the text would be the same
    NOTHING_LEFT = 5  # only white space would be left


@dataclass(frozen=True)
class Kind:
    """A way of damaging a text."""

    name: str
    level: Level  # level of the damage; `control` for changes that should not matter
    words: str  # what is done to a text, for readers, with the sites of a degree in braces: `{words} doubled`
    japanese: str = ""  # the same in Japanese, without degrees; empty for controls
    ladder: str | None = None  # usual degrees, a key of `LADDERS`; None for controls, and for kinds that a model makes
    method: Method = "rule"  # whether a rule or a language model makes the damaged text
    needs: Need | None = None  # other input of the rule: texts of other items, or the item's alternative
    all_sites: str | None = None  # words for 1,000 per mille; by default `all` and the sites

    @property
    def has_degrees(self) -> bool:
        """Whether the kind is made by a rule and has degrees."""
        return self.method == "rule" and self.ladder not in (None, "once")

    @property
    def model_degrees(self) -> tuple[str, ...]:
        """The names of the degrees of a kind that a model makes; a control has one degree without a name."""
        return ("",) if self.level == "control" else MODEL_DEGREES


_ALL = (
    Kind("char_delete", "character", "{characters} deleted", "文字を削除", "fine"),
    Kind("char_typo", "character", "{characters} mistyped", "文字を打ち間違い", "fine"),
    Kind("char_swap", "character", "{character pairs} swapped", "隣り合う文字を入れ替え", "fine"),
    Kind("char_repeat", "character", "{characters} doubled", "文字を二重に", "fine"),
    Kind("word_delete", "word", "{words} deleted in a row", "連続する単語を削除", "words"),
    Kind("word_drop", "word", "{words} deleted here and there", "所々の単語を削除", "words"),
    Kind("word_swap", "word", "{word pairs} swapped", "隣り合う単語を入れ替え", "words"),
    Kind("word_repeat", "word", "{words} doubled", "単語を二重に", "words"),
    Kind("number_change", "word", "{numbers} changed", "数値を変更", "coarse"),
    Kind("term_swap", "word", "{terms} exchanged", "用語を別の用語に交換", "coarse", needs="donors"),
    Kind("function_word", "word", "{function words} exchanged", "助詞・前置詞などを交換", "coarse"),
    Kind("negate", "word", "{statements} negated", "文を否定", "coarse"),
    Kind("sentence_reorder", "sentence", "{sentences} reordered", "文の順序を変更", "coarse"),
    Kind("sentence_delete", "sentence", "{sentences} deleted", "文を削除", "coarse", all_sites="all sentences but one"),
    Kind("sentence_repeat", "sentence", "{sentences} doubled", "文を二重に", "coarse"),
    Kind(
        "sentence_insert",
        "sentence",
        "{sentences} followed by a foreign one",
        "無関係な文を挿入",
        "coarse",
        needs="donors",
    ),
    Kind("answer_swap", "sentence", "text replaced by another", "全体を別の文章に交換", "once", needs="donors"),
    Kind("wrong_ending", "sentence", "ending replaced by a wrong one", "誤った結末に交換", "once", needs="alternative"),
    Kind("truncate", "sentence", "{characters} cut off the end", "末尾を切り落とし", "cut"),
    Kind(
        "loop", "sentence", "{characters} added by a loop", "反復を追加", "coarse", all_sites="as many characters again"
    ),
    Kind("fictional_entity", "word", "invented names", "架空の名称に変更", method="model"),
    Kind("grammar_error", "word", "grammar errors", "文法の誤りを追加", method="model"),
    Kind("rewrite_insert", "sentence", "sentences repeated in other words", "言い換えを挿入", method="model"),
    Kind("identity", "control", "same text scored again"),
    Kind("newline", "control", "line break at the end"),
    Kind("punctuation", "control", "other punctuation marks"),
    Kind("width", "control", "full-width letters and digits"),
    Kind("paraphrase", "control", "paraphrase of the whole text", method="model"),
)

KINDS: Mapping[str, Kind] = {kind.name: kind for kind in _ALL}
"""All kinds by name."""

ALIASES: Mapping[str, str] = {"random_ending": "answer_swap", "random_answer": "answer_swap"}
"""The paper's names of our kinds."""


def rule_of(name: str) -> str:
    """The key of `KINDS` that the name of a kind stands for; the name itself if it is unknown."""
    return ALIASES.get(name, name)


@dataclass(frozen=True)
class Perturbation:
    """A kind of damage with its degree.

    Attributes:
        kind: The kind: a key of `KINDS` or of `ALIASES`, or any name if the damaged texts are given.
        degree: The name of the degree: the per mille (`30`), `k` and a number (`k5`), or the paper's name (`minor`);
            empty for controls.
        permille: The share of a text's sites that is damaged, in per mille; None if the degree is absolute.
        k: The number of sites that are damaged; None if the degree is relative.
        level: The level of the damage.
        method: The source of the damaged texts; `given` if they come with the items or with a table of scores.
    """

    kind: str
    degree: str = ""
    permille: int | None = None
    k: int | None = None
    level: Level = "word"
    method: Method | Literal["given"] = "rule"

    @property
    def name(self) -> str:
        """The kind and the degree, if it has one: `char_delete/30`."""
        return f"{self.kind}/{self.degree}" if self.degree else self.kind

    @property
    def rule(self) -> str:
        """The key of `KINDS` that the kind stands for; the kind itself if it is unknown."""
        return rule_of(self.kind)

    @property
    def is_control(self) -> bool:
        """Whether the change should not matter."""
        return self.level == "control"


def in_words(kind: str, degree: str = "", permille: int | None = None, k: int | None = None) -> str:
    """The damage for readers: `10 % of characters deleted`, or without a degree `characters deleted`.

    An unknown kind, whose texts were given, keeps its name.
    """
    known = KINDS.get(rule_of(kind))
    if known is None:
        return f"{kind} ({degree})" if degree else kind
    before, _, rest = known.words.partition("{")
    sites, _, after = rest.partition("}")
    if k is not None and sites:
        sites = f"{k:,} {sites.removesuffix('s') if k == 1 else sites}"
    elif permille == 1000 and sites:
        sites = known.all_sites or f"all {sites}"
    elif permille is not None and sites:
        sites = f"{permille / 10:g} % of {sites}"
    elif degree and permille is None:
        after += f" ({degree})"
    return f"{before}{sites}{after}"


TASKS = ("summarization", "story", "qa", "translation", "answers")
"""The known tasks; a collection may have other tasks."""

TASK_ALIASES: Mapping[str, str] = {
    "story completion": "story",
    "question answering": "qa",
    "summarisation": "summarization",
    "machine translation": "translation",
}
"""Other names of the tasks, in the form of `plain`."""


def plain(name: str) -> str:
    """A name in lower case, with one space for each run of separators."""
    return " ".join(name.replace("_", " ").replace("-", " ").casefold().split())


@lru_cache(1024)
def task_named(name: str) -> str:
    """The task that a name stands for: one of `TASKS`, or else the name itself."""
    form = plain(name)
    form = TASK_ALIASES.get(form, form)
    return form if form in TASKS else name


def metric_named(name: str) -> str:
    """A metric's name in the form for comparisons: `Answer quality` and `answer_quality` are the same."""
    return plain(name).replace(" ", "_")


def unknown(what: str, name: object, known: Iterable[str], *, where: str = "") -> DiscernmentError:
    """The error for an unknown name: it lists all known names, the nearest first."""
    place = f"{where}: " if where else ""
    return DiscernmentError(f"{place}{unknown_name(what, name, known)}")
