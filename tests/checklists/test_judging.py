"""Judging: whatever a server does and whenever asking stops, the same judgements follow in the end."""

from __future__ import annotations

import json
import threading
from dataclasses import replace

import pytest
from makers.checklists_to_judge import N_TASKS, answers_of, reply_of, run, suite, verdicts_of
from makers.fault_server import Reply, refusing, serving
from makers.judges import FakeEngine
from pfgen_fast.checklists.batches import read_batch, write_batch
from pfgen_fast.checklists.judgement_files import read_judgements, write_judgements
from pfgen_fast.checklists.judgements import Judgement
from pfgen_fast.checklists.judging import Judging, kept_by_others, names_a_version
from pfgen_fast.checklists.places import JudgeOptions
from pfgen_fast.checklists.runs import Answer, open_runs
from pfgen_fast.checklists.sentinels import open_sentinel
from pfgen_fast.errors import ChecklistError, EngineError, JudgingError
from pfgen_fast.judging import Prices, Replies, Server, Spending

OPTIONS = JudgeOptions("judge-2024-08-06")


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


def as_judge(text, *, model="judge-2024-08-06", fingerprint="fp_1", finish_reason="stop"):
    choice = {"index": 0, "finish_reason": finish_reason, "message": {"role": "assistant", "content": text}}
    return Reply(json.dumps({"model": model, "system_fingerprint": fingerprint, "choices": [choice]}).encode())


def honest(request):
    return as_judge(reply_of(request.prompt, request.body["seed"]))


def ask(judging, behave=honest, *, spending=None, **options):
    options = {"backoff": 0.001, "retries": 2, "timeout": 20.0, **options}
    with serving(behave) as server:
        problem = judging.ask(Server(server.base_url, **options).engine, spending=spending)
        return problem, server.requests


def judged(paths, behave=honest, *, options=OPTIONS, of=None, **server):
    """Judges runs to the end; returns the judging and what stopped it."""
    judging = Judging.open(open_runs(paths), of or suite(), options)
    problem, _ = ask(judging, behave, **server)
    judging.write()
    return judging, problem


@pytest.fixture
def path(tmp_path):
    return run(tmp_path / "mine").folder


@pytest.fixture
def expected(tmp_path_factory):
    """The bytes of the judgements that follow when nothing goes wrong."""
    folder = tmp_path_factory.mktemp("whole") / "mine"
    run(folder)
    judged([folder])
    return (folder / "judgements.jsonl").read_bytes()


def test_verdicts_and_reasons_come_from_the_replies(path):
    _, problem = judged([path])
    assert problem is None
    found = read_judgements(path / "judgements.jsonl", suite())
    assert [judgement.id for judgement in found] == [answer.id for answer in answers_of("mine")]
    entries = [json.loads(line) for line in (path / "judge-replies.jsonl").read_text().splitlines()]
    by_content = {entry["request"]["messages"][-1]["content"]: entry for entry in entries}
    for judgement, answer in zip(found, answers_of("mine"), strict=True):
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
            profile="plain",
            temperature=0.0,
        )


def test_nothing_is_asked_twice(path):
    judged([path])
    judging = Judging.open(open_runs([path]), suite(), OPTIONS)
    assert judging.estimate().sentence("ratings").startswith("12 ratings (12 stored already); 0 requests")
    problem, requests = ask(judging)
    assert (problem, requests) == (None, [])


def stalling(request):
    if request.number % 5 == 0:
        threading.Event().wait(1.5)
    return honest(request)


