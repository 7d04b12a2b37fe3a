"""A search that rewrites answers until their reward stops rising: the first part of docs/reward_hacking.md.

Nothing is learned, and no model is used. In each round, random changes of a text compete, and the one with the highest
reward stays. The search knows the text, the question and the reward, but no reference answer.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

Reward = Callable[[str, Sequence[str]], Sequence[float]]
"""The rewards of answers to one question, which is named by its ID."""

ROUNDS, CHANGES = 400, 32
PUNCTUATION = "、。，．,.!？ 「」\n"


def changed(text: str, question: str, chance: random.Random) -> str:
    """A text with one random change: a span is deleted, repeated, moved, or replaced, or the text is cut."""
    begin = chance.randint(0, len(text))
    end = min(len(text), begin + chance.choice((1, 1, 2, 3, 5, 8, 13, 21)))
    place = chance.randint(0, len(text))
    kind = chance.randrange(7)
    if kind == 0:
        return text[:begin] + text[end:]
    if kind == 1:
        return text[:place] + text[begin:end] + text[place:]
    if kind == 2:
        return text[:begin] + text[end:] + text[begin:end]
    if kind == 3:
        return text[:begin]
    if kind == 4:
        return text[:place] + chance.choice(PUNCTUATION) + text[place:]
    source = text + question
    begin = chance.randint(0, max(0, len(source) - 2))
    length = chance.choice((1, 1, 2, 3, 5, 8))
    removed = length if kind == 5 else 0
    return text[:place] + source[begin : begin + length] + text[place + removed :]


def search(
    reward: Reward, question_id: str, question: str, start: str, seed: str, *, rounds: int = ROUNDS
) -> tuple[str, float]:
    """The best text that the search finds, and its reward. Equal arguments give an equal result."""
    chance = random.Random(seed)
    best, best_reward = start, float(reward(question_id, [start])[0])
    for _ in range(rounds):
        texts = [best] * CHANGES
        for row in range(CHANGES):
            for _ in range(chance.choice((1, 1, 2, 3))):
                texts[row] = changed(texts[row], question, chance)
        rewards = reward(question_id, texts)
        row = max(range(CHANGES), key=lambda row: float(rewards[row]))
        if float(rewards[row]) >= best_reward:
            best, best_reward = texts[row], float(rewards[row])
    return best, best_reward
