"""Results in model cards and `.eval_results`, as huggingface_hub reads them."""

import datetime
import json
import math
import sys

import pytest
from makers.hostile import NAMES
from makers.runs import make_run
from pfgen_fast import PfgenError, Scorer, TrialsError
from pfgen_fast.base.mean_interval import mean_interval
from pfgen_fast.report.model_card import write_model_card
from pfgen_fast.runs.run_scorer import RunScorer
from pfgen_fast.runs.trials import find_runs
from pfgen_fast.suite.rules import SCORES

yaml = pytest.importorskip("yaml")
DATASET = "org/benchmark"
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
def figures(run):
    """The figures of result.json, and their interval over questions."""
    result = json.loads((run.folder / "result.json").read_text(encoding="utf-8"))
    averages = [question["scores"]["average"] for question in result["questions"].values()]
    return result, mean_interval(averages)


def test_a_card_has_four_metrics_with_intervals(run, figures, mini, tmp_path):
    hub = pytest.importorskip("huggingface_hub")
    path = tmp_path / "new" / "README.md"
    write_model_card([run], path, suite=mini, dataset=DATASET)
    card = hub.ModelCard.load(path)
    result, interval = figures
    assert card.data.model_name == "org/model"
    score, *parts = card.data.eval_results
    assert [part.metric_type for part in parts] == [f"pfgen-{name}" for name in SCORES[1:]]
    assert (score.metric_value, score.dataset_type, score.dataset_config) == (result["score"], DATASET, "qa")
    assert score.metric_args["low"] == pytest.approx(interval.low, abs=1e-5)
    assert score.dataset_args["config"] == CONFIG
    assert score.dataset_args["signature"] == Scorer(mini).signature


def test_entries_for_the_hub_are_those_of_its_client(run, figures, mini, tmp_path):
    hub = pytest.importorskip("huggingface_hub")
    if not hasattr(hub, "parse_eval_result_entries"):
        pytest.skip("this huggingface_hub does not know .eval_results")
    path = tmp_path / ".eval_results" / "pfgen.yaml"
    twin = scored_run(tmp_path / "twin", mini)
    write_model_card([run, twin], path, suite=mini, dataset=f"{DATASET}/chat")
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    entry, _ = hub.parse_eval_result_entries(data)
    assert hub.eval_result_entries_to_yaml([entry]) == data[:1]
    result, interval = figures
    assert (entry.dataset_id, entry.task_id, entry.value) == (DATASET, "chat", result["score"])
    assert entry.date == "2026-01-03T10:20:07.500000Z"
    assert f"95 % interval {round(interval.low, 5):g} to {round(interval.high, 5):g}" in entry.notes
    assert Scorer(mini).signature in entry.notes
    assert '"temperature": 1.0' in entry.notes


