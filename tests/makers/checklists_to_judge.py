"""A small suite of our own, runs with answers, and a judge that depends on nothing but the request."""

import hashlib
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from makers.fault_server import Reply, Request, serving
from makers.own_checklists import suite_of
from pfgen_fast.lab.checklists.checklist_requests import JudgeOptions
from pfgen_fast.lab.checklists.checklist_runs import Answer, Run, open_runs, write_run
from pfgen_fast.lab.checklists.checklist_suite import ChecklistSuite
from pfgen_fast.lab.checklists.judge_runs import Judging
from pfgen_fast.lab.checklists.tasks import ChecklistTask, JudgePrompts
from pfgen_fast.lab.judging.judge_asking import Spending
from pfgen_fast.lab.judging.judge_requests import Server

N_TASKS = 12
MODEL = "judge-2024-08-06"
OPTIONS = JudgeOptions(MODEL)


def prompts() -> JudgePrompts:
    shown = 'Asked: {{"instruction": {instruction}}}\nAnswered: {{"response": {response}}}\n'
    return JudgePrompts(
        shown + "Judge these {num_checklist}: {checklists}",
        "You judge by lists.",
        "You judge as a whole.",
        shown + "From 0 to 10?",
        shown + "From 0 to 10, with {checklists} in mind?",
    )


def suite(**changes: Any) -> ChecklistSuite:
    """Twelve tasks in two areas, with lists of three and two questions."""
    questions = {
        ("tales", "short"): ("Is it short?", "Is it a tale?", "Does it end?"),
        ("letters", "formal"): ("Is it polite?", "Is it dated?"),
    }
    weights = dict(zip(questions, ((50, 30, 20), (60, 40)), strict=True))
    keys = list(questions)
    tasks = [ChecklistTask(f"T{number:02}", *keys[number % 2], f"Write number {number}.") for number in range(N_TASKS)]
    return suite_of("small", questions, weights, **{"tasks": tasks, "prompts": prompts(), **changes})


def answers_of(name: str, n: int = N_TASKS) -> list[Answer]:
    return [Answer(f"T{number:02}", f"{name} wrote {{number}} {number}.\n\nThe end.") for number in range(n)]


def run(folder: Path, answers: Iterable[Answer] | None = None) -> Run:
    """A run that is named after its folder."""
    write_run(folder, answers_of(folder.name) if answers is None else answers, (), {"model": folder.name})
    (result,) = open_runs([folder])
    return result


def verdicts_of(content: str, seed: int, n_questions: int) -> list[float]:
    digest = hashlib.sha256(f"{content}\0{seed}".encode()).digest()
    return [(byte % 5) / 4 for byte in digest[:n_questions]]


def entries(*verdicts: Any, first: int = 0, suffix: str = "") -> list[dict[str, Any]]:
    """The list in a reply to a checklist request."""
    return [
        {"checklist_id": id, "reason": f"reason {id}{suffix}", "evaluation_score": verdict}
        for id, verdict in enumerate(verdicts, start=first)
    ]


def reply_of(content: str, seed: int) -> str:
    """A reply to a checklist request, with reasons."""
    n_questions = int(content.split("Judge these ", 1)[1].split(":", 1)[0])
    return json.dumps(entries(*verdicts_of(content, seed, n_questions), suffix=f" of {seed}"))


def as_judge(text: str, *, model: str = MODEL, fingerprint: str = "fp_1", finish_reason: str = "stop") -> Reply:
    """A server's reply, with the details of the server."""
    choice = {"index": 0, "finish_reason": finish_reason, "message": {"role": "assistant", "content": text}}
    return Reply(json.dumps({"model": model, "system_fingerprint": fingerprint, "choices": [choice]}).encode())


def honest(request: Request) -> Reply:
    return as_judge(reply_of(request.prompt, request.body["seed"]))


def ask(
    judging: Judging, behave: Callable[[Request], Reply] = honest, *, spending: Spending | None = None, **options: Any
) -> tuple[str | None, list[Request]]:
    """Asks a server with this behaviour; returns why replies are missing, and the requests."""
    options = {"backoff": 0.001, "retries": 2, "timeout": 20.0, **options}
    with serving(behave) as server:
        problem = judging.ask(Server(server.base_url, **options).engine, spending=spending)
        return problem, server.requests


def judged(
    paths: Iterable[Path],
    behave: Callable[[Request], Reply] = honest,
    *,
    options: JudgeOptions = OPTIONS,
    judged_by: ChecklistSuite | None = None,
    **server: Any,
) -> tuple[Judging, str | None]:
    """Judges runs; returns the judging, and why replies are missing."""
    judging = Judging.open(open_runs(paths), judged_by or suite(), options)
    problem, _ = ask(judging, behave, **server)
    return judging, problem


def judge_command(
    call: Callable[..., Any],
    runs: Path,
    *options: object,
    behave: Callable[[Request], Reply] | None = None,
    model: str = MODEL,
) -> tuple[int, str, str, list[Request]]:
    """Types `checklists judge` for runs beside a `suite`; with a behaviour, in front of a server that has it."""
    arguments = ["checklists", "judge", runs, "--suite", runs.parent / "suite", "--judge", model, *options]
    if behave is None:
        return (*call(*arguments), [])
    with serving(behave) as server:
        return (*call(*arguments, "--base-url", server.base_url, "--retries", "0"), server.requests)
