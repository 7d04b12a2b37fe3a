"""Errors of long answers: sentences, each error by its rule, what judgements alone tell, and hostile text."""

import sys
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest
from makers.own_checklists import run_of, suite_of_essays
from pfgen_fast.base.errors import ChecklistError
from pfgen_fast.lab import words
from pfgen_fast.lab.checklists.checklist_runs import Answer, Run
from pfgen_fast.lab.checklists.error_modes import (
    MODES,
    PUBLISHED_PHRASES,
    ErrorRules,
    Rejections,
    Share,
    errors_of,
    model_errors,
    most_repeated,
    phrases_for,
)
from pfgen_fast.lab.checklists.judgements import Judgement
from pfgen_fast.lab.checklists.tasks import sha256_of
from pfgen_fast.lab.words import counter_name, has_nltk, length_table, sentences

ICE = "Ice floats on water because it is lighter."
STORY = "The fog came in from the sea, and nobody saw the harbour until noon."


def found_in(tmp_path, *answers, judgements=(), language="en", profile="ours"):
    rules = ErrorRules(suite_of_essays(language), profile)
    return errors_of(run_of(tmp_path / "model", *answers, judgements=judgements), rules)


def error_of(tmp_path, response, finish_reason=None, **rules):
    return found_in(tmp_path, Answer("sea", response, finish_reason=finish_reason), **rules)[0]


def test_a_sentence_that_occurs_three_times_is_a_repetition_if_it_is_long_or_in_the_published_profile(tmp_path):
    for response, profile, count in (
        (f"{ICE} {STORY} {ICE}", "ours", 2),
        (f"{ICE} {STORY} {ICE}\n\n{ICE}", "ours", 3),
        (f"Yes. {STORY} Yes. Yes.", "ours", 1),
        (f"Yes. {STORY} Yes. Yes.", "published", 3),
    ):
        errors = error_of(tmp_path / f"{profile}{count}", response, profile=profile)
        assert (errors.repeated, MODES["repetition"](errors)) == (count, count == 3)


@pytest.mark.parametrize(
    ("response", "language", "phrase"),
    [
        ("I'm sorry, but that is too long.", "en", "I'm sorry, but"),
        ("\n\n**I’M SORRY, BUT** no.", "en", "I'm sorry, but"),
        ("# As an AI language model, no", "en-GB", "As an AI"),
        ('"I can\'t believe it," she said.', "en", None),
        ("申し訳ありませんが、書けません。", "ja", "申し訳"),
        ("「申し訳ございません", "ja", "申し訳"),
        ("文字数の制約のため、概要を書きます。", "ja", "文字数の制約"),
        ("I'm sorry, but no.", "ja", None),
    ],
)
def test_an_answer_that_begins_with_a_phrase_is_a_rejection(tmp_path, response, language, phrase):
    assert error_of(tmp_path, response, language=language).rejection == phrase


@pytest.mark.parametrize("lacks", ["nltk, which is not installed", "NLTK's data 'punkt', which are not installed"])
def test_a_note_says_what_is_missing(monkeypatch, lacks):
    def word_tokenize(text):
        raise LookupError

    package = SimpleNamespace(word_tokenize=word_tokenize) if "punkt" in lacks else None
    monkeypatch.setitem(sys.modules, "nltk", package)
    for cached in (words._lack, words._nltk):
        monkeypatch.setattr(words, cached.__name__, cached.__wrapped__)
    rules = ErrorRules(replace(suite_of_essays(), words="nltk"), "published")
    [note] = rules.notes
    assert note.startswith(f"the word counter nltk needs {lacks}: p")
    assert note.endswith("the counter regex counts words and our rules split answers whose commonest sentence was not "
                         "published")  # fmt: skip


def test_published_phrases_are_others_and_an_answer_counts_for_each_that_it_begins_with(tmp_path):
    response = "Given the length, here is a part."
    assert error_of(tmp_path / "a", response, profile="published").rejection == "Given the"
    whole = "given the constraints of this platform, here is a part."
    assert error_of(tmp_path / "w", whole, profile="published").rejection == "Given the constraints of this platform"
    assert Rejections(["I", "I can", "I can't"]).phrase_of("I can not") == "I can"
    assert phrases_for("fr") == ()
    assert "no phrases of rejection are packaged for the language fr" in ErrorRules(suite_of_essays("fr")).notes[0]
    rules = ErrorRules(suite_of_essays(), "published")
    short, long = PUBLISHED_PHRASES
    answers = [Answer("sea", f"{long}, no."), Answer("ice", f"**{short.upper()} LIMIT**")]
    answers += [Answer("fog", f"{short} fog."), Answer("fog", STORY, trial=2)]
    result = model_errors("m", errors_of(run_of(tmp_path / "model", *answers), rules), rules).total
    assert result.shares["rejection"] == Share(3, 4)
    assert result.phrases == {short: Share(3, 4), long: Share(1, 4)}
    assert result.to_dict()["rejection_phrases"][long] == {"count": 1, "n": 4, "percent": 25.0}


