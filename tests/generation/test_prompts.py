"""Prompts against an independent implementation of the rules, and against texts written by hand."""

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pfgen_fast import Scorer, Suite, SuiteError
from pfgen_fast.base.errors import EngineError
from pfgen_fast.generation.prompts import Context, make_tasks
from pfgen_fast.generation.setting import Setting
from pfgen_fast.scoring.reply_text import MODES, cleaned
from pfgen_fast.suite.questions import language_of
from pfgen_fast.suite.suite_reading import find_faults


def reference(folder, q, k, mode, s="", m=20, prefix="", instruction="", context=None):
    """The rules, line by line, without the package: the text of a completion, or the messages."""
    texts = ENGLISH if q.isascii() else JAPANESE
    lines = (folder / "questions.jsonl").read_text(encoding="utf-8").split("\n")
    samples = [json.loads(line) for line in lines if line]
    others = []
    for sample in samples:
        if sample["question"] != q:
            key = hashlib.sha1((s + "::" + str(k) + "::" + sample["question"]).encode("utf-8")).hexdigest()
            others.append((key, sample))
    others.sort(key=lambda pair: pair[0])
    examples = ""
    for i, (_, sample) in enumerate(others[:m]):
        if i > 0:
            examples += "\n\n"
        examples += "Q: " + sample["question"] + "\n" + "A: " + sample["answer"]
    drawn = ""
    if context is not None:
        keyed = [(hashlib.sha1(f"{s}::{k}::{q}::{one}".encode()).hexdigest(), one) for one in context.sentences[""]]
        drawn = texts["context"] + "\n"
        for _, one in sorted(keyed)[: context.n_drawn]:
            drawn += "- " + one + "\n"
        drawn += "\n"
    shown = texts["examples"] + ("\n" + examples if examples else "")  # else no line stands in their place
    if mode == "completion":
        first = {"": "", "default": texts["qa"] + "\n\n"}.get(instruction, instruction + "\n\n")
        return prefix + first + shown + "\n\n" + drawn + "Q: " + q + "\nA:"
    text = prefix + texts[mode] + "\n\n" + shown
    if mode == "qa":
        return [{"role": "user", "content": text + "\n\n" + drawn + texts["question"] + "\n" + "Q: " + q}]
    return [{"role": "system", "content": text}, {"role": "user", "content": drawn + "Q: " + q}]


JAPANESE = {
    "examples": "## 回答例",
    "question": "## 質問",
    "qa": "例と同様の文体及び文字数で、質問に1行で答えてください。",
    "chat": "例と同様の文体及び文字数で、ユーザの質問に1行で答えてください。",
    "context": "## 参考情報",
}
ENGLISH = {
    "examples": "## Examples",
    "question": "## Question",
    "qa": "Answer the question in one line, in the style and length of the examples.",
    "chat": "Answer the user's question in one line, in the style and length of the examples.",
    "context": "## Context",
}


def sent(task):
    return task.prompt.text if task.prompt.messages is None else [dict(message) for message in task.prompt.messages]


def compare(suite, folder, mode, **changes):
    names = {"seed": "s", "num_examples": "m"}
    for trial in range(1, 6):
        tasks = make_tasks(suite, trial, mode=mode, **changes)
        assert [task.question for task in tasks] == [question.question for question in suite]
        seed = int(hashlib.sha1(f"{changes.get('seed', '')}::{trial}".encode()).hexdigest(), 16) % 2**31
        for task in tasks:
            kwargs = {names.get(name, name): value for name, value in changes.items()}
            assert sent(task) == reference(folder, task.question, trial, mode, **kwargs)
            assert (task.trial, task.seed) == (trial, seed)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"seed": "種"},
        {"num_examples": 0},
        {"num_examples": 3, "prefix": "P\n"},
        {"instruction": "default", "prefix": "P\n"},
        {"instruction": "Go on.", "num_examples": 0},
        {"context": Context({"": ("One.", "二。", "Three.", "四。")}, n_drawn=3), "seed": "種"},
    ],
    ids=str,
)
def test_prompts_follow_the_rules(mini, mode, changes):
    compare(mini, mini.folder, mode, **changes)


