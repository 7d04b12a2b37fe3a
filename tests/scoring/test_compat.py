"""Upstream's names: a scorer for the object of a question file, and a suite in one file."""

import json
import pickle

import pytest
from pfgen_fast import PfgenError, Reward, Suite
from pfgen_fast import Scorer as SuiteScorer
from pfgen_fast.compat import Scorer

KEYS = ["fluency", "fluency_discount", "truthfulness", "helpfulness", "helpfulness_results", "average"]
ANSWERS = ["Ice is less dense than water, because its molecules form an open lattice.", "Ice floats.", "", "x" * 300]


@pytest.fixture(scope="module")
def questions(mini):
    return [json.loads(path.read_bytes()) for path in sorted(mini.folder.glob("Q*.json"))]


def test_scores_have_the_keys_and_values_of_upstream(scorer, questions):
    for data in questions:
        compatible = pickle.loads(pickle.dumps(Scorer({**data, "notes of mine": {1: 2}})))
        for answer in ANSWERS:
            scores = compatible.score(answer)
            assert list(scores) == KEYS
            assert json.dumps(scores) == json.dumps(scorer.score_one(data["question_id"], answer))
            assert all(isinstance(result, tuple) for result in scores["helpfulness_results"])


def test_a_question_is_prepared_once(questions):
    first, second = (Scorer(json.loads(json.dumps(questions[0]))) for _ in range(2))
    assert first._scorer is second._scorer
    questions[0]["keywords"].append({"t": "floats"})
    assert Scorer(questions.pop(0))._scorer is not first._scorer


@pytest.mark.parametrize(
    ("data", "options", "sentence"),
    [
        ({}, {}, "data: expected a question with 'answers'"),
        (None, {}, "data: expected a question with 'answers', not None"),
        ({"answers": {"A": []}}, {}, r"data: answers\['A'\]: expected a list of at least one"),
        ({"answers": {"A": [3]}}, {}, r"data: answers\['A'\]\[0\]: expected a string, not int"),
        ({"answers": {"A": ["a"]}, "keywords": [{"t": "("}]}, {}, r"data: keywords\[0\]"),
        ({"answers": {"A": ["a"]}}, {"fluency_n_gram": 5}, "n-grams: expected the lengths 10 and 3, not 5 and 3"),
    ],
)
def test_a_question_that_cannot_score_is_one_sentence(data, options, sentence):
    with pytest.raises(PfgenError, match=sentence):
        Scorer(data, **options)


def test_a_suite_may_be_one_file_with_a_question_in_each_line(mini, scorer, tmp_path):
    path = tmp_path / "mine.jsonl"
    contents = [json.loads(file.read_bytes()) for file in sorted(mini.folder.glob("Q*.json"))]
    path.write_text("\n".join(json.dumps(content, ensure_ascii=False) for content in contents), encoding="utf-8")
    suite = Suite.load(path)
    assert suite == Suite.load(str(path))
    assert [question.question for question in suite] == [question.question for question in mini]
    assert SuiteScorer(suite).reward("Q07", ANSWERS).tobytes() == scorer.reward("Q07", ANSWERS).tobytes()
    reward = pickle.loads(pickle.dumps(Reward(str(path))))
    assert reward("Q07", ANSWERS).tobytes() == scorer.reward("Q07", ANSWERS).tobytes()
    path.write_text(f"{json.dumps(contents[0])}\n{json.dumps({**contents[1], 'answers': 3})}", encoding="utf-8")
    with pytest.raises(PfgenError, match=r"mine\.jsonl, line 2: 'answers': expected an object"):
        Suite.load(path)
    path.write_text("", encoding="utf-8")
    with pytest.raises(PfgenError, match=r"mine\.jsonl: expected a question in each line"):
        Suite.load(path)
