"""The tokenizers of sacrebleu, rouge_score and SQuAD by their libraries, and pieces of texts that their rules treat."""

import re
import string

from hypothesis import strategies as st
from rouge_score.tokenize import tokenize
from sacrebleu.metrics.bleu import _get_tokenizer


def squad_tokens(text):
    """What `normalize_answer` of SQuAD's evaluation script leaves."""
    kept = "".join(c for c in text.lower() if c not in set(string.punctuation))
    return re.sub(r"\b(a|an|the)\b", " ", kept).split()


def _of_sacrebleu(name):
    tokenizer = _get_tokenizer(name)()
    return lambda text: tokenizer(text.rstrip()).split()


TOKENIZERS = {name: _of_sacrebleu(name) for name in ("none", "char", "13a", "intl", "zh")}
TOKENIZERS |= {"rouge": lambda text: tokenize(text, None), "squad": squad_tokens}

PIECES = [*"aAthe anTHE.,.,-59 \n&<>;'_$", "&quot;", "&amp;", "&lt;", "&gt;", "<skipped>", "-\n", "amp;", " the "]
PIECES += ["1.5", "5,", ".9", "a..5", "5-", "5-3", "&amp;lt;", "AΣ", "e.", " a ", "An"]
PIECES += [*"\u2001\u3000\x1c\x85あ５、。ΣσİK\u0301²€·’́ß"]
LIKELY = st.sampled_from(PIECES)
