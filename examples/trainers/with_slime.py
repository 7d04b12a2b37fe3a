"""Rewards a group of samples as slime does with --group-rm.

It does not train, because slime trains on GPUs; docs/integrations/reward_functions.md has its options.
"""

import asyncio
from argparse import Namespace

from pfgen_fast import NgramSampler, Suite
from pfgen_fast.integrations.slime import custom_rm


def main() -> None:
    """Prints the rewards of each group."""
    args = Namespace(pfgen={"suite": "mini", "shape": "recommended", "on_error": "zero"}, reward_key=None)
    sampler = NgramSampler(Suite.load("mini"), order=8)  # plays the policy
    for question in Suite.load("mini"):
        texts = sampler.sample(question.question_id, range(4))
        prompt, label = question.question, question.question_id
        group = [Namespace(prompt=prompt, response=text, label=label, status="completed") for text in texts]
        print(label, asyncio.run(custom_rm(args, group)))


if __name__ == "__main__":
    main()
