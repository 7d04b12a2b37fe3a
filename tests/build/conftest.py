import shutil

import pytest
from makers.builds import write_config, write_raw
from pfgen_fast import build_suite
from pfgen_fast.build.build_config import read_config


@pytest.fixture(scope="module")
def raw(tmp_path_factory, mini):
    path = tmp_path_factory.mktemp("raw") / "raw.jsonl"
    write_raw(path, mini)
    return path


@pytest.fixture
def make(tmp_path, mini, raw):
    """Writes a config beside the raw answers or a part of them, and reads it."""

    def make(folder=tmp_path, share=1, **options):
        folder.mkdir(exist_ok=True)
        lines = raw.read_bytes().splitlines(keepends=True)
        (folder / "raw.jsonl").write_bytes(b"".join(lines[: len(lines) // share]))
        return read_config(write_config(folder, mini, **options))

    return make


@pytest.fixture(scope="module")
def reference(tmp_path_factory, mini, raw):
    """A suite that was built without interruption, and the files of its stages."""
    folder = tmp_path_factory.mktemp("reference")
    (folder / "raw.jsonl").write_bytes(raw.read_bytes())
    built = build_suite(read_config(write_config(folder, mini)), threads=1)
    assert built.is_written
    return folder


@pytest.fixture
def finished(tmp_path, reference):
    """The config of a copy of this suite, which a test may change."""
    shutil.copytree(reference, tmp_path, dirs_exist_ok=True)
    return read_config(tmp_path / "config.toml")
