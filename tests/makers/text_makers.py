"""A language model that damages texts, without a model: what it writes depends only on the prompt and the seed."""

from __future__ import annotations

import hashlib
import re

from pfgen_fast.lab.discernment.discernment_plan import Perturbation
from pfgen_fast.lab.discernment.model_damage_prompts import MADE


def text_in(prompt: str) -> str:
    """The text that a prompt of ours asks to change."""
    found = re.search(r"(?:\[Text\]|［文章］)\n(.*)\n(?:\[End of the text\]|［文章の終わり］)", prompt, re.DOTALL)
    assert found is not None
    return found[1]


def damaged(prompt: str, seed: int) -> str:
    """A usable reply: the text with four letters more."""
    digest = hashlib.sha1(f"{prompt}\0{seed}".encode()).hexdigest()
    return f"{text_in(prompt)}{digest[:4]}"


def moody_damaged(prompt: str, seed: int) -> str:
    """As `damaged`, but some are wrapped up, and most replies are not usable."""
    digest = hashlib.sha1(f"{seed}\0{prompt}".encode()).digest()
    text = damaged(prompt, seed)
    replies = (text, f'Changed text: "{text}"', text_in(prompt), "Sorry, no.", "x" * 9999)
    return replies[digest[0] % len(replies)]


EVERY: list[Perturbation] = list(MADE.values())
MINOR, PARAPHRASE = MADE["grammar_error/minor"], MADE["paraphrase"]
