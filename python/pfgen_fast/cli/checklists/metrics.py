"""`pfgen-fast checklists metrics` and `errors`: metrics and errors of long answers, without a judge."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from ...base.errors import ChecklistError
from ...base.untrusted_text import in_one_line
from ..app import Json, counting, exit_if_partial, fail, note, print_json, print_tables
from ..parser import Option, option_group
from .options import RunOptions

if TYPE_CHECKING:
    from ...base.table import Table
    from ...lab.checklists.answer_metrics import MetricSet, ModelMetrics
    from ...lab.checklists.checklist_runs import Run
    from ...lab.checklists.error_modes import ErrorRules, ModelErrors

T = TypeVar("T")


@option_group
class MeasuredRuns(RunOptions):
    """The runs, and the output of commands that measure the answers of each model."""

    areas: bool = Option(False, "Also print a line for each area of the suite.")
    as_json: Json = False

    def of_each(self, runs: Iterable[Run], measure: Callable[[Run], T]) -> list[T]:
        """The results of a function for each run. Reports unreadable runs, and exits with 2 if no run is readable."""
        results = []
        for run in runs:
            try:
                results.append(measure(run))
            except ChecklistError as error:
                self.faults(str(error))
        if not results:
            fail("no run can be read")
        return results

    def finish(
        self, rules: ErrorRules | MetricSet, rows: Iterable[Mapping[str, Any]], tables: Iterable[Table], **about: str
    ) -> None:
        """Prints the results as JSON or tables; ends with 3 if something could not be read."""
        if self.as_json:
            print_json({**about, "signature": rules.signature, "notes": rules.notes, "rows": list(rows)})
        elif not self.quiet:
            print_tables(tables)
            note(*rules.notes)
        exit_if_partial(self.faults)


class ChecklistsMetrics:
    """Computes classic metrics of long answers: how much they repeat, and how close they are to a reference.

    Repetition-4 is the share of an answer's different 4-grams that occur in it more than once; Distinct-4 is the number
    of different 4-grams divided by the number of all 4-grams. BLEU (unsmoothed), ROUGE-L and METEOR compare with the
    reference of a task. Means are over the answers that have a value. JSON and files have shares, not percentages.

    Examples

      pfgen-fast checklists metrics runs/model --suite SUITE --areas
      pfgen-fast checklists metrics runs --suite SUITE --perplexity models/gpt2-large -o answers.parquet
    """

    wordnet: Path | None = Option(None, "meteor: read NLTK's WordNet here, for synonyms.", metavar="FOLDER")
    perplexity: str | None = Option(
        None, "Compute perplexity with this causal model, such as openai-community/gpt2-large.", metavar="MODEL"
    )
    output: Path | None = Option(
        None, "Write a row for each answer: .csv, .jsonl (also .gz, .xz, .zst) or .parquet.", "-o"
    )
    options: MeasuredRuns

    def __call__(self) -> None:
        from ...lab.checklists import answer_metrics as metrics
        from ...tables.formats import check_value_table, writing_values

        options = self.options
        if self.output is not None:
            check_value_table(self.output)
        model = None if self.perplexity is None else metrics.Perplexity(self.perplexity)
        measures = metrics.open_metrics(options.loaded, wordnet=self.wordnet, perplexity=model)

        def measured(run: Run) -> ModelMetrics:
            with counting(f"answers of {in_one_line(run.key, 30)}", quiet=options.quiet or options.as_json) as count:
                answers = metrics.measure(run, measures, on_progress=count, on_fault=options.faults)
            return metrics.model_metrics(run.key, answers, measures)

        with_answers = [run for run in options.opened if run.answers_path is not None]
        models = options.of_each(with_answers or options.opened, measured)
        if self.output is not None:
            types = {**metrics.ANSWER_COLUMNS, **dict.fromkeys(measures.names, float)}
            with writing_values(self.output, types, for_spreadsheets=True) as write:
                write(metrics.metric_rows(models))
        table = metrics.metric_table(models, measures.names, with_areas=options.areas)
        options.finish(measures, (model.to_dict() for model in models), [table])


class ChecklistsErrors:
    """Finds errors of long answers: repetition, rejection, wrong length, answers cut off or filtered.

    repetition: a sentence of at least 20 characters occurs three times or more. rejection: the answer begins with a
    phrase such as "I'm sorry, but". cut off: the answer ended at the limit of tokens, if its server said why it ended.
    filtered: the answer equals an answer to another task. Lengths are compared with the wanted lengths. Without
    answers, the figures in judgements are used.

    Examples

      pfgen-fast checklists errors runs/model --suite SUITE --areas
      pfgen-fast checklists errors runs --suite SUITE --profile published --json
    """

    profile: Literal["ours", "published"] = Option(
        "ours", "Choose our rules, or those of the published figures (short sentences count, 'Given the')."
    )
    options: MeasuredRuns

    def __call__(self) -> None:
        from ...lab.checklists import error_modes as modes

        options = self.options
        rules = modes.ErrorRules(options.loaded, self.profile)

        def counted(run: Run) -> ModelErrors:
            return modes.model_errors(run.key, modes.errors_of(run, rules, on_fault=options.faults), rules)

        models = options.of_each(options.opened, counted)
        tables = modes.error_tables(models, with_areas=options.areas)
        options.finish(rules, (model.to_dict() for model in models), tables, profile=self.profile)
