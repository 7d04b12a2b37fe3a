"""A small byte-level BPE tokenizer, trained and written by the package `tokenizers`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pfgen_fast.suite.units import FileTokenizer


def trained_tokenizer(texts: Iterable[str], **options: Any) -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(initial_alphabet=alphabet, show_progress=False, **options)
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def write_tokenizer(path: Path, texts: Sequence[str]) -> FileTokenizer:
    """Trains a tokenizer on the texts and writes it."""
    trained_tokenizer(list(texts) * 5, vocab_size=320).save(str(path))
    return FileTokenizer(path, hashlib.sha1(path.read_bytes()).hexdigest())