CARD = """\
---
# a comment
license: mit
model-index:
- name: short
  results:
  - task: {type: text-generation}
    dataset: {type: other, name: Other}
    metrics:
    - {type: acc, value: 0.5, name: "a: b", args: {on: 2026-01-01}}
  - task: {type: text-generation}
    dataset: {type: org/benchmark, name: old, config: qa}
    metrics: [{type: acc, value: 0.1}]
# about languages
language: [ja, no]
---
# Model

--- text ---
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_card_keeps_everything_but_our_earlier_results(run, mini, tmp_path, newline):
    hub = pytest.importorskip("huggingface_hub")
    path = tmp_path / "README.md"
    path.write_bytes(CARD.replace("\n", newline).encode())
    write_model_card([run], path, suite=mini, dataset=DATASET)
    first = path.read_bytes()
    write_model_card([run], path, suite=mini, dataset=DATASET)
    assert path.read_bytes() == first
    text = first.decode()
    assert text.startswith(
        newline.join(["---", "# a comment", "license: mit", "# about languages", "language: [ja, no]"])
    )
    assert text.endswith(newline.join(["---", "# Model", "", "--- text ---", ""]))
    card = hub.ModelCard(text)
    assert (card.data.license, card.data.model_name) == ("mit", "short")
    other, *ours = card.data.eval_results
    assert (other.metric_name, other.metric_args) == ("a: b", {True: datetime.date(2026, 1, 1)})
    assert len(ours) == 4


@pytest.mark.parametrize(
    "card", ["", "# Model\n", "---\nlicense: mit\n---\n# Model\n", "\ufeff---\r\nlicense: mit\r\n---"]
)
def test_a_card_without_results_gets_them(run, mini, tmp_path, card):
    path = tmp_path / "README.md"
    path.write_bytes(card.encode())
    write_model_card([run], path, suite=mini)
    text = path.read_bytes().decode()
    assert text.count("model-index:") == 1
    assert ("license: mit" in card) == ("license: mit" in text)
    assert text.endswith("# Model\n") == card.endswith("# Model\n")


def test_a_missing_package_is_named(run, mini, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(PfgenError, match=r"needs yaml, which is not installed: pip install 'pfgen-fast\[cards\]'"):
        write_model_card([run], tmp_path / "README.md", suite=mini)


@pytest.mark.parametrize(
    ("card", "problem"),
    [
        ("---\nmodel-index: [\n---\n", "its metadata is not valid YAML"),
        ("---\nmodel-index: 7\n---\n", "expected a list of models, each with its results"),
        ("---\nmodel-index: [{name: a}]\n---\n", "expected a list of models, each with its results"),
        ("---\n{license: mit}\n---\n", "indented or in braces; expected keys at the beginning of lines"),
        ("---\n# x\n\n  license: mit\n---\n", "indented or in braces"),
    ],
)
def test_a_card_that_cannot_be_updated_stays_as_it_is(run, mini, tmp_path, card, problem):
    path = tmp_path / "README.md"
    path.write_text(card, encoding="utf-8")
    with pytest.raises(PfgenError, match=problem):
        write_model_card([run], path, suite=mini)
    assert path.read_text(encoding="utf-8") == card


@pytest.mark.slow
@pytest.mark.parametrize("name", [*NAMES, "no", "1e5", "2026-01-01", "~", "a: b", "# c", "a\n---\nb", "a\u0085b"])
def test_hostile_names_stay_texts(mini, tmp_path, name):
    run = scored_run(tmp_path / "run", mini, {**CONFIG, "model": name, name: [name, 1e-05, None]}, 1)
    escaped = name.encode("utf-8", "backslashreplace").decode()
    write_model_card([run], tmp_path / "README.md", suite=mini)
    card = (tmp_path / "README.md").read_bytes().decode()
    (entry,) = yaml.safe_load(card.split("---\n", 1)[1].rsplit("---\n", 1)[0])["model-index"]
    assert entry["name"] == escaped
    assert entry["results"][0]["dataset"]["args"]["config"][escaped] == [escaped, 1e-05, None]
    write_model_card([run], tmp_path / "README.md", suite=mini)
    assert (tmp_path / "README.md").read_bytes().decode() == card


@pytest.mark.parametrize("settings", [{"profile": "paper"}, {"float_sum": "naive"}, {"reasoning": "strip"}])
def test_other_profiles_sums_and_reasoning_are_recognised(mini, tmp_path, settings):
    run = scored_run(tmp_path / "run", mini, **settings)
    write_model_card([run], tmp_path / "README.md", suite=mini)
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert "profile: paper" in text if "profile" in settings else "profile: leaderboard" in text
    assert ("scored_reasoning: strip" in text) == ("reasoning" in settings)


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
        (bad_result(lambda result: result.update(score=math.nan)), r"score: a leaderboard needs a finite number"),
        (bad_result(lambda result: result.update(score=0.9)), "not those of its answers"),
        (bad_result(lambda result: result.update(metadata_hash="0" * 40)), "suite differs from what was scored"),
        (lambda run: (run.folder / "config.json").write_text("{}"), r"config\.json \(.*\) differs"),
        (lambda run: (run.folder / "result.json").write_text("{"), r"result\.json"),
    ],
)
def test_a_run_that_is_not_as_it_was_scored_is_one_sentence(run, mini, tmp_path, spoil, problem):
    spoil(run)
    with pytest.raises(TrialsError, match=problem) as caught:
        write_model_card([run], tmp_path / "README.md", suite=mini)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "README.md").exists()


def test_a_model_without_a_name_is_asked_for(mini, tmp_path):
    run = scored_run(tmp_path / "run", mini, None)
    with pytest.raises(TrialsError, match=r"config\.json names no model; name it as on the Hub \(--model ORG/NAME\)"):
        write_model_card([run], tmp_path / "README.md", suite=mini)
    write_model_card([run], tmp_path / "README.md", suite=mini, model="org/name")
    assert "name: org/name\n" in (tmp_path / "README.md").read_text(encoding="utf-8")


def test_the_command_writes_a_card(call, run, mini, tmp_path):
    options = ("--suite", "mini", "--model-card")
    code, out, _ = call("report", run.folder, *options, tmp_path / "README.md")
    assert (code, out) == (0, f"1 run: {tmp_path / 'README.md'}\n")
    assert (tmp_path / "README.md").read_text(encoding="utf-8").startswith("---\nmodel-index:\n- name: org/model\n")
    scored_run(tmp_path / "runs/other", mini, {**CONFIG, "model": "org/other"})
    for words, problem in [
        (("report", tmp_path / "runs", *options, tmp_path / "b.md"), "the runs are of several models"),
        (("report", run.folder, *options, tmp_path / "b.csv"), "expected a model card such as README.md, or a file"),
        (("report", run.folder, *options, tmp_path / "b.yaml"), "name the dataset of the benchmark on the Hub"),
        (("report", run.folder, *options, tmp_path / "b.md", "--markdown"), "expected one of --output FILE.html"),
        (("report", run.folder, "--markdown", "--model", "a/b"), "--model and --dataset: expected with --model-card"),
    ]:
        code, _, err = call(*words)
        assert (code, problem in " ".join(err.split())) == (2, True), err
