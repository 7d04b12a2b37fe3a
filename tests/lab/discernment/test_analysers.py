"""An analyser finds the words, terms and particles of Japanese texts; Sudachi is one, where it is installed."""

import pytest
from pfgen_fast.base.errors import DiscernmentError
from pfgen_fast.lab.discernment.damage.text_reading import Analysis, Span, open_analyser, sudachi_analyser
from pfgen_fast.lab.discernment.discernment_items import Collection
from pfgen_fast.lab.discernment.discernment_plan import Plan
from pfgen_fast.lab.discernment.kinds import KINDS
from pfgen_fast.lab.discernment.perturbing import ANALYSED_KINDS, Damage, perturb
from pfgen_fast.lab.discernment.plan_sources import open_plan
from pfgen_fast.lab.discernment.running import discern
from pfgen_fast.lab.evaluators.evaluator import Item
from pfgen_fast.lab.evaluators.function_evaluator import FunctionEvaluator

TEXTS = ["富士山は静岡県にある。", "琵琶湖は滋賀県にある。", "Ice floats on water."]


class EachCharacter:
    """Takes each kanji for a name and each of these kana for a particle."""

    signature = "characters 1"

    def analysed(self, text: str) -> Analysis:
        words = [Span(i, i + 1) for i, character in enumerate(text) if character.isalnum()]
        terms = [word for word in words if text[word.start] >= "一"]
        particles = [word for word in words if text[word.start] in "はに"]
        return Analysis(tuple(words), tuple(terms), tuple(particles))


def test_words_terms_and_particles_are_those_of_the_analyser():
    analyser = EachCharacter()
    assert perturb(["氷は浮く。"], "word_repeat", permille=1000, analyser=analyser) == ["氷氷はは浮浮くく。"]
    assert perturb(["氷は浮く。"], "term_swap", permille=1000, donors=["海。"], analyser=analyser) == ["海は海く。"]
    (found,) = perturb(["氷は水に浮く。"], "function_word", permille=1000, analyser=analyser)
    assert found is not None
    assert found != "氷は水に浮く。"
    assert (found[0], found[2], found[-3:]) == ("氷", "水", "浮く。")
    texts, questions = ["氷。", "海。", "山。"], ["a", "a", "b"]  # nothing is taken from texts with the same question
    of_others = perturb(texts, "term_swap", permille=1000, questions=questions, analyser=analyser)
    assert of_others in (["山。", "山。", "氷。"], ["山。", "山。", "海。"])


def test_a_term_occurs_where_a_word_equals_it_and_never_in_a_part_of_one():
    class Names:
        signature = "names"

        def analysed(self, text: str) -> Analysis:
            spans = {"富士と富士山と富士": [(0, 2), (3, 6), (7, 9)], "琵琶湖": [(0, 3)]}[text]
            words = tuple(Span(*span) for span in spans)
            return Analysis(words, words[:1], ())

    found = perturb(["富士と富士山と富士"], "term_swap", permille=1000, donors=["琵琶湖"], analyser=Names())
    assert found == ["琵琶湖と富士山と琵琶湖"]


@pytest.mark.parametrize("kind", [kind.name for kind in KINDS.values() if kind.method == "rule"])
def test_english_and_other_kinds_are_as_without_an_analyser(kind):
    degree = {"permille": 500} if KINDS[kind].has_degrees else {}
    without = perturb(TEXTS, kind, **degree, alternatives=["x"] * 3)
    found = perturb(TEXTS, kind, **degree, alternatives=["x"] * 3, analyser=EachCharacter())
    assert found[2:] == without[2:]
    assert (found == without) == (kind not in ANALYSED_KINDS)


def test_the_analyser_is_in_the_signature_of_a_test():
    items = Collection.of([Item(str(i), f"氷{i}は水に浮く。", "answers", question=str(i)) for i in range(10)])
    plan = open_plan(kinds=["word_drop/500"])
    evaluator = FunctionEvaluator(lambda items, texts: {"length": [len(text) for text in texts]}, name="length")
    without, found = (discern(evaluator, items, plan, analyser=each) for each in (None, EachCharacter()))
    assert found.scored.plan.analyser == "characters 1"
    assert found.signature != without.signature
    assert Damage(items, plan).plan == plan == Plan(plan.perturbations, plan.name, plan.notes)


def test_an_unknown_analyser_and_a_missing_package_are_named(monkeypatch):
    with pytest.raises(DiscernmentError, match="sudachi"):
        perturb(["氷。"], "word_drop", permille=500, analyser="sudach")
    monkeypatch.setitem(__import__("sys").modules, "sudachipy", None)
    sudachi_analyser.cache_clear()
    with pytest.raises(DiscernmentError, match=r"sudachi.*pfgen-fast\[japanese\]"):
        open_analyser("sudachi")


@pytest.fixture
def sudachi():
    pytest.importorskip("sudachipy")
    pytest.importorskip("sudachidict_small")
    sudachi_analyser.cache_clear()
    return open_analyser("sudachi")


def parts(text, spans):
    return [text[start:end] for start, end in spans]


def test_sudachi_finds_morphemes_proper_nouns_and_particles(sudachi):
    text = "東京は、京都の「水」に😀ある。"
    found = sudachi.analysed(text)
    assert parts(text, found.words) == ["東京", "は", "京都", "の", "水", "に", "ある"]
    assert parts(text, found.terms) == ["東京", "京都"]
    assert parts(text, found.particles) == ["は", "の", "に"]
    assert "sudachidict-small 20" in sudachi.signature
    found = perturb(["東京の水。"], "term_swap", permille=1000, donors=["京都の湖。"], analyser="sudachi")
    assert found == ["京都の水。"]


def test_sudachi_splits_no_character_and_takes_any_text(sudachi):
    for text in ("た\u0301は\u3099る", "か\ud800き", "\0氷", "ﷺ" * 3000, "あ" * 30_000, "東京。" * 3000, "", "\u0301"):
        found = sudachi.analysed(text)
        assert all(start < end for start, end in found.words)
        assert not any(text[start] in "\u0301\u3099" for start, _ in found.words[1:])
        assert all(before.end <= after.start for before, after in zip(found.words, found.words[1:], strict=False))
    assert len(sudachi.analysed("東京。" * 3000).terms) == 3000
