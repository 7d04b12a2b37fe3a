"""Results in notebooks: tables without scripts, data frames, and the notebook of examples/."""

import json
import re

import pytest
from makers.documented import ROOT
from makers.pages import Outline
from pfgen_fast import compare, leaderboard, place
from pfgen_fast.runs.placement import Other
from pfgen_fast.runs.run_scorer import RunScorer
from pfgen_fast.runs.trials import find_runs

NOTEBOOK = ROOT / "examples" / "notebook.ipynb"
HOSTILE = "<script>alert(1)</script> & \x1b[31m\u202e"
TAGS = {"table", "thead", "tbody", "tr", "th", "td", "p", "s", "b", "svg", "path", "circle"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory, mini, varied):
    """Six scored runs; the name of one attacks the notebook."""
    import shutil

    copy = shutil.copytree(varied, tmp_path_factory.mktemp("scored") / "result")
    config = copy / "org/model-0/abc/config.json"
    config.write_text(json.dumps({"model": HOSTILE, "mode": "qa"}), encoding="utf-8")
    assert all(outcome.status == "scored" for outcome in RunScorer(suite=mini).score(find_runs([copy])))
    return copy


def shown(result):
    """The table of a result as a notebook shows it, which holds no markup of strangers."""
    text = result._repr_html_()
    outline = Outline(text)
    assert set(outline.tags) <= TAGS
    assert not any(re.match("on|src|href", name) or re.search("url|//", value) for name, value in outline.attributes)
    assert not re.search("[\x00-\x1f\u202e]", text)
    return text


def test_a_score_table_shows_its_answers_marked_and_missing_ones_empty(scorer):
    good = "Ice is less dense than water: its molecules form an open lattice, so it takes up 9% more space."
    table = scorer.score("Q07", [good, HOSTILE, "x" * 1000])
    text = shown(table)
    assert "<b>Ice is less dense than water" in text
    assert f"<s>{'x' * 300}</s>…</td>" in text
    assert "&lt;" in text
    many = scorer.score("Q07", [good] * 30)
    assert (shown(many).count("<tr>"), "10 more rows" in shown(many)) == (21, True)
    assert shown(many.rows(29, 30)).count("<tr>") == 2
    missing = shown(scorer.score("Q07", ["Ice floats.", None], nulls="null"))
    assert (missing.count("<td>–</td>"), missing.count('<td style="text-align:left"></td>')) == (4, 1)


def test_frames_have_the_columns_of_the_result(scorer, folder):
    table = scorer.score("Q07", ["Ice floats.", "Because ice is cold."])
    board = leaderboard(folder)
    placement = place(folder / "org/model-2", against=folder)
    comparison = compare(folder / "org/model-1", folder / "org/model-2", scorer)
    columns = {table: table.columns, placement: Other._fields, comparison: tuple(comparison.table.to_dicts()[0])}
    for result, names in [*columns.items(), (board, None)]:
        pandas, polars = result.to_pandas(), result.to_polars()
        assert names is None or tuple(pandas.columns) == names
        assert list(pandas.columns) == polars.columns
        assert len(pandas) == len(polars) > 0
    assert table.to_pandas()["average"].tolist() == table.average.tolist()
    assert board.to_polars()["rank"].to_list() == [1, 2, 3, 4, 5, 6]
    for result in (board, placement, comparison):
        shown(result)
    assert "&lt;script&gt;" in shown(board)


def test_a_missing_package_is_named(scorer, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(Exception, match=r"ScoreTable.to_polars needs polars, .*pip install 'pfgen-fast\[polars\]'"):
        scorer.score("Q07", ["Ice floats."]).to_polars()


def test_the_notebook_is_kept_without_outputs():
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    assert all(not cell.get("outputs") and cell.get("execution_count") is None for cell in cells)


@pytest.mark.integrations
def test_the_notebook_runs(tmp_path):
    nbclient = pytest.importorskip("nbclient")
    import nbformat

    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(notebook, resources={"metadata": {"path": tmp_path}}, timeout=120).execute()
    pages = [output["data"]["text/html"] for cell in notebook.cells for output in cell.get("outputs", [])]
    assert len(pages) == 6
    assert "less dense than water" in pages[0]
    assert "rank 2 of 2" in pages[4]
