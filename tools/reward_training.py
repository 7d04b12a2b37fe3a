"""A tiny language model with bad habits, and its training by GRPO: the second part of docs/reward_hacking.md.

No model is downloaded. The model learns to answer the questions of the packaged suite from answers of the suite's
grammar (tools/make_mini_suite.py). A third of these answers is damaged, so the model also learns to go on after an
answer, to loop, to stop early and to answer another question. `examples/grpo_reward.py` then trains it.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from make_mini_suite import DEFAULT_FOLDER, QUESTIONS, make_answer

EXAMPLES, END, PAD = 20_000, "<|end|>", "<|pad|>"
MAX_TOKENS = 96


def write_suites(folder: Path) -> tuple[Path, Path]:
    """Writes two suites with the packaged questions: set A is for the reward, set B is held out."""
    for name in ("A", "B"):
        (folder / name).mkdir(parents=True)
        for path in DEFAULT_FOLDER.glob("Q*.json"):
            content = json.loads(path.read_text(encoding="utf-8"))
            content["answers"] = {name: content["answers"][name]}
            (folder / name / path.name).write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    return folder / "A", folder / "B"


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


def write_model(folder: Path, steps: int, *, seed: int = 0) -> list[float]:
    """Trains a Llama on the texts, writes it to a folder, and returns the loss of each step."""
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
    losses, source = [], texts(32 * steps, seed)
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
        losses.append(loss.item())
    model.save_pretrained(folder)
    return losses


def train(model: Path, suites: tuple[Path, Path], shape: str, steps: int, output: Path) -> list[dict[str, Any]]:
    """Trains a copy of the model by GRPO, and returns what TRL logged and what was measured in each step."""
    grpo = tool_of_examples()
    options = f"--steps {steps} --save-steps {steps} --prompts 4 --generations 8 --examples 0 --trials 1"
    options += f" --max-tokens {MAX_TOKENS} --learning-rate 3e-4 --shape={shape} --output {output}"
    measured: list[list[str]] = []

    def answers(completions, **columns):
        measured.append(completions)
        return [0.0] * len(completions)

    from pfgen_fast import Suite

    parsed = grpo.parser().parse_args([str(model), "--suite", str(suites[0]), *options.split()])
    log = grpo.train(parsed, [grpo.held_out(Suite.load(suites[1]), "completion"), answers])
    return log, measured


def tool_of_examples():
    import importlib, sys

    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples"))
    return importlib.import_module("grpo_reward")
