"""`pfgen-fast verify`: checks core and index against the oracle and the suite's files, and results against inputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from typer import Option

from ..errors import PfgenError
from . import options
from .app import Exit, Json, Quiet, counted, counting, exit_if_partial, print_json, shown, stdout, styled, warn
from .layout import columns, folded, shortened
from .suite_line import given_suite, print_origin

if TYPE_CHECKING:
    from ..runs.trials import RunFolder
    from ..runs.verification import Verdict, Verifier
    from ..suite.suite import Suite


class _Verify:
    """Scores runs again with the slow oracle, and checks their result.json against the inputs.

    The oracle reads the suite's files, and the index that 'score' uses is compared with one that is made from them, so
    a forged file in the cache is found. The exit code is 1 if anything differs. The oracle scores a few hundred answers
    per second, and needs about a second for the tables of each reference set.

    Examples

      pfgen-fast verify result/openai/gpt-4o/5e1e9f4 --sample 50

      pfgen-fast verify result --sample 10 --float-sum naive

      pfgen-fast verify result --questions Q07
    """

    paths: options.Paths
    suite: options.SuiteOption = None
    questions: options.Questions = None
    limit: options.Limit = None
    unknown_questions: options.UnknownQuestions = "error"
    sample: int | None = Option(None, min=1, help="Let the oracle score this many answers per run. Default: all.")
    float_sum: options.ResultSumOption = "auto"
    quiet: Quiet = False
    format: options.Format = "text"
    as_json: Json = False

    @property
    def is_json(self) -> bool:
        return self.as_json or self.format == "json"

    def __call__(self) -> None:
        from ..runs.trials import find_runs

        runs, given = find_runs(self.paths), given_suite(self.suite)
        verifiers: dict[Suite, Verifier] = {}
        verdicts: list[tuple[Verdict, Suite]] = []
        n_failed = 0
        for run in runs:
            try:
                verifier = self.verifier_of(run, given, verifiers)
                with counting(str(run.folder), quiet=self.quiet) as on_answer:
                    verdicts.append((verifier.verify(run, on_answer), verifier.suite))
            except PfgenError as error:
                warn(str(error))
                n_failed += 1
            else:
                if not (self.quiet or self.is_json):
                    _print(verdicts[-1][0])
        if self.is_json:
            print_json([_as_json(*item) for item in verdicts])
        elif not self.quiet:
            _print_total(verdicts)
        indexes_are_right = not any(verifier.index_differences for verifier in verifiers.values())
        if not (indexes_are_right and all(verdict.is_right for verdict, _ in verdicts)):
            raise SystemExit(Exit.NO)
        exit_if_partial(n_failed)

    def verifier_of(self, run: RunFolder, given: Suite | None, verifiers: dict[Suite, Verifier]) -> Verifier:
        """The verifier for the suite of a run; a new verifier prints the differences of its index."""
        from ..runs.checkout import suite_of
        from ..runs.verification import Verifier

        suite = suite_of(run.folder, given)
        if suite not in verifiers:
            asked = suite.only(options.names_of(self.questions), limit=self.limit)
            unknown = self.unknown_questions
            verifiers[suite] = Verifier(asked, float_sum=self.float_sum, sample=self.sample, unknown=unknown)
            for difference in () if self.quiet or self.is_json else verifiers[suite].index_differences:
                stdout().print(styled(("differs", "red"), f"  {shown(difference)}"))
        return verifiers[suite]


def _print(verdict: Verdict) -> None:
    mark = ("ok", "green") if verdict.is_right else ("differs", "red")
    answers = counted(verdict.n_answers, "answer")
    core = f"{len(verdict.differences)} of {answers} differ" if verdict.differences else f"core = oracle ({answers})"
    index = "the index differs" if verdict.index_differences else "index = files"
    state = f"{core}; {index}; {shown(verdict.recorded)}"
    name, width = shown(verdict.run.folder), columns()
    if width is None or len(mark[0]) + 4 + len(name) + len(state) <= width:
        stdout().print(styled(mark, f"  {name}: {state}"))
    else:
        stdout().print(styled(mark, f"  {shortened(name, width - len(mark[0]) - 2)}"))
        for part in folded(state, width - 4, after="; ", indent=""):
            stdout().print(f"    {part}")
    for difference in verdict.differences[:10]:
        stdout().print(f"    {shown(difference)}")


def _print_total(verdicts: Sequence[tuple[Verdict, Suite]]) -> None:
    n_right = sum(verdict.is_right for verdict, _ in verdicts)
    n_answers = sum(verdict.n_answers for verdict, _ in verdicts)
    stdout().print(f"{n_right} of {counted(len(verdicts), 'run')} ok, {counted(n_answers, 'answer')} compared")
    for (suite, signature), n in Counter((suite, verdict.signature) for verdict, suite in verdicts).items():
        which = counted(n, "run") + ("" if signature else ", no signature")
        print_origin(suite, signature, remark=f" ({which})" if n < len(verdicts) else "")


def _as_json(verdict: Verdict, suite: Suite) -> dict[str, object]:
    return {
        "run": str(verdict.run.folder),
        "suite": suite.name,
        "signature": verdict.signature,
        "right": verdict.is_right,
        "n_answers": verdict.n_answers,
        "differences": list(verdict.differences),
        "index_differences": list(verdict.index_differences),
        "recorded": verdict.recorded,
        "recorded_right": verdict.is_recorded_right,
    }
