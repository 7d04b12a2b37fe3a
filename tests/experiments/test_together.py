from __future__ import annotations

from pfgen_fast.experiments import read_figures, score_runs
from pfgen_fast.experiments.cut_references import CutReferences
from pfgen_fast.experiments.relations import relations
from pfgen_fast.experiments.sets import scores_by_set, sets
from pfgen_fast.experiments.stability import stability
from pfgen_fast.experiments.together import Experiments


def test_one_pass_gives_what_each_experiment_gives_alone(varied, mini):
    together = Experiments([varied], suite=mini, threads=2)
    found = {finding.name: finding for finding in together.findings()}
    assert list(found) == ["sensitivity", "stability", "relations", "parts", "sets", "significance"]
    assert together.problems == []
    cut = CutReferences(threads=1)
    scored = score_runs([varied], suite=mini, threads=1, on_batch=cut)
    assert found["stability"].tables == stability(scored, cut).tables
    assert found["relations"].tables == relations(scored).tables
    assert found["sets"].tables == sets(scores_by_set(read_figures([varied], suite=mini))).tables


def test_an_experiment_that_the_runs_do_not_allow_is_named_and_the_others_are_written(
    call, varied, tmp_path, mini, undrawn
):
    scores = tmp_path / "scores.csv"
    scores.write_text("model,score\nnobody,1\n")
    arguments = ("-s", "mini", "--scores", scores, "--trials", "1", "-o", tmp_path / "out")
    code, _, err = call("experiment", "all", varied, *arguments)
    assert code == 3
    assert "left out: external:" in err
    assert "0 models in common" in err
    written = {path.stem for path in (tmp_path / "out").glob("*.html")}
    assert written >= {"parts", "relations", "sets", "significance", "stability", "sensitivity"}
    assert "48 of 144 answers were scored with other constants" in err
