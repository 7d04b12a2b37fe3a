"""What docs/architecture.md says of extensions: each is a module and one line, here a dummy that commands then know."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from types import ModuleType

import numpy as np
import pytest
from pfgen_fast import Scorer
from pfgen_fast.evaluators import opening
from pfgen_fast.evaluators.evaluator import Metric
from pfgen_fast.generation import engines
from pfgen_fast.generation.engines.stored import StoredAnswers
from pfgen_fast.serving import description
from pfgen_fast.serving.replies import Reply, json_of
from pfgen_fast.tables import formats
from pfgen_fast.tables.text_rows import json_lines, text_batches


def module(monkeypatch, name, **names):
    made = ModuleType(name)
    vars(made).update(names)
    monkeypatch.setitem(sys.modules, name, made)


def test_a_table_format_is_a_reader_and_a_writer(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def read(source, columns, batch_size):
        lines = (tmp_path / source).read_text().splitlines()
        rows = ((number, dict(zip("qa", line.split("|"), strict=True))) for number, line in enumerate(lines, 1))
        return text_batches(source, rows, ["q", "a"], batch_size)

    @contextlib.contextmanager
    def writing(file, first, columns):
        yield lambda batch, scores: file.write("\n".join(json_lines(batch, scores)).encode())

    monkeypatch.setitem(formats._READERS, ".bars", read)
    monkeypatch.setitem(formats._WRITERS, ".bars", writing)
    (tmp_path / "in.bars").write_text("Q07|Ice floats.\n")
    usual = ("score", "--suite", "mini", "--question-column", "q", "--answer-column", "a", "in.bars", "-o")
    assert call(*usual, "out.bars")[0] == 0
    row = json.loads((tmp_path / "out.bars").read_text())
    assert (row["q"], row["average"] > 0) == ("Q07", True)
    assert "expected .parquet, or .csv, .tsv, .jsonl, .json or .bars" in call(*usual, "out.nothing")[2]


def test_an_engine_is_a_class(call, tmp_path, mini, monkeypatch):
    class Echo(StoredAnswers):
        name, parameters = "echo", {}

        def __init__(self, *, suite, model, mode, sampling):
            super().__init__("echoes", {question.question: [question.question] for question in suite})

    module(monkeypatch, "pfgen_fast.generation.engines.echo", Echo=Echo)
    monkeypatch.setitem(engines.ENGINES, "echo", (".echo", "Echo"))
    usual = ("generate", "--suite", "mini", "--engine", "echo", "--model", "me/echo", "--output", tmp_path)
    assert call(*usual, "--trials", 1)[0] == 0
    assert list(tmp_path.rglob("result.json"))
    assert "of anthropic" in call(*usual, "--key-env", "KEY")[2]


def test_an_evaluator_is_a_class(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    class Length:
        name, signature, metrics = "length", "length:1", (Metric("length"),)

        def score(self, items, texts):
            return {"length": np.array([float(len(text)) for text in texts])}

    module(monkeypatch, "pfgen_fast.evaluators.length", Length=Length)
    monkeypatch.setitem(opening._OPENERS, "length", ((".length", "Length"),))
    assert opening.open_evaluator("length").score([], ["four"])["length"].tolist() == [4.0]


def test_an_endpoint_is_a_function(scorer: Scorer, monkeypatch):
    pytest.importorskip("prometheus_client")
    from pfgen_fast.serving.access import Guard
    from pfgen_fast.serving.application import Application
    from pfgen_fast.serving.limits import Limits

    def lengths(replies, body, kind, accepted):
        return Reply(json_of([len(answer) for answer in json.loads(body)]))

    one = description.Endpoint("The lengths", lengths, lambda limits: {"type": "array"}, {"type": "array"})
    monkeypatch.setitem(description.ENDPOINTS, "/lengths", one)
    assert description.described("", Limits())["paths"]["/lengths"]["post"]["summary"] == "The lengths"
    sent = []

    async def receive():
        return {"type": "http.request", "body": b'["four", ""]', "more_body": False}

    async def send(message):
        sent.append(message)

    headers = [(b"host", b"localhost:80"), (b"content-type", b"application/json")]
    application = Application(scorer, Guard(None, 80), Limits())
    asyncio.run(application({"type": "http", "method": "POST", "path": "/lengths", "headers": headers}, receive, send))
    application.close()
    assert sent[0]["status"] == 200
    assert sent[1]["body"] == b"[4,0]"
