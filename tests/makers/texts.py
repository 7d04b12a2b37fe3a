"""Hypothesis strategies for texts with rare cases of the rules of damage, and for the other input of the rules.

Texts are drawn from pieces, of which each makes a case of some rule likely, and from any code points.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hypothesis import strategies as st
from pfgen_fast.discernment.damage import RULES, perturbed
from pfgen_fast.discernment.damage.donors import Donors
from pfgen_fast.discernment.damage.text_reading import LANGUAGES, TextReading
from pfgen_fast.discernment.kinds import ALIASES, KINDS, LADDERS, Impossible
from pfgen_fast.discernment.plan import Perturbation


def _listed(pieces: str) -> list[str]:
    return pieces.split()


# Each of these makes some case of the rules likely.
_WHITE_SPACE = "  \u3000\t\n\r\x0b\x1c\x1f\x85\xa0\u2028\u2009"
_JOINING = "\u0301\u0308\u3099\u309a\u0903\u20dd\u200c\u200d\u200d\ufe0f\U000e0100\U0001f3fb\U0001f3fd"
_SPECIAL = ["\x00", "\ud800", "\udfff", "\ud83d\ude00", "\u202e", "\ufeff", "\U0010ffff", "👩\u200d🔬", "✌🏽"]
_CASED = "ſıİKẞßΣςǅǄŉÉéªºАя"
_NUMERIC = "0９٣²½Ⅷ①〇一𝟘"
_SIGNS = "、。．！？!?.,;:」』）)]”’\"'“‘「『（([{・ー-_…"

_CONTENT_JA = _listed("""
    氷 山 水が 温度 富士山 日本 学問 末永 土地 アイス ドア ガラス カー ヨーグルト ｱｲｽ ﾊﾞｽ 々 〆切 〇 𠮷 ABC Ｂ２
    ー あー アー らーめん ゃっぱ ヴヵヷ がぎぱ ほぼ ン １９９８ 12
""")
_PARTICLES = _listed("は が を に で と も へ の や は、 には が、")
_PREDICATES = _listed("""
    です である でした できます できる ます ました される する なる ある ではありません ではない じゃない できない
    されません ありません ません しない ならない ませんでした
