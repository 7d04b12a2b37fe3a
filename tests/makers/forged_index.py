"""Forged compiled suites: one number is changed, and all checksums are corrected.

Written from docs/index_format.md alone, so that it also checks what that page says.
"""

from __future__ import annotations

import struct
from pathlib import Path

DIRECTORY, ENTRY_BYTES = 88, 24
FIRST_BASELINE = 64 + 8
"""In a section: behind its header, which fills 64 bytes, and the number of answers of the first set."""


def forge_baseline(path: Path, question: int) -> None:
    """Halves, in the file of a compiled suite, the baseline of a question's first set, so that its fluency doubles."""
    content = bytearray(path.read_bytes())
    begin, _ = section(content, question)
    (baseline,) = struct.unpack_from("=d", content, begin + FIRST_BASELINE)
    struct.pack_into("=d", content, begin + FIRST_BASELINE, baseline / 2)
    seal(content)
    replace(path, content)


def forge_details(path: Path, old: bytes, new: bytes) -> None:
    """Changes what the file of a compiled suite says of its questions."""
    assert len(old) == len(new)
    content = path.read_bytes()
    assert old in content
    forged = bytearray(content.replace(old, new, 1))
    seal(forged)
    replace(path, forged)


def replace(path: Path, content: bytes) -> None:
    """Puts a new file in the place of one that may be mapped."""
    mode = path.stat().st_mode
    path.unlink()
    path.write_bytes(content)
    path.chmod(mode)


def section(content: bytes, question: int) -> tuple[int, int]:
    """Where the section of a question begins and ends."""
    offset, n_bytes = struct.unpack_from("=QQ", content, DIRECTORY + question * ENTRY_BYTES)
    return offset, offset + n_bytes


def seal(content: bytearray) -> None:
    """Makes all checksums of a compiled suite right."""
    n_head_bytes, n_questions = struct.unpack_from("=QI", content, 24)
    for question in range(n_questions):
        begin, end = section(content, question)
        struct.pack_into("=Q", content, DIRECTORY + question * ENTRY_BYTES + 16, xxh64(content[begin:end]))
    struct.pack_into("=Q", content, n_head_bytes - 8, xxh64(content[: n_head_bytes - 8]))


PRIMES = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)
MASK = (1 << 64) - 1


def rotated(number: int, bits: int) -> int:
    return (number << bits | number >> (64 - bits)) & MASK


def mixed(lane: int, word: int) -> int:
    return rotated((lane + word * PRIMES[1]) & MASK, 31) * PRIMES[0] & MASK


def xxh64(content: bytes) -> int:
    """XXH64 with seed 0 of content whose size is a multiple of 8, as that of heads and sections is."""
    words = struct.unpack(f"<{len(content) // 8}Q", content)
    n_striped = len(words) // 4 * 4
    if n_striped:
        lanes = [PRIMES[0] + PRIMES[1] & MASK, PRIMES[1], 0, -PRIMES[0] & MASK]
        for at in range(0, n_striped, 4):
            lanes = [mixed(lane, word) for lane, word in zip(lanes, words[at : at + 4], strict=True)]
        found = sum(map(rotated, lanes, (1, 7, 12, 18))) & MASK
        for lane in lanes:
            found = ((found ^ mixed(0, lane)) * PRIMES[0] + PRIMES[3]) & MASK
    else:
        found = PRIMES[4]
    found += len(content)
    for word in words[n_striped:]:
        found = (rotated(found ^ mixed(0, word), 27) * PRIMES[0] + PRIMES[3]) & MASK
    found = (found ^ found >> 33) * PRIMES[1] & MASK
    found = (found ^ found >> 29) * PRIMES[2] & MASK
    return found ^ found >> 32
