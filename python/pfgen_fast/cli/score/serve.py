"""`pfgen-fast serve`: rewards and scores over HTTP."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from .. import options
from ..app import Exit, caution, fail, print_line, shown
from ..parser import Option
from ..suite_line import suite_or_here

if TYPE_CHECKING:
    from ...rewards.reward import Reward


class Serve:
    """Serves rewards and scores over HTTP, for trainers on other machines.

    POST /reward takes {"questions": ..., "answers": [...]} and returns {"rewards": [...]}; /score returns all columns.
    /get_reward, /rm and /verify implement the protocols of OpenRLHF, slime and NeMo Gym. /openapi.json documents them.
    After the first Ctrl-C or SIGTERM, requests in progress are finished; the second ends the command at once.

    Examples

      pfgen-fast serve --suite mini
      pfgen-fast serve --suite my-suite --shape recommended
      PFGEN_FAST_TOKEN=... pfgen-fast serve --suite my-suite --host 0.0.0.0 --port 8000
    """

    suite: options.SuiteOption = None
    metric: str = Option(
        "score", "Serve score, fluency, truthfulness, helpfulness, or a metric of references: chrf, ..."
    )
    reduce: options.Reduce = "best"
    shape: str | None = Option(None, "Shape the rewards: 'recommended' or a TOML file (docs/guides/reward.md).")
    host: str = Option("127.0.0.1", "Listen on this address; all but a loopback address need a token.")
    port: int = Option(8000, "Set the port; 0 takes a free port.", min=0, max=65535)
    token_file: Path | None = Option(None, "Read the token of requests from this file. Default: $PFGEN_FAST_TOKEN.")
    mode: options.ModeChoice = Option("completion", "Choose the form of prompts for /get_reward, /rm and /verify.")
    reasoning: Literal["strip", "keep", "refuse"] = Option("strip", "Choose what is done with reasoning in answers.")
    on_error: Literal["raise", "zero", "nan"] = Option(
        "raise", "Choose the reward of an answer that cannot be scored; raise refuses its request."
    )
    profile: Literal["leaderboard", "paper", "normalised"] | None = Option(
        None, "Choose the profile of the scores. Default: that of the shape, or leaderboard."
    )
    max_answers: int = Option(16_384, "Limit the answers in a request.", min=1)
    max_requests: int = Option(256, "Limit the requests in progress; further requests get HTTP 429.", min=1)
    max_mib: int = Option(32, "Limit the body of a request, in MiB.", min=1)
    seconds: float = Option(60.0, "Limit the time of a request.", min=1)
    threads: options.Threads = None

    def __call__(self) -> None:
        from ...rewards.server import reward_server as server
        from ...rewards.server.admission import Limits, find_token

        token = find_token(self.token_file)
        limits = Limits(
            n_answers=self.max_answers,
            n_requests=self.max_requests,
            n_body_bytes=self.max_mib << 20,
            n_held_bytes=max(256, self.max_mib) << 20,
            seconds=self.seconds,
        )
        reward = self._reward()
        by = f"by {reward.metric}" if reward.scorer is None else f"to {reward.scorer.suite.name}"

        def started(address: str) -> None:
            print_line(shown(f"{address} rewards answers {by}; signature {reward.signature}; limits {limits}"))

        if not server.serve(
            reward, host=self.host, port=self.port, token=token, limits=limits, mode=self.mode, on_start=started
        ):
            caution("ended before all requests in progress were answered")
            os._exit(Exit.STOPPED)  # a worker may still be scoring

    def _reward(self) -> Reward:
        from ...rewards.reward import Reward, shape_of
        from ...scoring.scorer import Scorer
        from ...suite.rules import SCORES

        shape = shape_of(self.shape)
        if self.suite is None and self.metric not in SCORES:
            from ...rewards.references.reference_scorer import ReferenceScorer

            if self.profile is not None:
                fail(f"--profile: only scores of a suite have a profile, not the metric {self.metric}")
            try:
                references = ReferenceScorer([self.metric], reduce=self.reduce, threads=self.threads)
            except ValueError as error:
                fail(f"--metric: {error}")
            return Reward(references, shape, reasoning=self.reasoning, on_error=self.on_error)
        if self.reduce != "best":
            fail(f"--reduce: only a metric of references has several references, not {self.metric}")
        suite = suite_or_here(self.suite)
        profile = self.profile or shape.profile or "leaderboard"
        scorer = Scorer(suite, profile=profile, threads=self.threads)
        return Reward(scorer, shape, metric=self.metric, reasoning=self.reasoning, on_error=self.on_error)
