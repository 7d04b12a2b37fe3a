"""`pfgen-fast sweep`: a grid of runs like those of `generate`, with a table of the scores."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...base.table import Table
from ...base.untrusted_text import markdown_text
from ...scoring.reply_text import ReasoningChoice
from .. import app, options
from ..engine_options import Connection, LocalModel, ReferenceSets, RequestShape, Tags, chosen
from ..parser import Option, option_group
from ..progress import Watch, note_existing
from ..suite_line import about_interval, print_origin, suite_or_here

if TYPE_CHECKING:
    from ...generation.sweep import Point
    from ...suite.suite import Suite

TABLES = (".md", ".csv", ".json")
_OF_THE_COMMAND = (
    "engine", "suite", "questions", "limit", "trials", "output", "table", "dry_run", "quiet", "verbose", "as_json",
)  # fmt: skip


def _axis(help: str, parser: Any = None, metavar: str | None = None, group: str = "Prompts") -> Any:
    """An option with several values, each of which makes runs of its own."""
    several = "May be repeated." if parser in (None, options.text_or_file) else "Separate several by commas."
    return Option(None, f"{help} {several}", parser=parser, metavar=metavar, group=group)


def _integers(help: str, group: str = "Prompts") -> Any:
    return _axis(help, options.integers, "N,...", group)


def _numbers(help: str, group: str) -> Any:
    return _axis(help, lambda text: list(map(options.number_or_word, options.names(text))), "NUMBER|none,...", group)


@option_group
class SweepEngineOptions(ReferenceSets, LocalModel, RequestShape, Connection):
    """The options of engines that all runs of a sweep share."""


class Sweep:
    """Generates and scores a run for every combination of parameter values.

    Each run is the one that generate creates with the same parameters. Existing answers are not requested again, and
    running the command again continues where it was stopped.

    Examples

      pfgen-fast sweep -e ngram -s mini --order 3,5 --temperature 0.5,1
      pfgen-fast sweep -e hf -s mini -m org/chat --mode qa --mode chat --chat-template chat.jinja --disable-thinking
      pfgen-fast sweep -e openai-api -s mini -m org/a -m org/b --mode qa --top-p none,0.98 --stop "<|end|>"
    """

    engine: str = Option(..., "Choose an engine; see generate.", "-e")
    suite: options.SuiteOption = None
    questions: options.Questions = None
    limit: options.Limit = None
    trials: int = Option(10, "Ask each question this often.", "-n")
    model: list[str] | None = Option(None, "Name a model. May be repeated.", "-m")
    mode: list[options.ModeChoice] | None = _axis("Choose the kind of prompts.", group="")
    temperature: list[Any] | None = _numbers("Set the temperature.", "")
    max_tokens: list[int] | None = _integers("Limit the tokens of an answer.", "")
    top_p: list[Any] | None = _numbers("Set top-p.", "Sampling")
    top_k: list[int] | None = _integers("Sample from this many most likely tokens.", "Sampling")
    stop: list[str] | None = Option(
        None, "End answers at this text; several texts apply together.", metavar="TEXT", group="Sampling"
    )
    examples: list[int] | None = _integers("Set the sample answers in a prompt.")
    seed: list[str] | None = _axis("Set any text; see generate.")
    prefix: list[str] | None = _axis("Begin every prompt with this text.")
    system: list[str] | None = _axis("Send this system message; see generate.", options.text_or_file, "TEXT|@FILE")
    instruction: list[str] | None = _axis(
        "Put this line above the examples of mode completion; see generate.", options.text_or_file, "TEXT|default|@FILE"
    )
    context: list[str] | None = _axis("Show sentences of this file; see generate.", metavar="FILE")
    sentences: list[int] | None = _integers("Draw this many sentences of --context.")
    reasoning: ReasoningChoice | None = Option(None, "Strip or keep reasoning; see generate.", group="Reasoning")
    reasoning_tags: Tags = None
    reasoning_tokens: list[int] | None = _integers("Allow tokens for reasoning; see generate.", "Reasoning")
    order: list[int] | None = _integers("ngram: set the code points per n-gram.", "Answers without a model")
    engine_options: SweepEngineOptions
    output: options.Root = Path("result")
    table: Path | None = Option(None, f"Also write the table to a file ({', '.join(TABLES)}).")
    dry_run: bool = Option(False, "Only list the points and their directories.")
    quiet: app.Quiet = False
    verbose: app.Verbose = False
    as_json: app.Json = False

    def __call__(self) -> None:
        from ...generation.sweep import grid, sweep_table
        from ...generation.sweep import sweep as sweep_over

        points = grid(self.engine, self.parameters, asks_hub=not self.dry_run)
        if self.table is not None and self.table.suffix not in TABLES:
            app.fail(f"--table {self.table}: expected a name that ends in {', '.join(TABLES)}")
        loaded = suite_or_here(self.suite).only(self.questions or (), limit=self.limit)
        is_silent = self.quiet or self.as_json
        if not is_silent:
            reasons = dict.fromkeys((point.setting.mode, point.why_mode) for point in points if point.why_mode)
            app.note(*(f"mode {mode}: {why}; --mode chooses another" for mode, why in reasons))
        if self.dry_run:
            _list(points, loaded, self.output, as_json=self.as_json)
            return
        measured = []
        with Watch("answers", quiet=is_silent) as watch:
            for point in sweep_over(
                loaded, points, trials=self.trials, output=self.output, on_progress=watch.count, events=watch.events
            ):
                measured.append(point)
                app.warn(*point.problems)
                replies = point.replies.problems if point.replies else ()
                app.caution(*(f"{point.point.name}: {problem}" for problem in replies))
        table = sweep_table(measured)
        if self.table is not None:
            _write(table, self.table)
        if self.as_json:
            app.print_json(
                [{**row, "n_new": point.n_new} for row, point in zip(table.to_dicts(), measured, strict=True)]
            )
        elif not self.quiet:
            app.print_table(table)
            if existing := [point for point in measured if point.n_existing]:
                oldest = min(point.oldest_answer for point in existing)
                note_existing(sum(point.n_existing for point in existing), oldest)
            if any(row["score_half_width"] is not None for row in table.to_dicts()):
                app.print_line((about_interval("trials"), "dim"))
            print_origin(
                loaded, next((point.signature for point in measured if point.signature and self.verbose), None)
            )
        app.exit_if_partial(any(point.problems for point in measured))

    @property
    def parameters(self) -> dict[str, Any]:
        values = {name: value for name, value in vars(self).items() if name not in _OF_THE_COMMAND}
        values |= chosen(values.pop("engine_options"))
        return {name: value for name, value in values.items() if value is not None}


def _list(points: Sequence[Point], suite: Suite, root: Path, *, as_json: bool) -> None:
    from ...base.errors import PfgenError

    rows = []
    for point in points:
        folder, problem = None, None
        try:
            folder = str(point.folder(suite, root))
        except PfgenError as error:
            problem = f"{point.name}: {error}"
            app.warn(problem)
        rows.append({**point.values, "run": folder, "problem": problem})
        if folder and not as_json:
            app.print_line(app.fitted(f"{app.shown(point.name)}: ", folder))
    if as_json:
        app.print_json(rows)
    else:
        print_origin(suite)
    app.exit_if_partial(any(row["problem"] for row in rows))


def _write(table: Table, path: Path) -> None:
    from ...base.file_writing import write_whole

    text = {".md": Table.to_markdown, ".csv": Table.to_csv, ".json": Table.to_json}[path.suffix](table)
    if path.suffix == ".md":
        signatures = dict.fromkeys(filter(None, table.values("signature")))
        text += "".join(f"\nSignature: {markdown_text(signature)}\n" for signature in signatures)
    write_whole(path, text.encode())
