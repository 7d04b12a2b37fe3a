"""Scores by item and model: choosing models, metrics and items."""

from __future__ import annotations

import numpy as np
import pytest
from pfgen_fast import TrialsError
from pfgen_fast.item_scores.table import ItemScores


def scores() -> ItemScores:
    return ItemScores(
        models=("old", "new"),
        items=("q1", "q2", "q3"),
        values={"accuracy": np.array([[0.0, 1.0, np.nan], [1.0, 1.0, 0.5]]), "length": np.arange(6.0).reshape(2, 3)},
        n_trials={"accuracy": np.array([[1, 1, 0], [1, 1, 2]])},
        subjects=("maths", None, "maths"),
    )


def test_models_and_metrics_keep_the_given_order():
    chosen = scores().only(models=["new", "old"], metrics=["length", "accuracy"])
    assert chosen.models == ("new", "old")
    assert chosen.metrics == ("length", "accuracy")
    assert chosen.of("new", "length").tolist() == [3.0, 4.0, 5.0]
    assert chosen.n_trials["accuracy"].tolist() == [[1, 1, 2], [1, 1, 0]]


def test_items_are_cut_everywhere():
    chosen = scores().only(items=np.array([False, True, True]))
    assert chosen.items == ("q2", "q3")
    assert chosen.subjects == (None, "maths")
    assert chosen.values["length"].tolist() == [[1.0, 2.0], [4.0, 5.0]]
    assert chosen.clusters == ()


def test_an_unknown_model_is_named():
    with pytest.raises(TrialsError, match="unknown model 'newer'; expected one of"):
        scores().only(models=["newer"])
