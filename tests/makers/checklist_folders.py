"""Folders of checklist suites, written file by file so that any may be wrong: our own form, and HelloBench's."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from makers.checklists_to_judge import entries

SETTINGS = {
    "format": 1,
    "name": "tiny",
    "language": "en",
    "levels": [0, 0.25, 0.5, 0.75, 1],
    "rescale": {"centre": 75, "factor": 4},
    "areas": ["letters", "stories"],
    "words": "regex",
}
TASKS = (
    {"id": "thanks-1", "area": "letters", "category": "thanks", "instruction": "Thank an aunt for a kite."},
    {"id": "fable-1", "area": "stories", "category": "fable", "instruction": "Write a fable about a heron."},
    {
        "id": "fable-1",
        "length": "2k",
        "wanted_words": 2000,
        "area": "stories",
        "category": "fable",
        "instruction": "Write a fable about a heron, no shorter than 2000 words.",
    },
)
CHECKLISTS = {
    "letters": {"thanks": ["Is it warm?", "Is it short?"]},
    "stories": {"fable": ["Is there a moral?", "Does an animal speak?", "Is it flawless?"]},
}
WEIGHTS = {"letters": {"thanks": [60, 40]}, "stories": {"fable": [20, 30, 50]}}

Files = dict[str, Any]


def write_suite_files(folder: Path, files: Files | None = None, **settings: Any) -> Path:
    """Writes a suite; `files` adds or replaces files by name (text, bytes or JSON), or leaves a file out (None)."""
    folder.mkdir(parents=True, exist_ok=True)
    usual: Files = {
        "suite.json": {**SETTINGS, **settings},
        "tasks.jsonl": "".join(f"{json.dumps(task)}\n" for task in TASKS),
        "checklists.json": CHECKLISTS,
        "weights.json": WEIGHTS,
    }
    for name, content in {**usual, **(files or {})}.items():
        if content is None:
            continue
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return folder


def with_task(**changes: Any) -> str:
    """The tasks, the last of which is changed."""
    return "".join(f"{json.dumps(task)}\n" for task in (*TASKS[:-1], {**TASKS[-1], **changes}))


CATEGORIES = {
    "open_ended_qa": ("Science", "music"),
    "summarization": ("report", "news", "long_dialogue", "blogs", "academic_article"),
    "chat": ("rewrite",),
    "text_completion": ("continuation",),
    "heuristic_text_generation": ("story_writing",),
}
FIRST_LINES = {
    "report": "Shorten the following report to its gist.",
    "news": "Retell the following news at length.",
    "long_dialogue": "Say what was agreed in the following dialogue.",
    "blogs": "Say what this blog article is about.",
    "academic_article": "Summarise the academic article below.",
}
WEIGHTED = "heuristic_text_generation"
MODELS = ("heron", "stork")

PROMPTS = '''
"""Judges, but only when it is run."""
import nothing_of_this_name

KEY = "put your key here"
LIMIT = int(KEY or 1)
SYS_PROMPT = """You judge."""
USER_PROMPT = """Asked: {{\\"instruction\\": {instruction}}}
Answered: {{\\"response\\": {response}}}
By {num_checklist}: {checklists}"""
LLM_EVAL_SYS_PROMPT = "You judge all."
LLM_EVAL_USER_PROMPT = """{instruction} {response}"""
LLM_EVAL_WITH_CHECKLIST_USER_PROMPT = (
    "{instruction} {response} "
    "{checklists}"
)
raise SystemExit("a script was executed")
'''


def questions_of(category: str) -> list[str]:
    n_questions = 3 if category == "long_dialogue" else 2
    return [f"Does it do thing {number} of {category}?" for number in range(n_questions)]


def task_ids(area: str) -> Iterable[tuple[str, str]]:
    """The IDs and categories of an area's tasks."""
    for number, category in enumerate(category for category in CATEGORIES[area] for _ in range(2)):
        yield f"{area}_{number:03d}", category


def instruction_of(area: str, id: str, category: str, length: str | None = None) -> str:
    first = FIRST_LINES[category] if area == "summarization" else f"Write for {category}."
    return f"{first}\n{id}\n" + (f"No fewer than {length[:-1]}000 words.\n" if length else "")


def result_lines(area: str, model: str, length: str | None = None, *, judged: bool) -> list[dict[str, Any]]:
    """What the results of a model hold for an area."""
    lines = []
    for number, (id, category) in enumerate(task_ids(area)):
        line: dict[str, Any] = {
            "id": id,
            "instruction": instruction_of(area, id, category, length),
            "response": f"{model} answers {id}{length or ''}.\n\nÜber.",
        }
        if judged:
            n_questions = len(questions_of(category))
            line["checklist_wise_evaluation"] = entries(*(((number + n) % 5) / 4 for n in range(n_questions)))
        lines.append(line)
    return lines


def write_lines(path: Path, lines: Iterable[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    content = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()
    path.write_bytes(content)
    return path


def change(path: Path, what: Callable[[list[dict[str, Any]]], object]) -> None:
    """Changes the rows of a file of lines."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    what(rows)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def write_checkout(folder: Path) -> Path:
    """Writes a checkout."""

    def tasks(area: str, length: str | None) -> list[dict[str, Any]]:
        return [
            {
                "id": id,
                "category": category,
                "instruction": instruction_of(area, id, category, length),
                "checklists": questions_of(category),
                "label": "something else",
            }
            for id, category in task_ids(area)
        ]

    for area, categories in CATEGORIES.items():
        write_lines(folder / f"data/main_data/{area}.jsonl", tasks(area, None))
        asked = {category: questions_of(category) for category in categories}
        write_lines(folder / f"checklists/{area}_checklist.json", [asked])
    for length in ("2k", "16k"):
        write_lines(folder / f"data/length_constrained_data/{WEIGHTED}_{length}.jsonl", tasks(WEIGHTED, length))
    sizes = {category: len(questions_of(category)) for listed in CATEGORIES.values() for category in listed}
    weights = {category: [100 / n] * n for category, n in sizes.items()}
    script = folder / "results/scripts/compute.py"
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(f"import nothing_of_this_name\nWEIGHT_DICT = {weights!r}\nraise SystemExit\n")
    (folder / "llm_judge.py").write_text(PROMPTS)
    for model in MODELS:
        for area in CATEGORIES:
            for kind in ("generations", "judgements"):
                path = folder / f"results/{kind}/main_exp/{model}/{area}_results.jsonl"
                write_lines(path, result_lines(area, model, judged=kind == "judgements"))
        # The answers of one published model with a wanted length lie among the others.
        experiment = "main_exp" if model == "stork" else "length_constrained_exp"
        path = folder / f"results/judgements/{experiment}/{model}/{WEIGHTED}_2k_results.jsonl"
        write_lines(path, result_lines(WEIGHTED, model, "2k", judged=True))
    return folder
