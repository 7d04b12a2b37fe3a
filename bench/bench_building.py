"""The first stages of building a suite from a million raw answers to one question: time and memory of a new process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pfgen_fast import NgramSampler, Suite
from pfgen_fast.build.stages import NAMES

from .measuring import REPORTED, Measure, agree
from .processes import in_a_new_process

_N_ANSWERS, _N_COMPARED, _THREADS = 1_000_000, 50_000, 2
_STAGES = NAMES[: NAMES.index("select")]
_CHUNK = 100_000
# At order 4 the sampler generates 5-grams that are in no reference answer, and some of them stay rare.
_ORDER = 4


@pytest.mark.benchmark(group="building", timer=REPORTED)
def test_building(measure: Measure, suite: Suite, scratch: Path) -> None:
    """The stages from raw answers to the length filter; two threads write the same files as one."""
    files = [_files_left(suite, measure.amount(_N_COMPARED), scratch / f"by_{n}", n) for n in (1, _THREADS)]
    agree("files of the stages", files[1], files[0])
    n_answers = measure.amount(_N_ANSWERS)
    config = _write(suite, n_answers, scratch / "many")
    result = in_a_new_process("build_stages", config, _THREADS, *_STAGES)
    total = sum(result["seconds"].values())
    measure.seconds(1, lambda: REPORTED.add(total))
    name = f"building, {n_answers:,} answers, {_THREADS} threads"
    for stage, taken in result["seconds"].items():
        measure.row(f"{name}: {stage}", taken, "s")
    measure.row(f"{name}: raw to length", total, "s")
    measure.row("  processor time of that process, which other load hardly changes", result["cpu"], "s")
    measure.row("  peak memory of that process", result["n_bytes"] / 1e9, "GB")


def _files_left(suite: Suite, n_answers: int, folder: Path, threads: int) -> dict[str, bytes]:
    """The files of the stages in the working folder."""
    config = _write(suite, n_answers, folder)
    in_a_new_process("build_stages", config, threads, *_STAGES)
    arguments = {config, folder / "raw.jsonl"}
    left = [path for path in sorted(folder.rglob("*")) if path.is_file() and path not in arguments]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in left}


def _write(suite: Suite, n_answers: int, folder: Path) -> Path:
    """Writes raw answers drawn from the reference answers, some of which the rules remove, and a config."""
    folder.mkdir()
    asked, sampler = suite.questions[0], NgramSampler(suite, order=_ORDER)
    with (folder / "raw.jsonl").open("w", encoding="utf-8") as file:
        for start in range(0, n_answers, _CHUNK):
            for answer in sampler.sample(asked.question_id, range(start, min(start + _CHUNK, n_answers))):
                file.write(json.dumps({"question": asked.question, "answer": answer}, ensure_ascii=False) + "\n")
    config = folder / "config.toml"
    config.write_text(
        f'suite = "made"\nsets = {{ N = "raw.jsonl" }}\nnormalise = {{ lists = ["formal-ja"] }}\n'
        f'[[question]]\nid = "{asked.question_id}"\nquestion = {json.dumps(asked.question, ensure_ascii=False)}\n'
        'wrong = ["[一二三四五六七八九十]十回"]\nrequired = ["。"]\n',
        encoding="utf-8",
    )
    return config
