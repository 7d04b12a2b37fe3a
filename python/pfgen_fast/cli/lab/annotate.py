"""`pfgen-fast annotate`: pages on which people mark answers, compare them, and check a judge's verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ...base.errors import AnnotationError
from ...base.untrusted_text import counted
from ..app import Quiet, exit_if_partial, print_line, shown, warn
from ..options import RandomSeed
from ..parser import Argument, Option

if TYPE_CHECKING:
    from ...lab.annotations.annotation_plan import AnnotationPlan, SheetItem
    from ...lab.annotations.annotation_rows import Asked


class Annotate:
    """Makes pages on which people mark answers, compare answers, or check the verdicts of a judge.

    Each annotator gets one page, which works without a network and keeps all decisions in the browser until the
    annotator exports them to a file. The page does not name models or judges. With --status, the command only compares
    the exports with the plan.

    Examples

      pfgen-fast annotate essays-en runs --annotators 5 --overlap 0.2 -o people
      pfgen-fast annotate essays-en runs --ask pairs --reference gpt-4o --annotator ann --annotator bob -o pairs
      pfgen-fast annotate --ask votes --annotators 7 -o experts
      pfgen-fast annotate -o people --status
    """

    suite: str | None = Argument(None, "Checklist suite: a directory, or such as essays-en.", metavar="[SUITE]")
    runs: list[Path] | None = Argument(None, "Runs with answers, or directories of runs.", metavar="[RUN]...")
    output: Path = Option(..., "Write pages and plan.json to this directory.", "-o", metavar="FOLDER")
    ask: list[Literal["marks", "pairs", "judgements", "votes"]] | None = Option(
        None, "Ask for marks, the better of two answers, whether verdicts are reasonable, or votes on damage."
    )
    annotators: int | None = Option(None, "Make pages for a1, a2, ... Default: a1.", min=1, max=1000)
    annotator: list[str] | None = Option(None, "Make a page for this annotator.")
    overlap: float | None = Option(
        None,
        "Set the share of items that several annotators see. Default: 0.2; 1 for votes.",
        metavar="SHARE",
        group="Items",
    )
    raters: int | None = Option(
        None, "Show each shared item to this many annotators. Default: all.", min=2, group="Items"
    )
    items: int | None = Option(
        None, "Take this many items, evenly from areas and models. Default: all.", min=1, group="Items"
    )
    area: list[str] | None = Option(None, "Take only this area.", metavar="AREA", group="Items")
    length: list[str] | None = Option(None, "Take tasks of this length.", group="Items")
    reference: str | None = Option(None, "Pairs: compare each run with this run only.", metavar="RUN", group="Items")
    task: list[str] | None = Option(None, "Votes: vote only on this task of discernment tests.", group="Items")
    guideline: Path | None = Option(None, "Show this guideline. Default: the suite's, or ours.", metavar="FILE.md")
    language: Literal["en", "ja"] | None = Option(None, "Set the language of the page. Default: the suite's.")
    seed: RandomSeed = 0
    status: bool = Option(False, "Only show what each annotator of this directory has done and left.")
    quiet: Quiet = False

    def __call__(self) -> None:
        if self.status:
            self._show_progress()
            return
        from ...base.file_writing import check_folder, write_whole
        from ...base.untrusted_json import json_bytes
        from ...lab.annotations.annotation_plan import PLAN_FILE, check_annotators, check_plan_folder, make_plan

        check_folder(self.output)
        if self.annotator and self.annotators is not None:
            raise AnnotationError("--annotators and --annotator: expected one of them")
        names = self.annotator or [f"a{number}" for number in range(1, (self.annotators or 1) + 1)]
        check_annotators(names)
        asked, items = self._asked()
        usual = 1.0 if self.asks == ["votes"] else 0.2
        plan = make_plan(
            items,
            names,
            asked,
            overlap=usual if self.overlap is None else self.overlap,
            raters=self.raters,
            limit=self.items,
            seed=self.seed,
        )
        check_plan_folder(self.output, plan)
        write_whole(self.output / PLAN_FILE, json_bytes(plan.record))
        self._write(plan)

    def _show_progress(self) -> None:
        from ...lab.annotations.annotation_plan import progress_of, read_planned

        if self.suite is not None or self.ask:
            raise AnnotationError("--status: expected with -o alone, such as: annotate -o people --status")
        has_faults = False
        for name, planned in read_planned(self.output).items():
            try:
                progress = progress_of(self.output, name, planned)
            except AnnotationError as error:
                warn(str(error))
                has_faults = True
                continue
            n_done = progress.n_items - len(progress.left)
            begun = f", {progress.n_begun} begun" if progress.n_begun else ""
            left = f"; left: {_ranges(progress.left)}" if progress.left else ""
            print_line(f"{shown(name)}: {n_done} of {counted(progress.n_items, 'item')} done{begun}{left}")
        exit_if_partial(has_faults)

    @property
    def asks(self) -> list[str]:
        """What is asked, once each."""
        return list(dict.fromkeys(self.ask or ["marks"]))

    def _asked(self) -> tuple[Asked, list[SheetItem]]:
        """What is asked, and all items."""
        asks = self.asks
        if "votes" in asks:
            if len(asks) > 1 or self.suite is not None:
                raise AnnotationError("--ask votes: expected without a suite, runs and other questions")
            if self.area or self.length or self.reference is not None:
                raise AnnotationError("--area, --length and --reference: expected without --ask votes; choose --task")
            return self._votes()
        if self.task:
            raise AnnotationError("--task: expected with --ask votes; choose areas of a suite with --area")
        if self.reference is not None and "pairs" not in asks:
            raise AnnotationError("--reference: expected with --ask pairs")
        if self.suite is None or not self.runs:
            raise AnnotationError("expected a checklist suite and at least one run, such as: annotate essays-en runs")
        from ...lab.checklists import people_items as makers
        from ...lab.checklists.checklist_generation import chosen_tasks
        from ...lab.checklists.checklist_runs import open_runs
        from ...lab.checklists.checklist_suite import ChecklistSuite

        suite, runs = ChecklistSuite.load(self.suite), open_runs(self.runs)
        asked = makers.asked_of(suite, language=self.language, guideline=self.guideline)
        tasks = {task.key for task in chosen_tasks(suite, areas=self.area or (), lengths=self.length or ())}
        items: list[SheetItem] = []
        for ask in asks:
            if ask == "marks":
                items += makers.mark_items(suite, runs, tasks)
            elif ask == "pairs":
                items += makers.pair_items(suite, runs, tasks, reference=self.reference)
            else:
                items += makers.judgement_items(suite, runs, tasks)
        return asked, items

    def _votes(self) -> tuple[Asked, list[SheetItem]]:
        from ...lab.annotations.annotation_rows import Asked, guideline_text
        from ...lab.discernment.votes import vote_items
        from ...lab.evaluators.criteria import read_criteria

        language = self.language or "en"
        guideline = guideline_text(f"votes-{language}", self.guideline)
        asked = Asked("kinds of damage", "", language, guideline, (), language)
        return asked, vote_items(read_criteria(), tasks=self.task or (), language=language)

    def _write(self, plan: AnnotationPlan) -> None:
        from ...lab.annotations.annotation_plan import PAGES
        from ...report.annotation_page import write_sheet

        for sheet in plan.sheets:
            write_sheet(sheet, self.output / PAGES / f"{sheet.annotator}.html")
        if not self.quiet:
            numbers = sorted({len(sheet.items) for sheet in plan.sheets})
            size = f"{numbers[0]}" if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"
            shared = f", {plan.n_shared} of them for {plan.record['raters']} annotators each" if plan.n_shared else ""
            people = counted(len(plan.sheets), "annotator")
            print_line(f"{counted(plan.n_items, 'item')} for {people}{shared}: {size} on each page")
            print_line(f"send each annotator a page: {shown(self.output / PAGES)}")
            print_line("plan.json names models and judges: keep it to yourself")


def _ranges(numbers: Sequence[int]) -> str:
    """Ascending numbers, such as 1, 4 to 6."""
    known = set(numbers)
    first = [number for number in numbers if number - 1 not in known]
    last = [number for number in numbers if number + 1 not in known]
    pairs = zip(first, last, strict=True)
    return ", ".join(str(first) if first == other else f"{first} to {other}" for first, other in pairs)
