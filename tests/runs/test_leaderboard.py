"""Leaderboards: the same figures on every Python, and the order and layout of the published table."""

import builtins
import json
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest
from makers import published
from makers.reported import made_result
from makers.runs import make_varied_runs
from pfgen_fast import Suite, TrialsError
from pfgen_fast.cli.score.score import print_outcomes
from pfgen_fast.runs.leaderboard import find_results, rank, to_published, update_markdown
from pfgen_fast.runs.run_result import read_result
from pfgen_fast.runs.run_scorer import Outcome
from pfgen_fast.runs.trials import RunFolder

# Fluency or truthfulness by set of published runs for which the last digit in the table depends on the sum.
NEAR_A_TIE = [
    ("Qwen/Qwen2.5-72B-Instruct/5e498db", (0.0447, 0.39509, 0.25108, 0.24563), "0.936"),
    ("Qwen/Qwen3-8B/667d843", (0.02162, 0.26802, 0.17674, 0.17212), "0.638"),
    ("google/gemini-1.5-pro-002/873c5b2", (0.05606, 0.40923, 0.26111, 0.2491), "0.976"),
]


def write_result(path: Path, model: str, *, score: float = 0.5, shares: Sequence[float] = (0.5,)) -> None:
    by_set = dict(zip("RPST", shares, strict=False))
    scores = {"fluency": by_set, "truthfulness": by_set, "helpfulness": 0.5, "average": score}
    changes = {"config": {"model": model, "mode": "qa"}, "num_trials": 10, "length": 100.0, "scores": scores}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(made_result(Suite.load("mini"), score=score, **changes)), encoding="utf-8")


