"""Tasks of the suite `mini` for verifiers and prime-rl, and rollouts with rewards by name.

python examples/thinking_server.py &  # plays a model
python examples/trainers/with_verifiers.py http://127.0.0.1:8766/v1

prime-rl trains with the same tasks and names on GPUs; docs/integrations/reward_functions.md has the settings.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import verifiers.v1 as vf
from pfgen_fast import Suite

__all__ = ["SuiteTaskset"]

QuestionTask = vf.Task[vf.WireTaskData, vf.State, vf.TaskConfig]


class SuiteTaskset(vf.Taskset[QuestionTask, vf.TasksetConfig]):  # type: ignore[misc]
    """The questions of the suite; their field `question` is for the reward."""

    def load(self) -> Iterator[vf.Task]:
        """Yields a task for each question."""
        for item in Suite.load("mini"):
            yield QuestionTask(vf.WireTaskData(prompt=item.question, question=item.question_id), self.config.task)


if __name__ == "__main__":
    options = f"-m org/thinker --client.base-url {sys.argv[1]} --no-push --select.limit 2 --env.agent.harness.id null "
    options += "--env.agent.runtime.type subprocess"
    for name, weight in {"reward": "0.8", "truthfulness": "0.2"}.items():
        option = f" --env.taskset.task.rewards.{name}"
        options += f"{option}.fn pfgen_fast.integrations.verifiers.{name}{option}.weight {weight}"
    paths = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    os.environ |= {"PYTHONPATH": paths, "PFGEN_FAST_SUITE": "mini"}
    os.execvp("vf-eval", ["vf-eval", "with_verifiers", *options.split()])
