"""`pfgen-fast evaluate`: generate, score, place and report runs in one command."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ...base.errors import PfgenError
from ...base.untrusted_text import json_text
from ..app import exit_if_partial, fail, note, print_json, print_line, print_table, shown, warn
from ..compare.place import print_placement
from ..generate.generate import Generating, as_json, print_answers
from ..look.report import Report
from ..options import ItemScoreOptions
from ..parser import Option
from ..suite_line import about_interval, print_origin
from .score import diagnosed, outcome_table, print_diagnoses, print_remarks

if TYPE_CHECKING:
    from ...generation.checkpoints import Checkpoint
    from ...generation.generating import Generated
    from ...runs.leaderboard import Entry
    from ...runs.placement import Placement
    from ...runs.run_scorer import Outcome
    from ...runs.trials import RunFolder
    from ...suite.suite import Suite

_USUAL_TRIALS = 100  # of the published runs
SETTLED_SECONDS = 60.0
"""How long a checkpoint must be unchanged before --watch takes it as complete."""


class Evaluate(Generating):
    """Generates, scores, places and reports runs, also of the checkpoints of a training run.

    Answers the questions of a suite, scores the run, places it among the published runs, and writes a page with its
    answers, like 'generate', 'score', 'place' and 'report'. Running the command again continues where it was stopped.
    'pfgen-fast suite add pfgen-bench' fetches the published suite.

    Several models, or a pattern of directories, become a run each, and a table at the end. Runs that are up to date
    are not made again; the name of a run has a hash of the weights in a directory. A model that fails is named, the
    others are evaluated, and the exit code is 3.

    With --quick, a run needs a quarter of the answers, and is placed among the published runs on the same questions.

    Examples

      pfgen-fast evaluate -e ngram
      pfgen-fast evaluate -e openai --base-url http://localhost:8000/v1 -m org/model --mode chat
      pfgen-fast evaluate -e transformers -m checkpoints/step-100 --trials 100
      pfgen-fast evaluate -e openai --base-url http://localhost:8000/v1 -m org/model --mode chat --quick
      pfgen-fast evaluate -e transformers -m 'runs/my-training/checkpoint-*' --suite mini --watch 30
    """

    suite: str = Option("pfgen-bench", "Name the suite: pfgen-bench, mini, or a directory.", "-s")
    model: list[str] | None = Option(  # type: ignore[assignment]
        None,
        "Name a model, a directory of weights or of checkpoints, or a pattern of directories. May be repeated.",
        "-m",
        metavar="MODEL|DIR|PATTERN",
    )
    watch: float | None = Option(
        None, "Look for new checkpoints again after these seconds, until Ctrl-C.", min=0.1, max=86_400
    )
    quick: bool = Option(False, "Ask only 13 questions of pfgen-bench that keep the order of the published runs.")
    page: Path | None = Option(None, "Write the report here. Default: report.html in the run's directory.", "--report")

    def __call__(self) -> None:
        if self.page:
            from ...report.pages import check_output

            check_output(self.page)
        suite = self.loaded_suite()
        models = self.models()
        if len(models) != 1 or self.watch is not None:
            self.evaluate_all(suite)
            return
        (model,) = models
        evaluated = self.evaluated(model, suite)
        if self.as_json:
            print_json(evaluated.record())
        elif not self.quiet and evaluated.entry is not None:
            _print_precision(evaluated.generated.run, suite)
            if evaluated.page is not None:
                print_line(f"report: {shown(evaluated.page)}")
        exit_if_partial(evaluated.is_partial)

    def loaded_suite(self) -> Suite:
        """The suite with the chosen questions, or with those of --quick."""
        from ...runs.result_tables import quick_questions

        suite, quick = super().loaded_suite(), quick_questions()
        if not self.quick:
            return suite
        if self.questions or self.limit is not None:
            fail("--quick: expected without --questions and --limit, because it chooses the questions")
        if suite.metadata_hash != quick.metadata_hash:
            fail(f"--quick: {suite.name} is not pfgen-bench, the suite of its questions; choose some with --questions")
        return suite.only(quick.questions)

    def models(self) -> list[_Model]:
        """The models; those in directories are in the order of their steps."""
        from ...generation.checkpoints import find_checkpoints
        from ...generation.engines.engine_registry import engine_options

        known, settings = engine_options(self.engine), self.engine_settings
        option = "path" if "path" in known else "served_model"
        if self.model is None or option not in known or option in settings:  # names only
            if self.watch is not None or any("*" in name or "?" in name for name in self.model or ()):
                fail(
                    f"--watch and patterns need -m DIRECTORY and an engine that loads or requests it, not {self.engine}"
                    + (f" with --{option.replace('_', '-')}" if option in settings else "")
                )
            return [_Model(name) for name in self.model] if self.model else [_Model(None)]
        models = []
        for name in dict.fromkeys(self.model):
            checkpoints = find_checkpoints(name)
            # A server may have a model with the name of a directory that holds no weights.
            if checkpoints is None or (not checkpoints and option != "path" and Path(name).is_dir()):
                models.append(_Model(name))
            elif not checkpoints and self.watch is None:
                fail(f"{name}: no directory of weights; expected one such as my-training/checkpoint-100")
            else:
                models += [_Model(None, checkpoint, option) for checkpoint in checkpoints]
        return models

    def evaluated(self, model: _Model, suite: Suite, *, is_series: bool = False) -> _Evaluated:
        """Generates, scores, places and reports the run of a model."""
        from ...runs.run_placement import entry_of_outcome

        is_silent = self.is_silent or is_series
        generated = self.run(suite, model.name, {**self.engine_settings, **model.options})
        print_answers(generated, quiet=is_silent)
        outcome = generated.score(suite)
        if outcome is not None and outcome.error and not is_series:
            warn(outcome.error)
        if not is_silent:
            if outcome is not None and outcome.summary:
                print_table(outcome_table([outcome]))
                print_line((about_interval("questions"), "dim"))
                print_remarks([outcome])
            print_origin(suite)
            if outcome is not None:
                print_diagnoses(diagnosed([outcome]))
        if outcome is None or outcome.status == "failed":
            return _Evaluated(generated, suite, outcome)
        entry = entry_of_outcome(outcome)
        placement = self.placed(entry, suite, is_silent=is_silent)
        if suite.whole is not None:
            if not is_silent:
                note("not reported: the run has some questions of the suite only, so it has no result.json")
            return _Evaluated(generated, suite, outcome, entry, placement)
        page = (not is_series and self.page) or generated.folder / "report.html"
        if not (is_series and outcome.status == "current" and page.exists()):
            self.report([generated.folder], page)
        return _Evaluated(generated, suite, outcome, entry, placement, page)

    def evaluate_all(self, suite: Suite) -> None:
        """Evaluates several models, each once, and with --watch the checkpoints that appear later."""
        done: dict[str, float] = {}  # the time of the last change, by label
        told: set[str] = set()
        seen: dict[tuple[str, float], float] = {}  # when this command first saw a change, whose time may be wrong
        folders: list[Path] = []
        outcomes: list[Outcome] = []
        is_partial = False
        while True:
            n_before = len(folders)
            for model in self.models():
                try:
                    changed = model.changed()
                except OSError:  # the directory was removed
                    continue
                if done.get(model.label) == changed:
                    continue
                now = time.monotonic()
                age = max(time.time() - changed, now - seen.setdefault((model.label, changed), now))
                if self.watch is not None and age < SETTLED_SECONDS:
                    if not self.quiet and model.label not in told:
                        since = f"changed {age:.0f} s ago"
                        note(f"{model.label}: {since}, waiting until it is {SETTLED_SECONDS:.0f} s old")
                    told.add(model.label)
                    continue
                done[model.label] = changed
                try:
                    evaluated = self.evaluated(model, suite, is_series=True)
                except (PfgenError, OSError) as error:
                    warn(f"{model.label}: {error}")
                    is_partial = True
                    continue
                is_partial |= evaluated.is_partial
                if self.as_json:
                    print(json_text(evaluated.record()))
                if evaluated.outcome is not None and evaluated.outcome.error:
                    warn(evaluated.outcome.error)
                if evaluated.outcome is not None and evaluated.entry is not None:
                    folders.append(evaluated.generated.folder)
                    outcomes.append(evaluated.outcome)
                    if not self.is_silent:
                        print_table(outcome_table(outcomes), skip=len(outcomes) - 1)
            if len(folders) > n_before:
                if self.page and suite.whole is None:
                    self.report(folders, self.page)
                if not self.is_silent:
                    print_line((about_interval("questions"), "dim"))
                    print_remarks(outcomes[n_before:])
                    print_origin(suite)
            if self.watch is None:
                break
            try:
                time.sleep(self.watch)
            except KeyboardInterrupt:  # nothing is unfinished
                break
        exit_if_partial(is_partial)

    def report(self, runs: list[Path], page: Path) -> None:
        paths = [str(run) for run in runs]
        cast(Any, Report)(paths=paths, suite=self.suite, output=page, tables=ItemScoreOptions(), quiet=True)()

    def placed(self, entry: Entry, suite: Suite, *, is_silent: bool) -> Placement | None:
        """The run among the published runs; None, with a note, if it cannot be placed."""
        from ...runs.result_tables import published
        from ...runs.run_placement import Field

        field = Field(published())
        if (suite.whole or suite).metadata_hash != field.metadata_hash:
            if not is_silent:
                note(f"not placed: {suite.name} is not the suite of the published runs (--suite pfgen-bench)")
            return None
        placement = field.place(entry)
        if not is_silent:
            print_placement(placement)
        return placement


@dataclass(frozen=True)
class _Model:
    """A model, or a directory of weights for an option of the engine."""

    given_name: str | None
    checkpoint: Checkpoint | None = None
    option: str = ""

    @property
    def label(self) -> str:
        """The name in messages."""
        return self.given_name or "" if self.checkpoint is None else self.checkpoint.label

    @cached_property
    def name(self) -> str | None:
        """The name of the model in its run."""
        return self.given_name if self.checkpoint is None else self.checkpoint.model()

    @property
    def options(self) -> dict[str, str]:
        """The options of the engine that load the weights, or request them from a server."""
        return {} if self.checkpoint is None else {self.option: str(self.checkpoint.folder)}

    def changed(self) -> float:
        """The time of the last change of weights; 0 for a name."""
        return 0.0 if self.checkpoint is None else self.checkpoint.changed()


@dataclass(frozen=True)
class _Evaluated:
    """The run of a model; without an entry, it is neither placed nor reported, and without a page not reported."""

    generated: Generated
    suite: Suite
    outcome: Outcome | None
    entry: Entry | None = None
    placement: Placement | None = None
    page: Path | None = None

    @property
    def is_partial(self) -> bool:
        """Whether answers or a score are missing."""
        return bool(self.generated.problems) or self.outcome is None or self.outcome.status == "failed"

    def record(self) -> dict[str, Any]:
        more: dict[str, Any] = {}
        if self.entry is not None:
            more = {"placement": self.placement and self.placement.to_dict(), "report": self.page and str(self.page)}
        return {**as_json(self.generated, self.suite, self.outcome), **more}


def _print_precision(run: RunFolder | None, suite: Suite) -> None:
    """Prints the interval of the score over trials, which is that of `sweep`, and its width with the usual number."""
    from ...runs.trial_intervals import TrialScores
    from ...scoring.scorer import Scorer

    assert run is not None  # it has a score
    scores = TrialScores.of(run, Scorer(suite))
    n, half_width = scores.n_trials, scores.interval().half_width
    if half_width is not None and n < _USUAL_TRIALS:
        then = scores.expected_half_width(_USUAL_TRIALS)
        print_line(
            f"{n} trials: the expected score on these questions lies within ±{half_width:.4f} (95 %, over trials); "
            f"with {_USUAL_TRIALS} trials within about ±{then:.4f} (--trials {_USUAL_TRIALS})"
        )
