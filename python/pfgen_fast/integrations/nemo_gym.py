"""A resources server for NeMo Gym, whose `POST /verify` returns a reward and its parts.

`resources_servers/pfgen/app.py` of NeMo Gym is

    from pfgen_fast.integrations.nemo_gym import PfgenResourcesServer
    if __name__ == "__main__":
        PfgenResourcesServer.run_webserver()
"""

from __future__ import annotations

from typing import Any, Literal

from ..base.errors import PfgenError, optional
from ..rewards.answer_rows import Reasoning
from ..rewards.completions import SETTINGS, CompletionReward
from ..rewards.server.adapters import rows_of_verification, verified
from ..scoring.reply_text import Mode

_needed_for = "the resources server for NeMo Gym"
_gym: Any = optional("nemo_gym.base_resources_server", extra="nemo-gym", needed_for=_needed_for)
_fastapi: Any = optional("fastapi", extra="nemo-gym", needed_for=_needed_for)


class PfgenConfig(_gym.BaseResourcesServerConfig):  # type: ignore[misc]  # NeMo Gym is optional
    """The configuration of the server: the arguments of `Reward`, and the kind of prompts."""

    REVERIFY_MODE = _gym.ReverifyMode.STATELESS

    suite: str | None = None
    mode: Mode = "chat"
    metric: str = "score"
    shape: str | None = None
    reasoning: Reasoning = "strip"
    on_error: Literal["raise", "zero"] = "raise"  # NeMo Gym has no rewards that are not a number


class PfgenRequest(_gym.BaseVerifyRequest, extra="allow"):  # type: ignore[call-arg, misc]
    """A response of a model, and the columns of the row."""


class PfgenResponse(_gym.BaseMultiRewardVerifyResponse, extra="allow"):  # type: ignore[call-arg, misc]
    """The request with the reward and its parts, which are columns, too."""


class PfgenResourcesServer(_gym.SimpleResourcesServer):  # type: ignore[misc]
    """The server. A row of the dataset has `question` (an id or exact text), or without a suite `references`.

    They are columns of the row or keys of its `verifier_metadata`.
    """

    config: PfgenConfig

    async def verify(self, body: PfgenRequest) -> PfgenResponse:
        """The reward of the last message of a response."""
        rewards = CompletionReward.shared({name: getattr(self.config, name) for name in SETTINGS})
        row = body.model_dump()
        try:
            return PfgenResponse(**verified(rewards, rows_of_verification(rewards, row), row))
        except PfgenError as error:
            raise _fastapi.HTTPException(400, str(error)) from None
