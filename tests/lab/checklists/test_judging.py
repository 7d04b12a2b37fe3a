"""Judging: verdicts follow from kept replies alone; what is asked, what it costs, what is stale or refused."""

import json
from dataclasses import replace

import pytest
from makers.checklists_to_judge import (
    N_TASKS,
    OPTIONS,
    answers_of,
    as_judge,
    ask,
    judged,
    prompts,
    run,
    suite,
    verdicts_of,
)
from pfgen_fast.base.errors import ChecklistError
from pfgen_fast.lab.checklists.checklist_requests import JudgeOptions
from pfgen_fast.lab.checklists.checklist_runs import Answer, open_runs
from pfgen_fast.lab.checklists.checklist_scoring import score_runs
from pfgen_fast.lab.checklists.checklist_tables import missing_sentences
from pfgen_fast.lab.checklists.judge_runs import Judging, names_a_version
from pfgen_fast.lab.checklists.judgements import Judgement, read_judgements, write_judgements
from pfgen_fast.lab.checklists.tasks import READING, sha256_of
from pfgen_fast.lab.judging.reply_store import Replies


def test_verdicts_and_reasons_come_from_the_replies(path):
    _, problem = judged([path])
    assert problem is None
    judgements = read_judgements(path / "judgements.jsonl", suite())
    assert [judgement.id for judgement in judgements] == [answer.id for answer in answers_of("mine")]
    entries = [json.loads(line) for line in (path / "judge-replies.jsonl").read_text().splitlines()]
    by_content = {entry["request"]["messages"][-1]["content"]: entry for entry in entries}
    for judgement, answer in zip(judgements, answers_of("mine"), strict=True):
        (content,) = [content for content in by_content if answer.response in content]
        request = by_content[content]["request"]
        seed = request["parameters"]["seed"]
        assert request["messages"][0] == {"role": "system", "content": "You judge by lists."}
        n_questions = len(judgement.scores)
        assert judgement == Judgement(
            id=answer.id,
            response_sha256=answer.sha256,
            scores=tuple(verdicts_of(content, seed, n_questions)),
            judge="judge-2024-08-06",
            version="judge-2024-08-06 fp_1",
            reasons=tuple(f"reason {question} of {seed}" for question in range(n_questions)),
            prompt_sha256=judgement.prompt_sha256,
            checklist_sha256=suite().checklist(suite().by_key[answer.id, None]).sha256,
            instruction_sha256=sha256_of(suite().by_key[answer.id, None].instruction),
            profile="plain",
            temperature=0.0,
        )


def test_equal_requests_of_two_runs_are_sent_once_and_kept_in_both(tmp_path):
    answers = answers_of("same")
    paths = [run(tmp_path / name, answers).folder for name in ("a", "b")]
    judging = Judging.open(open_runs(paths), suite(), OPTIONS)
    assert judging.estimate().n_equal == N_TASKS
    problem, requests = ask(judging)
    assert (problem, len(requests)) == (None, N_TASKS)
    judging.write()
    first, second = ((path / "judgements.jsonl").read_bytes() for path in paths)
    assert first == second
    assert len(Replies(paths[0] / "judge-replies.jsonl")) == len(Replies(paths[1] / "judge-replies.jsonl")) == N_TASKS


def test_overall_ratings_are_kept_beside_verdicts(path):
    judged([path])
    overall = as_judge('{"reason": "fine", "evaluation_score": 7}')
    _judging, problem = judged([path], lambda request: overall, options=replace(OPTIONS, method="llm-eval"))
    assert problem is None
    judgements = read_judgements(path / "judgements.jsonl", suite())
    assert [(row.scores, row.reasons) for row in judgements if row.method == "llm-eval"] == [
        ((7.0,), ("fine",))
    ] * N_TASKS
    assert sum(row.method == "checklist" for row in judgements) == N_TASKS


def test_a_process_that_opened_the_runs_earlier_loses_no_judgements_of_another(path):
    early = Judging.open(open_runs([path]), suite(), JudgeOptions("other-2024-08-06"))
    judged([path])
    ask(early)
    early.write()
    rows = [row.judge for row in read_judgements(path / "judgements.jsonl", suite())]
    assert rows == ["judge-2024-08-06"] * N_TASKS + ["other-2024-08-06"] * N_TASKS


def test_imported_judgements_of_the_same_judge_are_not_replaced(path):
    imported = [
        Judgement(answer.id, answer.sha256, (1.0, 1.0, 1.0)[: 3 - number % 2], judge="judge-2024-08-06")
        for number, answer in enumerate(answers_of("mine"))
    ]
    write_judgements(path / "judgements.jsonl", imported)
    with pytest.raises(ChecklistError, match=r"holds imported judgements of judge-2024-08-06, which judging would"):
        Judging.open(open_runs([path]), suite(), OPTIONS)
    judged([path], options=JudgeOptions("other-2024-08-06"))
    assert len(read_judgements(path / "judgements.jsonl", suite())) == 2 * N_TASKS


