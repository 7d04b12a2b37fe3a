"""`make fuzz`: core against oracle on generated suites, for as long as one likes; see scoring/differential.py.

Each round has its own seed, so that a round which fails can be run again alone: `--seed N --rounds 1`. When the time is
over, further rounds look for kinds of cases that no round has reached, so the result does not depend on the speed of
the machine.
"""

import argparse
import time
from collections import Counter
from itertools import count

import hypothesis
from makers import strategies
from scoring import differential

BATCHES = 100
MOST_ROUNDS = 60
"""Rounds within which every kind of case must be reached."""


def main() -> None:
    """Runs rounds until the time is over, and says how many cases of each kind were compared."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="begin no new round after this time (default: 60)")
    parser.add_argument("--rounds", type=int, help="run so many rounds, whatever time they take")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first round (default: 0)")
    options = parser.parse_args()
    reached: Counter[str] = Counter()
    end = time.monotonic() + options.seconds
    for n_done in count():
        missing = differential.KINDS - set(reached)
        if n_done == options.rounds:
            break
        if options.rounds is None and time.monotonic() > end and (not missing or n_done >= MOST_ROUNDS):
            break
        print(f"round with seed {options.seed + n_done}", flush=True)
        play(options.seed + n_done, reached)
    for kind, n_batches in sorted(reached.items()):
        print(f"{n_batches:>9,}  {kind}")
    if missing and n_done >= MOST_ROUNDS:
        raise SystemExit(f"no case with {', '.join(sorted(missing))}: the generators no longer reach it")


def play(seed: int, reached: Counter[str]) -> None:
    """Compares `BATCHES` batches, each in one of the modes, and shrinks the first that differs."""

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=BATCHES, database=None, deadline=None, suppress_health_check=list(hypothesis.HealthCheck)
    )
    @hypothesis.given(batch=strategies.batches(), mode=hypothesis.strategies.sampled_from(differential.MODES))
    def compare(batch, mode):
        suite, questions, answers = batch
        differential.check(suite, questions, answers, *mode)
        reached.update(differential.kinds(suite, questions, answers, mode[0]))
        reached.update({"batches": 1, "answers": len(answers)})

    compare()


if __name__ == "__main__":
    main()
