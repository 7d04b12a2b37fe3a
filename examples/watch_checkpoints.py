"""Scores the checkpoints of a training as they appear, and keeps a leaderboard of them.

    pip install 'pfgen-fast[transformers]'
    python examples/watch_checkpoints.py runs/my-training --suite my-suite --trials 10

It may be stopped and restarted at any time: scored checkpoints are not scored again, and an unfinished run resumes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from pfgen_fast import PfgenError, Suite
from pfgen_fast.generation.engines import Sampling
from pfgen_fast.generation.prompts import MODES, NUM_EXAMPLES, STOP
from pfgen_fast.integrations.checkpoints import Checkpoint, Watch, complete_checkpoints, watch
from pfgen_fast.runs.result import RunResult
from pfgen_fast.scoring.scorer import signature_of


def print_progress(checkpoint: Checkpoint, done: int, total: int) -> None:
    """Shows on a terminal how many answers of a checkpoint there are."""
    if sys.stderr.isatty():
        end = "" if done < total else "\n"
        print(f"\r{checkpoint.folder.name}: {done} of {total} answers", end=end, file=sys.stderr, flush=True)


def print_line(checkpoint: Checkpoint, result: RunResult | PfgenError) -> None:
    """Prints the outcome of a checkpoint in one line."""
    if isinstance(result, PfgenError):
        print(f"{checkpoint.step:>8}  {result}", flush=True)
        return
    parts = [result.scores.total(metric) for metric in ("fluency", "truthfulness", "helpfulness")]
    print(f"{checkpoint.step:>8} {result.score:>12.4f}" + "".join(f"{part:>14.4f}" for part in parts), flush=True)


def tracker(name: str | None, training: Path, suite: Suite) -> Callable[[Checkpoint, RunResult], object]:
    """What logs the result of a checkpoint: one run of the tracker for the training, continued after a restart."""
    if name is None:
        return lambda checkpoint, result: None
    log_run = import_module(f"pfgen_fast.integrations.{name}").log_run
    into = training / "pfgen" if name == "tensorboard" else training.resolve().name
    signature = signature_of(suite)
    return lambda checkpoint, result: log_run(result, into=into, step=checkpoint.step, suite=suite, signature=signature)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("folder", type=Path, help="output_dir of the training, which holds checkpoint-N")
    made.add_argument("--suite", default="mini", help="folder of a suite, or 'mini' (the default)")
    made.add_argument("--output", type=Path, default=Path("result"), help="folder for runs and leaderboard.md")
    made.add_argument("--trials", type=int, default=10, help="how often each question is asked")
    made.add_argument(
        "--mode", choices=MODES, default="completion", help="kind of prompts; qa and chat need a template"
    )
    made.add_argument("--examples", type=int, default=NUM_EXAMPLES, help="sample answers that a prompt shows")
    made.add_argument("--max-tokens", type=int, default=300)
    made.add_argument("--device", help="such as cpu or cuda:1; a GPU that the training does not need")
    made.add_argument("--every", type=float, default=30, help="seconds between two looks at the folder")
    made.add_argument("--log", choices=("mlflow", "wandb", "tensorboard"), help="log each score, with a report, there")
    made.add_argument("--once", action="store_true", help="score what is there, and stop")
    return made


def main() -> None:
    """Watches until Ctrl-C."""
    options = parser().parse_args()
    try:
        watching = Watch(
            Suite.load(options.suite),
            options.output,
            options.trials,
            options.mode,
            Sampling(max_tokens=options.max_tokens, stop=STOP[options.mode]),
            options.examples,
            options.device,
            on_progress=print_progress,
            on_problem=lambda checkpoint, problem: print(f"{checkpoint.folder.name}: {problem}", flush=True),
        )
        log = tracker(options.log, options.folder, watching.suite)
        print(f"{'step':>8} {'score':>12}{'fluency':>14}{'truthfulness':>14}{'helpfulness':>14}", flush=True)
        for checkpoint, result in watch(options.folder, watching, seconds=None if options.once else options.every):
            print_line(checkpoint, result)
            if isinstance(result, RunResult):
                log(checkpoint, result)
        if options.once and not complete_checkpoints(options.folder):
            raise PfgenError(f"{options.folder}: no complete checkpoint-N of a Trainer here")
    except PfgenError as error:
        raise SystemExit(f"error: {error}") from None
    except KeyboardInterrupt:
        raise SystemExit("stopped; run the same command again to continue") from None


if __name__ == "__main__":
    main()
