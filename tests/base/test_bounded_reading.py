"""Untrusted files beyond a limit are refused in one sentence, early and with little memory."""

import hashlib
import json
import lzma
import os
import socket
import subprocess
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor

import pytest
import zstandard
from makers.runs import PACKERS, make_run, trial_lines
from pfgen_fast import PfgenError, TrialsError
from pfgen_fast.base import file_reading as reading
from pfgen_fast.base.errors import BuildError
from pfgen_fast.base.untrusted_json import parse_json, read_json, read_toml
from pfgen_fast.lab.judging.judge_requests import Template
from pfgen_fast.runs.run_scorer import RunScorer
from pfgen_fast.runs.trials import RunFolder, Trials, find_runs, pack_trials
from pfgen_fast.tables.formats import table_rows

MIB = 1 << 20


def test_a_socket_and_a_folder_are_refused(tmp_path):
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "s"))
        for path in (tmp_path / "s", tmp_path):
            with pytest.raises(TrialsError, match="cannot be read"):
                reading.read_stored(path)


def test_a_pipe_of_a_shell_is_read():
    """`<(command)` in a shell: a pipe that the caller opened for this process."""
    reader, writer = os.pipe()
    with os.fdopen(writer, "wb") as file:
        file.write(b"{question}")
    try:
        assert Template.read(reading.Path(f"/dev/fd/{reader}"), placeholders=("question",)).text == "{question}"
    finally:
        os.close(reader)


REFUSING = """
import resource, sys
from pathlib import Path
import gzip, lzma, zstandard
from pfgen_fast import TrialsError
from pfgen_fast.base import file_reading as reading
from pfgen_fast.runs.trials import Trials
reading.MAX_BYTES = int(sys.argv[2]) << 20
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform != "darwin" else 1024 * 1024)
before = peak()
try:
    Trials.read(Path(sys.argv[1]))
except TrialsError as error:
    print(error)
print(peak() - before)
"""


def cost_of_refusing(path, limit):
    """The message, and the memory that it took, where a file may hold `limit` MiB; in MiB.

    A child of a child reads the file: the peak of a process begins as that of its parent.
    """
    script = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {REFUSING!r}, *sys.argv[1:]], check=True)"
    run = subprocess.run([sys.executable, "-c", script, path, str(limit)], capture_output=True, text=True, check=True)
    message, cost = run.stdout.splitlines()
    return message, float(cost)


