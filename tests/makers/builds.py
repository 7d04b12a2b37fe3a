"""Raw answers and configs of suites to build, for tests of the pipeline and its command."""

import json
from pathlib import Path

from pfgen_fast import NgramSampler, Suite

QUESTIONS = ("Q01", "Q07")
CHARACTERS = 'unit = "character"'
TABLES = """
[length]
target = 80
keep = 150
[select]
size = 40
proposals = 3000
max_order = 4
[frequency]
order = 5
"""


def write_raw(path: Path, suite: Suite, n_answers: int = 400, seed: int = 0) -> None:
    """Answers drawn alternately for two questions of the packaged suite."""
    sampler = NgramSampler(suite, order=6)
    seeds = range(seed, seed + n_answers)
    drawn = {question_id: sampler.sample(question_id, seeds) for question_id in QUESTIONS}
    with path.open("w", encoding="utf-8") as file:
        for row in range(n_answers):
            for question_id in QUESTIONS:
                answer = {"question": suite[question_id].question, "answer": drawn[question_id][row]}
                file.write(json.dumps(answer, ensure_ascii=False) + "\n")


def write_config(
    folder: Path, suite: Suite, *, tables: str = TABLES, in_question: str = "", top: str = CHARACTERS
) -> Path:
    """A config for the two questions, with one reference set N from the file raw.jsonl beside it."""
    texts = [f'suite = "made"\n{top}\n[sets]\nN = "raw.jsonl"', tables]
    for question_id in QUESTIONS:
        text = json.dumps(suite[question_id].question, ensure_ascii=False)
        texts.append(f'[[question]]\nid = "{question_id}"\nquestion = {text}\n{in_question}')
    path = folder / "config.toml"
    path.write_text("\n".join(texts), encoding="utf-8")
    return path


def toml(value: object) -> str:
    """A JSON value as inline TOML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
