"""`python tools/reward_training.py`: trains a tiny model by GRPO with the score and with a shaped reward, thrice each.

No model is downloaded. The model is a small Llama with random weights. It first learns to answer the questions of the
packaged suite from answers of the suite's grammar, of which a third is damaged. It thus also learns to go on after an
answer, to loop, to stop early and to answer another question. Then `examples/grpo_reward.py` trains it with each
reward and seed, two at a time. The program took 28 minutes on two busy cores, and writes
docs/figures/reward_training.json for docs/reward_hacking.md.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import datetime, timezone
from importlib.metadata import version
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean
from typing import Any

from make_mini_suite import QUESTIONS, make_answer
from pfgen_fast import Suite
from pfgen_fast.rewards.completions import answer_in
from reward_measures import MEASURES, grpo_reward, measures, write, write_suites

FILE = "reward_training.json"
SHAPES = {"score": "", "recommended shape": "recommended"}
PACKAGES = ("torch", "transformers", "trl")
SEEDS = (0, 1, 2)
PRETRAINING_STEPS, STEPS, WINDOW = 300, 120, 20
OPTIONS = (
    "--profile leaderboard --prompts 4 --generations 8 --examples 0 --trials 1 --max-tokens 96 --learning-rate 3e-4"
)
END, PAD = "<|end|>", "<|pad|>"
SHOWN = "Q07"  # the question whose last answer the file contains


def texts(count: int, seed: int) -> Iterator[str]:
    """Prompts of mode `completion` with answers of set A's grammar; a third of the answers is damaged."""
    chance = random.Random(seed)
    for row in range(count):
        asked = chance.choice(QUESTIONS)
        answers = [make_answer(asked["sets"]["A"], "training", seed, row, part) for part in range(4)]
        kind, text = chance.random(), answers[0]
        if kind < 0.12:
            text = " ".join(answers[: chance.randint(2, 4)])
        elif kind < 0.18:
            text += text[-chance.randint(8, 40) :] * 12
        elif kind < 0.24:
            text = text[: chance.randint(1, len(text))]
        elif kind < 0.33:
            text = make_answer(chance.choice(QUESTIONS)["sets"]["A"], "training", seed, row)
        yield f"Q: {asked['question']}\nA: {text}{END}"


def write_model(folder: Path, steps: int, *, seed: int = 0) -> None:
    """Trains a Llama on the texts, and writes it to a folder."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=2048, special_tokens=[END, PAD], initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    raw.train_from_iterator(texts(2000, seed), trainer)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, eos_token=END, pad_token=PAD, padding_side="right")
    tokenizer.save_pretrained(folder)

    torch.manual_seed(seed)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=128,
            intermediate_size=384,
            num_hidden_layers=3,
            num_attention_heads=4,
            max_position_embeddings=256,
            bos_token_id=None,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
            tie_word_embeddings=True,
        )
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    source = texts(32 * steps, seed)
    for _ in range(steps):
        batch: Any = tokenizer(
            [next(source) for _ in range(32)], return_tensors="pt", padding=True, truncation=True, max_length=128
        )
        labels = batch["input_ids"].masked_fill(batch["attention_mask"] == 0, -100)
        loss = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"], labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    model.save_pretrained(folder)


def train(
    model: Path, suites: tuple[Path, Path], shape: str, steps: int, window: int = WINDOW, *, seed: int = 0
) -> dict[str, Any]:
    """Trains the model by GRPO; returns the means of each window of steps, and the last answer to a question."""
    suite, other = map(Suite.load, suites)
    seen: list[list[tuple[str, str]]] = []

    def answers(completions: Sequence[str], question: Sequence[str], **columns: Any) -> list[float]:
        texts = (answer_in(text, "completion") for text in completions)
        seen.append(list(zip(question, texts, strict=True)))
        return [0.0] * len(completions)

    with tempfile.TemporaryDirectory() as output:
        arguments = [str(model), "--suite", str(suites[0]), "--output", output, *OPTIONS.split()]
        options = grpo_reward.parser().parse_args(
            [*arguments, "--shape", shape, "--steps", str(steps), "--save-steps", str(steps), "--seed", str(seed)]
        )
        log = [entry for entry in grpo_reward.train(options, [answers]) if "reward" in entry]
    rows = []
    for begin in range(0, steps, window):
        questions, texts = zip(*chain.from_iterable(seen[begin : begin + window]), strict=True)
        values = dict(zip(MEASURES, measures(suite, other, questions, texts), strict=True))
        entries = log[begin : begin + window]
        values["reward"] = fmean(float(entry["reward"]) for entry in entries)
        values["finished"] = 1 - fmean(float(entry["completions/clipped_ratio"]) for entry in entries)
        rows.append({"step": begin + len(entries), **{name: round(value, 4) for name, value in values.items()}})
    answer = [text for name, text in chain.from_iterable(seen) if name == SHOWN][-1]
    return {"rows": rows, "answer": answer}


def train_alone(arguments: tuple[Path, tuple[Path, Path], str, int]) -> dict[str, Any]:
    """As `train`, in a process with one thread."""
    import torch

    torch.set_num_threads(1)
    model, suites, shape, seed = arguments
    return train(model, suites, shape, STEPS, seed=seed)


def main() -> None:
    """Trains with each reward and seed, and writes the figures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        suites = write_suites(folder)
        write_model(folder / "model", PRETRAINING_STEPS)
        tasks = [(folder / "model", suites, shape, seed) for shape in SHAPES.values() for seed in SEEDS]
        with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
            results = list(pool.map(train_alone, tasks))
    runs = {name: results[i * len(SEEDS) : (i + 1) * len(SEEDS)] for i, name in enumerate(SHAPES)}
    date = datetime.now(timezone.utc).date().isoformat()
    write(FILE, {"date": date, "versions": {name: version(name) for name in PACKAGES}, "runs": runs})


if __name__ == "__main__":
    main()
