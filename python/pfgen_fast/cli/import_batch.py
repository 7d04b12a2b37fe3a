"""`pfgen-fast import-batch`: output files of a batch API become a run."""

from __future__ import annotations

from pathlib import Path

from typer import Argument, Option

from . import options
from .app import note
from .generate import Ending, Prices
from .suite_line import suite_or_here


class _ImportBatch:
    """Imports output files of a batch API (OpenAI's, Anthropic's, Gemini's) as a run.

    The format is that of the engine in the run's parameters. Failed requests are listed, and so are files that cannot
    be imported. Missing answers can be added from another output file, or by generate with the same engine and
    parameters.

    Example

      pfgen-fast import-batch batch_output.jsonl --config batch.config.json --suite mini
    """

    outputs: list[Path] = Argument(help="Output and error files of the batch API.", metavar="OUTPUT...")
    config: Path = Option(
        ...,
        "-c",
        help="Read the run's parameters, which prompts wrote next to the batch file.",
        metavar="NAME.config.json",
    )
    suite: options.SuiteToAsk = None
    output: options.Root = Path("result")
    prices: Prices
    ending: Ending

    def __call__(self) -> None:
        from ..generation.batch_api import import_batch, read_config

        loaded = suite_or_here(self.suite)
        prices = self.prices.of_tokens
        imported = import_batch(self.outputs, loaded, read_config(self.config), output=self.output, prices=prices)
        if imported.events.n_prompt_tokens and not self.ending.is_silent:
            note(str(imported.events))
        self.ending.finish(imported, loaded)
