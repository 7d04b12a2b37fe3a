"""The README.md of a run, in the layout of the published ones: scores, questions, parameters and sample answers.

For ordinary text, the bytes are equal to those of upstream's report. Untrusted text cannot become markup, a link or a
cell border: characters of markup become entities, and characters that control a terminal or the direction of text
become escapes.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import quote

from ..base.file_writing import write_whole
from ..base.untrusted_text import in_one_line, json_text, markdown_text
from ..runs.run_result import QuestionResult, ScoredAnswer, Scores
from ..scoring.tinting import pooled_tints, tinted_html
from ..suite.questions import Question
from ..suite.suite import Suite
from .safe_runs import MAX_SAMPLES, N_SHOWN, ReportRun, check_questions

_SET_LABELS = {"P": "PFN", "T": "Titech", "S": "Stockmark", "R": "RAG", "X": "Unknown"}
"""Names of the reference sets in the published files, in their order; other sets follow under their own names."""


def write_readme(run: ReportRun, suite: Suite, path: Path) -> None:
    """Writes the README.md of a run."""
    check_questions(run, suite)
    write_whole(path, "".join(_readme(run, suite)).encode())


def _readme(run: ReportRun, suite: Suite) -> Iterator[str]:
    result = run.result
    found_of = result.questions
    asked = [(question, found_of[question.question_id]) for question in suite if question.question_id in found_of]
    yield f"# Model: {_prose(str((result.config or {}).get('model') or run.name))}\n\n"
    if run.result_hash:
        yield f"<!-- result.json: {run.result_hash} -->\n\n"
    yield _scores(run, result.scores, f"{_number(result.score_std, 4)}/√{result.num_trials}")
    yield "## Questions\n\n| Question | Score | Length |\n|----------|-------|--------|\n"
    for question, answered in asked:
        score = f"{_number(answered.score, 4)} (±{_number(answered.score_std, 4)})"
        length = f"{_number(answered.length, 1)} (±{_number(answered.length_std, 1)})"
        link = f"[{_title(question)}](#{quote(question.question_id)})"
        yield f"| {link} | <code>{score}</code> | <code>{length}</code> |\n"
    yield f"\n## Config\n\n```json\n{json_text(result.config)}\n```\n\n"
    for question, answered in asked:
        yield from _section(run, suite, question, answered)


def _scores(run: ReportRun, scores: Scores, deviation: str) -> str:
    parts = {"Fluency": scores.fluency, "Truthfulness": scores.truthfulness}
    lines = [f"- Score: {_number(scores.average, 3)} (±{deviation})"]
    for name, shares in parts.items():
        shown = "+".join(f"{_prose(_SET_LABELS.get(key, key))}:{_number(share, 4)}" for key, share in _in_order(shares))
        lines.append(f"  - {name}: {_number(scores.total(name.lower()), 3)} ({shown})")
    lines.append(f"  - Helpfulness: {_number(scores.helpfulness, 3)}")
    return "\n".join(lines) + "\n"


def _title(question: Question) -> str:
    return _prose(f"{question.question_id}. {question.question}")


def _section(run: ReportRun, suite: Suite, question: Question, answered: QuestionResult) -> Iterator[str]:
    yield f'## <a name="{quote(question.question_id)}"></a>{_title(question)}\n\n'
    yield _scores(run, answered.scores, _number(answered.score_std))
    yield f"- Length: {_number(answered.length)} (±{_number(answered.length_std)})\n\n<dl>\n"
    samples = answered.samples[:MAX_SAMPLES]
    tints = pooled_tints(suite, question.question_id, [sample.answer[:N_SHOWN] for sample in samples])
    for sample, levels in zip(samples, tints, strict=True):
        yield f"<dt>{_summary(sample)}</dt>\n<dd>{tinted_html(sample.answer[:N_SHOWN], levels)}"
        n_hidden = len(sample.answer) - N_SHOWN
        yield f" … {n_hidden:,} more characters</dd>\n" if n_hidden > 0 else "</dd>\n"
    yield "</dl>\n\n"


def _summary(sample: ScoredAnswer) -> str:
    """The scores of a sample answer in one line of HTML, with the keyword rules that it does not meet."""
    scores = sample.scores
    fluency, truthfulness = (
        "+".join(f"{_text(key)}:{_number(share, 4)}" for key, share in _in_order(shares))
        for shares in (scores.fluency, scores.truthfulness)
    )
    unmet = [_text(name) + (f"*{_number(left, 1)}" if left else "") for name, left in sample.unmet]
    rules = f" [{', '.join(unmet)}]" if unmet else ""
    parts = f"f=({fluency}), t=({truthfulness}), h={_number(scores.helpfulness, 3)}{rules}"
    return f"{_number(scores.average, 3)} (=avg({parts}))"


def _in_order(shares: Mapping[str, float]) -> list[tuple[str, float]]:
    known = list(_SET_LABELS)
    return sorted(shares.items(), key=lambda item: known.index(item[0]) if item[0] in known else len(known))


def _number(value: float, n_digits: int | None = None) -> str:
    if math.isnan(value):
        return "–"
    return str(value) if n_digits is None else f"{value:.{n_digits}f}"


def _text(text: str) -> str:
    """Text for a line of HTML; quotes stay, because the text is in no attribute."""
    return html.escape(in_one_line(text, 400), quote=False)


def _prose(text: str) -> str:
    return markdown_text(in_one_line(text, 400))
