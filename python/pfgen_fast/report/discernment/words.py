"""The finding of a test in words: the answer, and the damage that is noticed, missed or rewarded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...discernment.gradation import UNNOTICED
from ...discernment.result import Discernment
from ...experiments.finding import Remarks
from ...files.untrusted_text import few_names, in_one_line
from ...statistics.evaluator_agreement import Agreement
from .rows import (
    Result,
    Row,
    d_text,
    defined,
    having,
    interval_text,
    name_of,
    number_text,
    raw_name,
    words_of,
)
from .tables import Agreements
from .verdicts import (
    BLIND,
    NOT_NOTICED,
    dearest,
    hardest,
    heaviest_below,
    is_unclear,
    missed_text,
    never_moves,
    rewarded,
    verdict_sentences,
)

_MANY = 24
_NOTHING = "No evaluator has a discernment score."

# The rules of docs/scoring.md by which our scores miss damage, reward it, or penalise harmless changes.
_PREFIX = "only the best prefix of an answer counts, and a repeated n-gram counts once (docs/scoring.md, section 2)"
_PAST = "nothing past 149 characters raises it, and a repeated n-gram counts once (docs/scoring.md, section 2)"
_MEAN = "it is a mean over the characters that are there, so leaving out costs nothing (docs/scoring.md, section 3)"
_LOCAL = "it looks at three characters at a time, whatever their order in the answer (docs/scoring.md, section 3)"
_KNOWN = "three characters that reference answers have count fully, again and again (docs/scoring.md, section 3)"
_KEYWORDS = "it looks for keywords and for nothing else (docs/scoring.md, section 4)"
_FIRST = "a keyword counts where it is first found (docs/scoring.md, section 4)"
_AS_IS = "it compares code points, and nothing is normalised (docs/scoring.md)"
_NEW = "a character counts in full only where reference answers have it between the same neighbours, and there is no "
_NEWLINE = f"{_NEW}exception for line breaks (docs/scoring.md, section 3)"

_REASONS: Mapping[str, Mapping[str, str]] = {
    "fluency": {
        "loop": _PREFIX,
        "sentence_repeat": _PREFIX,
        "word_repeat": _PREFIX,
        "sentence_insert": _PAST,
        "punctuation": _AS_IS,
        "width": _AS_IS,
    },
    "truthfulness": {
        **dict.fromkeys(("truncate", "sentence_delete", "word_delete", "word_drop"), _MEAN),
        **dict.fromkeys(("sentence_reorder", "word_swap"), _LOCAL),
        **dict.fromkeys(("sentence_repeat", "word_repeat", "loop"), _KNOWN),
        "newline": _NEWLINE,
        "punctuation": _AS_IS,
        "width": _AS_IS,
    },
    "helpfulness": {
        **dict.fromkeys(("negate", "function_word", "number_change", "sentence_reorder", "word_swap"), _KEYWORDS),
        **dict.fromkeys(("loop", "sentence_repeat", "word_repeat", "sentence_insert"), _FIRST),
        "width": _AS_IS,
    },
}


def answer(results: Sequence[Result]) -> str:
    """The finding in short."""
    if len(results) == 1:
        return " ".join(verdict_sentences(results[0]))
    compared = [one for one in results if one.is_compared]
    if not compared:
        return _highest(results, "") or _NOTHING
    tasks = dict.fromkeys(one.task for one in compared)
    is_one = len({one.task for one in results}) == 1
    said = [_highest([one for one in compared if one.task == task], "" if is_one else task) for task in tasks]
    return " ".join(filter(None, said)) or _NOTHING


def _highest(results: Sequence[Result], task: str) -> str:
    """The result with the highest average, on the perturbations that all have; empty if there is none."""
    averages = [(row["average"], one) for one in results if (row := _averages_of(one)) and row["average"]]
    if not averages:
        return ""
    value, best = max(averages, key=lambda pair: pair[0])
    where = f" for the task {in_one_line(task)}" if task else ""
    return (
        f"Of {len(results)} results{where}, {best.title} has the highest average discernment score, {value:.1f}"
        f"{_on_common(best)}."
    )


def _averages_of(result: Result) -> Row | None:
    """The averages of d: on common perturbations if several evaluators are compared."""
    return result.in_common("d", "all") if result.is_compared else result.summary("d", "all")


def _on_common(result: Result) -> str:
    is_part = result.is_compared and result.common_share
    return f", on the {result.common_share} kinds and degrees that all have" if is_part else ""


def sentences(results: Sequence[Result], agreement: Sequence[Remarks]) -> list[str]:
    """The verdicts on each result; if there are several results, a comparison of them comes first."""
    said = [sentence for result in results for sentence in verdict_sentences(result)]
    compared = [sentence for remarks in agreement for sentence in remarks.sentences]
    return (
        said if len(results) == 1 else [" ".join([answer(results), *(compared if len(compared) == 1 else ())]), *said]
    )


def paragraph(results: Sequence[Result]) -> str:
    """Explains the figures."""
    ceilings = [row["ceiling_d"] for result in results for row in result.rows("cells") if row["ceiling_d"]]
    most = f" With these items, it can hardly exceed {max(ceilings):.1f}." if ceilings else ""
    averages = "".join(f" {said}" for result in results if (said := _average(result)))
    return (
        "Texts were damaged in known ways and degrees, and scored separately from their originals. The discernment "
        "score d shows how consistently the damaged texts got lower scores: it is the p-value of a paired rank test on "
        f"a logarithmic scale, where 1 stands for p = 0.05.{most} It grows with the number of items, and a d below 1 "
        "does not prove that there is no effect. The mean drop shows how far scores fall."
        f"{averages}{_margin(results)}"
    )


def _margin(results: Sequence[Result]) -> str:
    """Explains the margin; empty without one."""
    margin = next((result.found.margin for result in results if result.found.margin is not None), None)
    if margin is None:
        return ""
    return (
        f" An evaluator is called blind to a kind of damage if two one-sided tests show, at each degree, that the mean "
        f"score changes by less than {margin:g} SD (standard deviations of the originals' scores), up or down."
    )


def _average(result: Result) -> str:
    row = _averages_of(result)
    if row is None or row["average"] is None:
        return ""
    lowest = result.words.get(row["minimum_at"], row["minimum_at"])
    least = f"{row['minimum']:.1f} at least ({lowest})"
    return f"The d of {result.title} is {row['average']:.1f} on average and {least}{_on_common(result)}."


def remarks(results: Sequence[Result]) -> Iterator[Remarks]:
    """Yields the remarks on each result."""
    for result in results:
        if not never_moves(result):
            parts = {
                f"What {result.title} does not notice, or rewards": [*_missed(result), *_rewarded(result)],
                f"Changes that should not matter to {result.title}": [*_controls(result)],
            }
            yield from (Remarks(title, tuple(said)) for title, said in parts.items() if said)


def agreement_remarks(agreements: Agreements, names: Sequence[str]) -> list[Remarks]:
    """A sentence for each pair and task; empty if there are no pairs."""
    is_several = len({task for of_tasks in agreements.values() for task in of_tasks}) > 1
    said = [
        (f"{in_one_line(task)}: " if is_several else "") + _agreement(names[first], names[second], one)
        for (first, second), of_tasks in agreements.items()
        for task, one in of_tasks.items()
    ]
    return [Remarks("How far the evaluators agree", tuple(said))] if said else []


def _agreement(first: str, second: str, one: Agreement) -> str:
    more, less = (first, second) if one.difference >= 0 else (second, first)
    interval = ""
    if one.low is not None and one.high is not None:
        low, high = sorted((abs(one.low), abs(one.high)))
        is_clear = one.low > 0 or one.high < 0
        interval = f" (95 % interval {low:.2f} to {high:.2f})" if is_clear else " (its 95 % interval contains 0)"
    tau = "" if one.tau is None else f"; Kendall's correlation of their d is {one.tau:.2f}"
    return f"The average d of {more} is {abs(one.difference):.2f} higher than that of {less}{interval}{tau}."


def work_done(found: Sequence[Discernment], names: Sequence[str]) -> Remarks:
    """The work of each test."""
    said = []
    for one, name in zip(found, names, strict=True):
        work = one.work
        texts = f"{work.n_texts:,} damaged texts of {work.n_items:,} items, {work.n_impossible:,} impossible ones"
        asked = f", {work.n_requests:,} requests" if work.n_requests else ""
        cost = "" if work.cost is None else f" for about {work.cost:,.2f}"
        said.append(f"{name}: {texts}, {work.n_missing:,} scores missing{asked}{cost}; {work.seconds:,.1f} s.")
    return Remarks("What was done", tuple(said))


def _missed(result: Result) -> Iterator[str]:
    for metric in result.metrics:
        profile = result.rows("profile", metric=metric)
        blind = having(profile, verdict=BLIND)
        unnoticed = having(profile, verdict=NOT_NOTICED)
        unclear = [row for row in unnoticed if is_unclear(result, row)]
        for said, missed in (
            ("is blind, at each degree, to", blind),
            ("does not notice, at any degree", [row for row in unnoticed if row not in unclear]),
        ):
            kinds = [row["kind"] for row in missed]
            if drops := [text for row in missed for text in _as_missed(result, row)]:
                yield f"{metric} {said}: {_listed(drops)}.{_why(result, metric, kinds)}"
        if unclear:
            kinds = [row["kind"] for row in unclear]
            yield f"Too few scores change to say whether {metric} notices {_kinds(kinds)}: it takes more items."
        if late := having(profile, verdict="needs much"):
            yield f"{metric} needs much damage by {_listed([_from_where(result, row) for row in late])}."


def _as_missed(result: Result, row: Row) -> Iterator[str]:
    """Yields a kind that a metric does not notice, with the figures of its highest degree that is defined."""
    for cell in hardest(result, row["kind"], row["metric"]):
        test = f"d {d_text(cell)}{interval_text(cell)}, drop {number_text(cell['mean_drop'])}{missed_text(row)}"
        yield f"{name_of(cell)} ({test})"


def _from_where(result: Result, row: Row) -> str:
    """A kind with the degree from which it is noticed, or with the single degrees at which it is."""
    cells = result.damage(kind=row["kind"], metric=row["metric"])
    if row["detectable_at_100"] not in (None, UNNOTICED):
        first = next(cell for cell in cells if row["detectable_at_100"] in (cell["degree"], raw_name(cell)))
        return f"{words_of(row['kind'])} (from {name_of(first)} on)"
    noticed = ", ".join(name_of(cell) for cell in cells if cell["noticed"])
    return f"{words_of(row['kind'])} (only {noticed or 'at no degree'})"


def _rewarded(result: Result) -> Iterator[str]:
    strongest = [row for rows in rewarded(result).values() for row in rows]
    for metric in result.metrics:
        own = having(strongest, metric=metric)
        said = [
            f"{name_of(row)} (the mean rises by {number_text(-row['mean_drop'])}, reverse d {row['reverse_d']:.1f})"
            for row in own
        ]
        if said:
            yield f"{metric} rewards {_listed(said)}.{_why(result, metric, [row['kind'] for row in own])}"


def _controls(result: Result) -> Iterator[str]:
    controls = [row for row in result.rows("controls") if row["noticed"] is not None]
    if not controls:
        return
    for kind in dict.fromkeys(row["kind"] for row in controls):
        noticed = having(controls, kind=kind, noticed=True)
        if noticed:
            drops = [f"{row['metric']} (d {d_text(row)}, drop {number_text(row['mean_drop'])})" for row in noticed]
            why = _why(result, noticed[0]["metric"], [kind])
            yield f"{words_of(kind)} lowers {_listed(drops)}.{why}{_cheaper(result, noticed)}"
    kinds = dict.fromkeys(row["kind"] for row in defined(controls))
    unnoticed = [kind for kind in kinds if not having(defined(controls), kind=kind, noticed=True)]
    if unnoticed:
        yield f"Not noticed: {_kinds(unnoticed)}."
    specificity = [f"{name} {share:.2f}" for name, share in result.found.specificity.items() if share is not None]
    if specificity:
        yield f"Specificity, the share of such changes that are not noticed: {', '.join(specificity)}."


def _cheaper(result: Result, noticed: Sequence[Row]) -> str:
    """The kinds that cost less than a control at their highest degree, if possible for the metric of the total."""
    control = dearest(result, noticed)
    cells = heaviest_below(result, control["metric"], control["mean_drop"])
    cheaper = [f"{name_of(cell)} ({number_text(cell['mean_drop'])})" for cell in cells]
    return f" It costs {control['metric']} more than {_listed(cheaper)}." if cheaper else ""


def _why(result: Result, metric: str, kinds: Sequence[str]) -> str:
    found = reasons(result.found.scored.evaluator, metric, kinds)
    return f" Why: {'; '.join(found)}." if found else ""


def reasons(evaluator: str, metric: str, kinds: Sequence[str]) -> list[str]:
    """The rules that explain the verdicts of our metrics on some kinds; each follows the names of its kinds."""
    known = _REASONS.get(metric, {}) if evaluator == "ngram" else {}
    by_reason: dict[str, list[str]] = {}
    for kind in kinds:
        if kind in known:
            by_reason.setdefault(known[kind], []).append(kind)
    return [f"{_kinds(of)}: {reason}" for reason, of in by_reason.items()]


def _kinds(kinds: Sequence[str]) -> str:
    return _listed([words_of(kind) for kind in kinds])


def _listed(parts: Sequence[str]) -> str:
    return few_names(parts, _MANY, 120)
