import csv
import io
import json
import random
import statistics
from dataclasses import replace

import pytest
from makers import own_checklists as own
from makers.hostile import acting, formulas
from makers.pages import Outline, check_policy, embedded, overview_in
from makers.reported import unpacked
from pfgen_fast.base.errors import ChecklistError
from pfgen_fast.lab.checklists.checklist_runs import Answer, open_runs, write_run
from pfgen_fast.lab.checklists.checklist_scoring import score_judged_runs
from pfgen_fast.lab.checklists.tasks import ChecklistTask
from pfgen_fast.report import pages
from pfgen_fast.report.checklists_overview import plots_of, question_means, titles
from pfgen_fast.report.checklists_page import write_checklists


@pytest.fixture
def suite():
    return own.own_suite()


@pytest.fixture
def runs(tmp_path, suite):
    return own.some_runs(tmp_path / "runs", suite)


def written(suite, runs, path, **options):
    return write_checklists(score_judged_runs(suite, runs), runs, path, **options)


def tasks_in(text):
    """The data of each task, with its answers by the number of the model."""
    blocks = embedded(text)
    tasks = {}
    for number, question in enumerate(overview_in(text)["questions"]):
        head, columns = map(unpacked, blocks[f"answers-{number}"].split("\n"))
        assert columns["numbers"] == [[0]] * len(columns["runs"])
        names = [name for name in columns if name != "runs"]
        rows = zip(*(columns[name] for name in names), strict=True)
        answers = {run: dict(zip(names, row, strict=True)) for run, row in zip(columns["runs"], rows, strict=True)}
        tasks[question["id"]] = {**head, "answers": answers}
    return tasks


def shown(suite, runs, folder):
    return tasks_in(written(suite, runs, folder / "p.html")[0].read_text())


def words_of(text):
    return " ".join(" ".join(Outline(text).texts).split())


def test_a_page_in_one_file_has_the_table_beside_it(suite, runs, tmp_path):
    paths = written(suite, runs, tmp_path / "out" / "essays.html")
    assert paths == (tmp_path / "out" / "essays.html", tmp_path / "out" / "essays.csv")
    rows = list(csv.DictReader(io.StringIO(paths[1].read_text())))
    assert [row["model"] for row in rows if row["kind"] == "average"] == ["alpha", "beta", "gamma"]
    check_policy(paths[0].read_text())
    again = written(suite, runs, tmp_path / "again" / "essays.html")
    assert [path.read_bytes() for path in paths] == [path.read_bytes() for path in again]


def test_a_folder_holds_the_data_beside_the_page(suite, runs, tmp_path):
    page, table = written(suite, runs, tmp_path / "out")
    assert (page.name, table.name) == ("index.html", "table.csv")
    addresses = overview_in(page.read_text())["files"]["answers"]
    assert len(addresses) == len(suite.tasks)
    lines = json.loads((page.parent / addresses[0]).read_text().split("register(", 1)[1].removesuffix(");\n"))
    assert unpacked(lines[0])["instruction"] == suite.tasks[0].instruction


def test_scores_without_their_run_are_refused(suite, runs, tmp_path):
    with pytest.raises(ChecklistError, match="the scores are of gamma too"):
        write_checklists(score_judged_runs(suite, runs), runs[:2], tmp_path / "p.html")


def test_every_answer_stands_beside_its_verdicts_and_reasons(suite, runs, tmp_path):
    result = shown(suite, runs, tmp_path)
    assert list(result) == ["letter_1", "letter_2", "letter_3", "report_1", "report_1/90", "report_2"]
    task = result["letter_3"]
    assert task["instruction"] == own.own_suite().tasks[2].instruction
    assert "repetition" in result["letter_1"]["answers"][0]["marks"]
    answer, alone = task["answers"][1], task["answers"][2]
    assert answer["states"] == "judged"
    assert answer["texts"].startswith("beta answers letter_3")
    (judgement,) = answer["judgements"]
    assert judgement["scores"] == answer["verdicts"] == [0.25, 0.75]
    reasons = [f"A reason for question {number} about letter_3." for number in (0, 1)]
    assert judgement["reasons"] == alone["judgements"][0]["reasons"] == reasons
    assert (alone["texts"], alone["length"]) == ("", None)  # a run with verdicts alone
    assert result["report_1/90"]["wanted"] == 90


