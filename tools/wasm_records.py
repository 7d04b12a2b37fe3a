"""Records what the tests of the WebAssembly module expect: scores of `mini` and of generated answers, metrics of
references, the speed of one thread, and the messages about damaged files."""

from __future__ import annotations

import argparse
import json
import random
import statistics
import struct
import time
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

from pfgen_fast import PfgenError, ReferenceScorer, Scorer, Suite
from pfgen_fast.oracle import Oracle
from pfgen_fast.scoring import explanation

ODD = ("", "Ice floats.\n", "x\ud800y", "\U0001f600" * 300, "𠮷野家 100", "１００％, 9 percent, water", "3.14 + 3. 14")

LONG = "氷floats", 1_000_000  # a text, and how often it is repeated: one word of 7 MB


def answers(suite: Suite, n: int, seed: int) -> list[tuple[str, str]]:
    """Questions with answers: reference answers, some of them joined, repeated or replaced by odd texts."""
    chance = random.Random(seed)
    pairs = []
    for i in range(n):
        question = suite.questions[i % len(suite)]
        pool = [text for texts in question.answers.values() for text in texts] + list(ODD)
        answer = chance.choice(pool)
        if chance.random() < 0.7:
            other = chance.choice(pool)
            answer = answer[: chance.randrange(len(answer) + 1)] + other[chance.randrange(len(other) + 1) :]
        pairs.append((question.question_id, answer * chance.choice([1] * 9 + [2, 3])))
    return pairs


def bits(values: list[float]) -> list[str]:
    """The bits of floats as whole numbers."""
    return [str(number) for number in struct.unpack(f"<{len(values)}Q", struct.pack(f"<{len(values)}d", *values))]


def compared(texts: list[str], seed: int) -> list[dict[str, Any]]:
    """Answers with one to three references, as places in `texts`, and their chrF, ROUGE-L and BLEU."""
    chance = random.Random(seed)
    rows = [[chance.randrange(len(texts)) for _ in range(chance.randint(2, 4))] for _ in range(200)]
    answers, references = [texts[row[0]] for row in rows], [[texts[i] for i in row[1:]] for row in rows]
    table = ReferenceScorer(["chrf", "rouge_l", "bleu"]).score(answers, references)
    scores = zip(*(table[name].tolist() for name in ("chrf", "rouge_l", "bleu")), strict=True)
    return [{"answer": row[0], "references": row[1:], "scores": own} for row, own in zip(rows, scores, strict=True)]


def answers_per_second(scorer: Scorer, pairs: list[tuple[str, str]]) -> float:
    """The speed with which a scorer scores the answers of one question after another, at least 200 at a time."""
    lists: dict[str, list[str]] = {}
    for question, answer in pairs:
        lists.setdefault(question, []).append(answer)
    lists = {question: texts * -(-200 // len(texts)) for question, texts in lists.items()}
    seconds = []
    for _ in range(9):
        begin = time.perf_counter()
        for question, texts in lists.items():
            scorer.score(question, texts)
        seconds.append(time.perf_counter() - begin)
    return sum(map(len, lists.values())) / statistics.median(seconds)


def refusals(content: bytes) -> list[dict[str, int | str]]:
    """The messages about a compiled suite that is cut, or of which one bit is flipped."""
    rows: list[dict[str, int | str]] = []
    flips = [("flip", at) for at in (0, 8, 12, 20, 60, -5000)]
    for change, place in [("cut", 0), ("cut", 30), ("cut", 5000), *flips]:
        damaged = bytearray(content[:place] if change == "cut" else content)
        if change == "flip":
            damaged[place] ^= 1
        try:
            scorer = Scorer.from_bytes(bytes(damaged))
            scorer.score([question.question_id for question in scorer.suite], ["x"] * len(scorer.suite))
            raise SystemExit(f"no message: {change} at byte {place}")
        except PfgenError as error:
            rows.append({"change": change, "at": place, "message": str(error)})
    return rows


def main() -> None:
    """Writes a compiled suite and its records for each profile."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path)
    parser.add_argument("-s", "--suite", default="mini")
    parser.add_argument("-n", type=int, default=2000, help="number of generated answers")
    parser.add_argument("--oracle", type=int, default=80, help="how many of them the oracle scores, too")
    parser.add_argument("--profiles", nargs="+", default=["leaderboard", "normalised", "paper"])
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    mock.patch.object(explanation, "Oracle", cache(Oracle)).start()  # its tables are made once, not for each answer
    suite = Suite.load(options.suite)
    pairs = answers(suite, options.n, seed=1)
    if options.suite == "mini":
        pairs += [(q.question_id, text) for q in suite for texts in q.answers.values() for text in texts]
    for profile in options.profiles:
        scorer, oracle = Scorer(suite, profile=profile, threads=1), explanation.Oracle(suite, profile=profile)
        table = scorer.score([question for question, _ in pairs], [answer for _, answer in pairs])
        rows = []
        for row, (question, answer) in enumerate(pairs):
            record: dict[str, Any] = {"question": question, "answer": answer}
            record["scores"] = bits([float(table[name][row]) for name in table.columns[1:]])
            details = table.details(row) if row < options.oracle else None
            if details and oracle.score_one(question, answer) != details:
                raise SystemExit(f"{profile}, {question}: core and oracle differ for {answer!r}")
            if details and profile != "paper":
                rules = {rule for rule, _ in details["helpfulness_results"] if "字超過" not in rule}
                explained = explanation.explain(suite, question, answer, profile=profile)
                record["cover"] = explained.cover
                record["unmet"] = [rule.name for rule in explained.keywords if rule.name in rules]
            rows.append(record)
        for question in (suite.questions[0].question_id, suite.questions[-1].question_id):
            long = scorer.score([question], [LONG[0] * LONG[1]])
            scores = bits([float(long[name][0]) for name in long.columns[1:]])
            rows.append({"question": question, "answer": LONG[0], "times": LONG[1], "scores": scores})
        name = f"{Path(suite.name).name}-{profile}"
        (options.output / f"{name}.pfgen").write_bytes(content := scorer.to_bytes())
        records = {
            "suite": f"{name}.pfgen",
            "answers": rows,
            "compared": compared([answer for _, answer in pairs], seed=1),
            "answers_per_second": answers_per_second(scorer, pairs),
            "refusals": refusals(content),
        }
        (options.output / f"{name}.json").write_text(json.dumps(records), encoding="utf-8")


if __name__ == "__main__":
    main()