@pytest.fixture
def small(make_suite):
    """Three questions, the first without a sample answer; in trial 1, sha1 puts `c?` before `b?`."""
    folder = make_suite({"question": "a?"}, {"question": "b?"}, {"question": "c?"})
    write_samples(folder, {"question": "b?", "answer": "B."}, {"question": "c?", "answer": "C."})
    return folder


def write_samples(folder, *samples):
    (folder / "questions.jsonl").write_text("\n".join(map(json.dumps, samples)), encoding="utf-8")


def test_texts_of_the_suite_replace_those_of_the_language_of_the_question(small, make_suite):
    texts = {"examples_heading": "# Examples", "question_heading": "# Question", "qa": "Answer.", "chat": "Reply."}
    (small / "suite.json").write_text(json.dumps({"instructions": texts}), encoding="utf-8")
    suite = Suite.load(small)
    (qa,) = make_tasks(suite, 1, mode="qa", num_examples=1)[0].prompt.messages
    system, user = make_tasks(suite, 1, mode="chat", num_examples=1, prefix="! ")[0].prompt.messages
    assert qa["content"] == "Answer.\n\n# Examples\nQ: c?\nA: C.\n\n# Question\nQ: a?"
    assert system["content"] == "! Reply.\n\n# Examples\nQ: c?\nA: C."
    assert user == {"role": "user", "content": "Q: a?"}
    (small / "suite.json").write_text('{"instructions": {"question_heading": "# ?"}}')
    make_suite({"question": "Why?"}, {"question": "なぜ？"})
    english, japanese, _ = make_tasks(Suite.load(small), 1, mode="qa", num_examples=0)
    assert english.prompt.messages[0]["content"] == f"{ENGLISH['qa']}\n\n## Examples\n\n# ?\nQ: Why?"
    assert japanese.prompt.messages[0]["content"] == f"{JAPANESE['qa']}\n\n## 回答例\n\n# ?\nQ: なぜ？"


def test_kana_and_chinese_characters_make_a_question_japanese():
    japanese = ("なぜ？", "ダム", "ﾀﾞﾑ", "富士山", "What does 侘び mean?", "𠮷", "HTTP/2とは")
    others = ("Why is ｉｔ so？！", "Pourquoi\u3000?", "왜?", "Почему?", "1 + 1 = ?", "。・「」", "")
    assert list(map(language_of, japanese)) == ["ja"] * 7
    assert list(map(language_of, others)) == ["en"] * 7


def test_instructions_and_sample_answers_do_not_affect_scores(small):
    before = Suite.load(small)
    table = Scorer(before).score("Q01", ["an answer"])
    (small / "suite.json").write_text('{"instructions": {"qa": "!"}}')
    write_samples(small)
    after = Suite.load(small)
    assert after.metadata_hash == before.metadata_hash
    assert Scorer(after).score("Q01", ["an answer"]).average == table.average


FIRST = '{"question": "b?", "answer": "B."}'
WRONG_SUITES = [
    ("[]", "expected a JSON object, not list"),
    ('{"instruction": {}}', "unknown key 'instruction'; expected 'instructions'"),
    (
        '{"instructions": {"q": ""}}',
        "unknown instruction 'q'; expected examples_heading, question_heading, qa, chat, context_heading",
    ),
    ('{"instructions": {"qa": 1}}', "instructions['qa']: expected a text without lone surrogates, not 1"),
    ('{"instructions": {"qa": "\\ud800"}}', "instructions['qa']: expected a text without lone surrogates"),
    ('{"instructions": []}', "'instructions': expected an object with texts, not list"),
    ("{", "column 2: not JSON"),
]
WRONG_SAMPLES = [
    ("{", ", column 2: not JSON"),
    ("3", ": expected an object with 'question' and 'answer', not int"),
    ('{"question": "x"}', ": 'answer': expected a non-empty string, not None"),
    ('{"question": "", "answer": "x"}', ": 'question': expected a non-empty string, not ''"),
    ('{"question": "b?", "answer": "x"}', ": the question 'b?' already has a sample answer"),
    ('{"question": "x", "answer": "\\udc00"}', ": 'answer' contains a lone surrogate"),
]


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        *(("suite.json", *case) for case in WRONG_SUITES),
        *(("questions.jsonl", f"{FIRST}\n{line}", f"line 2{message}") for line, message in WRONG_SAMPLES),
    ],
)
def test_a_wrong_file_of_a_suite_is_named(small, file, content, message):
    (small / file).write_text(content)
    with pytest.raises(SuiteError) as caught:
        make_tasks(Suite.load(small), 1, mode="qa")
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(small / file))
    assert find_faults(small) == [str(caught.value)]


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("Hello.", "Hello."),
        (r"One.\n\nTwo.\t", "One.\n\nTwo.\t"),
        ("種\n" + r"\n\\n", "種\n\n\\n"),
        (r"\xe7\xa8\xae", "種"),
        (r"\d \/", r"\d \/"),
    ],
)
def test_a_prefix_is_unescaped_in_prompts_and_recorded_as_it_was_given(mini, given, shown):
    """As the published script does: its UTF-8 bytes are read like those of a Python literal."""
    setting = Setting("m", "qa", prefix=given)
    assert setting.config(mini, "e")["prefix"] == given
    (message,) = setting.tasks(mini, 1)[0].prompt.messages
    (plain,) = Setting("m", "qa").tasks(mini, 1)[0].prompt.messages
    assert message["content"] == shown + plain["content"]


