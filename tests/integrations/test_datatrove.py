"""The filter for datatrove: the documented pipeline in its real executor, and the filter alone."""

import gzip
import json
import pickle
from importlib import import_module

import numpy as np
import pytest
from makers import engines
from makers.documented import documented_example
from makers.engines import bits, engine
from pfgen_fast import PfgenError, TrialsError

pytestmark = pytest.mark.engines
engine("datatrove.executor")
Document = engine("datatrove.data").Document
PfgenScoreFilter = import_module("pfgen_fast.integrations.datatrove").PfgenScoreFilter

ANSWER = "Ice floats because it is less dense than water."
N = 400


@pytest.fixture(scope="module")
def rows():
    """Rows with the keys `id`, `question` and `text`, which have no empty text; tests only read them."""
    columns = zip(*engines.rows(N).values(), strict=True)
    return [{"id": f"{i:05}", "question": key, "text": text or "."} for i, key, text in columns]


@pytest.fixture
def folder(tmp_path, rows):
    """A directory with four files of questions and answers."""
    (tmp_path / "in").mkdir()
    for part in range(4):
        lines = "".join(json.dumps(row) + "\n" for row in rows[part::4])
        (tmp_path / "in" / f"{part}.jsonl").write_text(lines, encoding="utf-8")
    return tmp_path


def run(folder):
    """Runs the documented pipeline: two tasks in two processes."""
    example = documented_example("LocalPipelineExecutor")
    for name in ("in", "out", "dropped", "logs"):  # datatrove remembers where a relative path was
        example = example.replace(f'"{name}"', repr(str(folder / name)))
    exec(example, {"__name__": "__main__"})


def documents(folder):
    """The documents that were written, as rows with their metadata."""
    lines = [line for path in folder.glob("*.gz") for line in gzip.decompress(path.read_bytes()).splitlines()]
    read = map(json.loads, lines)
    return sorted(({**document, **document["metadata"]} for document in read), key=lambda row: row["id"])


def test_two_workers_keep_what_the_single_process_keeps_also_when_a_task_is_repeated(folder, rows, scorer):
    table = scorer.score([row["question"] for row in rows], [row["text"] for row in rows])
    stays = np.flatnonzero((table.average >= 0.4) & (table.helpfulness > 0))
    assert N / 10 < len(stays) < N * 9 / 10
    others = np.setdiff1d(range(N), stays)
    for repeated in (None, "00001"):
        if repeated:
            (folder / "logs" / "completions" / repeated).unlink()
        run(folder)
        for name, expected in (("out", stays), ("dropped", others)):
            actual = documents(folder / name)
            assert [document["id"] for document in actual] == [rows[i]["id"] for i in expected]
            assert bits(row["average"] for row in actual) == table.average[expected].tobytes()
        assert {document["filter_reason"] for document in documents(folder / "dropped")} == {"score"}
        stats = json.loads((folder / "logs" / "stats.json").read_text())[1]["stats"]
        assert stats["forwarded"] + stats["dropped_score"] == stats["total"] == (N / 2 if repeated else N)


def test_a_row_that_cannot_be_scored_stops_its_task_with_one_sentence(folder):
    with (folder / "in" / "3.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"id": "bad", "question": "Q77", "text": "x"}\n')
    with pytest.raises(TrialsError, match=r"^document 'bad', column 'question': .*Q77"):
        run(folder)
    assert not (folder / "logs" / "completions" / "00001").exists()


def test_scores_that_are_only_compared_are_not_kept(scorer):
    texts = [ANSWER, "Because.", "Ice."]
    batch = [Document(text, str(row), metadata={"question": "Q07"}) for row, text in enumerate(texts)]
    step = PfgenScoreFilter("mini", where="helpfulness > 0 and average >= 0.3", columns=["fluency"])
    table = scorer.score("Q07", texts)
    passes = ((table.average >= 0.3) & (table.helpfulness > 0)).tolist()
    assert step.filter_batch(batch) == [True if passing else (False, "score") for passing in passes]
    assert [document.metadata for document in batch] == [
        {"question": "Q07", "fluency": fluency} for fluency in table.fluency.tolist()
    ]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"minimum": 0.5, "where": "average > 0"}, "expected only one of these"),
        ({"minimum": "high"}, "expected a number, not 'high'"),
        ({"where": "niceness > 0"}, "no score 'niceness'"),
        ({"columns": ["niceness"]}, "no score 'niceness'"),
        ({"columns": "average", "minimum": 0}, "expected a list of names, not the text 'average'"),
    ],
)
def test_settings_that_do_not_fit_are_one_sentence(settings, message):
    with pytest.raises(PfgenError, match=message):
        PfgenScoreFilter("mini", **settings)


def test_missing_answers_are_an_error_or_dropped():
    batch = [Document(None, "1", metadata={"question": "Q07"}), Document(ANSWER, "2", metadata={"question": "Q07"})]
    with pytest.raises(TrialsError, match=r"^document '1', column 'text': "):
        PfgenScoreFilter("mini", 0.2).filter_batch(batch)
    assert PfgenScoreFilter("mini", 0.2, nulls="null").filter_batch(batch) == [(False, "no_score"), True]
    assert batch[0].metadata["average"] is None


def test_without_a_filter_all_stay_with_their_scores():
    document = Document("ignored", "1", metadata={"q": "Q07", "a": ANSWER})
    step = PfgenScoreFilter("mini", question_key="q", answer_key="a", columns=["fluency", "average"], prefix="pfgen_")
    assert step.filter(document) is True
    assert list(document.metadata) == ["q", "a", "pfgen_fluency", "pfgen_average"]
    assert len(pickle.dumps(step)) < 3000  # what is sent for each task


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"q": "Q07"}, r"^document '1': no 'question' in its metadata; there are 'q'$"),
        ({"question": "Q07", "average": 1}, r"^document '1': there is already a field 'average'"),
    ],
)
def test_metadata_that_do_not_fit_are_one_sentence(metadata, message):
    with pytest.raises(TrialsError, match=message):
        PfgenScoreFilter("mini", 0.2).filter(Document("x", "1", metadata=metadata))
