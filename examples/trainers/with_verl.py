"""Scores answers with a reward manager of verl, as its trainer does after each rollout.

python examples/trainers/with_verl.py org/model

It does not train, because verl needs vLLM or SGLang and a GPU; docs/integrations/verl.md has its options.
"""

import sys

from pfgen_fast.integrations.verl import compute_score_batched

ANSWERS = ["Ice is less dense than water, because its molecules form an open lattice.", "<think>Hm.</think> It floats."]


def main(model: str) -> None:
    """Prints the rewards and their parts; `model` has a tokenizer."""
    import numpy as np
    import torch
    from transformers import AutoTokenizer
    from verl import DataProto
    from verl.workers.reward_manager.batch import BatchRewardManager

    tokenizer = AutoTokenizer.from_pretrained(model)
    batch = tokenizer(ANSWERS, padding=True, padding_side="right", return_tensors="pt")
    prompts = torch.full((len(ANSWERS), 1), tokenizer.pad_token_id)
    rows = {"data_source": ["pfgen"] * 2, "reward_model": [{"ground_truth": "Q07"}] * 2, "extra_info": [{}, {}]}
    data = DataProto.from_dict(
        tensors={
            "prompts": prompts,
            "responses": batch["input_ids"],
            "attention_mask": torch.cat([torch.ones_like(prompts), batch["attention_mask"]], dim=1),
        },
        non_tensors={name: np.array(values, dtype=object) for name, values in rows.items()},
    )
    manager = BatchRewardManager(tokenizer, 0, compute_score_batched, suite="mini", parts=True)
    print(dict(manager(data, return_dict=True)["reward_extra_info"]))


if __name__ == "__main__":
    main(sys.argv[1])
