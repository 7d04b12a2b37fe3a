"""Trains a model with TRL; the reward compares each answer with the reference answers in its row.

python examples/trainers/with_trl.py org/model
"""

import sys
from itertools import chain

from pfgen_fast import Suite
from pfgen_fast.integrations.trl import make_reward


def main(model: str, steps: int = 4) -> None:
    """Trains for a few steps, and prints the mean reward of each."""
    import torch
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    rows = [
        {"prompt": f"Q: {question.question}\nA:", "references": [*chain(*question.answers.values())][:20]}
        for question in Suite.load("mini")
    ]
    trainer = GRPOTrainer(
        model=model,
        reward_funcs=make_reward(metric="chrf", references="references", shape="recommended", on_error="zero"),
        train_dataset=Dataset.from_list(rows),
        args=GRPOConfig(
            output_dir="grpo", max_steps=steps, num_generations=4, per_device_train_batch_size=8, logging_steps=1,
            max_completion_length=32, report_to="none", bf16=torch.cuda.is_available(),
        ),
    )  # fmt: skip
    trainer.train()
    print([round(entry["reward"], 3) for entry in trainer.state.log_history if "reward" in entry])


if __name__ == "__main__":
    main(sys.argv[1])
