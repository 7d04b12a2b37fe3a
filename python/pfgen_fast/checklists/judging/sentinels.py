"""Sentinels: some answers, chosen by hash, that the same judge judges again on each call.

Comparing its verdicts with the earlier ones shows whether the judge behind a name has changed. Each round is a pair of
files in the run's directory: `sentinels/001-replies.jsonl`, and the judgements that follow, `sentinels/001.jsonl`.
The judgements are written last, so a round without judgements was interrupted; the next call continues it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from ...judging.reply_store import Replies
from ..judgement_files import write_judgements
from ..judgements import Judgement
from ..tasks import sha256_of
from .runs_to_judge import RunToJudge

FOLDER = "sentinels"
_ROUND = re.compile(r"(\d{3,6})-replies\.jsonl")


@dataclass(frozen=True, eq=False)
class Sentinel:
    """One round of a run."""

    before: RunToJudge
    now: RunToJudge
    path: Path

    @property
    def is_complete(self) -> bool:
        """Whether no request of the round is open."""
        return not self.now.open_ratings()

    def sides(self) -> tuple[list[Judgement], list[Judgement]]:
        """The former and the new judgements of these answers, in the same order."""
        keys = self.now.covered
        of_before = {
            judgement.key: judgement
            for judgement in self.before.judgements()
            if judgement.key in keys and judgement.rating == 1
        }
        now = [judgement for judgement in self.now.judgements() if judgement.key in of_before]
        return [of_before[judgement.key] for judgement in now], now

    @property
    def n_equal(self) -> int:
        """The number of answers with the same verdicts as before."""
        return sum(before.scores == now.scores for before, now in zip(*self.sides(), strict=True))

    def write(self) -> bool:
        """Writes the judgements of a complete round; returns whether it is complete."""
        if self.is_complete:
            write_judgements(self.path, self.now.judgements())
        return self.is_complete


def open_sentinel(one: RunToJudge, n_answers: int) -> Sentinel | None:
    """Opens the next round of a run, or the last one if it was interrupted; None before the first judgement."""
    judged = [judgement.key for judgement in one.judgements() if judgement.rating == 1 and judgement.tries]
    chosen = sorted(judged, key=lambda key: sha256_of("\0".join(map(str, key))))[:n_answers]
    if not chosen:
        return None
    folder = one.run.folder / FOLDER
    number = _next_round(folder)
    options = replace(one.wording.options, n_ratings=1, temperature=one.wording.judge.temperature)
    wording = replace(one.wording, options=options)
    now = RunToJudge(one.run, wording, Replies(folder / f"{number:03}-replies.jsonl"), frozenset(chosen))
    return Sentinel(one, now, folder / f"{number:03}.jsonl")


def _next_round(folder: Path) -> int:
    begun = [int(match[1]) for path in folder.glob("*.jsonl") if (match := _ROUND.fullmatch(path.name))]
    last = max(begun, default=1)
    return last + 1 if (folder / f"{last:03}.jsonl").exists() else last
