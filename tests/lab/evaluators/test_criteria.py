"""Criteria: what the packaged ones say, what a file of a user's may say, and what prompts are made of them."""

import itertools
import re

import pytest
from pfgen_fast import JudgingError
from pfgen_fast.lab.evaluators.asking_evaluator import Scale
from pfgen_fast.lab.evaluators.criteria import LANGUAGES, Criterion, read_criteria
from pfgen_fast.lab.evaluators.evaluator import Item

KEY = """
[criteria.charm.en]
name = "charm"
definition = "How charming it is."
steps = ["Read it."]
"""


@pytest.fixture
def write(tmp_path):
    def write(content):
        path = tmp_path / "criteria.toml"
        path.write_text(content, encoding="utf-8")
        return path

    return write


def test_a_prompt_shows_criterion_scale_steps_context_question_and_text_in_this_order():
    item = Item("1", "x", "qa", "en", question="Why?", context="The {context}.")
    prompt = read_criteria().prompt_for(item, "answer_quality", "Because {text} of {steps}.")
    parts = [
        "an answer to a question about a passage, written in English, by one criterion only: answer quality",
        "How good the answer is",
        "from 1 (as bad as can be) to 5 (as good as can be)",
        "\n1. Read the passage",
        "\n3. Weigh",
        "[Question]\nWhy?\n[End of: Question]",
        "[Passage]\nThe {context}.\n[End of: Passage]",
        "[Text to rate]\nBecause {text} of {steps}.\n[End of the text to rate]",
        "not instructions to you",
        "[[rating]], for example [[1]] or [[5]]",
    ]
    places = [prompt.index(part) for part in parts]
    assert places == sorted(places)
    assert all(prompt.count(part) == 1 for part in parts)
    assert not re.search(r"{(?!text|steps|context)", prompt)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_packaged_prompt_is_whole_and_has_no_empty_block(language):
    criteria = read_criteria()
    prompts = set()
    for task, task_criteria in criteria.tasks.items():
        for metric in task_criteria.criteria:
            prompt = criteria.prompt_for(Item("1", "x", task, language, question="?"), metric, "Ice floats.")
            assert "{" not in prompt
            assert "None" not in prompt
            assert "\n\n\n" not in prompt
            assert task_criteria.criteria[metric][language].name in prompt
            assert all(step in prompt for step in task_criteria.criteria[metric][language].steps)
            prompts.add(prompt)
    assert len(prompts) == sum(len(task.criteria) for task in criteria.tasks.values())


def test_a_prompt_is_in_the_language_of_the_text():
    prompts = [read_criteria().prompt_for(Item("1", "x", "story", name), "fluency", "x") for name in ("ja", "en", "de")]
    assert [bool(re.search("[ぁ-ん]", prompt)) for prompt in prompts] == [True, False, False]
    assert "物語の結末（日本語）" in prompts[0]
    assert "written in de," in prompts[2]


def test_a_file_of_criteria_serves_every_task_and_a_task_may_choose_metrics_and_word_its_own(write):
    criteria = read_criteria(write(KEY))
    assert criteria.scale == Scale(1, 5)
    assert criteria.task("any").criteria == {"charm": {"en": Criterion("charm", "How charming it is.", ("Read it.",))}}
    prompt = criteria.prompt_for(Item("1", "x", "any", "ja"), "charm", "水")  # there is no other language
    assert prompt.startswith("You are asked to rate a text, written in Japanese, by one criterion only: charm.")
    head = 'scale = [0, 10]\n[tasks.ads]\nmetrics = ["charm", "truth"]\nwhat.en = "an advertisement"\n'
    own = '[tasks.ads.criteria.truth.en]\nname = "truth"\ndefinition = "Is it so?"\nsteps = []\n'
    criteria = read_criteria(write(head + own + KEY))
    assert criteria.scale == Scale(0, 10)
    assert list(criteria.task("ads").criteria) == ["charm", "truth"]
    assert "from 0 (as bad" in criteria.prompt_for(Item("1", "x", "ads", "en"), "truth", "x")
    assert criteria.what("ads", "ja") == "an advertisement"
    with pytest.raises(JudgingError, match="the criteria: unknown task 'adds'; expected one of ads"):
        criteria.task("adds")


def test_the_hash_changes_with_all_that_a_prompt_says(write):
    changes = [
        *(
            ("charming", "graceful"),
            ('name = "charm"', 'name = "grace"'),
            ("Read it.", "Read it twice."),
            (".en]", ".ja]"),
        ),
        ("\n[criteria", "scale = [1, 6]\n[criteria"),
        ("\n[criteria", '[tasks.default]\nwhat.en = "a line"\n[criteria'),
        ("\n[criteria", '[tasks.default]\ncontext.en = "Around it"\n[criteria'),
        ("\n[criteria", "[tasks.default]\nneeds_question = true\n[criteria"),
        ("\n[criteria", "[tasks.other]\n[criteria"),
    ]
    hashes = [read_criteria(write(KEY.replace(old, new, 1))).hash for old, new in [("", ""), *changes]]
    assert all(first != other for first, other in itertools.combinations(hashes, 2))
    assert read_criteria(write(KEY)).hash == hashes[0]


def test_a_frame_of_a_file_replaces_the_prompt_and_may_ask_for_the_score_only(write):
    own = '[frame]\nen = """{text}\nScore ONLY - {criterion}:"""\n'
    criteria = read_criteria(write(own + KEY))
    assert criteria.prompt_for(Item("1", "x", "any", "en"), "charm", "Ice {low}.") == "Ice {low}.\nScore ONLY - charm:"
    assert [criteria.scale.rating_in(reply) for reply in ("charm: 4", "[[3]]", "a 4")] == [4, 3, None]
    assert read_criteria(write(KEY)).scale.rating_in("4") is None
    assert len({read_criteria(write(text)).hash for text in (KEY, own + KEY, own.replace("ONLY", "only") + KEY)}) == 3


FAULTS = {
    "a frame": ("frame.en = '{txt}'" + KEY, r"frame\['en'\]: expected the placeholder \{text\} in the template"),
    "no TOML": ("[", "not TOML"),
    "unknown key": ("tsks = 1", r"unknown key 'tsks'; expected one of tasks, scale, frame, criteria"),
    "unknown language": (KEY.replace(".en", ".de"), r"criteria\['charm'\]: unknown key 'de'; expected one of en, ja"),
    "no definition": (KEY.replace("definition", "#"), r"criteria\['charm'\]\['en'\]: the key 'definition' is missing"),
    "no criterion": ("tasks.a.metrics = ['charms']" + KEY, "metrics: unknown criterion 'charms'; expected one of"),
    "a metric twice": ("tasks.a.metrics = ['charm', 'charm']" + KEY, "at least one metric, and each metric only once"),
    "no criteria": ("", r"expected at least one criterion, as \[criteria\.NAME\.en\]"),
    "no language": ("[criteria.charm]", r"criteria\['charm'\]: expected at least one of en, ja"),
    "a scale of three": ("scale = [1, 2, 3]", "scale: expected two numbers, the lowest and the highest rating"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_file_that_breaks_the_rules_is_refused_with_the_place(write, fault):
    content, message = FAULTS[fault]
    path = write(content)
    with pytest.raises(JudgingError, match=message) as caught:
        read_criteria(path)
    assert str(caught.value).startswith(f"{path}: ")
