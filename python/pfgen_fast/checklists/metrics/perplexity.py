"""Perplexity of answers under a causal language model: how predictable a text is, whatever it is worth.

A text is cut into pieces of at most 512 tokens, one after the other; the perplexity of a piece is exp of the mean
negative log-likelihood of its tokens from the second on; the figure of the text is the plain mean over its pieces.
Pieces of one token are left out. Pieces do not see each other.
"""

from __future__ import annotations

import math
from typing import Any

from ...files.untrusted_text import in_one_line
from ...generation.engines.transformers import checked_device, loaded_model

WINDOW = 512
"""The tokens of a piece; as published, although GPT-2 has room for twice as many."""


class Perplexity:
    """Computes perplexities with a model that `AutoModelForCausalLM` loads."""

    def __init__(self, model: str, *, device: str | None = None, dtype: str = "float32", window: int = WINDOW) -> None:
        self._device = checked_device(device, "perplexity")
        self._tokenizer, self._model = loaded_model(model, dtype, self._device)
        room = getattr(self._model.config.get_text_config(), "max_position_embeddings", None)
        self._window = window if room is None else min(window, room)
        self.signature = f"ppl:{in_one_line(model, 200)}|{dtype}|{self._device}|window={self._window}"

    def __call__(self, text: str) -> float | None:
        """The perplexity of a text; None without a piece of two tokens, or if it is beyond all numbers."""
        import torch

        encodable = text.encode("utf-8", "replace").decode()  # tokenizers refuse lone surrogates
        tokens = self._tokenizer(encodable, add_special_tokens=False, verbose=False)["input_ids"]
        pieces = [tokens[start : start + self._window] for start in range(0, len(tokens), self._window)]
        found = []
        with torch.inference_mode():
            for piece in pieces:
                if len(piece) > 1:
                    found.append(self._of_piece(piece))
        try:
            return math.fsum(map(math.exp, found)) / len(found) if found else None
        except OverflowError:
            return None

    def _of_piece(self, piece: list[int]) -> float:
        """The mean negative log-likelihood of the tokens of a piece but the first."""
        import torch

        tokens: Any = torch.tensor([piece], device=self._device)
        logits = self._model(tokens).logits[0, :-1].float()
        return float(torch.nn.functional.cross_entropy(logits, tokens[0, 1:]))
