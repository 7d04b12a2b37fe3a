import itertools
import json
import re
from collections import Counter
from pathlib import Path, PurePosixPath

import pytest
from makers.builds import QUESTIONS, TABLES, write_config, write_raw
from makers.kills import build_by_config, is_hidden, killed_everywhere
from makers.runs import files_below
from makers.tiny_model import write_tokenizer
from pfgen_fast import NgramSampler, Scorer, Suite, build_suite
from pfgen_fast.base.errors import BuildError, PfgenError
from pfgen_fast.base.file_writing import held
from pfgen_fast.build.build_config import read_config
from pfgen_fast.build.pipeline import branches_of, records
from pfgen_fast.build.stages import NAMES
from pfgen_fast.report.building import write_building_report
from pfgen_fast.suite.suite_reading import find_faults

OF_QUESTION = """
category = "science"
note = "a note"
sample = "A sample."
keywords = [{ or = [{ t = "a" }, { t = "光" }], name = "one of them", importance = 0.5 }]
"""


def test_a_suite_is_built_that_the_check_accepts(make, mini):
    config = make(in_question=OF_QUESTION, tables=f'{TABLES}\n[instructions]\nqa = "Answer."')
    built = build_suite(config)
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
        result = dict(records(branch))
        assert tuple(result) == NAMES
        assert result["raw"]["left"]["n"] == 400
        for before, name in itertools.pairwise(NAMES):
            answers, removed = branch.answers(name), branch.removed(name)
            assert len(answers) == result[name]["left"]["n"]
            assert len(answers) + len(removed) == result[before]["left"]["n"]
            rows = answers.column("row").to_pylist() + removed.column("row").to_pylist()
            assert sorted(rows) == sorted(branch.answers(before).column("row").to_pylist())
        assert all(sum(record["left"]["lengths"]) == record["left"]["n"] for record in result.values())
    assert [result["length"]["left"]["n"], result["select"]["left"]["n"]] == [150, 40]


def test_finished_stages_are_skipped_and_threads_change_nothing(make, reference):
    config = make()
    steps = []
    assert build_suite(config, on_step=lambda *step: steps.append(step), threads=3).n_run == 2 * len(NAMES)
    assert all(done <= total == 2 * len(NAMES) for done, total, _ in steps)
    assert sorted(steps, key=lambda step: step[0]) == steps
    before = files_below(config.path.parent)
    assert before == files_below(reference)
    assert build_suite(config).n_run == 0
    assert files_below(config.path.parent) == before
    assert build_suite(config, force=True).n_run == 2 * len(NAMES)
    assert files_below(config.path.parent) == before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "n_stages"),
    [
        ({"in_question": 'sample = "another"'}, 0),
        ({"top": 'seed = "another"\nunit = "character"'}, 1),
        ({"tables": TABLES.replace("target = 80", "target = 81")}, 2),
        ({"tables": TABLES + "until_stable = true"}, 3),
        ({"in_question": 'wrong = ["zzz"]'}, 4),
        ({"tables": TABLES + "[normalise]\nnfkc = true"}, 5),
    ],
)
def test_a_change_repeats_the_stages_after_it(make, finished, reference, change, n_stages):
    config = make(**change)
    assert build_suite(config).n_run == 2 * n_stages
    fresh = make(config.path.parent / "fresh", **change)
    build_suite(fresh)
    assert files_below(config.suite) == files_below(fresh.suite)
    if n_stages <= 2:  # the other changes may leave the same answers
        assert files_below(config.suite) != files_below(reference / "made")


def test_a_change_of_the_answers_repeats_everything(finished, mini):
    write_raw(finished.path.parent / "raw.jsonl", mini, seed=7)
    assert build_suite(finished).n_run == 2 * len(NAMES)