def test_a_model_has_the_figures_of_the_table_and_its_losses_add_up_to_the_median(tmp_path):
    suite = own.suite_of_36((40.0, 30.0, 20.0, 10.0))
    runs = open_runs([own.write_judged(tmp_path / "runs", own.judged_models(suite))])
    for scores in (score_judged_runs(suite, runs), score_judged_runs(suite, runs, weights="equal")):
        overview = overview_in(write_checklists(scores, runs, tmp_path / "p.html")[0].read_text())
        for run, model in zip(overview["runs"], scores.models, strict=True):
            assert (run["name"], run["rank"], run["score"]) == (model.name, model.place, model.average.rescaled)
            assert ((run["low"], run["high"]), tuple(run["ranks"])) == (model.average.interval, model.ranks)
            assert run["area 1"] == model.areas["stories"].rescaled
            losses = run["losses"]
            assert {cause for cause, _ in losses["causes"]} <= {"repetition", 0, 1}
            for parts in (losses["causes"], losses["categories"], [part[:5] for part in losses["questions"]]):
                assert losses["total"] == pytest.approx(sum(part[-1] for part in parts))
        # Without the losses, all models have the median verdicts.
        references = [run["score"] + run["losses"]["total"] for run in overview["runs"]]
        assert references == pytest.approx([references[0]] * 4)
        category, question, mean, reference, loss, task = overview["runs"][-1]["losses"]["questions"][0]
        means = next(part["means"] for part in overview["means"] if part["category"] == category)
        expected = means[-1][question], statistics.median(row[question] for row in means)
        assert (mean, reference) == pytest.approx(expected)
        assert loss > 0
        assert len({part[5] for part in losses["questions"]}) == min(
            len(losses["questions"]), len(overview["questions"])
        )
        assert overview["questions"][task]["subject"] == overview["checklists"][category]["name"]


def test_plots_have_sizes_and_contexts_from_names_and_wanted_lengths(suite, tmp_path):
    skills = {"heron-7b-128k": 2, "Heron-7B": 4, "heron-7b-1m": 1, "stork-8x22b": 3, "crane-0.5b": 0, "opt-api": 2}
    skills |= {"opt-0b": 1, f"{'9' * 240}b": 1}  # without a size
    runs = [own.judged_run(tmp_path / name, suite, skill=skill) for name, skill in skills.items()]
    models = {model.model: (number, model) for number, model in enumerate(score_judged_runs(suite, runs).models)}
    by_size, scores, words, contexts = plots_of(score_judged_runs(suite, runs))
    sizes = {line["run"]: line["points"] for line in by_size["series"]}
    assert len(sizes) == 5
    number, model = models["stork-8x22b"]
    assert sizes[number] == [(176, model.average.rescaled)]
    [free] = [answer for answer in model.answers if answer.key == ("report_1", None, 1)]
    of_length = model.lengths["90"]
    for place, plot in enumerate((scores, words)):
        [points] = [line["points"] for line in plot["series"] if line["run"] == number]
        first = (suite.rescaling(free.score), free.words)[place]
        assert points == [(0, first), (90, (of_length.rescaled, of_length.words)[place])]
    assert words["series"][-1] == {"run": None, "points": [(0, 0, 0, 0), (90, 0, 0, 90)], "hasBand": True}
    assert [line["run"] for line in contexts["series"]] == [
        models[name][0] for name in ("Heron-7B", "heron-7b-128k", "heron-7b-1m")
    ]
    assert [line["dash"] for line in contexts["series"]] == ["solid", "dash", "dash"]
    assert contexts["x"]["names"] == ["letters", "reports", "all areas"]
    assert {plot["y"]["title"] for plot in (by_size, scores, contexts)} == {"score"}


def test_what_a_figure_leaves_out_is_named(suite, runs, tmp_path):
    noted = replace(suite, notes=("the weights are a guess",))
    assert ">The weights are a guess.<" in written(noted, runs, tmp_path / "p.html")[0].read_text()
    overview = overview_in(written(suite, runs, tmp_path / "p.html")[0].read_text())
    assert overview["runs"][1]["remarks"]["area 0"].startswith("1 missing, ")
    assert overview["runs"][1]["gaps"] == [["letters", "missing", ["letter_2"], 1]]
    zero = score_judged_runs(suite, runs, missing="zero")
    model = overview_in(write_checklists(zero, runs, tmp_path / "p.html")[0].read_text())["runs"][1]
    remarks = {"area 0": "1 missing", "score": "1 missing"}
    assert (model["remarks"], model["questions"][1]) == (remarks, suite.rescaling(0))


