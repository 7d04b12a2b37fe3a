import csv
import hashlib
import itertools
import json
import lzma
import shutil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.runs import PACKERS
from pfgen_fast import Scorer, TrialsError, _core
from pfgen_fast.runs.items.score_columns import ColumnNames
from pfgen_fast.runs.items.score_tables import read_item_scores
from pfgen_fast.runs.leaderboard import find_results
from pfgen_fast.runs.run_comparison import scores_of
from pfgen_fast.runs.trials import RunFolder, Trials, find_runs, pack_trials
from pfgen_fast.suite.rules import SCORES

LINES = b'{"question": "q", "answer": "a\\u0085b\xe2\x80\xa8c", "n": 1}\n\n{"question": "r", "answer": ""}'
COMPRESSED = [name for name in PACKERS if name != "trials.jsonl"]


@pytest.mark.parametrize("name", PACKERS)
def test_trials_are_read_as_stored(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(PACKERS[name](LINES))
    trials = Trials.read(path)
    assert trials.questions == ["q", "r"]
    assert trials.answers == ["a\x85b\u2028c", ""]
    assert trials.input_hash == hashlib.sha1(path.read_bytes()).hexdigest()
    assert trials.trial(0) == {"question": "q", "answer": "a\x85b\u2028c", "n": 1}
    assert [trials.line_number(row) for row in range(2)] == [1, 3]


@pytest.mark.parametrize("name", COMPRESSED)
def test_a_file_cut_at_any_byte_or_with_other_bytes_is_refused(tmp_path, name):
    whole = PACKERS[name](LINES)
    path = tmp_path / name
    damages = [whole[:n] for n in range(1, len(whole))] + [whole + b"garbage", whole + b"\0garbage", LINES]
    for damaged in damages:
        path.write_bytes(damaged)
        with pytest.raises(TrialsError, match="damaged or cut off"):
            Trials.read(path)


def test_odd_lines_are_tolerated_and_belong_to_their_question(tmp_path):
    path = tmp_path / "trials.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"question": "q", "answer": "\\ud800"}\r\n\r\n  \n')
    assert Trials.read(path).answers == ["\ud800"]
    path = tmp_path / "trials.jsonl"
    lines = ['{"question": "水", "answer": "a"}', '{"question": "水", "answer": "\\udc00", "n": NaN}']
    path.write_text("\n\n".join([*lines, lines[0]]))
    trials = Trials.read(path)
    assert trials.rows_by_question == {"水": [0, 1, 2]}
    assert trials.answers == ["a", "\udc00", "a"]
    assert [trials.line_number(row) for row in range(3)] == [1, 3, 5]


BAD_LINES = [
    (b"{", "line 2, column 2: not JSON"),
    (b"[]", "line 2: expected an object with 'question' and 'answer', not list"),
    (b'{"question": "q"}', "line 2: the key 'answer' is missing"),
    (b'{"question": "q", "answer": null}', "line 2: 'answer': expected a string, not NoneType"),
    (b'{"question": "q", "answer": "\xff"}', r"line 2: not UTF-8 \(byte 29"),
    (b'{"question": "q", "answer": "a", "answer": "b"}', r"line 2: the key 'answer' appears twice in one object$"),
    (b'{"question": "q", "answer": "a", "\\u0061nswer": "b"}', "line 2: the key 'answer' appears twice"),
    (b'{"question": "q", "answer": "a", "meta": [{"x": 1, "x": 1}]}', "line 2: the key 'x' appears twice"),
]


@pytest.mark.parametrize(("line", "message"), BAD_LINES)
def test_a_bad_line_is_named(tmp_path, line, message):
    path = tmp_path / "trials.jsonl"
    path.write_bytes(b'{"question": "q", "answer": "a"}\n' + line + b"\n")
    with pytest.raises(TrialsError, match=message):
        Trials.read(path)


def test_runs_are_found_at_any_depth_once_and_sorted(tmp_path, monkeypatch):
    for name in ("b/x", "a/y", "a/z/deep"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "trials.jsonl").write_bytes(LINES)
    (tmp_path / "b/x/trials.jsonl.xz").write_bytes(lzma.compress(LINES))
    runs = find_runs([tmp_path, tmp_path / "a", tmp_path / "a/y/trials.jsonl", str(tmp_path / "**" / "deep")])
    assert [run.folder.relative_to(tmp_path).as_posix() for run in runs] == ["a/y", "a/z/deep", "b/x"]
    assert runs[2].trials_path == tmp_path / "b/x/trials.jsonl.xz"  # preferred to the plain file


def test_places_without_runs_are_refused(tmp_path):
    with pytest.raises(TrialsError, match="no such file or folder"):
        find_runs([tmp_path / "nowhere"])
    with pytest.raises(TrialsError, match="no run here"):
        find_runs([tmp_path])
    for name in ("notes.json", "b.csv", "a.csv.gz"):
        (tmp_path / name).touch()
    for find in (find_runs, find_results):
        with pytest.raises(TrialsError, match=r"; it has tables such as a\.csv\.gz: name them, or use a glob$"):
            find([tmp_path])


def test_single_trials_are_packed_sorted(tmp_path):
    (tmp_path / "trial_002.jsonl").write_text('{"question": "q", "answer": "b"}\n')
    (tmp_path / "trial_001.jsonl").write_text('{"question": "r", "answer": "a"}\n{"question": "q", "answer": "a"}')
    (run,) = find_runs([tmp_path])
    assert run.trials_path is None
    packed = pack_trials(run)
    assert lzma.decompress(packed.trials_path.read_bytes()) == (
        b'{"question": "q", "answer": "a"}\n{"question": "q", "answer": "b"}\n{"question": "r", "answer": "a"}\n'
    )


def test_a_config_is_an_object_or_an_error(tmp_path):
    run = RunFolder(tmp_path, None)
    assert run.config() is None
    (tmp_path / "config.json").write_text(json.dumps({"b": 1, "a": 2}))
    assert list(run.config()) == ["b", "a"]
    for content in ("[]", "{"):
        (tmp_path / "config.json").write_text(content)
        with pytest.raises(TrialsError, match=r"config\.json(: expected an object|, column 2: not JSON)"):
            run.config()


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(), children, max_size=3),
    max_leaves=5,
)
TRIALS = st.dictionaries(st.sampled_from(["question", "answer", "n", "時"]) | st.text(), JSON_VALUES, max_size=3).map(
    lambda extra: {**extra, "question": "水は？", "answer": extra.get("answer", "あ\n😀")}
)


