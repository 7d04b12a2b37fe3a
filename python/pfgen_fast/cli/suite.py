"""`pfgen-fast suite`: the contents of a suite, its faults, its index; suites on this machine."""

from __future__ import annotations

import time
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typer import Option

from . import options
from .app import Exit, Json, counted, print_json, shown, stderr, stdout, styled, warn
from .layout import columns, cut, rest, shortened
from .suite_get import origin_lines
from .suite_line import print_origin, source_or_here, suite_or_here

if TYPE_CHECKING:
    from ..suite.questions import Question


class _Info:
    """Describes a suite: questions, reference sets, keyword rules; the licence of a fetched one.

    Example

      pfgen-fast suite info mini
    """

    suite: options.SuiteArgument = None
    as_json: Json = False

    def __call__(self) -> None:
        from ..suite.published import origin_of

        loaded = suite_or_here(self.suite)
        rows = [_describe(question) for question in loaded]
        origin = None if loaded.folder is None else origin_of(loaded.folder)
        if self.as_json:
            named = {"name": loaded.name, "metadata_hash": loaded.metadata_hash}
            print_json({**named, "origin": origin, "questions": rows})
            return
        stdout().print(shortened(shown(loaded.name), columns()), style="bold")
        stdout().print(f"{counted(len(loaded), 'question')}, metadata hash {loaded.metadata_hash}")
        for line in origin_lines(origin) if origin else ():
            stdout().print(line)
        for row in rows:
            sets = ", ".join(f"{name} {n} × {length:.0f}" for name, (n, length) in row["sets"].items())
            line = f"{shown(row['question_id']):5} {row['n_rules']:2} rules  {shown(sets):32} {shown(row['question'])}"
            stdout().print(cut(line, columns()))
        stdout().print("sets: name, answers × mean code points", style="dim")


def _describe(question: Question) -> dict[str, Any]:
    sets = {name: (len(answers), sum(map(len, answers)) / len(answers)) for name, answers in question.answers.items()}
    return {
        "question_id": question.question_id,
        "question": question.question,
        "category": question.category,
        "n_rules": len(question.keywords),
        "unit": "character" if question.tokenizer is None else question.tokenizer.source["tokenizer"],
        "sets": sets,
    }


class _Check:
    """Lists all faults of a suite; the exit code is 1 if there are any.

    Also warns of sets with fewer than 100 reference answers, and tries each pattern on a few made texts and warns of
    patterns that take long, such as (a+)+$.

    Example

      pfgen-fast suite check my-suite
    """

    suite: options.SuiteArgument = None
    as_json: Json = False

    def __call__(self) -> None:
        from ..suite.faults import few_references, find_faults, slow_patterns
        from ..suite.suite import Suite

        source = source_or_here(self.suite)
        faults = find_faults(source)
        loaded = None if faults else Suite.load(source)
        n_warnings = 0
        for warning in chain(slow_patterns(loaded or ()), few_references(loaded or ())):
            stderr().print(styled(("warning:", "yellow"), f" {shown(warning)}"))
            n_warnings += 1
        if self.as_json:
            print_json(faults)
        else:
            warn(*faults)
            found = [counted(n, noun) for n, noun in ((len(faults), "error"), (n_warnings, "warning")) if n]
            of_all = f" in {counted(len(loaded), 'question')}" if loaded is not None else ""
            total = f": {' and '.join(found) or 'no findings'}{of_all}"
            stdout().print(shortened(shown(source), rest(len(total))) + total)
        if faults:
            raise SystemExit(Exit.NO)


class _Compile:
    """Compiles a suite: writes the index of its references to a file that commands and scorers map into memory.

    Every command does this when it first needs a suite, and keeps the file in the cache directory ($PFGEN_FAST_CACHE,
    or pfgen-fast in the user's cache directory). Files there may be deleted at any time. A directory that others may
    write to is not used.

    Examples

      pfgen-fast suite compile mini

      pfgen-fast suite compile my-suite -o my-suite.pfgen
    """

    suite: options.SuiteArgument = None
    profile: options.ProfileOption = "leaderboard"
    output: Path | None = Option(None, "-o", help="Write to this file instead of the cache.")
    threads: options.Threads = None
    as_json: Json = False

    def __call__(self) -> None:
        from ..native.threads import default_threads
        from ..scoring.index import index_of, save_index
        from ..suite.cache import cached_path

        loaded = suite_or_here(self.suite)
        threads, path = self.threads or default_threads(), self.output
        begin = time.perf_counter()
        if path is None:
            path = cached_path(loaded.metadata_hash, self.profile)
            compiled = index_of(loaded, self.profile, threads)
        else:
            compiled = save_index(loaded, self.profile, threads, path)
        n_states, n_bytes = sum(part.n_states for part in compiled), sum(part.n_bytes for part in compiled)
        seconds = time.perf_counter() - begin
        where = path if path is not None and path.exists() else None
        if self.as_json:
            print_json({"path": where and str(where), "n_states": n_states, "n_bytes": n_bytes, "seconds": seconds})
            return
        stdout().print(f"{n_states:,} states, {n_bytes / 1e6:,.1f} MB ({seconds:.2f} s)")
        if where:
            stdout().print(f"index: {shortened(shown(where), rest(len('index: ')))}")
        else:
            stdout().print("index: not kept, because no file can be written in the cache directory")
        print_origin(loaded)
