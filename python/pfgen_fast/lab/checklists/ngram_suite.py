"""Converts an n-gram suite to a checklist suite, and runs on it to checklist runs.

Each answer then has an n-gram score and a checklist score. A task has the ID of its question. The trial of an answer is
its position among the answers to the question in the file of trials.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ...base.errors import ChecklistError, SuiteError
from ...base.untrusted_json import checked, read_toml
from ...runs.aggregation import trials_of
from ...runs.checkout import run_name
from ...runs.trials import RunFolder, Trials
from ...suite.keywords import Rule
from ...suite.questions import Question, Sample, language_of
from ...suite.suite import Suite
from .checklist_runs import Answer
from .checklist_suite import ChecklistSuite
from .line_files import whole_text
from .suite_files import checklist_of, packaged_prompts
from .tasks import ChecklistTask

AREA = "answers"
CATEGORY = "questions"
_TEXTS = Path(__file__).with_name("ngram_suite.toml")


def checklist_suite_of(suite: Suite) -> ChecklistSuite:
    """The checklist suite of an n-gram suite: its questions, judged by a packaged checklist with equal weights."""
    n_japanese = sum(language_of(question.question) == "ja" for question in suite)
    language = "ja" if 2 * n_japanese > len(suite) else "en"
    texts = read_toml(_TEXTS, error=ChecklistError)[language]
    samples = _samples(suite)
    own = {sample.question: sample.answer for sample in reversed(samples)}
    tasks = tuple(
        ChecklistTask(
            id=question.question_id,
            area=AREA,
            category=CATEGORY,
            instruction=_instruction(question, samples, texts),
            reference=own.get(question.question),
        )
        for question in suite
    )
    key = (AREA, CATEGORY)
    return ChecklistSuite(
        name=f"{Path(suite.name).name} checklists",
        language=language,
        areas=(AREA,),
        tasks=tasks,
        checklists={key: checklist_of(key, tuple(texts["questions"]))},
        prompts=packaged_prompts(language),
        words="characters" if language == "ja" else "regex",
    )


def answers_of(run: RunFolder, suite: Suite, *, n_trials: int | None = None) -> Iterator[Answer]:
    """The answers of a run on an n-gram suite."""
    trials = trials_of(suite, Trials.of(run))
    for question in suite:
        rows = trials.rows_by_question.get(question.question, [])
        for trial, row in enumerate(rows[:n_trials], start=1):
            where = f"{trials.path}, line {trials.line_number(row)}"
            text = checked(trials.answers[row], whole_text, where, error=ChecklistError)
            yield Answer(question.question_id, text, None, trial)


def key_of(run: RunFolder) -> str:
    """The name of a run, made a valid name of a directory."""
    return re.sub(r"[^\w.]+", "-", run_name(run.folder)).strip("-.") or "run"


def _samples(suite: Suite) -> tuple[Sample, ...]:
    try:
        return suite.samples
    except SuiteError:
        return ()  # samples are optional


def _instruction(question: Question, samples: tuple[Sample, ...], texts: dict[str, str]) -> str:
    parts = [question.question]
    keywords = list(dict.fromkeys(map(_shown, question.keywords)))
    if keywords:
        parts.append(texts["keywords"] + "\n" + "\n".join(f"- {keyword}" for keyword in keywords))
    # The sample answer to the question itself would reveal the answer.
    sample = next((sample for sample in samples if sample.question != question.question), None)
    if sample is not None:
        parts.append(f"{texts['sample']}\n{sample.question}\n{sample.answer}")
    return "\n\n".join(parts)


def _shown(rule: Rule) -> str:
    """A keyword rule for readers: its name, otherwise its patterns with readable alternatives."""
    if rule.name is not None:
        return rule.name
    if rule.form == "t":
        return rule.pattern.replace("|", " / ")
    return (" / " if rule.form == "or" else " + ").join(map(_shown, rule.parts))
