"""`pfgen-fast checklists judge`: asks a judge about the answers of runs, by the checklists of a suite."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from .app import Exit, Quiet, counted, fail, note, print_line, shown, warn
from .asking import watch_over
from .checklists_options import MethodChoice, RunsWithAnswers, SuiteOption
from .engine_options import with_options
from .server_options import (
    JudgeTemperature,
    ServerOptions,
    Structured,
    asking_options,
    number_of,
    retried_without_schema,
    warn_of_family,
)

if TYPE_CHECKING:
    from ..checklists.judging.ask_runs import Judging
    from ..checklists.judging.runs_to_judge import RunToJudge
    from ..checklists.judging.sentinels import Sentinel
    from ..judging.budget import Spending
    from ..judging.requests import Server

_N_NAMED = 3


ProfileChoice = Literal["plain", "upstream"]
EmptyChoice = Literal["judge", "zero"]


@dataclass(frozen=True)
class PatientServer(ServerOptions):
    """The server of a judge, whose replies to long answers take long."""

    timeout: Annotated[float, typer.Option(min=0.001, help="Set the timeout in seconds of a request.")] = 300.0
    structured: Structured = False


@with_options(asking=asking_options(PatientServer))
@retried_without_schema("asking")
def judge(
    runs: RunsWithAnswers,
    suite: SuiteOption,
    model: Annotated[
        str,
        typer.Option(
            "--model", "--judge", "-m", help="Name the judge on its server, best with its date.", metavar="MODEL"
        ),
    ],
    profile: Annotated[
        ProfileChoice,
        typer.Option(
            "--profile",
            help="plain shows an answer as it is; upstream as HelloBench does: words joined by single blanks, "
            "temperature 0.8, seed 42, and the verdicts may stand anywhere in a reply.",
        ),
    ] = "plain",
    method: Annotated[
        MethodChoice,
        typer.Option(
            "--method", help="Ask for a verdict on each question, or one rating without or with the questions."
        ),
    ] = "checklist",
    area: Annotated[
        list[str] | None, typer.Option("--area", help="Judge only this area. May be repeated.", metavar="AREA")
    ] = None,
    tries: Annotated[int, typer.Option("--tries", min=1, help="Ask at most this often for a usable reply.")] = 3,
    ratings: Annotated[
        int, typer.Option("--ratings", min=1, help="Rate each answer this often, with different seeds.")
    ] = 1,
    temperature: JudgeTemperature = None,
    max_tokens: Annotated[int, typer.Option("--max-tokens", min=1, help="Limit the tokens of a reply.")] = 4096,
    seed: Annotated[str, typer.Option("--seed", help="Set the seed (any text). upstream: a number.")] = "",
    empty: Annotated[
        EmptyChoice, typer.Option("--empty", help="Judge empty answers like others, or give them 0 without asking.")
    ] = "judge",
    sentinel: Annotated[
        int,
        typer.Option(
            "--sentinel",
            min=0,
            help="Ask again about this many judged answers of each run, to see whether the judge has changed.",
            metavar="N",
        ),
    ] = 0,
    write_batch: Annotated[
        Path | None,
        typer.Option(
            "--write-batch", help="Write the missing requests for the engine's batch API; send nothing.", metavar="FILE"
        ),
    ] = None,
    read_batch: Annotated[
        list[Path] | None,
        typer.Option("--read-batch", help="Read a batch's output; send nothing. May be repeated.", metavar="FILE"),
    ] = None,
    quiet: Quiet = False,
    *,
    asking: PatientServer,
) -> None:
    """Asks a judge the questions of each answer's checklist, and writes its verdicts.

    Every reply is kept beside the answers (judge-replies.jsonl) when it comes: whatever stops the command, the same
    command continues, and nothing is asked twice. The verdicts (judgements.jsonl) are derived from the replies. A reply
    that cannot be used is asked for again with another seed; an answer that has none after all tries is unjudged, is
    named, and makes the exit code 3.

    Examples

      pfgen-fast checklists judge runs/* -s essays-en --model org/judge --base-url http://localhost:8000/v1 --dry-run

      pfgen-fast checklists judge runs/* -s essays-en -m judge-2024-08-06 --prompt-price 2.5 --reply-price 10 --budget 5

      pfgen-fast checklists judge runs/mine -s essays-en -m org/judge --ratings 5 --base-url http://localhost:8000/v1

      pfgen-fast checklists judge runs/* -s essays-en -m judge-2024-08-06 --write-batch batch.jsonl
    """
    from ..checklists import ChecklistSuite, Judging, open_runs
    from ..checklists.judging.ask_runs import kept_by_others, names_a_version
    from ..checklists.judging.runs_to_judge import JudgeOptions

    _refuse_two_ways(write_batch, read_batch, offline=asking.offline, dry_run=asking.dry_run)
    how = JudgeOptions(
        model,
        profile,
        method,
        tries,
        ratings,
        number_of(temperature),
        max_tokens,
        seed,
        empty,
        tuple(area or ()),
        asking.request_options(temperature),
        asking.structured,
    )
    opened = ChecklistSuite.load(suite)
    judging = Judging.open(open_runs(runs), opened, how, offline=asking.offline)
    for fault in (fault for one in judging.runs for fault in one.faults):
        warn(fault)
    warn_of_family(model, (one.run.model for one in judging.runs))
    if not quiet:
        if not names_a_version(model):
            note(
                f"the name {model} holds no date or hash, so it may become another model; the replies say which it was"
            )
        for sentence in (*opened.notes, *kept_by_others(judging), *_stale(judging)):
            note(sentence)
    problem = _take(judging, read_batch) if read_batch else None
    sentinels = (
        [] if asking.offline or read_batch or write_batch is not None else _sentinels(judging, sentinel, quiet=quiet)
    )
    asked = Judging([*judging.runs, *(one.now for one in sentinels)])
    if not read_batch and not asking.offline and (asking.dry_run or not quiet):
        _say_cost(asked, asking.spending)
    if write_batch is not None and not asking.dry_run:
        _write_batch(judging, write_batch)
    if asking.dry_run or write_batch is not None:
        _end_if_partial(judging)
        return
    server = None if read_batch else asking.server
    problem = _ask(asked, judging, server, asking.spending, quiet=quiet) or problem
    _finish_sentinels(sentinels, quiet=quiet)
    _conclude(judging, problem, is_offline=server is None, quiet=quiet)


def _refuse_two_ways(write_batch: Path | None, read_batch: list[Path] | None, *, offline: bool, dry_run: bool) -> None:
    given = {"--write-batch": write_batch is not None, "--read-batch": bool(read_batch), "--offline": offline}
    chosen = [name for name, is_given in given.items() if is_given]
    if len(chosen) > 1:
        fail(f"{' and '.join(chosen)}: expected one of them")
    if read_batch and dry_run:
        fail("--read-batch and --dry-run: expected one of them")


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
    found = []
    for one in judging.runs:
        names = judging.stale(one)
        if names:
            what = f"{counted(len(names), 'judgement')} of another answer, instruction, checklist or prompt"
            found.append(f"{one.run.key}: {what} ({_first(names)}), which no longer count")
    return found


def _end_if_partial(judging: Judging) -> None:
    if any(one.faults for one in judging.runs):
        raise SystemExit(Exit.PARTIAL)


def _take(judging: Judging, sources: list[Path]) -> str | None:
    """Takes in output files of a batch; returns a sentence if not all of it could be used."""
    from ..checklists.judging.batches import read_batch

    taken = read_batch(judging, sources)
    for problem in taken.problems:
        warn(problem)
    print_line(f"{taken.n_new:,} new {'reply' if taken.n_new == 1 else 'replies'}")
    return "some lines of the batch could not be used" if taken.problems else None


def _write_batch(judging: Judging, path: Path) -> None:
    from ..checklists.judging.batches import write_batch

    n_requests = write_batch(judging, path)
    print_line(f"{counted(n_requests, 'request')} written to {shown(str(path))}; give its output to --read-batch")


def _sentinels(judging: Judging, n_answers: int, *, quiet: bool) -> list[Sentinel]:
    from ..checklists.judging.sentinels import open_sentinel

    if not n_answers:
        return []
    opened = {one.run.key: open_sentinel(one, n_answers) for one in judging.runs}
    for key, one in opened.items():
        if one is None and not quiet:
            note(f"{key}: no sentinel, because nothing has been judged before")
    return [one for one in opened.values() if one is not None]


def _ask(asked: Judging, judging: Judging, server: Server | None, spending: Spending, *, quiet: bool) -> str | None:
    """Asks, and writes the judgements that follow, whatever stops the asking."""
    try:
        if server is None or not asked.n_open:
            return None
        with watch_over("replies", quiet=quiet) as watch:
            ask = partial(asked.ask, server.engine, spending=spending)
            return ask(on_progress=watch.count, events=watch.events)
    except KeyboardInterrupt:
        fail("stopped; the replies so far are kept; run the same command again to continue", Exit.STOPPED)
    finally:
        judging.write()


def _finish_sentinels(sentinels: list[Sentinel], *, quiet: bool) -> None:
    for one in sentinels:
        name = one.before.run.key
        if not one.write():
            note(f"{name}: the sentinel is not complete; the same command continues it")
        elif not quiet:
            n = len(one.sides()[1])
            said = f"{name}: sentinel of {counted(n, 'answer')}, {one.n_equal:,} judged as before"
            print_line(shown(f"{said}: {one.path} (checklists drift --sentinels says what has changed)"))


def _conclude(judging: Judging, problem: str | None, *, is_offline: bool, quiet: bool) -> None:
    """Says how far each run is; ends with 3 if an answer has no verdicts."""
    is_whole = problem is None
    for one in judging.runs:
        standing = one.standing()
        parts = [f"{standing.n_judged:,} of {counted(standing.n_ratings, 'rating')}"]
        if standing.unjudged:
            listed = [f"{id} ({fault})" for id, fault in standing.unjudged]
            parts.append(f"{len(listed):,} unjudged after all tries: {_first(listed)}")
        if standing.n_open:
            parts.append(f"{standing.n_open:,} without a reply")
        if one.faults:
            parts.append(f"{counted(len(one.faults), 'answer')} that cannot be read")
        if one.too_long:
            parts.append(f"{len(one.too_long):,} too long to be sent: {_first(one.too_long)}")
        if standing.n_given:
            parts.append(f"{standing.n_given:,} empty, which got 0")
        if standing.n_cut:
            parts.append(f"{standing.n_cut:,} shown to the judge up to word 16,000")
        parts += _versions(one)
        is_whole &= not (standing.unjudged or standing.n_open or one.too_long or one.faults)
        if not quiet:
            print_line(shown(f"{one.run.key}: {'; '.join(parts)}"))
    if not is_whole:
        why = problem or "some answers have no verdicts"
        fail(why if is_offline else f"{why}; run the same command again to continue", Exit.PARTIAL)


def _versions(one: RunToJudge) -> list[str]:
    versions = one.standing().versions
    if len(versions) > 1:
        return ["judged by several versions: " + ", ".join(f"{name or 'unknown'} ({n:,})" for name, n in versions)]
    return [f"judged by {name}" for name, _ in versions if name]


def _first(names: Any) -> str:
    listed = list(names)
    more = f" and {len(listed) - _N_NAMED:,} more" if len(listed) > _N_NAMED else ""
    return ", ".join(listed[:_N_NAMED]) + more
