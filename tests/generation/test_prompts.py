"""Prompts against an independent implementation of the rules, and against texts written by hand."""

import hashlib
import json
import lzma
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.asked_engines import FakeEngine
from pfgen_fast import Scorer, Suite, SuiteError
from pfgen_fast.base.errors import EngineError, PfgenError
from pfgen_fast.base.file_reading import read_stored
from pfgen_fast.generation.generating import Generation, generate
from pfgen_fast.generation.prompts import Context, make_tasks
from pfgen_fast.generation.setting import Setting
from pfgen_fast.generation.sweep import grid
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
        keyed = [(hashlib.sha1(f"{s}::{k}::{q}::{x}".encode()).hexdigest(), x) for x in context.sentences[""]]
        drawn = texts["context"] + "\n"
        for _, item in sorted(keyed)[: context.n_drawn]:
            drawn += "- " + item + "\n"
        drawn += "\n"
    shown = texts["examples"] + ("\n" + examples if examples else "")  # else no line stands in their place
    if mode == "completion":
        first = {"": "", "default": texts["chat"] + "\n\n"}.get(instruction, instruction + "\n\n")
        return prefix + first + shown + "\n\n" + drawn + "Q: " + q + "\nA:"
    text = prefix + texts[mode] + "\n\n" + shown
    if mode == "qa":
        return [{"role": "user", "content": text + "\n\n" + drawn + texts["question"] + "\n" + "Q: " + q}]
    return [{"role": "system", "content": text}, {"role": "user", "content": drawn + "Q: " + q}]


PUBLISHED_MODES = MODES[:3]
JAPANESE = {
    "examples": "## 回答例", "question": "## 質問", "qa": "例と同様の文体及び文字数で、質問に1行で答えてください。",
    "chat": "例と同様の文体及び文字数で、ユーザの質問に1行で答えてください。", "context": "## 参考情報",
}  # fmt: skip
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


@pytest.mark.parametrize("mode", PUBLISHED_MODES)
@pytest.mark.parametrize(
    "changes",
    [
        {}, {"seed": "種"}, {"num_examples": 0}, {"num_examples": 3, "prefix": "P\n"},
        {"instruction": "default", "prefix": "P\n"}, {"instruction": "Go on.", "num_examples": 0},
        {"context": Context({"": ("One.", "二。", "Three.", "四。")}, n_drawn=3), "seed": "種"},
    ],
    ids=str,
)  # fmt: skip
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


@pytest.mark.parametrize(("arguments", "shown"), [
    ("Hello.", "Hello."), (r"One.\n\nTwo.\t", "One.\n\nTwo.\t"), ("種\n" + r"\n\\n", "種\n\n\\n"),
    (r"\xe7\xa8\xae", "種"), (r"\d \/", r"\d \/"),
])  # fmt: skip
def test_a_prefix_is_unescaped_in_prompts_and_recorded_as_it_was_given(mini, arguments, shown):
    """As the published script does: its UTF-8 bytes are read like those of a Python literal."""
    setting = Setting("m", "qa", prefix=arguments)
    assert setting.config(mini, "e")["prefix"] == arguments
    (message,) = setting.tasks(mini, 1)[0].prompt.messages
    (plain,) = Setting("m", "qa").tasks(mini, 1)[0].prompt.messages
    assert message["content"] == shown + plain["content"]


@pytest.mark.parametrize("prefix", ["ends in \\", r"\x4", r"\u7a2e", r"\xe7", "\\N{no such letter}"])
def test_a_prefix_with_a_broken_escape_is_refused(prefix):
    with pytest.raises(EngineError, match="prefix: expected escapes such as"):
        Setting("m", prefix=prefix)


def test_turns_show_each_example_as_a_question_and_an_answer(small):
    suite = Suite.load(small)
    messages = make_tasks(suite, 1, mode="turns", num_examples=2, prefix="! ")[0].prompt.messages
    assert [message["role"] for message in messages] == ["system", *["user", "assistant"] * 2, "user"]
    assert messages[0]["content"] == f"! {ENGLISH['chat']}"
    assert [message["content"] for message in messages[1:]] == ["c?", "C.", "b?", "B.", "a?"]
    drawn = make_tasks(suite, 1, mode="turns", num_examples=0, context=Context({"": ("One.",)}))[0].prompt.messages
    assert [message["role"] for message in drawn] == ["system", "user"]
    assert drawn[1]["content"].endswith("- One.\n\na?")


