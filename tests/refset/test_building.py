from __future__ import annotations

import itertools
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.builds import QUESTIONS, TABLES, files_below, write_config, write_raw
from makers.tokens import write_tokenizer
from pfgen_fast import Scorer, Suite
from pfgen_fast.errors import BuildError, PfgenError, TrialsError
from pfgen_fast.files.lock import held
from pfgen_fast.ngram import NgramSampler
from pfgen_fast.refset.config import Length, Select, read_config, repeating
from pfgen_fast.refset.normalise import Rewrite
from pfgen_fast.refset.pipeline import Branch, branches_of, build, records
from pfgen_fast.refset.stages import (
    NAMES,
    FilterStage,
    FrequencyStage,
    LengthStage,
    NormaliseStage,
    SelectStage,
    describe,
    most_frequent_reasons,
)
from pfgen_fast.report.building import write_building_report
from pfgen_fast.suite.faults import find_faults


def table(*answers, first_row=0):
    rows = range(first_row, first_row + len(answers))
    return pa.table({"row": pa.array(rows, pa.int64()), "answer": pa.array(answers, pa.string())})


def sifted(stage, *answers, threads=2):
    """What a stage keeps and removes: rows with answers, rows with reasons."""
    result = stage.run(table(*answers), threads, lambda what: None)
    kept = list(zip(*result.kept.to_pydict().values(), strict=True))
    removed = {row["row"]: row["reason"] for row in result.removed.to_pylist()}
    assert sorted([row for row, _ in kept] + list(removed)) == list(range(len(answers)))
    return kept, removed, result.figures


# Single stages


def test_normalising_changes_answers_and_removes_some():
    rules = (Rewrite("wide", "characters", "１", "1"), Rewrite("no", "remove", "bad"))
    stage = NormaliseStage(False, "single", rules)
    kept, removed, figures = sifted(stage, " a  1 ", "bad １", "　", "b１", "c")
    assert kept == [(0, "a 1"), (3, "b1"), (4, "c")]
    assert removed == {1: "no: bad", 2: "nothing is left"}
    assert figures == {"changed": {"wide": 2}}


def test_the_filter_names_the_first_pattern_that_objects():
    stage = FilterStage(wrong=("cold", "hot"), required=("water",))
    kept, removed, _ = sifted(stage, "water", "hot cold water", "hot", "ice", "wet water")
    assert kept == [(0, "water"), (4, "wet water")]
    assert removed == {1: "wrong: cold", 2: "wrong: hot", 3: "lacks: water"}


# Order 3: in the first round only "abx" and "qqq" occur once; without their answers, so do "bcd" and "cde".
ONCE_RARE = ["abcde", "abc", "bcdeabx", "xyzxyz", "cdqqq", "ab", "xyz"]


def test_the_frequency_filter_counts_occurrences_and_removes_once():
    kept, removed, figures = sifted(FrequencyStage(3, 2, False), *ONCE_RARE)
    # "dea", "eab" and "abx" are rare in row 2, "yzx" and "zxy" in row 3, "cdq", "dqq" and "qqq" in row 4.
    assert removed == {2: "dea", 3: "yzx", 4: "cdq"}
    assert [row for row, _ in kept] == [0, 1, 5, 6]
    assert figures["rounds"] == [{"n_rare": 8, "n_distinct": 12, "n_removed": 3}]


def test_the_frequency_filter_may_go_on_until_nothing_is_rare():
    kept, removed, figures = sifted(FrequencyStage(3, 2, True), *ONCE_RARE)
    # Then "bcd" and "cde" are rare in row 0, "xyz" in row 6; then "abc" in row 1.
    assert removed == {0: "bcd", 1: "abc", 2: "dea", 3: "yzx", 4: "cdq", 6: "xyz"}
    assert kept == [(5, "ab")]
    assert [one["n_removed"] for one in figures["rounds"]] == [3, 2, 1, 0]


def test_an_ngram_that_one_answer_repeats_is_not_rare():
    kept, _, _ = sifted(FrequencyStage(2, 2, False), "ababa", "abb")
    assert kept == [(0, "ababa")]


