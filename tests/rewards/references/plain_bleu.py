"""BLEU as BLEUBERI rewards it, in plain Python: the rule that the core has to equal, and to be faster than.

The references: scripts/bleu.py of tensorflow/nmt at 0be8642, with `smooth`, as the BLEU metric of `evaluate` calls it.
"""

import math
from collections import Counter

ORDER = 4


def _ngrams(tokens):
    return Counter(tuple(tokens[i : i + n]) for n in range(1, ORDER + 1) for i in range(len(tokens) - n + 1))


def nmt_bleu(answer, references):
    """Smoothed BLEU of lists of tokens; an answer without tokens has 0, an empty reference no brevity penalty."""
    if not answer:
        return 0.0
    most = Counter()
    for reference in references:
        most |= _ngrams(reference)
    matches = Counter()
    for ngram, n in (_ngrams(answer) & most).items():
        matches[len(ngram)] += n
    precisions = [(matches[n] + 1.0) / (max(len(answer) - n + 1, 0) + 1.0) for n in range(1, ORDER + 1)]
    shortest = min(map(len, references))
    brevity = 1.0 if len(answer) > shortest else math.exp(1 - 1.0 / (len(answer) / shortest))
    return math.exp(sum((1.0 / ORDER) * math.log(precision) for precision in precisions)) * brevity


def harmonic_mean(bleu, rouge):
    """BLEUBERI's combination of BLEU and F of ROUGE-L."""
    return 2 * bleu * rouge / (bleu + rouge) if bleu + rouge > 0 else 0.0
