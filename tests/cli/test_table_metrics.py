"""`score --metric`: tables whose rows contain their references, without a suite."""

import json
from pathlib import Path

import pytest
from pfgen_fast import ReferenceScorer

ROWS = [
    {"id": 1, "answer": "Ice floats on water.", "refs": ["Ice floats on the water.", "It floats."]},
    {"id": 2, "answer": "Iron sinks.", "refs": ["IRON SINKS."]},
]
OPTIONS = ("--metric", "bleu", "--metric", "chrf", "--reference-column", "refs", "--answer-column", "answer")


@pytest.fixture
def table(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("in.jsonl")
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    return path


def rows_of(path):
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


SETTINGS = [{}, {"lowercase": True}, {"tokenize": "char", "reduce": "mean"}, {"unit": "words", "lengths": "references"}]


@pytest.mark.parametrize("settings", SETTINGS)
def test_the_rows_get_the_metrics_of_the_scorer_and_the_command_prints_the_signature(call, table, settings):
    scorer = ReferenceScorer(["bleu", "chrf", "fluency"], **settings)
    arguments = ["--lowercase"] * settings.get("lowercase", False)
    arguments += [part for name, value in settings.items() if name != "lowercase" for part in (f"--{name}", value)]
    code, out, err = call("score", *OPTIONS, "--metric", "fluency", *arguments, table, "-v", "-o", "out.jsonl")
    assert (code, err) == (0, "")
    assert out.split("\n", 1)[0] == "2 rows scored: out.jsonl"
    assert f"signature: {scorer.signature}" in out.replace("\n", "")
    scores = scorer.score([row["answer"] for row in ROWS], [row["refs"] for row in ROWS])
    assert rows_of("out.jsonl") == [{**row, **of_row} for row, of_row in zip(ROWS, scores, strict=True)]


def test_a_filter_a_folder_and_json(call, table):
    code, out, _ = call("score", *OPTIONS, "--columns", "chrf", "--filter", "bleu > 30", table, "-o", "out/", "--json")
    [outcome] = json.loads(out)
    assert (code, outcome["rows"], outcome["rows_written"], outcome["suite"]) == (0, 2, 1, None)
    assert outcome["signature"].startswith("pfgen-fast:")
    assert [list(row) for row in rows_of("out/in.jsonl")] == [["id", "answer", "refs", "chrf"]]
    assert "up to date" in call("score", *OPTIONS, "--columns", "chrf", "--filter", "bleu > 30", table, "-o", "out/")[1]


@pytest.mark.parametrize(
    ("metric", "reads"), [("bleu", "answers from 'answer', references from 'refs'"), ("rep_4", "answers from 'answer'")]
)
def test_columns_are_found_and_the_mean_is_printed(call, table, metric, reads):
    code, out, err = call("score", table, "--metric", metric)
    one_model = "all rows are one model, because no column is named 'model'"
    assert (code, err) == (0, f"note: read {reads}; {one_model}\n")
    assert out.splitlines()[0].split()[:3] == ["rank", "model", metric]
    assert out.splitlines()[1].split()[-1] == "2"


def test_fewer_repetitions_rank_first(call, table):
    """Also in the table of scores that `score` writes."""
    rows = [{"id": n, "model": model, "answer": text} for n, (model, text) in enumerate([("b", "abab"), ("a", "abcd")])]
    table.write_text("".join(json.dumps({**row, "id": 1}) + "\n" for row in rows), encoding="utf-8")
    lines = call("score", table, "--metric", "rep_2")[1].splitlines()[1:3]
    assert [line.split()[:2] for line in lines] == [["1", "a"], ["2", "b"]]
    assert (
        call("score", table, "--metric", "rep_4", "--metric", "bleu", "-o", "x.csv")[0] == 2
    )  # bleu has no references
    for metric in ("rep_2", "rep_4"):
        assert call("score", table, "--metric", metric, "-o", "out.csv")[0] == 0
        code, out, _ = call("leaderboard", "out.csv", "--item-column", "id", "--score-column", metric)
        assert (code, f"{metric}: lower is better" in out) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--metric", "blue"], "unknown metric 'blue'; expected one of bleu, "),
        (["--metric", "bleu", "--tokenize", "ja"], "unknown tokenizer 'ja'; expected one of "),
        (
            ["--metric", "bleu", "--suite", "mini"],
            "--suite: --metric compares answers with the references in the table",
        ),
        (["--reference-column", "refs"], "--reference-column needs a metric, such as --metric bleu"),
        (["--metric", "rep_4", "--reference-column", "refs"], "--reference-column: rep_4 needs no references"),
        ([*OPTIONS, "--filter", "average > 1"], "no score 'average'; there are bleu, chrf"),
        (
            [*OPTIONS[:4], "--reference-column", "rfs", *OPTIONS[-2:]],
            "no column 'rfs'; there are 'id', 'answer', 'refs'",
        ),
    ],
)
def test_a_refused_command_is_one_sentence(call, table, arguments, says):
    code, out, err = call("score", table, "-o", "out.jsonl", *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert says in err
    assert not Path("out.jsonl").exists()
