"""Simulates annotators, for experiments without people: writes exports for the plan of `pfgen-fast annotate`.

    python examples/fake_annotators.py people runs

For each annotator of people/plan.json, it writes people/exports/NAME.jsonl. A simulated annotator follows the verdicts
of the runs' judge (such as examples/fake_judge.py), with errors and a strictness of their own. The same inputs give the
same exports. Needs only Python.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path
from typing import Any

LEVELS = (0.0, 0.25, 0.5, 0.75, 1.0)


def verdicts_of_runs(folder: Path) -> dict[str, list[float]]:
    """The judge's verdicts on each answer, by the hash of the answer."""
    by_name = {}
    for path in sorted(folder.rglob("judgements.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            judgement = json.loads(line)
            if judgement["scores"]:
                by_name[judgement["response_sha256"]] = judgement["scores"]
    return by_name


class Annotator:
    """One simulated annotator."""

    def __init__(self, name: str, verdicts: dict[str, list[float]]) -> None:
        self.name, self.verdicts = name, verdicts
        self.strictness = random.Random(f"{name} strictness").uniform(-0.5, 0.5)

    def rows(self, item: dict[str, Any]) -> list[dict[str, Any]]:
        """What the annotator decides about an item, as rows of the export."""
        chance = random.Random(json.dumps([self.name, item], sort_keys=True))
        row = {name: value for name, value in item.items() if name != "source"}
        row.setdefault("length", None)
        if item["kind"] == "mark":
            seen = self.seen(item["response_sha256"], chance)
            overall = round(10 * sum(seen) / len(seen) + chance.gauss(0, 0.7))
            return [{**row, "verdicts": seen, "overall": min(10, max(0, overall)), "comment": ""}]
        if item["kind"] == "pair":
            first, second = (sum(self.seen(item[f"{name}_sha256"], chance)) for name in ("first", "second"))
            choice = "tie" if abs(first - second) < 0.5 else "first" if first > second else "second"
            return [{**row, "choice": choice}]
        if item["kind"] == "judgement":
            numbers = range(1, len(self.verdicts[item["response_sha256"]]) + 1)
            return [{**row, "question": number, "is_reasonable": chance.random() < 0.9} for number in numbers]
        if item["kind"] == "instruction":  # what all see in it, and sometimes the contrary
            is_long = random.Random(f"wanted {item['id']}").random() < 0.6
            return [{**row, "is_yes": is_long == (chance.random() < 0.95)}]
        raise SystemExit(f"{item['kind']}: expected marks, pairs, judgements or instructions")

    def seen(self, sha256: str, chance: random.Random) -> list[float]:
        """The annotator's verdicts on an answer: the judge's, moved by at most one or two levels."""
        moved = (4 * verdict + chance.gauss(self.strictness, 0.8) for verdict in self.verdicts[sha256])
        return [LEVELS[min(4, max(0, round(level)))] for level in moved]


def main() -> None:
    """Writes the exports of all annotators."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the directory of `pfgen-fast annotate -o`")
    parser.add_argument("runs", type=Path, help="the judged runs")
    options = parser.parse_args()
    plan = json.loads((options.folder / "plan.json").read_text(encoding="utf-8"))
    verdicts = verdicts_of_runs(options.runs)
    (options.folder / "exports").mkdir(exist_ok=True)
    for name, part in plan["annotators"].items():
        annotator = Annotator(name, verdicts)
        rows = [row for item in part["items"] for row in annotator.rows(item)]
        header = {
            "kind": "annotations",
            "format": 1,
            "annotator": name,
            "suite": plan["suite"],
            "questions_sha256": plan["questions_sha256"],
            "sheet": part["sheet"],
        }
        lines = [header, *rows, {"kind": "end", "rows": len(rows)}]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (options.folder / "exports" / f"{name}.jsonl").write_text(text, encoding="utf-8", newline="\n")
        print(f"{name}: {len(rows)} decisions")


if __name__ == "__main__":
    main()
