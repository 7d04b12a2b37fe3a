"""Prints comparisons of runs and of models in tables, as text, Markdown and JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..base.table import shortened, width_of
from ..base.untrusted_text import counted, few_names, markdown_table, markdown_text, signed
from .app import print_json, shown, stdout
from .layout import aligned, columns, cut, folded, rest
from .suite_line import print_origin

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..runs.items.item_comparison import Comparison, Difference
    from ..scoring.scorer import Scorer

_HEAD = ("metric", "A", "B", "A - B", "95 % interval", "p")
_SHORTEST_NAME = 24
"""Where a terminal has less room for the name of a run, the name has a line of its own."""


class Shown(NamedTuple):
    """How to show a comparison."""

    form: str
    scorer: Scorer | None  # scorer of runs; None for tables of scores

    def about(self) -> dict[str, str]:
        """The suite and the signature, for JSON."""
        return {} if self.scorer is None else {"suite": self.scorer.suite.name, "signature": self.scorer.signature}

    def print_origin(self) -> None:
        """Prints the suite and the signature."""
        if self.scorer is not None:
            print_origin(self.scorer.suite, self.scorer.signature)


def print_comparison(
    comparison: Comparison, shown_as: Shown, *, n_deciding: int, by_subject: bool, more: Mapping[str, Any]
) -> None:
    """Prints the comparison of two models, of the first with others, or of all pairs; `more` is added to JSON."""
    first, is_one = comparison.metrics[0], comparison.n_pairs == 1
    if shown_as.form == "json":
        pair = {"a": first.model_a, "b": first.model_b} if is_one else {}
        print_json({**pair, **shown_as.about(), **comparison.to_dict(), **more})
        return
    has_one_a = len({row.model_a for row in comparison.metrics}) == 1
    head, rows = _table(comparison, has_one_a=has_one_a)
    subjects = [(shown(row.subject or ""), *_cells(row, is_corrected=True)) for row in comparison.subjects]
    if shown_as.form == "markdown":
        names = f"A is {shown(first.model_a)}, B is {shown(first.model_b)}." if is_one else ""
        if has_one_a and not is_one:
            names = f"A is {shown(first.model_a)}."
        sentences = [names, comparison.verdict, comparison.method, comparison.left_out, *comparison.power_sentences]
        _print_markdown(head, rows, sentences, shown_as)
        if by_subject and subjects:
            stdout().out("")
            _print_markdown(_subject_head(), subjects, [_about_subjects(comparison)], Shown("markdown", None))
        return
    if has_one_a:
        for name, model in (("A", first.model_a), ("B", first.model_b))[: 1 + is_one]:
            stdout().print(f"{name}: {shortened(shown(model), rest(3))}")
    stdout().print(comparison.verdict, style="bold")
    if comparison.left_out:
        stdout().print(comparison.left_out)
    stdout().print()
    if is_one:
        _print_aligned([("", *head[1:]), *rows], to_left=[0, 4])
    else:
        _print_named(head[:-1], [row[:-1] for row in rows], [row[-1] for row in rows], to_left=[0, 4], title=head[-1])
    over = "questions" if comparison.of == "runs" else "items"
    method = f"95 % interval: of A - B, over {over}; {comparison.method}"
    stdout().print("\n".join(folded(method, columns(), after=" ")), style="dim")
    for sentence in comparison.power_sentences:
        stdout().print("\n".join(folded(f"power: {sentence}", columns(), after=" ")))
    if by_subject and subjects:
        stdout().print()
        _print_aligned([_subject_head(), *subjects], to_left=[0, 4])
        stdout().print("\n".join(folded(_about_subjects(comparison), columns(), after=" ")), style="dim")
    if n_deciding and comparison.questions:
        _print_deciding(comparison, n_deciding)
    if shown_as.scorer is not None:
        stdout().print()
    shown_as.print_origin()


def _table(comparison: Comparison, *, has_one_a: bool) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The head and the rows; the last column has the names if there are several pairs."""
    is_corrected = comparison.n_in_family > 1
    head = (*_HEAD, *(["p (Holm)"] if is_corrected else []), "n")
    renamed = {"average": "score"} if comparison.of == "runs" else {}
    rows = [
        (shown(renamed.get(row.metric, row.metric)), *_cells(row, is_corrected=is_corrected))
        for row in comparison.metrics
    ]
    if comparison.n_pairs == 1:
        return head, rows
    names = [shown(row.model_b if has_one_a else f"{row.model_a} vs {row.model_b}") for row in comparison.metrics]
    title = f"{'run' if comparison.of == 'runs' else 'model'} B" if has_one_a else "A vs B"
    return (*head, title), [(*row, name) for row, name in zip(rows, names, strict=True)]


