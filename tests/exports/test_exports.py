"""Exports of runs: what the packages of each format read in the files, and what our own readers read back."""

from __future__ import annotations

import csv
import importlib.util
import json
import math
import re
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from makers.exported_runs import ABOUT, CONFIG, means, scored_run
from makers.hostile import NAMES
from makers.runs import files_of, make_run
from pfgen_fast import PfgenError, Scorer, TrialsError
from pfgen_fast.cli.app import main
from pfgen_fast.exports import About, export
from pfgen_fast.exports.about import FormatName
from pfgen_fast.exports.formats import FORMATS
from pfgen_fast.item_scores import ColumnNames, read_item_scores
from pfgen_fast.runs import RunScorer, item_scores_of
from pfgen_fast.runs.trials import find_runs
from pfgen_fast.suite.rules import SCORES


def same_scores(found, expected, tolerance: float) -> None:
    for metric, name in zip(SCORES, ("average", *SCORES[1:]), strict=True):
        (key,) = [one for one in found.metrics if one in (metric, f"pfgen_score/{name}")]
        np.testing.assert_allclose(found.values[key], expected.values[name], rtol=0, atol=tolerance)


@pytest.mark.parametrize("file", ["scores.csv", "scores.tsv.gz", "scores.parquet"])
@pytest.mark.parametrize("by", ["question", "answer"])
def test_tables_have_the_scores_of_the_runs(runs, mini, tmp_path, file, by):
    to = "parquet" if file.endswith("parquet") else "csv"
    assert export(runs, tmp_path / file, to=to, suite=mini, about=About(by=by)) == [tmp_path / file]
    found = read_item_scores([tmp_path / file], ColumnNames(score=SCORES))
    expected = item_scores_of(runs, Scorer(mini))
    assert found.models == ("org/model-0", "org/model-1")
    assert found.items == expected.items
    same_scores(found, expected, 0 if by == "question" else 1e-5)
    if by == "answer":
        np.testing.assert_array_equal(found.n_trials["score"], expected.n_trials["average"])
        np.testing.assert_allclose(found.variances["score"], expected.variances["average"], atol=1e-12)


def test_a_table_says_how_its_scores_were_made(runs, mini, tmp_path, scorer):
    export(runs, tmp_path / "a.csv", to="csv", suite=mini, about=About(by="answer"))
    with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == (3 + 4) * 8
    assert {row["signature"] for row in rows} == {scorer.signature}
    assert {row["suite_hash"] for row in rows} == {mini.metadata_hash}
    assert json.loads(rows[0]["config"]) == CONFIG
    assert rows[0]["date"] == "2026-01-03T10:20:07.500000+00:00"
    (hostile,) = [row["answer"] for row in rows if "<b>" in row["answer"] and row["model"] == "org/model-0"]
    assert hostile.endswith("\\ud800\u2028 <b>\n=1")


def test_the_harness_has_questions_as_documents_and_trials_as_repeats(runs, mini, tmp_path):
    written = export(runs, tmp_path / "out", to="lm-eval", suite=mini)
    assert [path.relative_to(tmp_path).as_posix() for path in written] == [
        "out/org__model-0/results_2026-01-03T10-20-07.500000.json",
        "out/org__model-1/results_2026-01-04T10-20-07.500000.json",
    ]
    found = read_item_scores([tmp_path / "out"])
    assert found.models == ("org/model-0", "org/model-1")
    assert len(found.items) == len(mini)
    same_scores(found, item_scores_of(runs, Scorer(mini)), 1e-5)
    results = json.loads(written[0].read_text(encoding="utf-8"))
    result, interval = means(runs[0], mini)
    assert results["results"]["pfgen"]["score,none"] == result["score"]
    assert results["n-samples"]["pfgen"] == {"original": 8, "effective": 8}
    metadata = results["configs"]["pfgen"]["metadata"]
    assert metadata["config"] == CONFIG
    assert metadata["interval_95"]["score"] == pytest.approx([interval.low, interval.high], abs=1e-5)
    (line, *_) = written[0].with_name("samples_pfgen_2026-01-03T10-20-07.500000.jsonl").read_text().splitlines()
    assert len(json.loads(line)["resps"][0]) == 3


@pytest.mark.models
def test_the_harness_prints_the_table_of_exported_results(runs, mini, tmp_path):
    utils = pytest.importorskip("lm_eval.utils")
    (path,) = export(runs[0], tmp_path, to="lm-eval", suite=mini)
    table = utils.make_table(json.loads(path.read_text(encoding="utf-8")))
    result, _ = means(runs[0], mini)
    assert re.search(rf"score +\|↑ +\|{result['score']:.4f}\|± +\|0\.\d{{4}}\|", table)
    names = [str(file) for file in path.parent.iterdir()]
    assert utils.get_results_filenames(names) == [str(path)]
    (samples,) = utils.get_sample_results_filenames(names)
    assert utils.get_file_task_name(Path(samples).name) == "pfgen"
    assert f"results_{utils.get_file_datetime(samples)}.json" == path.name