@given(st.lists(st.text("ab水", max_size=6), max_size=12), st.integers(1, 3), st.integers(1, 3))
def test_the_frequency_filter_equals_a_plain_one(answers, order, below):
    counts = Counter(text[i : i + order] for text in answers for i in range(len(text) - order + 1))
    expected = {}
    for row, text in enumerate(answers):
        rare = [text[i : i + order] for i in range(len(text) - order + 1) if counts[text[i : i + order]] < below]
        if rare:
            expected[row] = rare[0]
    assert sifted(FrequencyStage(order, below, False), *answers)[1] == expected


def test_the_nearest_lengths_stay_and_the_earlier_of_equals():
    stage = LengthStage(Length(target=3, keep=3), Select(size=1))
    kept, removed, _ = sifted(stage, "aaaaaa", "12", "1234", "水水水", "98", "")
    assert kept == [(1, "12"), (2, "1234"), (3, "水水水")]
    assert removed == {0: "length 6", 4: "length 2", 5: "length 0"}


@given(st.lists(st.integers(0, 9), max_size=12), st.integers(0, 9), st.integers(1, 12))
def test_the_nearest_lengths_are_those_of_a_plain_sort(lengths, target, keep):
    answers = ["x" * length for length in lengths]
    kept, _, figures = sifted(LengthStage(Length(target, keep), Select(size=1, duplicates="keep")), *answers)
    order = sorted(range(len(lengths)), key=lambda row: (abs(lengths[row] - target), row))
    n_kept = keep if keep < len(lengths) else math.isqrt(len(lengths))
    assert [row for row, _ in kept] == sorted(order[:n_kept])
    assert ("note" in figures) == (keep >= len(lengths))


def spread(n, mean=107, std=28.6):
    """Different answers whose lengths are spread like those of raw answers."""
    lengths = [round(NormalDist(mean, std).inv_cdf((i + 0.5) / n)) for i in range(n)]
    return [f"{i:05}".ljust(max(length, 5), "x") for i, length in enumerate(lengths)]


@pytest.mark.parametrize("keep", ["auto", 5000, 30_000])
def test_lengths_are_shaped_when_fewer_answers_than_keep_are_left(keep):
    """The geometric mean of 5,000 answers and 50 to select: each of the two stages leaves a tenth."""
    answers = spread(5000)
    assert (describe(table(*answers))["mean"], describe(table(*answers))["std"]) == pytest.approx((107, 28.6), abs=0.1)
    kept, _, figures = sifted(LengthStage(Length(100, keep), Select(size=50)), *answers)
    lengths = [len(answer) for _, answer in kept]
    assert len(lengths) == 500
    assert (np.mean(lengths), np.std(lengths)) == pytest.approx((100, 2.1), abs=0.2)
    assert figures == ({} if keep == "auto" else {"note": NOTE.format(keep)})


NOTE = (
    "length.keep is {:,}, and only 5,000 answers came to this stage, so the 500 nearest to 100 are kept; "
    'give more raw answers, lower it, or set it to "auto" or "all"'
)


@pytest.mark.parametrize(("n", "n_kept"), [(10, 10), (40, 20), (9000, 300), (40_000, 300)])
def test_an_automatic_number_is_thirty_for_each_to_select_at_most(n, n_kept):
    """For a million answers and a thousand to select, that is what the published suite kept."""
    stage = LengthStage(Length(target=5), Select(size=10))
    assert len(sifted(stage, *(f"{i:05}" for i in range(n)))[0]) == n_kept


def test_all_lengths_stay_if_the_config_says_so():
    kept, _, figures = sifted(LengthStage(Length(3, "all"), Select(size=1)), "a", "aaa", "aaaaaaaaa")
    assert (len(kept), figures) == (3, {})


@given(st.lists(st.text("ab", max_size=4), min_size=1, max_size=40), st.data())
def test_enough_different_answers_stay_to_be_selected(answers, data):
    size = data.draw(st.integers(1, len(set(answers))))
    kept, _, _ = sifted(LengthStage(Length(2, "auto"), Select(size=size)), *answers)
    n_different = len({answer for _, answer in kept})
    assert n_different == math.isqrt(len(set(answers)) * size) >= size


