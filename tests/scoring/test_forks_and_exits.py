"""Processes that fork or end while threads score: no child hangs, and a successful program ends as one."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from makers.effort import share

MADE = """
import os, signal, sys, threading, time
from pfgen_fast import Question, Rule, Scorer, Suite
QUESTIONS = tuple(
    Question(f"Q{i}", f"What is {i}?", {"P": tuple(f"The number {i} is {j}." for j in range(300))},
             (Rule("t", "n.mbers?", importance=0.5),) if i % 2 else ())
    for i in range(4)
)
CONTENT = Scorer(Suite("made", QUESTIONS, "0" * 40)).to_bytes()
IDS, ANSWERS = [f"Q{i % 4}" for i in range(400)], ["The number 3 is a number."] * 400
EXPECTED = list(Scorer.from_bytes(CONTENT).score(IDS, ANSWERS))
"""

# Each scorer is new, so its sections are checked while the children fork.
FORKS = """
import numpy
sys.setswitchinterval(1e-6)  # so that a fork falls into any step of the other thread
n_wrong = 0
for _ in range(int(sys.argv[1])):
    scorer = Scorer.from_bytes(CONTENT, threads=2)
    thread = threading.Thread(target=lambda: [list(scorer.score(IDS, ANSWERS)) for _ in range(3)])
    thread.start()
    children = []
    for _ in range(4):
        child = os.fork()
        if child == 0:
            signal.alarm(30)
            os._exit(list(scorer.score(IDS[:8], ANSWERS[:8])) != EXPECTED[:8])
        children.append(child)
    thread.join()
    n_wrong += sum(os.waitpid(child, 0)[1] != 0 for child in children)
print(n_wrong)
"""

# Daemon threads score until there is no interpreter any more.
EXITS = """
scorer = Scorer.from_bytes(CONTENT, threads=2)
ways = {
    "batches": lambda: scorer.score(IDS * 9, ANSWERS * 9),
    "arrays": lambda: scorer.reward(IDS, ANSWERS),
    "patterns": lambda: scorer.score("Q1", ANSWERS[:9]),
    "generators": lambda: scorer.score("Q0", (answer for answer in ANSWERS)),
    "first uses": lambda: Scorer.from_bytes(CONTENT).score_one("Q1", ANSWERS[0]),
}
started = threading.Semaphore(0)
def work(way):
    way()
    started.release()
    while True:
        way()
for _ in range(2):
    threading.Thread(target=work, args=(ways[sys.argv[1]],), daemon=True).start()
started.acquire()
print("done")
"""


def output_of(program: str, argument: object) -> str:
    run = subprocess.run(
        [sys.executable, "-c", MADE + program, str(argument)], capture_output=True, text=True, timeout=120
    )
    assert (run.returncode, run.stderr) == (0, "")
    return run.stdout


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_process_forked_while_a_thread_scores_can_score():
    assert output_of(FORKS, share(80)) == "0\n"


@pytest.mark.parametrize(
    "way",
    [
        "arrays",
        "patterns",
        *(pytest.param(way, marks=pytest.mark.slow) for way in ("batches", "generators", "first uses")),
    ],
)
def test_a_program_ends_well_while_daemon_threads_score(way):
    for _ in range(share(8, at_least=1)):
        assert output_of(EXITS, way) == "done\n"