def cutting(request):
    reply = honest(request)
    return replace(reply, n_bytes=len(reply.body) // 2) if request.again == 0 else reply


def failing(request):
    return refusing(503, "busy", Retry_After="0") if request.again == 0 else honest(request)


def no_json(request):
    return Reply(b"<html>") if request.number < 3 else honest(request)


@pytest.mark.parametrize("behave", [stalling, cutting, failing, no_json])
def test_a_server_in_trouble_ends_in_the_same_file(path, expected, behave):
    options = {"timeout": 0.5} if behave is stalling else {}
    for _ in range(8):
        _, problem = judged([path], behave, **options)
        if problem is None:
            break
    assert problem is None
    assert (path / "judgements.jsonl").read_bytes() == expected


FAULTY = {
    "prose": "Well, it is fine.",
    "empty": "",
    "cut short": '[{"checklist_id": 0, "evaluation_score": 1}, {"checklist_id": 1, "eval',
    "one too many": json.dumps([{"checklist_id": id, "evaluation_score": 1} for id in range(9)]),
    "repeated": json.dumps([{"checklist_id": 0, "evaluation_score": 1}] * 3),
    "between": json.dumps([{"checklist_id": id, "evaluation_score": 0.3} for id in range(2)]),
}


def is_first_try(request):
    return request.again == 0


@pytest.mark.parametrize("lie", FAULTY)
def test_a_reply_that_cannot_be_used_is_kept_and_asked_again_with_the_next_seed(path, lie):
    def behave(request):
        return as_judge(FAULTY[lie], finish_reason="length") if is_first_try(request) else honest(request)

    judging, problem = judged([path], behave)
    assert problem is None
    standing = judging.runs[0].standing()
    assert (standing.n_judged, standing.unjudged) == (N_TASKS, ())
    assert {judgement.tries for judgement in judging.runs[0].judgements()} == {2}
    entries = [json.loads(line) for line in (path / "judge-replies.jsonl").read_text().splitlines()]
    assert len(entries) == 2 * N_TASKS
    assert [entry["finish_reason"] for entry in entries if entry["reply"] == FAULTY[lie]] == ["length"] * N_TASKS
    assert len({entry["request"]["parameters"]["seed"] for entry in entries}) == 2 * N_TASKS


def test_after_all_tries_an_answer_is_unjudged_with_its_last_fault(path):
    def behave(request):
        return as_judge("no" if request.again < 2 else "[]") if "number 3." in request.prompt else honest(request)

    judging, problem = judged([path], behave)
    assert problem is None
    standing = judging.runs[0].standing()
    assert (standing.n_judged, standing.n_open, standing.unjudged) == (N_TASKS - 1, 0, (("T03", "number"),))
    (row,) = [row for row in read_judgements(path / "judgements.jsonl", suite()) if row.id == "T03"]
    assert (row.scores, row.reasons, row.tries, row.fault) == (None, (), 3, "number")
    again = Judging.open(open_runs([path]), suite(), OPTIONS)
    assert again.n_open == 0  # three tries are all
    more = Judging.open(open_runs([path]), suite(), replace(OPTIONS, n_tries=5))
    assert more.n_open == 1
    fewer = Judging.open(open_runs([path]), suite(), replace(OPTIONS, n_tries=1))
    assert fewer.n_open == 0


def test_replies_that_are_there_count_even_beyond_the_tries(path):
    judged([path], lambda request: as_judge("no") if is_first_try(request) else honest(request))
    before = (path / "judgements.jsonl").read_bytes()
    judged([path], honest, options=replace(OPTIONS, n_tries=1))
    assert (path / "judgements.jsonl").read_bytes() == before


def test_a_judge_that_says_the_same_of_everything_is_taken_at_its_word_where_it_fits(path):
    same = json.dumps([{"checklist_id": id, "evaluation_score": 1} for id in range(2)])
    judging, _ = judged([path], lambda request: as_judge(same))
    standing = judging.runs[0].standing()
    assert standing.n_judged == N_TASKS // 2  # the letters have two questions
    assert {fault for _, fault in standing.unjudged} == {"number"}


def test_a_server_that_refuses_all_ends_the_asking_and_what_came_before_is_kept(path, expected):
    judging = Judging.open(open_runs([path]), suite(), OPTIONS)
    with pytest.raises(EngineError, match="expired"):
        ask(judging, lambda r: honest(r) if r.number < 5 else refusing(401, "expired"), concurrency=1)
    judging.write()
    assert len(read_judgements(path / "judgements.jsonl", suite())) == 5
    judged([path])
    assert (path / "judgements.jsonl").read_bytes() == expected


def test_requests_without_a_reply_are_said_and_asked_for_next_time(path, expected):
    judging, problem = judged([path], lambda r: refusing(500, "no") if "number 3." in r.prompt else honest(r))
    assert problem.startswith("1 requests had no reply (")
    assert judging.runs[0].standing().n_open == 1
    _, problem = judged([path])
    assert problem is None
    assert (path / "judgements.jsonl").read_bytes() == expected


def test_the_cost_is_said_beforehand_and_the_budget_never_exceeded(tmp_path):
    paths = [run(tmp_path / name).folder for name in ("a", "b")]
    prices = Prices(100, 1000)
    judging = Judging.open(open_runs(paths), suite(), OPTIONS)
    estimate = judging.estimate(prices)
    assert (estimate.n_replies, estimate.n_requests, estimate.n_reply_tokens) == (24, 24, 24 * 4096)
    assert estimate.cost == pytest.approx(prices.cost(estimate.n_prompt_tokens, 24 * 4096))
    assert judging.likely_reply_tokens() == 12 * (3 + 2) * 65
    spending = Spending(prices, 5.0)
    problem, requests = ask(judging, spending=spending)
    assert problem.startswith("the budget of 5 is used up after")
    assert spending.cost <= 5
    assert 0 < len(requests) < 24
    counts = [one.standing() for one in judging.runs]
    assert sum(one.n_judged for one in counts) == len(requests)
    assert all(one.n_judged > 0 for one in counts)  # by hash, so models get on alike


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


def test_several_ratings_have_other_seeds(path):
    options = replace(OPTIONS, n_ratings=3)
    _judging, _ = judged([path], options=options)
    found = read_judgements(path / "judgements.jsonl", suite())
    assert len(found) == 3 * N_TASKS
    assert {row.temperature for row in found} == {1.0}
    by_answer = [{row.scores for row in found if row.id == f"T{number:02}"} for number in range(N_TASKS)]
    assert sum(len(scores) > 1 for scores in by_answer) > N_TASKS / 2


@pytest.mark.parametrize("method", ["llm-eval", "llm-eval-c"])
def test_overall_ratings_are_kept_beside_verdicts(path, method):
    judged([path])
    overall = as_judge('{"reason": "fine", "evaluation_score": 7}')
    _judging, problem = judged([path], lambda request: overall, options=replace(OPTIONS, method=method))
    assert problem is None
    found = read_judgements(path / "judgements.jsonl", suite())
    assert [(row.scores, row.reasons) for row in found if row.method == method] == [((7.0,), ("fine",))] * N_TASKS
    assert sum(row.method == "checklist" for row in found) == N_TASKS


def test_judgements_of_other_judges_stay_in_the_same_order_whoever_comes_first(tmp_path):
    contents = []
    for order in (("j-2024-01-01", "j-2025-01-01"), ("j-2025-01-01", "j-2024-01-01", "j-2025-01-01")):
        folder = tmp_path / str(len(contents)) / "mine"
        run(folder)
        for model in order:
            judged([folder], options=JudgeOptions(model))
        contents.append((folder / "judgements.jsonl").read_bytes())
    assert contents[0] == contents[1]
    assert contents[0].count(b"\n") == 2 * N_TASKS


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


def test_what_was_said_of_another_answer_is_stale_and_asked_for_anew(path):
    judged([path])
    answers, former = answers_of("mine"), (path / "judgements.jsonl").read_bytes()
    run(path, [replace(answers[0], response="Something new."), *answers[1:]])
    (path / "judgements.jsonl").write_bytes(former)
    judging = Judging.open(open_runs([path]), suite(), OPTIONS)
    assert judging.stale(judging.runs[0]) == ["T00"]
    problem, requests = ask(judging)
    assert (problem, len(requests)) == (None, 1)
    judging.write()
    assert judging.stale(judging.runs[0]) == []


def test_a_checklist_that_was_changed_makes_its_judgements_stale(path):
    judged([path])
    changed = suite()
    key = ("tales", "short")
    other = replace(changed.checklists[key], questions=("Is it short?", "Is it a good tale?", "Does it end?"))
    changed = suite(checklists={**changed.checklists, key: other})
    judging = Judging.open(open_runs([path]), changed, OPTIONS)
    assert len(judging.stale(judging.runs[0])) == N_TASKS // 2
    assert judging.n_open == N_TASKS // 2


def test_only_the_areas_that_were_named_are_judged_and_others_stay(path, expected):
    judging, _ = judged([path], options=replace(OPTIONS, areas=("letters",)))
    assert judging.runs[0].standing().n_ratings == N_TASKS // 2
    assert len(read_judgements(path / "judgements.jsonl", suite())) == N_TASKS // 2
    judged([path], options=replace(OPTIONS, areas=("tales",)))
    assert len(read_judgements(path / "judgements.jsonl", suite())) == N_TASKS
    judged([path])
    assert (path / "judgements.jsonl").read_bytes() == expected
    with pytest.raises(ChecklistError, match="unknown area 'letter'; expected one of letters, tales"):
        Judging.open(open_runs([path]), suite(), replace(OPTIONS, areas=("letter",)))


def test_a_task_without_its_whole_instruction_is_refused_with_the_first_three(path):
    tasks = suite().tasks
    holey = (*(replace(task, instruction=None) for task in tasks[:4]), replace(tasks[4], sha256="0" * 64), *tasks[5:])
    with pytest.raises(
        ChecklistError, match=r"lacks the whole instruction of 5 tasks, such as T00, T01, T02; expected"
    ):
        Judging.open(open_runs([path]), suite(tasks=holey), OPTIONS)


def test_a_run_without_answers_is_refused(tmp_path):
    write_judgements(tmp_path / "judgements.jsonl", [Judgement("T00", "0" * 64, (1.0, 1.0, 1.0))])
    with pytest.raises(ChecklistError, match="holds no answers"):
        Judging.open(open_runs([tmp_path]), suite(), OPTIONS)


def test_empty_answers_are_judged_like_any_other_or_get_0_without_asking(path):
    answers = answers_of("mine")
    run(path, [replace(answers[0], response=" \n"), replace(answers[1], response=""), *answers[2:]])
    judging, _ = judged([path])
    assert judging.runs[0].standing().n_given == 0
    zero = replace(OPTIONS, model="zero-2024-08-06", empty="zero")
    judging, _ = judged([path], options=zero)
    assert judging.runs[0].standing().n_given == 2
    assert len(Replies(path / "judge-replies.jsonl")) == 2 * N_TASKS - 2
    rows = [row for row in read_judgements(path / "judgements.jsonl", suite()) if row.judge == zero.model]
    assert [(row.scores, row.tries) for row in rows[:2]] == [((0.0, 0.0, 0.0), 0), ((0.0, 0.0), 0)]
    assert {row.version for row in rows} == {"judge-2024-08-06 fp_1"}  # one version, so that a table can be made


def test_an_answer_too_long_to_be_sent_is_left_out_and_named(path):
    run(path, [*answers_of("mine")[1:], Answer("T00", "x" * (5 << 20))])
    judging, problem = judged([path])
    assert problem is None
    assert judging.runs[0].too_long == ("T00",)
    assert judging.runs[0].standing().n_judged == N_TASKS - 1


def test_a_long_answer_is_cut_and_the_judgement_says_so(path):
    run(path, [*answers_of("mine")[1:], Answer("T00", "word " * 17_000)])
    judging, _ = judged([path])
    assert judging.runs[0].standing().n_cut == 1
    assert [row.id for row in read_judgements(path / "judgements.jsonl", suite()) if row.cut] == ["T00"]


def test_offline_judgements_follow_from_the_replies_alone(path, expected):
    with pytest.raises(JudgingError, match=r"judge-replies\.jsonl: no such file; expected the replies"):
        Judging.open(open_runs([path]), suite(), OPTIONS, offline=True)
    judged([path])
    (path / "judgements.jsonl").unlink()
    Judging.open(open_runs([path]), suite(), OPTIONS, offline=True).write()
    assert (path / "judgements.jsonl").read_bytes() == expected


def test_replies_of_another_judge_are_named(path):
    judged([path])
    judging = Judging.open(open_runs([path]), suite(), JudgeOptions("other"), offline=True)
    assert judging.n_open == N_TASKS
    (sentence,) = kept_by_others(judging)
    assert sentence.endswith("judge-replies.jsonl: holds replies of judge-2024-08-06, and none of other")
    assert kept_by_others(Judging.open(open_runs([path]), suite(), OPTIONS)) == []


def test_a_torn_last_line_is_asked_for_again_and_others_are_kept(path, expected):
    judged([path])
    replies = path / "judge-replies.jsonl"
    replies.write_bytes(replies.read_bytes()[:-20])
    judging = Judging.open(open_runs([path]), suite(), OPTIONS)
    problem, requests = ask(judging)
    assert (problem, len(requests)) == (None, 1)
    judging.write()
    assert (path / "judgements.jsonl").read_bytes() == expected


def test_a_second_process_is_refused(path):
    judging = Judging.open(open_runs([path]), suite(), OPTIONS)
    with Replies(path / "judge-replies.jsonl").adding(), pytest.raises(JudgingError, match="another process is adding"):
        ask(judging)


def test_the_version_is_what_the_server_says(path):
    def behave(request):
        reply = honest(request)
        model = "judge-2024-08-06" if "number 1" in request.prompt else "judge-2024-11-20"
        return as_judge(json.loads(reply.body)["choices"][0]["message"]["content"], model=model)

    judging, _ = judged([path], behave)
    assert judging.runs[0].standing().versions == (("judge-2024-11-20 fp_1", 9), ("judge-2024-08-06 fp_1", 3))


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("gpt-4o-2024-08-06", True),
        ("gpt-4-0613", True),
        ("claude-3-5-sonnet-20240620", True),
        ("org/judge@3f2a9bc1", True),
        ("gpt-4o", False),
        ("org/llama-3.1-70b", False),
        ("deadbeefs", False),
    ],
)
def test_a_date_or_a_hash_names_a_version(model, expected):
    assert names_a_version(model) is expected


