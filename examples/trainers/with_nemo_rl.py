"""Takes a step in the environment for NeMo RL, in an actor that NeMo RL starts.

python examples/trainers/with_nemo_rl.py

It runs where NeMo RL is installed, from its repository; it does not train, because NeMo RL trains on GPUs.
"""

from pfgen_fast.integrations.nemo_rl import register


def main() -> None:
    """Prints the rewards of two answers."""
    import ray
    from nemo_rl.environments.utils import create_env

    ray.init(num_cpus=1, include_dashboard=False)
    register()
    environment = create_env("pfgen", {"suite": "mini", "shape": "recommended"})
    question = {"role": "user", "content": "Why does ice float on water?"}
    answers = ["Ice is less dense than water, because its molecules form an open lattice.", "It is cold."]
    logs = [[question, {"role": "assistant", "content": answer}] for answer in answers]
    print(ray.get(environment.step.remote(logs, [{"ground_truth": "Q07"}] * 2)).rewards)


if __name__ == "__main__":
    main()
