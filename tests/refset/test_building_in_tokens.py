from __future__ import annotations

import json
import re

import pytest
from makers.builds import write_config
from makers.tokens import write_tokenizer
from pfgen_fast import Scorer, Suite
from pfgen_fast.errors import BuildError, PfgenError
from pfgen_fast.refset.config import read_config
from pfgen_fast.refset.pipeline import build, records
from pfgen_fast.report.building import write_building_report
from pfgen_fast.suite.faults import find_faults

IN_TOKENS = """
[frequency]
order = 3
[length]
target = 14
keep = 40
[select]
size = 10
max_order = 4
"""


@pytest.mark.parametrize("tokenizer", ["words", pytest.param("tokenizer.json", marks=pytest.mark.slow)])
def test_a_suite_in_tokens_is_counted_in_tokens_from_end_to_end(make, tmp_path, tokenizer):
    if tokenizer.endswith(".json"):
        write_tokenizer(tmp_path / tokenizer, ["Ice floats because it is less dense than water.", "雷の光と音"])
    config = make(share=4, tables=IN_TOKENS, top=f'unit = "token"\ntokenizer = "{tokenizer}"')
    built = build(config)
    assert (built.problems, built.is_written) == ((), True)
    assert find_faults(config.suite) == []
    suite = Suite.load(config.suite)
    answers = list(suite["Q07"].answers["N"])
    (branch,) = (branch for branch in built.branches if branch.asked.question_id == "Q07")
    found = dict(records(branch))
    lengths = [len(tokens) for tokens in suite["Q07"].tokenizer.tokens(answers)]
    assert found["select"]["left"]["mean"] == pytest.approx(sum(lengths) / len(lengths))
    assert Scorer(suite).score("Q07", answers).fluency.mean() == pytest.approx(1)
    removed = branch.removed("frequency").to_pylist()
    assert removed
    assert all(len(suite["Q07"].tokenizer.tokens([row["reason"]])[0]) == 3 for row in removed if tokenizer == "words")
    assert "tokens" in write_building_report(built).read_text(encoding="utf-8")
    assert build(config).n_run == 0


def test_a_question_may_have_a_unit_of_its_own(make):
    config = make(of_question='unit = "character"', top='unit = "token"\ntokenizer = "words"')
    assert [asked.tokenizer for asked in config.questions] == [None, None]
    config = make(share=4, tables=IN_TOKENS, of_question='unit = "token"\ntokenizer = "whitespace"')
    assert build(config).is_written
    assert json.loads((config.suite / "Q01.json").read_bytes())["tokenizer"] == "whitespace"


@pytest.mark.parametrize(
    ("top", "message"),
    [
        ('unit = "token"', "tokenizer: expected 'whitespace', 'words' or a .json file"),
        ('unit = "character"\ntokenizer = "words"', "tokenizer: only for the unit 'token'"),
        ('tokenizer = "words"', "tokenizer: only for the unit 'token'"),
        ('unit = "token"\ntokenizer = "Q.json"', "tokenizer: expected"),
        ('unit = "token"\ntokenizer = "nowhere.json"', r"nowhere\.json: cannot be read"),
    ],
)
def test_a_wrong_tokenizer_is_named(make, top, message):
    with pytest.raises(PfgenError, match=message):
        make(top=top)


def test_tokenizers_come_and_go_with_the_suite(make, tmp_path):
    write_tokenizer(tmp_path / "bpe.json", ["Ice floats because it is less dense than water.", "雷の光と音"])
    config = make(share=4, tables=IN_TOKENS, top='unit = "token"\ntokenizer = "bpe.json"')
    assert build(config).is_written
    assert (config.suite / "bpe.json").exists()
    config = make(share=4, tables=IN_TOKENS, top='unit = "token"\ntokenizer = "words"')
    assert build(config).is_written
    assert not (config.suite / "bpe.json").exists()
    (config.suite / "other.json").write_text("{}")
    with pytest.raises(BuildError, match=r"holds 'other\.json', which is not part of a suite"):
        build(config)


def test_two_tokenizers_of_one_name_are_refused(make, tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        write_tokenizer(tmp_path / folder / "t.json", ["Ice floats.", folder])
    units = iter(("a", "b"))
    path = write_config(tmp_path, Suite.load("mini"), of_question='unit = "token"\ntokenizer = "X/t.json"')
    path.write_text(re.sub("X/", lambda _: next(units) + "/", path.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(BuildError, match=r"t\.json has the name of another"):
        read_config(path)