HOSTILE = ["\x1b[2J\x00\u202e", "{response} {{ }} {}", '"}]\n[{"checklist_id": 0}]', "水" * 100, "'" * 50, "```"]


def test_hostile_answers_are_sent_as_they_are(path):
    run(path, [Answer(f"T{number:02}", text) for number, text in enumerate(HOSTILE)])
    judging, problem = judged([path])
    assert problem is None
    entries = [json.loads(line) for line in (path / "judge-replies.jsonl").read_bytes().splitlines()]
    contents = "\n".join(entry["request"]["messages"][-1]["content"] for entry in entries)
    for text in HOSTILE:
        assert text in contents
    assert judging.runs[0].standing().n_judged == len(HOSTILE)


def test_an_answer_that_cannot_be_read_is_named_and_the_others_are_judged(path, expected):
    run(path, answers_of("mine")[:-1])
    for file in path.glob("answers*"):
        file.unlink()
    lines = [json.dumps({"id": answer.id, "response": answer.response}) for answer in answers_of("mine")[:-1]]
    lines += [
        json.dumps({"id": "T11", "response": "\ud800"}),
        "[" * 100_000,
        "no JSON",
    ]
    (path / "answers.jsonl").write_bytes("\n".join(lines).encode() + b"\n\xff\n")
    judging, problem = judged([path])
    assert problem is None
    assert [f"line {number}" in fault for number, fault in enumerate(judging.runs[0].faults, start=12)] == [True] * 4
    assert judging.runs[0].standing().n_judged == N_TASKS - 1


