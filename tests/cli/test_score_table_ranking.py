"""Leaderboards of tables of scores, and scores by subject, on the command line."""

import csv
import io
import json
from pathlib import Path

import pytest
from makers.runs import make_run, trial_lines
from pfgen_fast import leaderboard
from pfgen_fast.base.mean_interval import mean_interval


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    """Scores of three models on eight items of three subjects; one model lacks an item."""
    lines = ["item,model,score,subject"]
    for number, model in enumerate(("org/a", "org/b", "c|d")):
        lines += [
            f"q{item},{model},{(item * (number + 2) % 7) / 7},{('maths', 'art')[item % 2] if item < 7 else 'law'}"
            for item in range(8)
            if (number, item) != (1, 0)
        ]
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_every_form_of_a_table_has_the_same_figures(call, printed, scores, tmp_path):
    board = leaderboard(scores)
    names = [part.model for part in board]
    code, markdown, err = call("leaderboard", scores, "-f", "markdown")
    assert (code, markdown) == (0, board.to_markdown())
    assert "note: ranked on the 7 of 8 items for which all 3 models have a score" in err
    rows = list(csv.DictReader(io.StringIO(call("leaderboard", scores, "-f", "csv")[1])))
    assert [(row["model"], float(row["score"])) for row in rows] == [(part.model, part.score.mean) for part in board]
    document = json.loads(call("leaderboard", scores, "--json", "-q")[1])
    assert [model["score_low"] for model in document["models"]] == [part.score.low for part in board]
    code, printed, _ = call("leaderboard", scores)
    assert [line.split()[1] for line in printed.splitlines()[1:4]] == names
    assert "the ranks that chance allows, at 95 % (paired t-tests against all other models, " in printed
    readme = tmp_path / "README.md"
    readme.write_text("# A\n<!-- leaderboard -->\nold\n<!-- /leaderboard -->\nend\n")
    code, _, err = call("leaderboard", scores, "--update", readme)
    assert (code, f"3 models: {readme}" in err) == (0, True)
    assert readme.read_text() == (f"# A\n<!-- leaderboard -->\n{board.to_markdown()}\n<!-- /leaderboard -->\nend\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("SCORES", "varied"), "varied: not a table of scores, while"),
        (("SCORES", "--format", "published"), "this layout is for runs; expected markdown, text or csv"),
        (("SCORES", "--published"), "no such option for tables; it is for runs: --published"),
        (("SCORES", "--metric", "scor"), "unknown metric 'scor'; expected one of score; did you mean 'score'?"),
        (("SCORES", "--models", "org/z"), "unknown model 'org/z'"),
        (("--published", "--metric", "score"), "no such option for runs; it is for tables: --metric"),
        (("--published", "--item-column", "x"), "no such option for runs; it is for tables: --item-column"),
        (("--published", "--by-subject"), "(for the published results: --suite pfgen-bench)"),
        (("--published", "--by-subject", "--suite", "mini"), "not scored with suite mini"),
    ],
)
def test_options_that_do_not_fit_are_refused(call, scores, arguments, message):
    code, out, err = call("leaderboard", *(scores if argument == "SCORES" else argument for argument in arguments))
    assert (bool(code), out) == (True, "")
    assert message in err


def test_subjects_of_a_table_are_a_second_table(call, printed, scores, tmp_path):
    printed = printed("leaderboard", scores, "--by-subject")
    assert printed.split("\n\n")[1].splitlines()[0].split("  ")[0] == "model"
    assert "–: no interval, because a subject has fewer than 4 items: art (3), maths (3), law (1)" in printed
    rows = list(csv.DictReader(io.StringIO(call("leaderboard", scores, "--by-subject", "-f", "csv")[1])))
    assert {row["subject_law_num_items"] for row in rows} == {"1"}
    assert {row["subject_law_low"] for row in rows} == {""}
    without = tmp_path / "without.csv"
    without.write_text("item,model,score\nq1,a,1\n")
    assert "name their column (--subject-column)" in call("leaderboard", without, "--by-subject")[2]


def test_subjects_of_runs_are_the_categories_of_their_questions(call, printed, mini, tmp_path):
    for number in range(2):
        make_run(tmp_path / f"runs/org/m{number}/abc", trial_lines(mini, first=number), {"model": f"org/m{number}"})
    out = printed("score", tmp_path / "runs", "--suite", "mini", "--json", "--by-subject")
    best = json.loads(out)[0]
    result = json.loads(Path(best["result"]).read_text(encoding="utf-8"))
    assert "subjects" not in result
    question_scores = {name: part["scores"]["average"] for name, part in result["questions"].items()}
    technology = [question_scores[item.question_id] for item in mini if item.category == "technology"]
    assert best["subjects"]["technology"] == {
        "score": mean_interval(technology).mean,
        "score_low": mean_interval(technology).low,
        "score_high": mean_interval(technology).high,
        "num_items": 2,
    }
    assert best["subjects"]["food"]["score_low"] is None
    arguments = (tmp_path / "runs", "--suite", "mini", "--by-subject")
    document = json.loads(call("leaderboard", *arguments, "--json")[1])
    assert best["subjects"] in [entry["subjects"] for entry in document]
    rows = list(csv.DictReader(io.StringIO(call("leaderboard", *arguments, "-f", "csv")[1])))
    assert float(rows[0]["subject_technology"]) == document[0]["subjects"]["technology"]["score"]
    assert "subjects" not in rows[0]
    for form, head in (("text", "  technology (2)"), ("published", "| technology (2) |")):
        assert head in call("leaderboard", *arguments, "-f", form)[1]
    _, out, _ = call("score", tmp_path / "runs/org/m0/abc", "--suite", "mini", "--by-subject")
    assert "technology          2" in out
    assert "–: no interval, because a subject has fewer than 4 questions: " in out
    assert "subjects" not in json.loads(call("leaderboard", tmp_path / "runs", "--json")[1])[0]
