"""Some questions of a suite: a cut suite gives the same scores, which are never mistaken for a result of the suite."""

import json
import pickle

import pytest
from makers.runs import make_run, trial_lines
from pfgen_fast import Scorer, Suite, SuiteError, TrialsError
from pfgen_fast.runs.aggregation import trials_of
from pfgen_fast.runs.run_scorer import RunScorer
from pfgen_fast.runs.trials import Trials, find_runs


def ids(suite):
    return [question.question_id for question in suite]


@pytest.mark.parametrize(
    ("names", "limit", "chosen"),
    [
        (["Q07", "Q01"], None, "Q01 Q07"),
        (["Q0[1-3]", "*8"], None, "Q01 Q02 Q03 Q08"),
        (["Why does ice float on water?"], None, "Q07"),
        (["Q0[5-8]"], 2, "Q05 Q06"),
    ],
)
def test_a_suite_is_cut_to_ids_texts_patterns_and_a_number(mini, names, limit, chosen):
    assert ids(mini.only(names, limit=limit)) == chosen.split()
    for everything in ({}, {"names": ["Q*"]}, {"limit": 8}, {"names": ["*"], "limit": 100}):
        assert mini.only(**everything) is mini


def test_names_of_no_question_and_no_question_at_all_are_refused(mini):
    with pytest.raises(TrialsError, match="unknown question 'Q7' in suite mini; nearest: 'Q07'"):
        mini.only(["Q01", "Q7"])
    with pytest.raises(TrialsError, match=r"unknown question 'X\*' in suite mini; it has Q01, Q02, ..., Q08"):
        mini.only(["Q01", "X*"])
    with pytest.raises(SuiteError, match="limit: expected at least 1 question, not 0"):
        mini.only(limit=0)


def test_a_cut_suite_scores_as_the_whole_one_and_signs_otherwise(mini, scorer):
    cut = Scorer(mini.only(["Q07", "Q02"]))
    answers = ["Ice is less dense than water.", ""]
    assert [cut.score_one("Q07", answer) for answer in answers] == [scorer.score_one("Q07", a) for a in answers]
    assert (cut.suite.samples, cut.suite.instructions) == (mini.samples, mini.instructions)
    signatures = {Scorer(part).signature for part in (mini, mini.only(["Q02"]), mini.only(["Q07"]), cut.suite)}
    assert len(signatures) == 4
    for other in (Scorer.from_bytes(cut.to_bytes()), pickle.loads(pickle.dumps(cut))):
        assert other.signature == cut.signature
        assert [other.score_one("Q07", answer) for answer in answers] == [cut.score_one("Q07", a) for a in answers]
    with pytest.raises(TrialsError, match=r"unknown question 'Q01' in suite mini \(2 of 8 questions\)"):
        cut.score_one("Q01", "")


def test_a_cut_suite_is_the_same_however_it_was_cut(mini):
    cut = mini.only(["Q0[1-3]"])
    for other in (mini.only(limit=3), Suite.load("mini").only(["Q03", "Q02", "Q01"]), pickle.loads(pickle.dumps(cut))):
        assert other.metadata_hash == cut.metadata_hash
        assert ids(other) == ids(cut)
    again = cut.only(["Q02"])
    assert again.metadata_hash == mini.only(["Q02"]).metadata_hash
    assert again.name == "mini (1 of 8 questions)"


def test_a_part_of_trials_keeps_the_numbers_of_its_lines(mini, tmp_path):
    lines = trial_lines(mini, 2)
    lines.insert(3, "")
    run = make_run(tmp_path / "run", lines)
    whole = Trials.read(run / "trials.jsonl")
    part = trials_of(mini.only(["Q03", "Q05"]), whole)
    assert part.questions == [question.question for _ in range(2) for question in (mini["Q03"], mini["Q05"])]
    assert [part.line_number(row) for row in range(4)] == [3, 6, 12, 14]
    assert [part.trial(row) for row in range(4)] == [json.loads(lines[n - 1]) for n in (3, 6, 12, 14)]
    assert trials_of(mini, whole) is whole


@pytest.fixture
def run(tmp_path, mini):
    return make_run(tmp_path / "run", trial_lines(mini, 2), {"model": "me"})


def test_a_score_on_some_questions_is_printed_and_replaces_no_result(call, run, tmp_path, monkeypatch):
    code, out, err = call("score", "--suite", "mini", run, "--questions", "Q02, Q07", "--questions", "Q0[34]")
    assert code == 0
    assert "\n1 run: 4 of 8 questions\n" in out
    assert err == (
        "note: a score of some questions is not a result of the suite, so it is only printed; --output writes it\n"
    )
    (row,) = json.loads(call("score", "--suite", "mini", run, "--limit", "1", "--force", "--json")[1])
    assert (row["status"], row["result"], row["part"]) == ("scored", None, "1 of 8 questions")
    assert not (run / "result.json").exists()
    monkeypatch.chdir(tmp_path)
    call("score", "--suite", "mini", run)
    before = (run / "result.json").read_bytes()
    for options in (["--force"], ["--output", "."], ["--output", tmp_path, "--force"]):
        assert call("score", "--suite", "mini", run, "--questions", "Q07", *options)[0] == 0
        assert (run / "result.json").read_bytes() == before