def test_the_servers_reason_decides_whether_an_answer_was_cut_off(tmp_path):
    for reason, is_cut_off in (("length", True), ("stop", False), (None, None)):
        assert error_of(tmp_path / str(reason), STORY, finish_reason=reason).is_cut_off is is_cut_off


def test_an_answer_that_equals_that_to_another_task_is_filtered(tmp_path):
    refused = "This cannot be shown."
    answers = [Answer("sea", refused), Answer("ice", refused)]
    answers += [Answer("fog", STORY), Answer("fog", STORY, trial=2)]  # the same task: a model without any chance in it
    answers += [Answer("fog", "", length="short"), Answer("sea", "", length="short")]
    result = found_in(tmp_path, *answers)
    assert [item.key[0] for item in result if item.is_filtered] == ["sea", "ice"]
    assert [item.key[:2] for item in result if item.is_empty] == [("fog", "short"), ("sea", "short")]


def test_without_its_answer_a_judgement_gives_the_words_and_the_commonest_sentence(tmp_path):
    judgements = [
        Judgement("sea", "0" * 64, (1.0, 1.0), length="short", words=15, most_repeated_sentence=4),
        Judgement("ice", "0" * 64, (1.0, 1.0)),
    ]
    for profile in ("ours", "published"):
        rules = ErrorRules(suite_of_essays(), profile)
        result = model_errors("m", errors_of(run_of(tmp_path / profile, judgements=judgements), rules), rules)
        short = result.lengths["short"]
        assert short.length.mean_shortfall == 5
        # A commonest sentence of any length counts by the published rule alone.
        assert short.shares["repetition"].percent == (100 if profile == "published" else None)
        assert short.shares["rejection"].percent is None
        assert result.total.n == 1
        assert result.total.shares["repetition"].n == 0


def test_published_figures_of_another_answer_do_not_count(tmp_path):
    text = f"Yes. {STORY}"
    facts = {"verdicts": (1.0, 1.0), "words": 99, "most_repeated_sentence": 9}
    own_copies, foreign_copies = (
        error_of(tmp_path / name, text, profile="published", judgements=[Judgement("sea", sha256_of(judged), **facts)])
        for name, judged in (("a", text), ("b", "another text"))
    )
    assert (own_copies.words, own_copies.repeated) == (99, 9)
    assert (foreign_copies.words, foreign_copies.repeated) == (18, 1)


def test_a_run_without_anything_is_named(tmp_path):
    with pytest.raises(ChecklistError, match="has neither answers nor judgements"):
        errors_of(Run("m", tmp_path), ErrorRules(suite_of_essays()))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Version 1.5 costs 3.20 euros.", ["Version 1.5 costs 3.20 euros."]),
        ('"Go!" he said. (Yes.) No.', ['"Go!"', "he said.", "(Yes.)", "No."]),
        ("A heading\n\nA line\nthat goes on", ["A heading", "A line that goes on"]),
        ("氷は浮く。水は沈む？はい！", ["氷は浮く。", "水は沈む？", "はい！"]),
        ("「氷は浮く。」と言った。", ["「氷は浮く。」", "と言った。"]),
    ],
)
def test_where_sentences_end(text, expected):
    assert sentences(text) == expected


@pytest.mark.parametrize("text", ["." * 10**6 + "x", "\n " * 500_000, "." + ")" * 10**6 + "x"])
def test_hostile_text_takes_linear_time(text):
    begin = time.process_time()
    most_repeated(sentences(text))
    assert time.process_time() - begin < 3


def test_a_table_of_lengths_has_the_means_of_each_group():
    groups = {"essays": [ICE, f"{ICE} It does."], "氷": ["氷は水に浮く。"]}
    rows = {row[0]: row[1:] for row in length_table(groups, "regex").rows}
    assert rows == {"essays": (2, 46.5, 10.5, 1.5, 9, 12), "氷": (1, 7, 2, 1, 2, 2)}
    assert length_table(groups, "characters").values("words") == [38.5, 7]
    counter = counter_name("nltk") if has_nltk() else "regex"
    assert length_table(groups).columns[3].head == f"words ({counter})"
