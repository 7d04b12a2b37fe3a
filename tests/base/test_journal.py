"""Journals: every line that is written can be read again, and a line that cannot be read costs only itself."""

import contextlib
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.effort import examples
from pfgen_fast import PfgenError
from pfgen_fast.base import journal
from pfgen_fast.base.journal import Journal

LIMIT = 64
TEXTS = st.text(st.sampled_from('a\x1c\u2028\ud800水\\\n"'), max_size=LIMIT)
LONG = b"x" * (2 * LIMIT) + b"\n"
FOREIGN = st.sampled_from([b"\n", b"[]\n", b"\xff\n", b'{"a"', LONG, b"y" * LIMIT, b"[" * 99 + b"\n"])


@pytest.fixture(autouse=True)
def _short_lines(monkeypatch):
    monkeypatch.setattr(journal, "MAX_LINE_BYTES", LIMIT)
    monkeypatch.setattr(journal, "_SKIPPED_BYTES", 7)


@examples(100)
@given(st.lists(st.tuples(st.integers(0, 1), TEXTS) | FOREIGN | st.just(None), max_size=12))
def test_each_written_entry_is_read_once_among_foreign_lines(steps):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "j.jsonl")
        writers, reader, written, read = (Journal(path), Journal(path)), Journal(path), [], []
        for step in steps:
            if step is None:
                read += reader.entries()
            elif isinstance(step, bytes):
                with path.open("ab") as file:
                    file.write(step)
            else:
                number, text = step
                with contextlib.closing(writers[number]) as writer, contextlib.suppress(PfgenError):
                    writer.add({"text": text})
                    written.append({"text": text})
        assert read + list(reader.entries()) == written == list(Journal(path).entries())
        assert list(reader.entries()) == []


def test_a_file_that_became_shorter_or_was_replaced_is_read_from_its_beginning(tmp_path):
    kept, path = Journal(tmp_path / "j.jsonl"), tmp_path / "other.jsonl"
    kept.rewrite([{"a": 1}, {"a": 2}])
    assert len(list(kept.entries())) == 2
    kept.path.write_bytes(b'{"b": 3}\n')
    assert list(kept.entries()) == [{"b": 3}]
    path.write_bytes(b'{"a": 2}\n{"a": 3}\n')
    path.replace(kept.path)
    assert list(kept.entries()) == [{"a": 2}, {"a": 3}]


def test_a_limit_of_the_file_size_is_named(tmp_path):
    resource = pytest.importorskip("resource")
    former = resource.getrlimit(resource.RLIMIT_FSIZE)
    with contextlib.closing(Journal(tmp_path / "j.jsonl")) as limited:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20, former[1]))
        try:
            with pytest.raises(PfgenError, match="cannot be written: File too large"):
                limited.add({"text": "x" * 30})
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, former)
