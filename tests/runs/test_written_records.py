"""Records of answers that the core writes: byte for byte what Python writes of the same trials and details."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from makers.effort import examples, share
from makers.runs import make_run
from pfgen_fast import Scorer
from pfgen_fast.base.native import _core
from pfgen_fast.base.untrusted_json import WrittenJson
from pfgen_fast.runs import aggregation
from pfgen_fast.runs.trials import Trials, find_runs
from pfgen_fast.scoring.score_table import ScoreTable

CHARACTERS = st.one_of(
    st.characters(), st.characters(max_codepoint=0x7F), st.sampled_from('"\\/\b\f\n\r\t\x00\x1f\x7f\u2028\ufeff😀')
)
TEXTS = st.text(CHARACTERS, max_size=12)
KEYS = st.one_of(TEXTS, st.sampled_from(["scores", "timestamp", "a"]))
ODD = st.one_of(st.integers(), st.none(), st.floats(), st.just([1]), st.just({"b": "c"}))


def lines_of(suite, extras, *, ensure_ascii):
    """One trial of each question, with more keys around its answer."""
    return [
        json.dumps(
            {**extra, "question": question.question, "answer": answer, "end": "x"}, ensure_ascii=ensure_ascii
        ).encode("utf-8", "surrogatepass" if ensure_ascii else "replace")
        for question, (extra, answer) in zip(suite, extras, strict=True)
    ]


def result_of(content, scorer):
    trials = Trials(None, "hash", _core.TrialLines(content, lambda _, line: _question_and_answer(line)))
    return aggregation.aggregate(trials, scorer.score(trials.lines.questions, trials.lines.answers), {"a": 1})


def _question_and_answer(line):
    trial = json.loads(line)
    return trial["question"], trial["answer"]


def answers_of(result):
    return [answer for question in result.questions.values() for answer in question.samples]


def records(result):
    return [answer.record for answer in answers_of(result)]


@pytest.mark.parametrize("ensure_ascii", [True, False])
def test_records_are_written_as_python_writes_them(mini, scorer, monkeypatch, ensure_ascii):
    n_written = n_too_long = 0
    extra = st.dictionaries(KEYS, st.one_of(TEXTS, TEXTS, TEXTS, ODD), max_size=3)
    answers = st.one_of(TEXTS, st.sampled_from([text * n for q in mini for text in q.answers["A"][:2] for n in (1, 3)]))
    too_long = [({}, "." * n + question.answers["A"][0]) for n, question in enumerate(mini, start=60)]

    @examples(150)
    @example(too_long)
    @given(st.lists(st.tuples(extra, answers), min_size=len(mini), max_size=len(mini)))
    def check(extras):
        nonlocal n_written, n_too_long
        content = b"\n".join(lines_of(mini, extras, ensure_ascii=ensure_ascii))
        written = result_of(content, scorer)
        with monkeypatch.context() as patch:
            patch.setattr(ScoreTable, "records_json", lambda _, rows, *__: [None] * len(rows))
            made = result_of(content, scorer)
        n_written += sum(isinstance(answer.stored, WrittenJson) for answer in answers_of(written))
        assert not any(isinstance(answer.stored, WrittenJson) for answer in answers_of(made))
        n_too_long += sum("字超過" in str(record["scores"]["helpfulness_results"]) for record in records(made))
        expected = json.dumps(made.to_dict(), ensure_ascii=False, indent=2).encode("utf-8", "backslashreplace")
        assert written.content == made.content == expected
        # NaN of a trial differs from itself; all else is equal once decoded.
        assert repr(records(written)) == repr(records(made))

    check()
    assert n_too_long > 0
    assert n_written > share(150)  # of eight times as many at least


def test_records_of_profile_paper_are_made_by_python(mini, tmp_path):
    lines = [line.decode() for line in lines_of(mini, [({}, "a")] * len(mini), ensure_ascii=True)]
    (run,) = find_runs([make_run(tmp_path, lines)])
    result = aggregation.evaluate(run, Scorer(mini, profile="paper"))
    assert not any(isinstance(answer.stored, WrittenJson) for answer in answers_of(result))
