"""The experiments of docs/reward_hacking.md, and its tables and picture."""

from __future__ import annotations

import math

import pytest
from makers.documented import tool
from pfgen_fast import Reward


@pytest.fixture(scope="module")
def program():
    return tool("reward_hacking")


@pytest.fixture(scope="module")
def search(program):
    return program.reward_search


def test_the_page_and_its_picture_are_what_the_program_makes_of_the_files(program, search):
    found, training = program.read(search.FILE), program.read(program.reward_training.FILE)
    page = program.PAGE.read_text(encoding="utf-8")
    assert program.filled(page, found, training) == page
    assert page.count(program.BEGIN) == 2
    assert program.PICTURE.read_text(encoding="utf-8") == program.draw(training["runs"])


@pytest.mark.parametrize("metric", ["score", "truthfulness"])
def test_a_search_raises_the_reward_and_finds_the_same_again(search, metric):
    reward = Reward("mini", metric=metric)
    for question, (answer, known) in zip(("Q07", "Q08"), list(search.starts("good"))[6:], strict=True):
        start = "Because of " + answer[:20]
        found = search.search(reward, question, start, known, seed="1", rounds=30)
        assert found == search.search(reward, question, start, known, seed="1", rounds=30)
        assert reward(question, [found])[0] > reward(question, [start])[0]


@pytest.mark.nightly
def test_the_search_finds_what_the_file_has(program, search):
    assert search.measure() == program.read(search.FILE)


@pytest.mark.models
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning", "ignore::DeprecationWarning")
def test_a_model_is_made_and_trained_with_each_reward(program, tmp_path):
    training, measures = program.reward_training, tool("reward_measures")
    suites = measures.write_suites(tmp_path)
    training.write_model(tmp_path / "model", 2)
    for shape in training.SHAPES.values():
        run = training.train(tmp_path / "model", suites, shape, 2, window=1)
        assert [row["step"] for row in run["rows"]] == [1, 2]
        assert all(math.isfinite(value) for row in run["rows"] for value in row.values())
