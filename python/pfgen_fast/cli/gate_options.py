"""Options of gates: what must hold, and where the checks are written; exit code 1 if a check fails."""

from __future__ import annotations

import math
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from ..base.untrusted_text import in_one_line, markdown_table, unknown_name
from .app import Exit, fail, print_line, shown
from .parser import BadValue, Option, option_group, options_set

if TYPE_CHECKING:
    from ..runs.gates import Check, Gate, Threshold
    from ..runs.items.item_table import ItemScores

_COLOURS = {"passed": "green", "failed": "red", "undecided": "yellow", "error": "red"}


def _threshold(text: str) -> Threshold:
    """The value of `--fail-under`: a number, or a name with a number."""
    from ..runs.gates import Threshold

    name, equals, value = text.rpartition("=")
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or (equals and not name.strip()):
        raise BadValue(f"expected a number, or NAME=NUMBER, not {in_one_line(text)!r}")
    return Threshold(name.strip() if equals else None, number)


@option_group
class GateOutputs:
    """The file of a gate's checks."""

    gates: ClassVar[str]  # the field of the option that makes a gate
    help_group = "Gates"
    junit: Path | None = Option(None, "Write the checks to this file as JUnit test cases.", metavar="FILE.xml")

    @property
    def is_gate(self) -> bool:
        """Whether anything is checked."""
        return bool(getattr(self, self.gates))

    def prepare(self) -> None:
        """Finds invalid options and outputs that cannot be written, before any work."""
        if not self.is_gate:
            for option in options_set(self):
                if option.group == "Gates":
                    fail(f"{option.label}: expected with --{self.gates.replace('_', '-')}")
        if self.junit is not None:
            from ..base.file_writing import check_folder

            check_folder(self.junit.parent)
            if self.junit.is_dir():
                fail(f"{self.junit}: cannot be written: expected a file, not a directory")

    def record(self, checks: Sequence[Check]) -> dict[str, Any]:
        """The checks for the command's JSON; empty without a gate."""
        return {"checks": list(map(asdict, checks))} if self.is_gate else {}

    def finish(self, checks: Sequence[Check], form: str, command: str) -> None:
        """Prints and writes the checks; ends the command with 1 if a check fails, or 3 if one has no figures.

        `form` is `text` or `markdown`; with `json` and `quiet`, only failures are printed, on stderr.
        """
        if not self.is_gate:
            return
        if form == "markdown":
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

    gates = "fail_under"
    help_group = "Gates"
    fail_under: list[Any] | None = Option(
        None,
        "Exit with 1 if the score, or the figure of this name, is below this number. May be repeated. Names: "
        "docs/guides/gates.md.",
        parser=_threshold,
        metavar="[NAME=]NUMBER",
    )

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
        self, figures: Mapping[str, float | None], about: str, *, lower_is_better: Collection[str] = ()
    ) -> list[Check]:
        """The checks of one model or run; the first figure is the score."""
        from ..runs.gates import at_least

        return [
            at_least(figures, limit.value, about=shown(about), figure=limit.figure, lower_is_better=lower_is_better)
            for limit in self.fail_under or ()
        ]


@option_group
class ComparisonGateOptions(GateOutputs):
    """The gate of `compare`."""

    gates = "fail_if_worse"
    help_group = "Gates"
    fail_if_worse: bool = Option(
        False, "Exit with 1 if the first run is worse than another one by more than --margin, with --confidence."
    )
    margin: float = Option(0.0, "Allow this loss, in units of the metric.", min=0, metavar="X")
    undecided: Literal["pass", "fail"] = Option(
        "pass", "Pass or fail where the data cannot tell. fail: the first run must be shown not to be worse."
    )
    allow_missing: bool = Option(
        False, "Compare on the common questions or items even if the first run lacks some of another one."
    )
    confidence: float = Option(0.95, "Decide gates with this confidence.", metavar="C")

    def prepare(self) -> None:
        """Finds invalid options and outputs that cannot be written, before any work."""
        self._gate("models")  # raises an error if the confidence is invalid
        super().prepare()

    def _gate(self, kind: Literal["runs", "models"]) -> Gate:
        from ..runs.gates import Gate

        return Gate(self.margin, self.confidence, self.undecided, kind, self.allow_missing)

    def check(
        self, scores: ItemScores, metrics: Sequence[str] | None, *, kind: Literal["runs", "models"] = "models"
    ) -> list[Check]:
        """The checks of the first model against the others, in the given metrics or the first one."""
        return self._gate(kind).check(scores, metrics=metrics) if self.is_gate else []
