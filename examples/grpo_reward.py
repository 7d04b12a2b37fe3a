"""Reinforcement learning with TRL's GRPOTrainer: the score of an answer is its reward.

    pip install 'pfgen-fast[trl]'
    python examples/grpo_reward.py org/model --suite my-suite --mode qa --steps 500 --shape recommended --held-out other

The reward is for what `pfgen-fast generate` would keep of the answer, so without a shape it is the score of a later
run. With --held-out, a second reward function of weight 0 compares the answers with other reference answers to the same
questions. TRL logs it, and the model does not learn from it: if the reward rises and this score does not, the model
learns to please the reward.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import chain
from typing import Any

from pfgen_fast import PfgenError, Reward, Scorer, Suite
from pfgen_fast.integrations.trl import RewardFunction, make_dataset, make_reward
from pfgen_fast.scoring.reply_text import MODES
from pfgen_fast.suite.rules import PROFILES


def train(options: argparse.Namespace, watched: Sequence[RewardFunction] = ()) -> list[dict[str, Any]]:
    """Trains a model, writes it to a folder, and returns what the trainer logged; `watched` functions have weight 0."""
    import torch
    from trl import GRPOConfig, GRPOTrainer

    suite, limit = Suite.load(options.suite), options.max_tokens
    source = Scorer(suite, profile=options.profile) if options.profile else suite
    reward = make_reward(Reward(source, options.shape or None), options.mode, max_completion_length=limit)
    dataset = make_dataset(suite, options.mode, trials=options.trials, num_examples=options.examples)
    if options.held_out:
        other = Suite.load(options.held_out)
        others = [list(chain(*other[question].answers.values())) for question in dataset["question"]]
        dataset = dataset.add_column("others", others)
        watched = [make_reward(mode=options.mode, metric="chrf", references="others", name="held_out"), *watched]
    trainer = GRPOTrainer(
        model=options.model,
        reward_funcs=[reward, *watched],
        train_dataset=dataset,
        args=GRPOConfig(
            output_dir=options.output,
            max_steps=options.steps,
            save_steps=options.save_steps,
            logging_steps=1,
            learning_rate=options.learning_rate,
            per_device_train_batch_size=options.generations,
            gradient_accumulation_steps=options.prompts,
            num_generations=options.generations,
            max_completion_length=limit,
            temperature=1.0,
            top_p=0.98,
            reward_weights=[1.0] + [0.0] * len(watched),
            scale_rewards=options.scale_rewards,
            bf16=torch.cuda.is_available() and torch.cuda.is_bf16_supported(),
            report_to="none",
            seed=options.seed,
        ),
    )
    trainer.train()
    trainer.save_model(options.output)
    log: list[dict[str, Any]] = trainer.state.log_history
    return log


def parser() -> argparse.ArgumentParser:
    """The command line."""
    created = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    created.add_argument("model", help="folder of a model, or its name on the hub")
    created.add_argument("--suite", default="mini", help="folder of a suite, or 'mini' (the default)")
    created.add_argument(
        "--mode", choices=MODES, default="completion", help="kind of prompts; qa and chat need a template"
    )
    created.add_argument("--shape", default="", help="shape of the reward: 'recommended', or a TOML file")
    created.add_argument("--profile", choices=PROFILES, help="profile of the scores; by default that of the shape")
    created.add_argument("--held-out", default="", help="suite with other reference answers to the same questions")
    created.add_argument("--output", default="grpo", help="folder for checkpoints and the trained model")
    created.add_argument("--steps", type=int, default=100)
    created.add_argument("--save-steps", type=int, default=50, help="a checkpoint after as many steps")
    created.add_argument("--prompts", type=int, default=4, help="prompts of one step")
    created.add_argument("--generations", type=int, default=8, help="answers to one prompt, compared with one another")
    created.add_argument("--examples", type=int, default=20, help="sample answers that a prompt shows")
    created.add_argument("--trials", type=int, default=10, help="prompts of each question in the dataset")
    created.add_argument("--max-tokens", type=int, default=300)
    created.add_argument("--learning-rate", type=float, default=1e-6)
    created.add_argument("--seed", type=int, default=42, help="of the order of prompts, and of sampling")
    created.add_argument(
        "--scale-rewards",
        choices=("group", "batch", "none"),
        default="group",
        help="what divides the rewards' differences; with 'group', small ones count as much as large ones",
    )
    return created


def main() -> None:
    """Trains, and prints how the reward and the held-out score developed."""
    try:
        log = train(parser().parse_args())
    except PfgenError as error:
        raise SystemExit(f"error: {error}") from None
    except ModuleNotFoundError as error:
        raise SystemExit(f"error: {error.name} is not installed: pip install 'pfgen-fast[trl]'") from None
    for name, key in (("reward", "reward"), ("held-out score", "rewards/held_out_chrf/mean")):
        if values := [f"{float(entry[key]):.4f}" for entry in log if key in entry]:
            print(f"mean {name} by step: {' '.join(values)}")


if __name__ == "__main__":
    main()