# The core leaves NaN, lone surrogates, escapes in keys and similar cases to Python; most trials have none of these.
PLAIN_KEYS = st.text("abz_ 0")
PLAIN_TEXTS = st.text(st.characters(blacklist_categories=["Cs"]))
PLAIN_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | PLAIN_TEXTS,
    lambda children: st.lists(children, max_size=3) | st.dictionaries(PLAIN_KEYS, children, max_size=3),
    max_leaves=5,
)
PLAIN_TRIALS = st.dictionaries(PLAIN_KEYS, PLAIN_VALUES, max_size=3)


def read_by_core(line):
    """The line as the core reads it; None if the core leaves the line to Python."""
    left = []
    read = _core.TrialLines(line, lambda number, content: left.append(content) or ("", ""))
    assert left in ([], [line])
    return None if left else read


def assert_reads_what_json_reads(read, line):
    """Fails if the core reads a line differently; returns whether it gives texts exactly if all values are texts."""
    expected = json.loads(line)
    assert (read.questions[0], read.answers[0]) == (expected["question"], expected["answer"])
    assert read.lengths == [len(expected["answer"])]
    texts = read.texts(0)
    assert texts is None or list(texts.items()) == list(expected.items())
    return (texts is not None) == all(isinstance(value, str) for value in expected.values())


def test_the_core_reads_plain_lines_as_json_does():
    n_lines = n_read = 0

    @given(PLAIN_TRIALS, PLAIN_TEXTS, st.booleans(), st.booleans())
    def check(trial, answer, ascii_only, answer_first):
        nonlocal n_lines, n_read
        asked = {"question": "水は？", "answer": answer}
        trial = {**asked, **trial, **asked} if answer_first else {**trial, **asked}
        line = json.dumps(trial, ensure_ascii=ascii_only).encode()
        read = read_by_core(line)
        n_lines += 1
        n_read += read is not None
        if read is not None:
            assert assert_reads_what_json_reads(read, line)

    check()
    assert n_read > 0.9 * n_lines, f"the core left {n_lines - n_read} of {n_lines} lines to Python"


