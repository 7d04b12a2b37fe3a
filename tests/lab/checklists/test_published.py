"""What follows from the published answers and judgements of HelloBench; more in `figures.hellobench_figures`."""

from functools import cache

import pytest
from figures.hellobench_figures import errors, scores, suite
from makers.published import HELLOBENCH, expected, hellobench_table, needs_hellobench, vectors
from pfgen_fast.lab.checklists import answer_metrics
from pfgen_fast.lab.checklists.answer_metrics import measure, model_metrics, open_metrics
from pfgen_fast.lab.checklists.checklist_runs import Run
from pfgen_fast.lab.checklists.checklist_scoring import ModelScores, ScoredPart

pytestmark = [pytest.mark.slow, needs_hellobench]

FIGURES = ("score", "rescaled", "rescaled_plain", "rescaled_missing_as_zero", "words")
OF_LENGTH = ("mean_absolute_length_error", "mean_shortfall", "share_long_enough")
OF_AVERAGE = (*FIGURES[1:], "rescaled_over_answers")
AREA = "heuristic_text_generation"
LENGTHS = ("2k", "4k", "8k", "16k")


@cache
def models() -> dict[str, ModelScores]:
    return {model.model: model for model in scores().models}


def close(figure: float) -> object:
    return pytest.approx(figure, abs=1e-9, rel=0)


def test_the_twenty_models_have_the_expected_scores():
    assert models().keys() == expected().keys()
    n_compared = 0
    for name, model_scores in expected().items():
        model = models()[name]
        categories = {category: part for (_, category), part in model.categories.items()}
        assert model.areas.keys() == model_scores["tasks"].keys()
        assert categories.keys() == model_scores["categories"].keys()
        assert model.lengths.keys() == model_scores["lengths"].keys()
        parts = [(model.areas[area], part, FIGURES) for area, part in model_scores["tasks"].items()]
        parts += [(categories[category], part, FIGURES[:2]) for category, part in model_scores["categories"].items()]
        for length, part in model_scores["lengths"].items():
            parts += [(model.lengths[length], part, FIGURES), (model.lengths[length].length, part, OF_LENGTH)]
        for ours, theirs, figures in [*parts, (model.average, model_scores["average"], OF_AVERAGE)]:
            if isinstance(ours, ScoredPart) and "n" in theirs:
                missing = list(ours.gaps["missing"])
                assert (ours.n, missing) == (theirs["n"], theirs.get("missing", missing))
            for figure in figures:
                assert getattr(ours, figure) == close(theirs[figure]), (name, figure)
                n_compared += 1
    assert n_compared == 20 * (5 * 5 + 38 * 2 + 5) + 24 * 8  # six models have answers of the four lengths


def part_of(name: str, cell: str) -> ScoredPart:
    """The figures of a cell of the published tables."""
    model = models()[name]
    if cell == "average":
        return model.average
    return model.lengths[cell] if cell in LENGTHS else model.areas[AREA if cell == "no limit" else cell]


def test_the_published_tables_follow_cell_by_cell():
    cells = [row for row in hellobench_table("main_table.csv") if row["score_recomputed"]]
    for cell in cells:
        part = part_of(cell["key"], cell["cell"])
        score, words = part.rescaled, part.words
        assert f"{score:.4f}" == cell["score_recomputed"], cell
        assert f"{words:.2f}" == cell["words_recomputed"], cell
        is_equal = {"score": f"{score:.2f}" == cell["score_paper"], "words": f"{words:.0f}" == cell["words_paper"]}
        for what, holds in is_equal.items():
            assert cell[f"{what}_equal"] == ("yes" if holds else "no"), cell
        assert bool(cell["note"]) >= (not is_equal["score"])
        if cell["answers"]:
            assert (part.n, len(part.gaps["missing"])) == (int(cell["answers"]), int(cell["missing"]))
    assert len(cells) == 108 + 30 + 30  # the figures of docs/papers/hellobench.md count the equal cells


def test_the_published_means_of_methods_follow_but_those_of_the_model_that_was_judged_again():
    names = {"helloeval": "rescaled", "avg_c": "rescaled_plain"}
    rows = [row for row in hellobench_table("paper/methods_on_summarization.csv") if row["key"] in models()]
    assert len(rows) == 5
    for row in rows:
        part = models()[row["key"]].areas["summarization"]
        for column, figure in names.items():
            is_equal = f"{getattr(part, figure):.2f}" == row[column]
            assert is_equal == (row["key"] != "llama31_8b"), (row["key"], column)


@pytest.mark.parametrize(
    "model", [*(pytest.param(name, marks=pytest.mark.parity) for name in ("gpt4o_0806", "suri_7b")), "yi_large"]
)
def test_the_mean_metrics_of_published_answers(model, monkeypatch):
    monkeypatch.setattr(answer_metrics, "words", lambda text, counter: text.split())  # the tokens of these figures
    measures = open_metrics(suite())
    run = Run(model, HELLOBENCH, HELLOBENCH / "generations" / f"{model}.jsonl.xz")
    result = model_metrics(model, [item for item in measure(run, measures) if item.task.length is None], measures)
    area_figures = vectors("metrics")["generations"][model]
    assert result.areas.keys() == area_figures.keys()
    for area, figures in area_figures.items():
        part = result.areas[area]
        assert part.n == figures["n"]
        for metric in ("repetition_4", "distinct_4"):
            assert part.metrics[metric].n == figures["n"] - figures["too_short"]
            assert part.metrics[metric].mean == pytest.approx(figures[metric], abs=1e-12)


@pytest.mark.parametrize("model", ["suri_7b", "yi_large", "gpt4o_0806"])
@pytest.mark.parity
def test_the_published_figures_of_error_modes(model):
    result = errors(model)
    listed = [row for row in hellobench_table("paper/error_modes.csv") if row["model"] == model]
    assert listed
    for row in listed:
        part = result.lengths[row["length"]] if row["length"] else result.areas[row["task"]]
        if row["mode"] == "length":
            assert part.length.mean_absolute_length_error == pytest.approx(float(row["recomputed"]), abs=0.05)
        else:
            assert part.shares[row["mode"]].percent == pytest.approx(float(row["recomputed"]), abs=0.005)
