import pickle
import subprocess
import sys

import numpy as np
import pfgen_fast
import pytest
from pfgen_fast import Question, Scorer, Suite, SuiteError, TrialsError
from pfgen_fast.suite.rules import FLOAT_SUMS, PROFILES

GOOD = "Ice floats on water because it is less dense: the molecules form an open lattice when they freeze."


@pytest.fixture
def mixed(make_suite):
    """Two questions that share one set; each has another set besides."""
    return Suite.load(make_suite({"answers": {"R": ["abc"], "P": ["xyz"]}}, {"answers": {"S": ["def"], "P": ["abc"]}}))


def test_columns_by_name_and_as_attributes(mixed):
    table = Scorer(mixed).score(["Q02", "Q01"], ["abc", "abc"])
    assert table.columns == (
        *("question_id", "fluency", "truthfulness", "helpfulness", "average"),
        *("fluency_R", "fluency_P", "fluency_S", "truthfulness_R", "truthfulness_P", "truthfulness_S"),
    )
    assert table["question_id"].tolist() == table.question_id.tolist() == ["Q02", "Q01"]
    np.testing.assert_array_equal(table.fluency_P, [0.5, 0.0])
    np.testing.assert_array_equal(table["fluency_R"], [np.nan, 0.5])
    np.testing.assert_array_equal(table.truthfulness_S, [0.0, np.nan])
    np.testing.assert_array_equal(table.fluency, [0.5, 0.5])
    assert table.average.dtype == np.float64

    _, row = table
    assert (row["question_id"], row["average"]) == ("Q01", round((0.5 + 0.5 + 1) / 3, 5))


def test_columns_cannot_be_written_and_an_unknown_one_names_the_known_ones(scorer):
    table = scorer.score("Q07", [GOOD])
    with pytest.raises(ValueError, match="read-only"):
        table.average[0] = 1.0
    with pytest.raises(KeyError, match="no column 'fluency_X'; there are question_id, fluency"):
        table["fluency_X"]
    with pytest.raises(AttributeError, match="fluency_X"):
        table.fluency_X  # noqa: B018


@pytest.mark.parametrize("profile", PROFILES)
def test_scores_can_be_added_up_in_the_other_way(mini, make_suite, profile):
    """As a scorer with that sum computes them, for a part of a table too, and with missing answers."""
    references = mini.questions[0].answers["A"]
    suite = Suite.load(make_suite({"answers": {name: references[i::5] for i, name in enumerate("VWXYZ")}}))
    answers = [None, *references, *(text[i:] + text[:i] for i, text in enumerate(references))]
    scorers = [Scorer(suite, profile=profile, float_sum=float_sum) for float_sum in FLOAT_SUMS]
    tables = [scorer.score("Q01", answers, nulls="null") for scorer in scorers]
    assert np.nansum(tables[0].fluency != tables[1].fluency) > 1  # a null differs from itself
    for expected in tables:
        rows = expected.rows(1, 9)
        for actual in (table.rows(1, 9).added_up(expected.float_sum) for table in tables):
            assert (actual.signature, len(actual), actual.details(7)) == (rows.signature, 8, rows.details(7))
            assert all(actual[column].tobytes() == rows[column].tobytes() for column in rows.columns)
            again = pickle.loads(pickle.dumps(actual))
            assert (again.signature, again.fluency.tobytes()) == (rows.signature, rows.fluency.tobytes())


def test_an_empty_batch_gives_an_empty_table(scorer):
    table = scorer.score([], [])
    assert len(table) == 0
    assert table.columns == scorer.score("Q07", [GOOD]).columns
    assert list(table) == []
    assert repr(table) == "ScoreTable(0 answers, none scored)"
    assert scorer.reward("Q07", []).tolist() == []


def test_details_accept_rows_from_the_end_and_do_not_change_with_the_callers_list(scorer):
    answers = ["", GOOD]
    table = scorer.score("Q07", answers)
    answers[1] = ""
    assert table.details(-1) == scorer.score_one("Q07", GOOD)
    for row in (2, -3):
        with pytest.raises(IndexError, match="of a table of 2"):
            table.details(row)


def test_the_signature_says_how_a_number_came_about(mini):
    signature = Scorer(mini, profile="paper", float_sum="naive").signature
    assert signature == (
        f"pfgen-fast:{pfgen_fast.__version__}|suite:{mini.metadata_hash}|profile:paper|sum:naive|orders:1-10"
    )


