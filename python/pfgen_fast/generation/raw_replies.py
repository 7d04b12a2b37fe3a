"""Stores the raw replies of a run next to its trials, so that users can look at reasoning and at how replies ended.

Scoring does not read the file, and it may be deleted. Each reply is appended to a hidden journal when it arrives, and
the journal is packed at the end of a call.
"""

from __future__ import annotations

import lzma
import statistics
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..base.errors import PfgenError
from ..base.file_writing import write_whole
from ..base.journal import Journal, json_line
from ..scoring.reply_text import DividedReply
from ..tables.formats import table_rows
from .protocol import Details, RawReply

PACKED = "replies.jsonl.xz"
_JOURNAL = ".replies.jsonl"

WARN_ABOVE = 0.05
"""The share of unfinished or cut replies above which a command warns."""


@dataclass(frozen=True)
class ReplySummary:
    """How the replies of a run ended."""

    n_replies: int  # number of recorded replies
    n_reasoning: int  # number of replies with reasoning
    median_reasoning: float  # median length of visible reasoning in code points
    n_unfinished: int  # number of replies that ended within the reasoning
    n_cut: int  # number of replies that ended at the limit of tokens
    n_filtered: int  # number of replies that a content filter cut

    @property
    def sentence(self) -> str:
        """The figures in words."""
        length = f" (median {self.median_reasoning:,.0f} characters)" if self.median_reasoning else ""
        return (
            f"{self.n_reasoning:,} of {self.n_replies:,} replies have reasoning{length}; "
            f"{self.n_unfinished:,} unfinished, {self.n_cut:,} ended at the limit of tokens"
        )

    @property
    def problems(self) -> Iterator[str]:
        """A warning for each figure that is too high."""
        if self.n_unfinished > WARN_ABOVE * self.n_replies:
            way = "give the model more tokens (--reasoning-tokens)"
            if self.n_unfinished > self.n_cut:
                way = "stop strings may be the reason: try --mode chat or --mode qa, which send no stop strings"
            yield (
                f"{self.n_unfinished:,} of {self.n_replies:,} replies ended within their reasoning and count as empty "
                f"answers; {way}"
            )
        if self.n_filtered:
            yield f"{self.n_filtered:,} of {self.n_replies:,} answers were cut by the content filter of the server"
        if self.n_cut - self.n_unfinished > WARN_ABOVE * self.n_replies:
            yield (
                f"{self.n_cut - self.n_unfinished:,} of {self.n_replies:,} answers ended at the limit of tokens; allow "
                "more (--max-tokens), or add --reasoning-tokens if the limit includes hidden reasoning"
            )


class RawReplies:
    """The raw replies of one run."""

    def __init__(self, folder: Path) -> None:
        self._path, self._journal = folder / PACKED, Journal(folder / _JOURNAL)

    def add(self, trial: int, question: str, raw: RawReply, divided: DividedReply, context: Sequence[str] = ()) -> None:
        """Stores a reply if it has more information than the answer, or if its prompt had a context."""
        details, usage = raw.details, raw.usage
        if divided.state == "none" and details.finish_reason is None and not context:
            return
        entry = {
            "trial": trial,
            "question": question,
            "state": divided.state,
            "finish_reason": details.finish_reason,
            "n_reply_tokens": usage.n_reply_tokens,
            "n_reasoning_tokens": usage.n_reasoning_tokens,
            "n_reasoning": len(divided.reasoning_text),
            "reasoning": raw.reasoning,
            "context": list(context) or None,
            "reply": None if raw.text == divided.answer else raw.text,
        }
        self._journal.add({key: value for key, value in entry.items() if value not in (None, 0, "")})

    def pack(self) -> None:
        """Moves the entries of the journal to the packed file."""
        if self._journal.path.exists():
            self._journal.close()
            # A journal skips entries that it added, so it is opened again.
            stored = [*_packed(self._path), *Journal(self._journal.path).entries()]
            # A later entry replaces an earlier entry for the same question and trial.
            entries = {(entry["trial"], entry["question"]): entry for entry in stored if _is_usable(entry)}
            lines = b"".join(json_line(entries[key]) for key in sorted(entries))
            write_whole(self._path, lzma.compress(lines, preset=1))
            self._journal.remove()

    def summary(self) -> ReplySummary | None:
        """Packs the replies, and returns how they ended; None if the record is empty or damaged."""
        try:
            self.pack()
            return summary_of(self._path.parent)
        except PfgenError as error:  # only a warning, because scores do not need the record
            waiting = f"new replies stay in {self._journal.path.name} until {PACKED} is readable or deleted"
            warnings.warn(f"{error}; {waiting}", RuntimeWarning, stacklevel=2)
            return None

    def close(self) -> None:
        """Closes the journal."""
        self._journal.close()


def summary_of(folder: Path) -> ReplySummary | None:
    """How the replies of a run ended; None without a record."""
    entries = list(_packed(folder / PACKED))
    if not entries:
        return None
    lengths = [entry["n_reasoning"] for entry in entries if isinstance(entry.get("n_reasoning"), int)]
    n_hidden = sum("n_reasoning" not in entry and "n_reasoning_tokens" in entry for entry in entries)
    return ReplySummary(
        len(entries),
        len(lengths) + n_hidden,
        statistics.median(lengths or [0]),
        sum(entry.get("state") == "unfinished" for entry in entries),
        sum(Details(entry.get("finish_reason")).is_cut for entry in entries),
        sum(entry.get("finish_reason") == "content_filter" for entry in entries),
    )


def sentence_of(folder: Path) -> str:
    """`ReplySummary.sentence` of a run; empty if the record is missing or damaged, or if no reply is noteworthy."""
    try:
        summary = summary_of(folder)
    except PfgenError:
        return ""
    return summary.sentence if summary and (summary.n_reasoning or summary.n_cut) else ""


def _packed(path: Path) -> Iterator[dict[str, Any]]:
    if path.exists():
        yield from (row for _, row in table_rows(path) if _is_usable(row))


def _is_usable(entry: Any) -> bool:
    return (
        isinstance(entry, dict)
        and isinstance(entry.get("trial"), int)
        and isinstance(entry.get("question"), str)
        and isinstance(entry.get("finish_reason"), str | None)
    )
