"""The options of models behind a server, for `with_options`: where the model is, what it costs, how it is asked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ..judging.budget import Spending
    from ..judging.requests import Server


@dataclass(frozen=True)
class ServerOptions:
    """The options of commands that ask a model."""

    base_url: Annotated[str | None, typer.Option(help="Set the address of the server, including /v1.")] = None
    key_env: Annotated[
        str | None,
        typer.Option(help="Name the environment variable that holds the key. Default: OPENAI_API_KEY.", metavar="NAME"),
    ] = None
    concurrency: Annotated[int, typer.Option(min=1, help="Limit the number of concurrent requests.")] = 16
    timeout: Annotated[
        float, typer.Option(min=0.001, help="Set the timeout in seconds of a request, or of a program without output.")
    ] = 120.0
    retries: Annotated[int, typer.Option(min=0, help="Set how often a failed request is retried.")] = 5
    prompt_price: Annotated[float, typer.Option(help="Set the price per million prompt tokens.")] = 0.0
    reply_price: Annotated[float, typer.Option(help="Set the price per million reply tokens.")] = 0.0
    budget: Annotated[
        float | None, typer.Option(min=0, help="Stop before the estimated cost of this call could exceed this.")
    ] = None
    offline: Annotated[bool, typer.Option("--offline", help="Send no requests; use the stored replies.")] = False
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show the number of requests and the cost.")] = False

    @cached_property
    def server(self) -> Server | None:
        """The server; None if nothing may be sent."""
        from ..judging.requests import Server

        if self.offline:
            return None
        return Server(self.base_url, self.key_env, self.concurrency, self.timeout, self.retries)

    @cached_property
    def spending(self) -> Spending:
        """Prices and budget, shared by all models of a call."""
        from ..judging.budget import Prices, Spending

        return Spending(Prices(self.prompt_price, self.reply_price), self.budget)
