"""`pfgen-fast checklists import`, `info`, `generate` and `judge`: suites, runs on them, and their verdicts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ...base.untrusted_text import counted, few_names
from ..app import Exit, Quiet, caution, exit_if_partial, fail, note, print_line, print_tables, shown, warn
from ..engine_options import (
    Connection,
    JudgeTemperature,
    LocalModel,
    ReasoningOptions,
    RequestShape,
    ServerOptions,
    chosen,
    number_of,
)
from ..options import FOLDER, MaxTokens, Temperature
from ..parser import Argument, Option, option_group
from ..progress import Watch
from .options import MethodChoice, RunOptions, SuiteOptions

if TYPE_CHECKING:
    from ...lab.checklists.checklist_suite import ChecklistSuite


class ChecklistsImport:
    """Makes a checklist suite of HelloBench, or runs of its results.

    SOURCE is a checkout of HelloBench's repository. With --suite, its answers and judgements become a run for each
    model. No code of the checkout is executed. Invalid lines are reported and left out; the exit code is then 3.

    Examples

      pfgen-fast checklists import HelloBench -o hello
      pfgen-fast checklists import HelloBench --suite hello -o runs
    """

    source: Path = Argument(..., "A checkout of HelloBench, or its results.", metavar="SOURCE")
    output: Path = Option(..., "Write the suite, or the directory of each run, here.", "-o", **FOLDER)
    suite: str | None = Option(None, "Import the results as runs on this checklist suite.", "-s", metavar="SUITE")
    quiet: Quiet = False

    def __call__(self) -> None:
        from ...lab.checklists.checklist_suite import ChecklistSuite, write_suite
        from ...lab.checklists.hellobench import import_runs, import_suite

        if self.suite is None:
            suite = import_suite(self.source)
            write_suite(suite, self.output)
            if not self.quiet:
                _print_suite(suite, f": {shown(self.output)}")
            return
        has_problems = False
        for model in import_runs(self.source, ChecklistSuite.load(self.suite), self.output):
            has_problems |= bool(model.problems)
            caution(*model.problems)
            if model.n_answers and not self.quiet:
                numbers = f"{counted(model.n_answers, 'answer')}, {counted(model.n_judgements, 'judgement')}"
                print_line(f"{shown(model.key)}: {numbers}: {shown(self.output / model.key)}")
        exit_if_partial(has_problems)


class ChecklistsInfo:
    """Shows a checklist suite: lengths of instructions, categories, questions with weights, missing instructions.

    Example

      pfgen-fast checklists info essays-en
    """

    suite: str = Argument(..., "Directory of a checklist suite, or a packaged suite.", metavar="SUITE")

    def __call__(self) -> None:
        from ...lab.checklists.checklist_suite import ChecklistSuite
        from ...lab.words import length_table

        suite = ChecklistSuite.load(self.suite)
        _print_suite(suite)
        instructions: dict[str, list[str]] = {}
        for task in suite.tasks:
            if task.instruction and task.is_whole and task.length is None:
                instructions.setdefault(task.area, []).append(task.instruction)
        print_tables([replace(length_table(instructions, suite.words), title="Lengths of instructions")])
        for (area, category), checklist in suite.checklists.items():
            n_tasks = sum(task.place == (area, category) for task in suite.tasks)
            weights = "" if checklist.has_weights else ", equal weights"
            print_line((shown(f"{area}/{category}"), "bold"), f": {counted(n_tasks, 'task')}{weights}")
            for weight, question in zip(checklist.weights, checklist.questions, strict=True):
                print_line(f"  {weight:5.2f}  {shown(question)}")
        print_line((f"hash: {suite.hash}", "dim"))


@option_group
class PatientServer(ServerOptions):
    """The server of a judge, with a long timeout for requests about long answers."""

    timeout: float = Option(300.0, "Set the timeout of a whole reply, in seconds.")


class ChecklistsJudge:
    """Asks a judge the questions of each answer's checklist, and writes its verdicts.

    Every reply is stored next to the answers (judge-replies.jsonl) when it arrives. After an interruption, the same
    command continues, and no request is sent twice. The verdicts (judgements.jsonl) are derived from the replies. An
    answer without a usable reply after all tries is unjudged: the command names it, and the exit code is 3.

    Examples

      pfgen-fast checklists judge runs/* -s essays-en --model org/judge --base-url http://localhost:8000/v1 --dry-run
      pfgen-fast checklists judge runs/* -s essays-en -m judge-2024-08-06 --prompt-price 2.5 --reply-price 10 --budget 5
    """

    options: RunOptions
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
    structured: bool = Option(False, "Send a JSON schema of the verdicts, which some servers refuse.", group="Requests")
    asking: PatientServer

    def __call__(self) -> None:
        from ...lab.checklists.checklist_requests import JudgeOptions
        from ...lab.checklists.judge_runs import Judging

        asking, suite, quiet = self.asking, self.options.loaded, self.options.quiet
        judge = JudgeOptions(
            self.model,
            self.profile,
            self.method,
            n_ratings=self.ratings,
            temperature=number_of(self.temperature),
            max_tokens=self.max_tokens,
            seed=self.seed,
            request_options=asking.request_options(self.temperature),
            structured=self.structured,
        )
        judging = Judging.open(self.options.opened, suite, judge, offline=asking.offline)
        faults = [fault for judged in judging.runs for fault in judged.faults]
        caution(*faults)
        if not quiet:
            note(*suite.notes)
        if asking.dry_run or not (asking.offline or quiet):
            print_line(judging.estimate(asking.spending.prices).sentence("ratings"))
        if asking.dry_run:
            exit_if_partial(faults)
            return
        connect = None if asking.server is None else asking.server.engine
        with Watch("replies", quiet=quiet) as watch:
            problem = judging.ask(connect, spending=asking.spending, on_progress=watch.count, events=watch.events)
        is_whole = True
        for judged in judging.runs:
            progress = judged.progress()
            is_whole &= progress.is_whole
            if not quiet:
                print_line(shown(f"{judged.run.key}: {progress.sentence}"))
        if problem or not is_whole:
            why = problem or "some answers have no verdicts"
            can_go_on = connect is not None and judging.n_open
            fail(f"{why}; run the same command again to continue" if can_go_on else why, Exit.PARTIAL)


class ChecklistsDraft:
    """Lets a model propose the missing checklists of a suite, for a person to edit.

    SUITE is a directory with suite.json and tasks.jsonl. As in Appendix E of HelloBench's paper, experts propose
    questions about tasks of a category, similar questions merge, and of those that voters choose, 4 to 6 stay. They go
    to checklists.json, and all with their votes to draft.json. Replies are stored (draft-replies.jsonl): after an
    interruption, the same command continues. To draft a checklist again, remove it from checklists.json. The directory
    may have its own prompts: prompts/propose.txt, merge.txt, vote.txt.

    Examples

      pfgen-fast checklists draft letters --model org/model --base-url http://localhost:8000/v1
      pfgen-fast checklists draft letters --model org/model --offline
    """

    suite: Path = Argument(..., "Directory of a checklist suite, which may lack checklists.json.", metavar="SUITE")
    model: str = Option(..., "Name the model on its server.", "-m")
    experts: int = Option(5, "Ask for this many lists of proposals.", min=1)
    voters: int = Option(10, "Ask for this many votes.", min=1)
    max_tokens: int = Option(4096, "Limit the tokens of a reply.", min=1)
    asking: PatientServer
    quiet: Quiet = False

    def __call__(self) -> None:
        from ...lab.checklists.checklist_draft import Drafting, UnfinishedDraft
        from ...lab.checklists.suite_files import CHECKLISTS_FILE, shown_category
        from ...lab.judging.judge_asking import ask_in_rounds, estimate_of_tries
        from ...lab.judging.judge_requests import Judge

        asking, server, spending = self.asking, self.asking.server, self.asking.spending
        judge = Judge(self.model, 1.0, self.max_tokens, asking.request_options())
        drafting = Drafting(self.suite, judge, offline=asking.offline)
        with Watch("replies", quiet=self.quiet) as watch:
            counts: Any = {"spending": spending, "on_progress": watch.count, "events": watch.events}

            def ask(steps: Any) -> str | None:
                if asking.dry_run:
                    n_more = counted(len(steps) // self.experts * (1 + self.voters), "request")
                    print_line(f"{estimate_of_tries(steps, spending.prices).sentence('lists')}; then {n_more}")
                    raise SystemExit
                return None if server is None else ask_in_rounds(steps, server.engine, **counts)

            try:
                drafts = drafting.draft(ask, self.experts, self.voters)
            except UnfinishedDraft as why:
                fail(f"{why}; run the same command {'again' if server else 'without --offline'}", Exit.PARTIAL)
        for key, draft in () if self.quiet else drafts.items():
            sizes = f"{draft.n_proposed} questions, {len(draft.votes)} after merging, {len(draft.kept)} kept"
            print_line((shown(shown_category(key)), "bold"), f": {sizes}; votes of {draft.n_voters}:")
            for question, n_votes in draft.votes.items():
                print_line(f"  {n_votes:4}  {'' if question in draft.kept else '(left out) '}{shown(question)}")
        missing = [shown_category(key) for key, draft in drafts.items() if not draft.votes]
        if not self.quiet:
            n = counted(len(drafts) - len(missing), "checklist")
            print_line(f"{n} to edit: {shown(self.suite / CHECKLISTS_FILE)}")
        if missing:
            fail(f"no reply has usable questions: {few_names(missing)}", Exit.PARTIAL)


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

    options: SuiteOptions
    model: str = Option(..., "Name the model, and so the run's directory.", "-m")
    output: Path = Option(..., "Create the run's directory below this directory.", "-o", **FOLDER)
    engine: str = Option("openai", "Ask openai (any compatible server), anthropic, transformers, vllm.", "-e")
    length: list[str] | None = Option(None, "Take the tasks with this wanted length, not those of the table.")
    area: list[str] | None = Option(None, "Take only this area.")
    limit: int | None = Option(None, "Take only this many tasks, from all areas, for a quick test.", min=1)
    trials: int = Option(1, "Ask for this many answers to each task.", "-n", min=1)
    temperature: Temperature = 0.8
    max_tokens: MaxTokens = 16_384
    seed: str = Option("", "Set the seed (any text) of sampling.", metavar="TEXT")
    reasoning: ReasoningOptions
    engine_options: AnsweringOptions
    dry_run: bool = Option(False, "Only show the number of requests.")

    def __call__(self) -> None:
        from ...generation.engines.engine_registry import HOSTED
        from ...generation.prompts import Sampling
        from ...lab.checklists import checklist_generation as generation
        from ...lab.judging.judge_asking import estimated_tokens

        suite, quiet, engine_settings = self.options.loaded, self.options.quiet, chosen(self.engine_options)
        if self.temperature is None:
            engine_settings["omit"] = [*engine_settings.get("omit", ()), "temperature"]
        if self.engine not in HOSTED:
            del engine_settings["timeout"]
        temperature = 1.0 if self.temperature is None else self.temperature
        sampling = Sampling(self.max_tokens, temperature, None, stop=())
        setting = generation.ChecklistSetting(self.model, sampling, self.seed, self.reasoning.chosen)
        tasks = generation.chosen_tasks(suite, lengths=self.length or (), areas=self.area or (), limit=self.limit)
        if self.dry_run:
            n_prompt_tokens = self.trials * sum(estimated_tokens(task.instruction or "") for task in tasks)
            n_answers = self.trials * len(tasks)
            tokens = f"prompts of about {n_prompt_tokens:,} tokens, answers of {n_answers * self.max_tokens:,} at most"
            print_line(f"{counted(n_answers, 'answer')}: {tokens}")
            return
        folder = self.output / generation.run_name(self.model)
        engine = generation.open_answering(self.engine, setting, **engine_settings)
        with Watch("answers", quiet=quiet) as watch:
            counts: Any = {"on_progress": watch.count, "events": watch.events}
            answers = generation.generate_answers(
                suite, engine, setting, folder, tasks=tasks, trials=self.trials, **counts
            )
        if answers.problem:
            warn(f"{answers.problem}; run the same command again to ask for them")
        if not quiet:
            print_line(f"{counted(answers.n_new, 'new answer')}, {answers.n_answers:,} in all: {shown(folder)}")
            if answers.n_cut:
                note(f"{counted(answers.n_cut, 'answer')} ended at the limit of tokens (--max-tokens)")
        exit_if_partial(answers.missing)


def _print_suite(suite: ChecklistSuite, where: str = "") -> None:
    n_lengths = sum(task.length is not None for task in suite.tasks)
    lengths = f" and {n_lengths} with a wanted length ({shown(', '.join(suite.lengths))})" if n_lengths else ""
    size = f"{counted(len(suite.areas), 'area')}, {counted(len(suite.checklists), 'category')}"
    name, n_tasks = (shown(suite.name), "bold"), counted(len(suite.tasks) - n_lengths, "task")
    print_line(name, f" ({shown(suite.language)}): {n_tasks}{lengths}, {size}{where}")
    if parts := [task.id for task in suite.tasks if not task.is_whole]:
        why = f"because the suite lacks a part of the instruction: {few_names(parts)}"
        note(f"{counted(len(parts), 'task')} cannot be shown to a judge, {why}")
    note(*suite.notes)
