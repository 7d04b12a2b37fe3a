"""Perplexity with a tiny model made on the spot: pieces, their mean, and what has none."""

from __future__ import annotations

import math

import pytest
from makers.long_answers import run_of, suite_of_essays
from pfgen_fast.checklists.metrics.answer_metrics import measure, open_metrics
from pfgen_fast.checklists.metrics.perplexity import Perplexity
from pfgen_fast.checklists.runs import Answer

pytestmark = pytest.mark.models

TEXT = "氷は水に浮く。水は氷より重い。" * 30


def perplexity_of_pieces(model_folder, text, window):
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model_folder)
    model = AutoModelForCausalLM.from_pretrained(model_folder)
    tokens = tokenizer(text, add_special_tokens=False)["input_ids"]
    found = []
    for start in range(0, len(tokens), window):
        piece = torch.tensor([tokens[start : start + window]])
        if piece.shape[1] > 1:
            with torch.no_grad():
                found.append(math.exp(model(piece, labels=piece).loss))
    assert len(found) > 1
    return sum(found) / len(found)


@pytest.mark.parametrize("window", [512, 100])
def test_the_figure_is_the_plain_mean_over_pieces_that_do_not_see_each_other(tiny_model, window):
    text = TEXT * (1 + window // 100)
    perplexity = Perplexity(str(tiny_model), device="cpu", window=window)
    assert perplexity(text) == pytest.approx(perplexity_of_pieces(tiny_model, text, window), rel=1e-5)
    assert f"window={window}" in perplexity.signature


def test_a_piece_of_one_token_is_left_out(tiny_model):
    perplexity = Perplexity(str(tiny_model), device="cpu")
    assert perplexity("") is None
    assert perplexity("a") is None
    assert perplexity("ab") > 1
    assert perplexity("a\ud800\x00b") > 1
    assert Perplexity(str(tiny_model), device="cpu", window=1)(TEXT) is None


def test_perplexity_is_a_metric_of_answers(tiny_model, tmp_path):
    perplexity = Perplexity(str(tiny_model), device="cpu")
    measures = open_metrics(suite_of_essays(), metrics=["ppl"], perplexity=perplexity)
    found = measure(run_of(tmp_path / "m", Answer("sea", TEXT), Answer("ice", "")), measures)
    assert [one.values["ppl"] for one in found] == [perplexity(TEXT), None]
    assert "ppl:" in measures.signature
