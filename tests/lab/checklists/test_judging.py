"""Judging: what is asked and costs, and that verdicts follow from kept replies, whatever servers do."""

import hashlib
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.checklists_to_judge import (
    N_TASKS,
    OPTIONS,
    answers_of,
    as_judge,
    ask,
    honest,
    judged,
    prompts,
    reply_of,
    run,
    suite,
    verdicts_of,
)
from makers.fault_server import serving
from makers.kills import is_hidden, judge_by_checklists, killed_everywhere
from pfgen_fast.base.errors import ChecklistError
from pfgen_fast.lab.checklists.checklist_requests import JudgeOptions, Wording
from pfgen_fast.lab.checklists.checklist_runs import Answer, open_runs
from pfgen_fast.lab.checklists.checklist_scoring import score_judged_runs
from pfgen_fast.lab.checklists.checklist_tables import missing_sentences
from pfgen_fast.lab.checklists.judge_runs import Judging
from pfgen_fast.lab.checklists.judgements import Judgement, read_judgements, write_judgements
from pfgen_fast.lab.checklists.tasks import READING, JudgePrompts, sha256_of
from pfgen_fast.lab.words import has_nltk, words


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
        n_questions = len(judgement.verdicts)
        task, verdicts = suite().by_key[answer.id, None], tuple(verdicts_of(content, seed, n_questions))
        by = {"judge": "judge-2024-08-06", "version": "judge-2024-08-06 fp_1", "profile": "plain", "temperature": 0.0}
        by |= {"reasons": tuple(f"reason {question} of {seed}" for question in range(n_questions))}
        by |= {"checklist_sha256": suite().checklist(task).sha256, "instruction_sha256": sha256_of(task.instruction)}
        assert judgement == Judgement(answer.id, answer.sha256, verdicts, prompt_sha256=judgement.prompt_sha256, **by)


