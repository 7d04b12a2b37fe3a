"""The options of tables of scores."""

from __future__ import annotations

import pytest
from pfgen_fast.cli.score_table_options import ScoreTableOptions


def test_options_name_columns_and_models_and_guesses_are_printed(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("id,who,loss,acc\nq,old,2,1\nq,new,1,0\n")
    options = ScoreTableOptions(
        model_column="who", score_columns=["loss", "acc"], lower_is_better=["loss"], models=["new,old"]
    )
    scores = options.read([str(tmp_path / "a.csv")])
    assert (scores.models, scores.metrics) == (("new", "old"), ("loss", "acc"))
    assert scores.higher_is_better == {"loss": False, "acc": True}
    assert "a.csv: read items from 'id', columns chosen by their usual names" in " ".join(
        capsys.readouterr().err.split()
    )
    assert (options.named, ScoreTableOptions().named) == ("--model-column", None)


def test_unknown_metrics_and_models_are_usage_errors(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("item,model,score\nq,old,2\n")
    with pytest.raises(SystemExit) as stop:
        ScoreTableOptions(lower_is_better=["los"]).read([str(tmp_path / "a.csv")])
    assert stop.value.code == 2
    assert "--lower-is-better: unknown metric 'los'; expected one of score" in capsys.readouterr().err
