"""Threads that use the same scorer, table, index or list get the same results as one thread alone.

With a GIL these tests find little; they are for free-threaded Python (docs/design/platforms.md).
Other tests fork or end a process while threads score: no child hangs, and the exit code is 0.
"""

import contextlib
import os
import struct
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from makers.effort import share
from pfgen_fast import Question, Rule, Scorer, Suite, TrialsError
from pfgen_fast.suite.rules import PROFILES

N_THREADS = 8
ROUNDS = share(6, at_least=2)
ROWS = 300  # more than one block, so that the core's own threads work too

QUESTIONS = tuple(
    Question(
        f"Q{number}",
        f"What is {number}?",
        {"P": (f"The number {number} is a number.", "It follows others.", "数である。" * number), "R": ("A number.",)},
        (Rule("t", r"numbers?|数", importance=0.5), Rule("t", f"{number}", importance=0.25)),
    )
    for number in range(1, 6)
)
TEXTS = [
    "The number 3 is a number.", "数である。数である。", "", "It follows 2 and others, which are numbers.",
    "é" * 120,
]  # fmt: skip


def suite() -> Suite:
    """A new one, of which nothing is indexed yet."""
    return Suite("made", QUESTIONS, "0" * 40)


def rows() -> tuple[list[str], list[str]]:
    """The questions and the answers of a batch."""
    return [QUESTIONS[row % len(QUESTIONS)].question_id for row in range(ROWS)], [TEXTS[row % 5] for row in range(ROWS)]


def at_once(work: Callable[[int], Any]) -> list[Any]:
    """Calls `work(number)` in threads that begin together, and returns what each returns."""
    barrier = threading.Barrier(N_THREADS)
    results: list[Any] = [None] * N_THREADS

    def run(number: int) -> None:
        barrier.wait()
        try:
            results[number] = work(number)
        except BaseException as error:
            results[number] = error

    threads = [threading.Thread(target=run, args=(number,)) for number in range(N_THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return results


def ways(scorer: Scorer) -> list[Callable[[], Any]]:
    """All that a scorer is asked for; each way is called by several threads."""
    questions, answers = rows()
    chunked = pa.chunked_array([answers[:100], answers[100:]])
    return [
        lambda: scorer.score(questions, answers).average.tolist(),
        lambda: scorer.reward(questions, answers).tolist(),
        lambda: scorer.score(pa.array(questions), chunked).average.tolist(),
        lambda: [scorer.score_one(*row) for row in zip(questions[:20], answers[:20], strict=True)],
        lambda: [scorer.score(questions[0], answers).details(row) for row in range(0, ROWS, 50)],
        lambda: pa.table(scorer.score(questions, answers)).to_pydict(),
        lambda: list(scorer.score(questions, answers).rows(7, 50)),
        lambda: scorer.signature,
    ]


@pytest.mark.parametrize("profile", PROFILES)
def test_one_scorer_gives_many_threads_the_same_results_as_one(profile):
    expected = [way() for way in ways(Scorer(suite(), profile=profile, threads=1))]
    content = Scorer(suite(), profile=profile).to_bytes()
    for _ in range(ROUNDS):
        # Each is new, so the first thread opens its questions and fills its attributes.
        asked = ways(Scorer.from_bytes(content, threads=2))
        actual = at_once(lambda number, asked=asked: [asked[(number + i) % len(asked)]() for i in range(len(asked))])
        for number, thread_scores in enumerate(actual):
            assert thread_scores == expected[number:] + expected[:number]


def test_scorers_made_at_once_share_one_index():
    questions, answers = rows()
    for _ in range(ROUNDS):
        fresh = suite()
        scorers = at_once(lambda number, fresh=fresh: Scorer(fresh, threads=1 + number % 3))
        assert len({id(fresh.indexes["leaderboard"])}) == len(fresh.indexes) == 1
        assert len({tuple(scorer.reward(questions, answers).tolist()) for scorer in scorers}) == 1


def test_an_arrow_capsule_is_read_by_one_thread_alone():
    scorer = Scorer(suite(), threads=1)

    def read(exporter: object) -> str:
        try:
            return str(len(scorer.score("Q3", exporter)))
        except TrialsError as error:
            return str(error)

    for _ in range(20):
        capsule = pa.chunked_array([[TEXTS[0]]]).__arrow_c_stream__()
        exporter = type("Exporter", (), {"__arrow_c_stream__": lambda self, schema=None, capsule=capsule: capsule})()
        result = sorted(at_once(lambda _, exporter=exporter: read(exporter)))
        assert result == ["1"] + ["answers: an Arrow capsule that was read before"] * (N_THREADS - 1)


def test_an_arrow_buffer_that_another_thread_changes_is_scored_or_refused():
    scorer = Scorer(suite(), threads=1)
    contents = ["𠮷".encode() * 40, b"\xf7\xbf\xbf\xbf" * 40]  # beyond the last code point, if it was not checked
    buffer = bytearray(contents[0])
    offsets = pa.py_buffer(struct.pack("=3i", 0, 80, len(buffer)))
    answers = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(buffer)])

    def work(number: int) -> None:
        for i in range(300):
            if number % 2:
                buffer[:] = contents[i % 2]
                continue
            with contextlib.suppress(TrialsError):
                scorer.reward("Q3", answers)

    at_once(work)


# Row 0 is invalid when its tokens are read, and valid when it is scored.
CHANGES = """
import struct
from pathlib import Path
import pyarrow as pa
from pfgen_fast.suite.units import FileTokenizer, Token
buffer = bytearray(b"\\xff\\xff\\xff\\xfflast")
class Changing(FileTokenizer):
    source = {"unit": "token", "tokenizer": "words"}
    def tokens(self, texts):
        if "last" in texts:
            buffer[:4] = b"ab c"
        return [[Token(ord(text[i]), i, i + 1) for i in range(len(text))] for text in texts]
RULES = (Rule("t", "c", importance=0.5),)
question = Question("Q", "?", {"P": ("ab c d",)}, RULES, tokenizer=Changing(Path("t.json"), ""))
offsets = pa.py_buffer(struct.pack("=3i", 0, 4, 8))
answers = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(buffer)])
scorer = Scorer(Suite("made", (question,), "0" * 40), profile=sys.argv[1])
print(len(scorer.score("Q", answers)))
"""


@pytest.mark.parametrize(
    "profile", [PROFILES[0], *(pytest.param(name, marks=pytest.mark.slow) for name in PROFILES[1:])]
)
def test_a_text_in_tokens_that_becomes_valid_after_it_was_read_is_scored(profile):
    assert output_of(CHANGES, profile) == "2\n"


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python has a GIL")
def test_scoring_leaves_the_gil_off():
    program = "import sys, pfgen_fast; pfgen_fast.Scorer('mini'); print(sys._is_gil_enabled())"
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, encoding="utf-8", check=True
    )
    assert run.stdout == "False\n"


# Forks and exits

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

# Each scorer is new, so its sections are checked while the children fork; making it imports NumPy.
FORKS = """
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
