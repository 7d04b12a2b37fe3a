"""A judge as an evaluator: its requests, valid ratings, and stored replies."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.fault_server import answering, refusing, serving
from makers.judges import FakeEngine
from pfgen_fast import JudgingError
from pfgen_fast.evaluators import Evaluator, Item, JudgeEvaluator, Metric
from pfgen_fast.evaluators.evaluator import text_column
from pfgen_fast.evaluators.judge import TEMPLATES, RatingTemplate, read_template
from pfgen_fast.evaluators.ratings import Scale
from pfgen_fast.judging import Judge, Replies, Server, Template

PLAIN = RatingTemplate("{question}|{sample}|{answer}|{language}", ("question", "sample", "answer", "language"))
ITEM = Item("7", "Ice floats.", "answers", question="Why does ice float?", references=("It is lighter.", "other"))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "replies.jsonl"


def evaluator_of(path, engine=None, **options) -> JudgeEvaluator:
    options = {"judge": Judge("org/judge"), "template": PLAIN, **options}
    return JudgeEvaluator(replies=Replies(path), connect=engine and (lambda judge: engine), **options)


def replying(*replies):
    """An engine with the given replies, by index of the rating."""
    return FakeEngine(lambda request: replies[int(request.name.split()[1]) - 1])


@pytest.mark.parametrize(
    ("reply", "rating"),
    [
        ("[[1]]", 1),
        ("[[10]]", 10),
        ("[[0]]", None),
        ("[[11]]", None),
        ("[[5.0]]", 5),
        ("[[2]] no: [[8]]", 8),
        ("[[ 07 ]]", 7),
        ("8", None),
        ("[[3]], or rather [[11]]", None),
        ("[[3]], or rather [[7.5]]", None),
        ("[[3]], or rather [[-7]]", None),
        ("[[3]], or rather [[7/10]]", None),
        (f"[[3]], or rather [[{'1' * 5000}]]", None),
        ("[[3]] in the form [[rating]]", 3),
    ],
)
def test_the_last_number_in_double_brackets_is_the_rating(reply, rating):
    assert Scale().rating_in(reply) == rating


@pytest.mark.parametrize(("scale", "valid"), [(Scale(1, 5), {1, 2, 3, 4, 5}), (Scale(0, 2), {0, 1, 2})])
def test_a_rating_outside_of_the_scale_is_invalid(scale, valid):
    assert {scale.rating_in(f"[[{number}]]") for number in range(-1, 101)} == {*valid, None}


@pytest.mark.parametrize("bounds", [(5, 5), (5, 1), (-1, 5), (1, 101)])
def test_a_scale_that_is_none_is_refused(bounds):
    with pytest.raises(JudgingError, match="expected two numbers from 0 to 100, in order"):
        Scale(*bounds)


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_packaged_template_has_a_name_and_says_its_scale(name):
    template = read_template(name)
    assert all(template.uses(placeholder) for placeholder in ("question", "sample", "answer", "language"))
    assert template.scale == Scale(1, 10)
    assert f"from {template.scale.low} (" in template.text
    assert f"to {template.scale.high} (" in template.text
    assert template.scale.rating_in(template.text) == 5  # the example
    assert "Scale:" not in template.text


def test_the_packaged_templates_are_told_apart(path):
    signatures = {evaluator_of(path, template=read_template(name)).signature for name in TEMPLATES}
    assert len(signatures) == len(TEMPLATES) == 2
    assert read_template() == read_template("default")


def test_a_template_states_its_scale_in_a_line_that_is_not_sent(tmp_path, path):
    file = tmp_path / "prompt.txt"
    file.write_text("Scale: 1 to 5\n\n{question} {answer}", encoding="utf-8")
    template = read_template(file)
    assert template == RatingTemplate("{question} {answer}", PLAIN.placeholders, Scale(1, 5))
    engine = FakeEngine(lambda request: "[[6]]" if "b" in str(request.prompt) else "[[4]]")
    evaluator = evaluator_of(path, engine, template=template)
    scores = evaluator.score([ITEM] * 2, text_column(["It does.", "It bobs."]))["rating"]
    assert np.array_equal(scores, [4, np.nan], equal_nan=True)
    assert not any("Scale" in str(request.prompt) for request in engine.asked)
    assert evaluator.metrics == (Metric("rating", low=1, high=5),)


def test_the_hash_of_a_template_covers_its_scale(tmp_path):
    file = tmp_path / "prompt.txt"
    hashes = {}
    for head in ("", "Scale: 1 to 10\n", "Scale: 1 to 5\n", "Scale: 1 to 5\r\n\r\n", "Scale: 0 to 5\n"):
        file.write_bytes(f"{head}{{question}} {{answer}}".encode())
        hashes[head] = read_template(file).hash
    assert hashes[""] == hashes["Scale: 1 to 10\n"] == Template("{question} {answer}", ()).hash
    assert hashes["Scale: 1 to 5\n"] == hashes["Scale: 1 to 5\r\n\r\n"]
    assert len(set(hashes.values())) == 3


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ("Scale: 5 to 1", r"line 1: a scale of 5 to 1: expected two numbers from 0 to 100"),
        ("Scale: 1 to 500", r"line 1: a scale of 1 to 500: expected"),
        ("Scale: one to ten", r"line 1: expected the scale as 'Scale: 1 to 5'"),
        (f"Scale: 1 to {'9' * 5000}", r"line 1: expected the scale as"),
        ("Scale: 1 to 5 {question}", r"line 1: expected the scale as"),
    ],
)
def test_a_template_with_a_scale_that_is_none_is_refused(tmp_path, head, message):
    file = tmp_path / "prompt.txt"
    file.write_text(f"{head}\n{{question}} {{answer}}", encoding="utf-8")
    with pytest.raises(JudgingError, match=message) as caught:
        read_template(file)
    assert str(caught.value).startswith(f"{file}, ")


def test_the_prompt_shows_question_sample_text_and_language(path):
    engine = FakeEngine(lambda request: "[[3]]")
    evaluator = evaluator_of(path, engine, language="English", n_ratings=2)
    evaluator.score([ITEM], text_column(["It {answer} sinks."]))
    assert [request.prompt.messages for request in engine.asked] == [
        ({"role": "user", "content": "Why does ice float?|It is lighter.|It {answer} sinks.|English"},)
    ] * 2
    assert sorted(request.name for request in engine.asked) == ["rating 1 of 7", "rating 2 of 7"]


def test_a_template_needs_question_and_answer(tmp_path):
    (tmp_path / "prompt.txt").write_text("Judge {answer}!")
    with pytest.raises(JudgingError, match=r"expected the placeholder \{question\}"):
        read_template(tmp_path / "prompt.txt")
    with pytest.raises(JudgingError, match=r"^papers: no such file; expected a template"):
        read_template("papers")


def test_a_score_is_the_mean_of_the_valid_ratings(path):
    evaluator = evaluator_of(path, replying("[[3]]", "none", "[[8]]"), n_ratings=3)
    assert evaluator.score([ITEM], text_column(["a"]))["rating"].tolist() == [5.5]
    ratings = evaluator.ratings([ITEM], text_column(["a"]))
    assert ratings.values().tolist() == [[3.0, pytest.approx(np.nan, nan_ok=True), 8.0]]
    assert ratings.n_unrated == 1
    assert ratings.asking.n_missing == 0


def test_without_a_valid_rating_there_is_no_score(path):
    evaluator = evaluator_of(path, FakeEngine(lambda request: "" if "lost" in str(request.prompt) else "[[11]]"))
    scores = evaluator.score([ITEM] * 3, text_column(["unsure", "lost", None]))
    assert np.isnan(scores["rating"]).all()
    assert evaluator.ratings([ITEM] * 3, text_column(["unsure", "lost", None])).asking.n_missing == 1


def test_without_a_connection_what_is_kept_is_replayed(path):
    asked = evaluator_of(path, FakeEngine()).score([ITEM] * 2, text_column(["a", "b"]))["rating"]
    replayed = evaluator_of(path).score([ITEM] * 3, text_column(["b", "new", "a"]))["rating"]
    assert np.array_equal(replayed, [asked[1], np.nan, asked[0]], equal_nan=True)


def test_what_is_kept_needs_no_connection(path):
    evaluator_of(path, FakeEngine()).score([ITEM], text_column(["a"]))

    def refuse(judge):
        raise AssertionError("nothing has to be asked")

    evaluator = JudgeEvaluator(Judge("org/judge"), Replies(path), PLAIN, connect=refuse)
    assert evaluator.score([ITEM], text_column(["a"]))["rating"].shape == (1,)


def test_the_signature_holds_what_decides_a_score(path):
    usual = evaluator_of(path).signature
    assert usual == (
        f'judge:"org/judge"|template:{PLAIN.hash}|language:"Japanese"|temperature:0|max_tokens:300|ratings:1|seed:""'
    )
    changes = (
        {"judge": Judge("other")},
        {"judge": Judge("org/judge", 0.5)},
        {"judge": Judge("org/judge", max_tokens=7)},
        {"template": RatingTemplate("{question}{answer}", PLAIN.placeholders)},
        {"template": RatingTemplate(PLAIN.text, PLAIN.placeholders, Scale(1, 5))},
        {"language": "English"},
        {"n_ratings": 2},
        {"seed": "other"},
        {"seed": 'x"|ratings:2'},
    )
    assert len({usual, *(evaluator_of(path, **change).signature for change in changes)}) == 10


def test_it_is_an_evaluator_with_one_metric_from_1_to_10(path):
    evaluator: Evaluator = evaluator_of(path)
    assert evaluator.name == "judge"
    assert evaluator.metrics == (Metric("rating", low=1, high=10),)


def test_what_cannot_be_judged_is_said(path):
    with pytest.raises(JudgingError, match="item a: has no question"):
        evaluator_of(path).score([Item("a", "", "answers")], text_column(["x"]))
    with pytest.raises(JudgingError, match="ratings: expected at least 1, not 0"):
        evaluator_of(path, n_ratings=0)


@given(st.data())
def test_order_batches_and_repetition_change_nothing(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("judge")
    texts = data.draw(st.lists(st.none() | st.sampled_from("abcdef"), max_size=10))
    order = data.draw(st.permutations(range(len(texts))))
    cut = data.draw(st.integers(0, len(texts)))

    def scored(name, engine, *batches):
        evaluator = evaluator_of(folder / name, engine, n_ratings=2)
        return np.concatenate([evaluator.score([ITEM] * len(batch), text_column(batch))["rating"] for batch in batches])

    engines = [FakeEngine(), FakeEngine(), FakeEngine()]
    whole = scored("whole", engines[0], texts)
    shuffled = scored("shuffled", engines[1], [texts[row] for row in order])
    parts = scored("parts", engines[2], texts[:cut], texts[cut:])
    assert np.array_equal(whole[order], shuffled, equal_nan=True)
    assert np.array_equal(whole, parts, equal_nan=True)
    for engine in engines:
        assert len(engine.asked) == 2 * len(set(texts) - {None})


def test_a_server_that_refuses_some_leaves_them_without_a_score(path, monkeypatch):
    for name in ("OPENAI_API_KEY", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)

    def behave(request):
        return refusing(400, "content_filter") if "|bad|" in request.prompt else answering("[[9]]")

    with serving(behave) as server:
        evaluator = JudgeEvaluator(Judge("j"), Replies(path), PLAIN, connect=Server(server.base_url).engine)
        scores = evaluator.score([ITEM] * 3, text_column(["good", "bad", "fine"]))["rating"]
    assert np.array_equal(scores, [9, np.nan, 9], equal_nan=True)
