"""Judging by batch APIs, at half the price: writes open requests, and reads the replies in output files.

A request is named by its key in a batch, so output files may be read in any order, and replies to other requests are
noticed. After an unusable reply, the next batch holds the next try.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from ...errors import ChecklistError
from ...files.untrusted_text import in_one_line, utf8
from ...files.writing import writing_whole
from ...generation.batch_api import batch_file
from ...generation.protocol import Details, ServerForm
from ...judging.reply_store import Replies
from ...judging.requests import Judge
from ..line_files import numbered_objects
from .ask_runs import Judging
from .runs_to_judge import Rating


def write_batch(judging: Judging, path: Path) -> int:
    """Writes the open requests as the input file of a batch of the judge's engine; returns their number."""
    ratings = {key: rating for rating in judging.open_ratings() if (key := rating.next_key()) is not None}
    judge = _judge(judging)
    lines = (judge.form.batch_line(key, rating.next_request()) for key, rating in sorted(ratings.items()))
    with writing_whole(path) as file:
        for piece in batch_file(lines, engine=judge.options.engine):
            file.write(utf8(piece))
    return len(ratings)


def read_batch(judging: Judging, sources: Iterable[Path]) -> tuple[int, list[str]]:
    """Adds the replies in output files of a batch; returns the number of new replies, and sentences on bad lines."""
    known, form = _known_requests(judging), _judge(judging).form
    problems: list[str] = []
    n_new = n_lines = 0
    with contextlib.ExitStack() as stack:
        files = {id(one.replies): one.replies for one in judging.runs}
        keeps = {name: stack.enter_context(replies.adding()) for name, replies in files.items()}
        for where, key, reply, problem, details in _lines(sources, form, problems):
            if key not in known:
                problems.append(f"{where}: is the reply to another request; expected a reply about these runs")
                continue
            n_lines += 1
            if reply is None:
                problems.append(f"{where}: {problem}")
                continue
            rating, number, owners = known[key]
            lacking = [replies for replies in owners if key not in replies]
            n_new += bool(lacking)
            for replies in lacking:
                keeps[id(replies)](rating.request_of_try(number), reply, details)
    if not n_lines and problems:
        raise ChecklistError(problems[0])
    return n_new, problems


def _judge(judging: Judging) -> Judge:
    return judging.runs[0].wording.judge


def _known_requests(judging: Judging) -> dict[str, tuple[Rating, int, list[Replies]]]:
    """By key of the requests that may be in a batch: rating and try, and the files for the reply."""
    known: dict[str, tuple[Rating, int, list[Replies]]] = {}
    for one in judging.runs:
        for rating in one.ratings:
            for number, key in enumerate(rating.known_keys(), start=1):
                _, _, owners = known.setdefault(key, (rating, number, []))
                if one.replies not in owners:
                    owners.append(one.replies)
    return known


def _lines(
    sources: Iterable[Path], form: ServerForm, problems: list[str]
) -> Iterator[tuple[str, str, str | None, str, Details]]:
    """Place, key of the request, reply, why there is no reply, and the server's details."""
    for source in sources:
        try:
            for where, row in numbered_objects(source, on_fault=problems.append):
                key = row.get(form.batch_id)
                if not isinstance(key, str):
                    problems.append(f"{where}: expected an object with the text '{form.batch_id}'")
                    continue
                body, reply, problem = form.batch_answer(row)
                text = None if reply is None else reply.text
                yield f"{where} ({in_one_line(key)})", key, text, problem, form.details_in(body)
        except ChecklistError as error:
            problems.append(str(error))
