"""Options of gates: what must hold, and where the checks are written; exit code 1 if a check fails."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..base.untrusted_text import in_one_line, unknown_name
from .app import Exit, fail, print_line, shown
from .parser import BadValue, Option, option_group

if TYPE_CHECKING:
    from ..runs.gates import Check, Threshold, Undecided
    from ..runs.items.item_table import ItemScores

Form = Literal["text", "json", "markdown", "quiet"]
_COLOURS = {"passed": "green", "failed": "red", "undecided": "yellow", "error": "red"}


def form_of(*, as_json: bool, as_markdown: bool = False, quiet: bool = False) -> Form:
    """How a command shows its results."""
    return "json" if as_json else "markdown" if as_markdown else "quiet" if quiet else "text"


def number(text: str) -> float:
    """A finite number."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise BadValue(f"expected a number, not {in_one_line(text)!r}")
    return value


def number_that(text: str, expected: str, is_valid: Callable[[float], bool]) -> float:
    """A number that is valid; `expected` says which numbers are."""
    if is_valid(value := number(text)):
        return value
    raise BadValue(f"expected {expected}, not {in_one_line(text)!r}")


def _margin(text: str) -> float:
    return number_that(text, "a number of at least 0", lambda value: value >= 0)


def _confidence(text: str) -> float:
    return number_that(text, "a number between 0 and 1, such as 0.95", lambda value: 0 < value < 1)


def _threshold(text: str) -> Threshold:
    """The value of `--fail-under`: a number, or a name with a number."""
    from ..runs.gates import Threshold

    name, equals, value = text.rpartition("=")
    if equals and not name.strip():
        raise BadValue(f"expected a number, or NAME=NUMBER, not {in_one_line(text)!r}")
    return Threshold(name.strip() if equals else None, number(value))


@option_group
class GateOutputs:
    """The file of a gate's checks."""

    junit: Path | None = Option(
        None, help="Gates: write the checks to this file as JUnit test cases.", metavar="FILE.xml"
    )

    @property
    def is_gate(self) -> bool:
        """Whether anything is checked."""
        return False

    def prepare(self) -> None:
        """Finds invalid options and outputs that cannot be written, before any work."""
        if not self.is_gate:
            if self.junit is not None:
                fail(f"--junit: nothing is checked; expected with {self._gates}")
        elif self.junit is not None:
            _check_file(self.junit)

    @property
    def _gates(self) -> str:
        return "--fail-under"

    def record(self, checks: Sequence[Check]) -> dict[str, Any]:
        """The checks for the command's JSON; empty without a gate."""
        return {"checks": [check.to_dict() for check in checks]} if self.is_gate else {}

    def finish(self, checks: Sequence[Check], form: Form, command: str) -> None:
        """Prints and writes the checks; ends the command with 1 if a check fails, or 3 if one has no figures."""
        if not self.is_gate:
            return
        if form == "markdown":
            from ..base.untrusted_text import markdown_table

            rows = ((check.outcome, check.sentence) for check in checks)
            sys.stdout.write("\n" + markdown_table(("check", "what was found"), rows))
        for check in checks:
            if form == "text":
                print_line((check.outcome, _COLOURS[check.outcome]), f": {shown(check.sentence)}")
            elif not check.passes:
                print(f"{check.outcome}: {shown(check.sentence)}", file=sys.stderr)
        if self.junit is not None:
            from ..base.file_writing import write_whole
            from ..runs.gates import junit_xml

            write_whole(self.junit, junit_xml(checks, f"pfgen-fast {command}"))
        outcomes = {check.outcome for check in checks if not check.passes}
        if outcomes:
            raise SystemExit(Exit.PARTIAL if outcomes == {"error"} else Exit.NO)


