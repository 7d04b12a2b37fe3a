"""A user's function or class as an evaluator, and the scores that are kept of it."""

import json
import linecache
import math
import sys

import numpy as np
import pytest
from lab.evaluators.programs import items_of, scored
from pfgen_fast import DiscernmentError, TrialsError
from pfgen_fast.lab.evaluators import function_evaluator
from pfgen_fast.lab.evaluators.evaluator import Item, Metric, open_evaluator, text_column
from pfgen_fast.lab.evaluators.function_evaluator import FunctionEvaluator

TEXTS = ["Ice floats.", "Iron sinks.", "Wood"]


def lengths(items, texts):
    return {"length": [len(text) for text in texts], "words": np.array([len(text.split()) for text in texts])}


class Recording:
    """A function that remembers what it was called with."""

    def __init__(self, function=lengths):
        self.calls, self.function = [], function

    def __call__(self, items, texts):
        self.calls.append(list(texts))
        return self.function(items, texts)


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Writes a module into the working folder and returns its name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    names = []

    def write(source, name="own_scores"):
        (tmp_path / f"{name}.py").write_text(source, encoding="utf-8")
        names.append(name)
        sys.modules.pop(name, None)
        return name

    yield write
    for name in names:
        sys.modules.pop(name, None)


def test_a_function_scores_different_texts_in_batches_and_names_its_metrics(monkeypatch):
    monkeypatch.setattr(function_evaluator, "_BATCH", 2)
    function = Recording()
    evaluator = FunctionEvaluator(function, name="lengths")
    assert evaluator.metrics == ()
    assert scored(evaluator, TEXTS) == {"length": [11, 11, 4], "words": [2, 2, 1]}
    assert function.calls == [TEXTS[:2], TEXTS[2:]]
    assert evaluator.metrics == (Metric("length"), Metric("words"))
    assert scored(evaluator, []) == {"length": [], "words": []}
    function.calls.clear()
    result = evaluator.score(items_of(TEXTS[:1]) * 4, text_column(["a", "bb", "a", None]))
    assert function.calls == [["a", "bb"]]
    assert np.array_equal(result["length"], [1, 2, 1, np.nan], equal_nan=True)


def test_a_function_gets_each_text_with_its_item():
    def seen(items, texts):
        assert all(type(text) is str for text in texts)
        return {"own": [item.text == text for item, text in zip(items, texts, strict=True)]}

    result = FunctionEvaluator(seen, name="seen").score(items_of(TEXTS), text_column(["Ice floats.", "other", None]))
    assert np.array_equal(result["own"], [1, 0, np.nan], equal_nan=True)


@pytest.mark.parametrize("batch", [1, 2, 256])
def test_a_function_that_raises_is_named_with_its_row(tmp_path, batch, monkeypatch):
    monkeypatch.setattr(function_evaluator, "_BATCH", batch)

    def failing(items, texts):
        if any("sinks" in text for text in texts):
            raise TrialsError("no\nsuch")  # an error of this package names the row as well
        return lengths(items, texts)

    texts = ["a", "bb", None, "it sinks", "ccc", "it sinks too"]
    cache = tmp_path / "scores.jsonl"
    with pytest.raises(DiscernmentError) as caught:
        scored(FunctionEvaluator(failing, name="own", cache=cache), texts)
    assert str(caught.value) == r"evaluator own, row 3 (item i3): raised TrialsError: no\nsuch"
    assert [json.loads(line)["item"] for line in cache.read_text().splitlines()] == ["i0", "i1"]
    function = Recording()
    scored(FunctionEvaluator(function, name="own", cache=cache), texts)
    assert [text for call in function.calls for text in call] == ["it sinks", "ccc", "it sinks too"]


def test_a_function_that_fails_with_many_texts_only_gets_fewer():
    def failing(items, texts):
        if len(texts) > 3:
            raise MemoryError
        return lengths(items, texts)

    texts = [f"text {number}" for number in range(20)]
    assert scored(FunctionEvaluator(failing, name="f"), texts) == scored(FunctionEvaluator(lengths, name="f"), texts)


def test_a_metric_that_comes_later_is_refused():
    evaluator = FunctionEvaluator(lambda items, texts: {texts[0]: [1] * len(texts)}, name="f")
    scored(evaluator, ["fluency"])
    with pytest.raises(
        DiscernmentError, match=r"f, row 0 \(item i0\): returned an unknown metric 'fluenci'; .* fluency"
    ):
        scored(evaluator, ["fluenci"])


def test_kept_scores_are_not_asked_for_again_nor_are_missing_ones(tmp_path):
    cache = tmp_path / "made" / "scores.jsonl"
    function = Recording(lambda items, texts: {"length": [len(text) if " " in text else math.nan for text in texts]})
    missing = pytest.approx(math.nan, nan_ok=True)
    for _ in range(2):
        evaluator = FunctionEvaluator(function, name="f", cache=cache)
        assert scored(evaluator, TEXTS) == {"length": [11, 11, missing]}
        assert evaluator.metrics == (Metric("length"),)
    assert scored(evaluator, [*TEXTS, "a b"])["length"] == [11, 11, missing, 3]
    assert function.calls == [TEXTS, ["a b"]]