def test_overall_ratings_are_kept_beside_verdicts(path):
    judged([path])
    overall = as_judge('{"reason": "fine", "evaluation_score": 7}')
    _judging, problem = judged([path], lambda request: overall, options=replace(OPTIONS, method="llm-eval"))
    assert problem is None
    judgements = read_judgements(path / "judgements.jsonl", suite())
    assert [(row.verdicts, row.reasons) for row in judgements if row.method == "llm-eval"] == [
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
    scores = score_judged_runs(changed, open_runs([path]))
    assert scores.n("stale") == n_stale
    assert sum(part.n for part in scores.models[0].areas.values()) == N_TASKS - n_stale
    sentences = missing_sentences(scores)
    assert all(id in " ".join(sentences) for part in scores.models[0].areas.values() for id in part.gaps["stale"][:3])
    assert len(sentences) == len([part for part in scores.models[0].areas.values() if part.gaps["stale"]])
    judging = Judging.open(open_runs([path]), changed, OPTIONS)
    assert judging.n_open == n_stale
    assert judged([path], judged_by=changed)[0].runs[0].progress().n_judged == N_TASKS


def test_a_judgement_whose_replies_were_read_by_other_rules_is_stale_and_derived_anew(path, monkeypatch):
    with monkeypatch.context() as before:
        before.delitem(READING, "plain")
        judged([path])
    assert score_judged_runs(suite(), open_runs([path])).n("stale") == N_TASKS
    Judging.open(open_runs([path]), suite(), OPTIONS, offline=True).write()
    assert score_judged_runs(suite(), open_runs([path])).n("stale") == 0


def test_each_rating_has_another_seed_and_empty_answers_are_judged(path):
    answers = answers_of("mine")
    run(path, [replace(answers[0], response=" \n"), replace(answers[1], response=""), *answers[2:]])
    judged([path], options=replace(OPTIONS, n_ratings=3))
    judgements = read_judgements(path / "judgements.jsonl", suite())
    assert (len(judgements), {row.temperature for row in judgements}) == (3 * N_TASKS, {1.0})
    by_answer = [{row.verdicts for row in judgements if row.id == f"T{number:02}"} for number in range(N_TASKS)]
    assert sum(len(scores) > 1 for scores in by_answer) > N_TASKS / 2


@pytest.mark.parametrize("text", ["x" * (5 << 20), "\x1c" * (1 << 20)], ids=["letters", "escapes"])
def test_an_answer_too_long_to_be_sent_is_named_and_a_long_one_is_cut(path, text):
    run(path, [*answers_of("mine")[2:], Answer("T00", text), Answer("T01", "word " * 17_000)])
    judging, problem = judged([path])
    assert problem == "1 request is longer than 4 MiB and therefore not sent"
    assert (judging.runs[0].progress().n_judged, judging.runs[0].progress().n_open) == (N_TASKS - 1, 1)
    assert [row.id for row in read_judgements(path / "judgements.jsonl", suite()) if row.cut] == ["T01"]


# ---- Servers that cut and lie, and kills: the same judgements follow

CUT = '[{"checklist_id": 0, "evaluation_score": 1}, {"checklist_id": 1, "eval'


def cut_at_first(request):
    return as_judge(CUT, finish_reason="length") if request.again == 0 else honest(request)


def test_a_reply_that_cannot_be_used_is_kept_and_asked_again_with_the_next_seed(path):
    judging, problem = judged([path], cut_at_first)
    assert problem is None
    progress = judging.runs[0].progress()
    assert (progress.n_judged, progress.unjudged) == (N_TASKS, ())
    assert {judgement.tries for judgement in judging.runs[0].judgements()} == {2}
    entries = [json.loads(line) for line in (path / "judge-replies.jsonl").read_text().splitlines()]
    assert len(entries) == 2 * N_TASKS
    assert [entry["finish_reason"] for entry in entries if entry["reply"] == CUT] == ["length"] * N_TASKS
    assert len({entry["request"]["parameters"]["seed"] for entry in entries}) == 2 * N_TASKS
    before = (path / "judgements.jsonl").read_bytes()
    judged([path], honest, options=replace(OPTIONS, n_tries=1))  # a stored reply counts even beyond the tries
    assert (path / "judgements.jsonl").read_bytes() == before


def test_after_all_tries_an_answer_is_unjudged_with_its_last_fault(path):
    def behave(request):
        return as_judge("no" if request.again < 2 else "[]") if "number 3." in request.prompt else honest(request)

    judging, problem = judged([path], behave)
    assert problem is None
    progress = judging.runs[0].progress()
    assert (progress.n_judged, progress.n_open, progress.unjudged) == (N_TASKS - 1, 0, (("T03", "number"),))
    (row,) = [row for row in read_judgements(path / "judgements.jsonl", suite()) if row.id == "T03"]
    assert (row.verdicts, row.reasons, row.tries, row.fault) == (None, (), 3, "number")
    again = Judging.open(open_runs([path]), suite(), OPTIONS)
    assert again.n_open == 0  # three tries are all
    more = Judging.open(open_runs([path]), suite(), replace(OPTIONS, n_tries=5))
    assert more.n_open == 1
    fewer = Judging.open(open_runs([path]), suite(), replace(OPTIONS, n_tries=1))
    assert fewer.n_open == 0


def test_the_version_comes_from_the_server(path):
    def behave(request):
        model = "judge-2024-08-06" if "number 1" in request.prompt else "judge-2024-11-20"
        return as_judge(reply_of(request.prompt, request.body["seed"]), model=model)

    judging, _ = judged([path], behave)
    assert judging.runs[0].progress().versions == ("judge-2024-11-20 fp_1", "judge-2024-08-06 fp_1")


FAULTS = ["no list", '[{"checklist_id": 0, "evalu', "", "[]"]


def lying(request):
    """Depends on nothing but the request: a third of the replies cannot be used."""
    seed = request.body["seed"]
    digest = hashlib.sha256(f"{request.prompt}{seed}".encode()).digest()
    return as_judge(FAULTS[digest[1] % 4] if digest[0] % 3 == 0 else reply_of(request.prompt, seed))


@pytest.mark.slow
def test_a_kill_before_any_change_ends_in_the_same_files(tmp_path):
    before = tmp_path / "before"
    run(before / "mine", answers_of("mine", 5))
    (tmp_path / "attempts").mkdir()
    with serving(lying) as server:
        whole, attempts = killed_everywhere(tmp_path / "attempts", judge_by_checklists, server.base_url, before=before)
    names = {"mine/answers.jsonl", "mine/config.json", "mine/judge-replies.jsonl", "mine/judgements.jsonl"}
    assert set(whole) == names
    assert len(attempts) > len(whole["mine/judge-replies.jsonl"].splitlines())
    for attempt in attempts:
        visible = {name: content for name, content in attempt.again.items() if not is_hidden(name)}
        assert set(visible) == names, attempt.point
        assert visible["mine/judgements.jsonl"] == whole["mine/judgements.jsonl"], attempt.point
        kept = attempt.killed.get("mine/judge-replies.jsonl", b"")
        assert visible["mine/judge-replies.jsonl"].startswith(kept), attempt.point  # no reply is lost
        assert attempt.killed.get("mine/judgements.jsonl") in (None, whole["mine/judgements.jsonl"])  # whole or not


# ---- What a judge is sent: prompts filled in once, answers as each profile shows them, seeds, keys that never change


SUITE = suite()
TASK = SUITE.tasks[0]
CHECKLIST = SUITE.checklist(TASK)


def request(response, *, profile="plain", method="checklist", seed="", **numbers):
    wording = Wording(SUITE, JudgeOptions("judge-2024-08-06", profile, method, seed=seed))
    return wording.request(TASK.key, TASK.instruction, CHECKLIST, response, **numbers)


def test_a_request_holds_instruction_answer_and_questions_and_its_key_never_changes():
    assert request("An answer.").key[:16] == "e32523cd2eec55ff"
    assert request("An answer.", try_number=2, rating=3, seed="s").key[:16] == "acfec343c4cde437"
    created = request("An answer.\n\nIts end.")
    assert created.messages == [
        {"role": "system", "content": "You judge by lists."},
        {
            "role": "user",
            "content": 'Asked: {"instruction": Write number 0.}\nAnswered: {"response": An answer.\n\nIts end.}\n'
            'Judge these 3: [{"checklist_id": 0, "checklist_content": "Is it short?"}, '
            '{"checklist_id": 1, "checklist_content": "Is it a tale?"}, '
            '{"checklist_id": 2, "checklist_content": "Does it end?"}]',
        },
    ]


def test_overall_ratings_show_no_questions_or_a_plain_list_of_them():
    overall, shown = (request("A.", method=method) for method in ("llm-eval", "llm-eval-c"))
    assert overall.messages[0]["content"] == "You judge as a whole."
    assert "short" not in overall.messages[1]["content"]
    assert [message["role"] for message in shown.messages] == ["user"]
    assert '["Is it short?", "Is it a tale?", "Does it end?"]' in shown.messages[0]["content"]


def test_each_try_and_each_rating_has_a_seed_of_its_own():
    numbers = [(item, rating) for item in (1, 2, 3) for rating in (1, 2, 3)]
    for profile in ("plain", "upstream"):
        seeds = {request("A.", profile=profile, try_number=item, rating=rating).seed for item, rating in numbers}
        assert len(seeds) == len(numbers)
    assert request("A.", profile="upstream").seed == 42
    assert request("A.", profile="upstream", try_number=2).seed == 43
    assert request("A.", profile="upstream", seed="7").seed == 7
    assert request("A.").seed != request("A.", seed="other").seed
    with pytest.raises(ChecklistError, match="expected a whole number for the profile upstream"):
        request("A.", profile="upstream", seed="x")


def test_upstream_shows_words_joined_by_single_blanks():
    wording = Wording(SUITE, JudgeOptions("j", "upstream"))
    shown, cut = wording.shown("One,  two\n\nthree.")
    assert (shown, cut) == ("One , two three .", False)
    assert wording.profile_name.startswith("upstream (nltk " if has_nltk() else "upstream (regex)")
    assert Wording(SUITE, JudgeOptions("j")).shown("One,  two\n\nthree.") == ("One,  two\n\nthree.", False)


@pytest.mark.parametrize(
    ("n_words", "n_shown"), [(15_000, 15_000), (15_001, 15_001), (16_000, 16_000), (16_001, 16_000)]
)
def test_a_long_answer_is_cut_after_16000_words(n_words, n_shown):
    response = "\n".join(f"w{number}" for number in range(n_words))
    for profile in ("plain", "upstream"):
        shown, cut = Wording(SUITE, JudgeOptions("j", profile)).shown(response)
        assert (len(words(shown)), cut) == (n_shown, n_words > n_shown)
        assert shown.endswith(f"w{n_shown - 1}")
    assert "\n" in Wording(SUITE, JudgeOptions("j")).shown(response)[0]


VALUES = st.text(st.sampled_from("{} response\\n%\"'[]"))


@given(VALUES, VALUES)
def test_braces_and_names_of_places_in_values_mean_nothing(instruction, response):
    prompts = JudgePrompts('{{"a": {instruction}}} {{}} {response}')
    wording = Wording(suite(prompts=prompts), JudgeOptions("j"))
    (message,) = wording.request(TASK.key, instruction, CHECKLIST, response).messages
    assert message["content"] == f'{{"a": {instruction}}} {{}} {response}'


def test_an_unknown_place_is_refused_before_anything_is_asked():
    prompts = JudgePrompts("{answer} {response}")
    with pytest.raises(ChecklistError, match="the suite small: unknown placeholder 'answer'; expected one of "):
        Wording(suite(prompts=prompts), JudgeOptions("j"))
    with pytest.raises(ChecklistError, match="the suite small has no prompt for the method llm-eval-c"):
        Wording(suite(prompts=JudgePrompts("{response}")), JudgeOptions("j", method="llm-eval-c"))


def test_the_hash_of_prompts_depends_on_everything_that_is_sent():
    hashes = {
        Wording(SUITE, JudgeOptions("j", profile, method)).prompt_sha256
        for profile in ("plain", "upstream")
        for method in ("checklist", "llm-eval", "llm-eval-c")
    }
    changed = replace(SUITE.prompts, system="You judge strictly.")
    hashes.add(Wording(suite(prompts=changed), JudgeOptions("j")).prompt_sha256)
    assert len(hashes) == 7
