"""`pfgen-fast checklists judge`: asks a judge about the answers of runs, by the checklists of a suite."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ...base.errors import SchemaRefused
from ...base.untrusted_text import counted
from .. import options
from ..app import Exit, Quiet, exit_if_partial, fail, note, print_line, shown, warn
from ..engine_options import (
    Connection,
    JudgeTemperature,
    LocalModel,
    ReasoningOptions,
    RequestShape,
    ServerOptions,
    Structured,
    chosen,
    number_of,
    retried_without_schema,
)
from ..parser import Option, option_group
from ..progress import Watch
from .options import MethodChoice, RunsWithAnswers, SuiteOption

if TYPE_CHECKING:
    from ...lab.checklists.judge_runs import Judging
    from ...lab.judging.judge_requests import Server


@option_group
class PatientServer(ServerOptions):
    """The server of a judge, with a long timeout for requests about long answers."""

    timeout: float = Option(300.0, "Set the timeout in seconds of a request.", min=0.001)
    structured: Structured = False


class ChecklistsJudge:
    """Asks a judge the questions of each answer's checklist, and writes its verdicts.

    Every reply is stored next to the answers (judge-replies.jsonl) when it arrives. After an interruption, the same
    command continues, and no request is sent twice. The verdicts (judgements.jsonl) are derived from the replies. An
    answer without a usable reply after all tries is unjudged: the command names it, and the exit code is 3.

    Examples

      pfgen-fast checklists judge runs/* -s essays-en --model org/judge --base-url http://localhost:8000/v1 --dry-run
      pfgen-fast checklists judge runs/* -s essays-en -m judge-2024-08-06 --prompt-price 2.5 --reply-price 10 --budget 5
    """

    runs: RunsWithAnswers
    suite: SuiteOption
    model: str = Option(..., "Name the judge on its server, with its date if possible.", "--model", "--judge", "-m")
    profile: Literal["plain", "upstream"] = Option(
        "plain", "Show answers unchanged (plain), or as HelloBench does (upstream: temperature 0.8, seed 42)."
    )
    method: MethodChoice = Option(
        "checklist", "Ask for a verdict on each question, or one rating without or with the questions."
    )
    ratings: int = Option(1, "Rate each answer this often, with different seeds.", min=1)
    temperature: JudgeTemperature = None
    max_tokens: int = Option(4096, "Limit the tokens of a reply.", min=1)
    seed: str = Option("", "Set the seed (any text). upstream: a number.", metavar="TEXT")
    quiet: Quiet = False
    asking: PatientServer

    @retried_without_schema("asking")
    def __call__(self) -> None:
        from ...lab.checklists.checklist_requests import JudgeOptions
        from ...lab.checklists.checklist_runs import open_runs
        from ...lab.checklists.checklist_suite import ChecklistSuite
        from ...lab.checklists.judge_runs import Judging

        asking, suite = self.asking, ChecklistSuite.load(self.suite)
        judge = JudgeOptions(
            self.model,
            self.profile,
            self.method,
            n_ratings=self.ratings,
            temperature=number_of(self.temperature),
            max_tokens=self.max_tokens,
            seed=self.seed,
            request_options=asking.request_options(self.temperature),
            structured=asking.structured,
        )
        judging = Judging.open(open_runs(self.runs), suite, judge, offline=asking.offline)
        warn(*(fault for judged in judging.runs for fault in judged.faults))
        if not self.quiet:
            note(*suite.notes)
        if asking.dry_run or not (asking.offline or self.quiet):
            print_line(judging.estimate(asking.spending.prices).sentence("ratings"))
        if asking.dry_run:
            exit_if_partial(any(judged.faults for judged in judging.runs))
            return
        server = asking.server
        problem = self.ask(judging, server)
        progress = {judged.run.key: judged.progress() for judged in judging.runs}
        if not self.quiet:
            for run, own in progress.items():
                print_line(shown(f"{run}: {own.sentence}"))
        if problem or not all(own.is_whole for own in progress.values()):
            why = problem or "some answers have no verdicts"
            can_go_on = server is not None and judging.n_open
            fail(f"{why}; run the same command again to continue" if can_go_on else why, Exit.PARTIAL)

    def ask(self, judging: Judging, server: Server | None) -> str | None:
        """Asks, and writes the judgements that follow, even if the asking fails or is interrupted."""
        problem = None
        try:
            if server is not None and judging.n_open:
                with Watch("replies", quiet=self.quiet) as watch:
                    events, spending = watch.events, self.asking.spending
                    problem = judging.ask(server.engine, spending=spending, on_progress=watch.count, events=events)
        except SchemaRefused:
            raise  # there is no reply yet, so former judgements stay
        except BaseException as error:
            judging.write()
            if isinstance(error, KeyboardInterrupt):
                fail("stopped; the replies so far are kept; run the same command again to continue", Exit.STOPPED)
            raise
        judging.write()
        return problem


@option_group
class AnsweringOptions(LocalModel, RequestShape, Connection):
    """The options of engines that answer tasks, with a long timeout."""

    timeout: float = Option(1200.0, "Hosted models: set the timeout of a whole reply, in seconds.", group="Server")


class ChecklistsGenerate:
    """Lets a model answer the tasks of a suite; the answers become a run that a judge can rate.

    Existing answers are not requested again, so the same command continues after an interruption. The defaults are the
    settings of the published answers: temperature 0.8, at most 16,384 tokens.

    Examples

      pfgen-fast checklists generate --suite essays-en --model org/model --base-url http://localhost:8000/v1 -o runs
      pfgen-fast checklists generate --suite essays-ja --engine transformers --model checkpoints/step-100 -o runs
    """

    suite: SuiteOption
    model: str = Option(..., "Name the model, and so the run's directory.", "-m")
    output: Path = Option(..., "Create the run's directory below this directory.", "-o", metavar="RUNS")
    engine: str = Option("openai", "Ask openai (any compatible server), anthropic, transformers, vllm.", "-e")
    length: list[str] | None = Option(None, "Take the tasks with this wanted length, not those of the table.")
    area: list[str] | None = Option(None, "Take only this area.")
    limit: int | None = Option(None, "Take only this many tasks, from all areas, for a quick test.", min=1)
    trials: int = Option(1, "Ask for this many answers to each task.", "-n", min=1)
    temperature: options.Temperature = 0.8
    max_tokens: options.MaxTokens = 16_384
    seed: str = Option("", "Set the seed (any text) of sampling.", metavar="TEXT")
    reasoning: ReasoningOptions
    engine_options: AnsweringOptions
    dry_run: bool = Option(False, "Only show the number of requests.")
    quiet: Quiet = False

    def __call__(self) -> None:
        from ...generation.engines.engine_registry import HOSTED
        from ...generation.prompts import Sampling
        from ...lab.checklists.checklist_generation import (
            ChecklistSetting,
            chosen_tasks,
            generate_answers,
            open_answering,
            run_name,
        )
        from ...lab.checklists.checklist_suite import ChecklistSuite
        from ...lab.judging.judge_asking import estimated_tokens

        engine_settings = chosen(self.engine_options)
        if self.temperature is None:
            engine_settings["omit"] = [*engine_settings.get("omit", ()), "temperature"]
        temperature = 1.0 if self.temperature is None else self.temperature
        sampling = Sampling(self.max_tokens, temperature, None, stop=())
        setting = ChecklistSetting(self.model, sampling, self.seed, self.reasoning.chosen)
        suite = ChecklistSuite.load(self.suite)
        tasks = chosen_tasks(suite, lengths=self.length or (), areas=self.area or (), limit=self.limit)
        folder = self.output / run_name(self.model)
        if self.dry_run:
            n_prompt_tokens = self.trials * sum(estimated_tokens(task.instruction or "") for task in tasks)
            n_answers = self.trials * len(tasks)
            tokens = f"prompts of about {n_prompt_tokens:,} tokens, answers of {n_answers * self.max_tokens:,} at most"
            print_line(f"{counted(n_answers, 'answer')}: {tokens}")
            return
        if self.engine not in HOSTED:
            del engine_settings["timeout"]
        engine = open_answering(self.engine, setting, **engine_settings)
        with Watch("answers", quiet=self.quiet) as watch:
            answers = generate_answers(
                suite,
                engine,
                setting,
                folder,
                tasks=tasks,
                trials=self.trials,
                on_progress=watch.count,
                events=watch.events,
            )
        if answers.problem:
            warn(f"{answers.problem}; run the same command again to ask for them")
        if not self.quiet:
            print_line(f"{counted(answers.n_new, 'new answer')}, {answers.n_answers:,} in all: {shown(folder)}")
            if answers.n_cut:
                note(f"{counted(answers.n_cut, 'answer')} ended at the limit of tokens (--max-tokens)")
        exit_if_partial(answers.missing)
