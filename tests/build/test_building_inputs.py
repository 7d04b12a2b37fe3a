import gzip
import json
import lzma
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from pfgen_fast.base.errors import BuildError, TrialsError
from pfgen_fast.build import answer_tables as inputs
from pfgen_fast.build.answer_tables import gather, input_files, read_table
from pfgen_fast.build.build_config import Frequency, Length, Normalise, Select, read_config
from pfgen_fast.suite.units import PatternTokenizer

PLAIN = """
suite = "out"
sets = { A = "a.jsonl" }
[[question]]
question = "Why?"
"""


@pytest.fixture
def read(tmp_path):
    def read(text):
        path = tmp_path / "config.toml"
        path.write_text(text, encoding="utf-8")
        return read_config(path)

    return read


def test_a_short_config_gets_the_defaults_and_directories_beside_it(read, tmp_path, monkeypatch):
    config = read(PLAIN)
    assert (config.suite, config.work) == (tmp_path / "out", tmp_path / "out.work")
    assert config.normalise == Normalise(nfkc=False, white_space="single", rules=())
    assert config.frequency == Frequency(order=0, below=2, until_stable=False)
    assert (config.length, config.select) == (Length(0, "auto"), Select(1000, 10, "drop", 1, None, None))
    (asked,) = config.questions
    assert (asked.question_id, asked.question) == ("Q01", "Why?")
    assert config.set_names(asked) == ["A"]
    monkeypatch.chdir(tmp_path.parent)
    config = read_config(Path(tmp_path.name, "config.toml"))
    assert (config.suite, config.work) == (Path(tmp_path.name, "out"), Path(tmp_path.name, "out.work"))


def test_everything_can_be_said(read):
    config = read(
        r"""
suite = "made/suite"
work = "/tmp/elsewhere"
seed = "s"
unit = "token"
tokenizer = "words"
frequency = { order = 3, below = 4, until_stable = false }
length = { target = 50, keep = 200 }
select = { size = 20, max_order = 5, duplicates = "drop", restarts = 2, proposals = 9, seconds = 5 }
sets = { P = ["p/*.jsonl", "q.parquet"] }
instructions = { qa = "Answer." }
[normalise]
nfkc = true
white_space = "trim"
lists = ["formal-ja"]
without = ["comma"]
replace = [["(a)b", '\1']]
remove = ["x+"]
[[question]]
id = "Qb"
question = "Why?"
category = "c"
note = "n"
sample = "Because."
unit = "character"
keywords = [{t = "be"}, {or = [{t = "a"}, {t = "b"}], importance = 0.5}]
wrong = ["w"]
required = ["r"]
answers = { S = "own.jsonl" }
[[question]]
id = "Qa"
question = "How?"
tokenizer = "whitespace"
unit = "token"
"""
    )
    assert [asked.question_id for asked in config.questions] == ["Qa", "Qb"]
    rules = config.normalise.rules
    assert (len(rules), rules[-2].text, rules[-1].kind) == (38 - 1 + 1, r"\1", "remove")
    assert "comma" not in [rule.name for rule in rules]
    assert config.select == Select(20, 5, "drop", 2, 9, 5.0)
    assert config.set_names(config.questions[1]) == ["P", "S"]
    assert [asked.tokenizer for asked in config.questions] == [PatternTokenizer("whitespace"), None]
    assert str(config.work) == "/tmp/elsewhere"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"suite =": "siute ="}, "unknown key 'siute'; expected one of suite, work, "),
        ({'suite = "out"': ""}, "the key 'suite' is missing"),
        ({'"out"': '"o\\u0000"'}, "suite: expected the name of a folder, without control characters"),
        ({'"out"': '"out"\nwork = "out/w"'}, "work: expected a directory outside the suite"),
        ({'"out"': "1"}, "suite: expected a string, not 1"),
        ({'"out"': '"out"\nseed = 2026-11-29'}, 'seed: expected a string, not "2026-11-29"'),
        ({"Why?": ""}, "question[0].question: expected a text that is not empty"),
        ({"[[q": "[normalise]\nreplace = ['a']\n[[q"}, "normalise.replace[0]: expected a pattern and a text"),
        ({"[[q": "[normalise]\nreplace = [['a', 'b'], ['(', '']]\n[[q"}, "normalise.replace[1]: the pattern '(' does"),
        ({"[[q": "[normalise]\nlists = 'formal-ja'\n[[q"}, "normalise.lists: expected a list, not 'formal-ja'"),
        ({"[[q": "[normalise]\nlists = ['formal-ja']\nwithout = ['coma']\n[[q"}, "no rule 'coma' in the lists; did"),
        (
            {"[[q": "[frequency]\norder = 0\n[[q"},
            "frequency.order: expected a whole number from 1 to 2,147,483,647, not 0",
        ),
        (
            {"[[q": f"[frequency]\nbelow = {2**63 - 1}\n[[q"},
            "frequency.below: expected a whole number from 1 to 2,147,483,647, not 9",
        ),
        (
            {"[[q": "[frequency]\norder = true\n[[q"},
            "frequency.order: expected a whole number from 1 to 2,147,483,647, not true",
        ),
        ({"[[q": "[length]\nkeep = 10\n[[q"}, "length.keep: expected at least select.size, which is 1000"),
        ({"[[q": "[length]\nkeep = true\n[[q"}, "length.keep: expected a whole number, 'auto' or 'all', not true"),
        ({"[[q": "[select]\nseconds = 0\n[[q"}, "select.seconds: expected a number above 0, not 0"),
        ({"[[q": "[select]\nduplicates = 'no'\n[[q"}, "select.duplicates: expected one of keep, drop, not 'no'"),
        ({'"a.jsonl"': "[]"}, "sets['A']: expected a file or glob"),
        ({"{ A": "{ '../A'"}, "sets: expected up to 64 letters"),
        ({'sets = { A = "a.jsonl" }': ""}, "question Q01: no answers; name files in [sets]"),
        ({'"Why?"': '"Why?"\nid = "1"'}, "question[0].id: expected an id that begins with 'Q'"),
        ({'"Why?"': '"Why?"\nid = "Q/1"'}, "question[0].id: expected up to 64 letters"),
        ({'"Why?"': '"Why?"\nrequired = ["a", "a{9999}"]'}, "question[0].required[1]: the pattern 'a{9999}' does"),
        ({'"Why?"': '"Why?"\nkeywords = [{t = "("}]'}, "question[0].keywords[0].t: the pattern '(' does not compile"),
        ({'"Why?"': '"Why?"\nkeyword = []'}, "question[0]: unknown key 'keyword'; expected one of keywords, "),
        ({'"Why?"': '"Why?"\n[[question]]\nquestion = "Why?"'}, "question Q02: question Q01 has the same id or text"),
        ({'"Why?"': '"Why?"\nid="QA"\n[[question]]\nid = "Qa"\nquestion = "?"'}, "question Qa: question QA has the"),
        ({'"out"': '"out"\nunit = "word"'}, "unit: expected one of character, token, not 'word'"),
        ({'"out"': '"out"\ntokenizer = "words"'}, "tokenizer: allowed only with the unit 'token'"),
        ({'"out"': '"out"\nunit = "token"\ntokenizer = "Q.json"'}, "tokenizer: expected 'whitespace', 'words' or a"),
        ({"[[q": "[instructions]\ncaht = ''\n[[q"}, "instructions: unknown key 'caht'; expected one of chat, "),
        ({"suite": "suite = "}, "not TOML"),
    ],
)
def test_a_config_with_a_fault_is_refused(read, change, problem):
    text = PLAIN
    for old, new in change.items():
        assert old in text
        text = text.replace(old, new, 1)
    with pytest.raises(BuildError) as error:
        read(text)
    assert problem in str(error.value)
    assert "config.toml: " in str(error.value)