def batch_output(path, target, reply=reply_of, **changes):
    """What a Batch API makes of an input file."""
    lines = []
    for line in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
        body = line["body"]
        text = reply(body["messages"][-1]["content"], body["seed"])
        answered = json.loads(as_judge(text).body)
        response = {"status_code": 200, "body": answered}
        lines.append({"custom_id": line["custom_id"], "response": response, "error": None, **changes})
    target.write_text("".join(json.dumps(line) + "\n" for line in reversed(lines)))
    return lines


def test_a_batch_ends_in_the_same_file(path, expected, tmp_path):
    judging = Judging.open(open_runs([path]), suite(), OPTIONS)
    assert write_batch(judging, tmp_path / "in.jsonl") == N_TASKS
    first = json.loads((tmp_path / "in.jsonl").read_text().splitlines()[0])
    assert (first["method"], first["url"]) == ("POST", "/v1/chat/completions")
    assert (first["body"]["model"], first["body"]["max_tokens"]) == ("judge-2024-08-06", 4096)
    batch_output(tmp_path / "in.jsonl", tmp_path / "out.jsonl")
    assert read_batch(judging, [tmp_path / "out.jsonl"]).n_new == N_TASKS
    judging.write()
    assert (path / "judgements.jsonl").read_bytes() == expected
    again = Judging.open(open_runs([path]), suite(), OPTIONS)
    taken = read_batch(again, [tmp_path / "out.jsonl"])
    assert (taken.n_new, taken.problems) == (0, ())
    assert write_batch(again, tmp_path / "none.jsonl") == 0


