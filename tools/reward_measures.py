"""Suites and measures that the two experiments of docs/reward_hacking.md share.

The reward knows the reference answers of set A of the packaged suite. Set B, whose answers to the same questions have
other words, is held out.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from statistics import fmean

from make_mini_suite import DEFAULT_FOLDER, QUESTIONS
from pfgen_fast import ReferenceScorer, Repetition, Reward, Suite

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # for examples

from examples import grpo_reward as grpo_reward  # noqa: E402

FIGURES = ROOT / "docs" / "figures"
CHRF = ReferenceScorer(["chrf"])
MEASURES = ("score", "held_out", "characters", "repetition", "well_formed")


def write_suites(folder: Path) -> tuple[Path, Path]:
    """Writes two suites with the packaged questions, one with the reference answers of set A, one with those of B."""
    for name in ("A", "B"):
        (folder / name).mkdir(parents=True)
        for path in DEFAULT_FOLDER.glob("Q*.json"):
            content = json.loads(path.read_text(encoding="utf-8"))
            content["answers"] = {name: content["answers"][name]}
            (folder / name / path.name).write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    return folder / "A", folder / "B"


@cache
def well_formed(question_id: str) -> re.Pattern[str]:
    """Matches the answers that the grammar of set A can write."""
    grammar = QUESTIONS[int(question_id[1:]) - 1]["sets"]["A"]
    either = ["|".join(map(re.escape, variants)) for variants in (grammar["brief"], *grammar["slots"])]
    return re.compile("|".join((either[0], "".join(f"(?:{variants})" for variants in either[1:]))))


def measures(suite: Suite, other: Suite, questions: Sequence[str], answers: Sequence[str]) -> list[float]:
    """The mean of each of `MEASURES`; chrF, 0 to 1, compares answers with all reference answers of the other suite."""
    others = {question.question_id: list(chain(*question.answers.values())) for question in other}
    columns: tuple[Iterable[float], ...] = (
        Reward(suite)(questions, answers).tolist(),
        (Reward(CHRF)(None, answers, references=[others[name] for name in questions]) / 100).tolist(),
        map(len, answers),
        (1 - Repetition(4, 0.0)(answers)).tolist(),
        (well_formed(name).fullmatch(answer) is not None for name, answer in zip(questions, answers, strict=True)),
    )
    return list(map(fmean, columns))


def write(name: str, figures: object) -> None:
    """Writes a file with figures of the docs."""
    text = json.dumps(figures, ensure_ascii=False, indent=1)
    (FIGURES / name).write_text(text + "\n", encoding="utf-8")
