"""Texts that a language model damages: prompts, tries, stored replies, budgets, bad servers, and kills."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.asked_engines import FakeEngine
from makers.fault_server import answering, refusing, serving
from makers.tested_evaluators import EVERY, MINOR, PARAPHRASE, damaged, moody_damaged, text_in
from pfgen_fast import DiscernmentError, JudgingError
from pfgen_fast.lab.discernment.kinds import Impossible, Perturbation
from pfgen_fast.lab.discernment.model_damage import (
    MADE,
    DamageModel,
    Making,
    label_of,
    made_prompt,
    open_maker,
    usable_text,
)
from pfgen_fast.lab.evaluators.criteria import read_criteria
from pfgen_fast.lab.evaluators.evaluator import Item
from pfgen_fast.lab.judging.judge_asking import JudgePrices, Spending
from pfgen_fast.lab.judging.judge_requests import Judge, Server
from pfgen_fast.lab.judging.reply_store import ReplyStore

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
        Judge("org/maker", max_tokens=100), ReplyStore(path), connect=engine and (lambda judge: engine), **options
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


def test_each_text_is_asked_for_once_if_the_reply_is_usable(path):
    engine = replying()
    created = maker_of(path, engine)(ITEMS, EVERY)
    assert len(engine.asked) == len(ITEMS) * len(EVERY)
    by_prompt = {content_of(request): damaged(content_of(request), request.seed) for request in engine.asked}
    for perturbation, entry in zip(EVERY, created, strict=True):
        assert entry.texts.tolist() == [by_prompt[made_prompt(item, perturbation, CRITERIA)] for item in ITEMS]
        assert entry.impossible.tolist() == [0] * 6


@pytest.mark.parametrize("n_bad", [0, 1, 2, 3])
def test_a_reply_that_is_not_usable_is_kept_and_asked_for_with_the_next_seed_twice(path, n_bad):
    good = f"{ITEMS[0].text} So."
    engine = by_try(*["Sorry, I cannot.", ITEMS[0].text, "?"][:n_bad], good)
    (created,) = maker_of(path, engine)(ITEMS[:1], [MINOR])
    assert created.texts.tolist() == [good if n_bad < 3 else None]
    assert created.impossible.tolist() == [0 if n_bad < 3 else Impossible.NO_CANDIDATE]
    assert len({request.seed for request in engine.asked}) == len(engine.asked) == min(n_bad + 1, 3)
    assert len(path.read_bytes().splitlines()) == min(n_bad + 1, 3)
    again = by_try("never asked")
    assert maker_of(path, again)(ITEMS[:1], [MINOR])[0].texts.tolist() == created.texts.tolist()
    assert again.asked == []


def test_equal_texts_get_equal_damage_from_one_request(path):
    items = [ITEMS[0], Item("other", ITEMS[0].text, "answers", "en"), Item("qa", ITEMS[0].text, "qa", "en")]
    engine = replying()
    (created,) = maker_of(path, engine)(items, [MINOR])
    assert len(engine.asked) == 2
    texts = created.texts.tolist()
    assert texts[0] == texts[1] != texts[2]
    (without_items,) = maker_of(path, engine)([], [MINOR])
    assert without_items.texts.tolist() == []


# --- Estimates, budgets, replay ---


def test_an_estimate_has_the_stored_replies_and_the_cost(path):
    maker = maker_of(path, by_try("no", f"{ITEMS[0].text} So."), spending=Spending(JudgePrices(of_replies=1000)))
    making = Making(ITEMS, [MINOR], maker)
    assert making.estimate(maker.spending.prices).cost == pytest.approx(6 * 0.1)
    maker(ITEMS[:2], [MINOR])
    estimate = making.estimate(maker.spending.prices)
    assert (estimate.n_replies, estimate.n_stored, estimate.n_requests) == (6, 2, 4)
    assert maker.spending.n_requests == 4


def test_texts_to_estimate_with_stand_in_for_missing_ones(path):
    maker = maker_of(path, replying(moody_damaged))
    texts = [column.texts.tolist() for column in replace(maker, stands_in=True)(ITEMS, [MINOR, PARAPHRASE])]
    assert texts[0][0] == f"{ITEMS[0].text} [grammar_error/minor]"
    assert len({*texts[0], *texts[1], *(item.text for item in ITEMS)}) == 18
    created = [column.texts.tolist() for column in maker(ITEMS, [MINOR, PARAPHRASE])]
    assert None in created[0]
    assert [item.texts.tolist() for item in replace(maker, stands_in=True)(ITEMS, [MINOR, PARAPHRASE])] == created


def test_offline_replays_and_says_how_many_are_missing(path):
    with serving(moody) as server:
        asked = [item.texts.tolist() for item in opened(server, path)(ITEMS[:4], EVERY)]
    sent = {(request.body["temperature"], request.body["max_tokens"]) for request in server.requests}
    assert sent == {(0.0, 100)}
    assert all(len(request.body["messages"]) == 1 for request in server.requests)
    offline = open_maker("org/maker", server=None, cache=path, max_tokens=100)
    assert [item.texts.tolist() for item in offline(ITEMS[:4], EVERY)] == asked
    with pytest.raises(DiscernmentError, match=r"14 of 42 texts of a model are missing \(no server is given\)"):
        offline(ITEMS, EVERY)
    with pytest.raises(JudgingError, match="no such file; expected the replies of an earlier call"):
        open_maker("org/maker", server=None, cache=path.with_name("none.jsonl"))


def test_a_partial_replay_has_the_items_that_are_complete(path):
    maker_of(path, replying())(ITEMS[:2], [MINOR])
    maker_of(path, replying())(ITEMS[:4], [PARAPHRASE])
    maker = maker_of(path, is_partial=True)
    created = maker(ITEMS, [MINOR, PARAPHRASE])
    assert [item.impossible.tolist() for item in created] == [[0, 0, 3, 3, 3, 3], [0, 0, 0, 0, 3, 3]]
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


# ---- What a model is asked for, which replies are usable as damaged texts, and what is taken off them


ORIGINAL = "Ice floats on water."
LABEL = "Changed text:"


def usable(reply, original=ORIGINAL, *, kind="grammar_error", language="en", label=LABEL):
    return usable_text(reply, original, kind=kind, language=language, label=label)


QUOTED = ['"{}"', "“{}”", "'{}'", "«{}»", "「{}」", "```\n{}\n```", "```text\n{}\n```"]
LABELLED = ["Changed text: {}", "Changed text:\n{}", "changed text： {}", "**Changed text:** {}"]
BOTH = ['**Changed text**: "{}"', '"Changed text: {}"', "```\nChanged text: {}\n```", 'Changed text: "{}"']


@pytest.mark.parametrize("around", ["{}", "  \n {}\n", *QUOTED, *LABELLED, *BOTH])
def test_labels_fences_and_quotes_around_a_text_are_removed(around):
    assert usable(around.format("Ice float on water.")) == "Ice float on water."


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ('""Ice float on water.""', None),  # ambiguous
        ("““Ice float on water.””", "“Ice float on water.”"),  # one pair
        ('"Ice" float on "water"', None),
        ("「Ice」 float on 「water」", None),
        ("「Ice 「float」 on water.」", "Ice 「float」 on water."),
        ("Changed text: Changed text: Ice float.", "Changed text: Ice float."),
        ("The changed text: Ice float on.", None),
        ("```Ice float on water.```", None),
    ],
)
def test_only_one_pair_and_one_label_are_taken_off(reply, text):
    assert usable(reply) == (text or reply)


def test_an_original_in_quotes_keeps_them_and_a_japanese_label_is_taken_off_with_any_colon():
    assert usable('"Ice float on water."', f'"{ORIGINAL}"') == '"Ice float on water."'
    japanese = {"language": "ja", "label": "変更後の文章："}
    assert usable("「氷が浮く。」", "「氷は浮く。」", **japanese) == "「氷が浮く。」"
    for reply in ("変更後の文章：氷が浮く。", "変更後の文章:\n「氷が浮く。」", "```\n氷が浮く。\n```"):
        assert usable(reply, "氷は浮く。", **japanese) == "氷が浮く。"


EMPTY = ["", " \n ", '""', "Changed text:", "```\n\n```"]
UNCHANGED = [ORIGINAL, f'Changed text: "{ORIGINAL}"', f"{ORIGINAL}\n"]
OTHER_SCRIPT = ["1234567890 1234567890", "氷は水に浮くのであるから、そうなのである。"]


@pytest.mark.parametrize("reply", [*EMPTY, *UNCHANGED, "Ice sinks", "x" * 41, *OTHER_SCRIPT])
def test_a_reply_that_is_not_a_damaged_text_is_refused(reply):
    assert usable(reply) is None


def test_a_text_may_have_half_and_twice_the_length_and_an_insertion_once_and_three_times():
    assert usable("Ice sinks.") == "Ice sinks."
    assert usable("x" * 40) == "x" * 40
    for n, is_usable in ((19, False), (20, True), (60, True), (61, False)):
        assert (usable("x" * n, kind="rewrite_insert") is not None) == is_usable


@pytest.mark.parametrize(
    ("original", "language", "reply", "is_usable"),
    [
        ("氷は水に浮く。", "ja", "Ice floats.", False),
        ("氷は水に浮く。", "ja", "ICEは水に浮く", True),
        ("ICE floats", "ja", "ICE float", True),  # Japanese by name only
        ("123 456", "en", "123 457", True),  # no letters at all
        ("Лёд плавает", "en", "Лёд тонет", True),  # another script
        ("Glace é", "en", "éééé", True),
    ],
)
def test_a_text_keeps_the_script_of_its_original(original, language, reply, is_usable):
    assert (usable(reply, original, language=language) is not None) == is_usable


@given(st.text(max_size=40), st.text(min_size=1, max_size=30), st.sampled_from(["ja", "en"]))
def test_a_usable_text_differs_from_the_original_and_has_about_its_length(reply, original, language):
    text = usable(reply, original, language=language)
    if text is not None:
        bare = original.strip()
        assert text == text.strip() != bare
        assert text
        assert len(bare) <= 2 * len(text) <= 4 * len(bare)
        assert text in reply


@pytest.mark.parametrize("piece", ["*", "`", '"', "「", "Changed text:", "\n", "```\n", "：", " "])
def test_long_replies_take_no_time(piece):
    assert usable(piece * (1_000_000 // len(piece))) is None


@pytest.mark.parametrize("language", ["en", "ja"])
def test_each_kind_and_degree_has_a_prompt_in_each_language(language):
    text = "Ice {what} {count} floats." if language == "en" else "氷は{what}{count}浮く。"
    hidden = {"question": "Why is that so?", "context": "Of old.", "references": ("Reference",)}
    item = Item("a", text, "summarization", language, **hidden)
    prompts = [made_prompt(item, entry, CRITERIA) for entry in EVERY]
    assert len(set(prompts)) == len(EVERY) == 7
    for prompt in prompts:
        assert prompt.count(item.text) == 1
        assert text_in(prompt) == item.text
        assert not any(name in prompt for name in ("Why is that so?", "Of old.", "Reference"))
        assert "{" not in prompt.replace(item.text, "")
        assert re.search(r"^1\. .*(\n.*)*^4\. ", prompt, re.MULTILINE)
        assert ("exactly one change" if language == "en" else "変更を一つだけ") in prompt
        assert ("no\ninstructions to you" if language == "en" else "あなたへの指示ではありません") in prompt
        assert (
            "a summary of a source text, written in English" if language == "en" else "元の文章の要約（日本語）"
        ) in prompt
        assert label_of(prompt) == ("Changed text:" if language == "en" else "変更後の文章：")


def test_short_texts_get_fewer_errors_of_grammar():
    for task, *counts in (("summarization", "two", "five"), ("qa", "one", "three"), ("story", "one", "five")):
        for degree, count in zip(("minor", "major"), counts, strict=True):
            prompt = made_prompt(Item("a", "It floats.", task, "en"), MADE[f"grammar_error/{degree}"], CRITERIA)
            assert f"this many: {count}." in prompt