TALE = ("tales", "short")


def tale(**changes):
    """A change of the checklist of tales."""
    return {"checklists": {**suite().checklists, TALE: replace(suite().checklists[TALE], **changes)}}


CHANGES = {
    "an instruction": (
        lambda: {"tasks": (replace(suite().tasks[0], instruction="Write something else."), *suite().tasks[1:])},
        1,
    ),
    "a question": (lambda: tale(questions=("Is it short?", "Is it good?", "Does it end?")), N_TASKS // 2),
    "fewer questions": (lambda: tale(questions=("Is it short?",), weights=(100,)), N_TASKS // 2),
    "the user message": (
        lambda: {"prompts": replace(prompts(), user="{response} {instruction} Judge these {num_checklist}:")},
        N_TASKS,
    ),
    "the system message": (lambda: {"prompts": replace(prompts(), system=None)}, N_TASKS),
    "a prompt of another method": (lambda: {"prompts": replace(prompts(), overall_user=None)}, 0),
    "a weight": (lambda: tale(weights=(20, 30, 50)), 0),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", CHANGES)
def test_verdicts_from_before_a_change_are_stale_and_left_out_and_requested_again(path, what):
    judged([path])
    change, n_stale = CHANGES[what]
    changed = suite(**change())
    scores = score_runs(changed, open_runs([path]))
    assert scores.n("stale") == n_stale
    assert sum(part.n for part in scores.models[0].areas.values()) == N_TASKS - n_stale
    sentences = missing_sentences(scores)
    assert all(id in " ".join(sentences) for part in scores.models[0].areas.values() for id in part.stale[:3])
    assert len(sentences) == len([part for part in scores.models[0].areas.values() if part.stale])
    judging = Judging.open(open_runs([path]), changed, OPTIONS)
    assert (len(judging.runs[0].stale()), len(judging.open_ratings)) == (n_stale, n_stale)
    assert judged([path], judged_by=changed)[0].runs[0].standing().n_judged == N_TASKS


def test_a_judgement_whose_replies_were_read_by_other_rules_is_stale_and_derived_anew(path, monkeypatch):
    with monkeypatch.context() as before:
        before.delitem(READING, "plain")
        judged([path])
    assert score_runs(suite(), open_runs([path])).n("stale") == N_TASKS
    Judging.open(open_runs([path]), suite(), OPTIONS, offline=True).write()
    assert score_runs(suite(), open_runs([path])).n("stale") == 0


def test_only_the_areas_that_were_named_are_judged_and_others_stay(path):
    judging, _ = judged([path], options=replace(OPTIONS, areas=("letters",)))
    assert judging.runs[0].standing().n_ratings == N_TASKS // 2
    assert len(read_judgements(path / "judgements.jsonl", suite())) == N_TASKS // 2
    judged([path], options=replace(OPTIONS, areas=("tales",)))
    assert len(read_judgements(path / "judgements.jsonl", suite())) == N_TASKS
    judged([path])
    assert [row.id for row in read_judgements(path / "judgements.jsonl", suite())] == [
        task.id for task in suite().tasks
    ]
    with pytest.raises(ChecklistError, match="unknown area 'letter'; expected one of letters, tales"):
        Judging.open(open_runs([path]), suite(), replace(OPTIONS, areas=("letter",)))


def test_each_rating_has_another_seed_and_empty_answers_are_judged(path):
    answers = answers_of("mine")
    run(path, [replace(answers[0], response=" \n"), replace(answers[1], response=""), *answers[2:]])
    judged([path], options=replace(OPTIONS, n_ratings=3))
    judgements = read_judgements(path / "judgements.jsonl", suite())
    assert (len(judgements), {row.temperature for row in judgements}) == (3 * N_TASKS, {1.0})
    by_answer = [{row.scores for row in judgements if row.id == f"T{number:02}"} for number in range(N_TASKS)]
    assert sum(len(scores) > 1 for scores in by_answer) > N_TASKS / 2


@pytest.mark.parametrize("text", ["x" * (5 << 20), "\x1c" * (1 << 20)], ids=["letters", "escapes"])
def test_an_answer_too_long_to_be_sent_is_named_and_a_long_one_is_cut(path, text):
    run(path, [*answers_of("mine")[2:], Answer("T00", text), Answer("T01", "word " * 17_000)])
    judging, problem = judged([path])
    assert problem is None
    assert judging.runs[0].too_long == ("T00",)
    assert (judging.runs[0].standing().n_judged, judging.runs[0].standing().n_cut) == (N_TASKS - 1, 1)
    assert [row.id for row in read_judgements(path / "judgements.jsonl", suite()) if row.cut] == ["T01"]


def test_a_date_or_a_hash_names_a_version():
    assert all(map(names_a_version, ("gpt-4o-2024-08-06", "gpt-4-0613", "claude-20240620", "org/judge@3f2a9bc1")))
    assert not any(map(names_a_version, ("gpt-4o", "org/llama-3.1-70b", "deadbeefs")))
