"""`pfgen-fast checklists judge`: asks a judge about the answers of runs, by the checklists of a suite."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ..base.errors import SchemaRefused
from ..base.untrusted_text import few_names
from . import options
from .app import Exit, Json, Quiet, counted, exit_if_partial, fail, note, print_json, print_line, shown, warn
from .asking import Watch, note_existing
from .checklists_options import MethodChoice, RunsWithAnswers, SuiteOption
from .engine_options import (
    Connection,
    JudgeTemperature,
    LocalModel,
    Rates,
    ReasoningOptions,
    RequestShape,
    ServerOptions,
    Structured,
    chosen,
    number_of,
    retried_without_schema,
    warn_of_family,
)
from .parser import Option, option_group

if TYPE_CHECKING:
    from ..lab.checklists.checklist_generation import Generated
    from ..lab.checklists.checklist_requests import JudgeOptions
    from ..lab.checklists.checklist_suite import ChecklistSuite
    from ..lab.checklists.judge_runs import Judging, RunToJudge
    from ..lab.checklists.tasks import Task
    from ..lab.judging.judge_asking import Spending
    from ..lab.judging.judge_requests import Server


@option_group
class PatientServer(ServerOptions):
    """The server of a judge, with a long timeout for requests about long answers."""

    timeout: float = Option(300.0, min=0.001, help="Set the timeout in seconds of a request.")
    structured: Structured = False


class ChecklistsJudge:
    """Asks a judge the questions of each answer's checklist, and writes its verdicts.

    Every reply is stored next to the answers (judge-replies.jsonl) when it arrives. After an interruption, the same
    command continues, and no request is sent twice. The verdicts (judgements.jsonl) are derived from the replies. After
    an unusable reply, the request is sent again with another seed. An answer without a usable reply after all tries is
    unjudged: the command names it, and the exit code is 3.

    Examples

      pfgen-fast checklists judge runs/* -s essays-en --model org/judge --base-url http://localhost:8000/v1 --dry-run

      pfgen-fast checklists judge runs/* -s essays-en -m judge-2024-08-06 --prompt-price 2.5 --reply-price 10 --budget 5

      pfgen-fast checklists judge runs/mine -s essays-en -m org/judge --ratings 5 --base-url http://localhost:8000/v1

      pfgen-fast checklists judge runs/* -s essays-en -m judge-2024-08-06 --write-batch batch.jsonl
    """

    runs: RunsWithAnswers
    suite: SuiteOption
    model: str = Option(
        ...,
        "--model",
        "--judge",
        "-m",
        help="Name the judge on its server, if possible with its date.",
        metavar="MODEL",
    )
    profile: Literal["plain", "upstream"] = Option(
        "plain",
        help="Show answers unchanged (plain), or as HelloBench does (upstream): words joined by single blanks, "
        "temperature 0.8, seed 42, and verdicts anywhere in a reply.",
    )
    method: MethodChoice = Option(
        "checklist", help="Ask for a verdict on each question, or one rating without or with the questions."
    )
    area: list[str] | None = Option(None, help="Judge only this area. May be repeated.", metavar="AREA")
    tries: int = Option(3, min=1, help="Ask at most this often for a usable reply.")
    ratings: int = Option(1, min=1, help="Rate each answer this often, with different seeds.")
    temperature: JudgeTemperature = None
    max_tokens: int = Option(4096, min=1, help="Limit the tokens of a reply.")
    seed: str = Option("", help="Set the seed (any text). upstream: a number.")
    write_batch: Path | None = Option(
        None, help="Write the missing requests for OpenAI's Batch API; send nothing.", metavar="FILE"
    )
    read_batch: list[Path] | None = Option(
        None, help="Read a batch's output; send nothing. May be repeated.", metavar="FILE"
    )
    quiet: Quiet = False
    asking: PatientServer

    @retried_without_schema("asking")
    def __call__(self) -> None:
        from ..lab.checklists.checklist_runs import open_runs
        from ..lab.checklists.checklist_suite import ChecklistSuite
        from ..lab.checklists.judge_runs import Judging

        self.refuse_two_ways()
        asking, quiet = self.asking, self.quiet
        suite = ChecklistSuite.load(self.suite)
        judging = Judging.open(open_runs(self.runs), suite, self.options(), offline=asking.offline)
        self.say_what_is_odd(suite, judging)
        problem = _take(judging, self.read_batch) if self.read_batch else None
        is_asking = not (asking.offline or self.read_batch)
        if is_asking and (asking.dry_run or not quiet):
            _say_cost(judging, asking.spending)
        if self.write_batch is not None and not asking.dry_run:
            n_requests, path = counted(judging.write_batch(self.write_batch), "request"), shown(self.write_batch)
            print_line(f"{n_requests} written to {path}; give its output to --read-batch")
        if asking.dry_run or self.write_batch is not None:
            exit_if_partial(any(judged.faults for judged in judging.runs))
            return
        server = None if self.read_batch else asking.server
        problem = _ask(judging, server, asking.spending, quiet=quiet) or problem
        _conclude(judging, problem, is_offline=server is None, quiet=quiet)

    def options(self) -> JudgeOptions:
        """The options as the library takes them."""
        from ..lab.checklists.checklist_requests import JudgeOptions

        return JudgeOptions(
            self.model,
            self.profile,
            self.method,
            self.tries,
            self.ratings,
            number_of(self.temperature),
            self.max_tokens,
            self.seed,
            tuple(self.area or ()),
            self.asking.request_options(self.temperature),
            self.asking.structured,
        )

    def refuse_two_ways(self) -> None:
        """Ends the command if its options name several sources of replies."""
        sources = {
            "--write-batch": self.write_batch is not None,
            "--read-batch": bool(self.read_batch),
            "--offline": self.asking.offline,
        }
        chosen = [name for name, is_given in sources.items() if is_given]
        if len(chosen) > 1:
            fail(f"{' and '.join(chosen)}: expected one of them")
        if self.read_batch and self.asking.dry_run:
            fail("--read-batch and --dry-run: expected one of them")

    def say_what_is_odd(self, suite: ChecklistSuite, judging: Judging) -> None:
        """Warns of invalid lines and of bias, and prints notes."""
        from ..lab.checklists.judge_runs import names_a_version

        warn(*(fault for judged in judging.runs for fault in judged.faults))
        warn_of_family(self.model, (judged.run.model for judged in judging.runs))
        if self.quiet:
            return
        if not names_a_version(self.model):
            name = f"the name {self.model} holds no date or hash"
            note(f"{name}, so it may become another model; the stored replies name the version")
        note(*suite.notes, *judging.kept_by_others(), *_stale(judging))


def _say_cost(judging: Judging, spending: Spending) -> None:
    estimate = judging.estimate(spending.prices)
    line = estimate.sentence("ratings")
    if estimate.n_requests:
        n_likely = judging.likely_reply_tokens()
        line += f"; if replies are as long as usual, {n_likely:,} tokens"
        if spending.prices:
            line += f" and about {spending.prices.cost(estimate.n_prompt_tokens, n_likely):.2f}"
    print_line(line)


def _stale(judging: Judging) -> list[str]:
    stale = []
    for judged in judging.runs:
        names = judged.stale()
        if names:
            what = f"{counted(len(names), 'judgement')} of another answer, instruction, checklist or prompt"
            stale.append(f"{judged.run.key}: {what} ({few_names(names)}) no longer count")
    return stale


def _take(judging: Judging, sources: list[Path]) -> str | None:
    """Reads output files of a batch; returns a sentence if a line was unusable."""
    n_new, problems = judging.read_batch(sources)
    warn(*problems)
    print_line(counted(n_new, "new reply"))
    return "some lines of the batch could not be used" if problems else None


def _ask(judging: Judging, server: Server | None, spending: Spending, *, quiet: bool) -> str | None:
    """Asks, and writes the judgements that follow, even if the asking fails or is interrupted."""
    problem = None
    try:
        if server is not None and judging.open_ratings:
            with Watch("replies", quiet=quiet) as watch:
                ask = partial(judging.ask, server.engine, spending=spending)
                problem = ask(on_progress=watch.count, events=watch.events)
    except SchemaRefused:
        raise  # there is no reply yet, so former judgements stay
    except BaseException as error:
        judging.write()
        if isinstance(error, KeyboardInterrupt):
            fail("stopped; the replies so far are kept; run the same command again to continue", Exit.STOPPED)
        raise
    judging.write()
    return problem


def _conclude(judging: Judging, problem: str | None, *, is_offline: bool, quiet: bool) -> None:
    """Prints the progress of each run; exits with 3 if an answer has no verdicts."""
    is_whole = problem is None
    for judged in judging.runs:
        standing = judged.standing()
        parts = [f"{standing.n_judged:,} of {counted(standing.n_ratings, 'rating')}"]
        if standing.unjudged:
            listed = [f"{id} ({fault})" for id, fault in standing.unjudged]
            parts.append(f"{len(listed):,} unjudged after all tries: {few_names(listed)}")
        if standing.n_out_of_tokens:
            parts.append(f"{standing.n_out_of_tokens:,} of them ended at the limit of tokens: raise --max-tokens")
        if standing.n_open:
            parts.append(f"{standing.n_open:,} without a reply")
        if judged.faults:
            parts.append(f"{counted(len(judged.faults), 'answer')} that cannot be read")
        if judged.too_long:
            parts.append(f"{len(judged.too_long):,} too long to be sent: {few_names(judged.too_long)}")
        if standing.n_cut:
            parts.append(f"{standing.n_cut:,} shown to the judge up to word 16,000")
        parts += _versions(judged)
        is_whole &= not (standing.unjudged or standing.n_open or judged.too_long or judged.faults)
        if not quiet:
            print_line(shown(f"{judged.run.key}: {'; '.join(parts)}"))
    if not is_whole:
        why = problem or "some answers have no verdicts"
        can_go_on = not is_offline and (problem or judging.open_ratings)
        fail(f"{why}; run the same command again to continue" if can_go_on else why, Exit.PARTIAL)


def _versions(judged: RunToJudge) -> list[str]:
    versions = judged.standing().versions
    if len(versions) > 1:
        return ["judged by several versions: " + ", ".join(f"{name or 'unknown'} ({n:,})" for name, n in versions)]
    return [f"judged by {name}" for name, _ in versions if name]


@option_group
class AnsweringOptions(LocalModel, RequestShape, Rates, Connection):
    """The options of engines that answer tasks, with a long timeout."""

    timeout: float = Option(1200.0, help="Hosted models: set the timeout of a whole reply, in seconds.")


class ChecklistsGenerate:
    """Lets a model answer the tasks of a suite; the answers become a run that a judge can rate.

    Existing answers are not requested again, so the same command continues after an interruption. The defaults are the
    settings of the published answers: temperature 0.8, at most 16,384 tokens.

    Examples

      pfgen-fast checklists generate --suite essays-en --model org/model --base-url http://localhost:8000/v1 -o runs

      pfgen-fast checklists generate --suite hello --model gpt-4o-2024-08-06 --length 2k --length 4k -o runs

      pfgen-fast checklists generate --suite essays-ja --engine transformers --model checkpoints/step-100 -o runs
    """

    suite: SuiteOption
    model: str = Option(..., "-m", help="Name the model, and so the run's directory.")
    output: Path = Option(..., "-o", help="Create the run's directory below this directory.", metavar="RUNS")
    engine: str = Option(
        "openai", "-e", help="Ask openai (any OpenAI-compatible server), anthropic, transformers, vllm (local weights)."
    )
    name: str | None = Option(None, help="Name the run's directory. Default: the model, with _ for /.")
    length: list[str] | None = Option(
        None, help="Take the tasks with this wanted length instead of the tasks of the table. May be repeated."
    )
    area: list[str] | None = Option(None, help="Take only this area. May be repeated.")
    limit: int | None = Option(None, min=1, help="Take only this many tasks, from all areas, for a quick test.")
    trials: int = Option(1, "-n", min=1, help="Ask for this many answers to each task.")
    mode: Literal["qa", "completion"] = Option(
        "qa", help="Choose the prompts: one user message, or a text to continue (base models)."
    )
    temperature: options.Temperature = 0.8
    top_p: options.TopP = None
    top_k: options.TopK = None
    max_tokens: options.MaxTokens = 16_384
    seed: str = Option("", help="Set the seed (any text) of sampling.")
    stop: options.Stop = None
    tries: int = Option(3, min=1, help="Ask at most this often for an answer to a task.")
    reasoning: ReasoningOptions
    engine_options: AnsweringOptions
    dry_run: bool = Option(False, help="Only show the number of requests.")
    quiet: Quiet = False
    as_json: Json = False

    def __call__(self) -> None:
        from ..generation.engines import HOSTED, Sampling
        from ..lab.checklists.checklist_generation import (
            Setting,
            chosen_tasks,
            generate_answers,
            open_answering,
            run_name,
        )
        from ..lab.checklists.checklist_suite import ChecklistSuite

        engine_settings = chosen(self.engine_options)
        if self.temperature is None:
            engine_settings["omit"] = [*engine_settings.get("omit", ()), "temperature"]
        temperature = 1.0 if self.temperature is None else self.temperature
        sampling = Sampling(self.max_tokens, temperature, self.top_p, self.top_k, tuple(self.stop or ()))
        setting = Setting(self.model, sampling, self.mode, self.seed, self.reasoning.chosen)
        suite = ChecklistSuite.load(self.suite)
        tasks = chosen_tasks(suite, lengths=self.length or (), areas=self.area or (), limit=self.limit)
        folder = self.output / run_name(self.model if self.name is None else self.name)
        if self.dry_run:
            self.print_cost(tasks)
            return
        if self.engine not in HOSTED:
            del engine_settings["timeout"]
        engine = open_answering(self.engine, setting, **engine_settings)
        with Watch("answers", quiet=self.quiet or self.as_json) as watch:
            answers = generate_answers(
                suite,
                engine,
                setting,
                folder,
                tasks=tasks,
                trials=self.trials,
                tries=self.tries,
                on_progress=watch.count,
                events=watch.events,
            )
        self.finish(answers)

    def print_cost(self, tasks: Sequence[Task]) -> None:
        from ..lab.judging.judge_asking import estimated_tokens

        n_prompt_tokens = self.trials * sum(estimated_tokens(task.instruction or "") for task in tasks)
        n_answers = self.trials * len(tasks)
        tokens = f"prompts of about {n_prompt_tokens:,} tokens, answers of {n_answers * self.max_tokens:,} at most"
        print_line(f"{counted(n_answers, 'answer')}: {tokens}")

    def finish(self, answers: Generated) -> None:
        n_existing = answers.n_answers - answers.n_new
        if answers.problem:
            warn(f"{answers.problem}; run the same command again to ask for them")
        if self.as_json:
            missing = [dict(zip(("id", "length", "trial"), key, strict=True)) for key in answers.missing]
            numbers = {"n_answers": answers.n_answers, "n_new": answers.n_new, "n_existing": n_existing}
            ends = {"last_written": answers.last_written or None, "n_cut": answers.n_cut, "missing": missing}
            print_json({"run": str(answers.folder), **numbers, **ends, "events": answers.events.to_dict()})
        elif not self.quiet:
            print_line(f"{counted(answers.n_new, 'new answer')}, {answers.n_answers:,} in all: {shown(answers.folder)}")
            if n_existing:
                note_existing(n_existing, answers.last_written, dated="last written at")
            if answers.n_cut:
                note(f"{counted(answers.n_cut, 'answer')} ended at the limit of tokens (--max-tokens)")
        exit_if_partial(answers.missing)