@pytest.mark.slow
def test_rare_ngrams_may_be_counted_in_all_sets_of_the_question(make):
    config = make(tables=f'M = "more.jsonl"\n{TABLES}among = "question"')  # the first line belongs to [sets]
    lines = (config.path.parent / "raw.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    for name, part in (("raw", lines[:500]), ("more", lines[500:])):
        (config.path.parent / f"{name}.jsonl").write_text("".join(part), encoding="utf-8")
    built = build_suite(config)
    assert (built.is_written, build_suite(config).n_run) == (True, 0)
    for question in QUESTIONS:
        branches = [branch for branch in built.branches if branch.asked.question_id == question]
        texts = [branch.answers("filter").column("answer").to_pylist() for branch in branches]
        n = Counter(text[at : at + 5] for text in itertools.chain(*texts) for at in range(len(text) - 4))
        for branch, own in zip(branches, texts, strict=True):
            kept = [text for text in own if all(n[text[at : at + 5]] > 1 for at in range(len(text) - 4))]
            assert branch.answers("frequency").column("answer").to_pylist() == kept


def test_a_stage_can_be_run_alone(make):
    config = make()
    with pytest.raises(BuildError, match=r"question Q01, set N: stage raw is not done"):
        build_suite(config, stage="filter")
    for name in NAMES:
        built = build_suite(config, stage=name)
        assert (built.n_run, built.is_written, built.problems) == (2, False, ())
        assert [tuple(dict(records(branch))) for branch in built.branches] == [NAMES[: NAMES.index(name) + 1]] * 2
    assert build_suite(config).n_run == 0
    with pytest.raises(BuildError, match=r"stage normalise is not done with this config"):
        build_suite(make(tables=TABLES + "[normalise]\nnfkc = true"), stage="filter")
    with pytest.raises(BuildError, match="stage: expected one of raw, normalise"):
        build_suite(config, stage="selct")


@pytest.mark.parametrize(
    ("tables", "in_question", "problem"),
    [
        ("[normalise]\nremove = ['.']", "", "stage normalise leaves 0 of 400 answers, .* take out rules that remove"),
        ("", 'required = ["340"]', "^question Q07, set N: stage filter leaves 0 of 400 .* fewer than the 40 .*; loose"),
        ("[frequency]\norder = 3\nbelow = 20000", "", "stage frequency leaves 0 of 400 .*; add raw answers"),
        ("[length]\nkeep = 401\n[select]\nsize = 401", "", "400 raw answers, fewer than the 401 .*; add raw answers"),
        ("[frequency]\nbelow = 1\n[select]\nsize = 390", "", "stage select leaves .* lower select.size, .* select.dup"),
    ],
)
def test_every_stage_may_leave_too_few(make, tables, in_question, problem):
    if "size" not in tables:
        tables += "\n[select]\nsize = 40"
    config = make(tables=tables, in_question=in_question)
    built = build_suite(config)
    assert not built.is_written
    assert not config.suite.exists()
    assert len(built.problems) == (1 if in_question else 2)
    assert [result for result in built.problems if not re.search(problem, result)] == []
    if in_question:  # the question whose answers hold 340 is done
        assert tuple(dict(records(built.branches[0]))) == NAMES


def test_a_question_without_any_answer_is_named(make):
    config = make()
    content = config.path.read_text(encoding="utf-8")
    config.path.write_text(content.replace('question = "', 'question = "x'), encoding="utf-8")
    _, problem = build_suite(read_config(config.path)).problems
    assert problem.startswith("question Q07, set N: 0 raw answers (and 800 answers to questions outside the config)")


def test_a_folder_that_holds_something_else_is_not_replaced(make):
    config = make()
    config.suite.mkdir()
    (config.suite / "thesis.txt").write_text("years of work")
    with pytest.raises(BuildError, match=r"contains 'thesis.txt', which is not part of a suite and would be deleted"):
        build_suite(config)
    assert files_below(config.suite) == {"thesis.txt": b"years of work"}
    assert not config.work.exists()
    (config.suite / "thesis.txt").unlink()
    config.work.write_text("a file")
    with pytest.raises(PfgenError, match=r"made\.work: cannot be created"):
        build_suite(config)


def test_a_suite_with_a_fault_is_not_written(finished):
    before = files_below(finished.suite)
    object.__setattr__(finished.questions[0], "keywords", ({"t": "("},))
    with pytest.raises(BuildError, match=r"^Q01\.json: keywords\[0\]\.t: the pattern '\(' does not compile"):
        build_suite(finished)
    assert files_below(finished.suite) == before
    assert not [path for path in finished.suite.parent.iterdir() if path.name.startswith(".")]


def test_only_one_process_builds_at_a_time(make):
    config = make()
    config.work.mkdir()
    with held(config.work / ".building") as alone:
        assert alone
        with pytest.raises(BuildError, match="another process is building here"):
            build_suite(config)


def test_a_damaged_table_is_named_and_can_be_deleted(finished, reference):
    branch = branches_of(finished)[0]
    path = branch.path("filter", ".parquet")
    path.write_bytes(path.read_bytes()[:50])
    branch.path("frequency", ".json").unlink()
    with pytest.raises(BuildError, match=r"2-filter\.parquet: cannot be read"):
        build_suite(finished)
    path.unlink()
    branch.path("filter", ".json").unlink()
    assert build_suite(finished).is_written
    assert files_below(finished.path.parent) == files_below(reference)


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
    built = build_suite(config)
    assert built.problems == ()
    assert find_faults(config.suite) == []
    assert [len(question.answers["N"]) for question in Suite.load(config.suite)] == [200] * 3


# Tokens

IN_TOKENS = """
[score]
target = 100
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
    built = build_suite(config)
    assert (built.problems, built.is_written) == ((), True)
    assert find_faults(config.suite) == []
    suite = Suite.load(config.suite)
    answers = list(suite["Q07"].answers["N"])
    (branch,) = (branch for branch in built.branches if branch.asked.question_id == "Q07")
    result = dict(records(branch))
    lengths = [len(tokens) for tokens in suite["Q07"].tokenizer.tokens(answers)]
    assert result["select"]["left"]["mean"] == pytest.approx(sum(lengths) / len(lengths))
    assert Scorer(suite).score("Q07", answers).fluency.mean() == pytest.approx(1)
    removed = branch.removed("frequency").to_pylist()
    assert removed
    assert all(len(suite["Q07"].tokenizer.tokens([row["reason"]])[0]) == 3 for row in removed if tokenizer == "words")
    assert "tokens" in write_building_report(built).read_text(encoding="utf-8")
    assert build_suite(config).n_run == 0


@pytest.mark.slow
def test_tokenizers_come_and_go_with_the_suite(make, tmp_path):
    write_tokenizer(tmp_path / "bpe.json", ["Ice floats because it is less dense than water.", "雷の光と音"])
    config = make(share=4, tables=IN_TOKENS, top='unit = "token"\ntokenizer = "bpe.json"')
    assert build_suite(config).is_written
    assert (config.suite / "bpe.json").exists()
    config = make(share=4, tables=IN_TOKENS, top='unit = "token"\ntokenizer = "words"')
    assert build_suite(config).is_written
    assert not (config.suite / "bpe.json").exists()
    (config.suite / "other.json").write_text("{}")
    with pytest.raises(BuildError, match=r"contains 'other\.json', which is not part of a suite"):
        build_suite(config)


def test_two_tokenizers_of_one_name_are_refused(make, tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        write_tokenizer(tmp_path / folder / "t.json", ["Ice floats.", folder])
    units = iter(("a", "b"))
    path = write_config(tmp_path, Suite.load("mini"), in_question='unit = "token"\ntokenizer = "X/t.json"')
    path.write_text(re.sub("X/", lambda _: next(units) + "/", path.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(BuildError, match=r"t\.json has the same file name as"):
        read_config(path)


# ---- A build that is killed just before any of its changes leaves whole files; run again, it ends in the same bytes


SMALL = """
[frequency]
order = 2
[length]
target = 80
keep = 30
[select]
size = 10
max_order = 2
"""


EVERYWHERE = None
at_how_many_changes = pytest.mark.parametrize("most", [3, pytest.param(EVERYWHERE, marks=pytest.mark.nightly)])


@pytest.fixture
def before(tmp_path, mini):
    """A folder with raw answers and the config of a build."""
    folder = tmp_path / "before"
    folder.mkdir()
    write_raw(folder / "raw.jsonl", mini, 60)
    write_config(folder, mini, tables=SMALL)
    return folder


@pytest.mark.slow
@at_how_many_changes
def test_a_build_killed_before_any_change_goes_on_to_the_same_bytes(tmp_path_factory, before, most):
    whole, attempts = killed_everywhere(tmp_path_factory.mktemp("attempts"), build_by_config, before=before, most=most)
    assert len([path for path in whole if path.startswith("made/")]) == 2
    for attempt in attempts:
        assert attempt.again == whole, attempt.point
        visible = {path: content for path, content in attempt.killed.items() if not is_hidden(path)}
        assert visible.items() <= whole.items(), attempt.point
    if most:
        assert len(attempts) == most
        return
    # Every file of every stage was once the next to appear; the suite appears as a whole.
    named = Counter(attempt.point.removeprefix("os.link ") for attempt in attempts if "os.link" in attempt.point)
    assert named == Counter(PurePosixPath(path).name for path in whole.keys() - files_below(before).keys())
    assert [attempt.point for attempt in attempts if "os.rename" in attempt.point] == ["os.rename made"]


@pytest.mark.slow
@at_how_many_changes
def test_a_build_that_replaces_a_suite_leaves_the_old_or_the_new_one(tmp_path_factory, before, mini, most):
    build_suite(before / "config.toml")
    write_config(before, mini, tables=SMALL.replace("target = 80", "target = 60"))
    old = files_below(before)
    whole, attempts = killed_everywhere(tmp_path_factory.mktemp("attempts"), build_by_config, before=before, most=most)
    assert whole.keys() == old.keys()
    in_suite = [path for path in whole if path.startswith("made/")]
    assert all(whole[path] != old[path] for path in in_suite)
    result = Counter()
    for attempt in attempts:
        assert attempt.again == whole, attempt.point
        for path, content in attempt.killed.items():
            assert is_hidden(path) or content in (old[path], whole[path]), (attempt.point, path)
        suite = [attempt.killed.get(path) for path in in_suite]
        kept_aside = [attempt.killed.get(path.replace("made/", ".made.old/")) for path in in_suite]
        versions = {"old": [old[path] for path in in_suite], "new": [whole[path] for path in in_suite]}
        if not any(suite):  # between the two renames
            assert kept_aside == versions["old"]
            result["set aside"] += 1
        else:
            result[next(name for name, version in versions.items() if suite == version)] += 1
    if most:
        assert result.total() == most
        return
    assert result["set aside"] == 1
    assert min(result["old"], result["new"]) > 1
