"""The suite of a command, and the lines below its scores that name suite and signature.

Rule for the suite: docs/reference/commands.md; `runs.checkout` implements it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..base.untrusted_text import counted
from .app import fitted, print_line, shown

if TYPE_CHECKING:
    from ..runs.run_scorer import Outcome
    from ..runs.verification import VerifiedRun
    from ..suite.suite import Suite


def given_suite(source: str | None) -> Suite | None:
    """The suite that an option names; None without the option, for the suite of each run's checkout."""
    if source is None:
        return None
    from ..suite.suite import Suite

    return Suite.load(source)


def suite_or_here(source: str | None) -> Suite:
    """The suite of a command without runs: the named suite, or the suite of the working directory."""
    from ..runs.checkout import suite_here

    return given_suite(source) or suite_here()


def fitting_suites(questions: Sequence[str]) -> list[str]:
    """The names of the fetched suites with all of these questions or IDs, and of packaged suites with these texts."""
    from ..suite.published import fetched_names
    from ..suite.suite import Suite
    from ..suite.suite_reading import packaged_names

    packaged = packaged_names()
    suites = {name: Suite.load(name) for name in (*packaged, *fetched_names())} if questions else {}
    return [
        name
        for name, suite in suites.items()
        if all(text in suite and (name not in packaged or suite[text].question == text) for text in questions)
    ]


ABOUT_RANGES = "rank range: the ranks that chance allows, at 95 % ({} against all other {}, corrected by Holm)"


def about_interval(over: str, *, is_share: bool = False) -> str:
    """Explains the intervals of a table."""
    return f"95 % interval: Wilson's, over {over}" if is_share else f"±: half of the 95 % interval over {over}"


def print_origin(suite: Suite | None, signature: str | None = None, *, remark: str = "") -> None:
    """Prints the suite, if there is one, with a remark, and the signature of the scores."""
    if suite is not None:
        print_line((fitted("suite: ", suite.name, remark), "dim"))
    if signature is not None:
        print_line((f"signature: {shown(signature)}", "dim"))


def print_origins(outcomes: Iterable[Outcome | VerifiedRun], *, verbose: bool = False) -> None:
    """Prints the suites of runs, each once, if verbose with their signatures."""
    numbers: dict[tuple[Suite, str | None], int] = {}
    for outcome in outcomes:
        if outcome.suite is not None:
            key = outcome.suite, outcome.signature if verbose else None
            numbers[key] = numbers.get(key, 0) + 1
    for (suite, signature), number in numbers.items():
        remark = f" ({counted(number, 'run')})" if len(numbers) > 1 else ""
        print_origin(suite, signature, remark=remark)
