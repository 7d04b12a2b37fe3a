"""A suite built from the answers of the published runs ranks these runs as the published suite does."""

import json
from pathlib import Path

import pytest
from makers import published
from makers.builds import toml
from pfgen_fast import Scorer, Suite, build_suite
from pfgen_fast.build.build_config import read_config
from pfgen_fast.lab.statistics.correlation import spearman
from pfgen_fast.runs.aggregation import evaluate
from pfgen_fast.runs.trials import find_runs
from pfgen_fast.suite.keywords import rule_source

# There are about 1,100 answers per question instead of a million, so an n-gram that occurs once is not an anomaly;
# `below = 1` turns that stage off.
TABLES = """
seed = "parity"
suite = "pooled"
[normalise]
lists = ["formal-ja"]
[frequency]
below = 1
[length]
keep = 800
[select]
size = 300
restarts = 1
[sets]
pooled = "raw.jsonl"
"""


@pytest.fixture(scope="module")
def pooled(tmp_path_factory) -> Suite:
    folder = tmp_path_factory.mktemp("pooled")
    lines = [
        json.dumps({"question": question, "answer": answer}, ensure_ascii=False)
        for question, answers in published.answers_by_question().items()
        for answer in answers
    ]
    (folder / "raw.jsonl").write_text("\n".join(lines), encoding="utf-8")
    texts = [TABLES]
    for question in published.suite():
        keywords = toml([rule_source(rule) for rule in question.keywords])
        texts.append(
            f"[[question]]\nid = {toml(question.question_id)}\nquestion = {toml(question.question)}\n"
            f"keywords = {keywords}\n"
        )
    (folder / "config.toml").write_text("\n".join(texts), encoding="utf-8")
    built = build_suite(read_config(folder / "config.toml"))
    assert built.problems == ()
    return Suite.load(built.config.suite)


def mean_scores(suite: Suite) -> list[float]:
    """The score of each published run."""
    scorer = Scorer(suite)
    return [evaluate(find_runs([run.folder])[0], scorer).score for run in published.runs()]


@pytest.mark.parity
@published.needs_published_runs
def test_the_suite_of_pooled_answers_ranks_runs_as_the_published_one(pooled: Suite, tmp_path: Path):
    ours, theirs = mean_scores(pooled), mean_scores(published.suite())
    for run, our, their in sorted(zip(published.runs(), ours, theirs, strict=True), key=lambda row: -row[2]):
        print(f"{run.name:60} published {their:.4f} pooled {our:.4f}")
    assert spearman(ours, theirs) >= 0.95