""")
_BEHIND = ["", "\n", *_listed("ため が ので こと と か 人 、")]
_ENDS_JA = ["。", "。", "．", "！", "？」", "!)", "。」\n", "\n", "\n\n", "。 ", "。”", ""]

_CONTENT_EN = _listed("""
    ice Ice Mars Venus NASA IT I I'm A Mars's O’Hara Oslo-Nord École U.S. 1998 9 0 007 rock-'n'-roll x_y cafe\u0301 café
    Ｂａr iſ İS ıs a an the The THE in On to with he She they these That his do Does e.g. Dr. (mr. etc. "No. “vs. [fig.
    J. (K. AB. approx. mt. St. "Tea?" 'Yes', ('two') {"x"} aunt's ’tis
""")
_NEGATED = _listed("""
    cannot CANNOT can CAN Can can't Can’t won't WON'T don’t Isn't is was may Might must doesn't did ain't had
""")
_NEGATED += ["IS NOT", "was not", "have to", "Has to", "have  to", "is nothing", "may not", "could n't"]
_ENDS_EN = [". ", ". ", "! ", "? ", "... ", '." ', ".) ", "?!\n", "\n", "\n\n", ". (", '. "', ".", ".  7", "; ", ""]


def _chosen(*often: tuple[int, st.SearchStrategy[str]]) -> st.SearchStrategy[str]:
    """One of the strategies, each as often as said."""
    return st.one_of(*(strategy for times, strategy in often for _ in range(times)))


@st.composite
def _anything(draw: st.DrawFn) -> str:
    """One of the rare parts, or any code point."""
    pieces = draw(st.sampled_from([_WHITE_SPACE, _JOINING, _SPECIAL, _CASED, _NUMERIC, _SIGNS, None]))
    return draw(st.characters() if pieces is None else st.sampled_from(pieces))


_CLAUSES_JA = st.tuples(st.sampled_from(_CONTENT_JA), st.sampled_from(_PARTICLES)).map("".join)
_PREDICATES_JA = st.tuples(*map(st.sampled_from, (_CONTENT_JA, _PREDICATES, _BEHIND))).map("".join)
_PIECES = {
    "ja": _chosen((3, _CLAUSES_JA), (2, _PREDICATES_JA), (1, st.sampled_from(_CONTENT_JA)), (1, _anything())),
    "en": _chosen((3, st.sampled_from(_CONTENT_EN)), (2, st.sampled_from(_NEGATED)), (1, _anything())),
}
_BEGINNINGS = ["", "", "", "\n", " \n \n", "\u3000", "\n\u0301", " \u0301", "\u200d"]
_ENDS = {"ja": st.sampled_from(_ENDS_JA), "en": st.sampled_from(_ENDS_EN)}


@st.composite
def _sentences(draw: st.DrawFn, language: str) -> str:
    pieces = draw(st.lists(_PIECES[language], min_size=1, max_size=8))
    return ("" if language == "ja" else " ").join(pieces) + draw(_ENDS[language])


@st.composite
def texts(draw: st.DrawFn, language: str, max_sentences: int = 6) -> str:
    """A text of a language, in which code points may join any character; sometimes one of any code points."""
    if draw(st.integers(0, 9)) == 0:
        return "".join(draw(st.lists(_anything(), max_size=20)))
    text = "".join(draw(st.lists(_sentences(language), min_size=1, max_size=max_sentences)))
    if draw(st.integers(0, 1)) == 0:
        return text
    text = draw(st.sampled_from(_BEGINNINGS)) + text
    for place, joining in draw(st.lists(st.tuples(st.integers(0, len(text)), st.sampled_from(_JOINING)), max_size=4)):
        text = text[:place] + joining + text[place:]
    return text + draw(st.sampled_from(["", "", "\u200d", "\u200d", "\n", " "]))


def parts(text: str, language: str, what: str) -> list[str]:
    """The characters, words or sentences of a text."""
    reading = TextReading(text, language)
    return [reading.of(part) for part in getattr(reading, what)]


ALL_KINDS = (*RULES, *ALIASES)
"""All kinds that a rule makes, with their other names."""


@dataclass(frozen=True)
class Case:
    """What `perturbed` is called with."""

    text: str
    kind: str
    degrees: tuple[Perturbation, ...]
    seed: int
    language: str
    donors: tuple[str, ...] = ()
    alternative: str | None = None

    def outcomes(self) -> list[str | Impossible]:
        return perturbed(**vars(self) | {"donors": Donors(self.donors)})


def languages() -> st.SearchStrategy[str]:
    return st.sampled_from(LANGUAGES)


def seeds() -> st.SearchStrategy[int]:
    return st.one_of(st.integers(0, 9), st.integers(0, (1 << 64) - 1))


def permilles() -> st.SearchStrategy[int]:
    return st.one_of(st.sampled_from([*LADDERS["fine"], *LADDERS["coarse"]]), st.integers(1, 1000))


def degrees() -> st.SearchStrategy[Callable[[str], tuple[Perturbation, ...]]]:
    """Degrees of any kind in any order, per mille and absolute."""
    both = st.one_of(
        st.tuples(permilles(), st.none()), st.tuples(st.none(), st.one_of(st.integers(1, 6), st.integers(1, 200)))
    )
    return st.lists(both, min_size=1, max_size=4).map(degrees_by_kind)


def degrees_by_kind(amounts: Sequence[tuple[int | None, int | None]]) -> Callable[[str], tuple[Perturbation, ...]]:
    """Degrees, given per mille or as numbers, as a function of the kind."""

    def degrees_of(kind: str) -> tuple[Perturbation, ...]:
        if not KINDS[ALIASES.get(kind, kind)].has_degrees:
            return (Perturbation(kind),)
        return tuple(
            Perturbation(kind, f"k{k}" if k else str(permille), permille=permille, k=k) for permille, k in amounts
        )

    return degrees_of


@st.composite
def donors(draw: st.DrawFn, text: str, language: str) -> tuple[str, ...]:
    """Texts in any order, some of them twice, perhaps with the text itself or its sentences."""
    own = st.sampled_from([text, *parts(text, language, "sentences")])
    others = texts(language, 4)
    found = draw(st.lists(st.one_of(others, others, own), min_size=draw(st.sampled_from([0, 1, 1, 2, 4])), max_size=4))
    return tuple(found + found[: draw(st.integers(0, 1))])


@st.composite
def cases(draw: st.DrawFn, kinds: Sequence[str] = ALL_KINDS) -> list[Case]:
    """A text, damaged by each of the kinds, with all that they may need.

    Drawing a text takes much longer than damaging it, so that all kinds have the same.
    """
    language = draw(languages())
    text, degrees_of, seed = draw(texts(language)), draw(degrees()), draw(seeds())
    needs = {KINDS[ALIASES.get(kind, kind)].needs for kind in kinds}
    donated = draw(donors(text, language)) if "donors" in needs else ()
    alternatives = st.one_of(st.none(), st.just(text), st.just(" \n"), texts(language, 2))
    alternative = draw(alternatives) if "alternative" in needs else None
    return [Case(text, kind, degrees_of(kind), seed, language, donated, alternative) for kind in kinds]