def test_entries_for_the_hub_are_those_of_its_client(runs, mini, tmp_path):
    hub, yaml = pytest.importorskip("huggingface_hub"), pytest.importorskip("yaml")
    if not hasattr(hub, "parse_eval_result_entries"):
        pytest.skip("this huggingface_hub does not know .eval_results")
    paths = export(runs, tmp_path / "out", to="eval-results", suite=mini, about=ABOUT)
    names = [path.relative_to(tmp_path / "out").as_posix() for path in paths]
    assert names == [f"org/model-{k}/.eval_results/pfgen.yaml" for k in range(2)]
    data = yaml.safe_load(paths[0].read_text(encoding="utf-8"))
    (entry,) = hub.parse_eval_result_entries(data)
    assert hub.eval_result_entries_to_yaml([entry]) == data
    result, interval = means(runs[0], mini)
    assert (entry.dataset_id, entry.task_id, entry.value) == ("org/benchmark", "default", result["score"])
    assert (entry.date, entry.source_url) == ("2026-01-03T10:20:07.500000Z", ABOUT.source_url)
    assert f"95 % interval {round(interval.low, 5):g} to {round(interval.high, 5):g}" in entry.notes
    assert Scorer(mini).signature in entry.notes
    assert '"temperature": 1.0' in entry.notes


def test_records_have_the_form_of_every_eval_ever(runs, mini, tmp_path):
    written = export(runs, tmp_path, to="every-eval-ever", suite=mini, about=ABOUT)
    uuid4 = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
    assert re.fullmatch(f"data/pfgen-mini/org/model-0/{uuid4}.json", written[0].relative_to(tmp_path).as_posix())
    record = json.loads(written[0].read_text(encoding="utf-8"))
    result, interval = means(runs[0], mini)
    assert record["schema_version"] == "0.3.0"
    assert record["retrieved_timestamp"] == "1767435607"
    assert record["model_info"]["id"] == "org/model-0"
    score = record["evaluation_results"][0]["score_details"]
    assert score["score"] == result["score"]
    ends = score["uncertainty"]["confidence_interval"]
    assert [ends["lower"], ends["upper"]] == pytest.approx([interval.low, interval.high], abs=1e-5)
    generation = record["evaluation_results"][0]["generation_config"]
    assert generation["generation_args"] == {"temperature": 1.0, "top_p": 1e-05, "max_tokens": 300}
    assert generation["additional_details"]["stop"] == '["Q:", "\\n\\n"]'
    package = importlib.util.find_spec("every_eval_ever")  # which needs Python 3.12
    if package is not None and package.submodule_search_locations:
        schema = Path(package.submodule_search_locations[0], "schemas", "eval.schema.json")
        jsonschema = pytest.importorskip("jsonschema")
        jsonschema.validate(record, json.loads(schema.read_text(encoding="utf-8")))


@pytest.mark.parametrize("to", [name for name in FORMATS if name != "inspect"])
def test_equal_runs_give_equal_files(runs, mini, tmp_path, to):
    output = {"csv": "a.csv", "parquet": "a.parquet"}.get(to, "a")
    for folder in ("first", "again"):
        (tmp_path / folder).mkdir()
        export(runs, tmp_path / folder / output, to=to, suite=mini, about=ABOUT)
    assert files_of(tmp_path / "first") == files_of(tmp_path / "again") != {}


@pytest.mark.parametrize("name", [*NAMES, "../../up", "/data/step-7", "a/b/c/d"])
def test_hostile_models_stay_below_the_directory(mini, tmp_path, name):
    yaml = pytest.importorskip("yaml")
    run = scored_run(tmp_path / "run", mini, {**CONFIG, "model": name, name: [name]}, 1)
    escaped = name.encode("utf-8", "backslashreplace").decode()
    for to in FORMATS:
        if to in ("model-index", "eval-results", "lm-eval", "every-eval-ever"):
            written = export(run, tmp_path / "out" / to, to=to, suite=mini, about=ABOUT)
            assert all(path.resolve().is_relative_to((tmp_path / "out" / to).resolve()) for path in written)
            text = written[0].read_text(encoding="utf-8")
            if to in ("lm-eval", "every-eval-ever"):
                assert json.loads(text)
                continue
            found = yaml.safe_load(text.split("---\n")[1] if to == "model-index" else text)
            if to == "model-index":
                assert found["model-index"][0]["name"] == escaped
                assert found["model-index"][0]["results"][0]["dataset"]["args"]["config"][escaped] == [escaped]


