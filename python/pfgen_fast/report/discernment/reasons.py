"""The rules of docs/scoring.md by which our scores miss damage, reward it, or penalise harmless changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_PREFIX = "only the best prefix of an answer counts, and a repeated n-gram counts once (docs/scoring.md, section 2)"
_PAST = "nothing past 149 characters raises it, and a repeated n-gram counts once (docs/scoring.md, section 2)"
_MEAN = "it is a mean over the characters that are there, so leaving out costs nothing (docs/scoring.md, section 3)"
_LOCAL = "it looks at three characters at a time, whatever their order in the answer (docs/scoring.md, section 3)"
_KNOWN = "three characters that reference answers have count fully, again and again (docs/scoring.md, section 3)"
_KEYWORDS = "it looks for keywords and for nothing else (docs/scoring.md, section 4)"
_FIRST = "a keyword counts where it is first found (docs/scoring.md, section 4)"
_AS_IS = "it compares code points, and nothing is normalised (docs/scoring.md)"
_NEW = "a character counts in full only where reference answers have it between the same neighbours, and there is no "
_NEWLINE = f"{_NEW}exception for line breaks (docs/scoring.md, section 3)"

_REASONS: Mapping[str, Mapping[str, str]] = {
    "fluency": {
        "loop": _PREFIX,
        "sentence_repeat": _PREFIX,
        "word_repeat": _PREFIX,
        "sentence_insert": _PAST,
        "punctuation": _AS_IS,
        "width": _AS_IS,
    },
    "truthfulness": {
        **dict.fromkeys(("truncate", "sentence_delete", "word_delete", "word_drop"), _MEAN),
        **dict.fromkeys(("sentence_reorder", "word_swap"), _LOCAL),
        **dict.fromkeys(("sentence_repeat", "word_repeat", "loop"), _KNOWN),
        "newline": _NEWLINE,
        "punctuation": _AS_IS,
        "width": _AS_IS,
    },
    "helpfulness": {
        **dict.fromkeys(("negate", "function_word", "number_change", "sentence_reorder", "word_swap"), _KEYWORDS),
        **dict.fromkeys(("loop", "sentence_repeat", "word_repeat", "sentence_insert"), _FIRST),
        "width": _AS_IS,
    },
}


def reasons(evaluator: str, metric: str, kinds: Sequence[str]) -> list[str]:
    """The rules that explain the verdicts of our metrics on some kinds, each after its kinds."""
    known = _REASONS.get(metric, {}) if evaluator == "ngram" else {}
    by_reason: dict[str, list[str]] = {}
    for kind in kinds:
        if kind in known:
            by_reason.setdefault(known[kind], []).append(kind)
    return [f"{', '.join(of)}: {reason}" for reason, of in by_reason.items()]
