"""A suite whose reference answers are the answers of many models, from a table with a row for each answer.

A model is scored without the answers of its own family, which would be closer to its answers than equally good ones.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from ..base.errors import BuildError, PfgenError
from ..base.untrusted_text import counted, did_you_mean, few_names, in_one_line
from ..runs.items.answer_means import ANSWER_NAMES, MODEL_NAMES, QUESTION_NAMES
from ..suite.questions import Question
from ..suite.rules import Lengths
from ..suite.suite import Suite
from ..suite.suite_reading import CARD_FILES, SAMPLES_FILE, SETTINGS_FILE
from ..suite.units import Tokenizer
from ..tables.formats import column_names, table_rows
from ..tables.table_rows import usual_columns
from .answer_fit import WORDS, Fit, fit_answers, fit_sentences, mixed_scripts, text_figures
from .build_config import Config, QuestionConfig
from .suite_writing import check_place, write_suite

SET = "models"
"""The name of the reference set."""


class ModelAnswer(NamedTuple):
    """An answer of a model; a model without a family is a family of its own."""

    question: str
    answer: str
    model: str
    family: str = ""


def read_model_answers(path: Path, *, family: str = "family") -> list[ModelAnswer]:
    """Reads a table with columns of questions, answers and models, found by their usual names.

    Args:
        path: The table: CSV, TSV, JSON lines, JSON or Parquet.
        family: The name of the column of families, which the table may lack if it has its default name.

    Raises:
        BuildError: The table lacks a column.
        TrialsError: The table cannot be read, or a cell is not a text.
    """
    names = column_names(path)
    columns = [next(iter(usual_columns(names, usual)), None) for usual in (QUESTION_NAMES, ANSWER_NAMES, MODEL_NAMES)]
    for what, column in zip(("question", "answer", "model"), columns, strict=True):
        if column is None:
            raise BuildError(
                f"{path}: expected a column of {what}s, such as {what!r}; there are {few_names(names, 20)}"
            )
    if family not in names and family != "family":
        raise BuildError(f"{path}: no column {family!r}{did_you_mean(family, names)}")
    wanted = [*columns, family if family in names else None]
    return [
        ModelAnswer(*(_text(row.get(name), name, where) if name else "" for name in wanted))
        for where, row in table_rows(path)
    ]


def _text(value: object, column: str, where: str) -> str:
    if value is not None and not isinstance(value, str):
        raise BuildError(f"{where}, column {column!r}: expected a text, not {in_one_line(repr(value))}")
    return value or ""


@dataclass(frozen=True)
class ModelReferences:
    """Answers of many models to questions, from which suites are made."""

    questions: Mapping[str, str]  # text by ID
    rows: tuple[ModelAnswer, ...]  # without empty answers
    fits: Mapping[str, Fit]  # unit and lengths by ID
    decisions: tuple[str, ...]  # units and lengths that the answers decided, and why, one sentence each
    notes: tuple[str, ...]  # rows that were left out, and mixed languages, one sentence each

    @classmethod
    def of(
        cls, rows: Iterable[ModelAnswer], *, units: Sequence[Tokenizer | None] = (), lengths: Lengths | None = None
    ) -> ModelReferences:
        """Checks answers, and decides what is not given.

        Args:
            rows: The answers; empty ones are left out.
            units: The tokenizer of all questions (None for characters), alone in a list; by default the script decides.
            lengths: The lengths of all questions; by default the answers decide.

        Raises:
            BuildError: A question has no answers or only equal ones, or all answers are of one model.
        """
        rows = tuple(rows)
        texts = list(dict.fromkeys(row.question for row in rows if row.question.strip()))
        kept = tuple(row for row in rows if row.question.strip() and row.answer.strip())
        questions = {f"Q{number:0{max(2, len(str(len(texts))))}}": text for number, text in enumerate(texts, start=1)}
        _check(kept, questions)
        by_question = answers_by_question(kept)
        figures = {
            question_id: [text_figures(by_question[text], units or (None, WORDS))]
            for question_id, text in questions.items()
        }
        fits = fit_answers(figures, dict.fromkeys(figures, units[0]) if units else {}, lengths=lengths)
        left_out = (
            [f"{counted(len(rows) - len(kept), 'row')} without a question or an answer left out"]
            if len(kept) < len(rows)
            else []
        )
        decisions = fit_sentences(fits, fits if units else (), decides_lengths=lengths is None)
        return cls(questions, kept, fits, tuple(decisions), (*left_out, *mixed_scripts(figures)))

    def suite(self, *, without: Collection[str] = ()) -> Suite:
        """The suite without the answers of some families, in memory; units and lengths do not depend on `without`.

        Raises:
            BuildError: A family is unknown, or a question is left without answers of two models.
        """
        families = dict.fromkeys(row.family or row.model for row in self.rows)
        for family in without:
            if family not in families:
                raise BuildError(f"no answers of the family {family!r}{did_you_mean(family, families)}")
        rows = [row for row in self.rows if (row.family or row.model) not in without]
        if without:
            _check(rows, self.questions, f", without {few_names(sorted(without))}")
        answers = answers_by_question(rows)
        questions = [
            Question(
                question_id,
                text,
                MappingProxyType({SET: tuple(answers[text])}),
                tokenizer=self.fits[question_id].tokenizer,
                lengths=self.fits[question_id].lengths,
            )
            for question_id, text in self.questions.items()
        ]
        return Suite("answers", tuple(questions))


def write_references(suite: Suite, folder: Path, *, force: bool = False) -> None:
    """Writes a suite in the published format, replacing an existing one of a table, or any with `force`.

    Raises:
        BuildError: The directory contains other files, or a suite that has more than answers of a table.
    """
    questions = tuple(
        QuestionConfig(asked.question_id, asked.question, tokenizer=asked.tokenizer, lengths=asked.lengths)
        for asked in suite
    )
    config = Config(path=folder, suite=folder, work=folder, questions=questions)
    check_place(config)
    if not force and folder.is_dir() and not _is_replaceable(folder):
        raise BuildError(
            f"{folder}: contains a suite that was not built from a table, or was edited since; choose another "
            "directory, or replace the suite with --force"
        )
    write_suite(config, {asked.question_id: dict(asked.answers) for asked in suite})


def _is_replaceable(folder: Path) -> bool:
    """Whether a directory has no suite, or one with nothing but the answers of a table."""
    names = {path.name for path in folder.iterdir()} - set(CARD_FILES)
    if not names or names & {SAMPLES_FILE, SETTINGS_FILE}:
        return not names
    with contextlib.suppress(PfgenError):
        return all(
            list(asked.answers) == [SET] and not (asked.keywords or asked.category or asked.note)
            for asked in Suite.load(folder.absolute())
        )
    return False


def answers_by_question(rows: Iterable[ModelAnswer]) -> dict[str, list[str]]:
    """The answers to each question, by its text."""
    answers: dict[str, list[str]] = {}
    for row in rows:
        answers.setdefault(row.question, []).append(row.answer)
    return answers


def _check(rows: Sequence[ModelAnswer], questions: Mapping[str, str], without: str = "") -> None:
    """Raises BuildError for the questions whose answers cannot be references."""
    models = {row.model for row in rows}
    if not rows:
        raise BuildError(f"expected answers of several models, but there are none{without}")
    if len(models) == 1:
        raise BuildError(
            f"all answers are of the model {in_one_line(models.pop())!r}{without}: the suite would measure likeness to "
            "it; add answers of other models, or build from a config"
        )
    answers = answers_by_question(rows)
    for problem, texts in (
        ("no answers", [text for text in questions.values() if text not in answers]),
        ("only equal answers", [text for text, several in answers.items() if len(several) > len(set(several)) == 1]),
    ):
        if texts:
            raise BuildError(
                f"{counted(len(texts), 'question')} with {problem}{without}: {few_names(list(map(repr, texts)))}; add "
                "answers, or remove the rows of the question"
            )
