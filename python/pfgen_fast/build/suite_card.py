"""The card of a suite: a README.md with the licence, the sizes, and how the suite was made, as data sets have them."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

from .. import __version__
from ..base.file_reading import read_stored
from ..base.file_writing import timestamp, write_whole
from ..base.untrusted_text import counted, markdown_table, markdown_text
from ..generation.generating import Generation
from ..suite.suite import Suite
from ..suite.suite_reading import CARD_FILES
from .answer_fit import unit_name
from .suite_check import HeldOut, held_out_table

NO_LICENCE = "unknown"


def write_card(
    suite: Suite,
    folder: Path,
    generations: Sequence[Generation],
    n_answers: Mapping[str, int],
    held: Sequence[HeldOut],
    findings: Sequence[str],
    *,
    licence: str | None = None,
    language: str | None = None,
) -> bool:
    """Writes README.md, unless it was edited after the last call; `folder` keeps the text of the last call."""
    path, last = folder / CARD_FILES[0], folder.with_name(f"{folder.name}.work") / CARD_FILES[0]
    if path.exists() and not (last.exists() and read_stored(last) == read_stored(path)):
        return False
    content = _card(suite, folder.name, generations, n_answers, held, findings, licence, language).encode()
    write_whole(last, content)
    write_whole(path, content)
    return True


def _card(
    suite: Suite,
    name: str,
    generations: Sequence[Generation],
    n_answers: Mapping[str, int],
    held: Sequence[HeldOut],
    findings: Sequence[str],
    licence: str | None,
    language: str | None,
) -> str:
    references = [len(texts) for question in suite for texts in question.answers.values()]
    lengths = [question.n_units(text) for question in suite for texts in question.answers.values() for text in texts]
    targets = {f"{question.lengths.target:,} and {question.lengths.limit:,}" for question in suite}
    models = {generation.setting.model: generation.engine for generation in generations}
    temperatures = dict.fromkeys(
        "of the server"
        if "temperature" in generation.options.get("omit", ())
        else f"{generation.setting.sent_sampling.temperature:g}"
        for generation in generations
    )
    rows = {
        "questions": f"{len(suite):,}, {sum(bool(question.keywords) for question in suite):,} with keyword rules",
        "reference answers": f"{min(references):,} to {max(references):,} to a question",
        "unit": " and ".join(sorted({unit_name(question.tokenizer) for question in suite})),
        "length of the references": f"{statistics.median(lengths):,.0f} at the median",
        "target and limit": "; ".join(sorted(targets)),
        "language": language or "not stated",
        "made with": f"pfgen-fast {__version__}, {timestamp()[:10]}",
        "models": ", ".join(f"{model} ({engine})" for model, engine in models.items()),
        "answers": f"{sum(n_answers.values()):,}, temperature {', '.join(temperatures)}",
        "version": f"metadata hash {suite.metadata_hash}",
        "licence": f"{licence or 'not stated'}; texts of language models follow the licences of their models",
    }
    head = ["---", f"license: {licence or NO_LICENCE}", *([f"language: {language}"] if language else []), "---"]
    return "\n".join(
        [
            *head,
            f"# {markdown_text(name)}",
            "",
            f"{counted(len(suite), 'question')} with reference answers, for `pfgen-fast score --suite`.",
            "",
            markdown_table(["", ""], [[markdown_text(key), markdown_text(value)] for key, value in rows.items()]),
            "## What the check says",
            "",
            held_out_table(held).to_markdown(),
            *([f"* {markdown_text(finding)}" for finding in findings] or ["No findings."]),
            "",
        ]
    )
