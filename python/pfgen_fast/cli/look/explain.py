"""`pfgen-fast explain`: the parts of the score of one answer, or the causes of the loss of a run."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Literal

from ...base.table import Column, Table
from ...base.untrusted_text import counted, harmless
from ...suite.rules import MAX_ORDER, THRESHOLD, add_up
from .. import options
from ..app import Json, blocks_of, columns, exit_if_partial, fail, print_json, print_line, print_table, shown, warn
from ..parser import Argument, Option
from ..suite_line import given_suite, print_origin, suite_or_here

if TYPE_CHECKING:
    from ...scoring.explanation import Explanation, SetExplanation


class Explain:
    """Breaks down the score of one answer, or the loss of a run to another one by its causes.

    An answer: missing keywords, prefix, n-gram orders, rare 3-grams. A scored run: what it loses to the median of the
    published runs, or of the runs beside it, by answers that are empty, in another language, loops or cut off, by
    missing keywords, wording and length. The losses add up; a negative one is a gain.

    Examples

      pfgen-fast explain result/our/model
      pfgen-fast explain result/our/model/step-2000 --against result/our/model/step-1000
      pfgen-fast explain --suite mini --question Q07 --answer "Ice floats because it is less dense than water."
      pfgen-fast explain --question Q01 < answer.txt
    """

    run: str | None = Argument(None, "Run: a directory with a result.json, or that file.", metavar="[RUN]")
    against: str = Option(
        "median",
        "Run: compare with the median or the best of the published runs or of the runs beside it; with another run; or "
        "with the median of a directory of runs.",
        metavar="median|best|RUN|DIR",
        for_input="runs",
    )
    question: str | None = Option(None, "Answer: name the question by its ID or text.", "-q")
    answer: str | None = Option(None, "Answer: the text; '-' or no option reads stdin.", "-a", metavar="TEXT")
    suite: options.SuiteOption = None
    profile: Literal["leaderboard", "normalised"] = Option(
        "leaderboard", "Explain the published figures, or those of profile normalised."
    )
    as_json: Json = False

    def __call__(self) -> None:
        if self.run is not None:
            self._explain_run(self.run)
        elif self.question is None:
            fail("expected a scored run, or a question (--question) and its answer")
        elif self.against != "median":
            fail("--against: expected with a run, not with a question")
        else:
            self._explain_answer(self.question)

    def _explain_run(self, run: str) -> None:
        from ...runs.diagnosis import diagnose

        if self.question is not None or self.answer is not None or self.profile != "leaderboard":
            fail("--question, --answer and --profile: expected without a run")
        diagnosis = diagnose(run, self.against, suite=given_suite(self.suite))
        for problem in diagnosis.problems:
            warn(problem)
        if self.as_json:
            print_json(diagnosis.to_dict())
            exit_if_partial(diagnosis.problems)
            return
        sentence, *notes = diagnosis.words()
        print_line((shown(sentence), "bold"))
        print_line()
        print_table(diagnosis.table)
        print_line()
        for remark in notes:
            print_line((shown(remark), "dim"))
        exit_if_partial(diagnosis.problems)

    def _explain_answer(self, question: str) -> None:
        from ...base.file_reading import stdin
        from ...scoring import explanation as library
        from ...scoring.score_table import signature_of

        answer = self.answer
        if answer is None or answer == "-":
            try:
                answer = stdin().read().decode("utf-8").rstrip("\n")
            except UnicodeDecodeError as error:
                fail(f"stdin: not UTF-8 (byte {error.start})")
        suite = suite_or_here(self.suite)
        explanation = library.explain(suite, question, answer, profile=self.profile)
        asked = explanation.question
        if self.as_json:
            read = {name: getattr(explanation, name) for name in ("normalised", "left_out")}
            record = {
                "suite": suite.name,
                "metadata_hash": suite.metadata_hash,
                "signature": signature_of(suite, profile=self.profile),
                "question_id": asked.question_id,
                "answer": answer,
                "scores": explanation.scores,
                "sets": list(map(asdict, explanation.sets)),
                "keywords": list(map(asdict, explanation.keywords)),
            }
            print_json(record if explanation.normalised is None else {**record, **read})
            return
        print_line((shown(asked.question_id), "bold"), f" {shown(asked.question)}")
        _print_answer(explanation)
        scores, helpfulness = explanation.scores, explanation.scores["helpfulness"]
        fluency, truthfulness = (add_up(scores[part].values()) for part in ("fluency", "truthfulness"))
        print_line(
            (f"score {scores['average']:.5f}", "bold"),
            f" = (fluency {fluency:.6f} + truthfulness {truthfulness:.6f} + helpfulness {helpfulness:.5f}) / 3\n",
        )
        _print_keywords(explanation)
        _print_sets(explanation)
        print_origin(suite)


def _print_answer(explanation: Explanation) -> None:
    parts: list[str | tuple[str, str]] = []
    cut = explanation.n_characters(max((part.best_prefix for part in explanation.sets), default=0))
    for i, (character, cover) in enumerate(zip(explanation.answer, explanation.cover, strict=False)):
        if i == cut and cut < len(explanation.answer):
            parts.append(("┊", "bold"))
        style = "dim" if cover is None else "red strike" if cover < THRESHOLD else "bold" if cover > 0.1 else ""
        parts.append((harmless(character), style))
    rest = len(explanation.answer) - len(explanation.cover)
    if rest > 0:
        parts.append((f" … {rest} more code points, which are not scored", "dim"))
    print_line(*parts)
    unit = explanation.question.unit
    units = "" if unit == "character" else f"{counted(len(explanation.reading.units), unit)}, "
    n_rare = sum(cover is not None and cover < THRESHOLD for cover in explanation.cover)
    print_line(
        (
            f"{units}{len(explanation.answer)} code points; {n_rare} only in rare 3-grams (below 0.5 % of the "
            "references, struck through); bold: above 10 %; ┊: end of the most fluent prefix\n",
            "dim",
        )
    )
    if explanation.normalised is not None:
        n_left_out = sum(end - begin for begin, end in explanation.left_out)
        print_line((f"normalised; {counted(n_left_out, 'code point')} left out (dim above):", "dim"))
        print_line(f"{shown(explanation.normalised)}\n")


def _print_sets(explanation: Explanation) -> None:
    """Prints the sets side by side, as many as fit the terminal."""
    heads = ("fluency", "truthfulness", f"best prefix, {explanation.question.unit}s", "discount", "baseline")
    names = [*heads, *(f"order {order:2}: n-grams, sum" for order in range(1, MAX_ORDER + 1))]
    sets = (Column(shown(part.name), is_text=False, form=str) for part in explanation.sets)
    cells = zip(names, *map(_of_set, explanation.sets), strict=True)
    for block in blocks_of(Table([Column("set", is_text=True), *sets], list(cells)), columns() or 80):
        print_table(block)
        print_line()
    known = "n-grams: how many of the prefix's n-grams the set knows; sum: of their document frequencies"
    print_line((f"{known}\n", "dim"))


def _of_set(part: SetExplanation) -> list[str]:
    """The cells of one set, from top to bottom."""
    orders = zip(part.known_by_order, part.by_order, strict=True)
    figures = [f"{part.fluency:.6f}", f"{part.truthfulness:.6f}", str(part.best_prefix)]
    figures += [f"{part.discount:.2f}", f"{part.baseline:.2f}"]
    return figures + [f"{f'{known}/{n}':>7} {value:6}" for (known, n), value in orders]


def _print_keywords(explanation: Explanation) -> None:
    """Prints the missing keywords, then those that were found."""
    if not explanation.keywords:
        print_line("no keyword rules")
    for keyword in sorted(explanation.keywords, key=lambda keyword: keyword.position is not None):
        if keyword.position is None:
            state = ("missing", "red"), f", which leaves {keyword.left_without:.2f} of helpfulness"
        else:
            state = ("met", "green"), f" at {keyword.position}"
        print_line(f"keyword {shown(keyword.name)}: ", *state)
    for name, left in explanation.scores["helpfulness_results"]:
        if excess := explanation.question.excess_shown(name):
            print_line(f"the last keyword ends {excess}, which leaves {left:.2f} of helpfulness")
    print_line()
