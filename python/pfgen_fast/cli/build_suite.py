"""`pfgen-fast suite build` and `suite keywords`: reference sets from raw answers, and suggested keyword rules."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import options
from .app import Exit, Json, Quiet, caution, counting, exit_if_partial, fail, note, print_json, shown, stdout, warn
from .parser import Argument, Option

if TYPE_CHECKING:
    from ..build.pipeline import Built


class SuiteBuild:
    """Builds a suite from raw answers: normalises and filters them, and selects the reference answers.

    Every stage stores in the work directory the answers it kept, the answers it removed, and the reasons. Stages that
    are done are not repeated: the command may be stopped at any moment, and running it again continues.

    Examples

      pfgen-fast suite build my-suite.toml

      pfgen-fast suite build my-suite.toml --stage filter
    """

    config: Path = Argument(
        help="TOML file with questions, raw answers and the settings of each stage.", metavar="CONFIG.toml"
    )
    stage: str | None = Option(
        None, help="Run only this stage: raw, normalise, filter, frequency, length or select.", metavar="NAME"
    )
    until_stable: bool = Option(False, help="Repeat the frequency filter until it removes nothing.")
    threads: options.Threads = None
    force: bool = Option(False, "-f", help="Run finished stages again.")
    no_report: bool = Option(False, help="Do not write the report.")
    quiet: Quiet = False
    as_json: Json = False

    def __call__(self) -> None:
        from ..suite.suite import Suite
        from ..suite.suite_reading import reference_warnings

        try:
            with counting("stages", quiet=self.quiet or self.as_json) as count:
                built, report = self.build(count)
        except KeyboardInterrupt:
            fail("stopped; finished stages are kept; run the same command again to continue", Exit.STOPPED)
        note(*built.notes)
        if built.is_written and not self.quiet:
            caution(*reference_warnings(Suite.load(built.config.suite)))
        warn(*built.problems)
        if self.as_json:
            print_json(_as_json(built, report))
        elif not self.quiet:
            _print(built, report)
        exit_if_partial(built.problems)

    def build(self, count: Callable[..., None]) -> tuple[Built, Path | None]:
        """Builds the suite and writes the report, if there is a suite to report on."""
        from ..build.build_config import read_config, repeating
        from ..build.pipeline import build_suite
        from ..build.stages import NAMES
        from ..report.building import write_building_report

        config, threads = read_config(self.config), self.threads
        if self.until_stable:
            config = repeating(config)
        built = build_suite(config, stage=self.stage, threads=threads, force=self.force, on_step=count)
        if self.no_report or not built.is_written:
            return built, None
        n_stages = len(built.branches) * len(NAMES)
        return built, write_building_report(
            built, threads=threads, on_branch=lambda branch: count(n_stages, n_stages, f"report: {branch.name}")
        )


def _as_json(built: Built, report: Path | None) -> dict[str, Any]:
    from ..build.pipeline import records

    return {
        "suite": str(built.config.suite) if built.is_written else None,
        "report": str(report) if report else None,
        "n_stages_run": built.n_run,
        "problems": list(built.problems),
        "notes": list(built.notes),
        "sets": [
            {
                "question_id": branch.asked.question_id,
                "set": branch.set_name,
                "left": {stage: record["left"]["n"] for stage, record in records(branch)},
            }
            for branch in built.branches
        ],
    }


def _print(built: Built, report: Path | None) -> None:
    from ..build.pipeline import records
    from ..build.stages import NAMES

    out = stdout()
    labels = [f"{branch.asked.question_id} {branch.set_name}" for branch in built.branches]
    width = max(map(len, labels))
    out.print(f"{'answers left':{width}}  {'  '.join(f'{name:>10}' for name in NAMES)}", style="bold")
    for label, branch in zip(labels, built.branches, strict=True):
        left = {stage: f"{record['left']['n']:,}" for stage, record in records(branch)}
        out.print(f"{shown(label):{width}}  {'  '.join(left.get(name, '–').rjust(10) for name in NAMES)}")
    if built.is_written:
        out.print(f"suite: {shown(built.config.suite)}")
    if report:
        out.print(f"report: {shown(report)}")


class SuiteKeywords:
    """Suggests keyword rules: n-grams in a question's reference answers that the answers to other questions lack.

    The suggestions are a draft; a human decides what an answer must contain. --json adds the rules for the question
    file.

    Example

      pfgen-fast suite keywords mini Q02
    """

    suite: str = Argument(help="Directory with Q*.json files, or 'mini'.", metavar="SUITE")
    question: str = Argument(help="ID or text of a question.", metavar="QUESTION")
    number: int = Option(20, "-n", min=1, help="Limit the number of suggestions.")
    min_share: float = Option(0.1, help="Suggest n-grams in at least this share of the question's reference answers.")
    threads: options.Threads = None
    as_json: Json = False

    def __call__(self) -> None:
        from ..build.selection import suggest_keywords
        from ..suite.suite import Suite

        if not 0 < self.min_share <= 1:
            fail(f"--min-share: expected a number above 0 and up to 1, not {self.min_share:g}")
        suite, n, share = Suite.load(self.suite), self.number, self.min_share
        suggestions = suggest_keywords(suite, self.question, n=n, min_share=share, threads=self.threads)
        if self.as_json:
            keys = {"rule": "rule", "share": "share", "elsewhere": "share_elsewhere", "log_odds": "log_odds"}
            print_json([{key: getattr(suggestion, name) for key, name in keys.items()} for suggestion in suggestions])
            return
        out = stdout()
        out.print("  here  elsewhere  log-odds  n-gram", style="bold")
        for row in suggestions:
            out.print(f"{row.share:6.1%}  {row.share_elsewhere:9.2%}  {row.log_odds:8.1f}  {shown(row.ngram)}")
        out.print("here, elsewhere: share of the reference answers that contain it", style="dim")
