"""Results in model cards, as huggingface_hub reads them, and the YAML that is written."""

from __future__ import annotations

import datetime
import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.exported_runs import ABOUT, CONFIG, means
from makers.hostile import NAMES
from pfgen_fast import PfgenError, Scorer
from pfgen_fast.exports import export
from pfgen_fast.exports.yaml_text import yaml_text
from pfgen_fast.suite.rules import SCORES


def test_a_card_has_four_metrics_with_intervals(runs, mini, tmp_path):
    hub = pytest.importorskip("huggingface_hub")
    path = tmp_path / "README.md"
    export(runs[0], path, to="model-index", suite=mini, about=ABOUT)
    card = hub.ModelCard.load(path)
    result, interval = means(runs[0], mini)
    assert card.data.model_name == "org/model-0"
    score, *parts = card.data.eval_results
    assert [part.metric_type for part in parts] == [f"pfgen-{name}" for name in SCORES[1:]]
    assert (score.metric_value, score.dataset_type, score.dataset_config) == (result["score"], "org/benchmark", "qa")
    assert score.metric_args["low"] == pytest.approx(interval.low, abs=1e-5)
    assert score.dataset_args["config"] == CONFIG
    assert score.dataset_args["signature"] == Scorer(mini).signature


CARD = """\
---
# a comment
license: mit
model-index:
- name: short
  results:
  - task: {type: text-generation}
    dataset: {type: other, name: Other}
    metrics:
    - {type: acc, value: 0.5, name: "a: b", args: {on: 2026-01-01}}
  - task: {type: text-generation}
    dataset: {type: org/benchmark, name: old, config: qa}
    metrics: [{type: acc, value: 0.1}]
# about languages
language: [ja, no]
---
# Model

--- text ---
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_card_keeps_everything_but_our_earlier_results(runs, mini, tmp_path, newline):
    hub = pytest.importorskip("huggingface_hub")
    path = tmp_path / "README.md"
    path.write_bytes(CARD.replace("\n", newline).encode())
    export(runs, path.parent / "none", to="model-index", suite=mini)  # beside it, so it stays as it is
    assert path.read_bytes() == CARD.replace("\n", newline).encode()
    export(runs[0], path, to="model-index", suite=mini, about=ABOUT)
    once = path.read_bytes()
    export(runs[0], path, to="model-index", suite=mini, about=ABOUT)
    assert path.read_bytes() == once
    text = once.decode()
    assert text.startswith(
        newline.join(["---", "# a comment", "license: mit", "# about languages", "language: [ja, no]"])
    )
    assert text.endswith(newline.join(["---", "# Model", "", "--- text ---", ""]))
    card = hub.ModelCard(text)
    assert (card.data.license, card.data.model_name) == ("mit", "short")
    other, *ours = card.data.eval_results
    assert (other.metric_name, other.metric_args) == ("a: b", {True: datetime.date(2026, 1, 1)})
    assert len(ours) == 4


@pytest.mark.parametrize(
    "card", ["", "# Model\n", "---\nlicense: mit\n---\n# Model\n", "\ufeff---\r\nlicense: mit\r\n---"]
)
def test_a_card_without_results_needs_no_package(runs, mini, tmp_path, card, monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    path = tmp_path / "README.md"
    path.write_bytes(card.encode())
    export(runs[0], path, to="model-index", suite=mini)
    text = path.read_bytes().decode()
    assert text.count("model-index:") == 1
    assert ("license: mit" in card) == ("license: mit" in text)
    assert text.endswith("# Model\n") == card.endswith("# Model\n")
    with pytest.raises(PfgenError, match=r"needs yaml, which is not installed: pip install 'pfgen-fast\[cards\]'"):
        export(runs[0], path, to="model-index", suite=mini)


@pytest.mark.parametrize(
    ("card", "problem"),
    [
        ("---\nmodel-index: [\n---\n", "its metadata is not valid YAML"),
        ("---\nmodel-index: 7\n---\n", "expected a list of models, each with its results"),
        ("---\nmodel-index: [{name: a}]\n---\n", "expected a list of models, each with its results"),
        ("---\n{license: mit}\n---\n", "indented or in braces; expected keys at the beginning of lines"),
        ("---\n# x\n\n  license: mit\n---\n", "indented or in braces"),
    ],
)
def test_a_card_that_cannot_be_updated_stays_as_it_is(runs, mini, tmp_path, card, problem):
    pytest.importorskip("yaml")
    path = tmp_path / "README.md"
    path.write_text(card, encoding="utf-8")
    with pytest.raises(PfgenError, match=problem):
        export(runs[0], path, to="model-index", suite=mini)
    assert path.read_text(encoding="utf-8") == card


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(exclude_categories=["Cs"]))
    | st.sampled_from([*NAMES, "no", "1e5", "2026-01-01", "~", "a: b", "# c", "---", "\u0085", "1_000"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abyesno: #-1\n\u2028", max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(value=st.dictionaries(st.sampled_from(["a", "no", "on-line", "x y"]), VALUES, min_size=1))
def test_yaml_reads_the_values_that_were_written(value):
    yaml = pytest.importorskip("yaml")
    found = yaml.safe_load(yaml_text(value))
    assert json.dumps(found) == json.dumps(value).replace("\\udcff", "\\\\udcff")  # lone surrogates are escaped
