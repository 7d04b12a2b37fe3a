"""Texts that a language model damages: prompts, tries, stored replies, budgets, bad servers, and kills."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.asked_engines import FakeEngine
from makers.fault_server import answering, refusing, serving
from makers.tested_evaluators import EVERY, MINOR, PARAPHRASE, damaged, moody_damaged
from pfgen_fast import DiscernmentError, JudgingError
from pfgen_fast.lab.discernment.discernment_plan import Perturbation
from pfgen_fast.lab.discernment.kinds import Impossible
from pfgen_fast.lab.discernment.model_damage import DamageModel, Making, edit_distance, made_prompt, open_maker
from pfgen_fast.lab.evaluators.criteria import read_criteria
from pfgen_fast.lab.evaluators.evaluator import Item
from pfgen_fast.lab.judging.judge_asking import Prices, Spending
from pfgen_fast.lab.judging.judge_requests import Judge, Server
from pfgen_fast.lab.judging.reply_store import Replies

CRITERIA = read_criteria()
ITEMS = [Item(f"i{n}", f"Cat number {n} sat on the mat, and then it slept.", "answers", "en") for n in range(6)]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "perturbed-texts.jsonl"


def content_of(request):
    return request.prompt.messages[-1]["content"]


def replying(reply=damaged):
    """An engine whose replies depend on prompt and seed."""
    return FakeEngine(lambda request: reply(content_of(request), request.seed))


def by_try(*replies):
    """An engine with the given replies, by the number of the try; the last for all later ones."""
    return FakeEngine(lambda request: replies[min(int(request.name.split()[1]), len(replies)) - 1])


def maker_of(path, engine=None, **options) -> DamageModel:
    return DamageModel(
        Judge("org/maker", max_tokens=100), Replies(path), connect=engine and (lambda judge: engine), **options
    )


def moody(request):
    """A server's reply as of `moody_damaged`."""
    return answering(moody_damaged(request.prompt, request.body["seed"]))


def opened(server, path, **options) -> DamageModel:
    return open_maker("org/maker", server=Server(server.base_url, backoff=0.001, **options), cache=path, max_tokens=100)


# --- Tries ---


def test_kinds_without_a_prompt_and_texts_longer_than_a_reply_are_refused(path):
    for name in ("char_delete/minor", "grammar_error/medium", "paraphrase/minor"):
        kind, _, degree = name.partition("/")
        with pytest.raises(DiscernmentError, match=f"unknown perturbation by a model '{name}'; expected one of "):
            Making(ITEMS, [Perturbation(kind, degree, method="model")], maker_of(path))
    long = Item("a\n1", "word " * 100, "answers", "en")
    with pytest.raises(
        DiscernmentError, match=r"item a\\n1: expected a text that fits .* at most 100 tokens, not one of about 125"
    ):
        Making([*ITEMS, long], [MINOR], maker_of(path))


def test_a_prompt_of_the_plan_is_asked_instead_and_has_stored_replies_of_its_own(path):
    maker_of(path, replying())(ITEMS, [PARAPHRASE])
    engine = FakeEngine(lambda request: content_of(request).removeprefix("Again: ") + " So.")
    own = replace(PARAPHRASE, prompt="Again: {text}")
    (made,) = maker_of(path, engine)(ITEMS, [own])
    assert made.texts.tolist() == [f"{item.text} So." for item in ITEMS]
    assert maker_of(path)(ITEMS, [own])[0].texts.tolist() == made.texts.tolist()


def test_each_text_is_asked_for_once_if_the_reply_is_usable(path):
    engine = replying()
    made = maker_of(path, engine)(ITEMS, EVERY)
    assert len(engine.asked) == len(ITEMS) * len(EVERY)
    by_prompt = {content_of(request): damaged(content_of(request), request.seed) for request in engine.asked}
    lengths = sorted(4 / len(item.text) for item in ITEMS)
    for perturbation, one in zip(EVERY, made, strict=True):
        assert one.texts.tolist() == [by_prompt[made_prompt(item, perturbation, CRITERIA)] for item in ITEMS]
        assert one.impossible.tolist() == [0] * 6
        assert one.edit_share == pytest.approx((lengths[2] + lengths[3]) / 2)


@pytest.mark.parametrize("n_bad", [0, 1, 2, 3])
def test_a_reply_that_is_not_usable_is_kept_and_asked_for_with_the_next_seed_twice(path, n_bad):
    good = f"{ITEMS[0].text} So."
    engine = by_try(*["Sorry, I cannot.", ITEMS[0].text, "?"][:n_bad], good)
    (made,) = maker_of(path, engine)(ITEMS[:1], [MINOR])
    assert made.texts.tolist() == [good if n_bad < 3 else None]
    assert made.impossible.tolist() == [0 if n_bad < 3 else Impossible.NO_CANDIDATE]
    assert (made.edit_share is None) == (n_bad == 3)
    assert len({request.seed for request in engine.asked}) == len(engine.asked) == min(n_bad + 1, 3)
    assert len(path.read_bytes().splitlines()) == min(n_bad + 1, 3)
    again = by_try("never asked")
    assert maker_of(path, again)(ITEMS[:1], [MINOR])[0].texts.tolist() == made.texts.tolist()
    assert again.asked == []