@pytest.mark.parametrize("mode", PUBLISHED_MODES)
def test_white_space_around_the_parts_of_a_prompt_is_dropped(make_suite, mode):
    """As the published script does; only the question of a completion stays as it is."""
    suite = Suite.load(make_suite({"question": "a? "}, {"question": "b?"}))
    write_samples(suite.folder, {"question": "a? ", "answer": "A. \n"})
    prompt = make_tasks(Suite.load(suite.folder), 1, mode=mode)[1].prompt
    text = prompt.text or prompt.messages[0]["content"]
    assert "Q: a? \nA: A.\n\n" in text + "\n\n"
    own = make_tasks(Suite.load(suite.folder), 1, mode=mode, num_examples=0)[0].prompt
    assert (own.text or own.messages[-1]["content"]).endswith("Q: a? \nA:" if mode == "completion" else "Q: a?")


def test_modes_trials_and_texts_that_cannot_be_asked_with_are_refused(mini, make_suite):
    with pytest.raises(EngineError, match="unknown mode 'talk'; expected one of completion, qa, chat"):
        make_tasks(mini, 1, mode="talk")
    with pytest.raises(EngineError, match="trials count from 1"):
        make_tasks(mini, 0, mode="qa")
    with pytest.raises(EngineError, match="Q01: the question has a lone surrogate"):
        make_tasks(Suite.load(make_suite({"question": "\ud800?"})), 1, mode="qa", num_examples=0)
    for sentences in ({"": ("\ud800",)}, {"\ud800": ("x",)}):
        with pytest.raises(EngineError, match="context: expected texts that UTF-8 can encode"):
            Context(sentences)
    with pytest.raises(EngineError, match="sentences: expected at least 1, not 0"):
        Context({"": ("x",)}, n_drawn=0)


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


# ---- Sentences above the questions of prompts, and the instruction of completions: their files, draws and records


@pytest.mark.parametrize("columns", ["question,sentence", "question_id,url,sentence"])
def test_sentences_of_a_table_belong_to_a_question_or_to_all(tmp_path, mini, columns):
    first, second = mini.questions[:2]
    rows = [(first.question_id, "One."), (f'"{second.question}"', "Two."), ("", "  For \u3000 all. "), ("Q01", "One.")]
    others = ["u"] * (columns.count(",") - 1)
    lines = [",".join([key, *others, text]) for key, text in rows]
    (tmp_path / "context.csv").write_text("\n".join([columns, *lines]), encoding="utf-8")
    context = Context.read(tmp_path / "context.csv")
    assert context.sentences == {"Q01": ("One.",), second.question: ("Two.",), "": ("For all.",)}
    drawn = [set(context.drawn(question, 1)) for question in mini.questions[:3]]
    assert drawn == [{"One.", "For all."}, {"Two.", "For all."}, {"For all."}]


def test_a_text_has_one_sentence_per_line_and_the_order_of_a_file_has_no_effect(tmp_path, mini):
    sentences = [f"Sentence {number}." for number in range(20)]
    (tmp_path / "a.txt").write_text("\n\n".join(sentences))
    (tmp_path / "b.jsonl").write_text("\n".join(json.dumps({"sentence": text}) for text in reversed(sentences)))
    text, table = (Context.read(tmp_path / name, n_drawn=3) for name in ("a.txt", "b.jsonl"))
    assert text.config() == table.config() != Context.read(tmp_path / "a.txt").config()
    draws = [text.drawn(question, trial) for question in mini for trial in range(1, 51)]
    assert draws == [table.drawn(question, trial) for question in mini for trial in range(1, 51)]
    assert {len(set(draw)) for draw in draws} == {3}
    assert len(set(draws)) > 370
    times = Counter(item for drawn in draws for item in drawn)
    assert all(30 < times[sentence] < 90 for sentence in sentences)  # 60 on average
    assert text.drawn(mini["Q01"], 1, "other seed") != text.drawn(mini["Q01"], 1)