@option_group
class ThresholdOptions(GateOutputs):
    """The gate of commands that show scores."""

    fail_under: list[Any] | None = Option(
        None,
        parser=_threshold,
        help="Exit with 1 if the score, or the figure of this name, is below this number. May be repeated. Names: "
        "docs/guides/gates.md.",
        metavar="[NAME=]NUMBER",
    )

    @property
    def is_gate(self) -> bool:
        """Whether a threshold is given."""
        return bool(self.fail_under)

    def check_names(self, names: Iterable[str]) -> None:
        """Ends the command if a figure is unknown, before any work."""
        known = list(names)
        for threshold in self.fail_under or ():
            if threshold.figure is not None and threshold.figure not in known:
                fail(f"--fail-under: {unknown_name('figure', threshold.figure, known)}")

    def without_figures(self, about: str, why: str) -> list[Check]:
        """The checks of a model or run that has no figures: errors."""
        from ..runs.gates import Check

        sentence = f"{shown(about)}: no figures to check: {shown(why)}"
        return [
            Check(f"{threshold.figure or 'score'} at least {threshold.value:g}", shown(about), "error", sentence, False)
            for threshold in self.fail_under or ()
        ]

    def check(
        self, figures: Mapping[str, float | None], about: str, *, lower_is_better: Iterable[str] = ()
    ) -> list[Check]:
        """The checks of one model or run; the first figure is the score."""
        if not self.fail_under:
            return []
        from ..runs.gates import at_least

        self.check_names(figures)
        return [
            at_least(
                figures, limit.value, about=shown(about), figure=limit.figure, lower_is_better=set(lower_is_better)
            )
            for limit in self.fail_under
        ]


@option_group
class ComparisonGateOptions(GateOutputs):
    """The gate of `compare`."""

    fail_if_worse: bool = Option(
        False, help="Exit with 1 if the first run is worse than another one by more than --margin, with --confidence."
    )
    margin: float | None = Option(
        None, parser=_margin, help="Allow this loss, in units of the metric. Default: 0.", metavar="X"
    )
    non_inferior: float | None = Option(
        None,
        parser=_margin,
        help="Exit with 1 unless the data show that the first run is not worse by more than X.",
        metavar="X",
    )
    undecided: Literal["pass", "fail"] | None = Option(
        None, help="Pass or fail with --fail-if-worse where the data cannot tell. Default: pass."
    )
    allow_missing: bool = Option(
        False, help="Compare on the common questions or items even if the first run lacks some of another one."
    )
    confidence: float | None = Option(
        None, parser=_confidence, help="Decide gates with this confidence. Default: 0.95.", metavar="C"
    )

    @property
    def is_gate(self) -> bool:
        """Whether a comparison is checked."""
        return self.fail_if_worse or self.non_inferior is not None

    @property
    def _gates(self) -> str:
        return "--fail-if-worse or --non-inferior"

    def prepare(self) -> None:
        """Finds invalid options and outputs that cannot be written, before any work."""
        if self.fail_if_worse and self.non_inferior is not None:
            fail("--fail-if-worse and --non-inferior: expected one of them")
        if self.non_inferior == 0:
            fail("--non-inferior: expected a number above 0; --fail-if-worse has no such limit")
        for option, value in (("--margin", self.margin), ("--undecided", self.undecided)):
            if value is not None and not self.fail_if_worse:
                fail(f"{option}: expected with --fail-if-worse")
        for option, is_given in (
            ("--confidence", self.confidence is not None),
            ("--allow-missing", self.allow_missing),
        ):
            if is_given and not self.is_gate:
                fail(f"{option}: expected with {self._gates}")
        super().prepare()

    def check(
        self, scores: ItemScores, metrics: Sequence[str] | None, *, of: Literal["runs", "models"] = "models"
    ) -> list[Check]:
        """The checks of the first model against the others, in the given metrics or the first one."""
        if not self.is_gate:
            return []
        from ..runs.gates import Gate

        margin = self.non_inferior if self.non_inferior is not None else self.margin or 0.0
        undecided: Undecided = "fail" if self.non_inferior is not None else self.undecided or "pass"
        confidence = 0.95 if self.confidence is None else self.confidence
        return Gate(margin, confidence, undecided, of, self.allow_missing).check(scores, metrics=metrics)


def _check_file(path: Path) -> None:
    """Ends the command if a file cannot be written."""
    from ..base.file_writing import check_folder

    check_folder(path.parent)
    if path.is_dir():
        fail(f"{path}: cannot be written: expected a file, not a directory")
    if path.exists() and not (path.is_file() and os.access(path, os.W_OK)):
        fail(f"{path}: cannot be written: expected a writable regular file")