@given(trial=TRIALS, ascii_only=st.booleans(), damage=st.none() | st.tuples(st.integers(0, 400), st.integers(0, 255)))
def test_the_core_reads_odd_and_damaged_lines_as_json_does_or_leaves_them_alone(trial, ascii_only, damage):
    line = json.dumps(trial, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    if damage is not None and damage[1] != 0x0A:
        index = damage[0] % len(line)
        line = line[:index] + bytes([damage[1]]) + line[index + 1 :]
    read = read_by_core(line)
    if read is not None:  # the test above ensures that this is not rare
        assert assert_reads_what_json_reads(read, line) or damage is not None


def test_a_special_character_is_read_at_every_place_of_a_text():
    """The core reads several bytes together."""
    for usual, n_before, n_after in itertools.product("aあ", range(20), range(10)):
        before, after = (usual * n_before).encode(), (usual * n_after).encode()
        for special in (b"\x1f", b"\x01", b'"', b"\\x", b"\x80", b"\xe0\x9f\xbf", b"\xed\xa0\x80", b"\xff"):
            assert read_by_core(b'{"question": "q", "answer": "%s"}' % (before + special + after)) is None
        for special in ("", " ", "~", "\x7f", "é", "ก", "\ud7ff", "\uffff", "😀", "\\n"):
            line = b'{"question": "q", "answer": "%s"}' % (before + special.encode() + after)
            assert assert_reads_what_json_reads(read_by_core(line), line)


@pytest.mark.parametrize("n_streams", [10_000, pytest.param(100_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", COMPRESSED)
def test_a_file_of_very_many_streams_is_one_file(tmp_path, name, n_streams):
    """At the end of each stream the rest is copied; of the whole file, this would take minutes."""
    path = tmp_path / name
    path.write_bytes(PACKERS[name](LINES + b"\n") + PACKERS[name](b"") * n_streams + PACKERS[name](LINES))
    assert len(Trials.read(path)) == 4


# ---- `score RUNS -o FILE`: the answers of runs as one table


@pytest.mark.parametrize("name", ["answers.csv", "answers.tsv.gz", "answers.jsonl", "answers.parquet"])
def test_a_table_of_answers_has_the_scores_of_the_runs(call, varied, mini, tmp_path, name):
    folders = [varied / f"org/model-{k}/abc" for k in (0, 5)]
    before = {path: path.read_bytes() for folder in folders for path in folder.rglob("result.json")}
    code, out, _ = call("score", *folders, "--suite", "mini", "-o", tmp_path / name, "--json")
    assert (code, [record["result"] for record in json.loads(out)]) == (0, [str(tmp_path / name)] * 2)
    assert {path: path.read_bytes() for folder in folders for path in folder.rglob("result.json")} == before
    scores = read_item_scores([tmp_path / name], ColumnNames(model="run_name", score=SCORES))
    expected = scores_of(find_runs(folders), Scorer(mini)).table
    assert scores.items == expected.items
    for metric, column in zip(SCORES, ("average", *SCORES[1:]), strict=True):
        np.testing.assert_allclose(scores.values[metric], expected.values[column], rtol=0, atol=1e-5)
    np.testing.assert_array_equal(scores.n_trials["score"], expected.n_trials["average"])


def test_a_row_says_how_its_scores_were_made(call, varied, mini, scorer, tmp_path):
    run = varied / "org/model-0/abc"
    assert call("score", run, "--suite", "mini", "-o", tmp_path / "a.csv")[0] == 0
    with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {(row["signature"], row["suite_hash"]) for row in rows} == {(scorer.signature, mini.metadata_hash)}
    assert json.loads(rows[0]["config"]) == json.loads((run / "config.json").read_text(encoding="utf-8"))
    assert [row["trial"] for row in rows[:2]] == ["1", "2"]


def test_one_bad_run_does_not_stop_the_others(call, refused, varied, tmp_path):
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "trials.jsonl").write_text("{\n")
    run = varied / "org/model-0/abc"
    code, out, err = call("score", tmp_path / "bad", run, "--suite", "mini", "-o", tmp_path / "a.csv")
    assert (code, "bad" in err, "\nanswers of 1 run: " in out) == (3, True, True)
    assert len((tmp_path / "a.csv").read_text(encoding="utf-8").splitlines()) > 8
    assert "a.json: expected a file that ends with .csv" in refused(
        "score", run, "--suite", "mini", "-o", tmp_path / "a.json"
    )


def test_a_run_of_another_suite_or_without_one_does_not_stop_the_others(call, varied, mini, make_suite, tmp_path):
    """Each of three projects has a run; one has a suite with other reference sets, and one has no suite."""
    run = varied / "org/model-0/abc/trials.jsonl"
    make_suite({"answers": {"X": ["氷"]}, "question": mini["Q01"].question})
    for name in ("a", "b", "c"):
        (tmp_path / name / "result/run").mkdir(parents=True)
    shutil.copytree(mini.folder, tmp_path / "a/data")
    (tmp_path / "b/data").mkdir()
    (tmp_path / "Q01.json").rename(tmp_path / "b/data/Q01.json")
    for name in ("a", "c"):
        shutil.copy(run, tmp_path / name / "result/run")
    answer = json.dumps({"question": mini["Q01"].question, "answer": "氷"}, ensure_ascii=False)
    (tmp_path / "b/result/run/trials.jsonl").write_text(answer + "\n", encoding="utf-8")
    projects = [tmp_path / name for name in "abc"]
    code, out, err = call("score", *projects, "-o", tmp_path / "all.csv")
    assert (code, out.count("\nrun "), "answers of 1 run: " in out) == (3, 1, True)
    assert [part in err for part in ("other reference sets than", "the run is not in a checkout")] == [True, True]
    code, out, _ = call("score", *projects)
    assert (code, out.count("result/run ")) == (3, 2)
    assert call("score", projects[2])[0] == 2
