"""`python -m pfgen_fast.integrations.lm_eval` prints the directory of the tasks; `samples FILE...` scores samples.

The scores are lines of JSON: one line for each file, or with `--rows` one line for each answer.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from ...errors import PfgenError
from ...files.untrusted_text import json_text
from ...suite.rules import AVERAGE_FIRST
from . import TASKS


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns the exit code."""
    options = _parser().parse_args(arguments)
    if options.command is None:
        print(TASKS)
        return 0
    try:
        for line in _lines(options):
            print(json_text(line))
    except PfgenError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m pfgen_fast.integrations.lm_eval", description=__doc__)
    samples = parser.add_subparsers(dest="command").add_parser(
        "samples",
        help="score files written by lm_eval --log_samples",
        description="Prints scores of logged samples as JSON.",
    )
    samples.add_argument("files", nargs="+", metavar="FILE", help="samples_*.jsonl of any task that generates answers")
    samples.add_argument("-s", "--suite", default="mini", help="directory of the suite. Default: mini.")
    samples.add_argument("--question-column", metavar="KEY", help="key of the question in the documents")
    samples.add_argument("--mode", help="completion, qa or chat. Default: the mode in the documents, or completion.")
    samples.add_argument("--rows", action="store_true", help="print a line for each answer instead of each file")
    return parser


def _lines(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    from ...scoring.scorer import Scorer
    from .samples import score_samples

    scorer = Scorer(options.suite)
    for file in options.files:
        answers, table = score_samples(file, scorer, question_column=options.question_column, mode=options.mode)
        if options.rows:
            for answer, row in zip(answers, table, strict=True):
                scores = {name: row[name] for name in AVERAGE_FIRST}
                yield {"file": file, "question_id": row["question_id"], "answer": answer, **scores}
        else:
            means = {name: float(table[name].mean()) for name in AVERAGE_FIRST}
            yield {"file": file, "n_answers": len(table), **means, "signature": table.signature}


if __name__ == "__main__":
    sys.exit(main())
