"""An environment for TRL, in which the model submits its answer with a tool."""

from __future__ import annotations

from typing import Any

from .trl import make_reward


class Environment:
    """For `environment_factory=partial(Environment, "my-suite", "chat")`; the arguments are those of `make_reward`."""

    def __init__(self, *suite_and_mode: Any, **settings: Any) -> None:
        self._reward = make_reward(*suite_and_mode, **settings)

    def reset(self, **row: Any) -> None:
        """Begins a conversation with a row of the dataset, which has the question or the references."""
        self._row, self._answer = {name: [value] for name, value in row.items()}, ""

    def submit_answer(self, answer: str) -> str:
        """Submits the final answer.

        Args:
            answer: The text of the answer.

        Returns:
            A confirmation.
        """
        self._answer = answer
        return "The answer was submitted."

    def get_reward(self) -> float | None:
        """The reward of the answer that was submitted last; without a submission, the reward of an empty answer."""
        return self._reward(completions=[self._answer], **{"prompts": [""], **self._row})[0]
