"""A checklist suite with references, runs with long answers, and a WordNet of one meaning, for what needs no judge."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from makers.own_checklists import suite_of
from pfgen_fast.lab.checklists.checklist_runs import Answer, Run, open_runs, write_run
from pfgen_fast.lab.checklists.checklist_suite import ChecklistSuite
from pfgen_fast.lab.checklists.judgements import Judgement
from pfgen_fast.lab.checklists.tasks import Task

TASKS = (
    Task("sea", "essays", "water", "Write about the sea.", reference="The sea is wide and the sea is deep."),
    Task("ice", "essays", "water", "Write about ice.", reference="Ice floats on water because it is lighter."),
    Task("fog", "letters", "weather", "Write to a friend about fog."),
    Task("fog", "letters", "weather", "Write to a friend about fog, in 20 words.", "short", 20),
    Task("sea", "essays", "water", "Write about the sea, in 20 words.", "short", 20),
)


def suite_of_essays(language: str = "en", *, has_references: bool = True) -> ChecklistSuite:
    questions = {task.place: ("Does it name a place?", "Is it without any flaw?") for task in TASKS}
    tasks = TASKS if has_references else [replace(task, reference=None) for task in TASKS]
    counter = "characters" if language == "ja" else "regex"
    return suite_of("essays", questions, {}, tasks, language=language, words=counter)


def run_of(folder: Path, *answers: Answer, judgements: Iterable[Judgement] = ()) -> Run:
    write_run(folder, answers, judgements, {"model": folder.name})
    return open_runs([folder])[0]


def write_tiny_wordnet(folder: Path, *synonyms: str) -> Path:
    """Writes the files of NLTK's WordNet with one meaning, which nouns have in common."""
    folder.mkdir(parents=True, exist_ok=True)
    for part in ("adj", "adv", "noun", "verb"):
        for name in (f"index.{part}", f"data.{part}", f"{part}.exc"):
            (folder / name).write_text("")
    (folder / "index.sense").write_text("")
    (folder / "lexnames").write_text("00\tnoun.artifact\t1\n")
    words = " ".join(f"{word} 0" for word in synonyms)
    (folder / "data.noun").write_text(f"00000000 00 n {len(synonyms):02x} {words} 000 | a thing  \n")
    (folder / "index.noun").write_text("".join(f"{word} n 1 0 1 0 00000000  \n" for word in synonyms))
    return folder
