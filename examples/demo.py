"""Scores answers with the packaged suite `mini`: answers of three fictitious models, and generated answers.

The engine `ngram` draws answers from the n-grams of the suite's reference answers, so no model is needed. Then
reference answers are damaged, which shows the damage that the scores notice and miss.
"""

import json
import tempfile
from collections import defaultdict
from pathlib import Path

from pfgen_fast import Generation, Scorer, ScoreTable, Suite
from pfgen_fast.lab.discernment.discern import discern
from pfgen_fast.lab.discernment.discernment_result import Discernment
from pfgen_fast.lab.discernment.originals import from_suite
from pfgen_fast.lab.evaluators.ngram_evaluator import NgramEvaluator
from pfgen_fast.runs.trials import Trials

ANSWERS = Path(__file__).with_name("demo_answers.jsonl")
METRICS = ("average", "fluency", "truthfulness", "helpfulness")
DAMAGE = {
    "negate/1000": "a denial of every statement",
    "loop/1000": "a loop as long as the answer",
    "answer_swap/1000": "an answer to another question",
    "punctuation": "other punctuation, which should not",
}


def read_answers() -> dict[str, list[tuple[str, str]]]:
    """Questions and answers by model."""
    by_model: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for line in ANSWERS.read_text(encoding="utf-8").splitlines():
        trial = json.loads(line)
        by_model[trial["model"]].append((trial["question"], trial["answer"]))
    return by_model


def generate_answers(suite: Suite, order: int, trials: int = 3) -> list[tuple[str, str]]:
    """Questions and answers of a temporary run."""
    with tempfile.TemporaryDirectory() as folder:
        generated = Generation.of("ngram", options={"order": order}).run(suite, trials=trials, output=folder)
        run = Trials.read(generated.folder / "trials.jsonl.xz")
    return list(zip(run.questions, run.answers, strict=True))


def print_table(tables: dict[str, ScoreTable]) -> None:
    """Prints one row per model, the best first."""
    print(f"{'model':14}" + "".join(f"{metric:>14}" for metric in ("score", *METRICS[1:])) + f"{'answers':>10}")
    for model, table in sorted(tables.items(), key=lambda item: -item[1].average.mean()):
        print(f"{model:14}" + "".join(f"{table[metric].mean():14.4f}" for metric in METRICS) + f"{len(table):10}")


def print_missing(table: ScoreTable) -> None:
    """Names the keywords that the worst answer lacks."""
    row = int(table.helpfulness.argmin())
    missing = [name for name, _ in table.details(row)["helpfulness_results"]]
    print(f"  least helpful: {table.question_id[row]}, answer {row}; it lacks {', '.join(missing)}")


def print_verdicts(discernment: Discernment) -> None:
    """Prints for each score the number of kinds of damage that it notices, and the other kinds."""
    for metric in METRICS:
        by_verdict: dict[object, list[str]] = defaultdict(list)
        for row in discernment.profile:
            if row["metric"] == metric:
                by_verdict[row["verdict"]].append(row["kind"])
        noticed, total = len(by_verdict.pop("notices", [])), len({row["kind"] for row in discernment.profile})
        others = "; ".join(f"{verdict}: {', '.join(kinds)}" for verdict, kinds in by_verdict.items())
        print(f"  {metric:13} notices {noticed} of {total} kinds{f'; {others}' if others else ''}")


def print_drops(discernment: Discernment, names: dict[str, str]) -> None:
    """Prints the drop of the average for some perturbations, with readable names."""
    for row in discernment.cells:
        name = f"{row['kind']}/{row['degree']}" if row["degree"] else row["kind"]
        if row["metric"] == "average" and name in names:
            print(f"  {names[name]:36} costs the average {row['mean_drop']:.3f}")


def main() -> None:
    """Scores the packaged answers, then generated answers, then damaged answers."""
    scorer = Scorer("mini")
    tables = {model: scorer.score(*zip(*rows, strict=True)) for model, rows in read_answers().items()}
    print_table(tables)
    worst = min(tables, key=lambda model: tables[model].helpfulness.mean())
    print(f"\n{worst}:")
    print_missing(tables[worst])
    print("\nGenerated from the n-grams of the reference answers:")
    generated = {order: generate_answers(scorer.suite, order) for order in (2, 4, 8)}
    print_table({f"ngram/order-{n}": scorer.score(*zip(*rows, strict=True)) for n, rows in generated.items()})
    for order, rows in generated.items():
        print(f"  order {order}: {rows[0][1]}")
    print("\nDamaged reference answers:")
    result = discern(NgramEvaluator(scorer), from_suite(scorer.suite))
    print_verdicts(result)
    print_drops(result, DAMAGE)
    print(f"\n{scorer.signature}")


if __name__ == "__main__":
    main()