def test_the_next_batch_holds_the_next_tries(path, tmp_path):
    judging = Judging.open(open_runs([path]), suite(), OPTIONS)
    for number in range(3):
        assert write_batch(judging, tmp_path / "in.jsonl") == N_TASKS
        batch_output(tmp_path / "in.jsonl", tmp_path / f"{number}.jsonl", lambda content, seed: "no")
        read_batch(judging, [tmp_path / f"{number}.jsonl"])
    assert write_batch(judging, tmp_path / "in.jsonl") == 0
    assert len(judging.runs[0].standing().unjudged) == N_TASKS


def test_bad_lines_of_a_batch_are_named_and_the_others_taken(path, tmp_path):
    judging = Judging.open(open_runs([path]), suite(), OPTIONS)
    write_batch(judging, tmp_path / "in.jsonl")
    lines = batch_output(tmp_path / "in.jsonl", tmp_path / "out.jsonl")
    lines[0] = {**lines[0], "response": None, "error": {"message": "expired"}}
    lines[1] = {**lines[1], "custom_id": "of another"}
    lines[2] = {**lines[2], "response": {"status_code": 500, "body": {"error": {"message": "oops"}}}}
    content = "".join(json.dumps(line) + "\n" for line in lines)
    (tmp_path / "out.jsonl").write_text(content + '{"custom_id": "torn')
    taken = read_batch(judging, [tmp_path / "out.jsonl", tmp_path / "none.jsonl"])
    assert taken.n_new == N_TASKS - 3
    failed, other, status, torn, none = taken.problems
    assert "out.jsonl, line 1" in failed
    assert failed.endswith("failed: expired")
    assert "line 2 (of another): is the reply to another request" in other
    assert "failed with HTTP 500: oops" in status
    assert "line 13" in torn
    assert "none.jsonl" in none
    assert judging.n_open == 3


