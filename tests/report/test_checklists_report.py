import csv
import io
import json
import random
import re
from dataclasses import replace

import pytest
from makers.hostile import acting, formulas
from makers.own_checklists import TASKS, hostile_runs, judged_run, own_suite, some_runs
from makers.pages import Outline, check_policy, embedded, overview_in
from makers.reported import unpacked
from pfgen_fast.base.errors import ChecklistError, PfgenError
from pfgen_fast.lab.checklists.checklist_runs import Answer, open_runs, write_run
from pfgen_fast.lab.checklists.checklist_scoring import score_judged_runs
from pfgen_fast.lab.checklists.tasks import ChecklistTask
from pfgen_fast.report import pages
from pfgen_fast.report.checklists import write_checklists
from pfgen_fast.report.checklists.checklists_overview import question_means, tint, titles


@pytest.fixture
def suite():
    return own_suite()


@pytest.fixture
def runs(tmp_path, suite):
    return some_runs(tmp_path / "runs", suite)


def written(suite, runs, path, **options):
    return write_checklists(score_judged_runs(suite, runs), runs, path, **options)


def tasks_in(text):
    blocks = [block for name, block in embedded(text).items() if name.startswith("part-")]
    lines = [unpacked(line) for block in blocks for line in block.split("\n")]
    tasks = overview_in(text)["tasks"]
    return dict(zip(zip(tasks["id"], tasks["length"], strict=True), lines, strict=True))


def shown(suite, runs, folder):
    return tasks_in(written(suite, runs, folder / "p.html")[0].read_text())


def words_of(text):
    return " ".join(" ".join(Outline(text).texts).split())


def entry_of(line, model):
    (entry,) = [entry for entry in line["entries"] if entry["model"] == model]
    return entry


def test_a_page_in_one_file_has_the_table_beside_it(suite, runs, tmp_path):
    paths = written(suite, runs, tmp_path / "out" / "essays.html")
    assert paths == (tmp_path / "out" / "essays.html", tmp_path / "out" / "essays.csv")
    rows = list(csv.DictReader(io.StringIO(paths[1].read_text())))
    assert [row["model"] for row in rows if row["kind"] == "average"] == ["alpha", "beta", "gamma"]
    check_policy(paths[0].read_text())
    again = written(suite, runs, tmp_path / "again" / "essays.html")
    assert [path.read_bytes() for path in paths] == [path.read_bytes() for path in again]


def test_a_folder_holds_the_data_beside_the_page_and_replaces_only_an_earlier_report(suite, runs, tmp_path):
    paths = written(suite, runs, tmp_path / "out")
    assert [path.name for path in paths] == ["index.html", "table.csv"]
    first = paths[0]
    (data,) = (tmp_path / "out" / "data").iterdir()
    assert overview_in(first.read_text())["files"] == [f"data/{data.name}"]
    lines = json.loads(data.read_text().split("register(", 1)[1].removesuffix(");\n"))
    assert unpacked(lines[0])["instruction"] == TASKS[0].instruction
    (tmp_path / "out" / "mine.txt").write_text("stays")
    written(suite, runs[:2], tmp_path / "out")
    (new,) = (tmp_path / "out" / "data").iterdir()
    assert new.name != data.name
    assert (tmp_path / "out" / "mine.txt").read_text() == "stays"
    first.write_text("a page of somebody else")
    with pytest.raises(PfgenError, match="not from a report"):
        written(suite, runs, tmp_path / "out")
    assert first.read_text() == "a page of somebody else"


def test_scores_without_their_run_are_refused(suite, runs, tmp_path):
    with pytest.raises(ChecklistError, match="the scores are of gamma too"):
        write_checklists(score_judged_runs(suite, runs), runs[:2], tmp_path / "p.html")


def test_every_answer_stands_beside_its_verdicts_and_reasons(suite, runs, tmp_path):
    result = shown(suite, runs, tmp_path)
    assert set(result) == {task.key for task in TASKS}
    line = result["letter_3", None]
    assert line["instruction"] == TASKS[2].instruction
    assert "repetition" in entry_of(result["letter_1", None], 0)["marks"]
    entry, alone = entry_of(line, 1), entry_of(line, 2)
    assert entry["state"] == "judged"
    assert entry["answer"].startswith("beta answers letter_3")
    (judgement,) = entry["judgements"]
    assert judgement["scores"] == entry["verdicts"] == [0.25, 0.75]
    reasons = [f"A reason for question {number} about letter_3." for number in (0, 1)]
    assert judgement["reasons"] == alone["judgements"][0]["reasons"] == reasons
    assert "answer" not in alone  # a run with verdicts alone
    assert result["report_1", "90"]["wanted"] == 90


