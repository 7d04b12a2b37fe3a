from __future__ import annotations

import pytest
from pfgen_fast import ExperimentError
from pfgen_fast.lab.experiments.run_means import read_leaderboard

HEAD = "run,model,score,length,fluency_A,fluency_B,truthfulness_A,truthfulness_B,helpfulness,other\n"


def written(tmp_path, text):
    path = tmp_path / "leaderboard.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_metrics_are_the_sums_over_the_sets_and_a_row_that_lacks_a_number_is_left_out_and_named(tmp_path):
    rows = "".join(f"result/m{n},org/m{n},0.{n},10{n},0.1,0.2,0.{n},0.3,0.4,x\n" for n in (1, 2, 3))
    table = read_leaderboard(written(tmp_path, HEAD + "bad,bad,0.5,100,,0.2,0.1,0.1,0.1,x\n" + rows))
    assert table.models == ("org/m1", "org/m2", "org/m3")
    assert table.problems[0].endswith("leaderboard.csv, line 2 (bad): no fluency_A")
    assert table.means["fluency"].tolist() == pytest.approx([0.3, 0.3, 0.3])
    assert table.means["truthfulness"].tolist() == pytest.approx([0.4, 0.5, 0.6])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no column 'run'"),
        ("run,model,score,length,helpfulness\n", "no column 'fluency_<set>'"),
        (HEAD.replace("truthfulness_B,", ""), "no column 'truthfulness_B'"),
        (HEAD + "a,b,many,1,1,1,1,1,1,1\n", "line 2, column 'score': expected a number, not 'many'"),
        (HEAD + "a,b\n", "line 2: expected 10 cells, not 2"),
        (HEAD + "a,b,1,1,1,1,1,1,1,1\n", "an experiment needs at least 3 runs; there are 1"),
    ],
)
def test_a_file_that_is_not_a_leaderboard_is_named(tmp_path, text, problem):
    with pytest.raises(ExperimentError, match=problem):
        read_leaderboard(written(tmp_path, text))