def test_a_batch_of_other_requests_is_refused(path, tmp_path):
    judging = Judging.open(open_runs([path]), suite(), OPTIONS)
    write_batch(judging, tmp_path / "in.jsonl")
    batch_output(tmp_path / "in.jsonl", tmp_path / "out.jsonl")
    other = Judging.open(open_runs([path]), suite(), JudgeOptions("other"))
    with pytest.raises(ChecklistError, match="is the reply to another request; expected one about these runs"):
        read_batch(other, [tmp_path / "out.jsonl"])


def asked_with_sentinel(path, behave, n_answers=5):
    judging = Judging.open(open_runs([path]), suite(), OPTIONS)
    sentinel = open_sentinel(judging.runs[0], n_answers)
    if sentinel is None:
        ask(judging, behave)
        judging.write()
        return None
    ask(Judging([*judging.runs, sentinel.now]), behave)
    judging.write()
    sentinel.write()
    return sentinel


def test_a_sentinel_asks_anew_about_some_answers_and_keeps_both_sides(path, expected):
    assert asked_with_sentinel(path, honest) is None  # nothing to compare with
    same = asked_with_sentinel(path, honest)
    assert (same.is_complete, same.n_equal, same.path.name) == (True, 5, "001.jsonl")

    def strict(request):
        listed = json.loads(json.loads(honest(request).body)["choices"][0]["message"]["content"])
        lower = [{**entry, "evaluation_score": max(0, entry["evaluation_score"] - 0.25)} for entry in listed]
        return as_judge(json.dumps(lower), fingerprint="fp_2")

    changed = asked_with_sentinel(path, strict)
    assert changed.path.name == "002.jsonl"
    before, now = changed.sides()
    assert len(before) == len(now) == 5
    assert changed.n_equal < 5
    assert {row.version for row in now} == {"judge-2024-08-06 fp_2"}
    assert [row.key for row in before] == [row.key for row in read_judgements(changed.path, suite())]
    assert (path / "judgements.jsonl").read_bytes() == expected  # tables stay as they were


def test_a_sentinel_that_was_interrupted_is_continued(path):
    asked_with_sentinel(path, honest)
    half = asked_with_sentinel(path, lambda r: refusing(500, "no") if "number 3" in r.prompt else honest(r), N_TASKS)
    assert not half.is_complete
    assert not half.path.exists()
    n_kept = len(half.now.replies)
    assert 0 < n_kept < N_TASKS
    whole = asked_with_sentinel(path, honest, N_TASKS)
    assert (whole.path, whole.is_complete, whole.n_equal) == (half.path, True, N_TASKS)


def test_an_engine_that_says_nothing_of_itself_can_judge_too(path):
    judging = Judging.open(open_runs([path]), suite(), OPTIONS)
    engine = FakeEngine(lambda request: reply_of(request.prompt.messages[-1]["content"], request.seed))
    assert judging.ask(lambda judge: engine) is None
    assert {row.version for row in judging.runs[0].judgements()} == {None}


@pytest.mark.parametrize("numbers", [{"n_tries": 0}, {"n_ratings": 0}])
def test_less_than_one_try_or_rating_is_refused(numbers):
    with pytest.raises(ChecklistError, match="expected at least 1 of each"):
        JudgeOptions("j", **numbers)