@pytest.mark.parametrize(("run", "shares", "expected"), NEAR_A_TIE, ids=[row[0] for row in NEAR_A_TIE])
def test_the_figures_of_a_leaderboard_are_the_published_ones_on_every_python(call, tmp_path, run, shares, expected):
    write_result(tmp_path / run / "result.json", run, shares=shares)
    assert call("leaderboard", tmp_path, "-f", "published")[1].count(f"<code>{expected}</code>") == 2


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A checkout of the layout of pfgen-bench, with its yardsticks below data; the working folder."""
    write_result(tmp_path / "result/me/good/abc/result.json", "me/good", score=0.8)
    write_result(tmp_path / "result/me/bad/abc/result.json", "me/bad", score=0.2)
    write_result(tmp_path / "data/result.json", "system/ground-truth", score=1.0)
    write_result(tmp_path / "data/final/result.json", "system/criteria", score=0.5)
    (tmp_path / "data/Q01.json").write_text("{}")
    (tmp_path / "README.md").write_text("# Me\n\n<!-- leaderboard -->\n<!-- /leaderboard -->\n\nThe end.\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("place", ["result", "result/", "."])
def test_the_results_of_a_checkout_come_with_its_yardsticks(call, checkout, monkeypatch, place):
    monkeypatch.chdir(checkout / "result" if place == "." else checkout)
    assert call("leaderboard", place, "--update", checkout / "README.md") == (0, "", f"4 runs: {checkout}/README.md\n")
    text = (checkout / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\[(.*?)\]\((.*?)\)", text)
    assert links == [
        ("👑 system/ground-truth", "data/README.md"),
        ("💬 me/good", "result/me/good/abc/README.md"),
        ("🎯 system/criteria", "data/final/README.md"),
        ("💬 me/bad", "result/me/bad/abc/README.md"),
    ]
    assert [row.split("</code>")[0] for row in text.splitlines() if "README" in row] == [
        f"| <code>{rank}" for rank in ("N/A", "1", "N/A", "2")
    ]
    assert call("leaderboard", place, "--update", checkout / "README.md")[0] == 0
    assert (checkout / "README.md").read_text(encoding="utf-8") == text


def test_a_part_of_the_results_has_no_yardsticks_and_each_counts_once(checkout):
    assert len(find_results(["result/me"])) == 2
    assert len(find_results(["result", "data", checkout / "result", "result/me/good/abc/result.json"])) == 4
    (checkout / "data/Q01.json").unlink()
    assert len(find_results(["result"])) == 2


def test_the_table_of_score_shows_the_figures_of_the_leaderboard(capsys, tmp_path):
    path = tmp_path / "result.json"
    write_result(path, "me", shares=(0.02162, 0.26802, 0.17674, 0.17212))
    outcome = Outcome(RunFolder(tmp_path, None), "scored", path, read_result(path).summary())
    print_outcomes([outcome], quiet=False)
    assert capsys.readouterr().out.split("\n")[1].split()[5:7] == ["0.638", "0.638"]


@pytest.mark.slow
@pytest.mark.parametrize("command", [
    "score --suite mini --force RUNS", "leaderboard RUNS", "leaderboard RUNS --json",
    "report --suite mini RUNS -o PAGE", "report --suite mini RUNS --markdown", "compare --suite mini RUN0 RUN1",
    "explain --suite mini --question Q01 --answer Ice", "suite info mini",
])  # fmt: skip
def test_no_command_adds_floats_with_the_sum_of_its_python(call, printed, monkeypatch, mini, tmp_path, command):
    """The builtin `sum` of floats is another one since Python 3.12."""
    runs = make_varied_runs(tmp_path / "runs", mini, n_runs=4, n_trials=2)
    assert call("score", "--suite", "mini", runs)[0] == 0
    builtin = builtins.sum

    def watched(values: Iterable[object], /, start: object = 0) -> object:
        caller = sys._getframe(1)
        if caller.f_globals["__name__"].startswith("pfgen_fast."):
            values = list(values)
            assert not any(isinstance(value, float) for value in values), caller.f_code
        return builtin(values, start)

    monkeypatch.setattr(builtins, "sum", watched)
    run_0, run_1 = (runs / f"org/model-{number}/abc" for number in (0, 1))
    places = {"RUNS": runs, "RUN0": run_0, "RUN1": run_1, "PAGE": tmp_path / "page.html"}
    printed(*(places.get(word, word) for word in command.split()))


def test_equal_scores_are_ordered_by_the_text_of_their_paths(tmp_path):
    for name in ("org/a/1", "org/a-b/1", "org/B/1", "better/1"):
        write_result(tmp_path / name / "result.json", "the same name", score=0.6 if name == "better/1" else 0.5)
    order = [entry.folder.relative_to(tmp_path).as_posix() for entry in rank(find_results([tmp_path]))]
    assert order == ["better/1", "org/B/1", "org/a-b/1", "org/a/1"]


def test_an_update_of_the_published_table_changes_no_byte(call, tmp_path, monkeypatch):
    """The published README has a blank line before the end marker."""
    write_result(tmp_path / "result/org/model/1/result.json", "org/model")
    monkeypatch.chdir(tmp_path)
    table = (
        f"| <code>Rank</code> | <code>Score{'&nbsp;' * 17}</code> | <code>Model{'&nbsp;' * 7}</code> "
        f"| <code>Length{'&nbsp;' * 7}</code> | <code>Fluency</code> | <code>Truthfulness</code> "
        "| <code>Helpfulness</code> |\n|-----|-----|-----|-----|-----|-----|-----|\n"
        "| <code>1</code> | <code>0.5000 (±0.0100/√10)</code> "
        "| <code>[💬 org/model](result/org/model/1/README.md)</code> | <code>100.0 (±1.0)</code> "
        "| <code>0.500</code> | <code>0.500</code> | <code>0.500</code> |\n"
    )
    content = f"# Title\n\n<!-- leaderboard -->\n{table}\n<!-- /leaderboard -->\n\nThe rest.\n"
    Path("README.md").write_text(content, encoding="utf-8")
    assert call("leaderboard", "result", "--update", "README.md")[0] == 0
    assert Path("README.md").read_text(encoding="utf-8") == content


@published.needs_published_runs
def test_the_published_figures_make_the_published_rows(tmp_path, monkeypatch):
    monkeypatch.chdir(published.FOLDER)
    lines = to_published(rank(find_results(["result"]))).splitlines()
    assert lines[2] == (
        "| <code>N/A</code> | <code>1.0501 (±0.0000/√1)</code> "
        "| <code>[👑 system/ground-truth](result/system/ground-truth/README.md)</code> "
        "| <code>100.0 (±0.0)</code> | <code>1.155</code> | <code>0.996</code> | <code>1.000</code> |"
    )
    assert lines[-1] == (
        "| <code>16</code> | <code>0.1226 (±0.0240/√100)</code> "
        "| <code>[🟢 Deci/DeciLM-7B](result/Deci/DeciLM-7B/526d21c/README.md)</code> | <code>174.0 (±165.5)</code> "
        "| <code>0.190</code> | <code>0.174</code> | <code>0.003</code> |"
    )


def test_links_of_a_table_lead_from_its_file_and_an_update_follows_a_link(call, tmp_path):
    write_result(tmp_path / "runs/1/result.json", "a")
    (tmp_path / "tables").mkdir()
    assert call("leaderboard", tmp_path / "runs", "-f", "published", "-o", tmp_path / "tables/table.md")[0] == 0
    assert "](../runs/1/README.md)" in (tmp_path / "tables/table.md").read_text()
    (tmp_path / "real.md").write_text("<!-- leaderboard --><!-- /leaderboard -->")
    (tmp_path / "README.md").symlink_to("real.md")
    assert call("leaderboard", tmp_path / "runs", "--update", tmp_path / "README.md")[0] == 0
    assert (tmp_path / "README.md").is_symlink()
    assert "Rank" in (tmp_path / "real.md").read_text()


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_an_update_keeps_line_ends_and_passes_over_code(tmp_path, line_end):
    code = "```md\n<!-- leaderboard -->\n<!-- /leaderboard -->\n```\n~~~~\n<!-- leaderboard -->\n~~~\n~~~~\n"
    lines = f"Write `<!-- leaderboard -->`.\n{code}<!-- leaderboard -->\n%s<!-- /leaderboard -->\nEnd\n{code[:40]}"
    path = tmp_path / "README.md"
    path.write_bytes((lines % "").replace("\n", line_end).encode())
    for table in ("| a |\n| [b](c) |\n", "| d |\n"):
        update_markdown(path, table)
        assert path.read_bytes() == (lines % f"{table}\n").replace("\n", line_end).encode()


@pytest.mark.parametrize("text", ["{1}\n{0}\n", "{0}\n{0}\n{1}\n", "{0}\n```\n{1}\n"])
def test_an_update_needs_one_pair_of_comments_outside_code(tmp_path, text):
    path = tmp_path / "README.md"
    path.write_text(text.format("<!-- leaderboard -->", "<!-- /leaderboard -->"))
    with pytest.raises(TrialsError, match="expected one '<!-- leaderboard -->' followed by one"):
        update_markdown(path, "| a |\n")