def lines(*rows):
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


ROWS = [
    {"question": "Why?", "answer": "one"},
    {"question": "Q02", "answer": "二 🐟"},
    {"question": "else", "answer": "x"},
    {"question": "Why?", "answer": "", "timestamp": 3},
]
CODES = {"Why?": 0, "Q01": 0, "How?": 1, "Q02": 1}


def gathered(tmp_path, paths, own=None):
    targets = {number: tmp_path / f"{number}.parquet" for number in (0, 1)}
    counts, n_unknown = gather(paths, own or {}, targets, CODES)
    tables = {number: read_table(path).to_pydict() for number, path in targets.items()}
    assert counts == {number: len(table["row"]) for number, table in tables.items()}
    assert all(table["row"] == list(range(len(table["row"]))) for table in tables.values())
    return tables[0]["answer"], tables[1]["answer"], n_unknown


@pytest.mark.parametrize(
    ("ending", "pack"), [("", bytes), (".gz", gzip.compress), (".xz", lzma.compress), (".zst", zstandard.compress)]
)
def test_json_lines_are_read_in_any_compression(tmp_path, ending, pack):
    path = tmp_path / f"a.jsonl{ending}"
    path.write_bytes(pack(b"\xef\xbb\xbf" + lines(*ROWS).replace(b"\n", b"\r\n\n", 1)))
    assert gathered(tmp_path, [path]) == (["one", ""], ["二 🐟"], 1)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())])
def test_parquet_files_are_read(tmp_path, kind):
    table = {key: pa.array([row[key] for row in ROWS]).cast(kind) for key in ("answer", "question")}
    pq.write_table(pa.table({"other": pa.array(range(4)), **table}), tmp_path / "a.parquet")
    assert gathered(tmp_path, [tmp_path / "a.parquet"]) == (["one", ""], ["二 🐟"], 1)