def test_a_choice_may_hold_each_text_only_once():
    answers = ["ab", "cd", "ab", "ab", "ef"]
    _, removed, _ = sifted(SelectStage(Select(3, 2, "drop", 1, 100), "s"), *answers)
    assert removed == {2: "duplicate", 3: "duplicate"}
    assert sifted(SelectStage(Select(3, 2), "s"), *answers)[1] == removed
    kept, removed, _ = sifted(SelectStage(Select(3, 2, "keep", 1, 100), "s"), *answers)
    assert set(removed.values()) == {"not chosen"}
    assert len(kept) == 3


def test_a_choice_has_the_distribution_of_all():
    answers = ["common answer"] * 30 + ["rare one"] * 10
    kept, _, figures = sifted(SelectStage(Select(4, 10, "keep", 1, 2000), "s"), *answers)
    assert sorted(answer for _, answer in kept) == ["common answer"] * 3 + ["rare one"]
    assert figures["error"] == 0
    assert len(figures["coverage"]) == 10
    assert all(held == all_of_them and share == 1 for all_of_them, held, share in figures["coverage"])


def test_figures_of_lengths_and_reasons():
    described = describe(table("ab", "abcd", "x" * 500))
    assert (described["n"], described["mean"]) == (3, 506 / 3)
    assert described["std"] == pytest.approx(math.sqrt(sum((n - 506 / 3) ** 2 for n in (2, 4, 500)) / 3))
    assert (described["lengths"][2], described["lengths"][4], described["lengths"][401]) == (1, 1, 1)
    assert describe(table())["mean"] is None
    reasons = pa.table({"reason": ["b", "a", "c", "c"]})
    assert most_frequent_reasons(reasons) == [("c", 2), ("a", 1), ("b", 1)]


# Whole builds


@pytest.fixture(scope="module")
def raw(tmp_path_factory, mini):
    path = tmp_path_factory.mktemp("raw") / "raw.jsonl"
    write_raw(path, mini)
    return path


