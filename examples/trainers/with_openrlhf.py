"""Scores answers with the function for OpenRLHF, loaded from its file as OpenRLHF loads it.

python examples/trainers/with_openrlhf.py

It does not train, because OpenRLHF needs vLLM and a GPU; docs/integrations/openrlhf.md has its options.
"""

import os
import subprocess
import sys
from importlib import util


def main() -> None:
    """Prints the rewards of two queries."""
    os.environ["PFGEN_FAST_SUITE"], os.environ["PFGEN_FAST_SHAPE"] = "mini", "recommended"
    command = [sys.executable, "-m", "pfgen_fast.integrations.openrlhf"]
    path = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    spec = util.spec_from_file_location("reward_func", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"error: {path} cannot be loaded")
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    prompt = "Q: Why does ice float on water?\nA:"
    answer = "Ice is less dense than water, because its molecules form an open lattice."
    queries = [f"{prompt} {answer}</s>", f"{prompt} {answer} {answer}</s>"]
    print(module.reward_func(queries, [prompt] * 2, ["Q07"] * 2)["rewards"].tolist())


if __name__ == "__main__":
    main()
