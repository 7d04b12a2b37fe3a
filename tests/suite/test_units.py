"""Tokens as units: how texts are split and spelled, and that core and oracle count tokens alike."""

import hashlib
import json
import pickle
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.effort import examples
from makers.tiny_model import write_tokenizer
from pfgen_fast import Scorer, Suite, SuiteError
from pfgen_fast.oracle import Oracle
from pfgen_fast.scoring.explanation import explain
from pfgen_fast.scoring.normalisation import tokens_of
from pfgen_fast.scoring.tinting import QuestionTints
from pfgen_fast.suite.keywords import freeze_rule
from pfgen_fast.suite.questions import Question
from pfgen_fast.suite.suite_reading import find_faults
from pfgen_fast.suite.units import PATTERNS, FileTokenizer, PatternTokenizer, Spelling

REFERENCES = ["Ice is less dense than water.", "Ice floats, as ice is less dense.", "It floats on water."]
RULES = [{"t": "less dense"}, {"or": [{"t": "wat(er)?"}, {"t": "lake"}], "importance": 0.5}]


EMPTY = hashlib.sha1(b"{}").hexdigest()


def suite_of(*tokenizers, references=REFERENCES, rules=RULES):
    answers, keywords = {"A": tuple(references)}, tuple(map(freeze_rule, rules))
    questions = (
        Question(f"Q{n:02}", f"Why {n}?", answers, keywords, tokenizer=tokenizer)
        for n, tokenizer in enumerate(tokenizers, start=1)
    )
    return Suite("in tokens", tuple(questions), "0" * 40)


@pytest.fixture(scope="module")
def tokenizer_file(tmp_path_factory):
    return write_tokenizer(tmp_path_factory.mktemp("tokenizer") / "tokenizer.json", REFERENCES)


def test_words_and_white_space_cut_where_they_say():
    text = "It's 0.92 g/cm³,\tso…"
    (words,) = PatternTokenizer("words").tokens([text])
    assert [key for key, _, _ in words] == ["It", "'", "s", "0", ".", "92", "g", "/", "cm³", ",", "so", "…"]
    (pieces,) = PatternTokenizer("whitespace").tokens([text])
    assert [key for key, _, _ in pieces] == ["It's", "0.92", "g/cm³,", "so…"]
    assert [text[start:end] for key, start, end in pieces] == [key for key, _, _ in pieces]


