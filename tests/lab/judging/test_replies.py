"""Stored replies: complete or absent, with their requests, written by one process at a time."""

import json

import pytest
from pfgen_fast import JudgingError
from pfgen_fast.generation.engines.hosted import Details
from pfgen_fast.lab.judging.judge_requests import Judge, Template
from pfgen_fast.lab.judging.reply_store import Replies


def request(number=0):
    return Judge("org/judge").request(f"text {number}", seed=number, name=f"request {number}")


def keep(path, *pairs):
    with Replies(path).adding() as add:
        for number, reply in pairs:
            add(request(number), reply)


def test_an_entry_has_request_reply_time_and_details(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    path, message = tmp_path / "new" / "replies.jsonl", Details("stop", "judge-2024-08-06", "fp_1")
    kept = Replies(path)
    with kept.adding() as add:
        add(request(0), "yes", message)
        add(request(1), "[[3]] \ud800 水")
    line = path.read_text(encoding="utf-8").splitlines()[1]
    assert json.loads(line) == {
        "key": request(1).key,
        "request": request(1).record(),
        "reply": "[[3]] \ud800 水",
        "finish_reason": None,
        "model": None,
        "system_fingerprint": None,
        "time": "2023-11-14T22:13:20+00:00",
    }
    assert list(json.loads(line))[:3] == ["key", "request", "reply"]
    for replies in (kept, Replies(path)):
        assert replies[request(1).key] == "[[3]] \ud800 水"
        assert [replies.details(request(number).key) for number in range(3)] == [message, Details(), Details()]
        assert [replies.time(request(number).key) for number in (0, 2)] == ["2023-11-14T22:13:20+00:00", None]
    assert [path.name for path in path.parent.iterdir()] == ["replies.jsonl"]  # no lock is left


def test_entries_of_other_programs_are_read(tmp_path):
    path = tmp_path / "replies.jsonl"
    odd = {"finish_reason": ["stop"], "model": "\x1b[2J\ud800", "system_fingerprint": "x" * 201}
    entries = [{"key": request().key, "reply": "[[7]]"}, {"key": "k", "reply": "r", **odd}]
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    keep(path, (1, "[[8]]"))
    assert [Replies(path).get(request(number).key) for number in range(3)] == ["[[7]]", "[[8]]", None]
    assert Replies(path).details("k") == Details(None, "\\u001b[2J\\ud800", None)


def test_incomplete_and_invalid_entries_are_skipped(tmp_path):
    path = tmp_path / "replies.jsonl"
    keep(path, (1, "one"))
    with path.open("ab") as file:
        file.write(b'[]\n{"key": 3, "reply": "x"}\n{"key": "k"}\n\xff\n' + b"[" * 100_000 + b'\n{"key": "torn", "re')
    assert len(Replies(path)) == 1
    keep(path, (2, "two"))
    assert [Replies(path).get(request(number).key) for number in (1, 2)] == ["one", "two"]


def test_a_file_of_something_else_is_refused(tmp_path):
    path = tmp_path / "replies.jsonl"
    path.write_text("model,rating\n")
    with pytest.raises(JudgingError, match=r"replies\.jsonl: expected replies of a judge, found only other content"):
        Replies(path)
    path.write_text('{"key": "torn')  # what a kill left of the first entry
    assert len(Replies(path)) == 0
    with pytest.raises(JudgingError, match="no such file; expected the replies of an earlier call"):
        Replies(tmp_path / "none.jsonl", must_exist=True)


def test_a_second_process_is_refused(tmp_path):
    path = tmp_path / "replies.jsonl"
    with Replies(path).adding() as add:
        with pytest.raises(JudgingError, match="another process is adding"), Replies(path).adding():
            pass
        add(request(), "[[3]]")
    keep(path, (1, "[[4]]"))
    assert len(Replies(path)) == 2


def test_reasoning_is_kept_in_the_file_but_is_no_part_of_a_reply(tmp_path):
    path = tmp_path / "replies.jsonl"
    quoting = '{"reason": "It shows its </think> tag.", "score": 2}'  # JSON may quote a tag
    keep(path, (1, '<think>{"verdict": 0}</think>\n{"verdict": 1}'), (2, quoting))
    assert [Replies(path)[request(number).key] for number in (1, 2)] == ['{"verdict": 1}', quoting]
    assert "<think>" in path.read_text()


# ---- Requests to a judge: keys never change, and records contain what was asked


def test_keys_are_those_of_existing_files():
    request = Judge("org/judge", 1.0, 300).request("Is 水 wet? {answer}", seed=818176819, name="rating 1")
    assert request.key == "c3f8310bc3b9d38e1b7cf56d6efd901708c765921038315e00850362e0b4775b"


def test_everything_that_decides_a_reply_is_part_of_the_key():
    judge = Judge("j")
    usual = judge.request("text", seed=1, name="n")
    others = [
        judge.request("texts", seed=1, name="n"),
        judge.request("text", seed=2, name="n"),
        judge.request("text", seed=1, name="n", system="Be strict."),
        Judge("k").request("text", seed=1, name="n"),
        Judge("j", temperature=0.5).request("text", seed=1, name="n"),
        Judge("j", max_tokens=7).request("text", seed=1, name="n"),
    ]
    assert len({request.key for request in [usual, *others]}) == 7
    assert judge.request("text", seed=1, name="another name").key == usual.key
    assert Judge("j", temperature=0).request("text", seed=1, name="n").key == usual.key  # which is 0.0 by default


def test_the_record_is_the_request_in_which_a_lone_surrogate_is_an_escape():
    record = Judge("org/judge", 0.5, 7).request("a\ud800b", seed=3, name="n", system="Be strict.").record()
    assert record == {
        "model": "org/judge",
        "messages": [{"role": "system", "content": "Be strict."}, {"role": "user", "content": "a\\ud800b"}],
        "parameters": {"temperature": 0.5, "max_tokens": 7, "seed": 3},
    }


NAMES = ("question", "sample", "answer", "language")


def test_braces_in_values_are_no_placeholders():
    template = Template("{question}|{sample}|{answer}|{language}|{other}", NAMES)
    filled = template.fill(question="{answer}", sample="{0}", answer="\\1 {sample}", language="ja")
    assert filled == "{answer}|{0}|\\1 {sample}|ja|{other}"


def test_a_template_is_read_as_it_is(tmp_path):
    path = tmp_path / "prompt.txt"
    path.write_bytes(b'\xef\xbb\xbf{question}\r\n{answer} {"rating": 3}')
    template = Template.read(path, placeholders=NAMES, needed=("question", "answer"))
    assert template == Template('{question}\r\n{answer} {"rating": 3}', NAMES)
    assert template.uses("answer")
    assert not template.uses("sample")
    assert Template("a", ("b",)).hash == Template("a", ()).hash != Template("a ", ("b",)).hash


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{question} {answer} {smaple}", r"unknown placeholder \{smaple\}; there are \{question\}, \{sample\}"),
        (b"{question}", r"expected the placeholder \{answer\} in the template"),
        (b"{question} \xff", "not UTF-8 \\(byte 11\\)"),
        (b"x" * (1 << 20) + b"x", "holds more than 1 MiB"),
        (None, "cannot be read: No such file"),
    ],
)
def test_an_invalid_template_is_refused(tmp_path, content, message):
    path = tmp_path / "prompt.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(JudgingError, match=message) as caught:
        Template.read(path, placeholders=NAMES, needed=("question", "answer"))
    assert str(caught.value).startswith(f"{path}: ")
