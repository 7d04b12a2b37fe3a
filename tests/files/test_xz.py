"""Compressed files that the core unpacks: always what liblzma makes of them, and what is not plain is left to it."""

from __future__ import annotations

import lzma
import random
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.effort import examples
from pfgen_fast import TrialsError
from pfgen_fast.files.reading import AT_ONCE_BYTES, read_content
from pfgen_fast.native import _core

LIMIT = 1 << 22

FILTERS = st.fixed_dictionaries(
    {"preset": st.integers(0, 6), "lc": st.integers(0, 2)},
    optional={
        "dict_size": st.sampled_from([4096, 5000, 1 << 16, 1 << 20]),
        "lp": st.integers(0, 2),
        "pb": st.integers(0, 4),
        "nice_len": st.integers(5, 273),
    },
)


@st.composite
def contents(draw):
    """Words, noise that cannot be compressed, and stretches that repeat from near and far."""
    chance = random.Random(draw(st.integers(0, 1 << 32)))
    words = [chance.randbytes(chance.randint(1, 12)) for _ in range(chance.randint(1, 40))]
    content = bytearray()
    for _ in range(draw(st.integers(0, 60))):
        kind = chance.randrange(5)
        if kind == 0:
            content += chance.randbytes(chance.choice([1, 50, 70_000]))
        elif kind == 1 and content:
            begin = chance.randrange(len(content))
            content += content[begin : begin + chance.choice([1, 2, 9, 300, 5000])]
        elif kind == 2:
            content += bytes([chance.randrange(256)]) * chance.choice([1, 5, 274, 10_000])
        else:
            content += b"".join(chance.choices(words, k=chance.randint(1, 200)))
    return bytes(content)


def packed(content, **options):
    return lzma.compress(content, filters=[{"id": lzma.FILTER_LZMA2, **options}])


@examples(50)
@given(contents(), FILTERS)
def test_what_was_packed_is_unpacked(content, options):
    assert _core.unpacked_xz(packed(content, **options), LIMIT + len(content)) == content


@examples(30)
@given(contents().filter(bool), st.randoms(use_true_random=False))
def test_damage_is_never_taken_for_content(content, chance):
    stored = packed(content[:5000], preset=1)
    for _ in range(30):
        changed = bytearray(stored)
        for _ in range(chance.randint(1, 3)):
            changed[chance.randrange(len(changed))] ^= chance.randint(1, 255)
        unpacked = _core.unpacked_xz(
            bytes(changed[: chance.choice([len(changed), chance.randrange(len(changed))])]), LIMIT
        )
        assert unpacked in (None, content[:5000])


@pytest.mark.parametrize(
    "stored",
    [
        b"",
        b"{}",
        lzma.compress(b"ice", check=lzma.CHECK_CRC32),
        lzma.compress(b"ice", check=lzma.CHECK_NONE),
        lzma.compress(b"ice", check=lzma.CHECK_SHA256),
        lzma.compress(b"ice", format=lzma.FORMAT_ALONE),
        lzma.compress(b"ice", filters=[{"id": lzma.FILTER_DELTA, "dist": 1}, {"id": lzma.FILTER_LZMA2, "preset": 1}]),
        lzma.compress(b"ice") * 2,
        lzma.compress(b"ice") + bytes(4),
    ],
)
def test_what_is_unusual_is_left_to_liblzma(stored):
    assert _core.unpacked_xz(stored, LIMIT) is None


def test_no_more_is_unpacked_than_is_asked_for():
    stored = lzma.compress(bytes(1000))
    assert _core.unpacked_xz(stored, 1000) == bytes(1000)
    assert _core.unpacked_xz(stored, 999) is None


def test_files_of_several_blocks_are_unpacked():
    xz = shutil.which("xz")
    if xz is None:
        pytest.skip("needs the program xz")
    content = random.Random(1).randbytes(3000) * 40
    for options in (["--block-size=20000"], ["--block-size=7777", "-T2"], ["--block-list=10000,20001,0"]):
        stored = subprocess.run([xz, "-c", *options], input=content, capture_output=True, check=True).stdout
        assert _core.unpacked_xz(stored, LIMIT) == content


def test_a_file_reads_the_same_with_and_without_the_core(tmp_path, monkeypatch):
    path = tmp_path / "trials.jsonl.xz"
    for content in (b"", b"a\n", b"ice\n" * 100_000, bytes(AT_ONCE_BYTES), bytes(AT_ONCE_BYTES + 1)):
        path.write_bytes(lzma.compress(content, preset=0))
        found = read_content(path, check=list)
        with monkeypatch.context() as patch:
            patch.setattr(_core, "unpacked_xz", lambda *_: None)
            assert read_content(path, check=list) == found
        assert found.content == content


def test_damage_is_named_as_before(tmp_path):
    path = tmp_path / "trials.jsonl.xz"
    stored = lzma.compress(b"ice\n" * 1000)
    for damaged in (stored[:-1], stored[:40] + b"x" + stored[41:], stored + b"x"):
        path.write_bytes(damaged)
        with pytest.raises(TrialsError, match=r"trials\.jsonl\.xz: damaged or cut off"):
            read_content(path, check=list)
