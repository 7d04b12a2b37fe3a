"""Sentences above the questions of prompts, and the instruction of completions: their files, draws and records."""

import json
import lzma
from collections import Counter

import pytest
from makers.asked_engines import FakeEngine
from pfgen_fast import Suite
from pfgen_fast.base.errors import EngineError, PfgenError
from pfgen_fast.base.file_reading import read_stored
from pfgen_fast.generation.generating import Generation, generate
from pfgen_fast.generation.prompts import Context
from pfgen_fast.generation.setting import Setting
from pfgen_fast.generation.sweep import grid


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
    (tmp_path / "b.jsonl").write_text("".join(json.dumps({"sentence": one}) + "\n" for one in reversed(sentences)))
    text, table = (Context.read(tmp_path / name, n_drawn=3) for name in ("a.txt", "b.jsonl"))
    assert text.config() == table.config() != Context.read(tmp_path / "a.txt").config()
    draws = [text.drawn(question, trial) for question in mini for trial in range(1, 51)]
    assert draws == [table.drawn(question, trial) for question in mini for trial in range(1, 51)]
    assert {len(set(one)) for one in draws} == {3}
    assert len(set(draws)) > 370
    times = Counter(one for drawn in draws for one in drawn)
    assert all(30 < times[one] < 90 for one in sentences)  # 60 on average
    assert text.drawn(mini["Q01"], 1, "other seed") != text.drawn(mini["Q01"], 1)


def test_questions_without_sentences_have_the_usual_prompt(mini):
    context = Context({"Q02": ("A fact.",)})
    usual, shown = (Setting("m", context=given).tasks(mini, 1) for given in (None, context))
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


def test_a_context_of_texts_that_cannot_be_sent_is_refused():
    for sentences in ({"": ("\ud800",)}, {"\ud800": ("x",)}):
        with pytest.raises(EngineError, match="context: expected texts that UTF-8 can encode"):
            Context(sentences)
    with pytest.raises(EngineError, match="sentences: expected at least 1, not 0"):
        Context({"": ("x",)}, n_drawn=0)


def test_a_run_records_context_and_instruction_and_what_was_drawn(tmp_path, mini):
    context = Context({"": ("One.", "Two.", "Three.")}, n_drawn=2)
    setting = Setting("m", instruction="default", context=context)
    config = setting.config(mini, "e")
    assert (config["instruction"], config["context"]) == ("default", context.config())
    assert Setting("m").config(mini, "e")["context"] is None is Setting("m").config(mini, "e")["instruction"]
    made = generate(mini, FakeEngine(lambda task: "An answer."), setting, trials=1, output=tmp_path)
    lines = lzma.decompress(read_stored(made.folder / "replies.jsonl.xz")).decode().splitlines()
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
    (folder / "suite.json").write_text('{"instructions": {"qa": "En une ligne."}}')
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


def test_the_command_prints_the_drawn_sentences(tmp_path, call):
    (tmp_path / "a.txt").write_text("One.\nTwo.\nThree.")
    options = ("prompts", "-s", "mini", "--limit", 1, "--context", tmp_path / "a.txt", "--sentences", 2)
    code, out, _ = call(*options, "--instruction", "Answer briefly.")
    line = json.loads(out)
    assert (code, len(line["context"])) == (0, 2)
    assert line["prompt"].startswith("Answer briefly.\n\n## ")
    assert "\n".join(f"- {one}" for one in line["context"]) + "\n\nQ: " in line["prompt"]
    code, _, err = call(*options, "--instruction", "x", "--mode", "qa")
    assert (code, "mode qa has its own instruction" in err) == (2, True)
    code, _, err = call("prompts", "-s", "mini", "--sentences", 2)
    assert (code, "--sentences 2: expected with --context FILE, from which they are drawn" in err) == (2, True)
