"""`pfgen-fast evaluate`: one command with the files of its four steps, and its notes where a step is not possible."""

import json
import os
import re
import shutil
from types import SimpleNamespace

import pytest
from makers.fault_server import Reply, answering, serving
from makers.runs import results_as_lines
from pfgen_fast import Suite
from pfgen_fast.cli.score import evaluate
from pfgen_fast.generation.engines.transformers import LocalEngine
from pfgen_fast.runs import result_tables
from pfgen_fast.runs import run_placement as placement

RUN = ("evaluate", "-e", "ngram", "-s", "mini", "-n", "3")


@pytest.fixture
def field(call, varied, tmp_path, monkeypatch):
    """A folder to work in, where scored runs of the packaged suite stand for the published ones."""
    monkeypatch.chdir(tmp_path)
    assert call("score", varied, "-s", "mini", "-o", tmp_path / "others")[0] == 0
    table = tmp_path / "table.jsonl"
    table.write_text("".join(results_as_lines(tmp_path / "others")), encoding="utf-8")
    monkeypatch.setattr(result_tables, "_TABLE", table)
    return tmp_path


def test_a_run_is_made_scored_placed_and_reported(call, field):
    code, out, err = call(*RUN)
    assert (code, err.count("\n")) == (0, 1)  # the progress of the answers
    folder = next((field / "result/ngram/order-5").iterdir())
    lines = out.splitlines()
    placed = next(number for number, line in enumerate(lines) if ", rank " in line)
    assert lines[0].startswith("24 new answers: result/ngram/order-5/")
    assert " of 7, between " in lines[placed]
    assert "<title>" in (folder / "report.html").read_text(encoding="utf-8")

    files = {path: path.read_bytes() for path in folder.iterdir()}
    steps = ["generate", *RUN[1:]], ["score", folder, "-s", "mini"], ["place", folder]
    outputs = [call(*step) for step in (*steps, ["report", folder, "-s", "mini", "-o", folder / "report.html"])]
    assert [code for code, _, _ in outputs] == [0, 0, 0, 0]
    assert len(outputs[2][1].splitlines()) > 2
    assert outputs[2][1].splitlines()[1:] == lines[placed + 1 : placed + len(outputs[2][1].splitlines())]
    assert {path: path.read_bytes() for path in folder.iterdir()} == files


def test_its_interval_over_trials_is_that_of_sweep(call, field):
    lines = call(*RUN[:-1], "12")[1].splitlines()
    (point,) = json.loads(call("sweep", *RUN[1:-1], "12", "--json")[1])
    (line,) = [line for line in lines if line.startswith("12 trials: ")]
    half_width, later = map(float, re.findall("±([0-9.]+)", line))
    assert f"the expected score on these questions lies within ±{point['score_half_width']:.4f} (95 %" in line
    assert later == pytest.approx(half_width * (12 / 100) ** 0.5, rel=0.1)


@pytest.mark.slow
def test_its_figures_are_those_of_json_and_it_goes_on(call, field):
    first = json.loads(call(*RUN, "--json", "--report", "page.html")[1])
    assert (first["n_new"], first["report"], first["placement"]["of"]) == (24, "page.html", 7)
    assert first["placement"]["score"] == first["score"]
    more = json.loads(call(*RUN[:-1], "4", "--json", "--report=page.html")[1])
    assert (more["n_existing"], more["n_new"]) == (24, 8)
    assert call(*RUN, "--quiet")[1] == ""