def _subject_head() -> tuple[str, ...]:
    return ("subject", *_HEAD[1:], "p (Holm)", "n")


def _about_subjects(comparison: Comparison) -> str:
    """The family of the subjects, and the subjects without a verdict."""
    few = [f"{shown(row.subject or '')} ({row.n_questions:,})" for row in comparison.subjects if row.differs is None]
    n, over = len(comparison.subjects) - len(few), "questions" if comparison.of == "runs" else "items"
    return "; ".join(
        [
            *([f"p-values of {counted(n, 'subject')} corrected together by Holm"] if n else []),
            *([f"too few {over} for a verdict: {few_names(few, 8, 60)}"] if few else []),
        ]
    )


def _cells(row: Difference, *, is_corrected: bool) -> tuple[str, ...]:
    figures = f"{row.a:.4f}", f"{row.b:.4f}", signed(row.difference, 4)
    p = [_p(row.p_value), *([_p(row.p_corrected)] if is_corrected else [])]
    return (*figures, _interval(row.low, row.high), *p, str(row.n_questions))


def _print_deciding(comparison: Comparison, n_deciding: int) -> None:
    has_ids = comparison.questions[0].question != ""
    deciding = [row for row in comparison.questions if row.difference]
    for names in dict.fromkeys((row.model_a, row.model_b) for row in deciding):
        rows = [
            (shown(row.question_id), f"{row.a:.4f}", f"{row.b:.4f}", signed(row.difference, 4), shown(row.question))
            for row in [row for row in deciding if (row.model_a, row.model_b) == names][:n_deciding]
        ]
        stdout().print()
        if comparison.n_pairs > 1:
            stdout().print(cut(f"A: {shown(names[0])}, B: {shown(names[1])}", columns()))
        head = ("decided by", "A", "B", "A - B", "question")
        _print_aligned([line[: 4 + has_ids] for line in (head, *rows)], to_left=[0, 4])


def _print_aligned(rows: Sequence[Sequence[str]], to_left: Sequence[int]) -> None:
    """Prints a table with a head; a line that is too long is cut at its end."""
    for number, line in enumerate(aligned(rows, to_left=to_left)):
        stdout().print(cut(line, columns()), style=None if number else "bold")


def _print_named(
    head: Sequence[str], rows: Sequence[Sequence[str]], names: Sequence[str], *, to_left: Sequence[int], title: str
) -> None:
    """Prints a table whose lines end with names; a name has a line of its own where there is little room."""
    figures = aligned([head, *rows], to_left=to_left)
    room = rest(width_of(figures[0]) + 2)
    is_narrow = room is not None and room < _SHORTEST_NAME
    stdout().print(figures[0] if is_narrow else f"{figures[0]}  {title}", style="bold")
    for line, name in zip(figures[1:], names, strict=True):
        if is_narrow:
            stdout().print(f"{shortened(name, columns())}\n{line}")
        else:
            stdout().print(f"{line.ljust(len(figures[0]))}  {shortened(name, room)}")


def _print_markdown(
    head: Sequence[str], rows: Sequence[Sequence[str]], sentences: Sequence[str], shown_as: Shown
) -> None:
    """Prints a table, sentences and the signature."""
    texts = [f"{markdown_text(sentence)}\n" for sentence in sentences if sentence]
    signature = [] if shown_as.scorer is None else [f"`{shown_as.scorer.signature}`"]
    stdout().out("\n".join([markdown_table(head, rows), *texts, *signature]).rstrip("\n"), highlight=False)


def _interval(low: float | None, high: float | None) -> str:
    return "–" if low is None or high is None else f"{signed(low, 4)} to {signed(high, 4)}"


def _p(p_value: float | None) -> str:
    if p_value is None:
        return "–"
    return f"{p_value:.4f}" if p_value >= 0.0001 else "<0.0001"
