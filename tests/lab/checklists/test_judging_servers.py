"""Judging by servers that cut and lie, by batches, and killed: the same judgements follow."""

import hashlib
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.checklists_to_judge import N_TASKS, OPTIONS, answers_of, as_judge, honest, judged, reply_of, run, suite
from makers.fault_server import serving
from makers.kills import is_hidden, judge_by_checklists, killed_everywhere
from pfgen_fast.base.errors import ChecklistError
from pfgen_fast.lab.checklists.checklist_requests import JudgeOptions
from pfgen_fast.lab.checklists.checklist_runs import open_runs
from pfgen_fast.lab.checklists.judge_runs import Judging
from pfgen_fast.lab.checklists.judgements import read_judgements
from pfgen_fast.lab.checklists.tasks import Prompts
from pfgen_fast.lab.checklists.words import has_nltk, words

CUT = '[{"checklist_id": 0, "evaluation_score": 1}, {"checklist_id": 1, "eval'


def cut_at_first(request):
    return as_judge(CUT, finish_reason="length") if request.again == 0 else honest(request)


def test_a_reply_that_cannot_be_used_is_kept_and_asked_again_with_the_next_seed(path):
    judging, problem = judged([path], cut_at_first)
    assert problem is None
    standing = judging.runs[0].standing()
    assert (standing.n_judged, standing.unjudged) == (N_TASKS, ())
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
    standing = judging.runs[0].standing()
    assert (standing.n_judged, standing.n_open, standing.unjudged) == (N_TASKS - 1, 0, (("T03", "number"),))
    (row,) = [row for row in read_judgements(path / "judgements.jsonl", suite()) if row.id == "T03"]
    assert (row.scores, row.reasons, row.tries, row.fault) == (None, (), 3, "number")
    again = Judging.open(open_runs([path]), suite(), OPTIONS)
    assert len(again.open_ratings) == 0  # three tries are all
    more = Judging.open(open_runs([path]), suite(), replace(OPTIONS, n_tries=5))
    assert len(more.open_ratings) == 1
    fewer = Judging.open(open_runs([path]), suite(), replace(OPTIONS, n_tries=1))
    assert len(fewer.open_ratings) == 0


def test_the_version_comes_from_the_server(path):
    def behave(request):
        model = "judge-2024-08-06" if "number 1" in request.prompt else "judge-2024-11-20"
        return as_judge(reply_of(request.prompt, request.body["seed"]), model=model)

    judging, _ = judged([path], behave)
    assert judging.runs[0].standing().versions == (("judge-2024-11-20 fp_1", 9), ("judge-2024-08-06 fp_1", 3))


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
    wording = JudgeOptions("judge-2024-08-06", profile, method, seed=seed).wording(SUITE)
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
    wording = JudgeOptions("j", "upstream").wording(SUITE)
    shown, cut = wording.shown("One,  two\n\nthree.")
    assert (shown, cut) == ("One , two three .", False)
    assert wording.profile_name.startswith("upstream (nltk " if has_nltk() else "upstream (regex)")
    assert JudgeOptions("j").wording(SUITE).shown("One,  two\n\nthree.") == ("One,  two\n\nthree.", False)


@pytest.mark.parametrize(
    ("n_words", "n_shown"), [(15_000, 15_000), (15_001, 15_001), (16_000, 16_000), (16_001, 16_000)]
)
def test_a_long_answer_is_cut_after_16000_words(n_words, n_shown):
    response = "\n".join(f"w{number}" for number in range(n_words))
    for profile in ("plain", "upstream"):
        shown, cut = JudgeOptions("j", profile).wording(SUITE).shown(response)
        assert (len(words(shown)), cut) == (n_shown, n_words > n_shown)
        assert shown.endswith(f"w{n_shown - 1}")
    assert "\n" in JudgeOptions("j").wording(SUITE).shown(response)[0]


VALUES = st.text(st.sampled_from("{} response\\n%\"'[]"))


@given(VALUES, VALUES)
def test_braces_and_names_of_places_in_values_mean_nothing(instruction, response):
    prompts = Prompts('{{"a": {instruction}}} {{}} {response}')
    wording = JudgeOptions("j").wording(suite(prompts=prompts))
    (message,) = wording.request(TASK.key, instruction, CHECKLIST, response).messages
    assert message["content"] == f'{{"a": {instruction}}} {{}} {response}'


def test_an_unknown_place_is_refused_before_anything_is_asked():
    prompts = Prompts("{answer} {response}")
    with pytest.raises(ChecklistError, match="the suite small: unknown placeholder 'answer'; expected one of "):
        JudgeOptions("j").wording(suite(prompts=prompts))
    with pytest.raises(ChecklistError, match="the suite small has no prompt for the method llm-eval-c"):
        JudgeOptions("j", method="llm-eval-c").wording(suite(prompts=Prompts("{response}")))


def test_the_hash_of_prompts_depends_on_everything_that_is_sent():
    hashes = {
        JudgeOptions("j", profile, method).wording(SUITE).prompt_sha256
        for profile in ("plain", "upstream")
        for method in ("checklist", "llm-eval", "llm-eval-c")
    }
    changed = replace(SUITE.prompts, system="You judge strictly.")
    hashes.add(JudgeOptions("j").wording(suite(prompts=changed)).prompt_sha256)
    assert len(hashes) == 7