@pytest.mark.slow
def test_a_run_of_another_suite_is_reported_but_not_placed(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = call(*RUN)
    assert (code, ", rank " in out) == (0, False)
    note = "note: not placed: mini is not the suite of the published runs (--suite pfgen-bench)"
    assert err.splitlines()[1] == note
    assert "pfgen-fast place" not in out
    assert "report: result/ngram" in out


@pytest.fixture
def quick(tmp_path, mini, monkeypatch):
    """The packaged suite stands for pfgen-bench, and six of its questions for the quick ones."""
    monkeypatch.setattr(placement, "Suite", SimpleNamespace(load=lambda _: mini))
    names = [question.question_id for question in mini][1:7]
    content = json.loads(result_tables.QUICK_FILE.read_text(encoding="utf-8"))
    path = tmp_path / "quick.json"
    path.write_text(json.dumps({**content, "metadata_hash": mini.metadata_hash, "questions": names}))
    monkeypatch.setattr(result_tables, "QUICK_FILE", path)
    result_tables.quick_questions.cache_clear()
    yield names
    result_tables.quick_questions.cache_clear()


@pytest.mark.slow
def test_a_quick_run_is_placed_on_its_questions_and_says_what_that_costs(call, field, quick):
    code, out, err = call(*RUN, "--quick")
    lines = out.splitlines()
    placed = next(number for number, line in enumerate(lines) if ", rank " in line)
    assert (code, lines[0].split(":")[0], " of 7, between " in lines[placed]) == (0, "18 new answers", True)
    assert "6 of 8 questions: all runs are ranked and compared on these questions only" in lines
    assert any(line.startswith("6 questions cost precision: ") for line in lines)
    assert err.splitlines()[-1].startswith("note: not reported: the run has some questions of the suite only")
    (record,) = json.loads(call("place", "result", "--json")[1])
    assert f"rank {record['rank']} of 7," in lines[placed]
    assert json.loads(call(*RUN, "--quick", "--json")[1])["placement"] == record
    assert call(*RUN)[0] == 0  # a run of all questions beside it
    assert len(json.loads(call("place", "result", "--json")[1])) == 2


def test_quick_questions_are_those_of_the_published_suite(call, field):
    code, _, err = call(*RUN, "--quick")
    assert (code, err.startswith("error: --quick: mini is not pfgen-bench")) == (2, True)
    code, _, err = call(*RUN, "--quick", "--limit", "2")
    assert (code, err.startswith("error: --quick: expected without --questions and --limit")) == (2, True)
    assert not (field / "result").exists()


def test_some_questions_are_placed_but_not_reported(call, field):
    code, out, err = call(*RUN, "--limit", "2")
    assert (code, "2 of 8 questions: all runs are ranked" in out) == (0, True)
    assert err.splitlines()[-1].startswith("note: not reported: ")


def test_a_page_that_cannot_be_written_is_refused_before_any_answer(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert call(*RUN, "--report", "page.pdf")[0] == 2
    assert not (tmp_path / "result").exists()


def test_the_published_suite_is_the_default(refused, field):
    assert "pfgen-bench" in refused("evaluate", "-e", "ngram")


@pytest.mark.slow
def test_a_run_without_a_complete_trial_is_not_placed(call, field, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    last = Suite.load("mini").questions[-1].question
    asked = ("-m", "org/model", "--mode", "qa", "--retries", "0", "-s", "mini", "-n", "1")

    def reply(request):
        return Reply(status=503) if request.question == last and is_down else answering("An answer.")

    with serving(reply) as server:
        is_down = True
        code, out, err = call("evaluate", "-e", "openai", "--base-url", server.base_url, *asked)
        assert (code, ", rank " in out, "503" in err) == (3, False, True), err
        is_down = False
        code, out, err = call("evaluate", "-e", "openai", "--base-url", server.base_url, *asked)
        assert (code, ", rank " in out) == (0, True)


@pytest.fixture
def training(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(evaluate, "SETTLED_SECONDS", 0)
    for step in (5, 10, 200):
        folder = tmp_path / f"training/step-{step}"
        folder.mkdir(parents=True)
        (folder / "config.json").write_text("{}")
        (folder / "model.safetensors").write_text(str(step))
    return tmp_path / "training"


@pytest.fixture
def run_all(call, training):
    """Evaluates the checkpoints with a server that has the model of each except those in `missing`."""
    missing, requested = set(), []

    def reply(request):
        requested.append(request.body["model"])
        return Reply(status=404) if request.body["model"] in missing else answering(f"It is {requested[-1]}.")

    with serving(reply) as server:
        usual = ("-e", "openai", "--base-url", server.base_url, "--mode", "qa", "-s", "mini", "-n", "1")

        def run(*options, expected=0):
            requested.clear()
            code, out, err = call("evaluate", *usual, *options)
            assert code == expected, err
            return out, " ".join(err.split()), list(dict.fromkeys(requested))

        run.missing = missing
        yield run


def rows(out):
    return [line.split("training/step-")[1].split("-")[0] for line in out.splitlines() if "step-" in line]


def test_several_models_become_a_table_in_the_order_of_steps(run_all, training):
    out, _, requested = run_all("-m", "training/step-*")
    assert requested == ["training/step-5", "training/step-10", "training/step-200"]
    assert rows(out) == ["5", "10", "200"]
    assert out.splitlines()[-2:] == ["±: half of the 95 % interval over questions", "suite: mini"]
    assert len(list(training.parent.glob("result/*/*/*/report.html"))) == 3
    pages = {path: path.stat().st_mtime_ns for path in training.parent.rglob("report.html")}
    out, _, requested = run_all("-m", "training/step-5", "-m", "training/step-1*", "-m", "org/model")
    assert requested == ["org/model"]
    assert "2 runs: up to date\n" in out
    assert all(path.stat().st_mtime_ns == moment for path, moment in pages.items())


@pytest.mark.slow
def test_other_weights_under_the_old_name_are_evaluated(run_all, training):
    run_all("-m", "training/step-*")
    (training / "step-10/model.safetensors").write_text("other")
    assert run_all("-m", "training/step-*")[2] == ["training/step-10"]
    assert len(list(training.parent.glob("result/training/step-10-*"))) == 2


@pytest.mark.slow
def test_a_checkpoint_that_fails_is_named_and_the_others_are_evaluated(run_all, training):
    run_all.missing.add("training/step-10")
    out, err, _ = run_all("-m", "training/step-*", "--report", "all.html", expected=3)
    assert "error: training/step-10: http://" in err
    assert rows(out) == ["5", "200"]
    assert (training.parent / "all.html").exists()
    run_all.missing.clear()
    out, _, requested = run_all("-m", "training/step-*", "--json")
    assert requested == ["training/step-10"]
    assert [json.loads(line)["status"] for line in out.splitlines()] == ["current", "scored", "current"]
    assert run_all("-m", "training/step-1", "-m", "step-*", expected=2)[1].startswith("error: step-*: no directory of")


NEEDS_WEIGHTS = "--watch and patterns need -m DIRECTORY and an engine that loads or requests it"


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("ngram", "--watch", "nan"), "--watch: expected a number, not 'nan'"),
        (("ngram", "--watch", "5"), NEEDS_WEIGHTS),
        (("ngram", "-m", "step-*"), f"{NEEDS_WEIGHTS}, not ngram"),
        (("openai", "--served-model", "x", "-m", "step-*"), f"{NEEDS_WEIGHTS}, not openai with --served-model"),
    ],
)
def test_checkpoints_need_an_engine_that_loads_or_requests_them(refused, options, problem):
    err = refused("evaluate", "-s", "mini", "-e", *options)
    assert " ".join(err.split()).startswith(f"error: {problem}")


@pytest.mark.slow
def test_watch_evaluates_checkpoints_when_they_are_complete(run_all, training, monkeypatch):
    looks = []

    def sleep(seconds):
        looks.append(seconds)
        if len(looks) == 1:
            (training / "step-300").mkdir()
            os.utime(training / "step-300", (4e9, 4e9))  # by a clock that is wrong
            monkeypatch.setattr(evaluate, "SETTLED_SECONDS", 60)
        elif len(looks) == 2:
            monkeypatch.setattr(evaluate, "SETTLED_SECONDS", 0)
        else:
            raise KeyboardInterrupt

    monkeypatch.setattr(evaluate.time, "sleep", sleep)
    out, err, requested = run_all("-m", "training/step-*", "--watch", "5")
    assert (looks, rows(out)) == ([5, 5, 5], ["5", "10", "200", "300"])
    assert requested[-1] == "training/step-300"
    assert "note: training/step-300: changed 0 s ago, waiting until it is 60 s old" in err
    assert err.count("waiting") == 1


@pytest.mark.models
def test_local_weights_are_loaded_from_each_checkpoint_once(call, tiny_model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for step in (20, 100):
        shutil.copytree(tiny_model, tmp_path / "training" / f"checkpoint-{step}")
    (tmp_path / "training/checkpoint-100/model.safetensors").write_bytes(b"")
    usual = ("-e", "transformers", "-m", "training", "-s", "mini", "-n", "1", "--examples", "2", "--max-tokens", "8")
    code, out, err = call("evaluate", *usual, "--device", "cpu")
    assert (code, "training/checkpoint-100: the model" in err, "cannot be loaded" in err) == (3, True, True)
    assert out.count("training/checkpoint-20-") == 1
    (config,) = (tmp_path / "result").rglob("config.json")
    assert json.loads(config.read_text())["mode"] == "chat"  # the tiny model has a template
    shutil.rmtree(tmp_path / "training/checkpoint-100")
    monkeypatch.setattr(LocalEngine, "load", None)  # a run that is complete needs no weights
    assert call("evaluate", *usual, "--device", "cpu")[0] == 0
