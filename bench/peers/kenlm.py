"""KenLM: a language model of the code points of a set. It scores otherwise: a reference line for look-ups a second.

No tool that estimates models comes with its Python package, so the ARPA file is written here: relative frequencies of
all n-grams of the set, and a constant for backing off.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import kenlm

ORDER = 5
_KEPT, _BACKOFF, _UNKNOWN = math.log10(0.9), math.log10(0.4), -7.0
_SPACES = str.maketrans(dict.fromkeys("\0\t\n\v\f\r ", "▁"))


class CodePointModel:
    """A backoff model of the n-grams of a set, in KenLM and in plain Python; its ARPA file is written to a folder."""

    def __init__(self, references: Sequence[str], folder: Path) -> None:
        self._log10 = _log10_probabilities([reference.translate(_SPACES) for reference in references])
        path = folder / "code_points.arpa"
        path.write_text("\n".join(_arpa(self._log10)), encoding="utf-8")
        config = kenlm.Config()
        config.show_progress = False
        config.arpa_complain = kenlm.ARPALoadComplain.NONE
        self._model = kenlm.Model(str(path), config)

    def score(self, answer: str) -> float:
        """KenLM's log10 probability: one query for each code point."""
        return self._model.score(" ".join(answer.translate(_SPACES)), bos=False, eos=False)  # type: ignore[no-any-return]

    def score_plainly(self, answer: str) -> float:
        """The same as the file defines it."""
        text = answer.translate(_SPACES)
        return math.fsum(self._query(text[max(i - ORDER + 1, 0) : i], text[i]) for i in range(len(text)))

    def _query(self, context: str, character: str) -> float:
        if context + character in self._log10[len(context)]:
            return self._log10[len(context)][context + character]
        if not context:
            return _UNKNOWN
        backoff = _BACKOFF if context in self._log10[len(context) - 1] else 0.0
        return backoff + self._query(context[1:], character)


def _log10_probabilities(texts: Sequence[str]) -> list[dict[str, float]]:
    counts = [Counter(text[i : i + n] for text in texts for i in range(len(text) - n + 1)) for n in range(ORDER + 1)]
    return [
        {ngram: math.log10(count / counts[n - 1][ngram[:-1]]) + _KEPT for ngram, count in counts[n].items()}
        for n in range(1, ORDER + 1)
    ]


def _arpa(log10: Sequence[dict[str, float]]) -> Iterator[str]:
    special = [f"{_UNKNOWN}\t<unk>", f"-99\t<s>\t{_BACKOFF}", f"{_UNKNOWN}\t</s>"]
    yield "\\data\\"
    for n, ngrams in enumerate(log10, start=1):
        yield f"ngram {n}={len(ngrams) + (len(special) if n == 1 else 0)}"
    for n, ngrams in enumerate(log10, start=1):
        yield f"\n\\{n}-grams:"
        yield from special if n == 1 else ()
        backoff = f"\t{_BACKOFF}" if n < ORDER else ""
        yield from (f"{probability}\t{' '.join(ngram)}{backoff}" for ngram, probability in ngrams.items())
    yield "\n\\end\\\n"
