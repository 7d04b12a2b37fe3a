"""The card of a suite: a README.md with the licence, the sizes, and how the suite was made, as data sets have them."""

from __future__ import annotations

from collections.abc import Sequence

from .. import __version__
from ..base.file_reading import read_stored
from ..base.file_writing import timestamp, write_whole
from ..base.untrusted_text import counted, markdown_table, markdown_text
from ..suite.suite import Suite
from .answer_fit import unit_name
from .making import SuiteMaker
from .suite_check import HeldOut, held_out_table


def write_card(
    maker: SuiteMaker,
    suite: Suite,
    held: Sequence[HeldOut],
    findings: Sequence[str],
    *,
    licence: str | None = None,
    language: str | None = None,
) -> bool:
    """Writes README.md with the result of the check, unless a person has edited it; returns whether it was written."""
    path, last = maker.output / "README.md", maker.work / "README.md"
    if path.exists() and not (last.exists() and read_stored(last) == read_stored(path)):
        return False
    texts = [texts for question in suite for texts in question.answers.values()]
    sizes = sorted({min(map(len, texts)), max(map(len, texts))})
    lengths = sorted(
        question.n_units(text) for question in suite for some in question.answers.values() for text in some
    )
    targets = {f"{question.lengths.target:,} and {question.lengths.limit:,}" for question in suite}
    engine, settings = maker.generations[0].engine, [generation.setting for generation in maker.generations]
    omitted = maker.generations[0].options.get("omit", ())
    temperatures = ", ".join(dict.fromkeys(f"{setting.sent_sampling.temperature:g}" for setting in settings))
    temperature = "" if engine == "replay" or "temperature" in omitted else f", temperature {temperatures}"
    rows = {
        "questions": f"{len(suite):,}, {sum(bool(question.keywords) for question in suite):,} with keyword rules",
        "reference answers": f"{' to '.join(f'{n:,}' for n in sizes)} for a question",
        "unit": " and ".join(sorted({unit_name(question.tokenizer) for question in suite})),
        "length of the references": f"{lengths[len(lengths) // 2]:,} at the median",
        "target and limit": "; ".join(sorted(targets)),
        "language": language or "not stated",
        "made with": f"pfgen-fast {__version__}, {timestamp()[:10]}",
        "models": f"{', '.join(dict.fromkeys(setting.model for setting in settings))} ({engine})",
        "answers": f"{sum(maker.n_answers.values()):,} different ones{temperature}",
        **({"left out": "; ".join(maker.left_out)} if maker.left_out else {}),
        "version": f"metadata hash {suite.metadata_hash}",
        "licence": f"{licence or 'not stated'}; texts of language models follow the licences of their models",
    }
    lines = [
        *("---", f"license: {licence or 'unknown'}", *([f"language: {language}"] if language else []), "---"),
        *(f"# {markdown_text(maker.output.name)}", ""),
        *(f"{counted(len(suite), 'question')} with reference answers, for `pfgen-fast score --suite`.", ""),
        markdown_table(["", ""], [list(map(markdown_text, row)) for row in rows.items()]),
        *("## What the check says", "", held_out_table(held).to_markdown()),
        *([f"* {markdown_text(finding)}" for finding in findings] or ["No findings."]),
    ]
    content = "\n".join([*lines, ""]).encode()
    write_whole(last, content)
    write_whole(path, content)
    return True
