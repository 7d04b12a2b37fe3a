"""Rolls out a model in the environment for SkyRL, one answer to each question.

python examples/trainers/with_skyrl.py org/model

It does not train, because SkyRL trains on GPUs; docs/integrations/environments.md has its settings.
"""

import sys

from pfgen_fast import Suite


def main(model: str) -> None:
    """Prints the mean of each part of the reward."""
    import skyrl_gym
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer, policy = AutoTokenizer.from_pretrained(model), AutoModelForCausalLM.from_pretrained(model)
    skyrl_gym.register(id="pfgen", entry_point="pfgen_fast.integrations.skyrl:PfgenEnv")
    metrics = []
    for question in Suite.load("mini"):
        row = {"reward_spec": {"ground_truth": question.question_id}}
        env = skyrl_gym.make("pfgen", env_config={"suite": "mini", "shape": "recommended"}, extras=row)
        messages, _ = env.init([{"role": "user", "content": question.question}])
        text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        prompt = tokenizer(text, return_tensors="pt")
        output = policy.generate(**prompt, max_new_tokens=48, do_sample=True)
        env.step(tokenizer.decode(output[0, prompt["input_ids"].shape[1] :], skip_special_tokens=True))
        metrics.append(env.get_metrics())
    print(env.aggregate_metrics(metrics))


if __name__ == "__main__":
    main(sys.argv[1])
