"""`pfgen-fast import-batch`: output files of OpenAI's Batch API become a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import options
from .app import Json, Quiet
from .generate import finish
from .origin import suite_or_here


def import_batch(
    outputs: Annotated[
        list[Path], typer.Argument(help="Output and error files of the Batch API.", metavar="OUTPUT...")
    ],
    config: Annotated[
        Path,
        typer.Option(
            "--config",
            "-c",
            help="The parameters that prompts wrote beside the batch file.",
            metavar="NAME.config.json",
        ),
    ],
    suite: options.SuiteToAsk = None,
    output: options.Root = Path("result"),
    no_score: Annotated[bool, typer.Option("--no-score", help="Do not score the run at the end.")] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Imports output files of OpenAI's Batch API as a run; Gemini's batches have the same format.

    Failed requests are listed, and so are files that cannot be imported. Missing answers can be added from another
    output file, or by generate with the same engine and parameters.

    Example

      pfgen-fast import-batch batch_output.jsonl --config batch.config.json --suite mini
    """
    from ..generation.batch_api import import_batch, read_config

    loaded = suite_or_here(suite)
    imported = import_batch(outputs, loaded, read_config(config), output=output)
    finish(imported, loaded, with_scores=not no_score, quiet=quiet, as_json=as_json)
