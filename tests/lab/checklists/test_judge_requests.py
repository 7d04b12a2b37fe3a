"""What a judge is sent: prompts filled in once, answers as each profile shows them, seeds, keys that never change."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.checklists_to_judge import suite
from pfgen_fast.base.errors import ChecklistError
from pfgen_fast.lab.checklists.checklist_requests import JudgeOptions
from pfgen_fast.lab.checklists.tasks import Prompts
from pfgen_fast.lab.checklists.words import has_nltk, words

SUITE = suite()
TASK = SUITE.tasks[0]
CHECKLIST = SUITE.checklist(TASK)


def request(response, *, profile="plain", method="checklist", seed="", **numbers):
    wording = JudgeOptions("judge-2024-08-06", profile, method, seed=seed).wording(SUITE)
    return wording.request(TASK.key, TASK.instruction, CHECKLIST, response, **numbers)


def test_a_request_holds_instruction_answer_and_questions_and_its_key_never_changes():
    assert request("An answer.").key[:16] == "e32523cd2eec55ff"
    assert request("An answer.", try_number=2, rating=3, seed="s").key[:16] == "acfec343c4cde437"
    made = request("An answer.\n\nIts end.")
    assert made.messages == [
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
    numbers = [(one, rating) for one in (1, 2, 3) for rating in (1, 2, 3)]
    for profile in ("plain", "upstream"):
        seeds = {request("A.", profile=profile, try_number=one, rating=rating).seed for one, rating in numbers}
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
