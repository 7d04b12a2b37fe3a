import json
import re

import pytest
from makers.builds import write_config, write_raw
from pfgen_fast import Suite
from pfgen_fast.cli.app import Exit


@pytest.fixture(scope="module")
def config(tmp_path_factory, mini):
    folder = tmp_path_factory.mktemp("cli")
    write_raw(folder / "raw.jsonl", mini)
    return write_config(folder, mini)


def test_a_suite_is_built_and_checked(call, printed, config):
    out = printed("suite", "build", config, "--force")
    assert re.search(r"^Q07 +N +400 +400 +400 +\d+ +150 +40$", out, flags=re.MULTILINE)
    assert f"suite: {config.parent / 'made'}\n" in out
    assert (config.parent / "made.work" / "report.html").is_file()
    assert call("suite", "check", config.parent / "made")[0] == 0
    assert len(Suite.load(config.parent / "made")) == 2
    told = json.loads(call("suite", "build", config, "--json")[1])
    assert (told["n_stages_run"], told["problems"]) == (0, [])
    assert [row["select"] for row in told["sets"]] == [40, 40]


def test_options_reach_the_build(call, config):
    call("suite", "build", config)
    assert json.loads(call("suite", "build", config, "--json", "--threads", "1")[1])["n_stages_run"] == 0
    assert json.loads(call("suite", "build", config, "--json", "--force")[1])["n_stages_run"] == 12
    assert call("suite", "build", config, "--quiet") == (0, "", "")


def test_what_the_answers_decide_is_a_note_and_options_override_it(call, refused, config, mini, tmp_path):
    (tmp_path / "raw.jsonl").write_bytes((config.parent / "raw.jsonl").read_bytes())
    tables = "[frequency]\nbelow = 1\n[length]\ntarget = 90\n[select]\nsize = 40\nproposals = 300"
    open_config = write_config(tmp_path, mini, tables=tables, top="")
    code, out, err = call("suite", "build", open_config, "--json")
    assert code == 0
    assert "note: Q01: unit characters, because the script of the answers is Japanese\n" in err
    assert "note: Q07: unit words, because the script of the answers is Latin\n" in err
    assert [question.tokenizer is None for question in Suite.load(tmp_path / "made")] == [True, False]
    assert [asked["unit"] for asked in json.loads(out)["questions"]] == ["character", "words"]
    options = ("--unit", "whitespace", "--target", 100, "--json")
    told = json.loads(call("suite", "build", open_config, *options)[1])
    assert [list(asked.values())[1:4] for asked in told["questions"]] == [["whitespace", 100, 150]] * 2
    code, _, err = call("suite", "build", open_config, "--target", 50, "--limit", 50)
    problem = "score.target and score.limit: expected a target of at least 1, and a limit above"
    assert (code, problem in err) == (2, True)
    assert "are for a table of answers" in refused("suite", "build", open_config, "-o", tmp_path / "other")


def test_too_few_answers_are_an_exit_code(call, config, mini, tmp_path):
    (tmp_path / "raw.jsonl").write_bytes((config.parent / "raw.jsonl").read_bytes())
    code, _, err = call("suite", "build", write_config(tmp_path, mini, in_question='required = ["340"]'))
    assert code == Exit.PARTIAL
    assert "error: question Q07, set N: stage filter leaves 0 of 400 answers" in err
    assert not (tmp_path / "made").exists()


def test_every_call_reports_deviations_from_the_configuration(call, config, mini, tmp_path):
    (tmp_path / "raw.jsonl").write_bytes((config.parent / "raw.jsonl").read_bytes())
    written = write_config(
        tmp_path, mini, tables="[length]\ntarget = 100\nkeep = 30_000\n[select]\nsize = 40\nproposals = 3000"
    )
    code, _, err = call("suite", "build", written)
    assert (code, err.count("note: question")) == (0, 2)
    assert "compare answers in an alphabet by characters" in err
    assert "warning: 2 of 2 sets have fewer than 100 reference answers (question Q01, set N: 40), so " in err
    assert "note: question Q01, set N: stage length: length.keep is 30,000, but this stage received only " in err
    notes = json.loads(call("suite", "build", written, "--json")[1])["notes"]
    assert [note.split(",")[0] for note in notes] == ["question Q01", "question Q07"]


def test_keywords_are_proposed(call, printed, mini):
    out = printed("suite", "keywords", "mini", "Q02", "-n", 3)
    assert [line.split()[-1] for line in out.splitlines()[1:4]] == ["アントシアニン", "葉", "赤"]
    assert json.loads(call("suite", "keywords", "mini", "Q02", "--json")[1])[0]["rule"] == {"t": "アントシアニン"}
    assert "unknown question" in call("suite", "keywords", "mini", "Q99")[2]