def test_equal_texts_get_equal_damage_from_one_request(path):
    items = [ITEMS[0], Item("other", ITEMS[0].text, "answers", "en"), Item("qa", ITEMS[0].text, "qa", "en")]
    engine = replying()
    (made,) = maker_of(path, engine)(items, [MINOR])
    assert len(engine.asked) == 2
    texts = made.texts.tolist()
    assert texts[0] == texts[1] != texts[2]
    (without_items,) = maker_of(path, engine)([], [MINOR])
    assert (without_items.texts.tolist(), without_items.edit_share) == ([], None)


# --- Estimates, budgets, replay ---


def test_an_estimate_has_the_stored_replies_and_the_cost(path):
    maker = maker_of(path, by_try("no", f"{ITEMS[0].text} So."), spending=Spending(Prices(of_replies=1000)))
    making = Making(ITEMS, [MINOR], maker)
    assert making.estimate().cost == pytest.approx(6 * 0.1)
    maker(ITEMS[:2], [MINOR])
    estimate = making.estimate()
    assert (estimate.n_replies, estimate.n_stored, estimate.n_requests) == (6, 2, 4)
    assert maker.spending.n_requests == 4


def test_texts_to_estimate_with_stand_in_for_missing_ones(path):
    maker = maker_of(path, replying(moody_damaged))
    texts = [column.texts.tolist() for column in replace(maker, stands_in=True)(ITEMS, [MINOR, PARAPHRASE])]
    assert texts[0][0] == f"{ITEMS[0].text} [grammar_error/minor]"
    assert len({*texts[0], *texts[1], *(item.text for item in ITEMS)}) == 18
    made = [column.texts.tolist() for column in maker(ITEMS, [MINOR, PARAPHRASE])]
    assert None in made[0]
    assert [one.texts.tolist() for one in replace(maker, stands_in=True)(ITEMS, [MINOR, PARAPHRASE])] == made


def test_offline_replays_and_says_how_many_are_missing(path):
    with serving(moody) as server:
        asked = [one.texts.tolist() for one in opened(server, path)(ITEMS[:4], EVERY)]
    sent = {(request.body["temperature"], request.body["max_tokens"]) for request in server.requests}
    assert sent == {(0.0, 100)}
    assert all(len(request.body["messages"]) == 1 for request in server.requests)
    offline = open_maker("org/maker", server=None, cache=path, max_tokens=100)
    assert [one.texts.tolist() for one in offline(ITEMS[:4], EVERY)] == asked
    with pytest.raises(DiscernmentError, match=r"14 of 42 texts of a model are missing \(no server is given\)"):
        offline(ITEMS, EVERY)
    with pytest.raises(JudgingError, match="no such file; expected the replies of an earlier call"):
        open_maker("org/maker", server=None, cache=path.with_name("none.jsonl"))


def test_a_partial_replay_has_the_items_that_are_complete(path):
    maker_of(path, replying())(ITEMS[:2], [MINOR])
    maker_of(path, replying())(ITEMS[:4], [PARAPHRASE])
    maker = maker_of(path, is_partial=True)
    made = maker(ITEMS, [MINOR, PARAPHRASE])
    assert [one.impossible.tolist() for one in made] == [[0, 0, 3, 3, 3, 3], [0, 0, 0, 0, 3, 3]]
    making = Making(ITEMS, [MINOR, PARAPHRASE], maker)
    assert making.is_complete().reshape(2, -1).sum(axis=0).tolist() == [2, 2, 1, 1, 0, 0]


# --- Servers that refuse, and kills ---


def test_a_request_that_is_always_refused_leaves_its_text_missing(path):
    def behave(request):
        return refusing(400, "content_filter") if "number 2 " in request.prompt else moody(request)

    with (
        serving(behave) as server,
        pytest.raises(DiscernmentError, match=r"1 of 6 texts .*\(1 requests had no reply \(.*content_filter"),
    ):
        opened(server, path)(ITEMS, [MINOR])


# --- The edit distance ---


WORDS = st.text("ab氷\ud800", max_size=9)


def by_table(one, other):
    row = list(range(len(other) + 1))
    for i, left in enumerate(one, start=1):
        above, row[0] = row[0], i
        for j, right in enumerate(other, start=1):
            above, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above + (left != right))
    return row[-1]


@given(WORDS, WORDS, WORDS)
def test_the_edit_distance_is_that_of_the_table(one, other, common):
    for left, right in ((one, other), (common + one, common + other), (one + common, common + other)):
        assert edit_distance(left, right) == edit_distance(right, left) == by_table(left, right)


def test_the_edit_distance_of_long_texts_takes_no_time():
    assert edit_distance("ab" * 10_000, "ba" * 10_000) == 2
    assert edit_distance("a" * 5_000, "b" * 5_000) == 5_000