def test_missing_unjudged_and_stale_answers_are_three_things(suite, tmp_path):
    run = own.judged_run(tmp_path / "m", suite, leave_out=("letter_1",))
    answers = {answer.id: answer for answer in run.answers(suite).values() if not answer.length}
    rows = {row.id: row for row in run.judgements(suite) if not row.length}
    rows["letter_2"] = replace(rows["letter_2"], verdicts=None, reasons=(), fault="form")
    answers["letter_3"] = Answer("letter_3", "Another.")
    write_run(tmp_path / "m", answers.values(), rows.values(), {"model": "m"})
    text = written(suite, open_runs([tmp_path / "m"]), tmp_path / "p.html")[0].read_text()
    overview = overview_in(text)
    states = dict(zip((question["id"] for question in overview["questions"]), overview["states"], strict=True))
    assert [states[id] for id in ("report_2", "letter_3", "letter_2", "letter_1")] == ["0", "1", "2", "3"]
    actual = tasks_in(text)
    assert actual["letter_2"]["answers"][0]["judgements"][0]["fault"] == "form"
    assert actual["letter_3"]["answers"][0]["judgements"][0]["stale"] is True
    assert actual["letter_1"]["answers"] == {}
    assert overview["runs"][0]["remarks"]["area 0"] == "1 missing, 1 unjudged, 1 stale"


def test_a_model_that_was_not_asked_for_a_length_misses_none_of_it(suite, tmp_path):
    no_lengths = own.own_suite(tuple(task for task in own.own_suite().tasks if task.length is None))
    runs = [own.judged_run(tmp_path / "a", suite), own.judged_run(tmp_path / "b", no_lengths, skill=2)]
    overview = overview_in(written(suite, runs, tmp_path / "p.html")[0].read_text())
    assert overview["states"][4] == "04"


def test_the_means_of_questions_are_those_of_the_judged_answers_and_equal_weights_are_shown(suite, runs, tmp_path):
    means = question_means(score_judged_runs(suite, runs))
    thanks = list(suite.checklists).index(("letters", "thanks"))
    (result,) = (mean for mean in means if mean["category"] == thanks)
    assert (result["length"], result["n"], result["means"][1]) == (None, [2, 1, 2], [0.75, 0.5, 0.25])
    assert [mean["length"] for mean in means] == [None, None, None, "90"]
    scores = score_judged_runs(suite, runs, weights="equal")
    overview = overview_in(write_checklists(scores, runs, tmp_path / "p.html")[0].read_text())
    assert overview["checklists"][1]["weights"] == [50, 50]


@pytest.mark.slow
def test_what_does_not_fit_is_left_out_in_order_and_said(suite, tmp_path, monkeypatch):
    numbers = random.Random(1)
    texts = {
        task.id: "".join(chr(numbers.randrange(0x4E00, 0x9FFF)) for _ in range(60_000))
        for task in own.own_suite().tasks
    }
    run = own.judged_run(tmp_path / "m", suite, texts=texts)
    whole = written(suite, [run], tmp_path / "p.html")[0].read_text()
    assert "leaves out" not in words_of(whole)
    assert overview_in(whole)["extent"] == [None, None]
    monkeypatch.setattr(pages, "MAX_BYTES", len(whole.encode()) * 2 // 3)
    cut = written(suite, [run], tmp_path / "p.html")[0].read_text()
    assert len(cut.encode()) <= pages.MAX_BYTES
    assert overview_in(cut)["extent"] == [32_000, None]
    answer = tasks_in(cut)["letter_1"]["answers"][0]
    assert (len(answer["texts"]), answer["length"]) == (32_000, 60_000)
    label = "leaves out the text of answers after the first 32,000 characters; a report in a folder"
    assert label in words_of(cut)
    monkeypatch.setattr(pages, "MAX_BYTES", 100_000)
    with pytest.raises(ChecklistError, match="too many for one page"):
        written(suite, [run], tmp_path / "p.html")
    folder = written(suite, [run], tmp_path / "folder")[0].read_text()
    assert overview_in(folder)["extent"] == [None, None]


@pytest.fixture(scope="module")
def hostile_pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    hostile = write_checklists(*own.hostile_runs(folder), folder / "hostile.html")
    plain = own.own_suite()
    runs = [own.judged_run(folder / "n", plain)]
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


def test_titles_leave_out_what_all_of_a_category_begin_with():
    tasks = [
        ChecklistTask(str(number), "a", "c", f"You should write a detailed answer to the question: {text}")
        for number, text in enumerate(("why is ice light?", "why is the sky blue?", "why does it rain?"))
    ]
    assert titles(tasks) == ["is ice light?", "is the sky blue?", "does it rain?"]
    assert titles(tasks[:2]) == [task.instruction for task in tasks[:2]]
    assert titles([ChecklistTask("1", "a", "c", None)]) == [""]


def test_the_headline_of_an_unfinished_model_says_how_many_areas_are_judged(suite, tmp_path):
    run = own.judged_run(tmp_path / "one", suite, leave_out=("report_1", "report_2"))
    page = written(suite, [run], tmp_path / "p.html")[0].read_text()
    assert "one</bdi></a>: 1 of 2 areas are judged.</h1>" in page
