"""Results for the Hub in `.eval_results`, as huggingface_hub reads them."""

import json
import math

import pytest
from makers.hostile import NAMES
from makers.runs import make_run
from pfgen_fast import Scorer, TrialsError
from pfgen_fast.report.eval_results import write_eval_results
from pfgen_fast.runs.run_scorer import RunScorer
from pfgen_fast.runs.trials import find_runs

yaml = pytest.importorskip("yaml")
CONFIG = {"engine": "vllm", "max_tokens": 300, "mode": "qa", "model": "org/model"}
CONFIG |= {"stop": ["Q:", "\n\n"], "temperature": 1.0, "top_p": 1e-05}


def scored_run(folder, suite, config=CONFIG, n_trials=3, **scorer):
    """A run whose answers are beginnings of reference answers, and its result.json; one answer is hostile."""
    lines = []
    for trial in range(n_trials):
        for number, question in enumerate(suite):
            answer = question.answers["A"][trial][: 20 + 9 * number]
            answer += "\ud800\u2028 <b>\n=1" if trial == number == 1 else ""
            date = f"2026-01-0{trial + 1}T10:20:{number:02}.5"
            lines.append(json.dumps({"question": question.question, "answer": answer, "timestamp": date}))
    make_run(folder, lines, config)
    (run,) = find_runs([folder])
    (outcome,) = RunScorer(suite, force=True, **scorer).score([run])
    assert outcome.error is None
    return run


@pytest.fixture
def run(tmp_path, mini):
    return scored_run(tmp_path / "runs/org/model/abc", mini)


@pytest.fixture
def path(tmp_path):
    return tmp_path / ".eval_results" / "pfgen.yaml"


def test_entries_for_the_hub_are_those_of_its_client(run, mini, tmp_path, path):
    twin = scored_run(tmp_path / "twin", mini)
    write_eval_results([run, twin], path, "org/benchmark/chat", suite=mini)
    entry, other = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert entry == other
    result = json.loads((run.folder / "result.json").read_text(encoding="utf-8"))
    assert entry["dataset"] == {"id": "org/benchmark", "task_id": "chat"}
    assert entry["value"] == result["score"]
    assert "95 % interval of the score over questions ±" in entry["notes"]
    assert f"helpfulness {result['scores']['helpfulness']:.5f}; {Scorer(mini).signature}" in entry["notes"]
    assert '"temperature": 1.0' in entry["notes"]
    hub = pytest.importorskip("huggingface_hub")
    if hasattr(hub, "parse_eval_result_entries"):
        (parsed, _) = hub.parse_eval_result_entries([entry, other])
        assert hub.eval_result_entries_to_yaml([parsed]) == [entry]


@pytest.mark.slow
@pytest.mark.parametrize("name", [*NAMES, "no", "1e5", "2026-01-01", "~", "a: b", "# c", "a\n---\nb", "a\u0085b"])
def test_hostile_names_stay_texts(mini, tmp_path, path, name):
    run = scored_run(tmp_path / "run", mini, {**CONFIG, "model": name, name: [name, 1e-05, None]}, 1)
    write_eval_results([run], path, name, suite=mini)
    (entry,) = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert list(map(type, entry["dataset"].values())) == [str, str]
    assert "\n" not in entry["notes"]


def test_a_result_without_reasoning_is_recognised(mini, tmp_path, path):
    write_eval_results([scored_run(tmp_path / "run", mini, reasoning="strip")], path, "org/benchmark", suite=mini)
    assert "scored_reasoning" in path.read_text(encoding="utf-8")


def bad_result(change):
    def apply(run):
        path = run.folder / "result.json"
        content = json.loads(path.read_text(encoding="utf-8"))
        change(content)
        path.write_text(json.dumps(content), encoding="utf-8")

    return apply


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (lambda run: (run.folder / "result.json").unlink(), r"no result\.json; 'pfgen-fast score .*' writes it"),
        (bad_result(lambda result: result.pop("scores")), r"result\.json: not a result: .*scores"),
        (bad_result(lambda result: result.update(score=math.nan)), "not the result of the run's answers"),
        (bad_result(lambda result: result.update(score=0.9)), "not the result of the run's answers"),
        (bad_result(lambda result: result.update(metadata_hash="0" * 40)), "not the result of the run's answers"),
        (lambda run: (run.folder / "config.json").write_text("{}"), "not the result of the run's answers, config.json"),
        (lambda run: (run.folder / "result.json").write_text("{"), r"result\.json"),
    ],
)
def test_a_run_that_is_not_as_it_was_scored_is_one_sentence(run, mini, path, spoil, problem):
    spoil(run)
    with pytest.raises(TrialsError, match=problem) as caught:
        write_eval_results([run], path, "org/benchmark", suite=mini)
    assert "\n" not in str(caught.value)
    assert not path.exists()


def test_the_command_writes_results(call, run, mini, tmp_path, path):
    options = ("--suite", "mini", "--dataset", "org/benchmark", "--eval-results")
    code, out, _ = call("report", run.folder, *options, path)
    assert (code, out) == (0, f"1 run: {path}\n")
    scored_run(tmp_path / "runs/other", mini, {**CONFIG, "model": "org/other"})
    for words, problem in [
        (("report", tmp_path / "runs", *options, path), "the runs are of several models"),
        (("report", run.folder, *options, tmp_path / "b.csv"), "expected a file such as .eval_results/pfgen.yaml"),
        (("report", run.folder, "--eval-results", path), "--eval-results FILE.yaml and --dataset ORG/NAME: expected"),
        (("report", run.folder, *options, path, "--markdown"), "expected one of --output FILE.html"),
    ]:
        code, _, err = call(*words)
        assert (code, problem in " ".join(err.split())) == (2, True), err