@pytest.mark.parametrize("prefix", ["ends in \\", r"\x4", r"\u7a2e", r"\xe7", "\\N{no such letter}"])
def test_a_prefix_with_a_broken_escape_is_refused(prefix):
    with pytest.raises(EngineError, match="prefix: expected escapes such as"):
        Setting("m", prefix=prefix)


@pytest.mark.parametrize("mode", MODES)
def test_white_space_around_the_parts_of_a_prompt_is_dropped(make_suite, mode):
    """As the published script does; only the question of a completion stays as it is."""
    suite = Suite.load(make_suite({"question": "a? "}, {"question": "b?"}))
    write_samples(suite.folder, {"question": "a? ", "answer": "A. \n"})
    prompt = make_tasks(Suite.load(suite.folder), 1, mode=mode)[1].prompt
    text = prompt.text or prompt.messages[0]["content"]
    assert "Q: a? \nA: A.\n\n" in text + "\n\n"
    own = make_tasks(Suite.load(suite.folder), 1, mode=mode, num_examples=0)[0].prompt
    assert (own.text or own.messages[-1]["content"]).endswith("Q: a? \nA:" if mode == "completion" else "Q: a?")


def test_an_unknown_mode_an_invalid_trial_and_a_lone_surrogate_are_refused(mini, make_suite):
    with pytest.raises(EngineError, match="unknown mode 'talk'; expected one of completion, qa, chat"):
        make_tasks(mini, 1, mode="talk")
    with pytest.raises(EngineError, match="trials count from 1"):
        make_tasks(mini, 0, mode="qa")
    with pytest.raises(EngineError, match="Q01: the question has a lone surrogate"):
        make_tasks(Suite.load(make_suite({"question": "\ud800?"})), 1, mode="qa", num_examples=0)


@given(st.text(alphabet="A:Q \n水"), st.sampled_from(MODES))
def test_a_kept_answer_is_a_trimmed_part_of_the_raw_one(raw, mode):
    answer = cleaned(raw, mode)
    assert answer in raw
    assert answer == answer.strip()
    assert mode != "completion" or cleaned(answer, mode) == answer


@pytest.mark.parametrize("mode", MODES)
def test_prompts_are_printed_as_they_are_sent(mini, mode, call):
    usual = ("prompts", "--suite", "mini", "--mode", mode, "--trials", 2, "--examples", 2, "--seed", "s")
    tasks = [task for k in (1, 2) for task in make_tasks(mini, k, mode=mode, num_examples=2, seed="s")]
    for line, task in zip(map(json.loads, call(*usual)[1].splitlines()), tasks, strict=True):
        assert (line["question_id"], line["trial"], line["seed"]) == (task.question_id, task.trial, task.seed)
        assert line.get("prompt", "") == task.prompt.text
        assert line.get("messages") == (None if task.prompt.messages is None else list(task.prompt.messages))
