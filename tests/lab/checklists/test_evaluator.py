"""A checklist score as an evaluator: what is asked, which scores follow, what is kept, and `discern run` with it."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from makers.asked_engines import FakeEngine
from makers.checklists_to_judge import entries
from makers.fault_server import answering, serving
from makers.own_checklists import TASKS, own_suite, own_suite_in
from pfgen_fast.base.errors import ChecklistError, DiscernmentError
from pfgen_fast.lab.checklists.checklist_evaluator import ChecklistJudge
from pfgen_fast.lab.checklists.checklist_requests import JudgeOptions
from pfgen_fast.lab.checklists.tasks import Checklist, ChecklistTask
from pfgen_fast.lab.evaluators.evaluator import Item, open_evaluator, text_column
from pfgen_fast.lab.judging.judge_asking import Spending
from pfgen_fast.lab.judging.reply_store import ReplyStore
from pfgen_fast.tables.formats import table_rows

TEXTS = ("Dear neighbour, thank you.", "Dear teacher, thank you so much.", "A book, please.")
ITEMS = [Item(f"letter_{n}", text, "letters", language="en") for n, text in enumerate(TEXTS, start=1)]


def listed(*verdicts) -> str:
    return json.dumps(entries(*verdicts))


def n_questions(content):
    return content.count('"checklist_content"')


def content_of(request):
    return request.prompt.messages[-1]["content"]


def by_length(request) -> str:
    """Verdicts that grow with the length of the answer, and differ between ratings."""
    content = content_of(request)
    answer = content.partition("Answer: ")[2].partition("\n(end of the answer)")[0]
    levels = (0, 0.25, 0.5, 0.75, 1)
    return listed(*(levels[(len(answer) + id + request.seed % 2) % 5] for id in range(n_questions(content))))


def judge_of(path, engine=None, suite=None, spending=None, **options) -> ChecklistJudge:
    other = {name: options.pop(name) for name in ("category", "is_partial") if name in options}
    other |= {"connect": engine and (lambda judge: engine), "spending": spending or Spending()}
    return ChecklistJudge(suite or own_suite(), JudgeOptions("org/judge", **options), ReplyStore(path), **other)


def scores_of(judge, items=ITEMS, texts=None):
    return judge.score(items, text_column([item.text for item in items] if texts is None else texts))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "checklist-replies.jsonl"


def test_the_score_is_the_weighted_sum_and_a_text_has_no_score_by_a_question_of_others(path):
    replies = {"letter_1": listed(1, 0.5, 0), "letter_2": listed(0.25, 0.25, 1), "letter_3": listed(0.75, 0.5)}

    def reply(request):
        return replies[request.name.rpartition(" of ")[2]]

    judge = judge_of(path, FakeEngine(reply))
    scores = scores_of(judge)
    assert [metric.name for metric in judge.metrics] == ["checklist", "plain", "q0", "q1", "q2"] == list(scores)
    assert [metric.combined for metric in judge.metrics] == [False, False, True, True, True]
    assert scores["checklist"].tolist() == pytest.approx([65.0, 40.0, 65.0])
    assert scores["plain"].tolist() == pytest.approx([50.0, 50.0, 62.5])
    assert scores["q0"].tolist() == [1, 0.25, 0.75]
    assert scores["q2"][:2].tolist() == [0, 1]
    assert math.isnan(scores["q2"][2])


def test_originals_and_damaged_texts_of_an_item_share_their_seed(path):
    engine = FakeEngine(by_length)
    scores_of(judge_of(path, engine), [ITEMS[0]] * 3, ["One.", "Another.", None])
    assert len(engine.asked) == 2
    assert len({request.seed for request in engine.asked}) == 1


def test_a_reply_that_cannot_be_used_is_asked_for_again_and_then_a_text_has_no_score(path):
    def reply(request):
        if "teacher" in content_of(request):
            return "I would rather not."
        return "[]" if request.name.startswith("try 1") else by_length(request)

    engine = FakeEngine(reply)
    judge = judge_of(path, engine)
    scores = scores_of(judge)
    assert np.isnan(scores["checklist"]).tolist() == [False, True, False]
    tries = sorted(request.name for request in engine.asked if "letter_2" in request.name)
    assert [name.partition(" of ")[0] for name in tries] == ["try 1", "try 2", "try 3"]
    assert len(engine.asked) == 7
    assert judge.asked(ITEMS, text_column(list(TEXTS))).is_complete().all()
    more = text_column([*TEXTS[:2], "Another book, please."])
    offline = replace(judge, connect=None, is_partial=True)
    asked = offline.asked(ITEMS, more)
    assert (asked.n_missing, asked.is_complete().tolist()) == (1, [[True], [True], [False]])
    assert np.isnan(offline.score(ITEMS, more)["checklist"]).tolist() == [False, True, True]
    again = judge_of(path, None)
    assert scores_of(again)["checklist"][0] == scores["checklist"][0]


def test_again_asks_everything_anew_with_other_seeds_into_the_same_file(path):
    engine = FakeEngine(by_length)
    for options in ({}, {"profile": "upstream"}):
        judge = judge_of(path, engine, **options)
        engine.asked.clear()
        for item in (judge, judge.again(), judge.again().again()):
            scores_of(item)
        assert len({request.seed for request in engine.asked}) == (9 if not options else 3)
        assert len(engine.asked) == 9
        assert len({entry.signature for entry in (judge, judge.again(), judge.again().again())}) == 3
    assert len(ReplyStore(path)) == 18


# Which task an item belongs to


def asked_about(path, items, **options):
    engine = FakeEngine(by_length)
    scores_of(judge_of(path, engine, **options), items)
    return {request.name.rpartition(" of ")[2]: content_of(request) for request in engine.asked}


@pytest.mark.parametrize(
    ("id", "others", "instruction"),
    [
        ("1", {"question": "letter_2"}, "Write a long letter that thanks a teacher."),
        ("letter_3", {}, "Write a letter that asks a library for a book."),
        ("report_1", {}, "Report the weather of a week in {Oslo}."),
        ("1", {"question": "What floats?"}, "What floats?"),
        ("2", {"context": "Ice {is} light."}, "Ice {is} light."),
        ("letter_1", {"question": "Why?", "context": "Because."}, "Why?\n\nBecause."),
    ],
)
def test_an_item_has_the_instruction_of_its_task_or_its_question_and_context(path, id, others, instruction):
    contents = asked_about(path, [Item(id, "A.", "x", **others)], category="requests")
    (content,) = contents.values()
    assert f"Instruction: {instruction}\n" in content


def test_an_error_names_what_an_item_lacks(path):
    def error_of(item, **options):
        with pytest.raises(ChecklistError) as caught:
            scores_of(judge_of(path, FakeEngine(by_length), **options), [item])
        return str(caught.value)

    assert "item 1: is not a task of the suite own, which has 3 checklists" in error_of(Item("1", "A.", "x"))
    assert "item 1: has no question and no context" in error_of(Item("1", "A.", "x"), category="thanks")
    cut = own_suite((*TASKS, ChecklistTask("cut", "letters", "thanks", "Write…", sha256="0" * 64)))
    assert "item cut: its task lacks the whole instruction" in error_of(Item("cut", "A.", "x"), suite=cut)
    assert "unknown category 'thank'; expected one of letters/thanks" in error_of(ITEMS[0], category="thank")
    others = own_suite().checklists
    checklist = Checklist("reports", "thanks", ("So?",), (100.0,))
    twice = own_suite(checklists={**others, ("reports", "thanks"): checklist})
    assert "did you mean 'reports/thanks'?" in error_of(ITEMS[0], category="thanks", suite=twice)


# Opened by its name


def test_it_is_opened_by_the_name_of_its_suite(tmp_path):
    own_suite_in(tmp_path / "suite")
    (tmp_path / "empty.jsonl").touch()
    name = f"checklists:{tmp_path / 'suite'}"
    judge = open_evaluator(name, model="m", server=None, cache=tmp_path / "empty.jsonl")
    assert isinstance(judge, ChecklistJudge)
    assert judge.options.max_tokens == 4096
    with pytest.raises(ChecklistError, match="no packaged suite of that name"):
        open_evaluator("checklists:nowhere", model="m")
    with pytest.raises(DiscernmentError, match="unknown evaluator 'checklists'"):
        open_evaluator("checklists", model="m")


# discern run


def test_discern_run_tests_a_checklist_like_any_evaluator(tmp_path, call, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("pfgen_fast.report.discernment.discernment_writing.pictures", lambda _: ())  # they take long
    own_suite_in(tmp_path / "suite")
    text = "Dear neighbour, I thank you for the ladder that you lent me in the spring. It was of great use."
    rows = [
        {"id": str(n), "text": f"{text} I needed it {n} times.", "task": "x", "question": f"? {n}"} for n in range(12)
    ]
    Path("texts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    def counting_words(request):
        answer = request.prompt.partition("Answer: ")[2].partition("\n(end of the answer)")[0]
        return answering(listed(*[min(4, len(answer.split()) // 6) / 4] * n_questions(request.prompt)))

    usual = ("texts.jsonl", "-e", "checklists:suite", "-m", "org/judge", "--category", "thanks")
    command = ("discern", "run", *usual, "--kinds", "truncate/500,identity", "-o", "out")
    with serving(counting_words) as server:
        _, out, _ = call(*command, "--base-url", server.base_url, "--dry-run")
        assert out.startswith("48 ratings (12 equal to others); 36 requests of about ")
        code, out, err = call(*command, "--base-url", server.base_url)
        assert (code, len(server.requests)) == (0, 36), err
    rows = [row for _, row in table_rows("out/discernment-cells.csv") if row["kind"] == "truncate"]
    assert {(row["metric"], row["noticed"].lower()) for row in rows} == {
        (name, "true") for name in ("checklist", "plain", "q0", "q1", "q2")
    }
    assert "q0: Does it thank somebody?" in Path("out/discernment.md").read_text(encoding="utf-8")
    assert call(*command, "--offline")[0] == 0
