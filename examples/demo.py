"""Scores the packaged example answers of three pretend models against the packaged suite `mini`, and prints a table."""

import json
from collections import defaultdict
from pathlib import Path

from pfgen_fast import Scorer, ScoreTable

ANSWERS = Path(__file__).with_name("demo_answers.jsonl")
METRICS = ("average", "fluency", "truthfulness", "helpfulness")


def read_answers() -> dict[str, list[tuple[str, str]]]:
    """Questions and answers by model."""
    by_model: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for line in ANSWERS.read_text(encoding="utf-8").splitlines():
        trial = json.loads(line)
        by_model[trial["model"]].append((trial["question"], trial["answer"]))
    return by_model


def print_missing(table: ScoreTable) -> None:
    """Names the keywords that the worst answer lacks."""
    row = int(table.helpfulness.argmin())
    missing = [name for name, _ in table.details(row)["helpfulness_results"]]
    print(f"  least helpful: {table.question_id[row]}, answer {row}; it lacks {', '.join(missing)}")


def main() -> None:
    """Prints one row per model, the best first."""
    scorer = Scorer("mini")
    tables = {model: scorer.score(*zip(*rows, strict=True)) for model, rows in read_answers().items()}
    print(f"{'model':10}" + "".join(f"{metric:>14}" for metric in ("score", *METRICS[1:])) + f"{'answers':>10}")
    for model, table in sorted(tables.items(), key=lambda item: -item[1].average.mean()):
        print(f"{model:10}" + "".join(f"{table[metric].mean():14.4f}" for metric in METRICS) + f"{len(table):10}")
    worst = min(tables, key=lambda model: tables[model].helpfulness.mean())
    print(f"\n{worst}:")
    print_missing(tables[worst])
    print(f"\n{scorer.signature}")


if __name__ == "__main__":
    main()
