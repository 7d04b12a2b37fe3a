"""`pfgen-fast score`: scores runs into result.json, and tables into tables with scores; `--verify` checks results."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from ...base.errors import PfgenError, TrialsError
from ...base.table import Column, Table
from ...base.text_width import shortened
from ...base.untrusted_text import counted
from ...runs.items.by_subject import subject_record, subject_table
from .. import app, options
from ..parser import options_set, refuse_others
from ..suite_line import about_interval, given_suite, print_origins
from .options import ScoreOptions, are_tables, kind_of_table

if TYPE_CHECKING:
    from ...runs.diagnosis import Diagnosis
    from ...runs.gates import Check
    from ...runs.run_scorer import Outcome
    from ...runs.trials import RunFolder
    from ...runs.verification import VerifiedRun, Verifier
    from ...suite.suite import Suite

_OF_VERIFY = (
    "verify", "suite", "questions", "limit", "unknown_questions", "sample", "float_sum", "quiet", "verbose", "as_json",
)  # fmt: skip


_MOST_DIAGNOSED = 5


class Score(ScoreOptions):
    """Scores runs, or tables of answers.

    A run is a directory with trials.jsonl (or .xz, .gz, .zst) or trial_NNN.jsonl files; result.json is written
    next to them. Runs that are up to date are skipped. With --output FILE.csv (or .tsv, .jsonl, .parquet), the answers
    of all runs become one table with a row for each answer, and no result.json is written. A score of selected
    questions (--questions, --limit) is not a result of the suite: it is printed, and written only with --output.

    With --verify, runs are scored again with the slow oracle, a few hundred answers per second, result.json is checked
    against the inputs, and the index in the cache against the suite's files; nothing is written. The exit code is 1 if
    anything differs.

    Examples

      pfgen-fast score result/openai/gpt-4o/5e1e9f4
      pfgen-fast score --suite my-suite 'runs/**/step-*'
      pfgen-fast score result --questions 'Q0*,Q12'
      pfgen-fast score result/openai --by-subject
      pfgen-fast score result/our/model --fail-under 0.7 --fail-under fluency=0.8 --junit gate.xml
      pfgen-fast score result --float-sum naive --output /tmp/naive
      pfgen-fast score result --verify --sample 10
      pfgen-fast score 'result/our/*' -o answers.parquet
      pfgen-fast score answers.parquet
      pfgen-fast score --suite mini --question-column q --answer-column a answers.parquet -o scored.parquet
      pfgen-fast score --metric bleu --metric chrf in.parquet -o out.parquet
      pfgen-fast score in/ 'more/*.parquet' -o good/ --filter 'average >= 0.6'
    """

    def __call__(self) -> None:
        for scheme in (path.partition("://")[0] for path in (*self.paths, self.output or "") if "://" in path):
            app.fail(f"{scheme}://: expected a local path; copy remote files first, or pipe a table through '-'")
        if self.runs.verify:
            self._verify_runs()
            return
        if self.runs.sample is not None:
            app.fail("--sample is for --verify")
        if are_tables(self.paths, self.tables, self.suite):
            self._score_tables()
            return
        from ...runs.trials import find_runs

        try:
            runs = find_runs(self.paths)
        except TrialsError:
            from .tables import hold_tables

            if not hold_tables(self.paths):
                raise
            self._score_tables()
        else:
            self._score_runs(runs)

    def _score_tables(self) -> None:
        from .tables import score_tables

        refuse_others(self, "tables")
        score_tables(self)

    def _score_runs(self, runs: list[RunFolder]) -> None:
        from ...runs.gates import OF_RUN
        from ...runs.run_scorer import RunScorer

        refuse_others(self, "runs")
        self.runs.prepare()
        self.runs.check_names(OF_RUN)
        is_unusual = (self.profile, self.usual_sum, self.reasoning) != ("leaderboard", "compensated", "keep")
        if is_unusual and not (self.output or self.force):
            app.fail("--profile, --float-sum or --reasoning would replace the usual results: give --output or --force")
        to_table = self.output is not None and kind_of_table(self.output) is not None
        with contextlib.ExitStack() as stack:
            on_scored = None
            if to_table:
                from ...runs.result_tables import writing_answers

                on_scored = stack.enter_context(writing_answers(Path(str(self.output))))
            run_scorer = RunScorer(
                suite=given_suite(self.suite),
                questions=options.names_of(self.runs.questions),
                limit=self.runs.limit,
                unknown=self.runs.unknown_questions,
                profile=self.profile,
                float_sum=self.float_sum,
                force=self.force or to_table or self.runs.is_gate,  # gates believe no result.json
                output=None if self.output is None or to_table else Path(self.output),
                threads=self.threads,
                reasoning=self.reasoning,
                on_scored=on_scored,
            )
            scored = app.track(run_scorer.score(runs), len(runs), "runs", quiet=self.is_silent)
            outcomes = print_outcomes(scored, quiet=self.is_silent, verbose=self.verbose)
            diagnoses = diagnosed(outcomes) if not is_unusual and (self.as_json or not self.is_silent) else {}
            if not self.is_silent:
                print_diagnoses(diagnoses, len(outcomes))
        if to_table and not self.is_silent:
            n_runs = sum(outcome.status == "scored" for outcome in outcomes)
            app.print_line(f"answers of {counted(n_runs, 'run')}: {app.shown(self.output)}")
        all_checks = [self._checks_of(outcome) for outcome in outcomes]
        if self.as_json:
            records = [outcome_as_json(outcome, by_subject=self.runs.by_subject) for outcome in outcomes]
            for record, outcome_checks in zip(records, all_checks, strict=True):
                record.update(self.runs.record(outcome_checks))
                diagnosis = diagnoses.get(Path(str(record["result"])))
                record["diagnosis"] = diagnosis and diagnosis.to_dict()
                if to_table:
                    record["result"] = self.output
            app.print_json(records)
        elif self.runs.by_subject and not self.is_silent:
            print_by_subject(outcomes)
        checks = [check for checks in all_checks for check in checks]
        self.runs.finish(checks, "quiet" if self.is_silent else "text", "score")
        app.exit_if_partial(any(outcome.status == "failed" for outcome in outcomes))

    def _checks_of(self, outcome: Outcome) -> list[Check]:
        from ...runs.gates import figures_of_run

        name = str(outcome.run.folder)
        if outcome.summary is None:
            return self.runs.without_figures(name, outcome.error or "not scored")
        return self.runs.check(figures_of_run(outcome.summary, outcome.interval), name)

    def _verify_runs(self) -> None:
        """Checks results and the index of each suite; the exit code is 1 if anything differs."""
        from ...runs.trials import find_runs

        for option in options_set(self):
            if option.field not in _OF_VERIFY:
                app.fail(f"{option.label}: --verify checks results of runs and writes nothing: leave it out")
        runs, suite = find_runs(self.paths), given_suite(self.suite)
        verifiers: dict[Suite, Verifier] = {}
        verdicts: list[VerifiedRun] = []
        for run in runs:
            try:
                verifier = self._verifier(run, suite, verifiers)
                with app.counting(str(run.folder), quiet=self.quiet) as on_answer:
                    verdicts.append(verifier.verify(run, on_answer))
            except PfgenError as error:
                app.warn(str(error))
            else:
                if not self.is_silent:
                    _print_verdict(verdicts[-1])
        if self.as_json:
            app.print_json([verdict.to_dict() for verdict in verdicts])
        elif not self.quiet:
            n_right = sum(verdict.is_right for verdict in verdicts)
            n_answers = sum(verdict.n_answers for verdict in verdicts)
            app.print_line(f"{n_right} of {counted(len(runs), 'run')} ok, {counted(n_answers, 'answer')} compared")
            print_origins(verdicts, verbose=self.verbose)
        is_index_right = not any(verifier.index_differences for verifier in verifiers.values())
        if not (is_index_right and all(verdict.is_right for verdict in verdicts)):
            raise SystemExit(app.Exit.NO)
        app.exit_if_partial(len(verdicts) < len(runs))

    def _verifier(self, run: RunFolder, suite: Suite | None, verifiers: dict[Suite, Verifier]) -> Verifier:
        """The verifier for the suite of a run; a new verifier prints the differences of its index."""
        from ...runs.checkout import suite_of
        from ...runs.verification import Verifier

        suite = suite_of(run.folder, suite)
        if suite not in verifiers:
            selected = suite.only(options.names_of(self.runs.questions), limit=self.runs.limit)
            unknown, sample = self.runs.unknown_questions, self.runs.sample
            verifiers[suite] = Verifier(selected, float_sum=self.float_sum, sample=sample, unknown=unknown)
            for difference in () if self.is_silent else verifiers[suite].index_differences:
                app.print_line(("differs", "red"), f"  {app.shown(difference)}")
        return verifiers[suite]


def print_outcomes(outcomes: Iterable[Outcome], *, quiet: bool, verbose: bool = False) -> list[Outcome]:
    """Prints the errors of runs as they arrive, and then the scores of the others."""
    done: list[Outcome] = []
    for outcome in outcomes:
        if outcome.error:
            app.warn(outcome.error)
        done.append(outcome)
    scored = [outcome for outcome in done if outcome.summary is not None]
    scored.sort(key=lambda done: [int(n) if n.isdecimal() else n for n in re.split("([0-9]+)", str(done.run.folder))])
    if quiet or not scored:
        return done
    app.print_table(outcome_table(scored))
    if any(outcome.interval for outcome in scored):
        app.print_line((about_interval("questions"), "dim"))
    print_remarks(scored, verbose=verbose)
    print_origins(scored, verbose=verbose)
    if any(not outcome.is_kept for outcome in scored):
        app.note("a score of some questions is not a result of the suite, so it is only printed; --output writes it")
    return done


def outcome_table(outcomes: Sequence[Outcome]) -> Table:
    """The scores of runs, in their order."""
    from ...runs.checkout import short_name
    from ...runs.leaderboard import PARTS

    shown = [
        Column("run", is_text=True),
        Column("trials"),
        Column("score"),
        Column("interval", "±95 %", form=lambda interval: interval.shown()),
        Column("length", digits=1),
        *(Column(part, head, digits=3, is_optional=True) for part, head in PARTS.items()),
    ]
    rows, names = [], [short_name(outcome.run.folder) for outcome in outcomes]
    for outcome, name in zip(outcomes, names, strict=True):
        assert outcome.summary is not None  # it is scored or up to date
        result = outcome.summary
        figures = result.num_trials, result.score, outcome.interval, result.length, *map(result.scores.total, PARTS)
        rows.append([name if names.count(name) == 1 else outcome.run.folder.as_posix(), *figures])
    return Table(shown, rows)


def print_remarks(outcomes: Sequence[Outcome], *, verbose: bool = False) -> None:
    """Prints what is special about runs, each remark once."""
    current = "up to date" + verbose * " (result.json has no signature; --force computes it)"
    remarks = Counter(
        current if outcome.status == "current" else outcome.part or f"replaces a result: {outcome.replaces}"
        for outcome in outcomes
        if outcome.status == "current" or outcome.part or outcome.replaces
    )
    app.note(*chain(*(outcome.notes for outcome in outcomes)))
    for remark, n in remarks.items():
        app.print_line((app.shown(f"{counted(n, 'run')}: {remark}"), "dim"))


def diagnosed(outcomes: Sequence[Outcome]) -> dict[Path, Diagnosis]:
    """Why runs score less than the median, by the path of their result; empty for many runs, which take long."""
    diagnoses: dict[Path, Diagnosis] = {}
    for outcome in outcomes if len(outcomes) <= _MOST_DIAGNOSED else ():
        from ...runs.diagnosis import diagnosis_in_brief

        with contextlib.suppress(PfgenError):  # such as a run without others beside it
            if outcome.summary and outcome.is_kept and outcome.path.exists():
                diagnoses[outcome.path] = diagnosis_in_brief(outcome.path, outcome.suite)
    return diagnoses


def print_diagnoses(diagnoses: Mapping[Path, Diagnosis], n_runs: int = 1) -> None:
    """Prints the sentence of each diagnosis, with the names of several runs."""
    for diagnosis in diagnoses.values():
        app.print_line(app.shown(f"{diagnosis.run}: {diagnosis.sentence()}" if n_runs > 1 else diagnosis.sentence()))


def print_by_subject(outcomes: Iterable[Outcome]) -> None:
    """Prints the scores by subject of runs, in a table for each suite."""
    from ...runs.leaderboard import scores_by_subject
    from ..look.leaderboard import print_subjects

    by_suite: dict[Suite, list[Outcome]] = {}
    for outcome in outcomes:
        if outcome.suite is not None and outcome.by_question:
            by_suite.setdefault(outcome.suite, []).append(outcome)
    for suite, same_suite in by_suite.items():
        by_run = [scores_by_subject(suite, outcome.by_question) for outcome in same_suite]
        names = [str(outcome.run.folder) for outcome in same_suite]
        print_subjects(subject_table(names, by_run, model="run", items="questions"), by_run[0], "questions")


def outcome_as_json(outcome: Outcome, *, by_subject: bool = False) -> dict[str, object]:
    """The outcome of a run as JSON values."""
    subjects = {}
    if by_subject and outcome.suite is not None:
        from ...runs.leaderboard import scores_by_subject

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


def _print_verdict(verdict: VerifiedRun) -> None:
    answers = counted(verdict.n_answers, "answer")
    core = f"{len(verdict.differences)} of {answers} differ" if verdict.differences else f"core = oracle ({answers})"
    index = "the index differs" if verdict.index_differences else "index = files"
    mark = ("ok", "green") if verdict.is_right else ("differs", "red")
    name = shortened(app.shown(verdict.run.folder), app.rest(len("differs  :")))
    app.print_line(mark, f"  {name}: {core}; {index}; {app.shown(verdict.recorded)}")
    for difference in verdict.differences[:10]:
        app.print_line(f"    {app.shown(difference)}")
