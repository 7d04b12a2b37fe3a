"""`pfgen-fast score`: scores runs into result.json, and tables into tables with scores."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from typer import Option

from ..errors import TrialsError
from ..item_scores.by_subject import subject_record
from . import options
from .app import exit_if_partial, fail, note, print_json, print_line, shown, track, warn
from .gate_options import ThresholdOptions, form_of
from .layout import LEAST, rest, shortened
from .ranked_table import print_subjects
from .suite_line import about_interval, given_suite, print_origins
from .table import TableScoring

if TYPE_CHECKING:
    from ..gates.checks import Check
    from ..runs.run_scorer import Outcome
    from ..suite.rules import FloatSum
    from ..suite.suite import Suite

_HEADER = f"{'score':>7} {'±95 %':8} {'fluency':>8} {'truthful':>8} {'helpful':>8} {'length':>7}  run"


class _Score(TableScoring):
    """Scores runs, or tables of answers.

    A run is a directory with trials.jsonl (or .xz, .gz, .zst) or trial_NNN.jsonl files; result.json is written
    next to them. Runs that are up to date are skipped. With --output FILE.csv (or .tsv, .jsonl, .parquet), the answers
    of all runs become one table with a row for each answer, and no result.json is written. A score of selected
    questions (--questions, --limit) is not a result of the suite: it is printed, and written only with --output.

    Examples

      pfgen-fast score result/openai/gpt-4o/5e1e9f4

      pfgen-fast score --suite my-suite 'runs/**/step-*'

      pfgen-fast score result --questions 'Q0*,Q12'

      pfgen-fast score result/openai --by-subject

      pfgen-fast score result/our/model --fail-under 0.7 --fail-under fluency=0.8 --junit gate.xml

      pfgen-fast score result --float-sum naive --output /tmp/naive

      pfgen-fast score 'result/our/*' -o answers.parquet

      pfgen-fast score --suite mini --question-column q --answer-column a answers.parquet -o scored.parquet

      pfgen-fast score --suite mini --question-column q --answer-column a --in-place answers.csv

      pfgen-fast score --suite mini --question-column q --answer-column a in/ 'more/*.parquet' -o scored/

      pfgen-fast score --metric bleu --metric chrf --reference-column refs --answer-column a in.parquet -o out.parquet

      pfgen-fast score --suite mini --question-column q --answer-column a --columns average --filter 'average >= 0.6'
      s3://bucket/answers/ -o s3://bucket/good/
    """

    gate: ThresholdOptions
    by_subject: bool = Option(
        False, help="Runs: print the score of each category of questions too, with its 95 % interval."
    )

    def __call__(self) -> None:
        from ..gates.checks import OF_RUN
        from ..runs.run_scorer import RunScorer
        from ..runs.trials import find_runs

        if self.force and self.paths[-1] == "json" and not Path("json").exists():
            fail("json: no such file or folder; -f is --force here; give --format json")
        if self.are_tables:
            if self.questions or self.limit or self.unknown_questions != "error" or self.by_subject:
                fail(
                    "--questions, --limit, --unknown-questions and --by-subject are for runs: leave them out for tables"
                )
            if self.gate.is_gate:
                fail("--fail-under is for runs: leave it out for tables; --filter chooses rows")
            self.gate.prepare()
            self.score_tables()
            return
        self.gate.prepare()
        self.gate.check_names(OF_RUN)
        if self.dry_run and self.gate.is_gate:
            fail("--dry-run scores nothing: leave out --fail-under")
        self.check_metrics()
        is_unusual = (self.profile, self.usual_sum, self.reasoning) != ("leaderboard", "compensated", "keep")
        if is_unusual and not (self.output or self.force):
            fail("--profile, --float-sum or --reasoning would replace the usual results: give --output or --force")
        try:
            runs = find_runs(self.paths)
        except TrialsError:
            self.ask_if_there()
            raise
        with contextlib.ExitStack() as stack:
            on_scored = None
            if self.is_answer_table:
                from ..runs.answer_table import writing_answers

                on_scored = stack.enter_context(writing_answers(Path(str(self.output))))
            run_scorer = RunScorer(
                suite=given_suite(self.suite),
                questions=options.names_of(self.questions),
                limit=self.limit,
                unknown=self.unknown_questions,
                profile=self.profile,
                float_sum=self.float_sum,
                force=self.force or self.is_answer_table,
                output=None if self.output is None or self.is_answer_table else Path(self.output),
                dry_run=self.dry_run,
                threads=self.threads,
                reasoning=self.reasoning,
                on_scored=on_scored,
            )
            scored = track(run_scorer.score(runs), len(runs), "runs", quiet=self.is_silent)
            outcomes = print_outcomes(scored, quiet=self.is_silent, float_sum=self.usual_sum)
        of_outcomes = [self.checks_of(outcome) for outcome in outcomes]
        if self.is_json:
            records = [outcome_as_json(outcome, by_subject=self.by_subject) for outcome in outcomes]
            for record, of_outcome in zip(records, of_outcomes, strict=True):
                record.update(self.gate.record(of_outcome))
                if self.is_answer_table:
                    record["result"] = self.output
            print_json(records)
        elif self.by_subject and not self.is_silent:
            print_by_subject(outcomes)
        checks = [check for of_outcome in of_outcomes for check in of_outcome]
        self.gate.finish(checks, form_of(as_json=self.is_json, quiet=self.quiet), "score")
        exit_if_partial(any(outcome.status == "failed" for outcome in outcomes))

    def checks_of(self, outcome: Outcome) -> list[Check]:
        """The checks of a run."""
        from ..gates.checks import figures_of_run

        name = str(outcome.run.folder)
        if outcome.summary is None:
            return self.gate.without_figures(name, outcome.error or "not scored")
        return self.gate.check(figures_of_run(outcome.summary, outcome.interval, self.usual_sum), name)


def print_outcomes(outcomes: Iterable[Outcome], *, quiet: bool, float_sum: FloatSum = "compensated") -> list[Outcome]:
    """Prints the scores and errors of runs as they arrive."""
    done: list[Outcome] = []
    for outcome in outcomes:
        if outcome.error or not quiet:
            print_outcome(outcome, float_sum, is_first=not any(earlier.error is None for earlier in done))
        done.append(outcome)
    if not quiet:
        if any(outcome.interval for outcome in done):
            print_line((about_interval("questions"), "dim"))
        print_origins(done)
    if not quiet and any(not outcome.is_kept for outcome in done):
        note("a score of some questions is not a result of the suite, so it is only printed; --output writes it")
    return done


def print_outcome(outcome: Outcome, float_sum: FloatSum = "compensated", *, is_first: bool = True) -> None:
    """Prints the scores of a run, or its error; prints the column headings before the first run."""
    if outcome.error:
        warn(outcome.error)
        return
    if is_first:
        print_line((_HEADER, "bold"))
    replaces = outcome.replaces and f"replaces a result: {shown(outcome.replaces)}"
    remark = "up to date" if outcome.status == "current" else outcome.part or replaces
    remark = f"  ({remark})" if remark else ""
    room = rest(len(_HEADER) - len("run") + len(remark))
    if room is not None and room < LEAST:
        print_line(_row(outcome, float_sum, room + len(remark)))
        print_line((remark, "dim"))
    else:
        print_line(_row(outcome, float_sum, room), (remark, "dim"))
    note(*outcome.notes)


def _row(outcome: Outcome, float_sum: FloatSum, room: int | None) -> str:
    """A line of the table, with room for the name of the run."""
    name = shortened(shown(outcome.run.folder), room)
    if outcome.summary is None:
        return f"{'to be scored':>50}  {name}"
    result, scores = outcome.summary, outcome.summary.scores
    parts = (scores.total(metric, float_sum) for metric in ("fluency", "truthfulness", "helpfulness"))
    of_metrics = " ".join(f"{part:8.3f}" for part in parts)
    half_width = outcome.interval and outcome.interval.half_width
    interval = "–" if half_width is None else f"±{half_width:.4f}"
    return f"{result.score:7.4f} {interval:8} {of_metrics} {result.length:7.1f}  {name}"


def print_by_subject(outcomes: Iterable[Outcome]) -> None:
    """Prints the scores by subject of runs, in a table for each suite."""
    from ..runs.leaderboard import scores_by_subject

    by_suite: dict[Suite, list[Outcome]] = {}
    for outcome in outcomes:
        if outcome.suite is not None and outcome.by_question:
            by_suite.setdefault(outcome.suite, []).append(outcome)
    for suite, of_suite in by_suite.items():
        found = [scores_by_subject(suite, outcome.by_question) for outcome in of_suite]
        print_subjects(found, [shown(outcome.run.folder) for outcome in of_suite], items="questions", name="run")


def outcome_as_json(outcome: Outcome, *, by_subject: bool = False) -> dict[str, object]:
    """The outcome of a run as JSON values."""
    subjects = {}
    if by_subject and outcome.suite is not None:
        from ..runs.leaderboard import scores_by_subject

        subjects = {"subjects": subject_record(scores_by_subject(outcome.suite, outcome.by_question))}
    return {
        "run": str(outcome.run.folder),
        "status": outcome.status,
        "result": str(outcome.path) if outcome.is_kept else None,
        "part": outcome.part,
        "replaces": outcome.replaces,
        "notes": list(outcome.notes),
        "error": outcome.error,
        "suite": outcome.suite and outcome.suite.name,
        "signature": outcome.signature,
        "score_low": outcome.interval and outcome.interval.low,
        "score_high": outcome.interval and outcome.interval.high,
        **(outcome.summary.to_dict() if outcome.summary else {}),
        **subjects,
    }