def test_other_profiles_sums_and_reasoning_are_recognised(mini, tmp_path):
    run = scored_run(tmp_path / "run", mini, profile="paper")
    with pytest.raises(TrialsError, match=r"not those of its answers with profile leaderboard; name the profile"):
        export(run, tmp_path / "a.csv", to="csv", suite=mini)
    export(run, tmp_path / "a.csv", to="csv", suite=mini, profile="paper")
    assert "profile:paper" in (tmp_path / "a.csv").read_text(encoding="utf-8")
    run = scored_run(tmp_path / "strip", mini, reasoning="strip")
    export(run, tmp_path / "b.csv", to="csv", suite=mini)
    assert "scored_reasoning" in (tmp_path / "b.csv").read_text(encoding="utf-8")


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
        (bad_result(lambda of: of.pop("scores")), r"result\.json: not a result: .*scores"),
        (bad_result(lambda of: of.update(score=math.nan)), r"score: a leaderboard needs a finite number"),
        (bad_result(lambda of: of.update(score=0.9)), "not those of its answers"),
        (bad_result(lambda of: of.update(metadata_hash="0" * 40)), "suite differs from what was scored"),
        (lambda run: (run.folder / "config.json").write_text("{}"), r"config\.json \(.*\) differs"),
        (lambda run: (run.folder / "result.json").write_text("{"), r"result\.json"),
    ],
)
def test_runs_that_cannot_be_exported_are_one_sentence(mini, tmp_path, spoil, problem):
    run = scored_run(tmp_path / "run", mini)
    spoil(run)
    with pytest.raises(TrialsError, match=problem) as caught:
        export(run, tmp_path / "out.yaml", to="model-index", suite=mini)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out.yaml").exists()


def test_missing_models_and_dates_are_asked_for(mini, tmp_path):
    run = scored_run(tmp_path / "run", mini, None)
    with pytest.raises(TrialsError, match=r"config\.json names no model; name it as on the Hub \(--model ORG/NAME\)"):
        export(run, tmp_path / "a.yaml", to="model-index", suite=mini)
    export(run, tmp_path / "a.yaml", to="model-index", suite=mini, model="org/name")
    assert 'name: "org/name"' in (tmp_path / "a.yaml").read_text(encoding="utf-8")
    lines = (json.dumps({"question": of.question, "answer": "x", "timestamp": "soon"}) for of in mini)
    make_run(tmp_path / "undated", list(lines), CONFIG)
    list(RunScorer(mini).score(find_runs([tmp_path / "undated"])))
    with pytest.raises(TrialsError, match=r"the answers have no dates; give the date of the run \(--date\)"):
        export(tmp_path / "undated", tmp_path / "out", to="lm-eval", suite=mini)
    (path,) = export(tmp_path / "undated", tmp_path / "out", to="lm-eval", suite=mini, date="2026-02-03T04:05+09:00")
    assert path.name == "results_2026-02-02T19-05-00.json"
    with pytest.raises(PfgenError, match="date: expected a date in ISO 8601, such as 2026-01-31, not 'today'"):
        export(tmp_path / "undated", tmp_path / "out", to="lm-eval", suite=mini, date="today")


@pytest.mark.parametrize(
    ("to", "output", "problem"),
    [
        ("model_index", "a.md", "unknown format 'model_index'; .*did you mean 'model-index'"),
        ("model-index", "a.csv", r"a\.csv: expected a file that ends with \.md, \.yaml, \.yml or a directory"),
        ("lm-eval", "a.json", r"a\.json: expected a directory"),
        ("csv", "a.parquet", r"a\.parquet: expected a file that ends with \.csv"),
        ("model-index", "a.yaml", r"a\.yaml: one file, but there are 2 to write; give a directory"),
        ("eval-results", "out", r"name the dataset of the benchmark on the Hub \(--dataset ORG/NAME\)"),
        ("every-eval-ever", "out", r"name the organization that made the evaluation \(--organization\)"),
    ],
)
def test_wrong_uses_are_one_sentence(runs, mini, tmp_path, to, output, problem):
    with pytest.raises(PfgenError, match=problem):
        export(runs, tmp_path / output, to=to, suite=mini)
    assert not (tmp_path / output).exists()


def test_runs_of_two_suites_are_no_table_and_two_runs_no_file(runs, mini, tmp_path):
    with pytest.raises(PfgenError, match="model: names one model, but 2 runs are of several"):
        export(runs, tmp_path / "a.csv", to="csv", suite=mini, model="x")
    twin = scored_run(tmp_path / "twin", mini)
    with pytest.raises(PfgenError, match=r"the file of both .* and .*; export them to different directories"):
        export([runs[0], twin], tmp_path / "out", to="lm-eval", suite=mini)
    (path,) = export([runs[0], twin], tmp_path / "out", to="eval-results", suite=mini, about=ABOUT)
    assert path.read_text(encoding="utf-8").count("task_id") == 2


def test_every_format_has_its_entry():
    assert set(FORMATS) == set(get_args(FormatName))


def test_the_command_writes_files_or_stdout(runs, mini, tmp_path, monkeypatch, capsys):
    folder = str(runs[0].folder)

    def called(*words: str) -> int:
        monkeypatch.setattr("sys.argv", ["pfgen-fast", "export", folder, "--suite", "mini", *words])
        try:
            main()
        except SystemExit as end:
            return int(end.code or 0)
        return 0

    assert called("--to", "model-index") == 0
    assert capsys.readouterr().out.startswith('model-index:\n  - name: "org/model-0"\n')
    assert called("--to", "csv", "-o", str(tmp_path / "a.csv")) == 0
    assert (tmp_path / "a.csv").exists()
    assert called("--to", "parquet") == 2
    assert "--to parquet needs a file or directory (--output)" in capsys.readouterr().err