def write_bomb(path, block, n_blocks, window):
    """A packed file that refers back by so many bytes as the window has, which unpacking it needs as memory."""
    parameters = zstandard.ZstdCompressionParameters.from_level(1, window_log=window.bit_length() - 1)
    packer = {
        ".xz": lambda: lzma.LZMACompressor(filters=[{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": window}]),
        ".gz": lambda: zlib.compressobj(1, wbits=31),
        ".zst": lambda: zstandard.ZstdCompressor(compression_params=parameters).compressobj(),
    }[path.suffix]()
    with path.open("wb") as file:
        for _ in range(n_blocks):
            file.write(packer.compress(block))
        file.write(packer.flush())


ZEROS = b"\0" * 1000
TRIAL = b'{"question": "q", "answer": "%s"}\n' % (b"a" * 970)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".xz", ".gz", ".zst"])
@pytest.mark.parametrize(
    ("line", "n_blocks", "window", "limit", "problem", "most"),
    [
        (ZEROS, 17, 8 * MIB, 64, "line 1: longer than 16 MiB, which is the limit", 80),
        (TRIAL, 65, 8 * MIB, 64, "holds more than 64 MiB", 45),
        # As much memory as unpacking may need, and a quarter of what a file may hold.
        pytest.param(ZEROS, 64, 64 * MIB, 256, "line 1: longer than 16 MiB", 100, marks=pytest.mark.nightly),
        pytest.param(TRIAL, 260, 64 * MIB, 256, "holds more than 256 MiB", 100, marks=pytest.mark.nightly),
    ],
)
def test_a_bomb_costs_little_however_it_is_packed(tmp_path, suffix, line, n_blocks, window, limit, problem, most):
    path = tmp_path / f"trials.jsonl{suffix}"
    write_bomb(path, line * (MIB // len(line) + 1), n_blocks, window)
    message, cost = cost_of_refusing(path, limit)
    assert problem in message
    assert cost < most


def test_a_sparse_file_costs_little(tmp_path):
    for n_bytes, problem in ((1200 * MIB, "holds more than 256 MiB"), (200 * MIB, "line 1: longer than 16 MiB")):
        with (tmp_path / "trials.jsonl").open("wb") as file:
            file.truncate(n_bytes)
        message, cost = cost_of_refusing(tmp_path / "trials.jsonl", 256)
        assert problem in message
        assert cost < 100


def test_a_file_that_wants_much_memory_to_be_decompressed_is_refused(tmp_path):
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 1, "dict_size": 256 * MIB}]
    (tmp_path / "trials.jsonl.xz").write_bytes(lzma.compress(b" ", filters=filters))
    with pytest.raises(TrialsError, match="Memory usage limit"):
        Trials.read(tmp_path / "trials.jsonl.xz")
    parameters = zstandard.ZstdCompressionParameters(window_log=28, enable_ldm=True)
    packer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    (tmp_path / "trials.jsonl.zst").write_bytes(packer.compress(b" " * 1000) + packer.flush())
    with pytest.raises(TrialsError, match="too much memory"):
        Trials.read(tmp_path / "trials.jsonl.zst")


@pytest.mark.parametrize("name", PACKERS)
def test_large_trials_are_read_like_small_ones(tmp_path, monkeypatch, name):
    """Lines, their numbers and the hash are the same whether or not the file is looked through first."""
    answers = ["\ud800" if i % 7 == 0 else "a" * (i % 50) for i in range(3000)]
    lines = [json.dumps({"question": f"q{i}", "answer": answer}) for i, answer in enumerate(answers)]
    path, bad = tmp_path / name, tmp_path / "bad" / name
    bad.parent.mkdir()
    path.write_bytes(PACKERS[name](("\ufeff" + "\n\n".join(lines)).encode()))
    bad.write_bytes(PACKERS[name]("\n".join([*lines, "{}", *lines[:10]]).encode()))
    listed, n_pieces = [], []
    for n_bytes in (reading.AT_ONCE_BYTES, 1000):
        monkeypatch.setattr(reading, "AT_ONCE_BYTES", n_bytes)
        trials = Trials.read(path, on_piece=lambda: n_pieces.append(1))
        listed.append((trials.questions, trials.answers, trials.input_hash))
        assert [trials.line_number(row) for row in (0, 2999)] == [1, 5999]
        assert bool(n_pieces) == (n_bytes == 1000)
        with pytest.raises(TrialsError, match="line 3001: the key 'question' is missing"):
            Trials.read(bad)
    assert listed[0] == listed[1]
    assert listed[0][2] == hashlib.sha1(path.read_bytes()).hexdigest()


def test_reading_large_files_ends_when_the_caller_is_interrupted(tmp_path, mini, monkeypatch):
    """Threads that read would otherwise go on to the end of their files, and Ctrl-C would wait for them."""
    for number in range(4):
        make_run(tmp_path / f"{number}", trial_lines(mini, 20))
    monkeypatch.setattr(reading, "AT_ONCE_BYTES", 1000)
    pieces = reading._bounded

    def endless(blocks, path, limit):
        for block in pieces(blocks, path, limit):
            while True:
                yield block[: block.rindex(b"\n") + 1]

    monkeypatch.setattr(reading, "_bounded", endless)

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("pfgen_fast.runs.run_scorer._results", interrupted)
    with ThreadPoolExecutor(1) as pool:
        scoring = pool.submit(list, RunScorer(suite=mini, threads=2).score(find_runs([tmp_path])))
        with pytest.raises(KeyboardInterrupt):
            scoring.result()


def test_single_trials_with_a_bad_line_or_beyond_the_limit_are_not_packed(tmp_path, monkeypatch):
    good, run = '{"question": "q", "answer": "a"}\n', RunFolder(tmp_path, None)
    (tmp_path / "trial_001.jsonl").write_text(good + "{}\n")
    with pytest.raises(TrialsError, match=r"trial_001\.jsonl, line 2: the key 'question' is missing"):
        pack_trials(run)
    assert os.listdir(tmp_path) == ["trial_001.jsonl"]
    for number in (1, 2):
        (tmp_path / f"trial_{number:03}.jsonl").write_text(good)
    monkeypatch.setattr("pfgen_fast.runs.trials.MAX_BYTES", 40)
    with pytest.raises(TrialsError, match="which is the limit"):
        pack_trials(run)
    assert len(os.listdir(tmp_path)) == 2


def test_a_row_of_csv_that_never_ends_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("pfgen_fast.tables.text_formats.MAX_LINE_BYTES", 1000)
    (tmp_path / "rows.csv").write_text('q,a\n1,"' + '","\n' * 1000)
    with pytest.raises(TrialsError, match="line 2: a row of more than"):
        list(table_rows(tmp_path / "rows.csv"))


def test_an_integer_of_thousands_of_digits_is_named_with_its_place(tmp_path):
    path = tmp_path / "x.json"
    path.write_bytes(b'{"a":\n 1, "b": -' + b"9" * 5000 + b"}")
    with pytest.raises(BuildError) as raised:
        read_json(path, error=BuildError)
    message = f"{path}, line 2, column 11: not JSON that can be read: an integer has more than 4,300 digits"
    assert str(raised.value) == message


@pytest.mark.parametrize("text", ['{"a": 1, "a": 1}"' + '\\"' * 500_000, "[" + ("9" * 4300 + ", ") * 2000 + "9" * 4301])
def test_the_place_of_a_fault_is_found_in_linear_time(text):
    with pytest.raises(TrialsError, match=r"appears twice|has more than 4,300 digits"):
        parse_json(text, "x")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"a = " + b"9" * 5000, "an integer has thousands of digits"),
        (b"[a]\nb = [1, 0x" + b"f" * 9000 + b"]", r"a\.b\[1\]: an integer of more than 64 bits"),
        (b"a = " + b"[" * 100_000, "nested too deeply"),
        (b"'x' . a" + b' . "b.c"' * 50_000 + b" = 1", "nested too deeply"),  # parsing takes quadratic time
        (b"a = " + b"[" * 100 + b"]" * 100, "nested more than 50 deep"),
        (b"a = '\xff'", "not UTF-8"),
        (b"a", "not TOML: Expected"),
        (b"#" * 2_000_000, "holds more than 1 MiB"),
    ],
)
def test_toml_that_cannot_be_read_is_named(tmp_path, content, problem):
    (tmp_path / "x.toml").write_bytes(content)
    with pytest.raises(PfgenError, match=problem) as raised:
        read_toml(tmp_path / "x.toml", error=BuildError)
    assert str(raised.value).startswith(f"{tmp_path / 'x.toml'}")


def test_toml_may_have_long_texts_with_dots_and_deep_keys(tmp_path):
    text = ".".join("x" * 90)
    (tmp_path / "x.toml").write_text(
        f'# {text}\na = "{text}"\nb = \'{text}\'\nc = """\n\\"{text}"""\nd = \'\'\'\n{text}\'\'\'\ne{".e" * 45} = 1.5\n'
    )
    content = read_toml(tmp_path / "x.toml", error=BuildError)
    assert [content[name].strip('"') for name in "abcd"] == [text] * 4


@pytest.mark.parametrize("value", ["[]", "{}", "1", '"ab"', '{"a":1}'])
def test_json_of_too_many_values_is_refused_before_it_is_decoded(tmp_path, value):
    path = tmp_path / "result.json"
    path.write_text("[" + ",".join([value] * 1_000_001) + "]")
    with pytest.raises(TrialsError, match=r"result\.json: JSON of more than 1,000,000 values, which is the limit"):
        read_json(path)
