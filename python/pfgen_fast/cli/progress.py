"""Progress while a model is asked: a bar with counts on a terminal, otherwise a log; then a summary."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING

from ..base.untrusted_text import counted
from .app import Exit, counting, has_bars, note, print_line

if TYPE_CHECKING:
    from typing_extensions import Self

    from ..generation.events import Events, Trouble

_SECONDS_BETWEEN_LINES = 60.0


class Watch:
    """Counts the events of the call that is made within this context, and shows them on stderr.

    On a terminal, there is a bar. Otherwise, there is a line for the first trouble of each kind, and each minute a
    line with all counts. With `quiet`, nothing is shown.
    """

    def __init__(self, what: str, *, quiet: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        from ..generation.events import Events

        self.events: Events = Events(on_trouble=self._on_trouble)
        self.done = self.planned = 0
        self._what, self._quiet, self._clock = what, quiet, clock
        self._begin = self._last_time = clock()
        self._stack = contextlib.ExitStack()
        self._show_bar: Callable[..., None] | None = None

    def __enter__(self) -> Self:
        if not self._quiet and has_bars():
            bar = counting(self._what, with_speed=True, below=lambda: str(self.events))
            self._show_bar = self._stack.enter_context(bar)
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        """Prints a summary; after Ctrl-C, ends the command with a message on how many answers are kept."""
        self._stack.close()
        if not self._quiet and (self.events.troubles or (self.planned and kind is None)):
            print_line(self.summary(), to=sys.stderr)
        if kind is KeyboardInterrupt:
            there = f"{self.done} of {self.planned} {self._what}"
            print_line(f"stopped with {there}, which are kept; run the same command again to continue", to=sys.stderr)
            raise SystemExit(Exit.STOPPED)

    def count(self, done: int, total: int | None) -> None:
        """Records the number of answers so far, and the planned number."""
        self.done, self.planned = done, total or 0
        self._show()

    def _on_trouble(self, trouble: Trouble, what: str) -> None:
        if not self._quiet and self.events.troubles[trouble] == 1:
            note(f"{trouble.value}: {what}")
        self._show()

    def _show(self) -> None:
        if self._show_bar is not None:
            self._show_bar(self.done, self.planned or None)
            return
        if self._clock() - self._last_time >= _SECONDS_BETWEEN_LINES and not self._quiet:
            self._last_time = self._clock()
            left = f", {_time((self.planned - self.done) / self._rate)} left" if self._rate else ""
            print_line(self._counts(f", {self._rate:,.1f}/s{left}"), to=sys.stderr)

    @property
    def _rate(self) -> float:
        seconds = self._clock() - self._begin
        return self.events.n_answers / seconds if seconds > 0 else 0.0

    def summary(self) -> str:
        """All counts, in one line."""
        speed = f" ({self._rate:,.1f}/s)" if self.events.n_answers else ""
        return self._counts(f", {self.events.n_answers:,} new in {_time(self._clock() - self._begin)}{speed}")

    def _counts(self, speed: str) -> str:
        events = str(self.events)
        return f"{self.done:,} of {self.planned:,} {self._what}{speed}{'; ' if events else ''}{events}"


def note_existing(n_answers: int, when: str) -> None:
    """Prints a note on answers that were not requested again: weights may change under the same model name."""
    since = f", the oldest from {when[:16].replace('T', ' ')}" if when else ""
    changed = "if the model has changed since then, remove the run's directory or choose another --output"
    note(f"{counted(n_answers, 'answer')} existed already{since}; {changed}")


def _time(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))
