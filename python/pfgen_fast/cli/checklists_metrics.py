"""`pfgen-fast checklists metrics` and `errors`: metrics and errors of long answers, without a judge."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from ..base.errors import ChecklistError
from ..base.table import shortened
from ..base.untrusted_text import in_one_line
from .app import Exit, Json, Quiet, counting, exit_if_partial, note, print_json, print_line, shown
from .checklists_options import Faults, RunsWithAnswers, SuiteOption
from .layout import aligned, rest
from .parser import Option, option_group
from .suite_line import print_signature

if TYPE_CHECKING:
    from ..lab.checklists.answer_metrics import MeanMetrics, Measured, MetricSet, ModelMetrics
    from ..lab.checklists.checklist_runs import Run
    from ..lab.checklists.error_modes import ErrorCounts, ErrorRules, ModelErrors

T = TypeVar("T")
Columns = Mapping[str, tuple[type, Callable[[Any], Any]]]
"""The columns of a table of answers: their types, and their values for an answer."""

_HEADS = {"repetition": "repeats", "rejection": "rejects", "cut_off": "cut off"}  # short, for 80 columns
_KEY_COLUMNS: Columns = {
    "id": (str, lambda answer: answer.key[0]),
    "length": (str, lambda answer: answer.key[1]),
    "trial": (int, lambda answer: answer.key[2]),
    "area": (str, lambda answer: answer.task.area),
    "category": (str, lambda answer: answer.task.category),
    "words": (int, lambda answer: answer.words),
}
_ERROR_COLUMNS: Columns = {
    "wanted_words": (int, lambda answer: answer.task.wanted_words),
    "repeated": (int, lambda answer: answer.repeated),
    "longest_run": (int, lambda answer: answer.longest_run),
    "repetition": (bool, lambda answer: answer.is_repetition),
    "rejection": (str, lambda answer: answer.rejection),
    "cut_off": (str, lambda answer: answer.cut_off),
    "filtered": (bool, lambda answer: answer.is_filtered),
    "empty": (bool, lambda answer: answer.is_empty),
    "claimed": (int, lambda answer: answer.claim and answer.claim.claimed),
    "counted": (int, lambda answer: answer.claim and answer.claim.counted),
    "signals": (str, lambda answer: ", ".join(answer.signals)),
}


@option_group
class ModelOutput:
    """The output of commands that measure the answers of each model."""

    areas: bool = Option(False, help="Also print a line for each area of the suite.")
    output: Path | None = Option(
        None, "-o", help="Write a row for each answer: .csv, .jsonl (also .gz, .xz, .zst) or .parquet.", metavar="FILE"
    )
    as_json: Json = False
    quiet: Quiet = False

    def __post_init__(self) -> None:
        from ..tables.formats import check_value_table

        if self.output is not None:
            check_value_table(self.output)

    @cached_property
    def faults(self) -> Faults:
        """The files and lines that cannot be read."""
        return Faults()

    def of_each(self, paths: Sequence[Path], measure: Callable[[Run], T], *, needs_answers: bool = False) -> list[T]:
        """The results of a function for each run. Reports unreadable runs, and exits with 2 if no run is readable.

        If answers are needed, runs without answers are left out, unless no run has answers.
        """
        from ..lab.checklists.checklist_runs import open_runs

        runs = open_runs(paths)
        without = [run.key for run in runs if needs_answers and run.answers_path is None]
        if 0 < len(without) < len(runs):
            runs = [run for run in runs if run.key not in without]
            note(f"no answers, only judgements: {shortened(', '.join(map(in_one_line, without)), 200)}")
        results = []
        for run in runs:
            try:
                results.append(measure(run))
            except ChecklistError as error:
                self.faults(str(error))
        if not results:
            raise SystemExit(Exit.USAGE)
        return results

    def write(self, models: Sequence[Any], columns: Columns) -> None:
        """Writes a row for each answer, if a file is given."""
        from ..tables.formats import writing_values

        if self.output is not None:
            columns = {**_KEY_COLUMNS, **columns}
            types = {"model": str, **{name: type for name, (type, _) in columns.items()}}
            with writing_values(self.output, types, for_spreadsheets=True) as write:
                write(
                    (model.model, *(get(answer) for _, get in columns.values()))
                    for model in models
                    for answer in model.answers
                )

    def finish(
        self, rules: ErrorRules | MetricSet, rows: Callable[[], Any], show: Callable[[], None], **about: str
    ) -> None:
        """Prints the results as JSON or text; ends with 3 if something could not be read."""
        if self.as_json:
            print_json({**about, "signature": rules.signature, "notes": rules.notes, "rows": rows()})
        elif not self.quiet:
            show()
            note(*rules.notes)
            print_signature(rules.signature)
        exit_if_partial(self.faults)


class ChecklistsMetrics:
    """Computes classic metrics of long answers: how much they repeat, and how close they are to a reference.

    Repetition-n is the share of an answer's different n-grams that occur in it more than once; Distinct-n is the number
    of different n-grams divided by the number of all n-grams. BLEU (unsmoothed), ROUGE-L and METEOR compare with the
    reference of a task, if the suite has references. Perplexity measures how predictable an answer is for a language
    model. Means are over the answers that have a value. The table shows percentages, except for Distinct and
    perplexity; JSON and files have shares.

    Examples

      pfgen-fast checklists metrics runs --suite SUITE

      pfgen-fast checklists metrics runs/model --suite SUITE --tokens nltk --areas

      pfgen-fast checklists metrics runs --suite SUITE --perplexity models/gpt2-large -o answers.parquet
    """

    runs: RunsWithAnswers
    suite: SuiteOption
    metric: list[str] | None = Option(
        None,
        help="Compute repetition, distinct, bleu, rouge_l, meteor or ppl. May be repeated. Default: all that the suite "
        "and the installed packages allow.",
        metavar="NAME",
    )
    n: int = Option(4, min=1, max=16, help="Set the order of the n-grams of Repetition and Distinct.")
    tokens: str | None = Option(
        None, help="Choose the tokens: regex, nltk or characters. Default: the suite's words.", metavar="NAME"
    )
    wordnet: Path | None = Option(None, help="meteor: read NLTK's WordNet here, for synonyms.", metavar="FOLDER")
    perplexity: str | None = Option(
        None,
        help="Compute perplexity with this causal model: a directory, or a name on the Hugging Face Hub such as "
        "openai-community/gpt2-large, the model of the published figures.",
        metavar="MODEL",
    )
    device: str | None = Option(None, help="Run the model of --perplexity on this device, such as cuda:0.")
    options: ModelOutput

    def __call__(self) -> None:
        from ..lab.checklists.answer_metrics import measure, model_metrics, open_metrics
        from ..lab.checklists.checklist_suite import ChecklistSuite

        suite, options = ChecklistSuite.load(self.suite), self.options
        model = None
        if self.perplexity is not None:
            from ..lab.checklists.answer_metrics import Perplexity

            model = Perplexity(self.perplexity, device=self.device)
        measures = open_metrics(
            suite, metrics=self.metric, tokens=self.tokens, n=self.n, wordnet=self.wordnet, perplexity=model
        )

        def measured(run: Run) -> ModelMetrics:
            with counting(f"answers of {in_one_line(run.key, 30)}", quiet=options.quiet or options.as_json) as count:
                answers = measure(run, measures, on_progress=count, on_fault=options.faults)
            return model_metrics(run.key, answers, measures)

        def figure_of(name: str) -> Callable[[Measured], float | None]:
            return lambda answer: answer.values[name]

        models = options.of_each(self.runs, measured, needs_answers=True)
        options.write(models, {name: (float, figure_of(name)) for name in measures.names})
        options.finish(
            measures,
            lambda: [model.to_dict() for model in models],
            lambda: _print_metrics(models, measures.names, with_areas=options.areas),
        )


class ChecklistsErrors:
    """Finds errors of long answers: repetition, rejection, wrong length, answers cut off or filtered.

    repetition: a sentence of at least 20 characters occurs three times or more. rejection: the answer begins with a
    phrase such as "I'm sorry, but". cut off: the answer ended at the limit of tokens or, if that is unknown, it has no
    closing punctuation. filtered: the answer equals an answer of the model to another task. signals are only hints:
    much repetition, few different words, few letters, or keys of the judge's reply (checklist_id, evaluation_score) in
    the answer. Lengths are compared with the wanted lengths, and with the lengths that answers claim. If a run has no
    answers, the published figures in its judgements are used.

    Examples

      pfgen-fast checklists errors runs --suite SUITE

      pfgen-fast checklists errors runs/model --suite SUITE --areas --examples 3

      pfgen-fast checklists errors runs --suite SUITE --profile published --json
    """

    runs: RunsWithAnswers
    suite: SuiteOption
    profile: Literal["ours", "published"] = Option(
        "ours",
        help="Choose our rules, or the rules of the published figures: sentences of any length count, and a rejection "
        "begins with 'Given the'; the shares of each phrase are shown.",
    )
    examples: int = Option(0, min=0, help="Show N answers of each model with each error.", metavar="N")
    options: ModelOutput

    def __call__(self) -> None:
        from ..lab.checklists.checklist_suite import ChecklistSuite
        from ..lab.checklists.error_modes import ErrorRules, errors_of, examples_of, model_errors

        suite, options = ChecklistSuite.load(self.suite), self.options
        rules = ErrorRules(suite, self.profile)

        def counted_errors(run: Run) -> ModelErrors:
            return model_errors(run.key, errors_of(run, rules, on_fault=options.faults), rules)

        def row(model: ModelErrors) -> dict[str, Any]:
            examples = {"examples": examples_of(model.answers, self.examples)} if self.examples else {}
            return {**model.to_dict(), **examples}

        def show() -> None:
            _print_errors(models, with_areas=options.areas)
            _print_lengths(models, with_areas=options.areas)
            for model in models if self.examples else ():
                _print_examples(model, self.examples)

        models = options.of_each(self.runs, counted_errors)
        options.write(models, _ERROR_COLUMNS)
        options.finish(rules, lambda: list(map(row, models)), show, profile=self.profile)


def _parts(model: Any, *, with_areas: bool) -> Iterator[tuple[str, Any]]:
    """The parts of a model that have a line in a table, with their names."""
    if model.total.n or not model.lengths:
        yield model.model, model.total
    if with_areas:
        for area, part in model.areas.items():
            yield f"{model.model}, {area}", part
    for length, part in model.lengths.items():
        yield f"{model.model}, {length}", part


def _print_metrics(models: Sequence[ModelMetrics], names: Sequence[str], *, with_areas: bool) -> None:
    has_bleu = any(name.startswith("bleu") for name in names)
    heads = ["answers", "words", *map(_metric_head, names), *(["corpus"] if has_bleu else [])]

    def cells(part: MeanMetrics) -> list[str]:
        values = [_metric_text(name, part.metrics[name].mean) for name in names]
        corpus = [_metric_text("bleu", part.corpus_bleu)] if has_bleu else []
        return [f"{part.n:,}", _fixed(part.words, 0), *values, *corpus]

    rows = [(name, cells(part)) for model in models for name, part in _parts(model, with_areas=with_areas)]
    explained = "in %, except Distinct (dist) and perplexity (ppl); rep: Repetition"
    print_line((explained + ("; corpus: BLEU of all answers together" if has_bleu else ""), "dim"))
    _print_table(heads, rows)
    for name in names:
        if " " in name:
            note(f"{name.partition(' ')[0]} is {name}: words match if they or their stems are equal")


def _metric_head(name: str) -> str:
    return name.partition(" ")[0].replace("_", "-").replace("repetition", "rep").replace("distinct", "dist")


def _metric_text(name: str, value: float | None) -> str:
    if name.startswith("distinct"):
        return _fixed(value, 3)
    return _fixed(value if value is None or name == "ppl" else 100 * value, 2)


def _print_errors(models: Sequence[ModelErrors], *, with_areas: bool) -> None:
    from ..lab.checklists.error_modes import MODES

    def cells(part: ErrorCounts) -> list[str]:
        return [f"{part.n:,}", *(_fixed(part.shares[mode].percent, 1) for mode in MODES), _fixed(part.longest_run, 0)]

    heads = ["answers", *(_HEADS.get(mode, mode) for mode in MODES), "run"]
    rows = [(name, cells(part)) for model in models for name, part in _parts(model, with_areas=with_areas)]
    print_line(("in % of the answers; run: the largest number of equal sentences in a row", "dim"))
    _print_table(heads, rows)
    phrases = [(name, part.phrases) for model in models for name, part in _parts(model, with_areas=with_areas)]
    if any(shares for _, shares in phrases):
        print_line("")
        print_line(("rejections in % by phrase; an answer counts for each phrase that it begins with", "dim"))
    for name, shares in phrases:
        listed = ", ".join(f"{shown(phrase)} {_fixed(share.percent, 1)}" for phrase, share in shares.items())
        if listed:
            print_line(f"{shown(name)}: {listed}")


def _print_lengths(models: Sequence[ModelErrors], *, with_areas: bool) -> None:
    """Prints errors of wanted lengths, and of the lengths that answers claim."""

    def cells(part: ErrorCounts) -> list[str]:
        length = part.length
        claims = [f"{part.n_claims:,}", f"{part.n_wrong_claims:,}"]
        if length is None:
            return ["–"] * 4 + claims
        share = 100 * length.share_long_enough
        figures = length.mean_words, length.mean_absolute_length_error, length.mean_shortfall, share
        return [*(_fixed(figure, 1) for figure in figures), *claims]

    rows = [
        (name, cells(part))
        for model in models
        for name, part in _parts(model, with_areas=with_areas)
        if part.length is not None or part.n_claims
    ]
    if rows:
        print_line("")
        caption = "lengths: means in words, long enough in %; number of answers with a claim, and with a wrong claim"
        print_line((caption, "dim"))
        _print_table(["words", "error", "shortfall", "long enough", "claims", "wrong"], rows)


def _print_examples(model: ModelErrors, most: int) -> None:
    from ..lab.checklists.error_modes import examples_of

    listed = examples_of(model.answers, most)
    if listed:
        print_line("")
        print_line((shown(model.model), "bold"))
    for example in listed:
        length = f", {example['length']}" if example["length"] else ""
        trial = f", trial {example['trial']}" if example["trial"] != 1 else ""
        place = in_one_line(f"{example['id']}{length}{trial}", 100)
        print_line(f"  {example['mode'].replace('_', ' ')}: {place}: {in_one_line(example['seen'], 200)}")


def _print_table(heads: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]]) -> None:
    """Prints numbers in columns; the name at the end of each row is shortened to fit the terminal."""
    head, *lines = aligned([heads, *(cells for _, cells in rows)])
    print_line((f"{head}  model", "bold"))
    for line, (name, _) in zip(lines, rows, strict=True):
        print_line(f"{line}  {shortened(shown(name), rest(len(head) + 2))}")


def _fixed(value: float | None, n_digits: int) -> str:
    return "–" if value is None else f"{value:,.{n_digits}f}"
