"""`pfgen-fast serve`: rewards and scores over HTTP."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from . import options
from .app import Exit, print_line, shown, warn
from .suite_line import suite_or_here


def serve(
    suite: options.SuiteOption = None,
    host: Annotated[
        str, typer.Option("--host", help="Listen on this address; any address but a loopback address needs a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Set the port; 0 takes a free port.")] = 8000,
    token_file: Annotated[
        Path | None,
        typer.Option(
            "--token-file",
            help="Read the token of requests from this file, which others may not read. Default: the environment "
            "variable PFGEN_FAST_TOKEN.",
            metavar="FILE",
        ),
    ] = None,
    mode: Annotated[
        options.ModeChoice, typer.Option("--mode", help="Choose OpenRLHF's prompts: where an answer begins and ends.")
    ] = "completion",
    profile: options.ProfileOption = "leaderboard",
    float_sum: options.FloatSumOption = "compensated",
    max_answers: Annotated[int, typer.Option("--max-answers", min=1, help="Limit the answers in a request.")] = 16_384,
    max_requests: Annotated[
        int, typer.Option("--max-requests", min=1, help="Limit the requests in progress; more get 429.")
    ] = 256,
    max_mib: Annotated[int, typer.Option("--max-mib", min=1, help="Limit the body of a request, in MiB.")] = 32,
    seconds: Annotated[float, typer.Option("--seconds", min=1, help="Limit the time of a request.")] = 60.0,
    threads: options.Threads = None,
) -> None:
    """Serves rewards and scores over HTTP, for trainers on other machines.

    POST /reward takes {"questions": ..., "answers": [...]} and returns {"rewards": [...]}; /score returns all columns,
    and /get_reward speaks OpenRLHF's protocol. The page at / describes them. The first Ctrl-C or SIGTERM finishes what
    is in progress, the second ends it.

    Examples

      pfgen-fast serve --suite mini

      PFGEN_FAST_TOKEN=... pfgen-fast serve --suite my-suite --host 0.0.0.0 --port 8000
    """
    from ..scoring.scorer import Scorer
    from ..serving import server
    from ..serving.access import find_token
    from ..serving.limits import Limits

    token = find_token(token_file)
    limits = Limits(
        n_answers=max_answers,
        n_requests=max_requests,
        n_body_bytes=max_mib << 20,
        n_held_bytes=max(256, max_mib) << 20,
        seconds=seconds,
    )
    scorer = Scorer(suite_or_here(suite), profile=profile, float_sum=float_sum, threads=threads)

    def started(address: str) -> None:
        about = f"{address} rewards answers to {scorer.suite.name}; signature {scorer.signature}; limits {limits}"
        print_line(shown(about))

    if not server.serve(scorer, host=host, port=port, token=token, limits=limits, mode=mode, on_start=started):
        warn("ended before all requests in progress had their replies")
        os._exit(Exit.STOPPED)  # a worker may still be scoring
