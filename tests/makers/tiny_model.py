"""Small byte-level BPE tokenizers, and a tiny Llama with random weights, for tests of local models."""

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pfgen_fast import Suite
from pfgen_fast.suite.units import FileTokenizer

CHAT_TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


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


def write_tiny_model(folder: Path, suite: Suite, *, chat_template: str | None = CHAT_TEMPLATE) -> Path:
    """Makes a model that gives a different answer to every prompt, in characters of the suite."""
    import torch
    from tokenizers import decoders
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    special = ["<|end|>", "<|pad|>", "<|system|>", "<|user|>", "<|assistant|>"]
    texts = [text for question in suite for text in question.answers["A"][:50]]
    raw = trained_tokenizer(texts, vocab_size=600, special_tokens=special)
    raw.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, eos_token="<|end|>", pad_token="<|pad|>")
    tokenizer.chat_template = chat_template
    tokenizer.save_pretrained(folder)

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=8192,
        initializer_range=0.3,  # with the default of 0.02, all tokens would be almost equally likely for any prompt
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder
