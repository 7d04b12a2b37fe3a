"""`pfgen-fast annotate`: pages on which people mark answers, compare them, and check verdicts or instructions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ...base.errors import AnnotationError
from ...base.untrusted_text import counted
from ..app import Quiet, print_line, shown
from ..options import FOLDER, RandomSeed, names_of
from ..parser import Argument, Option

if TYPE_CHECKING:
    from ...lab.annotations.annotation_plan import SheetItem
    from ...lab.annotations.annotation_rows import Asked


class Annotate:
    """Makes pages on which people mark answers, compare answers, or check the verdicts of a judge.

    Each annotator (a1, a2, ...) gets one page, which works without a network and keeps all decisions in the browser
    until the annotator exports them to a file. The page does not name models or judges.

    Examples

      pfgen-fast annotate essays-en runs --annotators 5 --overlap 0.2 -o people
      pfgen-fast annotate essays-en runs --ask pairs --reference gpt-4o --annotators 2 -o pairs
      pfgen-fast annotate essays-en --ask instructions --annotators 3 -o instructions
      pfgen-fast annotate --ask votes --plan SummEval --annotators 10 -o experts
    """

    suite: str | None = Argument(None, "Checklist suite: a directory, or such as essays-en.", metavar="[SUITE]")
    runs: list[Path] | None = Argument(None, "Runs with answers, or directories of runs.", metavar="[RUN]...")
    output: Path = Option(..., "Write the pages here, and plan.json, which names models and judges.", "-o", **FOLDER)
    ask: list[Literal["marks", "pairs", "judgements", "instructions", "votes"]] | None = Option(
        None,
        "Ask for marks, the better of two answers, whether verdicts are reasonable, yes or no about instructions, or "
        "votes on damage.",
    )
    question: str | None = Option(
        None, "Instructions: ask this. Default: whether a good answer has more than 1,000 words.", metavar="TEXT"
    )
    annotators: int = Option(1, "Make pages for this many annotators.", min=1, max=1000)
    overlap: float | None = Option(
        None,
        "Set the share of items that all annotators see. Default: 0.2; 1 for instructions and votes.",
        metavar="SHARE",
    )
    items: int | None = Option(None, "Take this many items, evenly from areas and models. Default: all.", min=1)
    reference: str | None = Option(None, "Pairs: compare each run with this run only.", metavar="RUN")
    plan: list[str] | None = Option(
        None, "Votes: ask about the tasks and kinds of a data set of the paper, such as SummEval. May be repeated."
    )
    kinds: list[str] | None = Option(None, "Votes: ask about these kinds of damage only.", metavar="KIND,...")
    language: Literal["en", "ja"] = Option("en", "Votes: set the language of the page.")
    seed: RandomSeed = 0
    quiet: Quiet = False

    def __call__(self) -> None:
        from ...base.file_writing import write_whole
        from ...base.untrusted_json import json_bytes
        from ...lab.annotations.annotation_plan import PAGES, PLAN_FILE, check_plan_folder, make_plan
        from ...report.annotation_page import sheet_page
        from ...report.pages import write_page

        asks = list(dict.fromkeys(self.ask or ["marks"]))
        asked, items = self._asked(asks)
        overlap = (1.0 if asks in (["votes"], ["instructions"]) else 0.2) if self.overlap is None else self.overlap
        names = [f"a{number}" for number in range(1, self.annotators + 1)]
        plan = make_plan(items, names, asked, overlap=overlap, limit=self.items, seed=self.seed)
        check_plan_folder(self.output, plan)
        write_whole(self.output / PLAN_FILE, json_bytes(plan.record))
        for sheet in plan.sheets:
            write_page(self.output / PAGES / f"{sheet.annotator}.html", sheet_page(sheet))
        if not self.quiet:
            sizes = sorted({len(sheet.items) for sheet in plan.sheets})
            size = " to ".join(map(str, dict.fromkeys((sizes[0], sizes[-1]))))
            shared = f", {plan.n_shared} of them for all" if plan.n_shared else ""
            n_items = f"{counted(plan.n_items, 'item')} for {counted(len(names), 'annotator')}{shared}"
            print_line(f"{n_items}: {size} on each page: {shown(self.output / PAGES)}")

    def _asked(self, asks: list[str]) -> tuple[Asked, list[SheetItem]]:
        """What is asked, and all items."""
        needed = {"plan": "votes", "kinds": "votes", "reference": "pairs", "question": "instructions"}
        for option, ask in needed.items():
            if getattr(self, option) is not None and ask not in asks:
                raise AnnotationError(f"--{option}: expected with --ask {ask}")
        if "votes" in asks:
            from ...lab.annotations.annotation_rows import Asked, guideline_text
            from ...lab.discernment.votes import vote_items
            from ...lab.evaluators.criteria import read_criteria

            if len(asks) > 1 or self.suite is not None:
                raise AnnotationError("--ask votes: expected without a suite, runs and other questions")
            guideline = guideline_text(f"votes-{self.language}")
            asked = Asked("kinds of damage", "", self.language, guideline, (), self.language)
            chosen: Any = {"plans": self.plan or (), "kinds": names_of(self.kinds), "language": self.language}
            return asked, vote_items(read_criteria(), **chosen)
        if self.suite is None or (not self.runs and asks != ["instructions"]):
            raise AnnotationError("expected a checklist suite and at least one run, such as: annotate essays-en runs")
        from ...lab.checklists import people_items as items
        from ...lab.checklists.checklist_runs import open_runs
        from ...lab.checklists.checklist_suite import ChecklistSuite

        suite = ChecklistSuite.load(self.suite)
        runs = open_runs(self.runs or ())
        make = {
            "instructions": lambda: items.instruction_items(suite, self.question),
            "marks": lambda: items.mark_items(suite, runs),
            "pairs": lambda: items.pair_items(suite, runs, reference=self.reference),
            "judgements": lambda: items.judgement_items(suite, runs),
        }
        return items.asked_of(suite, asks), [item for ask in asks for item in make[ask]()]