@pytest.mark.parametrize("name", PATTERNS)
def test_the_core_splits_at_every_character_as_the_oracle_does(name):
    """By Unicode 13.0 in every Python: newer letters are no parts of words."""
    tokenizer = PatternTokenizer(name)
    texts = ["".join(f"a{chr(c)}b" for c in range(first, first + 128)) for first in range(0, 0x110000, 128)]
    for text in [*texts[: 0x20000 // 128], *texts[0x20000 // 128 :: 40], "", " ", "\ud800 x"]:
        assert tokenizer.tokens([text]) == [tokens_of(tokenizer, text)]
    newer = "x\U0001df00"
    assert [token.key for token in tokens_of(tokenizer, newer)] == (["x", newer[1]] if name == "words" else [newer])


@examples(200)
@given(st.lists(st.text("ab_ é水、^\0\U0001d400\ud800", max_size=9) | st.sampled_from(["wordthatislong", "waterways"])))
def test_a_text_is_spelled_with_one_symbol_for_each_token(words):
    for tokenizer in map(PatternTokenizer, PATTERNS):
        spelling = Spelling.learned(tokenizer, ["a b é ab wordthatislong 水 ^", *words[::2]])
        texts = [" ".join(words), "".join(words)]
        assert spelling.spelled(texts) == [spelling.read(text).symbols for text in texts]
        assert len(set(spelling.spelled(spelling.vocabulary))) == len(spelling.vocabulary)


def test_fluency_and_limits_count_tokens():
    scorer = Scorer(suite_of(PatternTokenizer("whitespace"), references=["a b", "a c"], rules=[]))
    # df: a 2, b 1, c 1, "a b" 1, "a c" 1; each reference answer has raw 2 + 1 + 1 = 4, which is the baseline.
    assert scorer.score("Q01", ["a b", "a", "ab", "c  a", "b\na c"]).fluency.tolist() == [1.0, 0.5, 0.0, 0.75, 1.25]
    scorer = Scorer(suite_of(PatternTokenizer("whitespace"), references=["word " * 30], rules=[{"t": "end"}]))
    result = scorer.score("Q01", ["x " * n + "end" for n in (99, 100, 124, 149, 199, 200)])
    assert result.helpfulness.round(2).tolist() == [1.0, 0.98, 0.5, 0.0, 0.0, 0.0]
    assert result.details(1)["helpfulness_results"] == [["1字超過", 0.98]]
    assert result.details(4)["helpfulness_results"] == [["end", 0.0]]


@pytest.mark.parametrize("profile", ["leaderboard", "paper"])
def test_core_and_oracle_agree_on_a_tokenizer_file(tokenizer_file, profile):
    suite = suite_of(tokenizer_file)
    scorer, oracle = Scorer(suite, profile=profile), Oracle(suite, profile=profile)

    pieces = st.sampled_from(["Ice", " is", " less dense", ".", "「", " ^", "$", "\ud800", "水"])

    @examples(60)
    @given(st.lists(pieces, max_size=130))
    def agree(pieces):
        answer = "".join(pieces)
        assert scorer.score_one("Q01", answer) == oracle.score_one("Q01", answer)

    agree()


def write(folder, **keys):
    folder.mkdir(exist_ok=True)
    question = {"question_id": "Q01", "question": "Why?", "answers": {"A": REFERENCES}, **keys}
    (folder / "Q01.json").write_text(json.dumps(question))
    return folder


def test_a_suite_in_tokens_is_the_same_from_its_files_and_from_the_cache(tmp_path, tokenizer_file, monkeypatch):
    monkeypatch.setenv("PFGEN_FAST_CACHE", str(tmp_path / "cache"))
    folder = write(tmp_path / "words", unit="token", tokenizer="words", keywords=RULES)
    bpe = write(tmp_path / "bpe", unit="token", tokenizer="tokenizer.json", tokenizer_sha1=tokenizer_file.sha1)
    (bpe / "tokenizer.json").write_bytes(tokenizer_file.path.read_bytes())
    for source in (folder, bpe):
        answers = [*REFERENCES, "Ice floats on the water", ""]
        built = Scorer(Suite.load(source)).score("Q01", answers)
        loaded = Suite.load(source)
        question_file = source / "Q01.json"
        question_file.rename(tmp_path / "away")  # the vocabulary must not be learned from the reference answers
        result = Scorer(loaded).score("Q01", answers)
        (tmp_path / "away").rename(question_file)
        again = pickle.loads(pickle.dumps(Scorer(loaded))).score("Q01", answers)
        assert built.average.tolist() == result.average.tolist() == again.average.tolist()
        assert built.fluency[:3].mean() == pytest.approx(1.0)
        assert find_faults(source) == []
    characters = write(tmp_path / "characters", keywords=RULES)
    assert Suite.load(characters).metadata_hash != Suite.load(folder).metadata_hash


@pytest.mark.parametrize(
    ("keys", "fault"),
    [
        ({"unit": "byte"}, "'unit': expected 'character' or 'token', not 'byte'"),
        ({"tokenizer": "words"}, "'tokenizer' needs the unit 'token'"),
        ({"unit": "token"}, "'tokenizer': expected 'whitespace', 'words' or the name of a .json file"),
        ({"unit": "token", "tokenizer": "../x.json"}, "the name of a .json file in the suite's folder"),
        ({"unit": "token", "tokenizer": "x.json"}, "'tokenizer_sha1': expected the SHA-1 of x.json"),
        ({"unit": "token", "tokenizer": "words", "tokenizer_sha1": "0" * 40}, "'tokenizer_sha1' is allowed only"),
        ({"unit": "token", "tokenizer": "x.json", "tokenizer_sha1": "0" * 40}, "cannot be read: No such file"),
        ({"unit": "token", "tokenizer": "t.json", "tokenizer_sha1": "0" * 40}, "SHA-1 .* but the question expects"),
        ({"unit": "token", "tokenizer": "t.json", "tokenizer_sha1": EMPTY}, r"t\.json: not a tokenizer of the package"),
    ],
)
def test_a_wrong_unit_is_named(tmp_path, keys, fault):
    folder = write(tmp_path / "suite", **keys)
    (folder / "t.json").write_text("{}")
    with pytest.raises(SuiteError, match=fault):
        Suite.load(folder)
    assert len(find_faults(folder)) == 1


def test_a_set_without_any_token_is_refused():
    with pytest.raises(SuiteError, match="no answer of the set 'A' holds a token"):
        Scorer(suite_of(PatternTokenizer("whitespace"), references=[" ", "\n"]))


def test_explanations_and_tints_follow_the_tokens():
    suite = suite_of(PatternTokenizer("words"))
    answer = " Ice is  less dense than qqq qqq qqq"
    result = explain(suite, "Q01", answer)
    assert result.scores == Scorer(suite).score_one("Q01", answer)
    assert len(result.cover) == len(answer)
    assert result.cover[answer.index("less")] > 0
    assert result.cover[-1] == 0
    assert result.keywords[0].position == 4
    (tint,) = QuestionTints(suite["Q01"]).levels([answer])
    assert len(tint) == len(answer)
    assert (tint[0], tint[1], tint[-1]) == ("0", "5", "0")


@pytest.mark.parametrize("n", [199, 200, 201, 260])
def test_a_long_answer_in_tokens_is_explained_as_far_as_it_is_looked_at(n):
    result = explain(suite_of(PatternTokenizer("words")), "Q01", "water " * n)
    assert len(result.cover) == (6 * n if n <= 200 else 6 * 200 - 1)
    assert result.n_characters(0) == 0


def test_a_long_answer_is_cut_before_it_is_tokenised_only_where_that_changes_nothing(tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    pieces, normalizers = tokenizers.pre_tokenizers, tokenizers.normalizers
    texts, n_cut = ["Ice is less dense。 水は氷より重い、と言う。", "It's 3.5 % İce\n\n of wa\u0301ter"], Counter()
    kinds = (
        (pieces.ByteLevel(), None, [], True),
        (pieces.Sequence([pieces.Digits(), pieces.WhitespaceSplit()]), normalizers.NFKC(), [], True),
        (pieces.BertPreTokenizer(), normalizers.BertNormalizer(), ["less dense"], False),
        (pieces.Metaspace(), normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()]), ["<x>"], True),
        (pieces.Metaspace(split=False), None, [], False),
        (pieces.ByteLevel(use_regex=False), None, [], False),
        (pieces.Split(" is ", "isolated"), None, [], False),
        (None, normalizers.Replace(" ", "_"), [], False),
    )

    def check(spelling, number):
        @examples(60)
        @given(
            st.lists(st.sampled_from([*texts, *"abi ıß。、\n 水氷5.'\u3000\u0301"]), min_size=9).map("".join),
            st.integers(1, 4),
        )
        def is_beginning(text, n):
            part, whole = spelling.read_first(text, n), spelling.read(text)
            n_cut[number] += part.text != text
            for field in ("symbols", "starts", "ends"):
                assert getattr(part, field)[: n + 1] == getattr(whole, field)[: n + 1]

        is_beginning()

    for number, (piece, normaliser, added, may_cut) in enumerate(kinds):
        raw = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="?"))
        if piece is not None:
            raw.pre_tokenizer = piece
        if normaliser is not None:
            raw.normalizer = normaliser
        trainer = tokenizers.trainers.BpeTrainer(vocab_size=120, show_progress=False, special_tokens=["?"])
        raw.train_from_iterator(texts * 5, trainer)
        raw.add_tokens(added)
        path = tmp_path / f"{number}.json"
        raw.save(str(path))
        spelling = Spelling(FileTokenizer(path, hashlib.sha1(path.read_bytes()).hexdigest()))

        check(spelling, number)
        assert (n_cut[number] > 0) == may_cut, kinds[number]


@pytest.mark.parametrize("profile", ["leaderboard", "normalised"])
def test_the_rest_of_a_long_answer_changes_nothing(tokenizer_file, profile):
    scorer = Scorer(suite_of(tokenizer_file), profile=profile)
    answer = " ".join(REFERENCES * 100)
    rows = [f"{answer[:n]}{tail}" for n in (5000, 20_000) for tail in ("", " wat。、\n", "!" * 5000)]
    assert len(set(scorer.reward("Q01", rows).tolist())) == 1
    assert scorer.reward("Q01", rows[:1]) == Oracle(scorer.suite, profile=profile).score_one("Q01", rows[0])["average"]