def test_questions_without_sentences_have_the_usual_prompt(mini):
    context = Context({"Q02": ("A fact.",)})
    usual, shown = (Setting("m", context=arguments).tasks(mini, 1) for arguments in (None, context))
    changed = [task.question_id for task, other in zip(shown, usual, strict=True) if task.prompt != other.prompt]
    assert changed == ["Q02"]
    assert [task.context for task in shown if task.context] == [("A fact.",)]
    assert Setting("m", context=context).tasks(mini.only(["Q01"]), 1)[0].prompt == usual[0].prompt


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", '{"sentence": "x"}\n{"sentence": ""}', r"line 2: expected a text in the column 'sentence', not ''"),
        ("a.csv", "question,text\nQ01,x", "line 2: expected a text in the column 'sentence', not None"),
        ("a.jsonl", '{"question": 1, "sentence": "x"}', "line 1: expected the ID or text of a question as a string"),
        ("a.jsonl", '{"question": "Q77", "sentence": "x"}', "context: unknown question 'Q77'"),
        ("a.jsonl", "{", "not JSON"),
        ("a.txt", "\n \n", "a.txt: expected at least one sentence"),
        ("a.csv", "question,sentence\n", "expected at least one sentence|no rows"),
        ("missing.txt", None, "missing.txt: .*No such file"),
    ],
)
def test_an_invalid_file_is_refused(tmp_path, mini, name, content, message):
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(PfgenError, match=message):
        Setting("m", context=Context.read(tmp_path / name)).tasks(mini, 1)


def test_a_run_records_context_and_instruction_and_what_was_drawn(tmp_path, mini):
    context = Context({"": ("One.", "Two.", "Three.")}, n_drawn=2)
    setting = Setting("m", instruction="default", context=context)
    config = setting.config(mini, "e")
    assert (config["instruction"], config["context"]) == ("default", context.config())
    assert Setting("m").config(mini, "e")["context"] is None is Setting("m").config(mini, "e")["instruction"]
    generated = generate(mini, FakeEngine(lambda task: "An answer."), setting, trials=1, output=tmp_path)
    lines = lzma.decompress(read_stored(generated.folder / "replies.jsonl.xz")).decode().splitlines()
    entries = {entry["question"]: entry for entry in map(json.loads, lines)}
    assert {question.question: list(context.drawn(question, 1)) for question in mini} == {
        question: entry["context"] for question, entry in entries.items()
    }


@pytest.mark.parametrize("mode", ["qa", "chat"])
def test_only_completions_take_an_instruction(mode):
    with pytest.raises(EngineError, match=f"--instruction: mode {mode} has its own instruction"):
        Generation.of("openai", model="m", mode=mode, instruction="default")


def test_the_instruction_default_is_that_of_the_suite(make_suite):
    folder = make_suite({"question": "Pourquoi?"})
    (folder / "suite.json").write_text('{"instructions": {"chat": "En une ligne."}}')
    (task,) = Setting("m", num_examples=0, instruction="default").tasks(Suite.load(folder), 1)
    assert task.prompt.text == "En une ligne.\n\n## Examples\n\nQ: Pourquoi?\nA:"


def test_a_sweep_reads_contexts_and_instructions(tmp_path):
    (tmp_path / "a.txt").write_text("One.\nTwo.")
    parameters = {"model": "m", "mode": "completion", "instruction": ["", "default"], "sentences": [1, 2]}
    points = grid("openai", {**parameters, "context": str(tmp_path / "a.txt")})
    assert {(point.setting.instruction, point.setting.context.n_drawn) for point in points} == {
        ("", 1), ("", 2), ("default", 1), ("default", 2)
    }  # fmt: skip
    with pytest.raises(EngineError, match="sentences: expected with a context, from which they are drawn"):
        grid("openai", parameters)


def test_the_command_prints_the_drawn_sentences(tmp_path, call, refused):
    (tmp_path / "a.txt").write_text("One.\nTwo.\nThree.")
    options = ("prompts", "-s", "mini", "--limit", 1, "--context", tmp_path / "a.txt", "--sentences", 2)
    code, out, _ = call(*options, "--instruction", "Answer briefly.")
    line = json.loads(out)
    assert (code, len(line["context"])) == (0, 2)
    assert line["prompt"].startswith("Answer briefly.\n\n## ")
    assert "\n".join(f"- {item}" for item in line["context"]) + "\n\nQ: " in line["prompt"]
    assert "mode qa has its own instruction" in refused(*options, "--instruction", "x", "--mode", "qa")
    assert "--sentences 2: expected with --context FILE, from which they are drawn" in refused(
        "prompts", "-s", "mini", "--sentences", 2
    )