@pytest.fixture
def make(tmp_path, mini, raw):
    """Writes a config beside the raw answers or a part of them, and reads it."""

    def make(folder=tmp_path, share=1, **options):
        folder.mkdir(exist_ok=True)
        lines = raw.read_bytes().splitlines(keepends=True)
        (folder / "raw.jsonl").write_bytes(b"".join(lines[: len(lines) // share]))
        return read_config(write_config(folder, mini, **options))

    return make


@pytest.fixture(scope="module")
def reference(tmp_path_factory, mini, raw):
    """A suite that was built without interruption, and the files of its stages."""
    folder = tmp_path_factory.mktemp("reference")
    (folder / "raw.jsonl").write_bytes(raw.read_bytes())
    built = build(read_config(write_config(folder, mini)), threads=1)
    assert built.is_written
    return folder


@pytest.fixture
def finished(tmp_path, reference):
    """The config of a copy of this suite, which a test may change."""
    shutil.copytree(reference, tmp_path, dirs_exist_ok=True)
    return read_config(tmp_path / "config.toml")


OF_QUESTION = """
category = "science"
note = "a note"
sample = "A sample."
keywords = [{ or = [{ t = "a" }, { t = "光" }], name = "one of them", importance = 0.5 }]
"""


def test_a_suite_is_built_that_the_check_accepts(make, mini):
    config = make(of_question=OF_QUESTION, tables=f'{TABLES}\n[instructions]\nqa = "Answer."')
    built = build(config)
    assert (built.problems, built.is_written) == ((), True)
    assert find_faults(config.suite) == []
    suite = Suite.load(config.suite)
    assert [question.question_id for question in suite] == list(QUESTIONS)
    for question in suite:
        assert question.question == mini[question.question_id].question
        assert (question.category, question.note) == ("science", "a note")
        assert question.keywords[0].name == "one of them"
        assert [(name, len(answers)) for name, answers in question.answers.items()] == [("N", 40)]
    assert [sample.answer for sample in suite.samples] == ["A sample."] * 2
    assert suite.instructions == {"qa": "Answer."}
    content = json.loads((config.suite / "Q01.json").read_bytes())
    assert list(content) == ["question_id", "question", "category", "note", "keywords", "answers"]
    for question in suite:
        assert Scorer(suite).score(question.question_id, list(question.answers["N"])).fluency.mean() == pytest.approx(1)


def test_every_stage_says_what_it_did(reference):
    for branch in branches_of(read_config(reference / "config.toml")):
        found = dict(records(branch))
        assert tuple(found) == NAMES
        assert found["raw"]["left"]["n"] == 400
        for before, name in itertools.pairwise(NAMES):
            answers, removed = branch.answers(name), branch.removed(name)
            assert len(answers) == found[name]["left"]["n"]
            assert len(answers) + len(removed) == found[before]["left"]["n"]
            rows = answers.column("row").to_pylist() + removed.column("row").to_pylist()
            assert sorted(rows) == sorted(branch.answers(before).column("row").to_pylist())
        assert sum(sum(found[name]["left"]["lengths"]) for name in NAMES) == sum(
            record["left"]["n"] for record in found.values()
        )
    assert [found["length"]["left"]["n"], found["select"]["left"]["n"]] == [150, 40]


def test_what_is_done_is_not_done_again(make):
    config = make()
    steps = []
    assert build(config, on_step=lambda *step: steps.append(step)).n_run == 2 * len(NAMES)
    assert all(done <= total == 2 * len(NAMES) for done, total, _ in steps)
    assert sorted(steps, key=lambda step: step[0]) == steps
    before = files_below(config.path.parent)
    assert build(config).n_run == 0
    assert files_below(config.path.parent) == before
    assert build(config, force=True).n_run == 2 * len(NAMES)
    assert files_below(config.path.parent) == before


@pytest.mark.parametrize(
    ("change", "n_stages"),
    [
        ({"of_question": 'sample = "another"'}, 0),
        ({"top": 'seed = "another"'}, 1),
        ({"tables": TABLES.replace("target = 80", "target = 81")}, 2),
        ({"tables": TABLES + "until_stable = true"}, 3),
        ({"of_question": 'wrong = ["zzz"]'}, 4),
        ({"tables": TABLES + "[normalise]\nnfkc = true"}, 5),
    ],
)
def test_a_change_repeats_what_comes_after_it(make, finished, change, n_stages):
    config = make(**change)
    assert build(config).n_run == 2 * n_stages
    fresh = make(config.path.parent / "fresh", **change)
    build(fresh)
    assert files_below(config.suite) == files_below(fresh.suite)


@pytest.mark.parametrize("option", ["", 'duplicates = "drop"', 'duplicates = "keep"'])
def test_a_text_is_chosen_only_once_unless_the_config_says_otherwise(make, option):
    tables = TABLES.replace("keep = 150", "").replace("[select]", f"[select]\n{option}").replace("= 40", "= 120")
    config = make(tables=tables)
    raw = config.path.parent / "raw.jsonl"
    raw.write_bytes(raw.read_bytes() * 2)
    assert build(config).is_written
    for question in Suite.load(config.suite):
        answers = question.answers["N"]
        assert (len(set(answers)) == len(answers) == 120) == ("keep" not in option)


def test_a_change_of_the_answers_repeats_everything(finished, mini):
    write_raw(finished.path.parent / "raw.jsonl", mini, seed=7)
    assert build(finished).n_run == 2 * len(NAMES)


def test_a_stage_can_be_run_alone(make):
    config = make()
    with pytest.raises(BuildError, match=r"question Q01, set N: stage raw is not done"):
        build(config, stage="filter")
    for name in NAMES:
        built = build(config, stage=name)
        assert (built.n_run, built.is_written, built.problems) == (2, False, ())
        assert [tuple(dict(records(branch))) for branch in built.branches] == [NAMES[: NAMES.index(name) + 1]] * 2
    assert build(config).n_run == 0
    with pytest.raises(BuildError, match=r"stage normalise is not done, or not as the config now says"):
        build(make(tables=TABLES + "[normalise]\nnfkc = true"), stage="filter")
    with pytest.raises(BuildError, match="stage: expected one of raw, normalise"):
        build(config, stage="selct")


@pytest.mark.parametrize("threads", [2, 3])
def test_any_number_of_threads_gives_the_same_bytes(make, reference, threads):
    config = make()
    build(config, threads=threads)
    assert files_below(config.path.parent) == files_below(reference)


def test_every_bit_of_the_seed_counts(make, reference):
    config = make(top='seed = "another"')
    build(config)
    assert (config.suite / "Q01.json").read_bytes() != (reference / "made" / "Q01.json").read_bytes()


def test_a_build_that_is_interrupted_anywhere_goes_on_to_the_same_bytes(make, reference):
    """Stops the build at each step in turn: nothing left behind misleads the next attempt."""
    config = make()
    for number in range(1000):
        left = number

        def on_step(done, total, what):
            nonlocal left
            if left == 0:
                raise KeyboardInterrupt
            left -= 1

        try:
            built = build(config, on_step=on_step)
        except KeyboardInterrupt:
            continue
        break
    assert number > 5
    assert built.is_written
    assert files_below(config.path.parent) == files_below(reference)


KILLED = """
import os, signal, sys
from pfgen_fast.refset.config import read_config
from pfgen_fast.refset.pipeline import build

def on_step(done, total, what):
    if what.startswith(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)

build(read_config(sys.argv[1]), threads=2, on_step=on_step)
"""


@pytest.mark.slow  # test_building_kills.py kills builds too
@pytest.mark.parametrize("moment", ["reading set N", "question Q07, set N: frequency, round 1", "writing the suite"])
def test_a_build_that_is_killed_goes_on_to_the_same_bytes(make, reference, moment):
    config = make()
    killed = subprocess.run([sys.executable, "-c", KILLED, str(config.path), moment], timeout=60)
    assert killed.returncode == -signal.SIGKILL
    assert not config.suite.exists()
    assert build(config).is_written
    assert files_below(config.path.parent) == files_below(reference)


LIMITED = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
from pfgen_fast.cli.app import main
sys.argv[1:] = ["suite", "build", sys.argv[2]]
main()
"""


@pytest.mark.parametrize("n_bytes", [4_000, *(pytest.param(n, marks=pytest.mark.slow) for n in (100, 20_000))])
def test_a_full_disk_is_one_sentence_and_leaves_nothing_half_written(make, reference, n_bytes):
    config = make()
    run = subprocess.run(
        [sys.executable, "-c", LIMITED, str(n_bytes), str(config.path)], capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 2
    *of_the_cache, problem = run.stderr.strip().splitlines()
    assert all(line.startswith("warning: ") for line in of_the_cache)
    assert "cannot be written" in problem
    expected = files_below(reference)
    assert files_below(config.path.parent).items() <= expected.items()
    assert build(config).is_written
    assert files_below(config.path.parent) == expected


# Errors


def test_too_few_answers_are_told_for_every_set_with_what_to_do(make):
    config = make(of_question='required = ["340"]')
    built = build(config)
    assert not built.is_written
    assert not config.suite.exists()
    (problem,) = built.problems
    assert problem.startswith("question Q07, set N: stage filter leaves 0 of 400 answers, fewer than the 40 of select")
    assert problem.endswith("loosen the question's wrong and required patterns")
    assert tuple(dict(records(built.branches[0]))) == NAMES  # the other one is done


@pytest.mark.parametrize(
    ("tables", "problem"),
    [
        ("[normalise]\nremove = ['.']", "stage normalise leaves 0 of 400 answers, .* take out rules that remove"),
        ("[frequency]\norder = 3\nbelow = 20000", "stage frequency leaves 0 of 400 answers, .*; give more raw answers"),
        ("[length]\nkeep = 401\n[select]\nsize = 401", "400 raw answers, fewer than the 401 .*; give more of them, or"),
        ("[frequency]\nbelow = 1\n[select]\nsize = 390", "stage select leaves .* lower select.size, .* set select.dup"),
    ],
)
def test_every_stage_may_leave_too_few(make, tables, problem):
    if "size" not in tables:
        tables += "\n[select]\nsize = 40"
    built = build(make(tables=tables))
    assert not built.is_written
    assert built.problems
    assert [found for found in built.problems if not re.search(problem, found)] == []


def test_a_question_without_any_answer_is_named(make):
    config = make(tables=TABLES + '[[question]]\nid = "Q99"\nquestion = "Who?"')
    (problem,) = build(config).problems
    assert problem.startswith("question Q99, set N: 0 raw answers, fewer than the 40")
    config.path.write_text(
        config.path.read_text(encoding="utf-8").replace('question = "', 'question = "x'), encoding="utf-8"
    )
    problems = build(read_config(config.path)).problems
    assert len(problems) == 3
    assert "0 raw answers (and 800 to questions that the config does not have)" in problems[1]


def test_a_folder_that_holds_something_else_is_not_replaced(make):
    config = make()
    config.suite.mkdir()
    (config.suite / "thesis.txt").write_text("years of work")
    with pytest.raises(BuildError, match=r"holds 'thesis.txt', which is not part of a suite and would be lost"):
        build(config)
    assert files_below(config.suite) == {"thesis.txt": b"years of work"}
    assert not config.work.exists()


def test_a_suite_that_is_there_is_replaced_as_a_whole(make):
    config = make(of_question='sample = "a"')
    build(config)
    (config.suite / "Q50.json").write_text("{}")
    build(make())
    assert sorted(path.name for path in config.suite.iterdir()) == ["Q01.json", "Q07.json"]


def test_a_suite_with_a_fault_is_not_written(make):
    """An empty set cannot get this far, but a control character in a question can."""
    config = make()
    text = config.path.read_text(encoding="utf-8")
    config.path.write_text(text.replace('id = "Q07"', 'id = "Q07"\nsample = "\\u0000"'), encoding="utf-8")
    build(read_config(config.path))
    before = files_below(config.suite)
    broken = read_config(config.path)
    object.__setattr__(broken.questions[0], "keywords", ({"t": "("},))
    with pytest.raises(BuildError, match=r"^Q01\.json: keywords\[0\]\.t: the pattern '\(' does not compile"):
        build(broken)
    assert files_below(config.suite) == before
    assert not [path for path in config.suite.parent.iterdir() if path.name.startswith(".")]


def test_only_one_process_builds_at_a_time(make):
    config = make()
    config.work.mkdir()
    with held(config.work / ".building") as alone:
        assert alone
        with pytest.raises(BuildError, match="another process is building here"):
            build(config)


def test_a_damaged_table_is_named_and_can_be_deleted(finished, reference):
    branch = branches_of(finished)[0]
    path = branch.path("filter", ".parquet")
    path.write_bytes(path.read_bytes()[:50])
    branch.path("frequency", ".json").unlink()
    with pytest.raises(BuildError, match=r"2-filter\.parquet: cannot be read"):
        build(finished)
    path.unlink()
    branch.path("filter", ".json").unlink()
    assert build(finished).is_written
    assert files_below(finished.path.parent) == files_below(reference)


def test_answers_that_cannot_be_read_stop_the_build(make):
    config = make()
    with (config.path.parent / "raw.jsonl").open("a") as file:
        file.write('{"question": "Why?", "answer": 5}\n')
    with pytest.raises(TrialsError, match=r"raw\.jsonl, line 801: 'answer' is a text, not int"):
        build(config)
    (config.path.parent / "raw.jsonl").unlink()
    with pytest.raises(TrialsError, match="no such file or folder"):
        build(config)


def test_the_frequency_filter_is_repeated_on_demand(make):
    config = repeating(make())
    build(config)
    rounds = [dict(records(branch))["frequency"]["figures"]["rounds"] for branch in branches_of(config)]
    assert all(one[-1]["n_removed"] == 0 for one in rounds)


def test_the_example_builds(tmp_path, mini):
    """Follows examples/building.toml and the documentation with answers of the engine ngram."""
    example = Path(__file__).parents[2] / "examples" / "building.toml"
    (tmp_path / "building.toml").write_bytes(example.read_bytes())
    config = read_config(tmp_path / "building.toml")
    sampler = NgramSampler(mini, order=8)
    run = tmp_path / "raw" / "ngram" / "order-8"
    run.mkdir(parents=True)
    lines = [
        json.dumps({"question": asked.question, "answer": answer}, ensure_ascii=False)
        for asked in config.questions
        for answer in sampler.sample(asked.question, range(1100))
    ]
    (run / "trials.jsonl").write_text("\n".join(lines), encoding="utf-8")
    built = build(config)
    assert built.problems == ()
    assert find_faults(config.suite) == []
    assert [len(question.answers["N"]) for question in Suite.load(config.suite)] == [200] * 3


def test_names_of_branches_are_folders_below_the_work_folder(make):
    config = make()
    for branch in branches_of(config):
        assert isinstance(branch, Branch)
        assert branch.folder.relative_to(config.work) == Path(branch.asked.question_id, "N")


def test_a_work_folder_that_cannot_be_made_is_named(make):
    config = make()
    config.work.write_text("a file")
    with pytest.raises(PfgenError, match=r"made\.work: cannot be made"):
        build(config)
    assert os.listdir(config.path.parent)


IN_TOKENS = """
[frequency]
order = 3
[length]
target = 14
keep = 40
[select]
size = 10
max_order = 4
"""


@pytest.mark.parametrize("tokenizer", ["words", pytest.param("tokenizer.json", marks=pytest.mark.slow)])
def test_a_suite_in_tokens_is_counted_in_tokens_from_end_to_end(make, tmp_path, tokenizer):
    if tokenizer.endswith(".json"):
        write_tokenizer(tmp_path / tokenizer, ["Ice floats because it is less dense than water.", "雷の光と音"])
    config = make(share=4, tables=IN_TOKENS, top=f'unit = "token"\ntokenizer = "{tokenizer}"')
    built = build(config)
    assert (built.problems, built.is_written) == ((), True)
    assert find_faults(config.suite) == []
    suite = Suite.load(config.suite)
    answers = list(suite["Q07"].answers["N"])
    (branch,) = (branch for branch in built.branches if branch.asked.question_id == "Q07")
    found = dict(records(branch))
    lengths = [len(tokens) for tokens in suite["Q07"].tokenizer.tokens(answers)]
    assert found["select"]["left"]["mean"] == pytest.approx(sum(lengths) / len(lengths))
    assert Scorer(suite).score("Q07", answers).fluency.mean() == pytest.approx(1)
    removed = branch.removed("frequency").to_pylist()
    assert removed
    assert all(len(suite["Q07"].tokenizer.tokens([row["reason"]])[0]) == 3 for row in removed if tokenizer == "words")
    assert "tokens" in write_building_report(built).read_text(encoding="utf-8")
    assert build(config).n_run == 0


def test_a_question_may_have_a_unit_of_its_own(make):
    config = make(of_question='unit = "character"', top='unit = "token"\ntokenizer = "words"')
    assert [asked.tokenizer for asked in config.questions] == [None, None]
    config = make(share=4, tables=IN_TOKENS, of_question='unit = "token"\ntokenizer = "whitespace"')
    assert build(config).is_written
    assert json.loads((config.suite / "Q01.json").read_bytes())["tokenizer"] == "whitespace"


@pytest.mark.parametrize(
    ("top", "message"),
    [
        ('unit = "token"', "tokenizer: expected 'whitespace', 'words' or a .json file"),
        ('unit = "character"\ntokenizer = "words"', "tokenizer: only for the unit 'token'"),
        ('tokenizer = "words"', "tokenizer: only for the unit 'token'"),
        ('unit = "token"\ntokenizer = "Q.json"', "tokenizer: expected"),
        ('unit = "token"\ntokenizer = "nowhere.json"', r"nowhere\.json: cannot be read"),
    ],
)
def test_a_wrong_tokenizer_is_named(make, top, message):
    with pytest.raises(PfgenError, match=message):
        make(top=top)


def test_tokenizers_come_and_go_with_the_suite(make, tmp_path):
    write_tokenizer(tmp_path / "bpe.json", ["Ice floats because it is less dense than water.", "雷の光と音"])
    config = make(share=4, tables=IN_TOKENS, top='unit = "token"\ntokenizer = "bpe.json"')
    assert build(config).is_written
    assert (config.suite / "bpe.json").exists()
    config = make(share=4, tables=IN_TOKENS, top='unit = "token"\ntokenizer = "words"')
    assert build(config).is_written
    assert not (config.suite / "bpe.json").exists()
    (config.suite / "other.json").write_text("{}")
    with pytest.raises(BuildError, match=r"holds 'other\.json', which is not part of a suite"):
        build(config)


def test_two_tokenizers_of_one_name_are_refused(make, tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        write_tokenizer(tmp_path / folder / "t.json", ["Ice floats.", folder])
    units = iter(("a", "b"))
    path = write_config(tmp_path, Suite.load("mini"), of_question='unit = "token"\ntokenizer = "X/t.json"')
    path.write_text(re.sub("X/", lambda _: next(units) + "/", path.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(BuildError, match=r"t\.json has the name of another"):
        read_config(path)