def test_answers_must_be_a_column_of_texts(scorer):
    for answers, message in [
        ("one text", "expected a sequence of str, not one str"),
        (b"bytes", "expected a sequence of str, not one bytes"),
        ({"a": "b"}, "expected a sequence of str, not one dict"),
        (7, "expected a list of str, a NumPy array or an Arrow string column, not int"),
        (None, "not NoneType"),
        (np.array([["a"]]), "expected one dimension, not 2"),
        (np.array("a"), "expected one dimension, not 0"),
        (np.array([1.0]), r"answers\[0\]: expected a str, not float"),
        (np.array([b"a"]), r"answers\[0\]: expected a str, not bytes"),
        (["fine", None, "fine"], r"answers\[1\]: expected a str, not NoneType"),
        (("fine", float("nan")), r"answers\[1\]: expected a str, not float"),
        (np.array(["fine", 3], dtype=object), r"answers\[1\]: expected a str, not int"),
    ]:
        for call in (scorer.score, scorer.reward):
            with pytest.raises(TrialsError, match=message):
                call("Q07", answers)


def test_unknown_questions_are_named_with_their_row(scorer):
    with pytest.raises(TrialsError, match=r"^questions\[1\]: unknown question 'Q77' in suite mini; nearest: .*'Q07'"):
        scorer.score(["Q07", "Q77"], ["a", "b"])
    with pytest.raises(TrialsError, match=r"^questions: unknown question 'Why\?'"):
        scorer.reward("Why?", ["a"])
    with pytest.raises(TrialsError, match=r"^questions\[0\]: expected a str, not int"):
        scorer.score([7], ["a"])
    with pytest.raises(TrialsError, match="questions"):
        scorer.score(7, ["a"])
    with pytest.raises(TrialsError, match="2 questions for 3 answers; expected one for each"):
        scorer.score(["Q07", "Q08"], ["a", "b", "c"])


def test_wrong_settings_are_refused(mini, scorer):
    for settings, message in [
        ({"profile": "fast"}, "profile: expected 'leaderboard', 'paper' or 'normalised', not 'fast'"),
        ({"float_sum": "exact"}, "float_sum: expected 'compensated' or 'naive'"),
        ({"threads": 0}, "threads: expected 1 to 1024, not 0"),
        ({"threads": True}, "threads: expected 1 to 1024, not True"),
    ]:
        with pytest.raises(ValueError, match=message):
            Scorer(mini, **settings)
    with pytest.raises(ValueError, match="nulls: expected 'error' or 'null'"):
        scorer.score("Q07", [], nulls="skip")


@pytest.mark.parametrize(("profile", "text"), [("paper", "x" * 150), ("normalised", "、 。")])
def test_a_set_without_anything_that_its_profile_counts_has_no_baseline(make_suite, profile, text):
    suite = Suite.load(make_suite({}, {"answers": {"P": ["a"], "L": ["", text]}}))
    Scorer(suite)
    with pytest.raises(SuiteError, match=f"question Q02: in profile {profile} the set 'L' has baseline 0, because all"):
        Scorer(suite, profile=profile)


@pytest.mark.parametrize(
    ("questions", "message"),
    [
        ((), "at least one question"),
        ((Question("Q1", "t", {"P": "abc"}),), "question 1: .*expected a list of at least one"),
        ((Question("Q1", "t", {"P": ("a",)}, ({"t": 1},)),), "question 1: .*expected a string"),
        ((Question("Q1", "t", {"P": ("a",)}),) * 2, "question 2: the id or text 'Q1' is already used by question 'Q1'"),
    ],
)
def test_a_suite_built_by_hand_is_checked_too(questions, message):
    with pytest.raises(SuiteError, match=f"suite made.*{message}"):
        Scorer(Suite("made", questions, "0" * 40))


@pytest.mark.slow
def test_an_interrupt_ends_a_batch(mini):
    """Runs in a child process, which interrupts itself in the middle of a long batch; counts its own time alone."""
    script = (
        "import signal, time\n"
        "from pfgen_fast import Question, Rule, Scorer, Suite\n"
        "scorer = Scorer(Suite('made', (Question('Q', 'q', {'P': ('abc' * 30,) * 3}),), '0' * 40), threads=2)\n"
        "answers = ['abc' * 60] * 200_000\n"
        "begin = time.process_time()\n"
        "scorer.reward('Q', answers[:20_000])\n"
        "tenth = time.process_time() - begin\n"
        "signal.signal(signal.SIGPROF, signal.default_int_handler)\n"
        "signal.setitimer(signal.ITIMER_PROF, tenth)\n"
        "begin = time.process_time()\n"
        "try:\n    scorer.reward('Q', answers)\n"
        "except KeyboardInterrupt:\n    print((time.process_time() - begin) / tenth < 7)\n"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout == "True\n"


@pytest.mark.parametrize("n_characters", [300_000, pytest.param(10_000_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("profile", PROFILES)
def test_an_answer_of_megabytes_is_ordinary_input(mini, profile, n_characters):
    scorer = Scorer(mini, profile=profile)
    long = GOOD + "氷" * n_characters
    assert scorer.score_one("Q07", long)["average"] == scorer.score_one("Q07", long[:1000])["average"]