def test_kept_scores_depend_on_all_that_a_function_sees(tmp_path):
    changes = {"id": "other", "text": "other", "task": "qa", "language": "ja", "question": "Q08", "context": "x"}
    item = {"id": "a", "text": "t", "task": "answers", "language": "en", "question": "Q07"}
    cache = tmp_path / "scores.jsonl"
    FunctionEvaluator(lengths, name="f", cache=cache).score([Item(**item)], text_column(["x"]))
    function = Recording()
    evaluator = FunctionEvaluator(function, name="f", cache=cache)
    for key, value in {**changes, "references": ("x",)}.items():
        function.calls.clear()
        evaluator.score([Item(**item), Item(**{**item, key: value})], text_column(["x", "x"]))
        assert function.calls == [["x"]], key


@pytest.mark.parametrize("content", [b'{"key": "00"}\n', b'{"key": "not hex", "scores": {"a": 1}}\n', b"PAR1\n"])
def test_a_file_without_scores_is_refused_as_a_cache(tmp_path, content):
    cache = tmp_path / "scores.jsonl"
    cache.write_bytes(content)
    with pytest.raises(DiscernmentError, match="expected scores of an evaluator, found only other content"):
        FunctionEvaluator(lengths, name="f", cache=cache)
    assert cache.read_bytes() == content


@pytest.mark.parametrize("n_before", [1, 3])
def test_texts_that_another_process_has_scored_are_not_scored_again(tmp_path, n_before):
    function, cache = Recording(), tmp_path / "scores.jsonl"
    late = FunctionEvaluator(function, name="f", cache=cache)
    scored(FunctionEvaluator(lengths, name="f", cache=cache), TEXTS[:n_before])
    assert scored(late, TEXTS) == scored(FunctionEvaluator(lengths, name="f"), TEXTS)
    assert function.calls == ([TEXTS[1:]] if n_before == 1 else [])


def test_a_function_is_opened_by_its_name(module):
    name = module(
        "def lengths(items, texts):\n    return {'length': [len(text) for text in texts], 'n': [1] * len(texts)}\n"
    )
    evaluator = open_evaluator(f"python:{name}:lengths", lower_is_better=["length"])
    assert evaluator.name == f"{name}:lengths"
    assert scored(evaluator, TEXTS) == {"length": [11, 11, 4], "n": [1, 1, 1]}
    assert evaluator.metrics == (Metric("length", False), Metric("n"))
    assert evaluator.signature.endswith('|lower_is_better:["length"]')
    with pytest.raises(DiscernmentError, match="lengths: unknown metric 'lenght'; expected one of length, n"):
        scored(open_evaluator(f"python:{name}:lengths", lower_is_better=["lenght"]), TEXTS)


def test_the_signature_follows_the_source_of_the_module(module):
    sources = ["def f(items, texts):\n    return {'a': [1] * len(texts)}\n", "def f(items, texts):\n    return {}\n"]
    signatures = set()
    for source in sources:
        module(source)
        signatures.add(open_evaluator("python:own_scores:f").signature)
        linecache.clearcache()
    assert len(signatures) == 2


PROTOCOL = """
from pfgen_fast.lab.evaluators.evaluator import Metric
class Own:
    name, signature, metrics = "own", "own:1", (Metric("length", high=11), Metric("zero"))
    n_calls = 0
    def score(self, items, texts):
        Own.n_calls += 1
        return {"length": [len(text) for text in texts.tolist()], "zero": [0] * len(texts)}
    def again(self):
        other = Own()
        other.signature = "own:2"
        return other
own = Own()
"""


@pytest.mark.parametrize("attribute", ["Own", "own"])
def test_a_class_or_object_with_the_protocol_is_an_evaluator(module, tmp_path, attribute):
    name = module(PROTOCOL)
    cache = tmp_path / "scores.jsonl"
    for _ in range(2):
        evaluator = open_evaluator(f"python:{name}:{attribute}", cache=cache)
        assert scored(evaluator, ["a", "b" * 12]) == {"length": [1, pytest.approx(np.nan, nan_ok=True)], "zero": [0, 0]}
    assert (evaluator.name, evaluator.signature) == ("own", "own:1")
    assert sys.modules[name].Own.n_calls == 1
    again = evaluator.again()
    assert again.signature == "own:2"
    scored(again, ["a"])
    assert sys.modules[name].Own.n_calls == 2


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("own_scores:lenght", "unknown name 'lenght'; expected one of length"),
        ("own_scores:number", "expected a function or an evaluator, not int"),
        ("own_scores:Needy", "raised TypeError: .*'model'.* when it was called without arguments"),
        ("no_such_module_at_all:f", "the module cannot be imported: ModuleNotFoundError: No module named"),
        ("broken_module:f", "the module cannot be imported: ZeroDivisionError: division by zero"),
        ("own_scores", "expected python:module:function"),
    ],
)
def test_an_evaluator_that_cannot_be_imported_is_named(module, path, message):
    module("number = 3\ndef length(items, texts): ...\nclass Needy:\n    def __init__(self, model): ...\n")
    module("1 / 0", "broken_module")
    with pytest.raises(DiscernmentError, match=rf"^evaluator python:{path}: {message}"):
        open_evaluator(f"python:{path}")