def test_files_about_one_question_need_not_name_it(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(lines(*ROWS))
    (tmp_path / "b.jsonl").write_bytes(lines({"answer": "b"}, {"answer": "c", "question": "How?"}))
    pq.write_table(pa.table({"answer": ["d"]}), tmp_path / "c.parquet")
    own = {1: [tmp_path / "b.jsonl", tmp_path / "c.parquet"]}
    assert gathered(tmp_path, [tmp_path / "a.jsonl"], own) == (["one", ""], ["二 🐟", "b", "c", "d"], 1)
    for line, problem in {
        b'{"answer": "\\ud800"}': "a lone surrogate, which is not valid text",
        b'{"x": 1}': "the key 'answer' is missing",
        b'{"answer": 1}': "'answer': expected a string, not int",
    }.items():
        (tmp_path / "b.jsonl").write_bytes(b"\n" + line)
        with pytest.raises(TrialsError, match=rf"b\.jsonl, line 2: {problem}"):
            gathered(tmp_path, [], own)


def test_answers_keep_their_order_over_many_batches(tmp_path, monkeypatch):
    monkeypatch.setattr(inputs, "_BATCH_ROWS", 64)
    monkeypatch.setattr(inputs, "_ROW_GROUP_BYTES", 5000)
    rows = [{"question": ("Why?", "How?")[n % 3 == 0], "answer": f"{n}" * 20} for n in range(700)]
    (tmp_path / "a.jsonl").write_bytes(lines(*rows))
    first, second, _ = gathered(tmp_path, [tmp_path / "a.jsonl"])
    assert first == [row["answer"] for row in rows if row["question"] == "Why?"]
    assert second == [row["answer"] for row in rows if row["question"] == "How?"]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b'{"question": "Why?", "answer": 1}', "line 2: 'answer': expected a string, not int"),
        (b'{"question": "Why?", "answer": "a", "answ\\u0065r": "b"}', "line 2: the key 'answer' appears twice in one"),
        (b'{"answer": "a"}', "line 2: the key 'question' is missing"),
        (b"[" * 100_000, "line 2: JSON nested too deeply"),
        (b'{"question": "Why?", "answer": "\\ud800"}', "line 2: a lone surrogate, which is not valid text"),
    ],
)
def test_a_line_without_an_answer_is_named(tmp_path, content, problem):
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines(ROWS[0]) + content + b"\n")
    with pytest.raises(TrialsError) as error:
        gathered(tmp_path, [path])
    assert f"{path}, {problem}" in str(error.value)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.jsonl"]


def test_a_line_about_another_question_is_named(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines(*ROWS))
    with pytest.raises(TrialsError, match=r"a\.jsonl, line 2: an answer to another question"):
        gathered(tmp_path, [], {0: [path]})
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "a.parquet")
    with pytest.raises(TrialsError, match=r"a\.parquet, row 2: an answer to another question"):
        gathered(tmp_path, [], {0: [tmp_path / "a.parquet"]})


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ({"question": ["Why?"] * 2, "answer": ["a", None]}, "row 2, column 'answer': expected a text, not null"),
        ({"question": ["Why?"] * 2, "answer": [1, 2]}, "column 'answer': expected texts, not int64"),
        ({"question": ["Why?"] * 2}, "expected one column 'answer'; there are 'question'"),
        ({"answer": ["a"]}, "expected one column 'question'; there are 'answer'"),
    ],
)
def test_a_parquet_file_without_answers_is_named(tmp_path, columns, problem):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table(columns), path)
    with pytest.raises(TrialsError) as error:
        gathered(tmp_path, [path])
    assert str(error.value).startswith(str(path))
    assert problem in str(error.value)


def test_damaged_files_are_named(tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(lines(*ROWS))[:-9])
    not_utf8 = pa.Array.from_buffers(pa.string(), 1, [*pa.array(["ab"]).buffers()[:2], pa.py_buffer(b"\xff\xfe")])
    pq.write_table(pa.table({"question": ["Why?"], "answer": not_utf8}), tmp_path / "b.parquet")
    for path in sorted(tmp_path.iterdir()):
        with pytest.raises(TrialsError, match="damaged"):
            gathered(tmp_path, [path])


def test_files_globs_and_runs_are_found_each_once(tmp_path):
    names = ["b/1.jsonl", "b/2.jsonl.xz", "b/3.parquet", "runs/m/a/trials.jsonl", "runs/m/b/trial_001.jsonl"]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    result = input_files(["b/2.jsonl.xz", "b/*", "runs", str(tmp_path / "runs" / "m")], tmp_path)
    assert [path.relative_to(tmp_path).as_posix() for path in result] == [names[1], names[0], names[2], *names[3:]]
    Path(tmp_path, "b", "4.csv").write_bytes(b"")
    with pytest.raises(BuildError, match=r"4\.csv: expected answers in a file that ends in"):
        input_files(["b/*"], tmp_path)
