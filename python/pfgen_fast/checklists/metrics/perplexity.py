"""Perplexity of answers under a causal language model: how predictable a text is, not how good.

A text is cut into pieces of at most 512 tokens. The perplexity of a piece is exp of the mean negative log-likelihood of
its tokens from the second token on, without the context of earlier pieces. The perplexity of the text is the mean over
its pieces. Pieces of one token are left out.
"""

from __future__ import annotations

import math
from typing import Any

from ...files.untrusted_text import in_one_line
from ...generation.engines.transformers import checked_device, loaded_model

WINDOW = 512
"""The number of tokens of a piece in the published figures; GPT-2 would allow 1,024."""


class Perplexity:
    """Computes perplexities with a model that `AutoModelForCausalLM` loads."""

    def __init__(self, model: str, *, device: str | None = None, dtype: str = "float32", window: int = WINDOW) -> None:
        self._device = checked_device(device, "perplexity")
        self._tokenizer, self._model = loaded_model(model, dtype, self._device)
        room = getattr(self._model.config.get_text_config(), "max_position_embeddings", None)
        self._window = window if room is None else min(window, room)
        self.signature = f"ppl:{in_one_line(model, 200)}|{dtype}|{self._device}|window={self._window}"

    def __call__(self, text: str) -> float | None:
        """The perplexity of a text; None without a piece of two tokens, or if it overflows."""
        import torch

        encodable = text.encode("utf-8", "replace").decode()  # tokenizers refuse lone surrogates
        tokens = self._tokenizer(encodable, add_special_tokens=False, verbose=False)["input_ids"]
        found = []
        with torch.inference_mode():
            for start in range(0, len(tokens), self._window):
                piece: Any = torch.tensor([tokens[start : start + self._window]], device=self._device)
                if piece.shape[1] > 1:
                    logits = self._model(piece).logits[0, :-1].float()
                    found.append(float(torch.nn.functional.cross_entropy(logits, piece[0, 1:])))
        try:
            return math.fsum(map(math.exp, found)) / len(found) if found else None
        except OverflowError:
            return None
