"""The function for `map` of Hugging Face datasets: its scores, its processes and its fingerprint."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from makers.documented import documented_example
from makers.engines import integration
from makers.frames import bits
from makers.generated_answers import scores_of
from pfgen_fast import ReferenceScorer, Scorer, ScorerSpec, Suite, TrialsError
from pfgen_fast.integrations.datasets import AddScores

pytestmark = pytest.mark.integrations
datasets = integration("datasets")
Hasher = integration("datasets.fingerprint").Hasher

NAMES = ("average", "fluency", "truthfulness", "helpfulness")


@pytest.fixture(scope="module")
def dataset(rows):
    return datasets.Dataset.from_list(rows)


@pytest.mark.parametrize("form", ["arrow", None, "numpy"])
@pytest.mark.parametrize("settings", [{}, {"num_proc": 2}])
def test_the_scores_are_those_of_the_scorer_bit_for_bit(dataset, rows, scorer, form, settings):
    add_scores = AddScores("mini", answer="text")
    scored = dataset.with_format(form).map(add_scores, batched=True, batch_size=128, **settings).with_format(None)
    expected = scores_of(rows, scorer)
    assert scored.column_names == ["id", "question", "text", *NAMES]
    assert scored["id"][:] == [row["id"] for row in rows]
    found = list(scored)
    for name in NAMES:
        assert bits(row[name] for row in found) == expected[name].tobytes()


def test_a_stream_is_scored_batch_by_batch(dataset, rows, scorer):
    stream = dataset.to_iterable_dataset().with_format("arrow")
    found = list(stream.map(AddScores("mini", answer="text"), batched=True, batch_size=64).with_format(None))
    assert bits(row["average"] for row in found) == scores_of(rows, scorer).average.tobytes()


def fingerprint_elsewhere(expression):
    script = f"""
from datasets.fingerprint import Hasher
from pfgen_fast import Suite
from pfgen_fast.integrations.datasets import AddScores
print(Hasher.hash({expression}))"""
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip()


def test_equal_functions_have_one_fingerprint_in_every_process(tmp_path, make_suite, monkeypatch):
    folder = make_suite({}, {})
    monkeypatch.chdir(folder.parent)
    used = AddScores(folder)
    used({"question": ["Q01"], "answer": ["an answer"]})
    same = [folder, str(folder), folder.name, Path(folder.name), Suite.load(folder), ScorerSpec(folder)]
    hashes = {Hasher.hash(AddScores(suite)) for suite in same}
    hashes |= {Hasher.hash(one) for one in (used, pickle.loads(pickle.dumps(used)))}
    hashes.add(fingerprint_elsewhere(f"AddScores({str(folder)!r})"))
    assert len(hashes) == 1
    assert len(pickle.dumps(used)) < 1500
    assert fingerprint_elsewhere("AddScores('mini')") == Hasher.hash(AddScores(Suite.load("mini")))
    part = AddScores(Suite.load("mini").only(["Q01", "Q07"]))
    assert fingerprint_elsewhere("AddScores(Suite.load('mini').only(['Q07', 'Q01']))") == Hasher.hash(part)


def test_other_functions_have_other_fingerprints(make_suite, monkeypatch):
    folder = make_suite({}, {})
    made = [
        AddScores("mini"),
        AddScores(folder),
        AddScores(Suite.load("mini").only(["Q01"])),
        AddScores(ScorerSpec("mini", profile="paper")),
        AddScores(ScorerSpec("mini", float_sum="naive")),
        AddScores("mini", columns=["average"]),
        AddScores("mini", answer="text"),
        AddScores("mini", question="id"),
        AddScores("mini", nulls="null"),
    ]
    make_suite({}, {"note": "another suite"})
    made.append(AddScores(folder))
    monkeypatch.setattr("pfgen_fast.scoring.scorer._core.__version__", "9.9.9")
    made.append(AddScores("mini"))
    assert len({Hasher.hash(one) for one in made}) == len(made)


@pytest.mark.parametrize("form", ["arrow", None, "numpy"])
def test_references_are_a_column_of_lists(form):
    rows = {"text": ["Ice floats.", "x"], "refs": [["It floats.", "Ice floats."], ["y"]]}
    scorer = ReferenceScorer(["bleu", "chrf"])
    add_scores = AddScores(scorer, answer="text", reference_column="refs")
    add_scores = pickle.loads(pickle.dumps(add_scores))
    scored = datasets.Dataset.from_dict(rows).with_format(form).map(add_scores, batched=True).with_format(None)
    expected = scorer.score(*rows.values())
    assert scored[:] == {**rows, "bleu": expected.bleu.tolist(), "chrf": expected.chrf.tolist()}
    assert Hasher.hash(add_scores) != Hasher.hash(AddScores(ReferenceScorer("bleu")))


@pytest.mark.parametrize("form", ["arrow", None])
def test_missing_answers_are_an_error_or_null(form):
    given = datasets.Dataset.from_dict({"question": ["Q07", "Q07"], "answer": ["Ice floats.", None]}).with_format(form)
    with pytest.raises(TrialsError, match=r"row 2( of the batch)?, column 'answer'"):
        given.map(AddScores("mini"), batched=True)
    scored = given.map(AddScores("mini", columns=["average"], nulls="null"), batched=True).with_format(None)
    assert scored["average"][:] == [0.02259, None]


@pytest.mark.parametrize("form", ["arrow", None])
@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"question": ["Q77"], "answer": ["x"]}, "row 1( of the batch)?, column 'question': unknown question 'Q77'"),
        ({"question": ["Q07"], "answr": ["x"]}, "no column 'answer'; .*did you mean 'answr'"),
        ({"question": ["Q07"], "answer": ["x"], "average": [1.0]}, "there is already a column 'average'"),
    ],
)
def test_rows_that_do_not_fit_are_one_sentence(form, columns, message):
    with pytest.raises(TrialsError, match=message):
        datasets.Dataset.from_dict(columns).with_format(form).map(AddScores("mini"), batched=True)


def test_a_table_without_rows_gets_its_columns():
    table = pa.table({"question": pa.array([], pa.string()), "answer": pa.array([], pa.string())})
    assert AddScores("mini")(table).schema.names == ["question", "answer", *NAMES]


def test_a_suite_from_memory_travels_whole(mini):
    suite = Suite("mine", mini.questions[:2])
    again = pickle.loads(pickle.dumps(AddScores(suite)))
    answer = mini.questions[0].answers["A"][0]
    found = again({"question": ["Q01"], "answer": [answer]})
    assert np.array(found["average"]).tobytes() == Scorer(suite).score("Q01", [answer]).average.tobytes()


def test_the_example_of_the_page_runs(capsys):
    exec(documented_example("answers.with_format"), {})
    assert capsys.readouterr().out.endswith(" 1\n")
