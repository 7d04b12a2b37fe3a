"""`pfgen-fast import-batch`: output files of a batch API become a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import options
from .app import Json, Quiet, note
from .generate import finish
from .suite_line import suite_or_here


def import_batch(
    outputs: Annotated[
        list[Path], typer.Argument(help="Output and error files of the batch API.", metavar="OUTPUT...")
    ],
    config: Annotated[
        Path,
        typer.Option(
            "--config",
            "-c",
            help="Read the run's parameters, which prompts wrote beside the batch file.",
            metavar="NAME.config.json",
        ),
    ],
    suite: options.SuiteToAsk = None,
    output: options.Root = Path("result"),
    prompt_price: options.PromptPrice = 0.0,
    reply_price: options.ReplyPrice = 0.0,
    cached_price: options.CachedPrice = None,
    no_score: Annotated[bool, typer.Option("--no-score", help="Do not score the run at the end.")] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Imports output files of a batch API (OpenAI's, Anthropic's, Gemini's) as a run.

    The format is that of the engine in the run's parameters. Failed requests are listed, and so are files that cannot
    be imported. Missing answers can be added from another output file, or by generate with the same engine and
    parameters.

    Example

      pfgen-fast import-batch batch_output.jsonl --config batch.config.json --suite mini
    """
    from ..generation.batch_api import import_batch, read_config
    from ..generation.prices import TokenPrices

    loaded = suite_or_here(suite)
    prices = TokenPrices(prompt_price, reply_price, cached_price)
    imported = import_batch(outputs, loaded, read_config(config), output=output, prices=prices)
    if imported.events.n_prompt_tokens and not (quiet or as_json):
        note(str(imported.events))
    finish(imported, loaded, with_scores=not no_score, quiet=quiet, as_json=as_json)