def test_a_score_on_some_questions_is_written_elsewhere_and_never_up_to_date(call, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = ("score", "--suite", "mini", "run", "--output", "out")
    for _ in range(2):
        assert "1 run: 3 of 8 questions" in call(*command, "--limit", "3")[1]
    written = json.loads((tmp_path / "out/run/result.json").read_bytes())
    assert list(written["questions"]) == ["Q01", "Q02", "Q03"]
    assert written["metadata_hash"] == Suite.load("mini").only(limit=3).metadata_hash
    assert "up to date" not in call(*command)[1]
    assert "up to date" in call(*command)[1]
    assert "up to date" not in call(*command, "--questions", "Q07")[1]


@pytest.mark.parametrize("option", [("--questions", "Q07"), ("--limit", "1"), ("--unknown-questions", "skip")])
def test_empty_names_and_options_of_runs_for_tables_are_refused(refused, run, tmp_path, option):
    assert "expected names separated by commas" in refused("score", "--suite", "mini", run, "--questions", "Q01,")
    (tmp_path / "in.csv").write_text("q,a\nQ07,Ice.\n")
    command = ("score", "--suite", "mini", "--question-column", "q", "--answer-column", "a", tmp_path / "in.csv")
    assert (
        refused(*command, "-o", tmp_path / "out.csv", *option)
        == f"error: no such option for tables; it is for runs: {option[0]}\n"
    )


@pytest.fixture
def foreign(run):
    with (run / "trials.jsonl").open("a") as file:
        file.writelines(json.dumps({"question": "Why me?", "answer": text}) + "\n" for text in "abc")
    return run


@pytest.mark.slow
def test_trials_of_unknown_questions_are_an_error_or_left_out(call, foreign):
    code, _, err = call("score", "--suite", "mini", foreign)
    assert code == 3
    assert "line 17: unknown question 'Why me?' in suite mini; " in err
    assert "'--unknown-questions skip' leaves such trials out" in err
    code, out, err = call("score", "--suite", "mini", foreign, "--unknown-questions", "skip")
    assert code == 0
    assert "/run  " in out.splitlines()[1]
    assert err == (
        f"note: {foreign}/trials.jsonl: 3 of 19 trials are left out, because the suite lacks their questions (1)\n"
    )
    assert len(json.loads((foreign / "result.json").read_bytes())["questions"]) == 8
    assert call("score", "--verify", "--suite", "mini", foreign)[0] == 3
    code, out, err = call("score", "--verify", "--suite", "mini", foreign, "--unknown-questions", "skip")
    assert code == 0
    assert "core = oracle (16 answers); index = files; result.json matches these inputs" in out
    assert call("compare", foreign, foreign, "--suite", "mini", "--unknown-questions", "skip")[0] == 0


def test_runs_generated_for_some_questions_are_scored_on_these(mini, run, tmp_path):
    names = {mini[name].question for name in ("Q02", "Q07")}
    some = [line for line in trial_lines(mini, 2) if json.loads(line)["question"] in names]
    make_run(tmp_path / "some", some, {"questions": ["Q02", "Q07"]})
    make_run(tmp_path / "typed", some, {"questions": ["Q02", 7]})
    outcomes = {outcome.run.folder.name: outcome for outcome in RunScorer(suite=mini).score(find_runs([tmp_path, run]))}
    statuses = {name: outcome.status for name, outcome in outcomes.items()}
    assert statuses == {"run": "scored", "some": "scored", "typed": "failed"}
    assert outcomes["some"].part == "2 of 8 questions"
    assert sorted(path.parent.name for path in tmp_path.rglob("result.json")) == ["run"]
    for batch in RunScorer(suite=mini).read(find_runs([tmp_path / "some"])):
        assert "no trial of question Q01" in batch[0].error


@pytest.mark.slow
def test_compare_and_verify_take_some_questions(call, printed, run, tmp_path, mini):
    other = make_run(tmp_path / "other", trial_lines(mini, 2, first=5))
    parsed = json.loads(call("compare", "--suite", "mini", run, other, "--questions", "Q0[27]", "--json")[1])
    assert sorted(question["question_id"] for question in parsed["questions"]) == ["Q02", "Q07"]
    call("score", "--suite", "mini", run)
    out = printed("score", "--verify", "--suite", "mini", run, "--limit", "1")
    assert "core = oracle (2 answers); index = files; result.json is not compared, because it covers all" in out
    out = call("score", "--verify", "--suite", "mini", run, other, "--sample", "1")[1]
    assert out.endswith("\nsuite: mini\n")


def test_scores_of_some_questions_beside_others_are_noted(call, run, tmp_path, monkeypatch, mini):
    monkeypatch.chdir(tmp_path)
    make_run(tmp_path / "other", trial_lines(mini, 2), {"model": "other"})
    for place in ("run", "other"):
        call("score", "--suite", "mini", place, "--limit", "3", "-o", "out")
    assert call("leaderboard", "out")[2] == ""
    call("score", "--suite", "mini", "run", "-o", "out")
    hashes = f"{mini.only(limit=3).metadata_hash} (1), {mini.metadata_hash} (1)"
    note = f"note: scores of 2 suites, which cannot be compared: metadata hashes {hashes}"
    assert call("leaderboard", "out")[2] == f"{note}; only runs of the first one have ranks\n"
    assert [row["rank"] for row in json.loads(call("leaderboard", "out", "--json")[1])] == [1, None]
    assert call("report", "--suite", "mini", "out", "-o", "page.html")[2] == f"{note}\n"
    assert call("leaderboard", "out", "--quiet")[2] == ""
