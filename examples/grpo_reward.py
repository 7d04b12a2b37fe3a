"""Reinforcement learning with TRL's GRPOTrainer: the score of an answer is its reward.

    pip install 'pfgen-fast[trl]'
    python examples/grpo_reward.py org/model --suite my-suite --mode qa --steps 500

The reward is for what `pfgen-fast generate` would keep of the answer, so it is the score of a later run.
"""

from __future__ import annotations

import argparse

from pfgen_fast import PfgenError, Suite
from pfgen_fast.generation.prompts import MODES
from pfgen_fast.integrations.trl import make_dataset, make_reward


def train(options: argparse.Namespace) -> list[dict[str, float]]:
    """Trains a model, writes it to a folder, and returns what the trainer logged."""
    import torch
    from trl import GRPOConfig, GRPOTrainer

    suite = Suite.load(options.suite)
    trainer = GRPOTrainer(
        model=options.model,
        reward_funcs=make_reward(suite, options.mode),
        train_dataset=make_dataset(suite, options.mode, trials=options.trials, num_examples=options.examples),
        args=GRPOConfig(
            output_dir=options.output,
            max_steps=options.steps,
            save_steps=options.save_steps,
            logging_steps=1,
            learning_rate=options.learning_rate,
            per_device_train_batch_size=options.generations,
            gradient_accumulation_steps=options.prompts,
            num_generations=options.generations,
            max_completion_length=options.max_tokens,
            temperature=1.0,
            top_p=0.98,
            bf16=torch.cuda.is_available() and torch.cuda.is_bf16_supported(),
            report_to="none",
        ),
    )
    trainer.train()
    trainer.save_model(options.output)
    log: list[dict[str, float]] = trainer.state.log_history
    return log


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("model", help="folder of a model, or its name on the hub")
    made.add_argument("--suite", default="mini", help="folder of a suite, or 'mini' (the default)")
    made.add_argument(
        "--mode", choices=MODES, default="completion", help="kind of prompts; qa and chat need a template"
    )
    made.add_argument("--output", default="grpo", help="folder for checkpoints and the trained model")
    made.add_argument("--steps", type=int, default=100)
    made.add_argument("--save-steps", type=int, default=50, help="a checkpoint after as many steps")
    made.add_argument("--prompts", type=int, default=4, help="prompts of one step")
    made.add_argument("--generations", type=int, default=8, help="answers to one prompt, compared with one another")
    made.add_argument("--examples", type=int, default=20, help="sample answers that a prompt shows")
    made.add_argument("--trials", type=int, default=10, help="prompts of each question in the dataset")
    made.add_argument("--max-tokens", type=int, default=300)
    made.add_argument("--learning-rate", type=float, default=1e-6)
    return made


def main() -> None:
    """Trains, and prints how the reward developed."""
    try:
        log = train(parser().parse_args())
    except PfgenError as error:
        raise SystemExit(f"error: {error}") from None
    except ModuleNotFoundError as error:
        raise SystemExit(f"error: {error.name} is not installed: pip install 'pfgen-fast[trl]'") from None
    rewards = [entry["reward"] for entry in log if "reward" in entry]
    print("mean reward by step: " + " ".join(f"{reward:.4f}" for reward in rewards))


if __name__ == "__main__":
    main()
