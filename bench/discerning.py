"""Whole tests of the n-gram scores on published answers, each in a new process: time and memory.

A process gets the number of originals to each question and of bootstrap draws.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from pfgen_fast import Scorer, Suite
from pfgen_fast.discernment import Collection, Plan, discern, usual_plan
from pfgen_fast.discernment.oracle import perturbed
from pfgen_fast.evaluators.evaluator import Item, language_of
from pfgen_fast.evaluators.ngram import NgramEvaluator
from pfgen_fast.oracle import Oracle

from .agreement import agree
from .memory import peak_bytes
from .published import Mix, checkout_folder, evenly, load_mix
from .table import Bound, Row

_THREADS = 2
_DRAWS = 1_000
_ROUNDS = 3
_N_PER_QUESTION_OF_USUAL = 2
_N_PER_QUESTION_OF_LARGE: Mapping[int, float] = {225: 12, 1_000: 60}
"""A million and five million texts, with the seconds that they may take."""
_N_QUESTIONS_COMPARED, _N_PER_QUESTION_COMPARED = 2, 5


def discern_the_mix(suite: Suite, mix: Mix) -> list[Row]:
    """Measures the usual plan on 100 answers, without and with the bootstrap, and on many more without.

    Raises:
        Disagreement: A score is not the one that the oracles find.
    """
    _compare(suite, mix)
    rows = []
    for draws, most in ((0, 1), (_DRAWS, 10)):
        fastest = min((_measured(_N_PER_QUESTION_OF_USUAL, draws) for _ in range(_ROUNDS)), key=_seconds)
        with_draws = f"{draws:,} draws" if draws else "no bootstrap"
        rows += _rows(f"discern, {int(fastest['n_items']):,} originals, {with_draws}", fastest, most)
    for n_per_question, limit in _N_PER_QUESTION_OF_LARGE.items():
        found = _measured(n_per_question, 0)
        rows += _rows(f"discern, {int(found['n_texts']):,} texts made and scored", found, limit)
        rows.append(
            Row("  peak memory of that process", found["n_bytes"] / 1e6, "MB", must=Bound("value", "<=", 1_000))
        )
    return rows


def _seconds(measured: Mapping[str, float]) -> float:
    return measured["seconds"]


def _rows(what: str, measured: Mapping[str, float], most: float) -> list[Row]:
    return [
        Row(f"{what}, {_THREADS} threads", measured["seconds"], "s", must=Bound("value", "<=", most)),
        Row("  processor time, which load leaves alone", measured["cpu"], "s"),
    ]


def _measured(n_per_question: int, draws: int) -> dict[str, float]:
    command = [sys.executable, "-m", "bench.discerning", str(n_per_question), str(draws)]
    found: dict[str, float] = json.loads(subprocess.check_output(command, cwd=Path(__file__).parent.parent))
    return found


def _items(mix: Mix, n_per_question: int) -> Iterator[Item]:
    """Answers to each question, evenly from those that are not blank."""
    of_questions: dict[str, list[str]] = {}
    for question, answer in zip(mix.questions, mix.answers, strict=True):
        if answer.strip():
            of_questions.setdefault(question, []).append(answer)
    for number, (question, answers) in enumerate(of_questions.items()):
        for place, answer in enumerate(evenly(answers, n_per_question)):
            yield Item(f"{number}/{place}", answer, "answers", language_of(answer), question)


def _compare(suite: Suite, mix: Mix) -> None:
    """Compares the scores of the usual plan with those that the oracles find, text by text."""
    items = list(_items(mix, _N_PER_QUESTION_COMPARED))[: _N_QUESTIONS_COMPARED * _N_PER_QUESTION_COMPARED]
    plan, oracle = usual_plan(), Oracle(suite)
    found = discern(NgramEvaluator(Scorer(suite, threads=_THREADS)), items, plan, draws=0, threads=_THREADS).scored
    for number, item in enumerate(items):
        for each, text in zip(found.perturbed, _by_oracle(item, items, plan), strict=True):
            what = f"{each.perturbation.name} of {item.id}"
            agree(what, bool(each.is_possible[number]), text is not None)
            if text is not None:
                expected = oracle.score_one(item.question or "", text)["average"]
                agree(what, float(each.scores["average"][number]), expected)


def _by_oracle(item: Item, items: list[Item], plan: Plan) -> list[str | None]:
    donors = [other.text for other in items if other.question != item.question]
    texts: list[str | None] = []
    for kind in plan.kinds:
        made = perturbed(item.text, kind, plan.of_kind(kind), language=item.language or "ja", donors=donors)
        texts += [text if isinstance(text, str) else None for text in made]
    return texts


def _measure(n_per_question: int, draws: int) -> dict[str, float]:
    """What a process measures: everything after the suite is open and the items are there."""
    checkout = checkout_folder()
    evaluator = NgramEvaluator(Scorer(Suite.load(checkout / "data"), threads=_THREADS))
    collection = Collection.of(_items(load_mix(checkout), n_per_question))
    begin, begin_cpu = time.perf_counter(), time.process_time()
    found = discern(evaluator, collection, draws=draws, threads=_THREADS)
    return {
        "seconds": time.perf_counter() - begin,
        "cpu": time.process_time() - begin_cpu,
        "n_items": found.work.n_items,
        "n_texts": found.work.n_texts,
        "n_bytes": peak_bytes(),
    }


if __name__ == "__main__":
    print(json.dumps(_measure(*map(int, sys.argv[1:]))))