def test_missing_unjudged_and_stale_answers_are_three_things(suite, tmp_path):
    run = judged_run(tmp_path / "m", suite, leave_out=("letter_1",))
    answers = {answer.id: answer for answer in run.answers(suite).values() if not answer.length}
    rows = {row.id: row for row in run.judgements(suite) if not row.length}
    rows["letter_2"] = replace(rows["letter_2"], verdicts=None, reasons=(), fault="form")
    answers["letter_3"] = Answer("letter_3", "Another.")
    write_run(tmp_path / "m", answers.values(), rows.values(), {"model": "m"})
    text = written(suite, open_runs([tmp_path / "m"]), tmp_path / "p.html")[0].read_text()
    overview = overview_in(text)
    states = dict(zip(overview["tasks"]["id"], overview["tasks"]["states"], strict=True))
    assert [states[id] for id in ("report_2", "letter_3", "letter_2", "letter_1")] == ["0", "1", "2", "3"]
    actual = tasks_in(text)
    assert entry_of(actual["letter_2", None], 0)["judgements"][0]["fault"] == "form"
    assert entry_of(actual["letter_3", None], 0)["judgements"][0]["stale"] is True
    assert actual["letter_1", None]["entries"] == []
    expected = {"1 missing in", "1 unjudged in", "1 stale in"}
    assert expected <= set(re.findall(r"1 \w+ in", words_of(text)))


def test_a_model_that_was_not_asked_for_a_length_misses_none_of_it(suite, tmp_path):
    no_lengths = own_suite(tuple(task for task in TASKS if task.length is None))
    runs = [judged_run(tmp_path / "a", suite), judged_run(tmp_path / "b", no_lengths, skill=2)]
    overview = overview_in(written(suite, runs, tmp_path / "p.html")[0].read_text())
    assert dict(zip(overview["tasks"]["length"], overview["tasks"]["states"], strict=True))["90"] == "04"


def test_the_means_of_questions_are_those_of_the_judged_answers_and_equal_weights_are_shown(suite, runs, tmp_path):
    means = question_means(score_judged_runs(suite, runs))
    thanks = list(suite.checklists).index(("letters", "thanks"))
    (result,) = (mean for mean in means if mean["category"] == thanks)
    assert (result["length"], result["n"], result["means"][1]) == (None, [2, 1, 2], [0.75, 0.5, 0.25])
    assert [mean["length"] for mean in means] == [None, None, None, "90"]
    scores = score_judged_runs(suite, runs, weights="equal")
    overview = overview_in(write_checklists(scores, runs, tmp_path / "p.html")[0].read_text())
    assert overview["categories"][1]["weights"] == [50, 50]


@pytest.mark.slow
def test_what_does_not_fit_is_left_out_in_order_and_said(suite, tmp_path, monkeypatch):
    numbers = random.Random(1)
    texts = {task.id: "".join(chr(numbers.randrange(0x4E00, 0x9FFF)) for _ in range(30_000)) for task in TASKS}
    run = judged_run(tmp_path / "m", suite, texts=texts)
    whole = written(suite, [run], tmp_path / "p.html")[0].read_text()
    assert 'id="extent"' not in whole
    assert overview_in(whole)["extent"] == {"answer": None, "reason": None}
    monkeypatch.setattr(pages, "MAX_BYTES", len(whole.encode()) * 2 // 3)
    cut = written(suite, [run], tmp_path / "p.html")[0].read_text()
    assert len(cut.encode()) <= pages.MAX_BYTES
    assert overview_in(cut)["extent"] == {"answer": 16_000, "reason": None}
    (entry,) = tasks_in(cut)["letter_1", None]["entries"]
    assert (len(entry["answer"]), entry["length"]) == (16_000, 30_000)
    label = "leaves out the text of answers after the first 16,000 characters."
    assert label in words_of(cut)
    monkeypatch.setattr(pages, "MAX_BYTES", 50_000)
    with pytest.raises(ChecklistError, match="too many for one page"):
        written(suite, [run], tmp_path / "p.html")
    folder = written(suite, [run], tmp_path / "folder")[0].read_text()
    assert overview_in(folder)["extent"]["answer"] is None


@pytest.fixture(scope="module")
def hostile_pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    hostile = write_checklists(*hostile_runs(folder), folder / "hostile.html")
    plain = own_suite()
    runs = [judged_run(folder / "n", plain)]
    return hostile, write_checklists(score_judged_runs(plain, runs), runs, folder / "peaceful.html")


@pytest.mark.slow
def test_nothing_in_names_answers_or_reasons_acts(hostile_pages):
    (first, table), (peaceful, _) = hostile_pages
    text = first.read_text(encoding="utf-8")
    check_policy(text)
    outline, expected = Outline(text), Outline(peaceful.read_text(encoding="utf-8"))
    assert set(outline.tags) <= set(expected.tags) | {"a", "bdi", "wbr", "b", "span", "svg", "path", "dl", "code"}
    assert [tag for tag, _ in outline.code] == [tag for tag, _ in expected.code]
    assert not [value for name, value in outline.attributes if name in ("href", "src") and not value.startswith("#")]
    assert acting("".join(outline.texts)) <= {"\t"}
    assert formulas(table.read_text(encoding="utf-8")) == []


def test_titles_leave_out_what_all_of_a_category_begin_with_and_tints_go_by_rank():
    tasks = [
        ChecklistTask(str(number), "a", "c", f"You should write a detailed answer to the question: {text}")
        for number, text in enumerate(("why is ice light?", "why is the sky blue?", "why does it rain?"))
    ]
    assert titles(tasks) == ["…is ice light?", "…is the sky blue?", "…does it rain?"]
    assert titles(tasks[:2]) == [task.instruction for task in tasks[:2]]
    assert titles([ChecklistTask("1", "a", "c", None)]) == [""]
    values = sorted([-300.0, 1.0, 2.0, 3.0, 4.0])
    assert [tint(value, values) for value in values] == [0, 2, 4, 6, 8]
    assert tint(5.0, [5.0]) == 0
