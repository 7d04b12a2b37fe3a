"""`python tools/reward_search.py`: rewrites answers until their reward stops rising, and measures the result.

Nothing is learned, and no model is used. In each round, random changes of an answer compete, and the answer with the
highest reward stays. The search knows an answer, the question, and three other answers to it, but no reference answer.
It writes docs/figures/reward_search.json for docs/reward_hacking.md.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from make_mini_suite import QUESTIONS, make_answer
from pfgen_fast import Copying, Reward, Scorer, Suite
from reward_measures import MEASURES, measures, write, write_suites

FILE = "reward_search.json"
ROUNDS, CHANGES = 400, 32
PUNCTUATION = "、。，．,.!？ 「」\n"
SHOWN = 6  # the question whose answers the file contains
REWARDS: dict[str, dict[str, Any]] = {  # profile, metric and shape
    "score": {},
    "truthfulness": {"metric": "truthfulness"},
    "score, recommended shape": {"shape": "recommended"},
    "truthfulness, recommended shape": {"metric": "truthfulness", "shape": "recommended"},
    "score of profile `normalised`": {"profile": "normalised"},
    "score of profile `normalised`, recommended shape": {"profile": "normalised", "shape": "recommended"},
}
STARTS = ("good", "poor")


def changed(text: str, known: str, chance: random.Random) -> str:
    """A text with one random change: a span is deleted, repeated, moved or replaced, or the text is cut."""
    begin, place = chance.randint(0, len(text)), chance.randint(0, len(text))
    end = min(len(text), begin + chance.choice((1, 1, 2, 3, 5, 8, 13, 21)))
    source = text + known
    copied = chance.randint(0, len(source))
    n_copied = chance.choice((1, 1, 2, 3, 5, 8))
    piece = source[copied : copied + n_copied]
    return chance.choice(
        (
            text[:begin] + text[end:],
            text[:place] + text[begin:end] + text[place:],
            text[:begin] + text[end:] + text[begin:end],
            text[:begin],
            text[:place] + chance.choice(PUNCTUATION) + text[place:],
            text[:place] + piece + text[place:],
            text[:place] + piece + text[place + n_copied :],
        )
    )


def search(reward: Reward, question: str, start: str, known: str, *, seed: str, rounds: int = ROUNDS) -> str:
    """The answer that the search finds; equal arguments give an equal answer."""
    chance = random.Random(seed)
    best, highest = start, float(reward(question, [start])[0])
    for _ in range(rounds):
        texts = []
        for _ in range(CHANGES):
            text = best
            for _ in range(chance.choice((1, 1, 2, 3))):
                text = changed(text, known, chance)
            texts.append(text)
        rewards = reward(question, texts)
        row = int(rewards.argmax())
        if rewards[row] >= highest:
            best, highest = texts[row], float(rewards[row])
    return best


def starts(start: str) -> Iterator[tuple[str, str]]:
    """For each question a first answer and the texts that the search knows; a poor answer is for another question."""
    for number, asked in enumerate(QUESTIONS):
        grammar = asked if start == "good" else QUESTIONS[(number + 1) % len(QUESTIONS)]
        answers = [make_answer(grammar["sets"]["A"], "search", number, draw) for draw in range(4)]
        yield answers[0], asked["question"] + "".join(answers[1:])


def measure(rounds: int = ROUNDS) -> list[dict[str, Any]]:
    """For each reward and start, the means before and after the search over all questions, and one answer."""
    listed = []
    with tempfile.TemporaryDirectory() as folder:
        suite, other = map(Suite.load, write_suites(Path(folder)))
        ids = [question.question_id for question in suite]
        prompts = [question.question for question in suite]
        for name, settings in REWARDS.items():
            scorer = Scorer(suite, profile=settings.get("profile", "leaderboard"))
            reward = Reward(scorer, settings.get("shape"), metric=settings.get("metric"))  # keeps that profile
            for start in STARTS:
                first, known = zip(*starts(start), strict=True)
                seeds = [f"{name}/{start}/{number}" for number in ids]
                rows = zip(ids, first, known, seeds, strict=True)
                last = [search(reward, *row, seed=seed, rounds=rounds) for *row, seed in rows]

                def means(answers: Sequence[str], reward: Reward = reward) -> dict[str, float]:
                    values = dict(zip(MEASURES, measures(suite, other, ids, answers), strict=True))
                    values["reward"] = float(reward(ids, answers).mean())
                    values["copied"] = 1 - float(Copying(5, 0.0)(answers, prompts).mean())
                    return {key: round(value, 4) for key, value in values.items()}

                listed.append(
                    {"name": name, "start": start, "before": means(first), "after": means(last), "answer": last[SHOWN]}
                )
    return listed


if __name__ == "__main__":
    write(FILE, measure())
